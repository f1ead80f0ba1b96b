//! Folders and archives without class files: the reason to tell, and what to give ajar instead.

use std::path::{Path, PathBuf};

use vfs::naming::name_text;

use crate::disk::Disk;
use crate::homes::files_with_extension;

/// The number of folders that are searched for Java source. Most source trees have a file in the first few.
const SEARCHED: usize = 200;

/// Returns the text about a folder or archive without class files: what it has instead, and what to do.
pub(crate) fn reason(path: &Path, disk: &mut dyn Disk) -> String {
    let name = name_text(path.as_os_str().as_encoded_bytes());
    if !path.is_dir() {
        return "the file has no class files".to_owned();
    }
    if has_archives(path) {
        return format!(
            "the folder has no class files, and its archives are not opened; give {name}/* to open them"
        );
    }
    match source_below(path, disk) {
        Some(folder) => format!(
            "the folder has no class files, but Java source; compile it, for example by `javac -d classes {}/*.java`, and \
             give ajar the folder `classes`",
            name_text(folder.as_os_str().as_encoded_bytes())
        ),
        None => "the folder has no class files".to_owned(),
    }
}

/// Whether a folder has archives directly in it.
pub(crate) fn has_archives(folder: &Path) -> bool {
    !files_with_extension(folder, "jar").is_empty()
}

/// Returns the first folder with Java source, at or below `folder`; `None` if there is none among the first [`SEARCHED`]
/// folders, from the top down.
fn source_below(folder: &Path, disk: &mut dyn Disk) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(it) = folders.get(at).filter(|_| at < SEARCHED) {
        disk.lists(it);
        if !files_with_extension(it, "java").is_empty() {
            return Some(it.clone());
        }
        let Ok(entries) = std::fs::read_dir(it) else { break };
        // Links are not followed, because they may lead back.
        let inside =
            entries.flatten().filter(|it| it.file_type().is_ok_and(|it| it.is_dir())).map(|it| it.path());
        let mut inside: Vec<PathBuf> = inside.collect();
        inside.sort();
        folders.extend(inside);
        at += 1;
    }
    None
}
