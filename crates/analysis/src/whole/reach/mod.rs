//! Rapid type analysis: finds the methods that are reached from given entry points, where calls go only to receivers
//! of classes that reached code instantiates (Bacon and Sweeney, OOPSLA 1996; `semantics.md` §4.7).
//!
//! The result is a least fixpoint over methods, instantiated classes, function objects and calls. In worlds with
//! absent classes, the search also starts from everything that absent classes can do. The result depends on an
//! assumption that answers list: code that runs by reflection, by method handles that code looks up, or by native
//! methods of unknown effect is also reached in another way.
//!
//! The same search with all classes as receivers ([`Receivers::Any`]) finds what class hierarchy analysis reaches. It
//! leaves the targets of calls as they are.

mod asked;
pub mod entries;
mod found;
mod made;
mod native;
mod outside;
mod platform;
mod reflection;
pub mod request;
mod search;
mod upcalls;

use flow::fuel::{Cancelled, Fuel};

use super::dispatch::outcomes::Offers;
use super::reachable::{EntryReason, From, Reachable, Receivers, Roots};
use super::tables::CallTable;
use search::{Search, look_at, make_all};

/// Returns the code that is reached from the entry points of `roots`. `offers` tells which targets each receiver
/// selects; it is used only if the objects that reached code creates are the receivers. If all classes count as
/// receivers, the search is the same, but every class counts as created, and a call goes to all of its targets.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn reachable(
    calls: &CallTable,
    roots: Roots,
    offers: &dyn Offers,
    fuel: &mut Fuel<'_>,
) -> Result<Reachable, Cancelled> {
    let Roots { entries, receivers } = roots;
    let mut search = Search::new(calls, offers, receivers);
    let others = match receivers {
        Receivers::Any => make_all(&mut search),
        Receivers::Created => Vec::new(),
    };
    // Paths from entry points are the most useful ones for users, so they are searched first.
    for (number, entry) in (0..).zip(&entries) {
        search.enter(entry, From::Entry(number));
    }
    run(&mut search, fuel)?;
    look_at(&mut search, others);
    run(&mut search, fuel)?;
    platform::start(&mut search, entries.iter().any(|it| matches!(it.why, EntryReason::Agent(_))));
    outside::start(&mut search, fuel)?;
    run(&mut search, fuel)?;
    // Even in a closed world some code may be unknown. Such code may do whatever absent classes can do.
    if search.meets_unseen {
        outside::start(&mut search, fuel)?;
        search.look_again();
        run(&mut search, fuel)?;
    }
    Ok(search.finish(entries))
}

fn run(search: &mut Search<'_>, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
    loop {
        while let Some(event) = search.next() {
            fuel.spend(32)?;
            made::happens(search, event);
            platform::happens(search, event);
            outside::happens(search, event);
        }
        if search.bootstraps.is_empty() {
            return Ok(());
        }
        reflection::bootstraps(search);
    }
}
