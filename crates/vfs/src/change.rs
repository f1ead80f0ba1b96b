//! The change log. The driver reports the current content of each file; the database writer drains the changes.
//! Setting an equal identity logs nothing, because compilers often rewrite files with equal content.

use rustc_hash::FxHashMap;

use crate::file::{FileId, Revision};
use crate::identity::EntryIdentity;

/// All names seen so far, the identity of their current content, and the changes since the log was last drained.
/// Names are never removed, so ids stay valid, and a file that reappears has its old id.
#[derive(Debug, Default)]
pub struct Vfs {
    by_name: FxHashMap<Box<str>, FileId>,
    files: Vec<FileState>,
    touched: Vec<FileId>,
}

/// The change of a file between two drainings of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The file.
    pub file: FileId,
    /// The revision of the content after the change.
    pub revision: Revision,
    /// The kind of change.
    pub kind: ChangeKind,
}

/// The kinds of change of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// The file did not exist when the log was last drained.
    Created(EntryIdentity),
    /// The file existed with different content.
    Modified(EntryIdentity),
    /// The file no longer exists.
    Deleted,
}

#[derive(Debug)]
struct FileState {
    name: Box<str>,
    now: Option<EntryIdentity>,
    /// The state when the log was last drained: changes that undo each other cancel out.
    drained: Option<EntryIdentity>,
    revision: Revision,
    logged: bool,
}

impl Vfs {
    /// Returns the id of the file with this display path, which is assigned on first use.
    pub fn file(&mut self, name: &str) -> FileId {
        if let Some(&file) = self.by_name.get(name) {
            return file;
        }
        let file = FileId::new(self.files.len());
        self.by_name.insert(name.into(), file);
        self.files.push(FileState {
            name: name.into(),
            now: None,
            drained: None,
            revision: Revision::default(),
            logged: false,
        });
        file
    }

    /// Returns the id of the file with this display path, if one was assigned.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.by_name.get(name).copied()
    }

    /// Returns the display path of a file; empty for an id of another `Vfs`.
    pub fn name(&self, file: FileId) -> &str {
        self.files.get(file.index()).map_or("", |it| &it.name)
    }

    /// Returns the identity of the current content of a file; `None` if the file does not exist.
    pub fn identity(&self, file: FileId) -> Option<EntryIdentity> {
        self.files.get(file.index()).and_then(|it| it.now)
    }

    /// Returns the revision of the content of a file.
    pub fn revision(&self, file: FileId) -> Revision {
        self.files.get(file.index()).map_or(Revision::default(), |it| it.revision)
    }

    /// Sets the current content of a file; `None` if it no longer exists. Returns whether this is a change.
    pub fn set(&mut self, file: FileId, identity: Option<EntryIdentity>) -> bool {
        let Some(state) = self.files.get_mut(file.index()) else { return false };
        if state.now == identity {
            return false;
        }
        state.now = identity;
        state.revision.0 += 1;
        if !state.logged {
            state.logged = true;
            self.touched.push(file);
        }
        true
    }

    /// Returns whether there are changes to drain. May be true although they cancel out.
    pub fn has_changes(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Drains the log. Returns at most one change per file, in the order in which the files were first changed.
    pub fn take_changes(&mut self) -> Vec<Change> {
        let mut changes = Vec::with_capacity(self.touched.len());
        for file in std::mem::take(&mut self.touched) {
            let Some(state) = self.files.get_mut(file.index()) else { continue };
            state.logged = false;
            let before = std::mem::replace(&mut state.drained, state.now);
            let kind = match (before, state.now) {
                (None, Some(it)) => ChangeKind::Created(it),
                (Some(old), Some(it)) if old != it => ChangeKind::Modified(it),
                (Some(_), None) => ChangeKind::Deleted,
                _ => continue,
            };
            changes.push(Change { file, revision: state.revision, kind });
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(bytes: &[u8]) -> Option<EntryIdentity> {
        Some(EntryIdentity::of_bytes(bytes))
    }

    fn log(vfs: &mut Vfs) -> Vec<String> {
        let changes = vfs.take_changes();
        changes
            .iter()
            .map(|it| {
                let kind = match it.kind {
                    ChangeKind::Created(_) => "created",
                    ChangeKind::Modified(_) => "modified",
                    ChangeKind::Deleted => "deleted",
                };
                format!("{kind} {} r{}", vfs.name(it.file), it.revision.0)
            })
            .collect()
    }

    #[test]
    fn changes_are_logged_once_and_in_order() {
        let mut vfs = Vfs::default();
        let (a, b) = (vfs.file("a.jar!/A.class"), vfs.file("B.class"));
        assert_eq!(vfs.file("B.class"), b);
        assert!(vfs.set(b, id(b"1")));
        assert!(vfs.set(a, id(b"1")));
        assert!(vfs.set(b, id(b"2")));
        assert_eq!(log(&mut vfs), ["created B.class r2", "created a.jar!/A.class r1"]);
        assert_eq!(log(&mut vfs), [""; 0]);
        vfs.set(a, id(b"2"));
        vfs.set(b, None);
        assert_eq!(log(&mut vfs), ["modified a.jar!/A.class r2", "deleted B.class r3"]);
    }

    #[test]
    fn equal_content_is_no_change() {
        let mut vfs = Vfs::default();
        let a = vfs.file("A.class");
        vfs.set(a, id(b"1"));
        vfs.take_changes();
        assert!(!vfs.set(a, id(b"1")));
        assert!(!vfs.has_changes());
    }

    #[test]
    fn changes_that_undo_each_other_cancel_out() {
        let mut vfs = Vfs::default();
        let (a, b) = (vfs.file("A.class"), vfs.file("B.class"));
        vfs.set(a, id(b"1"));
        vfs.take_changes();
        vfs.set(a, None);
        vfs.set(a, id(b"1"));
        vfs.set(b, id(b"1"));
        vfs.set(b, None);
        assert!(vfs.has_changes());
        assert_eq!(log(&mut vfs), [""; 0]);
    }
}
