//! The loaded world (program, libraries and JDK) as found on disk: the inputs, class path, module path and JDK,
//! opened and listed. The bytes of classes are read on demand.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::FxHashSet;

use crate::archive::{ArchiveOpener, Found};
use crate::classless;
use crate::container::{ClassBytes, ClassEntry, LoadedContainer, Loader, Scratch};
use crate::declared::Declared;
use crate::disk::Disk;
use crate::homes;
use crate::image;
use crate::image_map::ImageMap;
use crate::jdk::{JdkChoice, JdkInfo};
use crate::once::Once;
use crate::open::Opener;
use crate::problem::{Problem, Severity};
use crate::zip::Blob;
use ide::Role;

/// The inputs and options from which a world (program, libraries and JDK) is loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldSpec {
    /// The program: jars, wars, folders, class files, JDK homes or images. `folder/*` stands for the jars in the
    /// folder.
    pub inputs: Vec<Utf8PathBuf>,
    /// The libraries, in class-path order.
    pub class_path: Vec<Utf8PathBuf>,
    /// The module path: modules, and folders of modules.
    pub module_path: Vec<Utf8PathBuf>,
    /// The choice of the JDK whose class library is used.
    pub jdk: JdkChoice,
    /// The Java release for which entries of multi-release jars are selected. If `None`, the release of the JDK is
    /// used, or [`DEFAULT_RELEASE`] if there is no JDK.
    pub release: Option<u16>,
}

/// The loaded world: the program, its libraries and the JDK. It is immutable and shared between worker threads.
#[derive(Clone)]
pub struct LoadedWorld {
    /// The containers in class-path order; of two classes of the same name the first is used. Successive versions of
    /// a watched world share the containers that did not change.
    pub containers: Vec<Arc<LoadedContainer>>,
    /// The JDK whose class library is used; `None` if there is none.
    pub jdk: Option<JdkInfo>,
    /// The Java release for which the entries of multi-release jars were selected.
    pub release: u16,
    /// The classes that manifests and service files declare as starting points of the program (agents and providers
    /// of services).
    pub declared: Vec<Declared>,
    /// For each executable jar among the inputs, its path and the entries of `Add-Exports` and `Add-Opens` in its
    /// manifest, each written `module/package`.
    pub manifest_exports: Vec<(String, Vec<String>)>,
    /// The problems found while the inputs were opened, such as malformed or unreadable files, in the order in which
    /// they were found.
    pub problems: Vec<Problem>,
    /// Whether an input, or a library that its manifest names, has a class.
    pub has_program: bool,
}

/// The Java release that is assumed if neither an option nor a JDK determines one.
pub const DEFAULT_RELEASE: u16 = 25;

/// Opens the program, its libraries and the JDK, and lists their classes. Fails if an input or the chosen JDK does
/// not exist or cannot be opened; every other fault becomes a [`Problem`] in the result.
pub fn load(spec: &WorldSpec) -> anyhow::Result<LoadedWorld> {
    load_from(spec, &mut Once)
}

/// Opens the program, its libraries and the JDK like [`load`], but reads files through `disk`.
pub(crate) fn load_from(spec: &WorldSpec, disk: &mut dyn Disk) -> anyhow::Result<LoadedWorld> {
    let mut problems = Vec::new();
    let jdk = homes::find(&spec.jdk, &|it| std::env::var_os(it), disk, &mut problems);
    let jdk = disk.keep_jdk(&spec.jdk, jdk)?;
    let feature = jdk.as_ref().and_then(|(info, _)| info.feature);
    let release = spec.release.or(feature).unwrap_or(DEFAULT_RELEASE);
    let inputs = expand(&spec.inputs, disk)?;
    let mut class_path = Vec::new();
    for entry in &spec.class_path {
        match expand(std::slice::from_ref(entry), disk) {
            Ok(it) => class_path.extend(it),
            Err(_) => problems.push(not_there(entry.as_str(), "entry of the class path")),
        }
    }
    let modules = homes::module_files(&spec.module_path, disk, &mut problems);
    let mut opener = Opener::new(release, disk);
    (opener.app, opener.modules) = (real_paths(&inputs), real_paths(&modules));
    let mut has_program = false;
    for input in &inputs {
        has_program |= open_input(&mut opener, input)?;
    }
    for entry in class_path {
        // The JVM ignores class-path entries that do not exist. They are ignored here, too, but reported.
        if let Err(error) = opener.open(entry.as_std_path(), Role::Lib) {
            opener.problems.push(left_out(entry.as_str(), "entry of the class path", &error));
        }
    }
    opener.end_class_path();
    for module in &modules {
        if let Err(error) = opener.open(module.as_std_path(), Role::Lib) {
            opener.problems.push(left_out(module.as_str(), "module", &error));
        }
    }
    if let Some((_, files)) = &jdk {
        opener.open_jdk(files, Role::Jdk).map_err(|error| match &spec.jdk {
            JdkChoice::At(path) if path.is_file() => not_a_jdk(path, &error),
            _ => error,
        })?;
    }
    problems.append(&mut opener.problems);
    let Found { containers, declared, .. } = opener.found;
    problems.extend(containers.iter().filter_map(|it| it.loose_note()));
    Ok(LoadedWorld {
        containers,
        jdk: jdk.map(|(info, _)| info),
        release,
        declared,
        manifest_exports: opener.manifest_exports,
        problems,
        has_program,
    })
}

/// Opens an input. Returns whether it has a class; one that was opened before has none. Reports an input without classes, unless
/// the reason is already known.
fn open_input(opener: &mut Opener<'_>, input: &Utf8Path) -> anyhow::Result<bool> {
    let (n_problems, is_known) = (opener.problems.len(), opener.has_opened(input.as_std_path()));
    let before = (opener.found.containers.len(), opener.found.late.len());
    opener.open(input.as_std_path(), Role::App)?;
    let new = opener.found.containers[before.0..].iter().chain(&opener.found.late[before.1..]);
    let has_class = new.into_iter().any(|it| !it.classes.is_empty());
    let is_explained = opener.problems[n_problems..].iter().any(|it| it.severity == Severity::Error);
    if !has_class && !is_known && !is_explained {
        opener
            .problems
            .push(Problem::warning(input.as_str(), classless::reason(input.as_std_path(), opener.disk)));
    }
    Ok(has_class)
}

/// Returns the JDK that a run with this choice uses; `None` if it uses none.
///
/// # Errors
/// A path that the user chose and that is not a JDK.
pub fn find_jdk(choice: &JdkChoice) -> anyhow::Result<Option<JdkInfo>> {
    let found = homes::find(choice, &|it| std::env::var_os(it), &mut Once, &mut Vec::new())?;
    Ok(found.map(|it| it.0))
}

/// Returns the error of a file that the user named as a JDK and that cannot be opened as the image of one.
fn not_a_jdk(path: &Utf8Path, error: &anyhow::Error) -> anyhow::Error {
    anyhow!("{path}: not a JDK: {}; give the home folder of a JDK, an image or `none`", error.root_cause())
}

/// Returns the problem of a library that cannot be opened and is left out. `what` says what kind of library it is.
fn left_out(place: &str, what: &str, error: &anyhow::Error) -> Problem {
    let is_absent = |it: &std::io::Error| it.kind() == std::io::ErrorKind::NotFound;
    if error.chain().filter_map(|it| it.downcast_ref()).any(is_absent) {
        return not_there(place, what);
    }
    let error = format!("{error:#}");
    let why = error.strip_prefix(&format!("{place}: ")).unwrap_or(&error);
    Problem::error(place, format!("the {what} is left out, so its classes are missing: {why}"))
}

/// Returns the problem of a library that does not exist.
fn not_there(place: &str, what: &str) -> Problem {
    Problem::warning(place, format!("the {what} does not exist and is left out, so its classes are missing"))
}

/// Opens an archive with the display path `name` from its bytes, as part of the program. Returns its containers and
/// problems. The error is the reason why the archive cannot be read at all.
pub fn list_archive(
    name: &str,
    bytes: Vec<u8>,
    release: u16,
) -> Result<(Vec<Arc<LoadedContainer>>, Vec<Problem>), String> {
    let (mut found, mut problems) = (Found::default(), Vec::new());
    ArchiveOpener::new(release, &mut found, &mut problems, Loader::ClassPath).open(
        name,
        Blob::new(bytes),
        Role::App,
    )?;
    found.containers.append(&mut found.late);
    Ok((found.containers, problems))
}

/// Opens a JDK image with the display path `name` from its bytes. Returns its container and problems. Fails if the
/// image cannot be read at all.
pub fn list_image(name: &str, bytes: Vec<u8>) -> anyhow::Result<(LoadedContainer, Vec<Problem>)> {
    let mut problems = Vec::new();
    let container = image::list(Arc::new(ImageMap::from_bytes(bytes)?), name, Role::Jdk, &mut problems);
    Ok((container, problems))
}

/// Splits a class path into its entries, at `:` or, on Windows, at `;`. Empty entries are dropped.
pub fn split_class_path(text: &str) -> Vec<Utf8PathBuf> {
    let separator = if cfg!(windows) { ';' } else { ':' };
    text.split(separator).filter(|it| !it.is_empty()).map(Utf8PathBuf::from).collect()
}

impl LoadedWorld {
    /// Returns all class candidates (entries whose names end in `.class`) with their containers. The containers are
    /// in class-path order; the entries of a container are in the order of its directory.
    pub fn classes(&self) -> impl Iterator<Item = (&LoadedContainer, &ClassEntry)> {
        let containers = self.containers.iter().map(|it| &**it);
        containers.flat_map(|container| container.classes.iter().map(move |it| (container, it)))
    }

    /// Returns the bytes of a class candidate (an entry whose name ends in `.class`), decompressed into `scratch` if
    /// necessary.
    pub fn bytes<'a>(
        &'a self,
        container: &'a LoadedContainer,
        entry: &'a ClassEntry,
        scratch: &'a mut Scratch,
    ) -> Result<ClassBytes<'a>, Problem> {
        container.bytes(entry, scratch)
    }
}

/// Returns the paths, with each `folder/*` replaced by the jars in the folder, as the JVM does. Fails if such a
/// folder does not exist.
fn expand(paths: &[Utf8PathBuf], disk: &mut dyn Disk) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let mut expanded = Vec::with_capacity(paths.len());
    for path in paths {
        if path.file_name() != Some("*") {
            expanded.push(path.clone());
            continue;
        }
        let folder = path.parent().filter(|it| !it.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        disk.lists(folder.as_std_path());
        let jars = match folder.is_dir() {
            true => Ok(homes::files_with_extension(folder.as_std_path(), "jar")),
            false => Err(anyhow!("{path}: there is no folder {folder}")),
        };
        let jars = disk.keep_list(folder.as_std_path(), jars)?;
        expanded.extend(jars.into_iter().filter_map(|it| Utf8PathBuf::from_path_buf(it).ok()));
    }
    Ok(expanded)
}

fn real_paths(paths: &[Utf8PathBuf]) -> FxHashSet<PathBuf> {
    paths.iter().filter_map(|it| std::fs::canonicalize(it).ok()).collect()
}
