//! The salsa inputs for data that is set as a whole: the program, and each library as one value. The classes of the
//! application are inputs of their own ([`program::input`]).
//!
//! Only the writer in `ide` sets these inputs, and it compares the values itself, because salsa does not compare
//! inputs (`engine.md`, rule 6).

// salsa gives each input undocumented constructors and setters; all items written here are documented.
#![allow(missing_docs)]

use std::fmt;
use std::sync::Arc;

use program::input::{Container, Role, WorldKind};

use crate::pattern::NoMatch;
use crate::tiers::Records;
use crate::whole::reach::request::EntryRequest;
use crate::whole::reachable::{Receivers, Roots};
use crate::whole::record::Packages;
use crate::whole::tables::{ClassTable, WholeOptions};

/// A container (a library or the platform) whose classes together are one salsa input. The classes are parsed before
/// the input is set, and can only be replaced all together.
#[salsa::input(debug)]
pub struct Library {
    /// The role of the library in the program.
    #[returns(copy)]
    pub role: Role,
    /// The classes of the library.
    #[returns(ref)]
    pub contents: Arc<Contents>,
}

/// The program: its containers and settings. A database has at most one `World`.
#[salsa::input(singleton, debug)]
pub struct World {
    /// The containers in class-path order.
    #[returns(deref)]
    pub parts: Arc<[Part]>,
    /// The settings of the whole program.
    #[returns(ref)]
    pub settings: Arc<Settings>,
}

/// A container of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// A container in which each class file is a salsa input.
    Classes(Container),
    /// A container that is one salsa input as a whole.
    Library(Library),
}

/// The classes of a library.
pub struct Contents {
    /// The records of the classes that can be read, in the order of their entry numbers.
    pub records: Records,
    /// For each record, the entry number of its class in `source`.
    pub entries: Box<[u32]>,
    /// The source from which the bytes of the classes are read.
    pub source: Arc<dyn ClassSource>,
}

/// A source of the bytes of a library's classes. Each class has an entry, which is identified by its number. The
/// bytes of an entry never change.
pub trait ClassSource: Send + Sync {
    /// Calls `read` once with the bytes of the class that has this entry number; does not call `read` if the bytes
    /// are unavailable.
    fn with_bytes(&self, entry: u32, read: &mut dyn FnMut(&[u8]));
}

/// The rules by which answers are computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Profile {
    /// Rules that are sound for what a JVM does.
    Jvm,
    /// The rules of Fig. 4 of the paper *Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*.
    Paper,
}

/// The settings of the whole program. Many queries read the settings, but the settings change rarely, so they are a
/// salsa input of high durability.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The assumptions of the analysis.
    pub options: WholeOptions,
    /// The facts about packages that are given in addition to those of the JDK image: further exported packages, and
    /// packages to which no absent class can belong.
    pub packages: Packages,
    /// The entry points that the user requests; `None` if the user requests none.
    pub entries: Option<EntryRequest>,
    /// The classes whose objects count as receivers in the search for code that is reached from the entry points;
    /// `None` if there is no such search, so that all code counts as reached.
    pub receivers: Option<Receivers>,
    /// The rules by which answers are computed.
    pub profile: Profile,
}

impl Settings {
    /// Returns the default settings (those of a command without flags) for this kind of world and this Java release
    /// of the platform.
    pub fn new(world: WorldKind, release: u16) -> Self {
        let options = WholeOptions {
            world,
            release: Some(release),
            assume_contract: false,
            link_errors: false,
            async_errors: false,
            system_assertions: false,
        };
        Settings {
            options,
            packages: Packages::default(),
            entries: None,
            receivers: None,
            profile: Profile::Jvm,
        }
    }

    /// Returns the first entry-point pattern of the user that selects no method; `None` if each pattern selects a
    /// method.
    pub(crate) fn unmatched(&self, classes: &ClassTable) -> Option<NoMatch> {
        self.entries.as_ref().and_then(|it| it.unmatched(classes))
    }

    /// Returns the start of the search for reached code; `None` if there is no such search.
    pub(crate) fn roots(&self, classes: &ClassTable) -> Option<Roots> {
        let (request, receivers) = (self.entries.as_ref()?, self.receivers?);
        Some(Roots { entries: request.points(classes, &self.options), receivers })
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").field("classes", &self.records.len()).finish_non_exhaustive()
    }
}

/// Returns the world and the profile in its settings; `None` if the database has no world.
pub(crate) fn profile(db: &dyn program::db::Db) -> Option<(World, Profile)> {
    let Some(world) = World::try_get(db) else {
        // Salsa does not track that a world is created later.
        db.report_untracked_read();
        return None;
    };
    Some((world, world.settings(db).profile))
}
