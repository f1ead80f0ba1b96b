//! The interface of graphs (*Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*, §2.1),
//! except for the exceptions that methods propagate: the methods that the graphs require, and the facts about the
//! program that are needed to compose the graphs.

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

/// A set of methods that graphs require. The set stores distinct call sites and method names, so that
/// [`Needs::methods`] looks up the targets of equal calls only once.
#[derive(Default)]
pub struct Needs {
    sites: FxHashSet<(Site, MethodRef)>,
    named: FxHashSet<MethodName>,
}

impl Needs {
    /// Adds the methods of the set `other`.
    pub fn add(&mut self, other: Needs) {
        self.sites.extend(other.sites);
        self.named.extend(other.named);
    }

    /// Adds the methods that the graph of a method requires.
    pub fn of_method(&mut self, calls: &CallTable, method: MethodName, code: &MethodCode) {
        let Some(id) = calls.classes.named(method) else { return };
        let MethodSummary::Known(summary) = calls.classes.summary(id) else { return };
        for item in &summary.summary.items {
            let Some(called) = item_action(item.source).and_then(|it| it.calls) else { continue };
            let (method, site) = (called.method(), calls.site(id.class, called));
            let hierarchy = &calls.classes.hierarchy;
            // Most calls go to the platform, whose methods are never required.
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

    /// Adds the methods that occur as labels on the edges of a graph of profile `paper`.
    pub fn of_labels(&mut self, graph: &Graph) {
        self.named.extend(graph.labels.iter().flat_map(|it| it.iter().flatten()));
    }

    /// Returns the names of the required methods: all methods that the collected calls may run, including methods of
    /// absent classes. Methods of the platform are left out, because the platform is not part of a program.
    /// Initialisers are left out, because no call names them.
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

/// Returns the names of the methods that a call may run. If the call is open because a class is absent, the method
/// that this absent class may declare is among them.
fn named(call: &Call) -> Vec<MethodName> {
    let mut acc: Vec<MethodName> = call.targets.iter().chain(&call.possible).copied().collect();
    if let (Some(Why::Outside(class)), Some(declared)) = (call.open, call.declared) {
        acc.push(MethodName { class, ..declared });
    }
    acc
}

/// Whether the class belongs to the platform. It does if its container has the role `jdk`, if it is in a package of
/// `java` (only a platform may define such packages), or if it is an array class.
fn is_platform(hierarchy: &Hierarchy, class: Text) -> bool {
    let of_container =
        || hierarchy.class(ClassName::new(class.0)).is_some_and(|it| hierarchy.role(it) == Role::Jdk);
    class.0.starts_with(b"java/") || class.0.starts_with(b"[") || of_container()
}

/// Whether initialising the class runs no code and cannot fail. The answer for an absent class is false.
pub fn is_quiet(hierarchy: &Hierarchy, class: Text) -> bool {
    hierarchy.class(ClassName::new(class.0)).is_some_and(|it| !may_fail(hierarchy, it))
}

/// Whether the class is one of the program itself, not of a library or of the JDK.
pub fn is_of_program(hierarchy: &Hierarchy, class: Text) -> bool {
    hierarchy.class(ClassName::new(class.0)).is_some_and(|it| hierarchy.role(it) == Role::App)
}

/// Whether the class of the method declares another method with the same name and parameters, but another return
/// type. Compilers generate such methods as bridges.
pub fn has_twin(hierarchy: &Hierarchy, method: MethodName) -> bool {
    let parameters = |it: &'static [u8]| it.rsplitn(2, |&b| b == b')').last().unwrap_or_default();
    let Some(class) = hierarchy.class(ClassName::new(method.class.0)) else { return false };
    hierarchy.outline(class).methods.iter().any(|it| {
        it.name.bytes() == method.name.0
            && it.descriptor.bytes() != method.descriptor.0
            && parameters(it.descriptor.bytes()) == parameters(method.descriptor.0)
    })
}

/// Returns the pairs of a class and its direct superclass, for the given throwable types and all known types above
/// them.
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
/// methods. Except for collisions, programs with different names have different hashes.
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
