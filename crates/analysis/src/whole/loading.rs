//! The loaders of a program that instructions ask for classes, under `--link-errors` (`semantics.md` §4.5; JVMS §5.3.2,
//! §5.4.3).
//!
//! Resolving a class asks the loader of the class at hand. Which loader that is no class file tells, so every instruction of
//! a class outside the platform that resolves one may ask any loader of the program's own. What comes of it is the same
//! everywhere: one node of the system, with an edge for each context of a method in which something is resolved.
//!
//! The platform's own loaders, also those that a program makes, are taken to find what is on the class path, and its
//! classes to be loaded by them.

use bir::body::{Body, CallKind, Expr, Instr, InstrId};
use classfile::names::{ClassName, FieldRef, MethodRef};
use flow::named::{named_by_expr, named_by_instr, names_throwable};
use flow::summary::{Access, Initialized, Source};
use flow::throwables::well_known;
use flow::universe::SetId;
use program::hierarchy::{ClassId, Link};
use program::input::Role;
use program::members::resolve::resolve_field;
use program::members::{MethodId, ResolvedField};
use rustc_hash::FxHashSet;

use super::dispatch::{Site, Target};
use super::flows::Flow;
use super::lattice::{Exceptions, Filter, Value};
use super::members::{declared, element, find_method};
use super::nodes::Node;
use super::program::{Loading, WholeProgram, load_class};
use crate::summary::CodeSummary;

/// Whether something resolves a class, and what becomes of exceptions then.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Resolves {
    /// They come out as they are.
    plainly: bool,
    /// They come out wrapped, or not: JVMS §5.4.3.6 leaves that to who links.
    dynamically: bool,
    /// It may stand earlier in the bytecode than the instruction.
    pub(super) earlier: bool,
}

impl Resolves {
    pub(super) const NOTHING: Resolves = Resolves { plainly: false, dynamically: false, earlier: false };

    fn plainly(it: bool) -> Self {
        Resolves { plainly: it, ..Resolves::NOTHING }
    }

    fn and(self, other: Resolves) -> Self {
        Resolves {
            plainly: self.plainly || other.plainly,
            dynamically: self.dynamically || other.dynamically,
            earlier: self.earlier || other.earlier,
        }
    }
}

/// Tells what the instructions of a body resolve.
pub(super) struct Resolving<'a> {
    whole: &'a WholeProgram,
    caller: ClassId,
    body: &'a Body,
    /// The `catch` instructions that resolve Throwable.
    handlers: FxHashSet<InstrId>,
}

impl<'a> Resolving<'a> {
    /// For the body of a method of `caller`.
    pub(super) fn new(whole: &'a WholeProgram, caller: ClassId, body: &'a Body) -> Self {
        let mut acc = Resolving { whole, caller, body, handlers: FxHashSet::default() };
        if whole.may_load(caller) && whole.asks(caller, well_known().throwable) {
            let rows = body.rows.iter().filter(|it| names_throwable(it));
            acc.handlers = rows.map(|it| it.handler).collect();
        }
        acc
    }

    /// What an instruction resolves that has these sources.
    pub(super) fn at(&self, instr: InstrId, sources: &[Source]) -> Resolves {
        let Resolving { whole, caller, body, .. } = *self;
        if !whole.may_load(caller) {
            return Resolves::NOTHING;
        }
        let acc = sources.iter().fold(Resolves::NOTHING, |acc, &it| acc.and(whole.resolves(caller, it)));
        let mut here = self.handlers.contains(&instr);
        let instr = &body.instrs[instr];
        named_by_instr(instr, &mut |it| here |= whole.asks(caller, it));
        if let Instr::SetField(_, field, _) = *instr {
            here |= whole.asks_for_field(caller, field);
        }
        let mut earlier = false;
        let mut pending = Vec::new();
        body.instr_exprs(instr, |e| pending.push(e));
        while let Some(e) = pending.pop() {
            named_by_expr(body, &body.exprs[e], &mut |it| earlier |= whole.asks(caller, it));
            if let Expr::Field(_, field) = body.exprs[e] {
                earlier |= whole.asks_for_field(caller, field);
            }
            body.exprs[e].operands(|it| pending.push(it));
        }
        Resolves { earlier, ..acc.and(Resolves::plainly(here || earlier)) }
    }
}

impl WholeProgram {
    /// The loaders of the program, when their calls are counted and there may be some. For a program whose calls were
    /// looked up.
    pub(super) fn find_loading(&self) -> Option<Loading> {
        if !self.options.link_errors {
            return None;
        }
        let mut acc = Loading { targets: vec![], possible: vec![], errors: vec![], open: None };
        let own = |it: &MethodId| self.own_loaders(*it, 1).next().is_some();
        match self.asked_virtual(load_class()) {
            Site::Dispatch(id) => {
                let dispatch = self.dispatches.get(id);
                let methods = |list: &[Target]| -> Vec<MethodId> {
                    let method = |it: &Target| match it {
                        Target::Method(it) => Some(*it),
                        Target::Glue(_) => None,
                    };
                    list.iter().filter_map(method).filter(own).collect()
                };
                acc.targets = methods(&dispatch.targets);
                acc.possible = methods(&dispatch.possible);
                acc.errors = dispatch.errors.clone();
                acc.open = dispatch.open;
            }
            Site::Method(it) if own(&it) => acc.targets.push(it),
            Site::Open(open) => acc.open = Some(open),
            Site::Method(_) | Site::Error(_) | Site::Vm => {}
        }
        if self.options.world == program::input::WorldKind::Closed {
            acc.open = None;
        }
        let is_empty = acc.targets.is_empty() && acc.possible.is_empty() && acc.errors.is_empty();
        (!is_empty || acc.open.is_some()).then_some(acc)
    }

    /// The classes outside the platform whose objects have the method: the class that declares it, and those below that
    /// do not declare it again.
    pub(super) fn own_loaders(&self, method: MethodId, limit: usize) -> impl Iterator<Item = ClassId> {
        let hierarchy = &self.program.hierarchy;
        let it = declared(hierarchy, method);
        let (mut acc, mut pending) = (Vec::new(), vec![method.class]);
        while let Some(class) = pending.pop().filter(|_| acc.len() < limit) {
            let again =
                |&it_below: &ClassId| find_method(hierarchy, it_below, it.name, it.descriptor).is_none();
            pending.extend(hierarchy.children(class).iter().copied().filter(again));
            let flags = hierarchy.outline(class).flags;
            let has_objects = !flags.is_abstract() && !flags.is_interface();
            let is_made = self.reachable.as_ref().is_none_or(|it| it.is_made(class));
            if has_objects && is_made && hierarchy.role(class) != Role::Jdk {
                acc.push(class);
            }
        }
        acc.into_iter()
    }

    /// Whether code of the class may ask a loader of the program.
    pub(super) fn may_load(&self, caller: ClassId) -> bool {
        self.loading.is_some() && self.program.hierarchy.role(caller) != Role::Jdk
    }

    /// Whether the loader of the class at hand knows what a name means: of itself, and of those directly above
    /// (JVMS §5.3.5).
    fn is_known_to_loader(&self, caller: ClassId, class: ClassName) -> bool {
        let hierarchy = &self.program.hierarchy;
        let above =
            hierarchy.super_class(caller).into_iter().chain(hierarchy.interfaces(caller).iter().copied());
        class == hierarchy.name(caller)
            || above.into_iter().any(|link| match link {
                Link::Present(it) => hierarchy.name(it) == class,
                Link::Outside(it) => it == class,
            })
    }

    /// Whether resolving a class asks a loader.
    fn asks(&self, caller: ClassId, class: ClassName) -> bool {
        element(class).is_some_and(|it| !self.is_known_to_loader(caller, it))
    }

    /// Whether resolving a member does: for its class, or, if that is known and the member private elsewhere, for the hosts
    /// of nests (JVMS §5.4.4).
    fn asks_for_method(&self, caller: ClassId, kind: CallKind, method: MethodRef) -> bool {
        self.asks(caller, method.class()) || self.may_be_private(caller, kind, method)
    }

    /// Whether a method of another class is private, for all that is known.
    fn may_be_private(&self, caller: ClassId, kind: CallKind, method: MethodRef) -> bool {
        match self.dispatches.asked(caller, kind, method) {
            Site::Method(it) => {
                it.class != caller && declared(&self.program.hierarchy, it).flags.is_private()
            }
            Site::Dispatch(it) => self.dispatches.get(it).resolved().is_none(),
            Site::Error(_) | Site::Open(_) => true,
            Site::Vm => false,
        }
    }

    fn asks_for_field(&self, caller: ClassId, field: FieldRef) -> bool {
        let it = field.get();
        let hierarchy = &self.program.hierarchy;
        if it.class == hierarchy.name(caller) && hierarchy.field(caller, it.name, it.descriptor).is_some() {
            return false;
        }
        self.asks(caller, it.class)
            || match resolve_field(hierarchy, it.class, it.name, it.descriptor) {
                ResolvedField::Field(it) => it.of(hierarchy).is_none_or(|it| it.flags.is_private()),
                ResolvedField::Error(_) | ResolvedField::Unknown { .. } => true,
            }
    }

    /// What a source in a method of `caller` resolves. What the `mayinit` before it resolves it does not.
    fn resolves(&self, caller: ClassId, source: Source) -> Resolves {
        Resolves::plainly(match source {
            Source::Exact(_) | Source::Cone(_) | Source::Caught(_) | Source::Object(_) => false,
            Source::Call(CallKind::Static | CallKind::StaticInterface, _) => false,
            Source::Call(kind, method) | Source::CallOnThis(kind, method) => {
                self.asks_for_method(caller, kind, method)
            }
            // Its class was resolved when the object was made.
            Source::Construct(method) => self.may_be_private(caller, CallKind::Special, method),
            Source::Initialize(what) => match what {
                Initialized::Class(class) => self.asks(caller, class),
                // Of what member is not known.
                Initialized::ClassOrAbove(class) => {
                    class == self.program.hierarchy.name(caller) || self.asks(caller, class)
                }
                Initialized::OwnerOfField(field) => self.asks_for_field(caller, field),
                Initialized::OwnerOfMethod(method, interface) => {
                    let kind = if interface { CallKind::StaticInterface } else { CallKind::Static };
                    self.asks_for_method(caller, kind, method)
                }
            },
            // The bootstrap method's class at least.
            Source::CallDynamic(_) | Source::ConstDynamic(_) => {
                return Resolves { plainly: true, dynamically: true, earlier: false };
            }
        })
    }

    /// Whether code of the class resolves anything.
    pub(super) fn resolves_any(&self, caller: ClassId, code: &CodeSummary) -> bool {
        self.resolves_in(caller, code).into_iter().any(|it| it != Resolves::NOTHING)
    }

    /// Whether code of the class resolves what it names by expressions, which may come anywhere.
    pub(super) fn resolves_anywhere(&self, caller: ClassId, code: &CodeSummary) -> bool {
        let summary = &code.summary;
        summary.named.iter().any(|&it| self.asks(caller, it))
            || summary.fields.iter().any(|&(field, access)| {
                matches!(access, Access::Get | Access::Put) && self.asks_for_field(caller, field)
            })
    }

    /// What is resolved in each context of a body.
    pub(super) fn resolves_in(&self, caller: ClassId, code: &CodeSummary) -> Vec<Resolves> {
        let summary = &code.summary;
        let anywhere = self.resolves_anywhere(caller, code);
        let mut acc = vec![Resolves::plainly(anywhere); summary.contexts.len()];
        for item in &summary.items {
            if let Some(it) = acc.get_mut(item.context as usize)
                && !(it.plainly && it.dynamically)
            {
                *it = it.and(self.resolves(caller, item.source));
            }
        }
        acc
    }

    /// Adds what comes out of resolving. Linking a call site or dynamic constant wraps what is no error; HotSpot does so
    /// with this too.
    pub(super) fn resolving_flows(&self, ex: &mut Exceptions, what: Resolves, out: &mut Vec<Flow>) {
        if what.plainly {
            out.push(Flow::Node(Node::Loading));
        }
        if what.dynamically {
            let wrapping = ex.wrapping(well_known().bootstrap, None);
            out.push(Flow::Through(Node::Loading, wrapping));
        }
    }

    /// The methods that asking a loader may run and that count by their code.
    pub(super) fn loading_targets(&self) -> Vec<MethodId> {
        let Some(it) = &self.loading else { return Vec::new() };
        // What is open covers those that are only possible, unless it is narrowed.
        let possible = if it.open.is_none() || self.options.assume_contract { &it.possible[..] } else { &[] };
        it.targets.iter().chain(possible).copied().collect()
    }

    /// What comes out besides what these methods let out.
    pub(super) fn loading_value(&self, ex: &mut Exceptions) -> Value {
        let Some(it) = &self.loading else { return Value::NOTHING };
        let mut acc = Value::NOTHING;
        let unfit = unfit(ex);
        if let Some(open) = it.open {
            let value = self.open_call(ex, open, Some(load_class()));
            let function = loaded(ex);
            acc.open = ex.through(function, value).open;
            acc.open = ex.universe.join(acc.open, unfit);
        }
        if !it.targets.is_empty() || !it.possible.is_empty() {
            acc.known = ex.universe.join(acc.known, unfit);
        }
        for &error in &it.errors {
            let value = self.link_error(ex, error);
            acc.known = ex.universe.join(acc.known, value.known);
        }
        acc
    }
}

/// What becomes of what `loadClass` lets out: ClassNotFoundException turns into NoClassDefFoundError, everything else stays
/// as it is (JVMS §5.3; run on 17 and 25).
pub(super) fn loaded(ex: &mut Exceptions) -> flow::solver::FunctionId {
    let not_found = ex.universe.masks(Some(ClassName::new(b"java/lang/ClassNotFoundException")));
    let keep = ex.universe.minus(ex.universe.all(), not_found.surely);
    let gone = ex.universe.exact(well_known().no_class_def);
    ex.filter(Filter { keep, adds: vec![(not_found.may, gone)] })
}

/// What the VM raises where a loader answers, but does not fit: with nothing or another class (NoClassDefFoundError), with
/// one that other loaders have otherwise (LinkageError, JVMS §5.3.4), or without a nest host (IllegalAccessError, §5.4.4).
fn unfit(ex: &mut Exceptions) -> SetId {
    let mut acc = SetId::EMPTY;
    for name in
        [&b"java/lang/NoClassDefFoundError"[..], b"java/lang/LinkageError", b"java/lang/IllegalAccessError"]
    {
        let it = ex.universe.exact(ClassName::new(name));
        acc = ex.universe.join(acc, it);
    }
    acc
}
