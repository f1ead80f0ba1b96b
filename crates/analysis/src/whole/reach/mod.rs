//! Rapid type analysis: finds the methods that can be reached from given entry points, where calls go only to
//! receivers of classes that reached code instantiates (Bacon and Sweeney, OOPSLA 1996; `semantics.md` §4.7).
//!
//! The result is a least fixpoint over methods, classes with objects, function objects and calls. In worlds with
//! absent classes, what those can do is a further starting point. The result depends on an assumption that answers
//! list: reflection, method handles that code looks up, and native methods of unknown effect run nothing that is not
//! also reached in another way.

pub mod entries;
mod made;
mod outside;
pub mod request;
mod search;
mod upcalls;

use flow::fuel::{Cancelled, Fuel};

use super::dispatch::outcomes::Offers;
use super::reachable::{EntryPoint, From, Reachable};
use super::tables::CallTable;
use search::Search;

/// Searches from the entry points. `offers` gives the targets that each receiver selects.
///
/// # Errors
/// [`Cancelled`] if the work is no longer wanted.
pub(super) fn reachable(
    calls: &CallTable,
    entries: Vec<EntryPoint>,
    offers: &dyn Offers,
    fuel: &mut Fuel<'_>,
) -> Result<Reachable, Cancelled> {
    let mut search = Search::new(calls, offers);
    // Paths from entry points tell users most, so they are searched first.
    for (number, entry) in (0..).zip(&entries) {
        search.enter(entry, From::Entry(number));
    }
    run(&mut search, fuel)?;
    upcalls::start(&mut search);
    outside::start(&mut search, fuel)?;
    run(&mut search, fuel)?;
    // In a closed world, too, some code may be unknown; it may do what absent classes can do.
    if search.meets_unseen {
        outside::start(&mut search, fuel)?;
        search.look_again();
        run(&mut search, fuel)?;
    }
    Ok(search.finish(entries))
}

fn run(search: &mut Search<'_>, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
    while let Some(event) = search.next() {
        fuel.spend(32)?;
        made::happens(search, event);
        outside::happens(search, event);
    }
    Ok(())
}
