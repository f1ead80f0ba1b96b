//! Searches archives beside the inputs for classes that the program lacks. The results are used only in hints for the
//! user, so archives that cannot be listed are skipped, and the search is limited.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;
use rustc_hash::FxHashSet;

use crate::homes::files_with_extension;
use crate::open::path_text;
use crate::world::{LoadedWorld, WorldSpec, list_archive};

/// The maximum number of folders that are searched, each together with its subfolders `lib` and `libs`.
const FOLDERS: usize = 16;
/// The maximum number of archives whose class files are listed.
const ARCHIVES: usize = 128;
/// The maximum total size in bytes of the archives whose class files are listed; an archive that would exceed it is
/// skipped.
const BYTES: u64 = 512 << 20;
/// The maximum number of archives that [`nearby`] returns for one class.
const NAMED: usize = 3;

/// Finds archives near the inputs and class-path entries that contain classes of `wanted`, a set of paths such as
/// `p/C.class`. Returns a map from each class that was found to the names of the archives. An archive inside another
/// one is written `outer.jar!/inner.jar`.
pub fn nearby(
    spec: &WorldSpec,
    world: &LoadedWorld,
    wanted: &FxHashSet<String>,
) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if wanted.is_empty() {
        return found;
    }
    let mut seen = opened(world);
    let (mut archives, mut bytes) = (ARCHIVES, BYTES);
    for folder in folders(spec) {
        for archive in ["jar", "war", "ear", "zip"].iter().flat_map(|it| files_with_extension(&folder, it)) {
            let is_new = std::fs::canonicalize(&archive).is_ok_and(|it| seen.insert(it));
            let size = std::fs::metadata(&archive).map_or(u64::MAX, |it| it.len());
            if !is_new || size > bytes {
                continue;
            }
            if archives == 0 {
                return found;
            }
            archives -= 1;
            bytes -= size;
            list(&archive, world.release, wanted, &mut found);
        }
    }
    found
}

fn list(archive: &Path, release: u16, wanted: &FxHashSet<String>, found: &mut BTreeMap<String, Vec<String>>) {
    let Ok(bytes) = std::fs::read(archive) else { return };
    let Ok((containers, _)) = list_archive(&path_text(archive), bytes, release) else { return };
    for container in &containers {
        for path in container.classes.iter().map(|it| it.path()).filter(|it| wanted.contains(*it)) {
            let names = found.entry(path.to_owned()).or_default();
            if names.len() < NAMED && !names.contains(&container.name) {
                names.push(container.name.clone());
            }
        }
    }
}

/// Returns the paths of the files and folders that the loaded containers come from, with symbolic links resolved.
fn opened(world: &LoadedWorld) -> FxHashSet<PathBuf> {
    let files = world.containers.iter().map(|it| it.name.split("!/").next().unwrap_or(&it.name));
    files.filter_map(|it| std::fs::canonicalize(it).ok()).collect()
}

/// Returns the folders to search for archives: each input or class-path entry that is a folder, and the folder that
/// contains the input or entry. Each folder occurs once, and its subfolders `lib` and `libs` precede it.
fn folders(spec: &WorldSpec) -> Vec<PathBuf> {
    let mut acc: Vec<PathBuf> = Vec::new();
    let mut seen: FxHashSet<PathBuf> = FxHashSet::default();
    let mut n = 0;
    for path in spec.inputs.iter().chain(&spec.class_path) {
        let own = path.is_dir().then(|| path.clone());
        let parent = path.parent().filter(|it| !it.as_str().is_empty());
        let beside = parent.map_or_else(|| Utf8PathBuf::from("."), ToOwned::to_owned);
        for folder in own.into_iter().chain([beside]) {
            let folder = folder.into_std_path_buf();
            if n == FOLDERS || !std::fs::canonicalize(&folder).is_ok_and(|it| seen.insert(it)) {
                continue;
            }
            n += 1;
            acc.extend(["lib", "libs"].map(|it| folder.join(it)));
            acc.push(folder);
        }
    }
    acc
}
