//! Class folders: all class candidates below a folder, sorted by the bytes of their names.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{FileType, Metadata};
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vfs::manifest::Manifest;
use vfs::naming::{is_class_name, name_text};

use crate::container::{ClassEntry, FileContent, FilePlace, LoadedContainer, Loader, Place, Store, is_loose};
use crate::disk::At;
use crate::problem::Problem;
use ide::Role;

/// The callbacks that are used while a class folder is listed. They provide the contents of the class files, and
/// receive which folders are listed and what is irregular or outdated.
pub(crate) trait Files {
    /// Called before `folder` is listed: the resulting list of classes depends on the names in this folder.
    fn lists(&mut self, folder: &Path);

    /// Returns the content of a class file, and its size in bytes; `None` if the file is to be left out of the list.
    /// The content is `None` if the file is to be read later, when its bytes are requested.
    fn class(&mut self, file: &File<'_>) -> Option<(Option<Arc<FileContent>>, u64)>;

    /// Called if the folder must be listed completely after each change, because [`update`] cannot be used. Either
    /// the folder contains a symbolic link, so that changes of the link's target are reported under another path; or
    /// it contains a name that is not UTF-8, so that several names may have the same text.
    fn irregular(&mut self) {}

    /// Called if the content of this file in the previous version of the folder is outdated. The new content may have
    /// been read already.
    fn outdated(&mut self, _path: &Path) {}
}

/// A class file that is found while a class folder is listed.
pub(crate) struct File<'a> {
    /// The path of the file.
    pub(crate) path: &'a Path,
    /// Whether the path itself, not only a folder above it, is a symbolic link.
    pub(crate) is_link: bool,
    /// The metadata of the file; for a symbolic link, of its target.
    pub(crate) metadata: &'a Metadata,
}

/// Lists the class files below the folder `at`, and returns them as a container. Folders directly below `at` whose
/// names are in `skip` are ignored.
pub(crate) fn open(
    at: &At<'_>,
    skip: &[&str],
    files: &mut dyn Files,
    problems: &mut Vec<Problem>,
) -> LoadedContainer {
    let mut walk = Walk::new(at.name, files, problems);
    walk.folders(vec![(String::new(), at.path.to_owned())], skip);
    // Links to folders are followed last, and only to folders not seen yet. So loops end, and a class that can be
    // reached without a link is listed under its own path.
    while !walk.links.is_empty() {
        let mut links = std::mem::take(&mut walk.links);
        links.sort();
        for link in links {
            walk.folders(vec![link], &[]);
        }
    }
    sort(&mut walk.classes);
    container(at, walk.classes)
}

/// Returns the new version of a class folder in which only the files and folders at `paths` (relative to the class
/// folder) have changed. `before` is the previous version, for which [`Files::irregular`] was not called. The result
/// is `None` if the whole folder must be listed again with [`open`], because it is irregular now or a part of it
/// cannot be examined.
pub(crate) fn update(
    at: &At<'_>,
    skip: &[&str],
    files: &mut dyn Files,
    before: &LoadedContainer,
    paths: &[PathBuf],
) -> Option<LoadedContainer> {
    let mut problems = Vec::new();
    let mut walk = Walk::new(at.name, files, &mut problems);
    let mut outdated = vec![false; before.classes.len()];
    let mut stack = Vec::new();
    for path in paths {
        let names: Option<Vec<&str>> = path.iter().map(|it| it.to_str()).collect();
        let names = names?;
        let (last, parents) = names.split_last()?;
        if skip.contains(&names[0]) {
            continue;
        }
        let full = at.path.join(path);
        mark(&before.classes, &names.join("/"), &full, &mut outdated);
        match std::fs::symlink_metadata(&full) {
            Ok(it) => walk.entry(last, (full, it.file_type()), &parents.join("/"), &mut stack),
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {}
            Err(_) => return None,
        }
    }
    // Folders to be skipped are directly below the folder; these are deeper.
    walk.folders(stack, &[]);
    if walk.is_irregular || !walk.problems.is_empty() {
        return None;
    }
    for (entry, _) in before.classes.iter().zip(&outdated).filter(|it| *it.1) {
        if let Place::File(place) = &entry.place {
            walk.files.outdated(&place.path);
        }
    }
    let mut classes = walk.classes;
    sort(&mut classes);
    Some(container(at, merge(&before.classes, &outdated, classes)))
}

/// Returns the entries of `before` that are not flagged in `outdated`, together with the `new` entries. All lists are
/// sorted by name. The position of each new entry is found by binary search, because most entries are unchanged.
fn merge(before: &[ClassEntry], outdated: &[bool], new: Vec<ClassEntry>) -> Vec<ClassEntry> {
    let mut acc = Vec::with_capacity(before.len() + new.len());
    let kept = |start: usize, end: usize| {
        let all = before[start..end].iter().zip(&outdated[start..end]);
        all.filter(|it| !it.1).map(|it| it.0.clone())
    };
    let mut start = 0;
    for entry in new {
        let rest = before[start..].partition_point(|it| it.member.as_bytes() < entry.member.as_bytes());
        acc.extend(kept(start, start + rest));
        acc.push(entry);
        start += rest;
    }
    acc.extend(kept(start, before.len()));
    acc
}

fn sort(classes: &mut [ClassEntry]) {
    classes.sort_by(|a, b| a.member.as_bytes().cmp(b.member.as_bytes()));
}

/// Marks the entries that belong to `path`: the class file at this path or, if the path was a folder, all class files
/// below it. `marks` has a flag for each entry of `classes`; `member` is `path` relative to the class folder.
fn mark(classes: &[ClassEntry], member: &str, path: &Path, marks: &mut [bool]) {
    // The names `m`, and those that begin with `m/`: between these two groups there may be others, such as
    // `m.class`.
    for (start, end) in
        [(member.to_owned(), format!("{member}\0")), (format!("{member}/"), format!("{member}0"))]
    {
        let before = |it: &str| classes.partition_point(|entry| entry.member.as_bytes() < it.as_bytes());
        let range = before(&start)..before(&end);
        for (entry, mark) in classes[range.clone()].iter().zip(&mut marks[range]) {
            *mark |= matches!(&entry.place, Place::File(it) if it.path.starts_with(path));
        }
    }
}

fn container(at: &At<'_>, classes: Vec<ClassEntry>) -> LoadedContainer {
    let is_loose = at.role == Role::App && at.loader == Loader::ClassPath && is_loose(&classes);
    LoadedContainer {
        name: at.name.to_owned(),
        role: at.role,
        classes,
        has_paths: !is_loose,
        platform: at.platform,
        loader: if is_loose { Loader::Other } else { at.loader },
        manifest: Manifest::default(),
        ignored_versions: 0,
        prefix: at.name.to_owned(),
        store: Store::Files,
    }
}

/// Makes the container of a single class file that was given as an input. The path of such a file does not determine
/// the name of the class. `size` is in bytes; `content` is `None` if the file is read each time its bytes are
/// requested.
pub(crate) fn single(at: &At<'_>, size: u64, content: Option<Arc<FileContent>>) -> LoadedContainer {
    let place = Place::File(Arc::new(FilePlace { path: at.path.to_owned(), content }));
    let entry = ClassEntry { member: at.name.into(), root_len: 0, place, size };
    LoadedContainer {
        name: at.name.to_owned(),
        role: at.role,
        classes: vec![entry],
        has_paths: false,
        platform: false,
        loader: Loader::Other,
        manifest: Manifest::default(),
        ignored_versions: 0,
        prefix: String::new(),
        store: Store::Files,
    }
}

struct Walk<'a> {
    container: &'a str,
    files: &'a mut dyn Files,
    classes: Vec<ClassEntry>,
    problems: &'a mut Vec<Problem>,
    visited: BTreeSet<PathBuf>,
    /// The symbolic links to folders that are still to be followed: for each, its path relative to the class folder,
    /// and its path on disk.
    links: Vec<(String, PathBuf)>,
    is_irregular: bool,
}

impl<'a> Walk<'a> {
    fn new(container: &'a str, files: &'a mut dyn Files, problems: &'a mut Vec<Problem>) -> Walk<'a> {
        let (classes, visited, links) = Default::default();
        Walk { container, files, classes, problems, visited, links, is_irregular: false }
    }

    /// Lists the folders in `stack` and all folders below them, without following symbolic links. Each folder is
    /// given by its path relative to the class folder, and its path on disk. Folders directly below the class folder
    /// whose names are in `skip` are ignored. A stack is used instead of recursion, because the nesting depth is not
    /// limited.
    fn folders(&mut self, mut stack: Vec<(String, PathBuf)>, skip: &[&str]) {
        while let Some((member, folder)) = stack.pop() {
            let skip = if member.is_empty() { skip } else { &[] };
            self.files.lists(&folder);
            let listed = std::fs::canonicalize(&folder).and_then(|real| {
                if !self.visited.insert(real) {
                    return Ok(());
                }
                for entry in std::fs::read_dir(&folder)? {
                    let entry = entry?;
                    let file_name = entry.file_name();
                    let name = name_text(file_name.as_encoded_bytes());
                    if skip.contains(&&*name) {
                        continue;
                    }
                    if let Cow::Owned(_) = name {
                        self.irregular();
                    }
                    self.entry(&name, (entry.path(), entry.file_type()?), &member, &mut stack);
                }
                Ok(())
            });
            if let Err(error) = listed {
                let place = format!("{}/{member}", self.container);
                let what = format!("the folder cannot be listed: {error}; classes in it are missing");
                self.problems.push(Problem::error(place, what));
            }
        }
    }

    fn entry(
        &mut self,
        name: &str,
        (path, file_type): (PathBuf, FileType),
        parent: &str,
        stack: &mut Vec<(String, PathBuf)>,
    ) {
        let member = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
        if file_type.is_dir() {
            stack.push((member, path));
            return;
        }
        let (is_class, is_link) = (is_class_name(&member), file_type.is_symlink());
        if is_link {
            self.irregular();
        } else if !is_class {
            return;
        }
        // `metadata` follows links. A broken link is not a class. A pipe is left out, because reading it would block.
        match std::fs::metadata(&path) {
            Ok(it) if it.is_dir() => self.links.push((member, path)),
            Ok(it) if it.is_file() && is_class => {
                let file = File { path: &path, is_link, metadata: &it };
                if let Some((content, size)) = self.files.class(&file) {
                    let place = Place::File(Arc::new(FilePlace { path, content }));
                    self.classes.push(ClassEntry { member: member.into(), root_len: 0, place, size });
                }
            }
            _ => {}
        }
    }

    fn irregular(&mut self) {
        self.is_irregular = true;
        self.files.irregular();
    }
}
