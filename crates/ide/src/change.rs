//! A change as the writer reports it to the database: the containers, the contents of their classes, and the
//! settings.

use std::sync::Arc;

use analysis::input::{Contents, Settings};
use program::input::Role;
use vfs::file::FileId;
use vfs::identity::EntryIdentity;

/// The number of a container, chosen by the client that reports the changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ContainerId(pub u32);

/// The inputs that changed since the previous [`Change`]. An empty change is legal and has no effect.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// All containers in class-path order; `None` if neither the list of containers nor any list of classes changed.
    pub containers: Option<Vec<Listing>>,
    /// The class files with new contents, each with the hash and the bytes of the content. Files that no container
    /// lists are ignored.
    pub classes: Vec<(FileId, EntryIdentity, Arc<[u8]>)>,
    /// The new settings; `None` if the settings did not change.
    pub settings: Option<Settings>,
}

/// A container and its classes.
#[derive(Clone, Debug)]
pub enum Listing {
    /// A container whose classes are queried one by one: each class is an input of the database.
    Classes(ContainerListing),
    /// A library or platform, which is a single input: its classes are not edited one by one.
    Library {
        /// The number of the container.
        id: ContainerId,
        /// The role of the container in the program.
        role: Role,
        /// The records of the container's classes, already read.
        contents: Arc<Contents>,
    },
}

/// A container whose classes are queried one by one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContainerListing {
    /// The number of the container.
    pub id: ContainerId,
    /// The role of the container in the program.
    pub role: Role,
    /// The container's class files in directory order.
    pub classes: Vec<FileId>,
}
