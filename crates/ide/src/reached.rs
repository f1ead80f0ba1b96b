//! The methods that are reached from the entry points of a program.

use analysis::whole::reachable::{From, Reachable};
use analysis::whole::tables::ClassTable;
use program::input::Role;

use crate::MethodName;
use crate::entries::{Entry, Start, WayTo};
use crate::pattern::NoMatch;
use crate::whole::{ClassRecord, Setup, Whole};

/// The entry points of a program, in class-path order.
///
/// # Errors
/// When a pattern selects no method.
pub fn entries(records: Vec<(ClassRecord, Role)>, setup: &Setup<'_>) -> Result<Vec<Entry>, NoMatch> {
    let classes = ClassTable::with_packages(records, &setup.options, setup.packages);
    let points = setup.points(&classes)?.unwrap_or_default();
    Ok(points.iter().map(|it| Entry { method: classes.name(it.method), why: it.why }).collect())
}

impl Whole {
    /// Whether the program has an entry point.
    pub fn has_entries(&self) -> bool {
        self.reachable().is_some_and(|it| !it.entries.is_empty())
    }

    /// Whether a method is reached; `true` if reachability was not computed or the method is not in the program.
    pub fn is_reached(&self, method: MethodName) -> bool {
        let Some(reachable) = self.reachable() else { return true };
        self.calls_table().classes.named(method).is_none_or(|it| reachable.from(it).is_some())
    }

    /// The reached methods in class-path order; all methods if reachability was not computed.
    pub fn reached(&self) -> Vec<MethodName> {
        let classes = &self.calls_table().classes;
        let reached =
            classes.methods().filter(|&it| self.reachable().is_none_or(|all| all.from(it).is_some()));
        reached.map(|it| classes.name(it)).collect()
    }

    /// The path of calls to a method: its start, and the methods on it, of which the last is the method itself;
    /// `None` if the method is not reached.
    pub fn way_to(&self, method: MethodName) -> WayTo {
        let reachable = self.reachable()?;
        let (from, mut way) = reachable.way(self.calls_table().classes.named(method)?)?;
        let start = match from {
            From::Entry(it) => {
                let (entry, first) = (reachable.entries.get(it as usize)?, *way.first()?);
                // An entry point also starts the initialiser of its class. The initialiser may be an entry point itself;
                // otherwise the path begins with the method whose entry starts it.
                let itself = reachable.entries.iter().find(|it| it.method == first);
                if itself.is_none() {
                    way.insert(0, entry.method);
                }
                Start::Entry(itself.unwrap_or(entry).why)
            }
            From::Outside => Start::Outside,
            From::Vm | From::Method(_) => Start::Vm,
        };
        Some((start, way.into_iter().map(|it| self.calls_table().classes.name(it)).collect()))
    }

    fn reachable(&self) -> Option<&Reachable> {
        self.calls_table().reachable.as_ref()
    }
}
