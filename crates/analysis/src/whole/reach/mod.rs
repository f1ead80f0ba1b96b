//! Rapid type analysis: which methods can be reached from given entry points, where calls go only to receivers of
//! classes that reached code makes (Bacon and Sweeney, OOPSLA 1996; `semantics.md` §4.7).
//!
//! A least fixpoint over methods, classes with objects, function objects and calls. In worlds with absent classes what
//! those can do is a source besides the entry points. It rests on an assumption that answers list: reflection, method
//! handles that code looks up, and native methods of unknown effect run nothing that is not reached otherwise.

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

/// Searches from the entry points. `offers` tells what receivers select.
///
/// # Errors
/// When the work is not wanted any more.
pub(super) fn reachable(
    calls: &CallTable,
    entries: Vec<EntryPoint>,
    offers: &dyn Offers,
    fuel: &mut Fuel<'_>,
) -> Result<Reachable, Cancelled> {
    let mut search = Search::new(calls, offers);
    // Ways from entry points are the ones that people want to see, so those come first.
    for (number, entry) in (0..).zip(&entries) {
        search.enter(entry, From::Entry(number));
    }
    run(&mut search, fuel)?;
    upcalls::start(&mut search);
    outside::start(&mut search, fuel)?;
    run(&mut search, fuel)?;
    // In a closed world too some code may not be seen; what it can do comes besides.
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
