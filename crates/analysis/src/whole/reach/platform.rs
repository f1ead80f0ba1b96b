//! What the VM and the platform run although no instruction says so: upcalls of the VM, natives, reflective code of the
//! platform, and classes that it finds by computed names.

use super::search::{Event, Search};
use super::{found, native, reflection, upcalls};

/// Adds to the search what the VM runs in every program. `has_agent` tells whether the program has an agent.
pub(super) fn start(search: &mut Search<'_>, has_agent: bool) {
    upcalls::start(search, has_agent);
}

/// Adds to the search what the VM and the platform run because of an event. `event` is the event that the search just
/// processed.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    native::happens(search, event);
    upcalls::happens(search, event);
    reflection::happens(search, event);
    found::happens(search, event);
}
