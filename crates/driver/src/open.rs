//! Opening inputs: tells what a path is, opens it, follows `Class-Path` manifests. Each file is opened once.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use rustc_hash::FxHashSet;

use vfs::manifest::{Manifest, class_path_file};
use vfs::naming::name_text;

use crate::archive::{ArchiveOpener, Found};
use crate::container::{Loader, Role};
use crate::jdk::{self, JdkFiles};
use crate::problem::Problem;
use crate::zip::Blob;
use crate::{declared, folder, image};

/// Opens inputs in class-path order.
pub(crate) struct Opener {
    /// The release for which multi-release archives choose.
    pub(crate) release: u16,
    /// The inputs that are the program: such a jar is app even when a manifest names it first.
    pub(crate) app: FxHashSet<PathBuf>,
    /// What lies on the module path.
    pub(crate) modules: FxHashSet<PathBuf>,
    /// The containers so far.
    pub(crate) found: Found,
    /// The problems so far.
    pub(crate) problems: Vec<Problem>,
    /// See [`crate::world::LoadedWorld::manifest_exports`].
    pub(crate) manifest_exports: Vec<(String, Vec<String>)>,
    opened: FxHashSet<PathBuf>,
}

/// Folders of a class folder that are roots of their own, as in an unpacked war or Spring Boot jar.
const UNPACKED: [&str; 2] = ["WEB-INF", "BOOT-INF"];

impl Opener {
    /// An opener that has opened nothing.
    pub(crate) fn new(release: u16, app: FxHashSet<PathBuf>, modules: FxHashSet<PathBuf>) -> Opener {
        Opener {
            release,
            app,
            modules,
            found: Found::default(),
            problems: Vec::new(),
            manifest_exports: Vec::new(),
            opened: FxHashSet::default(),
        }
    }

    /// Opens a file or folder and what its manifest names. Nothing happens when it was opened before.
    pub(crate) fn open(&mut self, path: &Path, role: Role) -> anyhow::Result<()> {
        // Jars whose manifests are still to be followed; the JVM searches them right behind the one naming them.
        let mut stack = vec![(path.to_owned(), role, None::<String>)];
        while let Some((path, role, named_by)) = stack.pop() {
            let opened = self.open_one(&path, role);
            // An input counts also where another one's manifest names it first.
            let is_input = || std::fs::canonicalize(&path).is_ok_and(|it| self.app.contains(&it));
            if let Ok(manifest) = &opened
                && is_input()
            {
                self.executable(&path, manifest);
            }
            match (opened, named_by) {
                (Ok(manifest), _) => stack.extend(self.class_path(&path, role, &manifest)),
                (Err(error), None) => return Err(error),
                (Err(error), Some(jar)) => {
                    let what = format!("the Class-Path of its manifest: {error:#}; left out, as by the JVM");
                    self.problems.push(Problem::note(jar, what));
                }
            }
        }
        Ok(())
    }

    /// Notes what an executable jar exports again. The JVM reads that of the jar that it is started with, and of no
    /// other.
    fn executable(&mut self, jar: &Path, manifest: &Manifest) {
        let exports: Vec<String> = ["Add-Exports", "Add-Opens"]
            .iter()
            .flat_map(|it| manifest.words(it))
            .map(str::to_owned)
            .collect();
        if !exports.is_empty() && manifest.value("Main-Class").is_some() {
            self.manifest_exports.push((path_text(jar), exports));
        }
    }

    /// Says that the class path is complete: what comes last is appended.
    pub(crate) fn end_class_path(&mut self) {
        self.found.containers.append(&mut self.found.late);
    }

    /// Opens the class library of a JDK.
    pub(crate) fn open_jdk(&mut self, files: &JdkFiles, role: Role) -> anyhow::Result<()> {
        let before = self.found.containers.len();
        match files {
            JdkFiles::Image(path) => self.open_one(path, role).map(|_| ()),
            JdkFiles::Archives(paths) => paths.iter().try_for_each(|it| self.open_one(it, role).map(|_| ())),
        }?;
        // They were made just now, so nobody shares them yet.
        let opened = self.found.containers.iter_mut().skip(before).filter_map(Arc::get_mut);
        opened.for_each(|it| it.platform = true);
        Ok(())
    }

    /// What the manifest of a jar names, last first.
    fn class_path(
        &mut self,
        jar: &Path,
        role: Role,
        manifest: &Manifest,
    ) -> Vec<(PathBuf, Role, Option<String>)> {
        let name = path_text(jar);
        let folder = jar.parent().unwrap_or(Path::new(""));
        let role = if role == Role::Jdk { Role::Jdk } else { Role::Lib };
        let mut named = Vec::new();
        for entry in manifest.class_path() {
            match class_path_file(entry) {
                Some(file) => named.push((folder.join(file), role, Some(name.clone()))),
                None => {
                    let what =
                        format!("the Class-Path of its manifest names `{entry}`, which is no file; left out");
                    self.problems.push(Problem::note(name.clone(), what));
                }
            }
        }
        named.reverse();
        named
    }

    /// Opens one file or folder; gives the manifest of a jar.
    fn open_one(&mut self, path: &Path, role: Role) -> anyhow::Result<Manifest> {
        let name = path_text(path);
        let missing = || format!("{name}: cannot be opened");
        let real = std::fs::canonicalize(path).with_context(missing)?;
        let metadata = std::fs::metadata(&real).with_context(missing)?;
        let role = if self.app.contains(&real) { Role::App } else { role };
        if metadata.is_dir() {
            let loader = self.loader(&real);
            if self.opened.insert(real) {
                self.open_folder(path, &name, role, loader).with_context(|| name.clone())?;
            }
            return Ok(Manifest::default());
        }
        if !metadata.is_file() {
            return Err(anyhow!("{name}: neither a file nor a folder"));
        }
        let loader = self.loader(&real);
        if !self.opened.insert(real) {
            return Ok(Manifest::default());
        }
        let manifest =
            self.open_file(path, &name, role, loader, metadata.len()).with_context(|| name.clone())?;
        // The JVM does not follow the `Class-Path` of modules.
        Ok(if loader == Loader::ModulePath { Manifest::default() } else { manifest })
    }

    fn loader(&self, real: &Path) -> Loader {
        if self.modules.contains(real) { Loader::ModulePath } else { Loader::ClassPath }
    }

    fn open_file(
        &mut self,
        path: &Path,
        name: &str,
        role: Role,
        loader: Loader,
        size: u64,
    ) -> anyhow::Result<Manifest> {
        let mut file = std::fs::File::open(path).context("cannot be opened")?;
        let mut bytes = Vec::new();
        (&mut file).take(4).read_to_end(&mut bytes).context("cannot be read")?;
        if image::is_image(&bytes) {
            self.found.containers.push(Arc::new(image::open(path, name, role, &mut self.problems)?));
            return Ok(Manifest::default());
        }
        let is_class = bytes.starts_with(&[0xCA, 0xFE, 0xBA, 0xBE]);
        if is_class || path.extension().is_some_and(|it| it == "class") {
            self.found.containers.push(Arc::new(folder::open_file(path, name, role, size)));
            return Ok(Manifest::default());
        }
        bytes.reserve_exact(usize::try_from(size).unwrap_or(0).saturating_sub(bytes.len()));
        file.read_to_end(&mut bytes).context("cannot be read")?;
        let mut opener = ArchiveOpener::new(self.release, &mut self.found, &mut self.problems, loader);
        opener.open(name, Blob::new(bytes), role).map_err(|what| anyhow!(what))
    }

    fn open_folder(&mut self, path: &Path, name: &str, role: Role, loader: Loader) -> anyhow::Result<()> {
        if let Some(files) = jdk::files_of(path) {
            return self.open_jdk(&files, role);
        }
        let mut unpacked = false;
        for folder in UNPACKED.map(|it| path.join(it)) {
            let (classes, lib) = (folder.join("classes"), folder.join("lib"));
            if !classes.is_dir() && !lib.is_dir() {
                continue;
            }
            unpacked = true;
            if classes.is_dir() {
                let name = path_text(&classes);
                self.found.containers.push(Arc::new(folder::open(
                    &classes,
                    &name,
                    role,
                    Loader::Program,
                    &[],
                    &mut self.problems,
                )));
                declared::folder(&classes, role, &mut self.found.declared);
            }
            let lib_role = if role == Role::Jdk { Role::Jdk } else { Role::Lib };
            for jar in jdk::files_with_extension(&lib, "jar") {
                if let Err(error) = self.open(&jar, lib_role) {
                    self.problems.push(Problem::error(
                        path_text(&jar),
                        format!("{:#}; its classes are missing", error.root_cause()),
                    ));
                }
            }
        }
        let skip: &[&str] = if unpacked { &UNPACKED } else { &[] };
        let role = if unpacked && role == Role::App { Role::Lib } else { role };
        let loader = if unpacked { Loader::Program } else { loader };
        let container = folder::open(path, name, role, loader, skip, &mut self.problems);
        declared::folder(path, role, &mut self.found.declared);
        if container.classes.is_empty() && !unpacked && !jdk::files_with_extension(path, "jar").is_empty() {
            let what = format!(
                "a folder without class files; its archives are not opened, {name}/* stands for them"
            );
            self.problems.push(Problem::note(name, what));
        }
        if !unpacked || !container.classes.is_empty() {
            self.found.containers.push(Arc::new(container));
        }
        Ok(())
    }
}

/// A path as we print it.
pub(crate) fn path_text(path: &Path) -> String {
    name_text(path.as_os_str().as_encoded_bytes()).into_owned()
}
