//! What is asked for as entry points, before any class is known, and the methods that it selects.

use program::input::Role;
use program::members::MethodId;

use super::entries::{Declared, EntryChoice, entry_points};
use crate::pattern::{MethodPattern, Nearest, NoMatch};
use crate::whole::reachable::{EntryPoint, WhyEntry};
use crate::whole::tables::{ClassTable, Options};

/// Which entry points are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EntryRequest {
    /// What a launcher starts; and if there is nothing, what code that is not present can use.
    pub automatic: bool,
    /// What a launcher starts: `main` methods, agents, services.
    pub app: bool,
    /// What code that is not present can use of the classes.
    pub library: bool,
    /// Methods of the program and of its libraries.
    pub patterns: Vec<MethodPattern>,
    /// What is written beside the classes.
    pub declared: Vec<Declared>,
}

impl EntryRequest {
    /// The first pattern that selects nothing.
    pub fn unmatched(&self, classes: &ClassTable) -> Option<NoMatch> {
        let methods = || classes.methods().filter(|&it| !of_platform(classes, it)).map(|it| classes.name(it));
        let it = self.patterns.iter().find(|it| !methods().any(|method| it.selects(&method)))?;
        let mut nearest = Nearest::default();
        methods().for_each(|method| nearest.offer(it, &method));
        Some(NoMatch { pattern: it.written.clone(), nearest: nearest.method() })
    }

    /// The entry points of a classes. A pattern that selects nothing adds none.
    pub fn points(&self, classes: &ClassTable, options: &Options) -> Vec<EntryPoint> {
        let selects = |id: MethodId| {
            !of_platform(classes, id) && self.patterns.iter().any(|it| it.selects(&classes.name(id)))
        };
        let choose = |app, library| {
            let choice = EntryChoice { app, library, declared: &self.declared, selects: &selects };
            entry_points(classes, options, &choice)
        };
        if !self.automatic {
            return choose(self.app, self.library);
        }
        let launched = choose(true, false);
        let starts = |it: &EntryPoint| matches!(it.why, WhyEntry::Main(_) | WhyEntry::Agent(_));
        if launched.iter().any(starts) { launched } else { choose(true, true) }
    }
}

fn of_platform(classes: &ClassTable, id: MethodId) -> bool {
    classes.hierarchy.role(id.class) == Role::Jdk
}
