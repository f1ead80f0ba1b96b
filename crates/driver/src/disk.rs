//! Access to the disk while containers are opened. A run without `watch` reads the present files ([`crate::once`]);
//! `ajar watch` reuses the contents of unchanged files ([`crate::watch`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use vfs::manifest::Manifest;

use crate::container::{LoadedContainer, Loader};
use crate::declared::Declared;
use crate::jdk::{JdkChoice, JdkFiles, JdkFound};
use crate::problem::Problem;
use ide::Role;

/// The access to the files and folders from which the containers are loaded.
pub(crate) trait Disk {
    /// Declares that the loaded containers depend on the file or folder at this path. Must be called before the path
    /// is examined.
    fn looks_at(&mut self, path: &Path);

    /// Declares that the loaded containers depend on which names are in this folder. Must be called before they are
    /// listed.
    fn lists(&mut self, folder: &Path);

    /// Opens a file (an archive, a class file or a JDK image), or returns its containers if they are still valid.
    fn file(&mut self, at: &At<'_>) -> anyhow::Result<Arc<Part>>;

    /// Opens a class folder; `skip` names the folders directly below it that do not belong to it.
    fn folder(&mut self, at: &At<'_>, skip: &[&str]) -> Arc<Part>;

    /// Returns `now`, the plan for opening a path. In `ajar watch`, if `now` is an error or the path has ceased to be
    /// a JDK, returns the plan of the last successful loading instead.
    ///
    /// # Errors
    /// Returns the error of `now` if no earlier loading had a plan for the path.
    fn keep_plan(&mut self, path: &Path, role: Role, now: anyhow::Result<Plan>) -> anyhow::Result<Plan>;

    /// Returns `now`, the list of the files to open in a folder of the class path or module path. In `ajar watch`, if
    /// `now` is an error, returns the list of the last successful loading instead.
    ///
    /// # Errors
    /// Returns the error of `now` if no earlier loading had a list for the folder.
    fn keep_list(&mut self, folder: &Path, now: anyhow::Result<Vec<PathBuf>>)
    -> anyhow::Result<Vec<PathBuf>>;

    /// Returns `now`, the JDK that was found for this choice. In `ajar watch`, returns the JDK of an earlier loading
    /// instead if `now` is an error, or if the files of the earlier JDK are missing because that JDK is being
    /// replaced.
    ///
    /// # Errors
    /// Returns the error of `now` if no JDK was found for this choice earlier.
    fn keep_jdk(
        &mut self,
        choice: &JdkChoice,
        now: anyhow::Result<Option<JdkFound>>,
    ) -> anyhow::Result<Option<JdkFound>>;

    /// Returns the feature release (such as 17) of the JDK image at this path; `None` if it cannot be determined.
    fn feature(&mut self, image: &Path) -> Option<u16>;
}

/// A file or folder to be read, with the properties that its containers get.
pub(crate) struct At<'a> {
    /// The path of the file or folder on disk.
    pub(crate) path: &'a Path,
    /// The path of the file or folder as shown to people.
    pub(crate) name: &'a str,
    /// The role of the file or folder: program, library or JDK.
    pub(crate) role: Role,
    /// The class loader that looks for classes in the file or folder when the program runs.
    pub(crate) loader: Loader,
    /// Whether the file or folder is part of the class library of a JDK.
    pub(crate) platform: bool,
    /// The Java release for which entries of multi-release archives are selected.
    pub(crate) release: u16,
}

/// The containers, declared classes and problems that were read from one file or folder.
#[derive(Default)]
pub(crate) struct Part {
    /// The containers in class-path order.
    pub(crate) containers: Vec<Arc<LoadedContainer>>,
    /// The containers that come after all others on the class path, because they are inside plain jars
    /// ([`Found::late`](crate::archive::Found)).
    pub(crate) late: Vec<Arc<LoadedContainer>>,
    /// The classes that manifests and service files declare as starting points of the program (agents and providers
    /// of services).
    pub(crate) declared: Vec<Declared>,
    /// The problems found in the file or folder.
    pub(crate) problems: Vec<Problem>,
    /// The manifest of a jar; otherwise empty.
    pub(crate) manifest: Manifest,
}

/// How a path is opened: the file or folder to which it leads, and the steps to open it.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The path of the file or folder, with symbolic links resolved.
    pub(crate) real: PathBuf,
    /// The steps that open the file or folder, in order.
    pub(crate) steps: Vec<Step>,
}

/// A step of opening a file or folder ([`Plan`]).
#[derive(Clone)]
pub(crate) enum Step {
    /// Adds the containers of this file or folder, which has been read already, to those of the class path.
    Part(Arc<Part>),
    /// Opens the file or folder at this path in this role.
    Open(PathBuf, Role),
    /// Opens these files of a JDK in this role.
    Jdk(JdkFiles, Role),
}
