//! A request for entry points, made before any class is known, and the computation of the entry points of given
//! classes.

use program::input::Role;
use program::members::MethodId;

use super::entries::{Declared, EntryChoice, entry_points};
use crate::pattern::{MethodPattern, Nearest, NoMatch};
use crate::whole::reachable::{EntryPoint, EntryReason};
use crate::whole::tables::{ClassTable, WholeOptions};

/// The entry points that the user requests, before the classes of the program are known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EntryRequest {
    /// Whether to choose the kinds of entry points automatically: the methods that a launcher runs and, if there is
    /// neither a `main` nor an agent, also the methods that code of absent classes can use. If this is true, `app`
    /// and `library` have no effect.
    pub automatic: bool,
    /// Whether to include the methods that a launcher runs: `main` methods, and the methods of agents and services.
    pub app: bool,
    /// Whether to include the methods that code of absent classes can use.
    pub library: bool,
    /// The patterns that select methods of the program and of its libraries as entry points.
    pub patterns: Vec<MethodPattern>,
    /// The entry points that manifests and service declarations name.
    pub declared: Vec<Declared>,
}

impl EntryRequest {
    /// Returns the first pattern that selects no method, with the methods whose names are nearest to the pattern.
    /// Returns `None` if each pattern selects a method.
    pub fn unmatched(&self, classes: &ClassTable) -> Option<NoMatch> {
        let methods = || classes.methods().filter(|&it| !of_platform(classes, it)).map(|it| classes.name(it));
        let it = self.patterns.iter().find(|it| !methods().any(|method| it.selects(&method)))?;
        let mut nearest = Nearest::default();
        methods().for_each(|method| nearest.offer(it, &method));
        Some(NoMatch { pattern: it.written.clone(), nearest })
    }

    /// Returns the requested entry points among the methods of `classes`. A pattern that selects no method adds no
    /// entry point.
    pub fn points(&self, classes: &ClassTable, options: &WholeOptions) -> Vec<EntryPoint> {
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
        let starts = |it: &EntryPoint| matches!(it.why, EntryReason::Main(_) | EntryReason::Agent(_));
        if launched.iter().any(starts) { launched } else { choose(true, true) }
    }
}

fn of_platform(classes: &ClassTable, id: MethodId) -> bool {
    classes.hierarchy.role(id.class) == Role::Jdk
}
