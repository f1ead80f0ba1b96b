//! Classes that go, come, or change in what others see of them: each takes a new place in the hierarchy, and its old one
//! stays vacant.
//!
//! What follows from the hierarchy follows from a class, what is above it, and what names it:
//! - *changed* are the classes with other supertypes than before, those that went and came included; so what is below them;
//! - dispatches get something else only from receivers that are changed or above one that is (a class may have objects now
//!   by one below it), and mean something else only if they name one that is changed;
//! - inclusions change of methods of changed classes, and of methods that name one; of their dispatches.

use std::sync::Arc;

use classfile::names::ClassName;
use flow::callbacks::callbacks;
use flow::throwables::well_known;
use program::hierarchy::{ClassId, Hierarchy};
use program::input::Role;
use program::outline::Outline;
use rustc_hash::FxHashSet;

use super::intake::{Intake, present};
use super::mentions::Named;
use crate::summary::ClassSummary;
use crate::whole::dispatch::Edit;
use crate::whole::implicit::handler_invoke;
use crate::whole::proxies::makers;
use crate::whole::reads::Read;
use crate::whole::record::{ClassChange, refused};
use crate::whole::resolved::{add_functions, ask_code, forget_initialized};
use crate::whole::sites::{FunctionSiteId, Node};

/// When so many classes took new places, it is time to make all anew: the old ones stay vacant.
const MAX_MOVED: usize = 1 << 14;

/// When so many classes change with one edit, with those below them, all is made anew. Half as many are known to be taken in
/// faster than that.
const MAX_WITH_SUBTYPES: usize = 1 << 12;

impl Intake<'_> {
    /// Takes classes away from their places, and gives new ones to what they are now.
    pub(super) fn move_classes(&mut self, moving: &[ClassChange]) -> bool {
        self.index.moved += moving.len();
        let old = &self.calls.classes.hierarchy;
        let gone: Vec<ClassId> = moving.iter().filter_map(|it| it.class).collect();
        let come: Vec<_> = moving.iter().filter_map(|it| it.now.clone()).collect();
        let before = gone.iter().map(|&it| old.outline(it));
        let outlines: Vec<Arc<Outline>> = before.chain(come.iter().map(|it| &it.0)).cloned().collect();
        let of_platform =
            gone.iter().any(|&it| old.role(it) == Role::Jdk) || come.iter().any(|it| it.2 == Role::Jdk);
        if self.index.moved > MAX_MOVED || of_platform || outlines.iter().any(|it| it.flags.is_module()) {
            return false;
        }
        self.remove_code(&gone);
        let placed: Vec<_> = come.iter().map(|it| (Arc::clone(&it.0), it.2)).collect();
        // Whoever else has it would have a copy made.
        self.calls.dispatches.lend_hierarchy();
        let surroundings = Arc::clone(&self.calls.classes.surroundings);
        let hierarchy = Arc::make_mut(&mut self.calls.classes.hierarchy);
        let Some(edited) = hierarchy.edit(&gone, &placed, &surroundings, &mut self.index.lists) else {
            return false;
        };
        let new = Arc::clone(&self.calls.classes.hierarchy);
        let changed: FxHashSet<ClassId> = edited.changed.into_iter().collect();
        // The names of classes whose members may be found, or used, otherwise than before.
        let before: Vec<(ClassName, &[ClassId])> =
            changed.iter().filter_map(|&it| edited.before.class(it, &new)).collect();
        let there = changed.iter().filter(|it| !new.is_vacant(**it)).map(|&it| new.name(it));
        let mut names: FxHashSet<ClassName> = before.iter().map(|it| it.0).chain(there).collect();
        self.stale.types.extend(&names);
        // Whether these are nest mates is for their host to say (JVMS §5.4.4).
        names.extend(outlines.iter().flat_map(|it| it.nest_members.iter().copied()));
        if changed.len() > MAX_WITH_SUBTYPES || is_in_tables(&names) {
            return false;
        }
        let mut receivers = changed.clone();
        receivers.extend(before.iter().flat_map(|it| it.1));
        receivers.extend(changed.iter().flat_map(|&it| new.supers(it)));
        let open: Vec<ClassName> = edited.open_otherwise.into_iter().map(|it| new.name(it)).collect();
        // Which absent class lets others extend one is said wherever that one opens a call.
        self.touched.all |= !open.is_empty();
        self.touched.reads.insert(Read::Classes);
        self.touched.classes.extend(&names);
        self.stale.types.extend(&open);

        self.place_code(&new, come.iter().map(|it| &it.1));
        self.calls.dispatches.edit(&Edit {
            hierarchy: Arc::clone(&new),
            changed: &changed,
            receivers: &receivers,
            names: &names,
            open_otherwise: &open,
            functions: present(self.index, &self.calls.functions),
        });
        self.look_at_all(&changed, &names);
        true
    }

    /// Lets nothing flow into what stands for code that is gone.
    fn remove_code(&mut self, gone: &[ClassId]) {
        for &class in gone {
            self.stale.gone(Node::Initializer(class));
            let program = self.calls.classes.clone();
            for id in program.methods_of(class) {
                self.stale.gone(Node::Method(id));
                if let Some(code) = program.code(id) {
                    forget_initialized(self.calls, code);
                    let handlers = 0..code.summary.rethrowing.len() as u32;
                    handlers.for_each(|it| self.stale.gone(Node::Handler(id, it)));
                }
            }
            for it in self.index.functions.remove(&class).into_iter().flatten() {
                self.index.gone_functions.insert(it);
                self.stale.gone(Node::Glue(it));
            }
            for (constructor, of) in self.index.constructions.remove(&class).into_iter().flatten() {
                self.stale.gone(Node::Constructing(constructor, of));
            }
            self.index.mentions.set(class, None);
            drop(program);
            Arc::make_mut(&mut self.calls.classes.summaries)[class.index()] = Arc::default();
        }
    }

    /// Takes in the code of the classes that came, which are the last ones of the new hierarchy.
    fn place_code<'a>(&mut self, new: &Hierarchy, come: impl Iterator<Item = &'a Arc<ClassSummary>>) {
        self.calls.classes.refused = Arc::new(refused(new));
        let come: Vec<&Arc<ClassSummary>> = come.collect();
        Arc::make_mut(&mut self.calls.classes.summaries).extend(come.iter().copied().cloned());
        let program = self.calls.classes.clone();
        for (class, summary) in new.ids().skip(new.len() - come.len()).zip(come) {
            self.index.mentions.set(class, Some(Named::by(new.outline(class), summary)));
            for (id, code) in program.methods_of(class).filter_map(|it| Some((it, program.code(it)?))) {
                let first = self.calls.functions.len();
                add_functions(self.calls, id, code);
                let added = (first..self.calls.functions.len()).map(FunctionSiteId::from_index);
                self.index.functions.entry(class).or_default().extend(added);
            }
        }
    }

    /// Asks again what the code of changed classes means, and that which names one, and makes its nodes stale.
    fn look_at_all(&mut self, changed: &FxHashSet<ClassId>, names: &FxHashSet<ClassName>) {
        let program = self.calls.classes.clone();
        let hierarchy = &program.hierarchy;
        let mut callers: Vec<ClassId> = changed.iter().copied().collect();
        callers.extend(names.iter().flat_map(|it| self.index.mentions.of(*it)));
        // Of members of a nest it is forgotten what `super` means in their code.
        callers.extend(names.iter().filter_map(|it| hierarchy.class(*it)));
        callers.retain(|&it| !hierarchy.is_vacant(it));
        callers.sort_unstable();
        callers.dedup();
        self.touched.classes.extend(callers.iter().map(|&it| hierarchy.name(it)));
        let codes = || {
            let methods = callers.iter().flat_map(|&it| program.methods_of(it));
            methods.filter_map(|it| Some((it, program.code(it)?)))
        };
        // First all is asked for: which constructors are worth a look of their own follows from where calls go.
        codes().for_each(|it| forget_initialized(self.calls, it.1));
        codes().for_each(|(id, code)| ask_code(self.calls, id.class, code));
        for &class in &callers {
            self.look_at_methods(class);
            self.stale.nodes(self.index.functions.get(&class).into_iter().flatten().copied().map(Node::Glue));
        }
        if self.calls.options.link_errors {
            // Linking a class resolves what the rows of its code name.
            let catching = names.iter().flat_map(|it| self.index.mentions.throwing(*it));
            self.stale.nodes(catching.copied().map(Node::Initializer));
        }
        for &class in changed.iter().filter(|it| !hierarchy.is_vacant(**it)) {
            self.stale.node(Node::Initializer(class));
            let own = self.index.constructions.get(&class).into_iter().flatten();
            self.stale.nodes(own.map(|it| Node::Constructing(it.0, it.1)));
        }
    }
}

/// Whether the tables of what the platform does by itself speak of one of these.
fn is_in_tables(names: &FxHashSet<ClassName>) -> bool {
    let called_back = callbacks().iter().flat_map(|it| {
        let calls = it.calls.map(|it| it.class());
        std::iter::once(it.class).chain(calls)
    });
    let made_at_run_time = makers().chain([handler_invoke().class()]);
    called_back.chain(made_at_run_time).chain([well_known().object]).any(|it| names.contains(&it))
}
