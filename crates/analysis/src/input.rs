//! The inputs for data that is set as a whole: libraries, each as one value, and the program. The classes of the
//! application are inputs of their own ([`program::input`]).
//!
//! Only the writer in `ide` sets them, after comparing the values itself, because salsa does not compare inputs
//! (`engine.md`, rule 6).

// salsa gives each input undocumented constructors and setters; all items written here are documented.
#![allow(missing_docs)]

use std::fmt;
use std::sync::Arc;

use program::input::{Container, Role, WorldKind};

use crate::pattern::NoMatch;
use crate::tiers::Records;
use crate::whole::reach::request::EntryRequest;
use crate::whole::reachable::EntryPoint;
use crate::whole::record::Packages;
use crate::whole::tables::{ClassTable, WholeOptions};

/// A library or platform. The workers parse it before it is set; its classes are not edited one by one.
#[salsa::input(debug)]
pub struct Library {
    /// The role of the library in the program.
    #[returns(copy)]
    pub role: Role,
    /// The classes of the library.
    #[returns(ref)]
    pub contents: Arc<Contents>,
}

/// The program. A database has at most one.
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
    /// A container whose classes are inputs of their own.
    Classes(Container),
    /// A container that is one value as a whole.
    Library(Library),
}

/// The classes of a library.
pub struct Contents {
    /// The records of the classes that can be read, in directory order.
    pub records: Records,
    /// For each record the entry number of its class in `source`.
    pub entries: Box<[u32]>,
    /// The source of the class bytes.
    pub source: Arc<dyn ClassSource>,
}

/// A source of the bytes of a library's classes. The bytes of one source never change.
pub trait ClassSource: Send + Sync {
    /// Calls `read` once with the bytes of an entry, if they are available.
    fn with_bytes(&self, entry: u32, read: &mut dyn FnMut(&[u8]));
}

/// The rules that answers follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Profile {
    /// Sound for what a JVM does.
    Jvm,
    /// The rules of Fig. 4 of *Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*.
    Paper,
}

/// The settings of the whole program. Many queries read them and they change rarely, so their durability is high.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The assumptions of the analysis.
    pub options: WholeOptions,
    /// Knowledge about packages in addition to that of the JDK image.
    pub packages: Packages,
    /// The requested entry points, if entry points are requested.
    pub entries: Option<EntryRequest>,
    /// Whether calls go only to receivers that are instantiated by code reached from the entry points (RTA).
    pub rta: bool,
    /// The rules that answers follow.
    pub profile: Profile,
}

impl Settings {
    /// The settings of a command without flags, for a world of this kind and a platform release.
    pub fn new(world: WorldKind, release: u16) -> Self {
        let options = WholeOptions {
            world,
            release: Some(release),
            assume_contract: false,
            link_errors: false,
            async_errors: false,
        };
        Settings { options, packages: Packages::default(), entries: None, rta: false, profile: Profile::Jvm }
    }

    /// Returns the first pattern of the entry points that selects no method.
    pub(crate) fn unmatched(&self, classes: &ClassTable) -> Option<NoMatch> {
        self.entries.as_ref().and_then(|it| it.unmatched(classes))
    }

    /// Returns the entry points from which reachable code is searched; `None` without `--rta`.
    pub(crate) fn entry_points(&self, classes: &ClassTable) -> Option<Vec<EntryPoint>> {
        let request = self.entries.as_ref().filter(|_| self.rta);
        request.map(|it| it.points(classes, &self.options))
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").field("classes", &self.records.len()).finish_non_exhaustive()
    }
}

/// Returns the world and its profile; `None` if there is no world.
pub(crate) fn profile(db: &dyn program::db::Db) -> Option<(World, Profile)> {
    let Some(world) = World::try_get(db) else {
        // Salsa does not track that a world is created later.
        db.report_untracked_read();
        return None;
    };
    Some((world, world.settings(db).profile))
}
