//! The inputs that hold what was read before: libraries as one value each, and the program as a whole. Classes of the
//! application are inputs of their own ([`program::input`]).
//!
//! Only the one writer in `ide` sets them, after comparing: salsa does not compare (`engine.md`, rule 6).

// salsa gives each input undocumented constructors and setters; all that is written here is documented.
#![allow(missing_docs)]

use std::fmt;
use std::sync::Arc;

use program::input::{Container, Role, WorldKind};

use crate::tiers::Records;
use crate::whole::reach::request::EntryRequest;
use crate::whole::record::Packages;
use crate::whole::tables::Options;

/// A library or platform, taken apart by the workers before it is set: nobody edits its classes one by one.
#[salsa::input(debug)]
pub struct Library {
    /// What it is to the program.
    #[returns(copy)]
    pub role: Role,
    /// Its classes.
    #[returns(ref)]
    pub contents: Arc<Contents>,
}

/// The program: there is one.
#[salsa::input(singleton, debug)]
pub struct World {
    /// The containers in class-path order.
    #[returns(deref)]
    pub parts: Arc<[Part]>,
    /// What was set for the whole program.
    #[returns(ref)]
    pub settings: Arc<Settings>,
}

/// A container of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// One of which each class is an input.
    Classes(Container),
    /// One that is a value as a whole.
    Library(Library),
}

/// The classes of a library.
pub struct Contents {
    /// What the rest of a program must know of those that can be read, in directory order.
    pub records: Records,
    /// For each of them its number for [`ClassSource`].
    pub entries: Box<[u32]>,
    /// Gives their bytes.
    pub source: Arc<dyn ClassSource>,
}

/// Gives the bytes of the classes of a library, which never change: another content is another value.
pub trait ClassSource: Send + Sync {
    /// Calls `read` once with the bytes of an entry, if they can be had.
    fn with_bytes(&self, entry: u32, read: &mut dyn FnMut(&[u8]));
}

/// Which rules answers follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Profile {
    /// Sound for what a JVM does.
    Jvm,
    /// Those of `conflex.txt`, Fig. 4.
    Paper,
}

/// What is set for the whole program. Read by much and changed by little, so its durability is high.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What answers rest on.
    pub options: Options,
    /// What is known of packages besides what the JDK image says.
    pub packages: Packages,
    /// Where the program starts, if somebody wants to know.
    pub entries: Option<EntryRequest>,
    /// Whether calls go only to receivers that code makes which is reached from there (RTA).
    pub rta: bool,
    /// Which rules answers follow.
    pub profile: Profile,
}

impl Settings {
    /// Those of a command without flags in a world of this kind.
    pub fn new(world: WorldKind, release: u16) -> Self {
        let options = Options {
            world,
            release: Some(release),
            assume_contract: false,
            link_errors: false,
            async_errors: false,
        };
        Settings { options, packages: Packages::default(), entries: None, rta: false, profile: Profile::Jvm }
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").field("classes", &self.records.len()).finish_non_exhaustive()
    }
}
