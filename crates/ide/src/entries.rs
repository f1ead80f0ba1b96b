//! Where programs start, and what is reached from there.

use analysis::whole::program::{Options, Program};
use analysis::whole::reach::entries::{EntryChoice, entry_points};
use analysis::whole::reachable::{EntryPoint, From, Reachable, WhyEntry};
use program::input::Role;

pub use analysis::whole::reach::entries::Declared;
pub use analysis::whole::reachable::WhyEntry as EntryReason;

use crate::MethodId;
use crate::pattern::MethodPattern;
use crate::whole::{ClassRecord, Setup, Whole};

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

/// The entry points of a program, in class-path order.
pub fn entries(records: Vec<(ClassRecord, Role)>, setup: &Setup<'_>) -> Vec<Entry> {
    let program = Program::with_packages(records, &setup.options, setup.packages);
    let points = setup.entries.map(|it| it.points(&program, &setup.options)).unwrap_or_default();
    points.iter().map(|it| Entry { method: program.name(it.method), why: it.why }).collect()
}

impl Whole {
    /// Whether there is an entry point.
    pub fn has_entries(&self) -> bool {
        self.reachable().is_some_and(|it| !it.entries.is_empty())
    }

    /// Whether a method is reached; `true` when that was not asked for, or the method is not in the program.
    pub fn is_reached(&self, method: MethodId) -> bool {
        let Some(reachable) = self.reachable() else { return true };
        self.program().named(method).is_none_or(|it| reachable.from(it).is_some())
    }

    /// The methods that are reached, in class-path order.
    pub fn reached(&self) -> Vec<MethodId> {
        let program = &self.program().program;
        let reached =
            program.methods().filter(|&it| self.reachable().is_none_or(|all| all.from(it).is_some()));
        reached.map(|it| program.name(it)).collect()
    }

    /// The way from where control starts to a method, itself last; `None` if it is not reached.
    pub fn way_to(&self, method: MethodId) -> WayTo {
        let reachable = self.reachable()?;
        let (from, way) = reachable.way(self.program().named(method)?)?;
        let start = match from {
            From::Entry(it) => Start::Entry(reachable.entries.get(it as usize)?.why),
            From::Outside => Start::Outside,
            From::Vm | From::Method(_) => Start::Vm,
        };
        Some((start, way.into_iter().map(|it| self.program().name(it)).collect()))
    }

    fn reachable(&self) -> Option<&Reachable> {
        self.program().reachable.as_ref()
    }
}
