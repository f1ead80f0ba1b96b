//! The ids of files. A [`FileId`] stands for one name (`naming`) in one [`Vfs`] and means nothing elsewhere.

use rustc_hash::FxHashMap;

/// A file or a member of an archive, as numbered by the [`Vfs`] that handed it out.
/// Never printed and never sorted by: the order of ids is the order of discovery.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId(u32);

impl FileId {
    /// Returns the id with this index.
    fn from_index(index: usize) -> FileId {
        FileId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Returns the index into side tables of the `Vfs` that owns the id.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The display paths of files and their ids. Paths are never forgotten, so an id stays valid, and a file that returns gets
/// its old id.
#[derive(Debug, Default)]
pub struct Vfs {
    by_name: FxHashMap<Box<str>, FileId>,
    names: Vec<Box<str>>,
}

impl Vfs {
    /// The id of the file with this display path, given out on first use.
    pub fn file(&mut self, name: &str) -> FileId {
        if let Some(&file) = self.by_name.get(name) {
            return file;
        }
        let file = FileId::from_index(self.names.len());
        self.by_name.insert(name.into(), file);
        self.names.push(name.into());
        file
    }

    /// The display path of a file of this `Vfs`; empty for an id of another.
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
