//! Access to the disk while a world is opened. A run without `watch` reads the present files
//! ([`crate::once`]); `ajar watch` reuses the contents of unchanged files ([`crate::watch`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use vfs::manifest::Manifest;

use crate::container::{LoadedContainer, Loader};
use crate::declared::Declared;
use crate::jdk::{JdkChoice, JdkFiles, JdkFound};
use crate::problem::Problem;
use ide::Role;

/// The operations that opening a world needs.
pub(crate) trait Disk {
    /// Declares that the world depends on what this path leads to. Must be called before the path is examined.
    fn looks_at(&mut self, path: &Path);

    /// Declares that the world depends on the names in this folder. Must be called before they are listed.
    fn lists(&mut self, folder: &Path);

    /// Opens a file.
    fn file(&mut self, at: &At<'_>) -> anyhow::Result<Arc<Part>>;

    /// Opens a class folder; `skip` names the folders directly below it that do not belong to it.
    fn folder(&mut self, at: &At<'_>, skip: &[&str]) -> Arc<Part>;

    /// Returns the given plan for a path, or the last good one if it is an error.
    ///
    /// # Errors
    /// The given error, if there never was a good plan.
    fn keep_plan(&mut self, path: &Path, role: Role, now: anyhow::Result<Plan>) -> anyhow::Result<Plan>;

    /// Returns the given files for which a folder on a path stands, or the last good list if it is an error.
    ///
    /// # Errors
    /// The given error, if there never was a good list.
    fn keep_list(&mut self, folder: &Path, now: anyhow::Result<Vec<PathBuf>>)
    -> anyhow::Result<Vec<PathBuf>>;

    /// Returns the given JDK of this choice, or the last one that was found.
    ///
    /// # Errors
    /// The given error, if no JDK was ever found.
    fn keep_jdk(
        &mut self,
        choice: &JdkChoice,
        now: anyhow::Result<Option<JdkFound>>,
    ) -> anyhow::Result<Option<JdkFound>>;

    /// The feature release of an image; `None` if it cannot be determined.
    fn feature(&mut self, image: &Path) -> Option<u16>;
}

/// What is to be read, and in which role.
pub(crate) struct At<'a> {
    /// The path on disk.
    pub(crate) path: &'a Path,
    /// The path as shown to people.
    pub(crate) name: &'a str,
    /// The role in the world.
    pub(crate) role: Role,
    /// The loader that looks for classes in it.
    pub(crate) loader: Loader,
    /// Whether it is part of the class library of a JDK.
    pub(crate) platform: bool,
    /// The release for which multi-release archives select their entries.
    pub(crate) release: u16,
}

/// What was read from a file or folder.
#[derive(Default)]
pub(crate) struct Part {
    /// The containers in class-path order.
    pub(crate) containers: Vec<Arc<LoadedContainer>>,
    /// Containers that come after all others ([`Found::late`](crate::archive::Found)).
    pub(crate) late: Vec<Arc<LoadedContainer>>,
    /// Classes that files beside the classes declare as starting points of the program.
    pub(crate) declared: Vec<Declared>,
    /// What was irregular.
    pub(crate) problems: Vec<Problem>,
    /// The manifest of a jar.
    pub(crate) manifest: Manifest,
}

/// The file or folder to open at a path.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The path after resolving symbolic links.
    pub(crate) real: PathBuf,
    /// The steps that open it, in order.
    pub(crate) steps: Vec<Step>,
}

/// A step of a plan.
#[derive(Clone)]
pub(crate) enum Step {
    /// Adds this part.
    Part(Arc<Part>),
    /// Opens this path.
    Open(PathBuf, Role),
    /// Opens these files of a JDK.
    Jdk(JdkFiles, Role),
}
