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

/// The access to files and folders through which a world is opened.
pub(crate) trait Disk {
    /// Declares that the world depends on the file or folder at this path. Must be called before the path is
    /// examined.
    fn looks_at(&mut self, path: &Path);

    /// Declares that the world depends on the names in this folder. Must be called before they are listed.
    fn lists(&mut self, folder: &Path);

    /// Opens a file: an archive, a class file or a JDK image.
    fn file(&mut self, at: &At<'_>) -> anyhow::Result<Arc<Part>>;

    /// Opens a class folder; `skip` names the folders directly below it that do not belong to it.
    fn folder(&mut self, at: &At<'_>, skip: &[&str]) -> Arc<Part>;

    /// Returns the plan `now` for opening a path, or the last good plan if `now` is an error.
    ///
    /// # Errors
    /// Returns the error of `now` if there is no earlier good plan.
    fn keep_plan(&mut self, path: &Path, role: Role, now: anyhow::Result<Plan>) -> anyhow::Result<Plan>;

    /// Returns the list `now` of the files to open in a folder of the class path or module path, or the last good
    /// list if `now` is an error.
    ///
    /// # Errors
    /// Returns the error of `now` if there is no earlier good list.
    fn keep_list(&mut self, folder: &Path, now: anyhow::Result<Vec<PathBuf>>)
    -> anyhow::Result<Vec<PathBuf>>;

    /// Returns the JDK `now` that was found for this choice, or the last one if `now` is an error or that JDK is
    /// being replaced.
    ///
    /// # Errors
    /// Returns the error of `now` if no JDK was found for this choice before.
    fn keep_jdk(
        &mut self,
        choice: &JdkChoice,
        now: anyhow::Result<Option<JdkFound>>,
    ) -> anyhow::Result<Option<JdkFound>>;

    /// Returns the feature release (such as 17) of the JDK image at this path; `None` if it cannot be determined.
    fn feature(&mut self, image: &Path) -> Option<u16>;
}

/// A file or folder to be read, and its role.
pub(crate) struct At<'a> {
    /// The path of the file or folder on disk.
    pub(crate) path: &'a Path,
    /// The path of the file or folder as shown to people.
    pub(crate) name: &'a str,
    /// The role of the file or folder in the world.
    pub(crate) role: Role,
    /// The class loader that looks for classes in the file or folder when the program runs.
    pub(crate) loader: Loader,
    /// Whether the file or folder is part of the class library of a JDK.
    pub(crate) platform: bool,
    /// The Java release for which entries of multi-release archives are selected.
    pub(crate) release: u16,
}

/// The containers and declarations that were read from one file or folder.
#[derive(Default)]
pub(crate) struct Part {
    /// The containers in class-path order.
    pub(crate) containers: Vec<Arc<LoadedContainer>>,
    /// The containers that come after all others on the class path ([`Found::late`](crate::archive::Found)).
    pub(crate) late: Vec<Arc<LoadedContainer>>,
    /// The starting points of the program that manifests and service files declare.
    pub(crate) declared: Vec<Declared>,
    /// The problems found in the file or folder.
    pub(crate) problems: Vec<Problem>,
    /// The manifest of a jar; otherwise empty.
    pub(crate) manifest: Manifest,
}

/// How a path is opened: the file or folder to which it leads, and the steps.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The path of the file or folder, with symbolic links resolved.
    pub(crate) real: PathBuf,
    /// The steps that open the file or folder, in order.
    pub(crate) steps: Vec<Step>,
}

/// A step of a plan.
#[derive(Clone)]
pub(crate) enum Step {
    /// Adds the containers of this part to the world.
    Part(Arc<Part>),
    /// Opens the file or folder at this path in this role.
    Open(PathBuf, Role),
    /// Opens these files of a JDK in this role.
    Jdk(JdkFiles, Role),
}
