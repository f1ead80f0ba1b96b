//! Ids of files. A [`FileId`] stands for one display path (module `naming`) in one [`Vfs`], and is not valid in
//! others.

use rustc_hash::FxHashMap;

/// The id of a file or of a member of an archive in one [`Vfs`]. Ids are never printed or sorted, because their order
/// is the order of discovery.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId(u32);

impl FileId {
    /// Returns the id with this index in the list of paths of a [`Vfs`].
    fn from_index(index: usize) -> FileId {
        FileId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Returns the index of the id, for tables that have a row for each file of a [`Vfs`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The display paths of files, and their ids. A path is never removed, so ids stay valid, and a file that is removed
/// and created again has its old id.
#[derive(Debug, Default)]
pub struct Vfs {
    by_name: FxHashMap<Box<str>, FileId>,
    names: Vec<Box<str>>,
}

impl Vfs {
    /// Returns the id of the file with this display path; creates the id on first use.
    pub fn file(&mut self, name: &str) -> FileId {
        if let Some(&file) = self.by_name.get(name) {
            return file;
        }
        let file = FileId::from_index(self.names.len());
        self.by_name.insert(name.into(), file);
        self.names.push(name.into());
        file
    }

    /// Returns the display path of a file; the empty text if this `Vfs` does not have the id.
    pub fn name(&self, file: FileId) -> &str {
        self.names.get(file.index()).map_or("", |it| it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_id() {
        let mut vfs = Vfs::default();
        let (a, b) = (vfs.file("a.jar!/A.class"), vfs.file("B.class"));
        assert_ne!(a, b);
        assert_eq!((vfs.file("B.class"), vfs.name(a)), (b, "a.jar!/A.class"));
        assert_eq!(Vfs::default().name(b), "");
    }
}
