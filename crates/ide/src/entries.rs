//! Where programs start: what is asked for, and what is found.

use analysis::whole::program::{Options, Program};
use analysis::whole::reach::entries::{EntryChoice, entry_points};
use analysis::whole::reachable::{EntryPoint, WhyEntry};
use program::input::Role;

pub use analysis::whole::reach::entries::Declared;
pub use analysis::whole::reachable::WhyEntry as EntryReason;

use crate::MethodId;
use crate::pattern::MethodPattern;

/// Which entry points are wanted.
#[derive(Clone, Debug, Default)]
pub struct EntryRequest {
    /// What a launcher starts; and if there is nothing, what code that is not present can use.
    pub automatic: bool,
    /// What a launcher starts: `main` methods, agents, services.
    pub app: bool,
    /// What code that is not present can use of the program.
    pub library: bool,
    /// Methods of the program and of its libraries.
    pub patterns: Vec<MethodPattern>,
    /// What is written beside the classes.
    pub declared: Vec<Declared>,
}

/// An entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The method.
    pub method: MethodId,
    /// Why it is one.
    pub why: EntryReason,
}

/// Where a way to a method starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// At an entry point.
    Entry(EntryReason),
    /// The VM calls the first method by itself.
    Vm,
    /// Code that is not present may call the first method.
    Outside,
}

/// Where the way to a method starts, and the methods on it, itself last; `None` when it is not reached.
pub type WayTo = Option<(Start, Vec<MethodId>)>;

impl EntryRequest {
    pub(crate) fn points(&self, program: &Program, options: &Options) -> Vec<EntryPoint> {
        let hierarchy = &program.hierarchy;
        let selects = |id: program::members::MethodId| {
            let of_the_platform = hierarchy.role(id.class) == Role::Jdk;
            !of_the_platform && self.patterns.iter().any(|it| it.selects(&program.name(id)))
        };
        let choose = |app, library| {
            let choice = EntryChoice { app, library, declared: &self.declared, selects: &selects };
            entry_points(program, options, &choice)
        };
        if !self.automatic {
            return choose(self.app, self.library);
        }
        let launched = choose(true, false);
        let starts = |it: &EntryPoint| matches!(it.why, WhyEntry::Main(_) | WhyEntry::Agent(_));
        if launched.iter().any(starts) { launched } else { choose(true, true) }
    }
}
