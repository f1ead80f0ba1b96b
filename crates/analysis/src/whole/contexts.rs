//! Chooses the code that a call runs where the values that it passes are known exactly, and the context in which that code
//! is analysed.
//!
//! A context exists only because code that was read passes exactly this class or function object, so it assumes nothing
//! about other callers. Which values a context keeps depends on the called method alone: values of parameters that the
//! method uses, up to a fixed number ([`Key`]).

use classfile::names::ClassName;
use flow::operands::Operand;
use program::hierarchy::ClassId;
use program::members::declared::declared;
use program::members::select::{select, select_interface};
use program::members::{LinkError, MethodId, Selected};

use super::actions::Called;
use super::dispatch::offers::runs_own_method;
use super::sites::{DispatchId, Exact, Frame, FunctionSiteId, Key, Node, Site};
use super::tables::CallTable;
use crate::summary::MethodSummary;

/// The code that a call runs because it passes values that are known exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// The call runs the code of this node.
    Node(Node),
    /// Selection fails with this error.
    Error(LinkError),
}

/// Returns the exact value of an operand; `None` if it is not known.
pub(super) fn exact(calls: &CallTable, frame: Frame, operand: Operand) -> Option<Exact> {
    match operand {
        Operand::Made(it) => {
            let hierarchy = &calls.classes.hierarchy;
            let flags = |it: &ClassId| hierarchy.outline(*it).flags;
            let class =
                hierarchy.class(it).filter(|it| !flags(it).is_abstract() && !flags(it).is_interface());
            class.map(Exact::Class)
        }
        Operand::Final(it) => of_final(calls, it),
        Operand::Function(site) => calls.function_at(frame.id, site).map(Exact::Function),
        Operand::Parameter(it) => {
            let declared = || of_final(calls, parameter_class(calls, frame.id, it)?);
            frame.key.get(it).or_else(declared)
        }
    }
}

/// Returns the code that a call runs because values that it passes are known exactly; `None` if that code is the same
/// whatever the values are. `operands` is what is known of the operands of the instruction.
pub(super) fn choice(
    calls: &CallTable,
    frame: Frame,
    called: Called,
    operands: &[(u8, Operand)],
) -> Option<Choice> {
    let receiver = match called {
        Called::OnThis(..) => Some(Operand::Parameter(0)),
        Called::Construct(method) => Some(Operand::Made(method.class())),
        // Nothing but an object of the class itself can be the receiver if the class is final.
        Called::Instruction(kind, method)
            if kind.has_receiver() && operands.first().is_none_or(|it| it.0 != 0) =>
        {
            Some(Operand::Final(method.class()))
        }
        Called::Instruction(..) => None,
        Called::Access(_) | Called::Dynamic(_) | Called::Handle(..) => return None,
    };
    let others = operands.iter().copied().filter(|it| receiver.is_none() || it.0 != 0);
    let operands = receiver.map(|it| (0, it)).into_iter().chain(others);
    let mut values = [None; 8];
    let mut n = 0;
    for (index, operand) in operands {
        if let Some(place) = values.get_mut(n)
            && let Some(it) = exact(calls, frame, operand)
        {
            *place = Some((index, it));
            n += 1;
        }
    }
    let values = || values.iter().copied().flatten();
    if n == 0 {
        return None;
    }
    match calls.site(frame.id.class, called) {
        Site::Method(it) => context(calls, it, values()).map(Choice::Node),
        Site::Dispatch(dispatch) => match values().find(|it| it.0 == 0)?.1 {
            Exact::Class(class) => {
                let (hierarchy, dispatch) = (&calls.classes.hierarchy, calls.dispatches.get(dispatch));
                let resolved = dispatch.resolved()?;
                let selected = match dispatch.interface {
                    true => select_interface(hierarchy, class, dispatch.method.class(), resolved),
                    false => select(hierarchy, class, resolved),
                };
                match selected {
                    Selected::Method(it) => {
                        let general = Node::Method(it);
                        Some(Choice::Node(context(calls, it, values()).unwrap_or(general)))
                    }
                    Selected::Error(it) => Some(Choice::Error(it)),
                    Selected::Unknown { .. } => None,
                }
            }
            Exact::Function(it) => glue(calls, dispatch, it).map(Choice::Node),
        },
        Site::Error(_) | Site::Open(_) | Site::Vm => None,
    }
}

/// Returns the node of a method for these values of its parameters, which must be in the order of the parameters; `None` if
/// the method uses none of them.
fn context(calls: &CallTable, id: MethodId, values: impl Iterator<Item = (u8, Exact)>) -> Option<Node> {
    let MethodSummary::Known(code) = calls.classes.summary(id) else { return None };
    if calls.classes.ghost(id).is_some() {
        return None;
    }
    let used = code.summary.used_parameters;
    let is_used = |it: &(u8, Exact)| used >> u32::from(it.0).min(63) & 1 != 0;
    // The method knows as much from its own descriptor.
    let says_nothing =
        |it: &(u8, Exact)| parameter_class(calls, id, it.0).and_then(|it| of_final(calls, it)) == Some(it.1);
    let key = Key::new(values.filter(|it| is_used(it) && !says_nothing(it)));
    (!key.is_empty()).then_some(Node::Context(id, key))
}

/// Returns the node of a function object if the calls of a dispatch run its own method when they are made on it.
fn glue(calls: &CallTable, dispatch: DispatchId, id: FunctionSiteId) -> Option<Node> {
    let function = &calls.functions.get(id.index())?.function;
    runs_own_method(&calls.dispatches, dispatch, function).then_some(Node::Glue(id))
}

/// Returns the exact value of a variable of this type, if the class is final. Under `--rta`, code that is reached may make no
/// such object, and a call on the variable then runs nothing, so the result is `None` then.
fn of_final(calls: &CallTable, class: ClassName) -> Option<Exact> {
    let hierarchy = &calls.classes.hierarchy;
    let class = hierarchy.class(class).filter(|it| hierarchy.outline(*it).flags.is_final())?;
    (!calls.dispatches.is_narrowed).then_some(Exact::Class(class))
}

/// Returns the class that the descriptor of a method gives for a parameter; for the receiver, the class of the method.
fn parameter_class(calls: &CallTable, id: MethodId, parameter: u8) -> Option<ClassName> {
    let hierarchy = &calls.classes.hierarchy;
    let method = declared(hierarchy, id);
    let has_receiver = usize::from(!method.flags.is_static());
    match usize::from(parameter).checked_sub(has_receiver) {
        None => Some(hierarchy.name(id.class)),
        Some(it) => method.descriptor.method_type()?.params().nth(it)?.class().filter(|it| !it.is_array()),
    }
}
