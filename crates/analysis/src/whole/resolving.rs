//! Finds the instructions that resolve a class. Under `--link-errors`, such an instruction may call a class loader of
//! the program (JVMS §5.4.3).

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

use super::lattice::{Exceptions, Flow};
use super::sites::{Node, Site};
use super::tables::CallTable;
use crate::summary::CodeSummary;

/// Tells whether code resolves a class (which may call a class loader), and how the exceptions of the class loader
/// come out of the code.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Resolves {
    /// Whether the code resolves a class in such a way that the class loader's exceptions may come out unchanged.
    plainly: bool,
    /// Whether the class loader's exceptions may come out wrapped in a BootstrapMethodError. JVMS §5.4.3.6 leaves
    /// open whether they are wrapped.
    dynamically: bool,
    /// Whether a class is resolved in an expression of the BIR instruction. The bytecode may evaluate the expression,
    /// and so resolve the class, at an earlier pc than the pc of the instruction, where other handlers may apply.
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

/// Finds the instructions of one body that resolve classes.
pub(super) struct Resolving<'a> {
    calls: &'a CallTable,
    caller: ClassId,
    body: &'a Body,
    /// The `catch` instructions at which the class Throwable is resolved.
    handlers: FxHashSet<InstrId>,
}

impl<'a> Resolving<'a> {
    /// Creates a resolver for `body`, the body of a method of the class `caller`.
    pub(super) fn new(calls: &'a CallTable, caller: ClassId, body: &'a Body) -> Self {
        let mut acc = Resolving { calls, caller, body, handlers: FxHashSet::default() };
        if calls.may_load(caller) && calls_loader(calls, caller, well_known().throwable) {
            let rows = body.rows.iter().filter(|it| names_throwable(it));
            acc.handlers = rows.map(|it| it.handler).collect();
        }
        acc
    }

    /// Returns whether the instruction `instr` resolves a class. `sources` are the sources of exceptions in the
    /// instruction.
    pub(super) fn at(&self, instr: InstrId, sources: &[Source]) -> Resolves {
        let Resolving { calls, caller, body, .. } = *self;
        if !calls.may_load(caller) {
            return Resolves::NOTHING;
        }
        let acc = sources.iter().fold(Resolves::NOTHING, |acc, &it| acc.and(resolves(calls, caller, it)));
        let mut here = self.handlers.contains(&instr);
        let instr = &body.instrs[instr];
        named_by_instr(instr, &mut |it| here |= calls_loader(calls, caller, it));
        if let Instr::SetField(_, field, _) = *instr {
            here |= field_calls_loader(calls, caller, field);
        }
        let mut earlier = false;
        let mut pending = Vec::new();
        body.instr_exprs(instr, |e| pending.push(e));
        while let Some(e) = pending.pop() {
            named_by_expr(body, &body.exprs[e], &mut |it| earlier |= calls_loader(calls, caller, it));
            if let Expr::Field(_, field) = body.exprs[e] {
                earlier |= field_calls_loader(calls, caller, field);
            }
            body.exprs[e].operands(|it| pending.push(it));
        }
        Resolves { earlier, ..acc.and(Resolves::plainly(here || earlier)) }
    }
}

/// Returns whether the class loader of `caller` already knows the class: it knows `caller` itself and its direct
/// supertypes (JVMS §5.3.5).
fn is_known_to_loader(calls: &CallTable, caller: ClassId, class: ClassName) -> bool {
    let hierarchy = &calls.classes.hierarchy;
    let above = hierarchy.super_class(caller).into_iter().chain(hierarchy.interfaces(caller).iter().copied());
    class == hierarchy.name(caller)
        || above.into_iter().any(|link| match link {
            Link::Present(it) => hierarchy.name(it) == class,
            Link::Outside(it) => it == class,
        })
}

/// Returns whether resolving `class` in code of `caller` calls a class loader.
fn calls_loader(calls: &CallTable, caller: ClassId, class: ClassName) -> bool {
    class.element().is_some_and(|it| !is_known_to_loader(calls, caller, it))
}

/// Returns whether resolving a method in code of `caller` calls a class loader: to load the class that the reference
/// names, or, if the reference may lead to a private method of another class, to load nest hosts (JVMS §5.4.4).
fn method_calls_loader(calls: &CallTable, caller: ClassId, kind: CallKind, method: MethodRef) -> bool {
    calls_loader(calls, caller, method.class()) || may_be_private(calls, caller, kind, method)
}

/// Returns whether the method that is called in code of `caller` may be a private method of another class.
fn may_be_private(calls: &CallTable, caller: ClassId, kind: CallKind, method: MethodRef) -> bool {
    match calls.dispatches.asked(caller, kind, method) {
        Site::Method(it) => it.class != caller && declared(&calls.classes.hierarchy, it).flags.is_private(),
        Site::Dispatch(it) => calls.dispatches.get(it).resolved().is_none(),
        Site::Error(_) | Site::Open(_) => true,
        Site::Vm => false,
    }
}

fn field_calls_loader(calls: &CallTable, caller: ClassId, field: FieldRef) -> bool {
    let it = field.get();
    let hierarchy = &calls.classes.hierarchy;
    if it.class == hierarchy.name(caller) && hierarchy.field(caller, it.name, it.descriptor).is_some() {
        return false;
    }
    calls_loader(calls, caller, it.class)
        || match resolve_field(hierarchy, it.class, it.name, it.descriptor) {
            ResolvedField::Field(it) => it.of(hierarchy).is_none_or(|it| it.flags.is_private()),
            ResolvedField::Error(_) | ResolvedField::Unknown { .. } => true,
        }
}

/// Returns whether a source of exceptions in code of `caller` resolves a class. Classes that the preceding `mayinit`
/// statement resolves are ignored.
fn resolves(calls: &CallTable, caller: ClassId, source: Source) -> Resolves {
    Resolves::plainly(match source {
        Source::Exact(_) | Source::Cone(_) | Source::Caught(_) => false,
        Source::Object(_) | Source::Receiver(_) => false,
        Source::Call(CallKind::Static | CallKind::StaticInterface, _) => false,
        Source::Call(kind, method) | Source::CallOnThis(kind, method) => {
            method_calls_loader(calls, caller, kind, method)
        }
        // The class VarHandle is resolved, and the types of the arguments.
        Source::Access(_) => true,
        // The class was already resolved when the object was created.
        Source::Construct(method) => may_be_private(calls, caller, CallKind::Special, method),
        Source::Initialize(what) => match what {
            Initialized::Class(class) => calls_loader(calls, caller, class),
            // The accessed member is unknown.
            Initialized::ClassOrAbove(class) => {
                class == calls.classes.hierarchy.name(caller) || calls_loader(calls, caller, class)
            }
            // Only linking a dynamic call site initialises so.
            Initialized::Implemented(_) => false,
            Initialized::OwnerOfField(field) => field_calls_loader(calls, caller, field),
            Initialized::OwnerOfMethod(method, interface) => {
                let kind = if interface { CallKind::StaticInterface } else { CallKind::Static };
                method_calls_loader(calls, caller, kind, method)
            }
        },
        // At least the class of the bootstrap method is resolved.
        Source::CallDynamic(_) | Source::ConstDynamic(_) => {
            return Resolves { plainly: true, dynamically: true, earlier: false };
        }
    })
}

/// Returns whether `code`, a body of the class `caller`, resolves any class.
pub(super) fn resolves_any(calls: &CallTable, caller: ClassId, code: &CodeSummary) -> bool {
    resolves_in(calls, caller, code).into_iter().any(|it| it != Resolves::NOTHING)
}

/// Returns whether `code`, a body of the class `caller`, resolves a class in expressions that may be evaluated
/// anywhere in the method.
pub(super) fn resolves_anywhere(calls: &CallTable, caller: ClassId, code: &CodeSummary) -> bool {
    let summary = &code.summary;
    let mut names = false;
    summary.constant_classes(&mut |it| names |= calls_loader(calls, caller, it));
    names
        || summary.fields.iter().any(|&(field, access)| {
            matches!(access, Access::Get | Access::Put) && field_calls_loader(calls, caller, field)
        })
}

/// Returns, for each context of a body of the class `caller` (the code under the same exception-table rows), whether
/// code in the context resolves a class.
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

/// Adds to `out` the exceptions that resolving a class lets out. When a call site or dynamic constant is linked, the
/// VM wraps every exception that is not an error; HotSpot then also wraps the exceptions of class loaders.
pub(super) fn resolving_flows(ex: &mut Exceptions, what: Resolves, out: &mut Vec<Flow>) {
    if what.plainly {
        out.push(Flow::Node(Node::Loading));
    }
    if what.dynamically {
        let wrapping = ex.wrapping(well_known().bootstrap, None);
        out.push(Flow::Through(Node::Loading, wrapping));
    }
}
