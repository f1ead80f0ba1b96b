//! The files of a checkout as text in memory, so that checks do no I/O and tests can use a checkout made of literals.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// The files of a checkout: for each path from the root, written with `/`, the text; `None` if it is not UTF-8.
pub(super) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the files that git tracks, and new files that git does not ignore. Without git, reads all files outside
    /// the ignored folders.
    pub(super) fn read(root: &Path) -> Result<Tree> {
        let paths = match git_files(root) {
            Some(paths) => paths,
            None => {
                let mut paths = Vec::new();
                walk(root, root, &mut paths)?;
                paths
            }
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let full = root.join(&path);
            // A file that was deleted but is still in the index of git is skipped.
            if !full.is_file() {
                continue;
            }
            let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            files.insert(path, String::from_utf8(bytes).ok());
        }
        Ok(Tree { files })
    }

    #[cfg(test)]
    pub(super) fn from_texts(texts: &[(&str, &str)]) -> Tree {
        let files = texts.iter().map(|(path, text)| (path.to_string(), Some(text.to_string()))).collect();
        Tree { files }
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Returns the paths of all files, including binary files, sorted.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Returns the folders of the workspace members: `crates/*` and `xtask`.
    pub(super) fn room_folders(&self) -> Vec<&str> {
        self.paths()
            .filter_map(|path| path.strip_suffix("/Cargo.toml"))
            .filter(|folder| match folder.strip_prefix("crates/") {
                Some(room) => !room.contains('/'),
                None => *folder == "xtask",
            })
            .collect()
    }
}

fn git_files(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split('\0').filter(|path| !path.is_empty()).map(str::to_string).collect())
}

fn walk(root: &Path, folder: &Path, paths: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let relative = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
        if entry.file_type()?.is_dir() {
            if !matches!(relative.as_str(), ".git" | "target" | "corpus" | "bench-out") {
                walk(root, &path, paths)?;
            }
        } else {
            paths.push(relative);
        }
    }
    Ok(())
}
