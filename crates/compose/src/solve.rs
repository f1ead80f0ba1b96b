//! Determines which calls are linked, and which exceptions leave each method: the least solution.
//!
//! If a call can only go to provided methods, its open part is limited to the exceptions that leave these methods.
//! The open part of rethrown exceptions is limited to what is caught in the method. Everything else remains as in the
//! documents. The statements of a document hold for every completion of its part, and the whole program is a
//! completion of each part. So the statements of all documents hold for the whole program, and the meet of the
//! statements is sound.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::{Call, Kind, Method, Openness, split};
use super::types::{NameId, Names, Part, Piece, Types, Value};

/// The methods of all documents, and the solution of their composition.
#[derive(Default)]
pub(super) struct Program {
    pub(super) names: Names,
    pub(super) types: Types,
    pub(super) methods: Vec<Method>,
    pub(super) by_name: FxHashMap<NameId, usize>,
    /// The classes whose initialisation runs no code.
    pub(super) quiet: FxHashSet<NameId>,
    /// The classes that some method shows to be public. Of a class without methods, this is not known.
    public: FxHashSet<NameId>,
    /// For each method, the exceptions that leave it.
    pub(super) values: Vec<Value>,
    /// For each method, the solution for its nodes with open sets; `None` for nodes that remain unchanged.
    pub(super) nodes: Vec<Vec<Option<Value>>>,
    /// Whether composition replaces open sets by smaller ones. `false` in profile `paper`, where composition only
    /// joins the documents. Also `false` for documents with linkage errors of absent classes, because only an
    /// analysis of the whole program decides which of these errors occur.
    pub(super) refines: bool,
}

/// The effect of composition on a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// The call is unchanged.
    Stays,
    /// The method that the call names is added to its targets.
    May(NameId),
    /// The method that the call names is its only target.
    Only(NameId),
    /// The call is removed: it may only initialise a class, and the initialisation of this class runs no code.
    Nothing,
}

/// Exceptions that leave a method, although the graph of one of its callers was extracted on the assumption that they
/// do not.
pub(super) struct Breach<'a> {
    pub(super) caller: &'a Method,
    pub(super) callee: NameId,
    /// The known exceptions that leave the called method against the caller's assumption.
    pub(super) known: BTreeSet<Part>,
    /// Whether also unknown exceptions leave the called method against the caller's assumption.
    pub(super) more: bool,
}

/// The origin of the open set of a node, as far as composition can replace the set by known exceptions.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    /// The origin is not described in the document, or is a class or method that is still absent; the set remains
    /// unchanged.
    Fixed,
    /// The set consists of the exceptions that leave these methods, given as indices into [`Program::methods`].
    Methods(Vec<usize>),
    /// The set consists of exceptions that the method has caught and throws again.
    Caught,
}

impl Program {
    /// Returns the effect of composition on a call in the method `caller`.
    pub(super) fn link(&self, caller: NameId, call: &Call) -> Link {
        let outside = match call.open {
            Openness::Outside(it) => it,
            Openness::Initializer(it) => return self.link_initializer(caller, call, it),
            Openness::No | Openness::Yes => return Link::Stays,
        };
        let Some((name, method)) = call.declared.and_then(|it| Some((it, self.provided(it)?))) else {
            return Link::Stays;
        };
        let (access, class) = (method.access, self.names.text(method.class));
        // The class of the caller differs from the class of the method, because the latter was absent. Documents do
        // not contain nest mates or the hierarchy that decides access to protected members.
        let caller = split(self.names.text(caller)).map_or(&b""[..], |it| it.0);
        let near = package(caller) == package(class);
        let accessible = !access.is_private && ((access.is_public && access.class_is_public) || near);
        let bound = match call.kind {
            Kind::Static => access.is_static && !access.class_is_interface,
            Kind::Special => method.is_constructor,
            Kind::Virtual => {
                !access.is_static && !access.class_is_interface && (access.is_final || access.class_is_final)
            }
            Kind::Interface | Kind::Other => false,
        };
        if self.refines
            && bound
            && accessible
            && outside == method.class
            && call.targets.is_empty()
            && call.is_plain
        {
            Link::Only(name)
        } else if call.targets.contains(&name) {
            Link::Stays
        } else {
            Link::May(name)
        }
    }

    fn link_initializer(&self, caller: NameId, call: &Call, class: NameId) -> Link {
        // Creating an object of an inaccessible class fails.
        let caller = split(self.names.text(caller)).map_or(&b""[..], |it| it.0);
        let accessible =
            || self.public.contains(&class) || package(caller) == package(self.names.text(class));
        let is_quiet = self.refines && self.quiet.contains(&class) && accessible();
        if is_quiet && call.targets.is_empty() && call.is_plain {
            return Link::Nothing;
        }
        let name = [self.names.text(class), b".<clinit>()V"].concat();
        let it = self.names.known(&name).filter(|it| self.by_name.contains_key(it));
        it.filter(|it| !call.targets.contains(it)).map_or(Link::Stays, Link::May)
    }

    fn provided(&self, name: NameId) -> Option<&Method> {
        self.by_name.get(&name).and_then(|&it| self.methods.get(it))
    }

    /// Computes the least solution by iteration. The methods are sorted by name first, because their order may decide
    /// which of several equivalent parts of a union are kept.
    pub(super) fn solve(&mut self) {
        self.methods.sort_by(|a, b| self.names.text(a.name).cmp(self.names.text(b.name)));
        self.by_name = self.methods.iter().enumerate().map(|(i, it)| (it.name, i)).collect();
        let public = self.methods.iter().filter(|it| it.access.class_is_public);
        self.public = public.map(|it| it.class).collect();
        self.types.top = Some(self.names.id(b"java/lang/Throwable"));
        let sources: Vec<Vec<Source>> = self.methods.iter().map(|it| self.sources(it)).collect();
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); self.methods.len()];
        for (i, sources) in sources.iter().enumerate() {
            for source in sources {
                if let Source::Methods(of) = source {
                    of.iter().for_each(|&it| callers[it].push(i));
                }
            }
        }
        self.nodes = sources
            .iter()
            .map(|it| it.iter().map(|it| (*it != Source::Fixed).then(Value::default)).collect())
            .collect();
        self.values = self.methods.iter().map(|it| Value { known: it.known.clone(), open: None }).collect();
        let mut pending: Vec<usize> = (0..self.methods.len()).rev().collect();
        let mut waits = vec![true; self.methods.len()];
        while let Some(i) = pending.pop() {
            waits[i] = false;
            if self.step(i, &sources[i]) {
                for &caller in &callers[i] {
                    if !std::mem::replace(&mut waits[caller], true) {
                        pending.push(caller);
                    }
                }
            }
        }
    }

    /// Updates the solution for the method with index `i`. Returns whether more exceptions leave the method now.
    fn step(&mut self, i: usize, sources: &[Source]) -> bool {
        let mut nodes = std::mem::take(&mut self.nodes[i]);
        let method = &self.methods[i];
        let mut changed = true;
        while changed {
            changed = false;
            let caught = self.caught(method, &nodes);
            for (k, (source, open)) in sources.iter().zip(&method.opens).enumerate() {
                let from: Vec<&Value> = match source {
                    Source::Fixed => continue,
                    Source::Methods(of) => of.iter().map(|&it| &self.values[it]).collect(),
                    Source::Caught => vec![&caught],
                };
                let Some(Some(node)) = nodes.get_mut(k) else { continue };
                for value in from {
                    let more = Value {
                        known: self.types.known_in(&value.known, &open.set),
                        open: value.open.as_ref().and_then(|it| self.types.open_in(it, &open.set)),
                    };
                    changed |= self.types.add(node, more);
                }
            }
        }
        let mut value = self.values[i].clone();
        let mut more = false;
        for (node, open) in nodes.iter().zip(&method.opens).filter(|it| it.1.leaves) {
            let fixed = || Value { open: Some(open.set.clone()), ..Value::default() };
            more |= self.types.add(&mut value, node.clone().unwrap_or_else(fixed));
        }
        self.values[i] = value;
        self.nodes[i] = nodes;
        more
    }

    /// Returns the exceptions, after composition, of the open sets that do not leave the method, because a handler
    /// may catch them; empty if the method rethrows no open set.
    fn caught(&self, method: &Method, nodes: &[Option<Value>]) -> Value {
        let mut acc = Value::default();
        if method.opens.iter().any(|it| it.caught) {
            for (node, open) in nodes.iter().zip(&method.opens).filter(|it| !it.1.leaves) {
                let fixed = || Value { open: Some(open.set.clone()), ..Value::default() };
                self.types.add(&mut acc, node.clone().unwrap_or_else(fixed));
            }
        }
        acc
    }

    /// Returns the exceptions that leave methods although callers in other documents were extracted on the assumption
    /// that they do not. This happens if a ghost breaks its promise, or if the documents were extracted from
    /// different code.
    pub(super) fn breaches(&self) -> Vec<Breach<'_>> {
        let mut acc = Vec::new();
        for caller in &self.methods {
            let mut opens: FxHashMap<u32, Vec<&Piece>> = FxHashMap::default();
            caller.opens.iter().for_each(|it| opens.entry(it.at).or_default().push(&it.set));
            for call in &caller.calls {
                let named =
                    matches!(call.kind, Kind::Static | Kind::Special | Kind::Virtual | Kind::Interface);
                let Some(node) = call.node.filter(|_| named && call.open == Openness::No) else { continue };
                let opens = opens.get(&node).map_or(&[][..], Vec::as_slice);
                for &callee in call.targets.iter().filter_map(|it| self.by_name.get(it)) {
                    acc.extend(self.breach(caller, node, opens, callee));
                }
            }
        }
        acc
    }

    fn breach<'a>(
        &'a self,
        caller: &'a Method,
        node: u32,
        opens: &[&Piece],
        callee: usize,
    ) -> Option<Breach<'a>> {
        let (method, value) = (&self.methods[callee], &self.values[callee]);
        // For a constructor, the caller may know the exceptions more precisely from the class that it instantiates.
        if method.document == caller.document || method.is_constructor {
            return None;
        }
        let known = caller.known_at.get(&node);
        let covered = |it: &Part| {
            known.is_some_and(|known| self.types.is_in_some(*it, known))
                || opens.iter().any(|piece| self.types.is_within(*it, piece))
        };
        let known: BTreeSet<Part> = value.known.iter().copied().filter(|it| !covered(it)).collect();
        let apart = |it: &Piece| opens.iter().all(|piece| self.types.open_in(it, piece).is_none());
        let more = value.open.as_ref().is_some_and(apart);
        (!known.is_empty() || more).then_some(Breach { caller, callee: method.name, known, more })
    }

    /// Returns the origin of each open set of a method.
    fn sources(&self, method: &Method) -> Vec<Source> {
        let of = |open: &super::facts::Open| match method.call_at(open.at) {
            (None, false) if open.caught && self.refines => Source::Caught,
            (Some(call), _) => self.source(method, call),
            _ => Source::Fixed,
        };
        method.opens.iter().map(of).collect()
    }

    fn source(&self, method: &Method, call: &Call) -> Source {
        let link = self.link(method.name, call);
        if link == Link::Nothing {
            return Source::Methods(Vec::new());
        }
        if let Link::Only(it) = link {
            return self.by_name.get(&it).map_or(Source::Fixed, |&it| Source::Methods(vec![it]));
        }
        let named = matches!(call.kind, Kind::Static | Kind::Special | Kind::Virtual | Kind::Interface);
        if !self.refines || !named || !call.is_plain || call.open != Openness::No || call.targets.is_empty() {
            return Source::Fixed;
        }
        let of: Option<Vec<usize>> = call.targets.iter().map(|it| self.by_name.get(it).copied()).collect();
        of.map_or(Source::Fixed, Source::Methods)
    }
}

fn package(class: &[u8]) -> &[u8] {
    class.iter().rposition(|&it| it == b'/').map_or(b"", |it| &class[..it])
}
