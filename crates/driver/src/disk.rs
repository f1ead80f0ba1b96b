//! The way to the disk: what the opening of a world asks of files and folders, and what they give. Who looks once answers
//! with what is there ([`crate::once`]); who watches the disk, with what was read before where nothing changed
//! ([`crate::watch`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use vfs::manifest::Manifest;

use crate::container::{LoadedContainer, Loader, Role};
use crate::declared::Declared;
use crate::jdk::{JdkChoice, JdkFiles, JdkFound};
use crate::problem::Problem;

/// What the opening of a world asks of the disk.
pub(crate) trait Disk {
    /// Says that the world depends on what this path leads to. To be called before it is looked at.
    fn looks_at(&mut self, path: &Path);

    /// Says that the world depends on the names in this folder. To be called before they are listed.
    fn lists(&mut self, folder: &Path);

    /// What a file gives.
    fn file(&mut self, at: &At<'_>) -> anyhow::Result<Arc<Part>>;

    /// What a class folder gives; `skip` names the folders right below it that are no part of it.
    fn folder(&mut self, at: &At<'_>, skip: &[&str]) -> Arc<Part>;

    /// Gives what there is to open at a path, or what there was.
    ///
    /// # Errors
    /// The one given, when there never was anything.
    fn keep_plan(&mut self, path: &Path, role: Role, now: anyhow::Result<Plan>) -> anyhow::Result<Plan>;

    /// Gives the files that a folder on a path stands for, or those that it stood for.
    ///
    /// # Errors
    /// The one given, when there never were any.
    fn keep_list(&mut self, folder: &Path, now: anyhow::Result<Vec<PathBuf>>)
    -> anyhow::Result<Vec<PathBuf>>;

    /// Gives the JDK of this choice, or the one that there was.
    ///
    /// # Errors
    /// The one given, when there never was any.
    fn keep_jdk(
        &mut self,
        choice: &JdkChoice,
        now: anyhow::Result<Option<JdkFound>>,
    ) -> anyhow::Result<Option<JdkFound>>;

    /// What an image says of its release; `None` when it says nothing.
    fn feature(&mut self, image: &Path) -> Option<u16>;
}

/// What is to be read, and as what.
pub(crate) struct At<'a> {
    /// Where it lies.
    pub(crate) path: &'a Path,
    /// The path as people see it.
    pub(crate) name: &'a str,
    /// What it is in the world.
    pub(crate) role: Role,
    /// Who looks for classes in it.
    pub(crate) loader: Loader,
    /// Whether it is of the class library of a JDK.
    pub(crate) platform: bool,
    /// The release for which multi-release archives choose.
    pub(crate) release: u16,
}

/// What was read.
#[derive(Default)]
pub(crate) struct Part {
    /// The containers in class-path order.
    pub(crate) containers: Vec<Arc<LoadedContainer>>,
    /// Those that come after all others ([`Found::late`](crate::archive::Found)).
    pub(crate) late: Vec<Arc<LoadedContainer>>,
    /// What is written beside the classes about where the program starts.
    pub(crate) declared: Vec<Declared>,
    /// What was odd.
    pub(crate) problems: Vec<Problem>,
    /// The manifest of a jar.
    pub(crate) manifest: Manifest,
}

/// What there is to open at a path.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The path without links.
    pub(crate) real: PathBuf,
    /// What it gives, in order.
    pub(crate) steps: Vec<Step>,
}

/// A step of a plan.
#[derive(Clone)]
pub(crate) enum Step {
    /// This part.
    Part(Arc<Part>),
    /// What this path gives.
    Open(PathBuf, Role),
    /// What these files of a JDK give.
    Jdk(JdkFiles, Role),
}
