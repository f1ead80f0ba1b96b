//! The solved environment (Γ with its fixed point), and the answers of profile `paper`, in the types of
//! [`crate::whole`].

use bir::body::{CallKind, Instr, InstrId};
use classfile::names::{ClassName, Descriptor, Name};
use flow::throwables::well_known;
use flow::universe::{SetId, Universe};
use program::members::MethodId;
use rustc_hash::FxHashSet;

use super::environment::{Callee, Definition, Environment, Record};
use super::extract;
use super::intra::{Raises, raises};
use super::propagation::{Propagated, propagated};
use crate::parts::MethodCode;
use crate::whole::answers::{Call, CallWord, Origin, Step, Throws, Why};
use crate::whole::explain::{Way, WayStep};
use crate::whole::graph::Graph;
use program::names::{MethodName, Text};

/// The program of profile `paper`: the environment Γ of the paper, with the exceptions that its methods propagate.
pub struct Paper {
    /// The environment Γ of the paper: the classes, methods and exception types.
    pub environment: Environment,
    propagated: Propagated,
}

impl Paper {
    /// Builds the environment of these records, which are in class-path order, and computes the exceptions that its
    /// methods propagate. The flag of a record says whether its class belongs to the API (the platform).
    pub fn new(records: Vec<(Record, bool)>) -> Self {
        let mut environment = Environment::new(records);
        let mut universe = environment.exceptions.clone();
        let propagated = propagated(&environment, &mut universe);
        environment.exceptions = universe;
        Paper { environment, propagated }
    }

    fn named(&self, method: MethodName) -> Option<MethodId> {
        let hierarchy = &self.environment.hierarchy;
        let class = hierarchy.class(ClassName::new(method.class.0))?;
        let descriptor = Descriptor::new(method.descriptor.0);
        let index = hierarchy.method(class, Name::new(method.name.0), descriptor)?;
        Some(MethodId { class, index })
    }

    /// Whether the method is a ghost. A ghost's code in its class file is only a stub, so it is not analysed.
    pub fn is_ghost(&self, method: MethodName) -> bool {
        let definition = self.named(method).map(|it| self.environment.definition(it));
        matches!(definition, Some(Definition::Unavailable(Some(_))))
    }

    /// Returns the graph of a method whose code is available, with its calls if `calls` is true. The graph of any
    /// other method is empty.
    pub fn graph(
        &self,
        universe: &mut Universe,
        method: MethodName,
        code: &MethodCode,
        calls: bool,
    ) -> Graph {
        let available = self.named(method).and_then(|it| self.environment.available(Callee::Declared(it)));
        let Some(id) = available else { return Graph::default() };
        let mut graph = extract::graph(&self.environment, &self.propagated, universe, code);
        graph.throws.known = universe.parts(self.propagated.of(id)).into();
        if calls {
            graph.calls = self.calls(code);
        }
        graph
    }

    /// Returns the calls of a body with their targets: the labels, except ε, on the edges of the body's graph,
    /// grouped by instruction.
    pub fn calls(&self, code: &MethodCode) -> Vec<Call> {
        let mut acc = Vec::new();
        for (pc, instr) in code.body.instrs.iter() {
            let Some((declared, callees)) = extract::callees(&self.environment, &code.body, pc) else {
                continue;
            };
            let labels = callees.into_iter().filter_map(|it| extract::label(&self.environment, it));
            let mut targets: Vec<MethodName> = labels.collect();
            targets.sort_unstable();
            targets.dedup();
            if !targets.is_empty() {
                acc.push(Call {
                    instr: Some(pc),
                    kind: word(instr),
                    declared: Some(MethodName::of(declared)),
                    targets,
                    glue: Vec::new(),
                    possible: Vec::new(),
                    errors: Vec::new(),
                    open: None,
                });
            }
        }
        acc
    }

    /// Returns the exceptions that a method propagates, according to its code or its declaration; `None` if the
    /// method is unknown or abstract.
    pub fn throws(&self, universe: &mut Universe, method: MethodName) -> Option<Throws> {
        let id = self.named(method)?;
        if matches!(self.environment.definition(id), Definition::Abstract) {
            return None;
        }
        let set = self.propagated.by(&self.environment, universe, Callee::Declared(id));
        Some(Throws {
            method,
            known: universe.parts(set),
            open: None,
            anchors: Vec::new(),
            too_many_calls: 0,
        })
    }

    /// Returns a shortest path from the method to the origin of each exception that the method lets out. If `only` is
    /// given, returns paths only for exceptions of that class and its subclasses. `None` for an unknown method.
    pub fn ways(&self, universe: &mut Universe, method: MethodName, only: Option<Text>) -> Option<Vec<Way>> {
        let start = Callee::Declared(self.named(method)?);
        Some(self.ways_of(universe, SetId::EMPTY, &[start], None, only))
    }

    /// Returns the reasons why the instructions `instrs` of a method raise exceptions, before handlers catch any. If
    /// `only` is given, returns the reasons only for exceptions of that class and its subclasses. `code` is the code
    /// of the method. Returns no reasons for a method whose code is not available, such as a ghost.
    pub fn ways_at(
        &self,
        universe: &mut Universe,
        method: MethodName,
        code: &MethodCode,
        instrs: &[InstrId],
        only: Option<Text>,
    ) -> Vec<Way> {
        let available = self.named(method).and_then(|it| self.environment.available(Callee::Declared(it)));
        if available.is_none() {
            return Vec::new();
        }
        let mut acc: Vec<Way> = Vec::new();
        for &instr in instrs {
            let first = WayStep { step: Step::Method(method), instr: Some((method, instr)) };
            for raises in raises(&code.body, &code.facts, instr) {
                let (own, callees) = self.raised(universe, raises);
                acc.extend(self.ways_of(universe, own, &callees, Some(&first), only));
            }
        }
        let mut seen = FxHashSet::default();
        acc.retain(|it| seen.insert(it.what));
        acc
    }

    /// Returns the exceptions that `raises` lets out by itself, and the methods that it may call (none if `raises` is
    /// not a call).
    fn raised(&self, universe: &mut Universe, raises: Raises) -> (SetId, Vec<Callee>) {
        match raises {
            Raises::Assertion(it) => (universe.exact(it), Vec::new()),
            Raises::Throw(it) => (universe.cone(it), Vec::new()),
            Raises::New(it) => (universe.exact(well_known().null_pointer), self.environment.mca(false, it)),
            Raises::Call(is_virtual, it) => (SetId::EMPTY, self.environment.mca(is_virtual, it)),
        }
    }

    /// Returns a shortest path to its origin for each exception that is in `own` or that a call of `callees` lets
    /// out. If `only` is given, returns paths only for exceptions of that class and its subclasses. Each path begins
    /// with the step `first`, if given. The path of an exception in `own` has only one more step: that the
    /// instruction raises the exception.
    fn ways_of(
        &self,
        universe: &mut Universe,
        own: SetId,
        callees: &[Callee],
        first: Option<&WayStep>,
        only: Option<Text>,
    ) -> Vec<Way> {
        let mut set = own;
        for &it in callees {
            let called = self.propagated.by(&self.environment, universe, it);
            set = universe.join(set, called);
        }
        if let Some(class) = only {
            let class = ClassName::new(class.0);
            // All types are known, so an unknown class has no known subtypes.
            if universe.type_of(class).is_none() {
                return Vec::new();
            }
            let cone = universe.cone(class);
            set = universe.meet(set, cone);
        }
        let mut acc = Vec::new();
        for part in universe.parts(set) {
            // For a cone, the path of its top class is searched; subclasses may arise elsewhere.
            let wanted = universe.exact(part.class);
            let way = if universe.overlaps(own, wanted) {
                vec![Step::Raised(Origin::Instruction)]
            } else {
                self.way(universe, callees, wanted)
            };
            let way = way.into_iter().map(|step| WayStep { step, instr: None });
            let steps = first.cloned().into_iter().chain(way).collect();
            acc.push(Way { what: Some(part), within: Vec::new(), except: Vec::new(), steps });
        }
        acc
    }

    /// Searches breadth first, from callers to callees, for a method where an exception of `wanted` arises. Returns
    /// the path from one of `starts` to that method; an empty path if there is no such method.
    fn way(&self, universe: &mut Universe, starts: &[Callee], wanted: SetId) -> Vec<Step> {
        let mut seen: FxHashSet<(Callee, SetId)> = FxHashSet::default();
        let mut queue = Vec::new();
        for &it in starts {
            let set = self.propagated.by(&self.environment, universe, it);
            let set = universe.meet(set, wanted);
            if set != SetId::EMPTY && seen.insert((it, set)) {
                queue.push((it, set, usize::MAX));
            }
        }
        let mut at = 0;
        while let Some(&(callee, wanted, _)) = queue.get(at) {
            let mut end = None;
            let code = self.environment.available(callee).map(|it| self.environment.definition(it));
            if let Some(Definition::Available(intra)) = code {
                for item in &intra.items {
                    let mut left = wanted;
                    for &row in &item.rows {
                        let mask = universe.masks(row).surely;
                        left = universe.minus(left, mask);
                    }
                    let (own, callees) = self.raised(universe, item.raises);
                    if universe.overlaps(own, left) {
                        end = Some(Step::Raised(Origin::Instruction));
                        break;
                    }
                    for next in callees {
                        let set = self.propagated.by(&self.environment, universe, next);
                        let set = universe.meet(set, left);
                        if set != SetId::EMPTY && seen.insert((next, set)) {
                            queue.push((next, set, at));
                        }
                    }
                }
            } else {
                end = Some(self.declares(callee));
            }
            if let Some(end) = end {
                let mut steps = vec![end];
                while let Some(&(callee, _, from)) = queue.get(at) {
                    steps.push(Step::Method(self.callee_name(callee)));
                    at = from;
                }
                steps.reverse();
                return steps;
            }
            at += 1;
        }
        Vec::new()
    }

    fn callee_name(&self, callee: Callee) -> MethodName {
        MethodName::of(match callee {
            Callee::Declared(id) => self.environment.name(id),
            Callee::Missing(it) | Callee::Api(it) => it,
        })
    }

    /// Returns the last step of a path that ends in a callee without code: the reason why the callee lets out
    /// exceptions.
    fn declares(&self, callee: Callee) -> Step {
        let name = self.callee_name(callee);
        let id = match callee {
            Callee::Missing(_) | Callee::Api(_) => return Step::Open(Why::Outside(name.class)),
            Callee::Declared(it) => it,
        };
        match self.environment.definition(id) {
            Definition::Unavailable(Some(_)) => Step::Open(Why::Ghost(name)),
            Definition::Unavailable(None) if self.environment.declaration(id).flags.is_native() => {
                Step::Open(Why::Native(name))
            }
            Definition::Unavailable(None) => Step::Open(Why::MissingCode(name)),
            _ => Step::Raised(Origin::Signature(name)),
        }
    }
}

fn word(instr: &Instr) -> CallWord {
    match instr {
        Instr::Call(_, CallKind::Virtual, ..) => CallWord::Virtual,
        Instr::Call(_, CallKind::Interface, ..) => CallWord::Interface,
        Instr::Call(_, CallKind::Static | CallKind::StaticInterface, ..) => CallWord::Static,
        _ => CallWord::Special,
    }
}
