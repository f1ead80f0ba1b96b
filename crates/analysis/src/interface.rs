//! The interface of graphs (*Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*, §2.1) besides what methods propagate: the methods that they require, and what
//! whoever composes them must know of the program behind them.

use std::collections::BTreeSet;

use classfile::names::{ClassName, MethodRef};
use flow::universe::{Parent, Universe};
use program::hierarchy::Hierarchy;
use program::initialization::may_fail;
use program::input::Role;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::parts::MethodCode;
use crate::summary::MethodSummary;
use crate::whole::actions::item_action;
use crate::whole::answers::{Call, CallWord, Why};
use crate::whole::call_names::call_to;
use crate::whole::graph::Graph;
use crate::whole::method;
use crate::whole::sites::Site;
use crate::whole::tables::CallTable;
use program::names::{MethodName, Text};

/// What graphs need from elsewhere: calls, as far as they were met. Many calls are alike, so that each is looked up once
/// when all are known.
#[derive(Default)]
pub struct Needs {
    sites: FxHashSet<(Site, MethodRef)>,
    named: FxHashSet<MethodName>,
}

impl Needs {
    /// Adds what others need.
    pub fn add(&mut self, other: Needs) {
        self.sites.extend(other.sites);
        self.named.extend(other.named);
    }

    /// Adds what the graph of a method needs.
    pub fn of_method(&mut self, calls: &CallTable, method: MethodName, code: &MethodCode) {
        let Some(id) = calls.classes.named(method) else { return };
        let MethodSummary::Known(summary) = calls.classes.summary(id) else { return };
        for item in &summary.summary.items {
            let Some(called) = item_action(item.source).and_then(|it| it.calls) else { continue };
            let (method, site) = (called.method(), calls.site(id.class, called));
            let hierarchy = &calls.classes.hierarchy;
            // Most calls are of the platform.
            if !matches!(site, Site::Method(it) if hierarchy.role(it.class) == Role::Jdk) {
                self.sites.insert((site, method));
            }
        }
        if !code.body.dynamics.is_empty() {
            let named_calls = method::calls(calls, id, Some(code)).into_iter();
            for call in named_calls.filter(|it| matches!(it.kind, CallWord::Dynamic | CallWord::Bootstrap)) {
                self.named.extend(named(&call));
            }
        }
    }

    /// Adds the labels of a graph of profile `paper`.
    pub fn of_labels(&mut self, graph: &Graph) {
        self.named.extend(graph.labels.iter().flat_map(|it| it.iter().flatten()));
    }

    /// The methods that are needed: those that calls may go to by name, and those of absent classes. Methods of the
    /// platform are no part of a program, and initialisers nobody calls by name.
    pub fn methods(&self, hierarchy: &Hierarchy, calls: Option<&CallTable>) -> BTreeSet<MethodName> {
        let mut acc: BTreeSet<MethodName> = self.named.iter().copied().collect();
        for &(site, method) in &self.sites {
            let call = calls.map(|it| call_to(it, (None, CallWord::Virtual), method, site));
            acc.extend(call.iter().flat_map(named));
        }
        acc.retain(|it| !is_platform(hierarchy, it.class));
        acc
    }
}

/// The methods that a call may go to by name, and that of the absent class for which it is open.
fn named(call: &Call) -> Vec<MethodName> {
    let mut acc: Vec<MethodName> = call.targets.iter().chain(&call.possible).copied().collect();
    if let (Some(Why::Outside(class)), Some(declared)) = (call.open, call.declared) {
        acc.push(MethodName { class, ..declared });
    }
    acc
}

/// Whether the class is of the platform: of its container, or of packages that only a platform may define.
fn is_platform(hierarchy: &Hierarchy, class: Text) -> bool {
    let of_container =
        || hierarchy.class(ClassName::new(class.0)).is_some_and(|it| hierarchy.role(it) == Role::Jdk);
    class.0.starts_with(b"java/") || class.0.starts_with(b"[") || of_container()
}

/// Whether initialising the class runs no code, and cannot fail.
pub fn is_quiet(hierarchy: &Hierarchy, class: Text) -> bool {
    hierarchy.class(ClassName::new(class.0)).is_some_and(|it| !may_fail(hierarchy, it))
}

/// The direct superclasses of throwable types and of those above them, as far as they are known, by name.
pub fn super_types(universe: &Universe, types: &FxHashSet<Text>) -> Vec<(Text, Text)> {
    let mut acc: FxHashMap<Text, Text> = FxHashMap::default();
    for &class in types {
        let mut at = class;
        while let Some(Parent::Class(parent)) = universe.parent(ClassName::new(at.0)) {
            let parent = Text(parent.bytes());
            if acc.insert(at, parent).is_some() {
                break;
            }
            at = parent;
        }
    }
    let mut acc: Vec<(Text, Text)> = acc.into_iter().collect();
    acc.sort_unstable();
    acc
}

/// A number for the names that a program knows: its classes with their supertypes and methods that are not private.
/// Programs that know other names have, as good as certainly, another.
pub fn names(hierarchy: &Hierarchy) -> u64 {
    let mut lines: Vec<String> = Vec::with_capacity(hierarchy.len());
    for class in hierarchy.ids().filter(|&it| !hierarchy.is_vacant(it)) {
        let outline = hierarchy.outline(class);
        let mut line = format!("{} {:x}", outline.class, outline.flags.0);
        outline.super_class.iter().chain(&outline.interfaces).for_each(|it| line.push_str(&format!(" {it}")));
        let methods = outline.methods.iter().filter(|it| !it.flags.is_private());
        let mut methods: Vec<String> = methods.map(|it| format!(" {}{}", it.name, it.descriptor)).collect();
        methods.sort_unstable();
        line.extend(methods);
        lines.push(line);
    }
    lines.sort_unstable();
    // FNV-1a, which is the same on every machine and in every version.
    let bytes = lines.iter().flat_map(|it| it.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |acc, it| (acc ^ u64::from(it)).wrapping_mul(0x100_0000_01b3))
}
