//! Which instructions resolve a class and so may ask a class loader of the program, under `--link-errors` (JVMS §5.4.3).

use bir::body::{Body, CallKind, Expr, Instr, InstrId};
use classfile::names::{ClassName, FieldRef, MethodRef};
use flow::named::{named_by_expr, named_by_instr, names_throwable};
use flow::summary::{Access, Initialized, Source};
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Link};
use program::members::ResolvedField;
use program::members::declared::declared;
use program::members::resolve::resolve_field;
use rustc_hash::FxHashSet;

use super::flows::Flow;
use super::lattice::Exceptions;
use super::sites::{Node, Site};
use super::tables::CallTable;
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
    calls: &'a CallTable,
    caller: ClassId,
    body: &'a Body,
    /// The `catch` instructions that resolve Throwable.
    handlers: FxHashSet<InstrId>,
}

impl<'a> Resolving<'a> {
    /// For the body of a method of `caller`.
    pub(super) fn new(calls: &'a CallTable, caller: ClassId, body: &'a Body) -> Self {
        let mut acc = Resolving { calls, caller, body, handlers: FxHashSet::default() };
        if calls.may_load(caller) && asks(calls, caller, well_known().throwable) {
            let rows = body.rows.iter().filter(|it| names_throwable(it));
            acc.handlers = rows.map(|it| it.handler).collect();
        }
        acc
    }

    /// What an instruction resolves that has these sources.
    pub(super) fn at(&self, instr: InstrId, sources: &[Source]) -> Resolves {
        let Resolving { calls, caller, body, .. } = *self;
        if !calls.may_load(caller) {
            return Resolves::NOTHING;
        }
        let acc = sources.iter().fold(Resolves::NOTHING, |acc, &it| acc.and(resolves(calls, caller, it)));
        let mut here = self.handlers.contains(&instr);
        let instr = &body.instrs[instr];
        named_by_instr(instr, &mut |it| here |= asks(calls, caller, it));
        if let Instr::SetField(_, field, _) = *instr {
            here |= asks_for_field(calls, caller, field);
        }
        let mut earlier = false;
        let mut pending = Vec::new();
        body.instr_exprs(instr, |e| pending.push(e));
        while let Some(e) = pending.pop() {
            named_by_expr(body, &body.exprs[e], &mut |it| earlier |= asks(calls, caller, it));
            if let Expr::Field(_, field) = body.exprs[e] {
                earlier |= asks_for_field(calls, caller, field);
            }
            body.exprs[e].operands(|it| pending.push(it));
        }
        Resolves { earlier, ..acc.and(Resolves::plainly(here || earlier)) }
    }
}

/// Whether the loader of the class at hand knows what a name means: of itself, and of those directly above
/// (JVMS §5.3.5).
fn is_known_to_loader(calls: &CallTable, caller: ClassId, class: ClassName) -> bool {
    let hierarchy = &calls.classes.hierarchy;
    let above = hierarchy.super_class(caller).into_iter().chain(hierarchy.interfaces(caller).iter().copied());
    class == hierarchy.name(caller)
        || above.into_iter().any(|link| match link {
            Link::Present(it) => hierarchy.name(it) == class,
            Link::Outside(it) => it == class,
        })
}

/// Whether resolving a class asks a loader.
fn asks(calls: &CallTable, caller: ClassId, class: ClassName) -> bool {
    class.element().is_some_and(|it| !is_known_to_loader(calls, caller, it))
}

/// Whether resolving a member does: for its class, or, if that is known and the member private elsewhere, for the hosts
/// of nests (JVMS §5.4.4).
fn asks_for_method(calls: &CallTable, caller: ClassId, kind: CallKind, method: MethodRef) -> bool {
    asks(calls, caller, method.class()) || may_be_private(calls, caller, kind, method)
}

/// Whether a method of another class is private, for all that is known.
fn may_be_private(calls: &CallTable, caller: ClassId, kind: CallKind, method: MethodRef) -> bool {
    match calls.dispatches.asked(caller, kind, method) {
        Site::Method(it) => it.class != caller && declared(&calls.classes.hierarchy, it).flags.is_private(),
        Site::Dispatch(it) => calls.dispatches.get(it).resolved().is_none(),
        Site::Error(_) | Site::Open(_) => true,
        Site::Vm => false,
    }
}

fn asks_for_field(calls: &CallTable, caller: ClassId, field: FieldRef) -> bool {
    let it = field.get();
    let hierarchy = &calls.classes.hierarchy;
    if it.class == hierarchy.name(caller) && hierarchy.field(caller, it.name, it.descriptor).is_some() {
        return false;
    }
    asks(calls, caller, it.class)
        || match resolve_field(hierarchy, it.class, it.name, it.descriptor) {
            ResolvedField::Field(it) => it.of(hierarchy).is_none_or(|it| it.flags.is_private()),
            ResolvedField::Error(_) | ResolvedField::Unknown { .. } => true,
        }
}

/// What a source in a method of `caller` resolves. What the `mayinit` before it resolves it does not.
fn resolves(calls: &CallTable, caller: ClassId, source: Source) -> Resolves {
    Resolves::plainly(match source {
        Source::Exact(_) | Source::Cone(_) | Source::Caught(_) | Source::Object(_) => false,
        Source::Call(CallKind::Static | CallKind::StaticInterface, _) => false,
        Source::Call(kind, method) | Source::CallOnThis(kind, method) => {
            asks_for_method(calls, caller, kind, method)
        }
        // Its class was resolved when the object was made.
        Source::Construct(method) => may_be_private(calls, caller, CallKind::Special, method),
        Source::Initialize(what) => match what {
            Initialized::Class(class) => asks(calls, caller, class),
            // Of what member is not known.
            Initialized::ClassOrAbove(class) => {
                class == calls.classes.hierarchy.name(caller) || asks(calls, caller, class)
            }
            Initialized::OwnerOfField(field) => asks_for_field(calls, caller, field),
            Initialized::OwnerOfMethod(method, interface) => {
                let kind = if interface { CallKind::StaticInterface } else { CallKind::Static };
                asks_for_method(calls, caller, kind, method)
            }
        },
        // The bootstrap method's class at least.
        Source::CallDynamic(_) | Source::ConstDynamic(_) => {
            return Resolves { plainly: true, dynamically: true, earlier: false };
        }
    })
}

/// Whether code of the class resolves anything.
pub(super) fn resolves_any(calls: &CallTable, caller: ClassId, code: &CodeSummary) -> bool {
    resolves_in(calls, caller, code).into_iter().any(|it| it != Resolves::NOTHING)
}

/// Whether code of the class resolves what it names by expressions, which may come anywhere.
pub(super) fn resolves_anywhere(calls: &CallTable, caller: ClassId, code: &CodeSummary) -> bool {
    let summary = &code.summary;
    summary.named.iter().any(|&it| asks(calls, caller, it))
        || summary.fields.iter().any(|&(field, access)| {
            matches!(access, Access::Get | Access::Put) && asks_for_field(calls, caller, field)
        })
}

/// What is resolved in each context of a body.
pub(super) fn resolves_in(calls: &CallTable, caller: ClassId, code: &CodeSummary) -> Vec<Resolves> {
    let summary = &code.summary;
    let anywhere = resolves_anywhere(calls, caller, code);
    let mut acc = vec![Resolves::plainly(anywhere); summary.contexts.len()];
    for item in &summary.items {
        if let Some(it) = acc.get_mut(item.context as usize)
            && !(it.plainly && it.dynamically)
        {
            *it = it.and(resolves(calls, caller, item.source));
        }
    }
    acc
}

/// Adds what comes out of resolving. Linking a call site or dynamic constant wraps what is no error; HotSpot does so
/// with this too.
pub(super) fn resolving_flows(ex: &mut Exceptions, what: Resolves, out: &mut Vec<Flow>) {
    if what.plainly {
        out.push(Flow::Node(Node::Loading));
    }
    if what.dynamically {
        let wrapping = ex.wrapping(well_known().bootstrap, None);
        out.push(Flow::Through(Node::Loading, wrapping));
    }
}
