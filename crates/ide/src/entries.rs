//! Where programs start: what is asked for, and what is found.

use analysis::whole::program::{Options, Program};
use analysis::whole::reach::entries::{EntryChoice, entry_points};
use analysis::whole::reachable::{EntryPoint, WhyEntry};
use program::input::Role;

pub use analysis::whole::reach::entries::Declared;
pub use analysis::whole::reachable::WhyEntry as EntryReason;

use crate::MethodId;
use crate::pattern::{MethodPattern, Nearest, NoMatch};

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
    /// The entry points; the first pattern that selects nothing instead, if there is one.
    pub(crate) fn points(&self, program: &Program, options: &Options) -> Result<Vec<EntryPoint>, NoMatch> {
        let hierarchy = &program.hierarchy;
        let of_the_platform = |id: program::members::MethodId| hierarchy.role(id.class) == Role::Jdk;
        let methods = || program.methods().filter(|&it| !of_the_platform(it)).map(|it| program.name(it));
        if let Some(it) = self.patterns.iter().find(|it| !methods().any(|method| it.selects(&method))) {
            let mut nearest = Nearest::default();
            methods().for_each(|method| nearest.offer(it, &method));
            return Err(NoMatch { pattern: it.written.clone(), nearest: nearest.method() });
        }
        let selects = |id: program::members::MethodId| {
            !of_the_platform(id) && self.patterns.iter().any(|it| it.selects(&program.name(id)))
        };
        let choose = |app, library| {
            let choice = EntryChoice { app, library, declared: &self.declared, selects: &selects };
            entry_points(program, options, &choice)
        };
        if !self.automatic {
            return Ok(choose(self.app, self.library));
        }
        let launched = choose(true, false);
        let starts = |it: &EntryPoint| matches!(it.why, WhyEntry::Main(_) | WhyEntry::Agent(_));
        Ok(if launched.iter().any(starts) { launched } else { choose(true, true) })
    }
}
