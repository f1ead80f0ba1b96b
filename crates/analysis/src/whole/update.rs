//! A solved program after bodies have changed: what is known of it is changed with them, not made anew.
//!
//! Most edits change what a method calls and raises, and nothing that others see of its class. Then the hierarchy, the
//! targets of dispatches and the nodes of the system stay, and only the inclusions of the changed methods are others;
//! [`flow::incremental`] brings the solution up to date. An edit that may change more is refused ([`WholeProgram::update`]
//! gives `false`), and the program is to be made from scratch. The result is what that gives: a least solution is a function
//! of its system.

use std::sync::Arc;

use bir::body::CallKind;
use classfile::names::{ClassName, MethodRef};
use flow::functional::{Effect, Function};
use flow::incremental::Incremental;
use flow::solver::NodeId;
use flow::summary::{Source, Summary};
use flow::throwables::built_in_parent;
use flow::universe::Universe;
use program::hierarchy::ClassId;
use program::input::WorldKind;
use program::members::MethodId;
use rustc_hash::FxHashSet;

use super::dispatch::handle_call;
use super::lattice::{Exceptions, Value};
use super::members::{declared, method_id};
use super::nodes::Node;
use super::program::WholeProgram;
use super::{constructing, system};
use crate::summary::{ClassSummary, CodeSummary, MethodSummary};

impl WholeProgram {
    /// Makes what [`WholeProgram::update`] works on, so that the first change does not wait for it.
    pub fn keep_current(&mut self) {
        if self.kept.is_some() || self.solution.is_none() || !self.is_updatable() {
            return;
        }
        let mut kept = Incremental::new(Value::NOTHING);
        let nodes: Vec<NodeId> = self.system.values.iter().map(|_| kept.add()).collect();
        for node in nodes {
            let (value, edges) = self.inclusions(node);
            kept.update(node, value, edges.iter().copied());
        }
        // Nobody cancels.
        let _ = kept.solve(&mut self.exceptions, &mut || false);
        self.kept = Some(kept);
    }

    /// Whether changed bodies can be taken in at all: the answers rest on nothing that is found by looking at all code.
    fn is_updatable(&self) -> bool {
        self.options.world == WorldKind::Open && !self.options.link_errors && self.reachable.is_none()
    }

    /// Takes in the summaries of classes whose outlines are as they were. `false` if more than the inclusions of their
    /// methods may change by it: then the answers are those of before, and the program is to be made from scratch.
    pub fn update(&mut self, changes: &[(ClassId, Arc<ClassSummary>)]) -> bool {
        self.keep_current();
        if !self.is_updatable() {
            return false;
        }
        let mut changed = Vec::new();
        for (class, new) in changes {
            let Some(old) = self.program.summaries.get(class.index()).cloned() else { return false };
            if old.methods.len() != new.methods.len() {
                return false;
            }
            for (i, (old, new)) in old.methods.iter().zip(&new.methods).enumerate() {
                if old == new {
                    continue;
                }
                let id = method_id(*class, i);
                let (MethodSummary::Known(old), MethodSummary::Known(new)) = (old, new) else { return false };
                if self.program.ghost(id).is_some() || !self.stays(id, old, new) {
                    return false;
                }
                changed.push(id);
            }
        }
        let summaries = Arc::make_mut(&mut self.program.summaries);
        for (class, new) in changes {
            summaries[class.index()] = Arc::clone(new);
        }
        self.solve_again(&changed);
        true
    }

    /// Whether nothing but the inclusions of the method changes with its code. What it calls and initialises is asked for.
    fn stays(&mut self, id: MethodId, old: &CodeSummary, new: &CodeSummary) -> bool {
        let is_constructor = declared(&self.program.hierarchy, id).name.bytes() == b"<init>";
        let functions = |it: &CodeSummary| -> Vec<Option<Function>> {
            it.dynamics.iter().map(|it| it.function.clone()).collect()
        };
        old.summary.rethrowing.len() == new.summary.rethrowing.len()
            && functions(old) == functions(new)
            && self.sets_stay(old, new)
            && (!is_constructor || constructing::same_on_this(&old.summary, &new.summary))
            && self.ask_again(id, new)
    }

    /// Whether the sets have a place for every throwable type that is named, and for no other.
    fn sets_stay(&self, old: &CodeSummary, new: &CodeSummary) -> bool {
        if self.solution.is_none() {
            return true;
        }
        self.outside_throwables(&old.summary) == self.outside_throwables(&new.summary)
            && throwables(&new.summary).all(|it| self.exceptions.universe.type_of(it).is_some())
    }

    /// The throwable types that the code names and that are not there: the sets have places for them only as long as some
    /// code names them.
    fn outside_throwables(&self, summary: &Summary) -> FxHashSet<ClassName> {
        let is_outside =
            |it: &ClassName| self.program.hierarchy.class(*it).is_none() && built_in_parent(*it).is_none();
        throwables(summary).filter(is_outside).collect()
    }

    /// Asks for what the code calls and initialises. `false` if something was never asked for that needs targets, or an
    /// object is made that needs nodes of its own.
    fn ask_again(&mut self, id: MethodId, code: &CodeSummary) -> bool {
        for item in &code.summary.items {
            let known = match item.source {
                Source::Call(kind, method) | Source::CallOnThis(kind, method) => {
                    self.ask_call(id.class, kind, method)
                }
                Source::Construct(method) => {
                    self.ask_call(id.class, CallKind::Special, method)
                        && (self.solution.is_none() || self.has_node_for(id.class, method))
                }
                Source::Initialize(what) => {
                    if !self.initialized.contains_key(&what) {
                        let found = self.find_initialized(what).into();
                        self.initialized.insert(what, found);
                    }
                    true
                }
                _ => true,
            };
            if !known {
                return false;
            }
        }
        code.dynamics.iter().flat_map(|it| &it.effects).all(|it| match *it {
            Effect::Virtual(method) => {
                let before = self.dispatches.all().len();
                self.ask_virtual(method);
                self.dispatches.all().len() == before
            }
            Effect::Link(handle) | Effect::Unknown(handle) => {
                handle_call(handle).is_none_or(|kind| self.ask_call(id.class, kind, handle.member))
            }
            Effect::Initialize(_) | Effect::InitializeQuietly(_) | Effect::MayFail => true,
        })
    }

    fn has_node_for(&self, caller: ClassId, constructor: MethodRef) -> bool {
        constructing::is_known(&self.program, &self.dispatches, &self.nodes, caller, constructor)
    }

    /// Asks where a call goes; `false` if it goes to a dispatch whose targets were not looked for.
    fn ask_call(&mut self, caller: ClassId, kind: CallKind, method: MethodRef) -> bool {
        let before = self.dispatches.all().len();
        self.dispatches.site(caller, kind, method);
        self.dispatches.all().len() == before
    }

    /// Brings the solution up to date with the code of these methods.
    fn solve_again(&mut self, changed: &[MethodId]) {
        let Some(mut kept) = self.kept.take() else { return };
        let nothing = Exceptions::new(Universe::new(&[]));
        let mut exceptions = std::mem::replace(&mut self.exceptions, nothing);
        let nodes: Vec<Node> = changed.iter().flat_map(|&it| self.nodes_of(it)).collect();
        for (node, inclusions) in system::inclusions(self, &mut exceptions, changed, &nodes) {
            kept.update(node, inclusions.0, inclusions.1.iter().copied());
            self.changed.insert(node, inclusions);
        }
        // Nobody cancels.
        let _ = kept.solve(&mut exceptions, &mut || false);
        self.exceptions = exceptions;
        self.kept = Some(kept);
    }

    /// The nodes whose inclusions follow from the code of the method.
    fn nodes_of(&self, id: MethodId) -> Vec<Node> {
        let MethodSummary::Known(code) = self.program.summary(id) else { return vec![Node::Method(id)] };
        let handlers = (0..code.summary.rethrowing.len() as u32).map(|it| Node::Handler(id, it));
        let constructing = self.nodes.constructions().iter().filter(|it| it.0 == id);
        let constructing = constructing.map(|it| Node::Constructing(it.0, it.1));
        std::iter::once(Node::Method(id)).chain(handlers).chain(constructing).collect()
    }
}

/// The throwable types that the code names.
fn throwables(summary: &Summary) -> impl Iterator<Item = ClassName> + '_ {
    let rows = summary.contexts.iter().flat_map(|it| &it.rows).filter_map(|it| it.class);
    rows.chain(summary.items.iter().filter_map(|it| match it.source {
        Source::Exact(class) | Source::Cone(class) => Some(class),
        _ => None,
    }))
}
