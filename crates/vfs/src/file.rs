//! File ids. A [`FileId`] denotes one name (see `naming`) in one `change::Vfs`, and is meaningless in any other.

/// A file or archive member, as numbered by the [`Vfs`](crate::change::Vfs) that assigned the id. It must not be
/// printed or used for ordering, because the order of ids is that of discovery.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId(u32);

impl FileId {
    /// Returns the id with this index; called by the `Vfs` that owns the table.
    pub(crate) fn new(index: usize) -> FileId {
        FileId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Returns the index into side tables of the `Vfs` that owns the id.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of content changes of a file, from 0, in the `Vfs` that owns the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Revision(pub u32);
