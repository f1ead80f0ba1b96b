//! The state that is needed to apply changes of classes to a maintained program, and the operations that mark parts
//! of the program as stale.

use std::sync::Arc;

use flow::natives::Native;
use program::hierarchy::ClassId;
use program::input::Role;
use program::members::MethodId;
use program::members::declared::declared;

use super::index::{EditIndex, Stale};
use crate::whole::dispatch::edit::Functions;
use crate::whole::lattice::Exceptions;
use crate::whole::loading::find_loading;
use crate::whole::reads::{Read, Touched};
use crate::whole::sites::{FunctionSite, Node};
use crate::whole::solved::{Following, SolvedProgram};
use crate::whole::tables::CallTable;

/// The parts of a maintained program, borrowed while changes of classes are applied to it.
pub(super) struct Intake<'a> {
    pub(super) calls: &'a mut CallTable,
    pub(super) following: &'a mut Following,
    pub(super) ex: &'a mut Exceptions,
    pub(super) index: &'a mut EditIndex,
    pub(super) stale: &'a mut Stale,
    pub(super) touched: &'a mut Touched,
}

impl<'a> Intake<'a> {
    /// Borrows the parts of a program that are modified while changes of classes are applied. Returns `None` if the
    /// program is not prepared for changes yet.
    pub(super) fn new(
        program: &'a mut SolvedProgram,
        ex: &'a mut Exceptions,
        index: &'a mut EditIndex,
        stale: &'a mut Stale,
        touched: &'a mut Touched,
    ) -> Option<Self> {
        let (calls, _, following) = program.parts();
        Some(Intake { calls, following: following?, ex, index, stale, touched })
    }

    /// Recomputes which methods may run when a class loader of the program is called to load a class. If the program
    /// has gained its first class loader or lost its last one, marks all code outside the platform as stale.
    pub(super) fn follow_loaders(&mut self) {
        let now = find_loading(self.calls);
        if now == self.calls.loading {
            return;
        }
        self.touched.reads.insert(Read::Loading);
        let is_there = now.is_some();
        let was_there = std::mem::replace(&mut self.calls.loading, now).is_some();
        if is_there {
            self.stale.node(Node::Loading);
        } else {
            self.stale.gone(Node::Loading);
        }
        if is_there == was_there {
            return;
        }
        self.touched.all = true;
        let hierarchy = Arc::clone(&self.calls.classes.hierarchy);
        for class in hierarchy.ids().filter(|it| !hierarchy.is_vacant(*it)) {
            if hierarchy.role(class) != Role::Jdk {
                self.look_at_methods(class);
                self.stale.node(Node::Initializer(class));
                continue;
            }
            let loads = |it: &MethodId| {
                declared(&hierarchy, *it).flags.is_native()
                    && self.calls.native(*it).is_some_and(Native::loads)
            };
            self.stale.methods.extend(self.calls.classes.methods_of(class).filter(loads));
        }
    }

    /// Marks all methods of a class as stale: their exceptions must be recomputed.
    pub(super) fn look_at_methods(&mut self, class: ClassId) {
        let classes = self.calls.classes.clone();
        for id in classes.methods_of(class) {
            match classes.code(id) {
                Some(_) => self.look_again(id),
                None => {
                    self.touched.classes.insert(classes.hierarchy.name(class));
                    self.stale.methods.insert(id);
                }
            }
        }
    }

    /// Marks the node of a method and those of its contexts as stale.
    pub(super) fn look_again(&mut self, id: MethodId) {
        self.touched.classes.insert(self.calls.classes.hierarchy.name(id.class));
        self.stale.methods.insert(id);
        let contexts = self.index.contexts.get(&id.class).into_iter().flatten();
        let own = contexts.filter(|it| it.0 == id);
        self.stale.nodes(own.map(|it| Node::Context(it.0, it.1)));
    }
}

/// Returns the function objects of a program, except those whose sites are in removed code.
pub(super) fn present<'a>(index: &'a EditIndex, sites: &'a [FunctionSite]) -> Functions<'a> {
    Functions { sites, gone: &index.gone_functions }
}
