//! Class folders: every class candidate below a folder, in the order of the bytes of their names.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vfs::manifest::Manifest;
use vfs::naming::{is_class_name, name_text};

use crate::container::{ClassEntry, FileContent, FilePlace, LoadedContainer, Loader, Place, Store};
use crate::disk::At;
use crate::problem::Problem;

/// Who is asked about what lies in a folder.
pub(crate) trait Files {
    /// Says that the names in a folder count. Called before they are listed.
    fn lists(&mut self, folder: &Path);

    /// The content of a class file, or `None` within when it is to be read later, and its size. `None` when it is no part
    /// of the folder.
    fn class(&mut self, file: &File<'_>) -> Option<(Option<Arc<FileContent>>, u64)>;
}

/// A class file in a folder.
pub(crate) struct File<'a> {
    /// Its path.
    pub(crate) path: &'a Path,
    /// Whether the last part of the path is a symbolic link.
    pub(crate) is_link: bool,
    /// What it is; not of the link.
    pub(crate) metadata: &'a Metadata,
}

/// The container of a class folder. `skip` names the folders right below it that are not part of it.
pub(crate) fn open(
    at: &At<'_>,
    skip: &[&str],
    files: &mut dyn Files,
    problems: &mut Vec<Problem>,
) -> LoadedContainer {
    let At { name, .. } = *at;
    let mut walk = Walk { files, classes: Vec::new(), problems, visited: BTreeSet::new(), links: Vec::new() };
    walk.folder(at.path, name, String::new(), skip);
    // Links to folders come last and only lead to folders not seen yet: a loop ends, and a class that can be
    // reached without a link is listed under its own path.
    while !walk.links.is_empty() {
        let mut links = std::mem::take(&mut walk.links);
        links.sort();
        for (member, path) in links {
            walk.folder(&path, name, member, &[]);
        }
    }
    let mut classes = walk.classes;
    classes.sort_by(|a, b| a.member.as_bytes().cmp(b.member.as_bytes()));
    let (name, prefix) = (name.to_owned(), name.to_owned());
    let manifest = Manifest::default();
    LoadedContainer {
        name,
        role: at.role,
        classes,
        has_paths: true,
        platform: at.platform,
        loader: at.loader,
        manifest,
        prefix,
        store: Store::Files,
    }
}

/// The container of a class file given by itself: its path says nothing about its name.
pub(crate) fn single(at: &At<'_>, size: u64, content: Option<Arc<FileContent>>) -> LoadedContainer {
    let place = Place::File(FilePlace { path: at.path.into(), content });
    let entry = ClassEntry { member: at.name.into(), root_len: 0, place, size };
    LoadedContainer {
        name: at.name.to_owned(),
        role: at.role,
        classes: vec![entry],
        has_paths: false,
        platform: false,
        loader: Loader::Other,
        manifest: Manifest::default(),
        prefix: String::new(),
        store: Store::Files,
    }
}

struct Walk<'a> {
    files: &'a mut dyn Files,
    classes: Vec<ClassEntry>,
    problems: &'a mut Vec<Problem>,
    visited: BTreeSet<PathBuf>,
    links: Vec<(String, PathBuf)>,
}

impl Walk<'_> {
    /// Lists a folder and all below it without following links; the stack is explicit, as depth is unbounded.
    fn folder(&mut self, folder: &Path, container: &str, member: String, skip: &[&str]) {
        let mut stack = vec![(member, folder.to_owned())];
        while let Some((member, folder)) = stack.pop() {
            let skip = if member.is_empty() { skip } else { &[] };
            self.files.lists(&folder);
            let listed = std::fs::canonicalize(&folder).and_then(|real| {
                if !self.visited.insert(real) {
                    return Ok(());
                }
                for entry in std::fs::read_dir(&folder)? {
                    self.entry(&entry?, &member, skip, &mut stack)?;
                }
                Ok(())
            });
            if let Err(error) = listed {
                let place = format!("{container}/{member}");
                let what = format!("the folder cannot be listed: {error}; classes in it are missing");
                self.problems.push(Problem::error(place, what));
            }
        }
    }

    fn entry(
        &mut self,
        entry: &std::fs::DirEntry,
        parent: &str,
        skip: &[&str],
        stack: &mut Vec<(String, PathBuf)>,
    ) -> std::io::Result<()> {
        let file_name = entry.file_name();
        let name = name_text(file_name.as_encoded_bytes());
        if skip.contains(&&*name) {
            return Ok(());
        }
        let member = if parent.is_empty() { name.into_owned() } else { format!("{parent}/{name}") };
        let file_type = entry.file_type()?;
        let path = entry.path();
        if file_type.is_dir() {
            stack.push((member, path));
            return Ok(());
        }
        let is_class = is_class_name(&member);
        if !is_class && !file_type.is_symlink() {
            return Ok(());
        }
        // Follows links. A link to nowhere is no class; a pipe would block whoever reads it.
        match std::fs::metadata(&path) {
            Ok(it) if it.is_dir() => self.links.push((member, path)),
            Ok(it) if it.is_file() && is_class => {
                let file = File { path: &path, is_link: file_type.is_symlink(), metadata: &it };
                if let Some((content, size)) = self.files.class(&file) {
                    let place = Place::File(FilePlace { path: path.into(), content });
                    self.classes.push(ClassEntry { member: member.into(), root_len: 0, place, size });
                }
            }
            _ => {}
        }
        Ok(())
    }
}
