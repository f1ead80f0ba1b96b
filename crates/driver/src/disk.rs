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

/// Access to the files and folders from which containers are loaded. The implementation for `ajar watch` records
/// which of them were used, and reuses the results of earlier loadings.
pub(crate) trait Disk {
    /// Declares that the loaded containers depend on the file or folder at `path`. Must be called before the path is
    /// examined.
    fn looks_at(&mut self, path: &Path);

    /// Declares that the loaded containers depend on the names of the files in `folder`. Must be called before the
    /// folder is listed.
    fn lists(&mut self, folder: &Path);

    /// Returns what a file (an archive, a class file or a JDK image) contains. The file is opened, unless the result
    /// of an earlier loading is still valid.
    fn file(&mut self, at: &At<'_>) -> anyhow::Result<Arc<Part>>;

    /// Returns what a class folder contains. Folders directly below it whose names are in `skip` are ignored.
    fn folder(&mut self, at: &At<'_>, skip: &[&str]) -> Arc<Part>;

    /// Returns the plan for opening `path`. This is `now`, the plan that was just made. In `ajar watch`, if making
    /// the plan failed, or if the path was a JDK and is not one now, it is the last good plan for this path.
    ///
    /// # Errors
    /// Returns the error of `now` if no earlier loading had a plan for the path.
    fn keep_plan(&mut self, path: &Path, role: Role, now: anyhow::Result<Plan>) -> anyhow::Result<Plan>;

    /// Returns the list of the files to open in a folder of the class path or module path. This is `now`, the list
    /// that was just made. In `ajar watch`, if making the list failed, it is the last good list for this folder.
    ///
    /// # Errors
    /// Returns the error of `now` if no earlier loading had a list for the folder.
    fn keep_list(&mut self, folder: &Path, now: anyhow::Result<Vec<PathBuf>>)
    -> anyhow::Result<Vec<PathBuf>>;

    /// Returns the JDK for this choice. This is `now`, the JDK that was just found. In `ajar watch`, it is the JDK of
    /// an earlier loading if `now` is an error, or if files of that JDK are missing because it is being replaced.
    ///
    /// # Errors
    /// Returns the error of `now` if no earlier loading had found a JDK for this choice.
    fn keep_jdk(
        &mut self,
        choice: &JdkChoice,
        now: anyhow::Result<Option<JdkFound>>,
    ) -> anyhow::Result<Option<JdkFound>>;

    /// Returns the feature release (such as 17) of the JDK image at this path; `None` if it cannot be determined.
    fn feature(&mut self, image: &Path) -> Option<u16>;
}

/// A file or folder to be opened, and the properties of the containers that are made from it.
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
    /// The manifest, if the file is an archive; otherwise an empty manifest.
    pub(crate) manifest: Manifest,
}

/// How a path of the class path is opened: the file or folder to which the path leads, and the steps that open it.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The file or folder to which the path leads, with symbolic links resolved.
    pub(crate) real: PathBuf,
    /// The steps that open the file or folder, in order.
    pub(crate) steps: Vec<Step>,
}

/// A step of opening a file or folder ([`Plan`]).
#[derive(Clone)]
pub(crate) enum Step {
    /// Adds the containers of a file or folder that has been read already to those of the class path.
    Part(Arc<Part>),
    /// Opens the file or folder at this path; its containers get this role.
    Open(PathBuf, Role),
    /// Opens these files of a JDK; their containers get this role.
    Jdk(JdkFiles, Role),
}
