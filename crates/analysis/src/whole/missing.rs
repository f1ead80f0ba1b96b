//! What is not there: the classes that are named and absent, who needs them, and what that costs.

use bir::body::CallKind;
use classfile::bootstrap::MethodHandle;
use classfile::names::{ClassName, MethodRef};
use flow::functional::Effect;
use flow::summary::{Initialized, Source};
use flow::throwables::built_in_parent;
use program::hierarchy::{ClassId, Link};
use program::input::Role;
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::dispatch::{Open, Site, handle_call};
use super::members::{declared, element, method_id};
use super::program::WholeProgram;
use crate::names::{MethodId as MethodName, Text};

/// A class that is named and not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// Its name.
    pub class: Text,
    /// Classes of the program that have it as a supertype, by text.
    pub supertype_of: Vec<Text>,
    /// Methods of the program that name it in their code or throws clause, by text.
    pub used_by: Vec<MethodName>,
    /// The methods of it that are called, by text.
    pub called: Vec<MethodName>,
    /// Methods of the program whose calls or initialisations may run anything because of it, by text.
    pub widened: Vec<MethodName>,
}

/// What was found of one class.
#[derive(Default)]
struct Found {
    supertype_of: Vec<Text>,
    used_by: Vec<MethodName>,
    called: Vec<MethodName>,
    widened: Vec<MethodName>,
}

impl WholeProgram {
    /// The classes that the program names and that are not there, by text. What libraries and the platform name does not
    /// count, only what the classes of role `app` do.
    pub fn missing(&self) -> Vec<Missing> {
        let hierarchy = &self.program.hierarchy;
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
                self.missing_of(method_id(class, index), &mut acc);
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

    fn missing_of(&self, id: MethodId, acc: &mut FxHashMap<ClassName, Found>) {
        let name = self.name(id);
        let hierarchy = &self.program.hierarchy;
        let outside = |it: ClassName| element(it).filter(|&it| hierarchy.class(it).is_none());
        let mut used = |it: ClassName, called: Option<MethodName>| {
            if let Some(it) = outside(it) {
                let found = acc.entry(it).or_default();
                found.used_by.push(name);
                found.called.extend(called);
            }
        };
        declared(hierarchy, id).throws.iter().for_each(|&it| used(it, None));
        // What stands for the code of a ghost is not its code, and nobody asked where its calls go.
        let Some(code) = self.program.code(id) else { return };
        let rows = code.summary.contexts.iter().flat_map(|it| &it.rows);
        rows.filter_map(|it| it.class).for_each(|it| used(it, None));
        code.summary.fields.iter().for_each(|it| used(it.0.class(), None));
        let mut calls: Vec<(CallKind, MethodRef)> = Vec::new();
        let mut opens: Vec<Open> = Vec::new();
        for item in &code.summary.items {
            match item.source {
                // The VM raises these itself.
                Source::Exact(class) if built_in_parent(class).is_some() => {}
                Source::Exact(class) | Source::Cone(class) | Source::Object(class) => used(class, None),
                Source::Call(kind, method) | Source::CallOnThis(kind, method) => {
                    used(method.class(), Some(MethodName::of(method)));
                    calls.push((kind, method));
                }
                Source::Construct(method) => {
                    used(method.class(), Some(MethodName::of(method)));
                    calls.push((CallKind::Special, method));
                }
                Source::Initialize(what) => {
                    match what {
                        Initialized::Class(it) | Initialized::ClassOrAbove(it) => used(it, None),
                        Initialized::OwnerOfField(it) | Initialized::OwnerOfMethod(it, _) => {
                            used(it.class(), None);
                        }
                    }
                    opens.extend(self.unknown_initializers(id.class, what).into_iter().map(Open::Outside));
                }
                Source::Caught(_) | Source::CallDynamic(_) | Source::ConstDynamic(_) => {}
            }
        }
        for site in &code.dynamics {
            if let Some(function) = &site.function {
                used(function.interface, None);
                let member = function.handle.member;
                used(member.class(), Some(MethodName::of(member)));
            }
        }
        for (kind, method) in calls {
            opens.extend(self.open_of(self.dispatches.asked(id.class, kind, method)));
        }
        for site in &code.dynamics {
            for effect in &site.effects {
                match *effect {
                    Effect::Virtual(method) => opens.extend(self.open_of(self.asked_virtual(method))),
                    Effect::Initialize(class) | Effect::InitializeQuietly(class) => {
                        let what = Initialized::Class(class);
                        opens
                            .extend(self.unknown_initializers(id.class, what).into_iter().map(Open::Outside));
                    }
                    Effect::Link(handle) | Effect::Unknown(handle) => {
                        opens.extend(self.open_of_handle(id.class, handle));
                    }
                    Effect::MayFail => {}
                }
            }
            opens.extend(site.function.iter().filter_map(|it| self.open_of_handle(id.class, it.handle)));
        }
        if self.may_load(id.class) && self.resolves_any(id.class, code) {
            opens.extend(self.loading.as_ref().and_then(|it| it.open));
        }
        for open in opens {
            let absent = match open {
                Open::Outside(it) => Some(it),
                Open::Overridable(it) => self.opened_by(it),
                Open::SignaturePolymorphic => None,
            };
            if let Some(it) = absent {
                acc.entry(it).or_default().widened.push(name);
            }
        }
    }

    /// Why a call may go to methods that nobody has seen.
    fn open_of(&self, site: Site) -> Option<Open> {
        match site {
            Site::Open(open) => Some(open),
            Site::Dispatch(it) => self.dispatches.get(it).open,
            Site::Method(_) | Site::Error(_) | Site::Vm => None,
        }
    }

    fn open_of_handle(&self, caller: ClassId, handle: MethodHandle) -> Option<Open> {
        let kind = handle_call(handle)?;
        self.open_of(self.dispatches.asked(caller, kind, handle.member))
    }

    /// The absent classes whose initialisers an access runs.
    fn unknown_initializers(&self, caller: ClassId, what: Initialized) -> Vec<ClassName> {
        let absent = |&link: &Link| match link {
            Link::Outside(class) => Some(class),
            Link::Present(class) if self.runs_already(caller, class) => None,
            Link::Present(class) => self.program.hierarchy.outside_above(class),
        };
        self.initialized(what).iter().filter_map(absent).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use program::input::WorldKind;
    use test_utils::asm::assemble;
    use test_utils::ghosts::with_ghosts;

    use super::super::program::{Options, Program};
    use super::super::record::class_record;
    use super::super::solved::solved;
    use super::*;
    use crate::parts::Scratch;

    fn missing(classes: &[Vec<u8>]) -> Vec<String> {
        let options = Options {
            world: WorldKind::Open,
            release: None,
            assume_contract: false,
            link_errors: false,
            async_errors: false,
        };
        let record = |it: &Vec<u8>| class_record(it, &mut Scratch::default()).unwrap();
        let records = classes.iter().map(|it| (record(it), Role::App)).collect();
        let whole = solved(Program::new(records, &options), options, None);
        whole.missing().iter().map(|it| it.class.to_string()).collect()
    }

    #[test]
    fn the_stub_of_a_ghost_needs_no_class() {
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
