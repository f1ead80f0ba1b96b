//! Lists the absent classes that a program names, the code that names them, and the methods that may run unknown code
//! because a class is absent.

use classfile::names::ClassName;
use flow::summary::Initialized;
use flow::throwables::built_in_parent;
use program::hierarchy::{ClassId, Link};
use program::initialization::runs_already;
use program::input::Role;
use program::members::MethodId;
use program::members::declared::declared;
use program::names::{MethodName, Text};
use rustc_hash::FxHashMap;

use super::actions::{Action, MadeObject, Raises, all_actions, item_action};
use super::resolving::resolves_any;
use super::sites::{Open, Site};
use super::tables::CallTable;
use super::why::opened_by;

/// A class that the program names and that is absent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The name of the class.
    pub class: Text,
    /// The classes of the program that name the absent class as a direct supertype, sorted by text.
    pub supertype_of: Vec<Text>,
    /// The methods of the program that name the absent class in their code or throws clause, sorted by text.
    pub used_by: Vec<MethodName>,
    /// The methods of the absent class that code of the program calls, sorted by text.
    pub called: Vec<MethodName>,
    /// The methods of the program whose calls or initialisations may run unknown code because the class is absent,
    /// sorted by text.
    pub widened: Vec<MethodName>,
}

/// The facts that were found about one absent class. The fields have the same meaning as those of [`Missing`].
#[derive(Default)]
struct Found {
    supertype_of: Vec<Text>,
    used_by: Vec<MethodName>,
    called: Vec<MethodName>,
    widened: Vec<MethodName>,
}

/// Returns the absent classes that classes of role `app` name, sorted by text. Names that occur only in libraries or
/// the platform are ignored.
pub fn missing_classes(calls: &CallTable) -> Vec<Missing> {
    let hierarchy = &calls.classes.hierarchy;
    let mut acc: FxHashMap<ClassName, Found> = FxHashMap::default();
    for class in hierarchy.ids().filter(|&it| hierarchy.role(it) == Role::App) {
        let above =
            hierarchy.super_class(class).into_iter().chain(hierarchy.interfaces(class).iter().copied());
        for link in above {
            if let Link::Outside(it) = link {
                acc.entry(it).or_default().supertype_of.push(Text(hierarchy.name(class).bytes()));
            }
        }
        for index in 0..hierarchy.outline(class).methods.len() {
            missing_of(calls, MethodId::new(class, index), &mut acc);
        }
    }
    let mut all: Vec<Missing> = acc
        .into_iter()
        .map(|(class, mut it)| {
            it.supertype_of.sort_unstable();
            for list in [&mut it.used_by, &mut it.called, &mut it.widened] {
                list.sort_unstable();
                list.dedup();
            }
            Missing {
                class: Text(class.bytes()),
                supertype_of: it.supertype_of,
                used_by: it.used_by,
                called: it.called,
                widened: it.widened,
            }
        })
        .collect();
    all.sort_unstable_by_key(|it| it.class);
    all
}

fn missing_of(calls: &CallTable, id: MethodId, acc: &mut FxHashMap<ClassName, Found>) {
    let name = calls.classes.name(id);
    let hierarchy = &calls.classes.hierarchy;
    let mut used = |it: ClassName, called: Option<MethodName>| {
        if let Some(it) = it.element().filter(|&it| hierarchy.class(it).is_none()) {
            let found = acc.entry(it).or_default();
            found.used_by.push(name);
            found.called.extend(called);
        }
    };
    declared(hierarchy, id).throws.iter().for_each(|&it| used(it, None));
    // A ghost names no classes: its stub is not its code, and the targets of the stub's calls were not computed.
    let Some(code) = calls.classes.code(id) else { return };
    let rows = code.summary.contexts.iter().flat_map(|it| &it.rows).chain(&code.summary.bare);
    rows.filter_map(|it| it.class).for_each(|it| used(it, None));
    // The JVM knows the built-in throwables without a class file.
    code.summary.constant_classes(&mut |it| {
        if built_in_parent(it).is_none() {
            used(it, None);
        }
    });
    for constant in code.dynamics.iter().flat_map(|it| &it.resolves) {
        constant.classes(&mut |it| used(it, None));
    }
    code.summary.fields.iter().for_each(|it| used(it.0.class(), None));
    for action in code.summary.items.iter().filter_map(|it| item_action(it.source)) {
        names_used(&action, &mut used);
    }
    let functions = || code.dynamics.iter().filter_map(|it| it.function.as_ref());
    for function in functions() {
        used(function.interface, None);
        let member = function.handle.member;
        used(member.class(), Some(MethodName::of(member)));
    }
    let mut opens: Vec<Open> = Vec::new();
    for action in all_actions(code).chain(functions().map(|it| Action::of_handle(it.handle))) {
        add_opens(calls, id.class, &action, &mut opens);
    }
    if calls.may_load(id.class) && resolves_any(calls, id.class, code) {
        opens.extend(calls.loading.as_ref().and_then(|it| it.open));
    }
    for open in opens {
        let absent = match open {
            Open::Outside(it) => Some(it),
            Open::Overridable(it) => opened_by(&calls.classes, it),
            Open::SignaturePolymorphic => None,
        };
        if let Some(it) = absent {
            acc.entry(it).or_default().widened.push(name);
        }
    }
}

/// Calls `used` for each class that an action (a call, for example) names. If the action calls a method of the class,
/// the second argument is this method; otherwise `None`.
fn names_used(action: &Action, used: &mut dyn FnMut(ClassName, Option<MethodName>)) {
    match action.raises {
        // Built-in throwables are raised by the VM itself, so code does not name them.
        Raises::Exact(class) if built_in_parent(class).is_some() => {}
        Raises::Exact(class) | Raises::Cone(class) => used(class, None),
        // Other instructions name the class of the receiver.
        Raises::Receiver(_) => {}
        Raises::Caught(_) | Raises::NullReceiver | Raises::LinkFailure | Raises::Nothing => {}
    }
    match action.initializes {
        None => {}
        Some(Initialized::Class(it) | Initialized::ClassOrAbove(it) | Initialized::Implemented(it)) => {
            used(it, None)
        }
        Some(Initialized::OwnerOfField(it) | Initialized::OwnerOfMethod(it, _)) => used(it.class(), None),
    }
    match action.makes {
        Some(MadeObject::ByNew(class) | MadeObject::ByHandle(class)) => used(class, None),
        None => {}
    }
    if let Some(method) = action.method() {
        used(method.class(), Some(MethodName::of(method)));
    }
}

/// Adds to `acc` the reasons why the calls and initialisations of an action in code of the class `caller` may run
/// unknown code.
fn add_opens(calls: &CallTable, caller: ClassId, action: &Action, acc: &mut Vec<Open>) {
    if let Some(called) = action.calls {
        acc.extend(match calls.site(caller, called) {
            Site::Open(open) => Some(open),
            Site::Dispatch(it) => calls.dispatches.get(it).open,
            Site::Method(_) | Site::Error(_) | Site::Vm => None,
        });
    }
    // The class that a method handle initialises is not counted if the handle also makes a call.
    if let (Some(what), None) = (action.initializes, action.calls) {
        acc.extend(unknown_initializers(calls, caller, what).into_iter().map(Open::Outside));
    }
}

/// Returns the absent classes whose initialisers may run because code of the class `caller` initialises the classes
/// `what`.
fn unknown_initializers(calls: &CallTable, caller: ClassId, what: Initialized) -> Vec<ClassName> {
    let hierarchy = &calls.classes.hierarchy;
    let absent = |&link: &Link| match link {
        Link::Outside(class) => Some(class),
        Link::Present(class) if runs_already(hierarchy, caller, class) => None,
        Link::Present(class) => hierarchy.outside_above(class),
    };
    calls.initialized(what).iter().filter_map(absent).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use program::input::WorldKind;
    use test_utils::asm::assemble;
    use test_utils::ghosts::with_ghosts;

    use super::super::record::class_record;
    use super::super::resolved::resolved;
    use super::super::tables::{ClassTable, WholeOptions};
    use super::*;
    use crate::parts::Scratch;

    fn missing(classes: &[Vec<u8>]) -> Vec<String> {
        let options = WholeOptions {
            world: WorldKind::Open,
            release: None,
            assume_contract: false,
            link_errors: false,
            async_errors: false,
            system_assertions: false,
        };
        let record = |it: &Vec<u8>| class_record(it, &mut Scratch::default()).unwrap();
        let records = classes.iter().map(|it| (record(it), Role::App)).collect();
        let calls = resolved(ClassTable::new(records, &options), options, None);
        missing_classes(&calls).iter().map(|it| it.class.to_string()).collect()
    }

    #[test]
    fn the_code_of_a_ghost_stub_needs_no_class() {
        let called = ".class public super p/A\n.super none\n.method public static f()V\n return\n.end\n";
        let caller = ".class public super p/C\n.super p/A\n.method public static m()V\n\
            invokestatic p/A.f()V\n invokestatic ext/B.g()V\n return\n.end\n";
        let classes = [called, caller].map(|it| assemble(it).unwrap().remove(0).bytes);
        assert_eq!(missing(&classes), ["ext/B"]);
        let ghosts = BTreeMap::from([("p/C.m()V".to_owned(), Vec::new())]);
        let classes = [classes[0].clone(), with_ghosts(&classes[1], &ghosts)];
        assert_eq!(missing(&classes), [""; 0]);
    }
}
