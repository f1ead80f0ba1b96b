//! What whoever writes to the database says: which containers there are, what is in their classes, and what was set.

use std::sync::Arc;

use analysis::input::{Contents, Settings};
use program::input::Role;
use vfs::file::FileId;
use vfs::identity::EntryIdentity;

/// A container, as numbered by whoever writes changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ContainerId(pub u32);

/// What is new since the last change. Empty is legal and changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The whole list of containers in class-path order, if it or what is in them changed.
    pub containers: Option<Vec<Listing>>,
    /// Class files with new contents. A file that no container lists is passed over.
    pub classes: Vec<(FileId, EntryIdentity, Arc<[u8]>)>,
    /// The settings, if they changed.
    pub settings: Option<Settings>,
}

/// A container.
#[derive(Clone, Debug)]
pub enum Listing {
    /// One of which somebody asks: each class is an input.
    Classes(ContainerListing),
    /// A library or platform: its classes are not edited one by one.
    Library {
        /// The container.
        id: ContainerId,
        /// What it is to the program.
        role: Role,
        /// Its classes, taken apart.
        contents: Arc<Contents>,
    },
}

/// What is in a container of which somebody asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContainerListing {
    /// The container.
    pub id: ContainerId,
    /// What it is to the program.
    pub role: Role,
    /// Its class files in directory order.
    pub classes: Vec<FileId>,
}
