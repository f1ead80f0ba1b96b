//! The ids of files. A `FileId` stands for one name (`naming`) in one `change::Vfs` and means nothing elsewhere.

/// A file or a member of an archive, as numbered by the [`Vfs`](crate::change::Vfs) that handed it out.
/// Never printed and never sorted by: the order of ids is the order of discovery.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId(u32);

impl FileId {
    /// The id with this index; the owner of the table calls it.
    pub(crate) fn new(index: usize) -> FileId {
        FileId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The index into side tables of the `Vfs` that owns this id.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The how-manieth content of a file this is, counted from 0 in the `Vfs` that owns the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Revision(pub u32);
