//! What is reached from entry points, after classes have changed: searched again from nothing, as one edit may let go of
//! much that only reached itself. What others may select is kept ([`super::super::dispatch`]), so the search costs no more
//! than what it reaches. Then dispatches whose receivers are made, or are no longer made, get other targets.

use flow::fuel::{Cancelled, Fuel};

use super::super::edits::{Edits, Stale};
use super::super::nodes::Node;
use super::super::program::WholeProgram;
use super::super::reach::reachable;
use super::super::reachable::{EntryPoint, Reachable};
use super::super::reads::Read;

impl WholeProgram {
    /// Whether what is reached is that of the program as it is; always, if that does not matter.
    pub fn is_searched(&self) -> bool {
        self.stale.as_ref().is_none_or(|it| !it.is_unsearched)
    }

    /// Finds what is reached from these entry points, if the program is not [searched](WholeProgram::is_searched), and where
    /// calls go by that; before [`WholeProgram::settle`].
    ///
    /// # Errors
    /// When the work is not wanted any more. Then the program is not searched, and the next call begins again.
    pub fn reach_again(&mut self, entries: Vec<EntryPoint>, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        if self.is_searched() {
            return Ok(());
        }
        let now = reachable(self, entries, &self.dispatches, fuel)?;
        let Some(before) = &self.reachable else {
            always_assert::never!("only a program that was searched is searched again");
            return Ok(());
        };
        let dispatches = now.other_dispatches(before, fuel)?;
        let classes = now.classes_with_others(before, fuel)?;
        // From here on nobody asks whether it is wanted: a program that is narrowed in part is of no use.
        let Some((mut stale, mut edits)) = self.stale.take().zip(self.edits.take()) else {
            always_assert::never!("an update leaves both");
            return Ok(());
        };
        stale.unnarrowed.extend(dispatches);
        // Of methods it is said whether they are reached. Classes that went are touched anyway.
        let hierarchy = &self.program.hierarchy;
        let present = classes.into_iter().filter(|it| !hierarchy.is_vacant(*it));
        self.touched.classes.extend(present.map(|it| hierarchy.name(it)));
        self.narrow_by(now, &mut edits, &mut stale);
        (self.stale, self.edits) = (Some(stale), Some(edits));
        Ok(())
    }

    /// Lets calls go only to receivers that are made now.
    fn narrow_by(&mut self, now: Reachable, edits: &mut Edits, stale: &mut Stale) {
        let ids = std::mem::take(&mut stale.unnarrowed);
        let others = self.dispatches.narrow_again(ids, |dispatch, target| now.is_selected(dispatch, target));
        self.touched.reads.extend(others.iter().copied().map(Read::Dispatch));
        stale.nodes(others.into_iter().map(Node::Dispatch));
        self.reachable = Some(now);
        self.follow_loaders(edits, stale);
        stale.is_unsearched = false;
    }
}
