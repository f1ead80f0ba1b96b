//! The interface of graphs (*Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*, §2.1) apart
//! from what methods propagate: the methods that the graphs require, and the facts about the program that composing
//! them needs.

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

/// The methods that graphs require, collected as call sites and names. Many calls are equal, so each distinct one is
/// looked up only once, in [`Needs::methods`].
#[derive(Default)]
pub struct Needs {
    sites: FxHashSet<(Site, MethodRef)>,
    named: FxHashSet<MethodName>,
}

impl Needs {
    /// Adds the needs of other graphs.
    pub fn add(&mut self, other: Needs) {
        self.sites.extend(other.sites);
        self.named.extend(other.named);
    }

    /// Adds the needs of a method's graph.
    pub fn of_method(&mut self, calls: &CallTable, method: MethodName, code: &MethodCode) {
        let Some(id) = calls.classes.named(method) else { return };
        let MethodSummary::Known(summary) = calls.classes.summary(id) else { return };
        for item in &summary.summary.items {
            let Some(called) = item_action(item.source).and_then(|it| it.calls) else { continue };
            let (method, site) = (called.method(), calls.site(id.class, called));
            let hierarchy = &calls.classes.hierarchy;
            // Most calls go to the platform, whose methods are never needed.
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

    /// Adds the methods that label the edges of a graph of profile `paper`.
    pub fn of_labels(&mut self, graph: &Graph) {
        self.named.extend(graph.labels.iter().flat_map(|it| it.iter().flatten()));
    }

    /// Returns the required methods: the methods that calls may reach by name, including methods of absent classes.
    /// Methods of the platform are not part of a program, and initialisers are not called by name.
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

/// Returns the methods that a call may reach by name, and the method in the absent class that makes the call open.
fn named(call: &Call) -> Vec<MethodName> {
    let mut acc: Vec<MethodName> = call.targets.iter().chain(&call.possible).copied().collect();
    if let (Some(Why::Outside(class)), Some(declared)) = (call.open, call.declared) {
        acc.push(MethodName { class, ..declared });
    }
    acc
}

/// Whether the class belongs to the platform: it is in the platform's container, or in a package that only a platform
/// may define, or is an array.
fn is_platform(hierarchy: &Hierarchy, class: Text) -> bool {
    let of_container =
        || hierarchy.class(ClassName::new(class.0)).is_some_and(|it| hierarchy.role(it) == Role::Jdk);
    class.0.starts_with(b"java/") || class.0.starts_with(b"[") || of_container()
}

/// Whether initialising the class runs no code and cannot fail. False for absent classes.
pub fn is_quiet(hierarchy: &Hierarchy, class: Text) -> bool {
    hierarchy.class(ClassName::new(class.0)).is_some_and(|it| !may_fail(hierarchy, it))
}

/// Returns pairs of class and direct superclass for the given throwable types and all types above them, as far as
/// they are known.
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

/// Returns a 64-bit hash of the names that a program defines: its classes with their supertypes and non-private
/// methods. Programs with different names have different hashes, except for collisions.
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
    // FNV-1a, which gives the same value on every machine and in every version.
    let bytes = lines.iter().flat_map(|it| it.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |acc, it| (acc ^ u64::from(it)).wrapping_mul(0x100_0000_01b3))
}
