//! What is not there: the classes that are named and absent, who needs them, and what that costs.

use bir::body::CallKind;
use classfile::names::ClassName;
use flow::summary::{Initialized, Source};
use flow::throwables::built_in_parent;
use program::hierarchy::Link;
use program::input::Role;
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::dispatch::Open;
use super::members::{declared, method_id};
use super::program::WholeProgram;
use crate::names::{MethodId as MethodName, Text};
use crate::summary::MethodSummary;

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
    /// Methods of the program whose calls may go anywhere because of it, by text.
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
        let MethodSummary::Known(code) = self.program.summary(id) else { return };
        let rows = code.summary.contexts.iter().flat_map(|it| &it.rows);
        rows.filter_map(|it| it.class).for_each(|it| used(it, None));
        code.summary.fields.iter().for_each(|it| used(it.0.class(), None));
        let mut calls: Vec<(CallKind, classfile::names::MethodRef)> = Vec::new();
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
                Source::Initialize(Initialized::Class(it) | Initialized::ClassOrAbove(it)) => used(it, None),
                Source::Initialize(Initialized::OwnerOfField(it) | Initialized::OwnerOfMethod(it, _)) => {
                    used(it.class(), None);
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
            let open = match self.dispatches.asked(id.class, kind, method) {
                super::dispatch::Site::Open(open) => Some(open),
                super::dispatch::Site::Dispatch(it) => self.dispatches.get(it).open,
                _ => None,
            };
            if let Some(Open::Outside(it)) = open {
                acc.entry(it).or_default().widened.push(name);
            }
        }
    }
}

/// The class of an array's elements; none of an array of primitives.
fn element(it: ClassName) -> Option<ClassName> {
    let text = it.bytes();
    if !it.is_array() {
        return Some(it);
    }
    let text = text.iter().position(|&b| b != b'[').and_then(|at| text.get(at..))?;
    text.strip_prefix(b"L").and_then(|it| it.strip_suffix(b";")).map(ClassName::new)
}
