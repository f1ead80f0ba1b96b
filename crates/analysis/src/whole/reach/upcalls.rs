//! The methods that the VM itself calls and the classes that it creates or initialises, regardless of the program: at
//! start-up and shutdown, for threads, loading and linking, errors and finalisation (HotSpot's `JavaCalls`). They
//! stand in the table `upcalls.tsv`.

use std::sync::LazyLock;

use classfile::names::{ClassName, Descriptor, Name};
use program::input::Role;
use program::members::declared::{declared, find_method};

use super::search::{Event, Search};
use crate::whole::implicit::upcalls;
use crate::whole::reachable::From;

/// A row of the table: something that the VM does by itself.
struct Upcall {
    class: ClassName,
    does: Does,
    /// The first release in which the VM does this, and the last one; `None` if no last one is known.
    releases: (u16, Option<u16>),
    when: When,
}

/// What the VM does with the class of a row.
enum Does {
    /// It calls this method; for a constructor, on a new object.
    Calls(Name, Descriptor),
    /// It creates objects of the class without a constructor.
    Creates,
    /// It initialises the class.
    Initializes,
}

/// The condition under which the VM does what a row says.
enum When {
    /// In every program.
    Always,
    /// If the program has an agent.
    Agent,
    /// If a native method of a class in one of these packages is reached; the names end in `/`.
    Native(Vec<String>),
}

static TABLE: LazyLock<Vec<Upcall>> = LazyLock::new(|| {
    // A test checks that every line can be read.
    lines().filter_map(row).collect()
});

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("upcalls.tsv").lines().filter(|it| !it.starts_with('#'))
}

fn row(line: &str) -> Option<Upcall> {
    let [class, name, descriptor, releases, when, _occasion] = line.split('\t').collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let (first, last) = releases.split_once('-')?;
    let last = if last.is_empty() { None } else { Some(last.parse().ok()?) };
    let does = match name {
        "new" => Does::Creates,
        "<clinit>" => Does::Initializes,
        name => Does::Calls(Name::new(name.as_bytes()), Descriptor::new(descriptor.as_bytes())),
    };
    let when = match when {
        "-" => When::Always,
        "agent" => When::Agent,
        packages => When::Native(packages.split(',').map(|it| format!("{it}/")).collect()),
    };
    let class = ClassName::new(class.as_bytes());
    Some(Upcall { class, does, releases: (first.parse().ok()?, last), when })
}

impl Upcall {
    fn is_of(&self, release: Option<u16>) -> bool {
        let (first, last) = self.releases;
        release.is_none_or(|it| first <= it && last.is_none_or(|last| it <= last))
    }
}

/// Adds to a search for reached code the methods that the VM may call in every program although no code calls them,
/// and the classes that it may create or initialise. `has_agent` tells whether the program has an agent.
pub(super) fn start(search: &mut Search<'_>, has_agent: bool) {
    for it in &*TABLE {
        let happens = match it.when {
            When::Always => true,
            When::Agent => has_agent,
            When::Native(_) => false,
        };
        if happens {
            add(search, it, From::Vm);
        }
    }
    for method in upcalls() {
        search.site(search.calls.virtual_site(method), From::Vm);
    }
}

/// Adds to the search what the natives of a package do, after the search has reached one of them. `event` is the event
/// that the search just processed.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    let Event::Method(method) = event else { return };
    let hierarchy = search.hierarchy();
    if !declared(hierarchy, method).flags.is_native() || hierarchy.role(method.class) != Role::Jdk {
        return;
    }
    let class = hierarchy.name(method.class);
    for it in &*TABLE {
        let When::Native(packages) = &it.when else { continue };
        if packages.iter().any(|it| class.bytes().starts_with(it.as_bytes())) {
            add(search, it, From::Method(method));
        }
    }
}

fn add(search: &mut Search<'_>, it: &Upcall, from: From) {
    if !it.is_of(search.calls.options.release) {
        return;
    }
    let hierarchy = search.hierarchy();
    let Some(class) = hierarchy.class(it.class) else { return };
    search.initialize(class, from);
    match it.does {
        Does::Initializes => {}
        Does::Creates => search.made(class, from),
        Does::Calls(name, descriptor) => {
            let method = find_method(hierarchy, class, name, descriptor);
            method.into_iter().for_each(|it| search.method(it, from));
            if name.bytes() == b"<init>" && method.is_some() {
                search.made(class, from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_row_and_lines_are_sorted() {
        assert!(lines().is_sorted());
        assert_eq!(lines().count(), TABLE.len());
    }

    #[test]
    fn a_row_counts_in_its_releases_and_if_the_release_is_unknown() {
        let it = row("p/C\tm\t()V\t9-20\t-\tstart-up").unwrap();
        let counts = [None, Some(8), Some(9), Some(20), Some(21)].map(|release| it.is_of(release));
        assert_eq!(counts, [true, false, true, true, false]);
    }
}
