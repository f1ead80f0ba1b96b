//! The interfaces through which pure crates access the outside: bytes of files, and facts kept from earlier runs.

use std::fmt;

use crate::file::{FileId, Revision};
use crate::identity::EntryIdentity;

/// Provides the bytes of files. The driver implements it; queries may call it, because the bytes of a file at a
/// given revision never change.
pub trait ContentSource: Send + Sync {
    /// Calls `read` once with the bytes of `file` at `revision`. This is a callback so that bytes in a mapped image
    /// or a reused buffer need not be copied.
    fn with_content(
        &self,
        file: FileId,
        revision: Revision,
        read: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ContentError>;
}

/// The reason why bytes are not available.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContentError {
    /// No file has this id.
    Unknown,
    /// The content has changed since the revision and the old bytes are lost; a change will be logged.
    Stale,
    /// The container could not provide the entry, for this reason.
    Unreadable(String),
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentError::Unknown => f.write_str("no file has this id"),
            ContentError::Stale => f.write_str("the file has changed since it was listed"),
            ContentError::Unreadable(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ContentError {}

/// The key of a stored fact, which depends on nothing but the class bytes and the schema.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FactKey {
    /// The version of the encoding and of the analysis that computed the fact.
    pub schema: u32,
    /// The identity of the class bytes.
    pub content: EntryIdentity,
}

/// Keeps facts between runs. Reads are not tracked: a missing, old or broken store never changes an answer, only
/// its cost.
pub trait FactStore: Send + Sync {
    /// Returns the fact with this key, after verifying its checksum. `None` is always a correct answer.
    fn get(&self, key: &FactKey) -> Option<Vec<u8>>;

    /// Offers a fact for storage. It is only queued: the driver writes it later, or never.
    fn offer(&self, key: FactKey, bytes: Vec<u8>);
}

/// A store that keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoStore;

impl FactStore for NoStore {
    fn get(&self, _key: &FactKey) -> Option<Vec<u8>> {
        None
    }

    fn offer(&self, _key: FactKey, _bytes: Vec<u8>) {}
}
