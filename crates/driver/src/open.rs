//! Opens inputs: determines whether a path is an archive, a folder, a class file or a JDK, opens it, and follows the
//! `Class-Path` of manifests. Each file is opened once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use rustc_hash::{FxHashMap, FxHashSet};

use vfs::classpath_index;
use vfs::manifest::{ClassPathFile, MANIFEST_NAME, Manifest, class_path_file};
use vfs::naming::name_text;

use crate::archive::Found;
use crate::classless::{self, has_archives};
use crate::container::Loader;
use crate::disk::{At, Disk, Part, Plan, Step};
use crate::homes::{files_below, files_of, files_with_extension};
use crate::jdk::JdkFiles;
use crate::layout::{Layout, UNPACKED, Web};
use crate::problem::Problem;
use ide::Role;

/// Opens inputs in class-path order, and collects their containers and problems.
pub(crate) struct Opener<'a> {
    /// The Java release for which entries of multi-release archives are selected.
    pub(crate) release: u16,
    /// The paths of the inputs that make up the program, with symbolic links resolved. Such an input belongs to the
    /// program even if the `Class-Path` of another jar leads to it first.
    pub(crate) app: FxHashSet<PathBuf>,
    /// The paths of the files and folders on the module path, with symbolic links resolved.
    pub(crate) modules: FxHashSet<PathBuf>,
    /// The access to the disk.
    pub(crate) disk: &'a mut dyn Disk,
    /// The containers found so far, and the classes that manifests and service files declare as starting points of
    /// the program.
    pub(crate) found: Found,
    /// The problems found so far.
    pub(crate) problems: Vec<Problem>,
    /// For each executable jar among the inputs, its path and the packages that its manifest exports
    /// ([`crate::world::LoadedWorld::manifest_exports`]).
    pub(crate) manifest_exports: Vec<(String, Vec<String>)>,
    opened: FxHashSet<PathBuf>,
    /// The class loader of files and folders that are not on the module path: that of the class path, or another one
    /// while the libraries of an unpacked war or Spring Boot archive are opened.
    loader: Loader,
}

/// A file or folder that the `Class-Path` in the manifest of a jar names.
struct Named {
    /// The path of the jar, as shown to people.
    jar: String,
    /// Whether the entry names a folder.
    is_folder: bool,
}

/// The result of opening a file or folder, which may have been opened already by an earlier call.
struct Opened {
    real: PathBuf,
    /// The manifest whose `Class-Path` is to be followed; empty if there is none, or if an earlier call has opened
    /// the file.
    manifest: Manifest,
}

impl<'a> Opener<'a> {
    /// Creates an opener that has not opened any file yet.
    pub(crate) fn new(release: u16, disk: &'a mut dyn Disk) -> Opener<'a> {
        Opener {
            release,
            app: FxHashSet::default(),
            modules: FxHashSet::default(),
            disk,
            found: Found::default(),
            problems: Vec::new(),
            manifest_exports: Vec::new(),
            opened: FxHashSet::default(),
            loader: Loader::ClassPath,
        }
    }

    /// Opens a file or folder, and the jars that the `Class-Path` of its manifest names. A file that this opener has
    /// already opened is skipped.
    pub(crate) fn open(&mut self, path: &Path, role: Role) -> anyhow::Result<()> {
        // Jars whose manifests are still to be followed; the JVM searches them directly after the jar that names
        // them.
        let mut stack = vec![(path.to_owned(), role, None::<Named>)];
        while let Some((path, role, named)) = stack.pop() {
            let opened = match named.as_ref().and_then(|it| self.other_kind(&path, it)) {
                None => self.open_one(&path, role, false),
                Some(error) => Err(error),
            };
            match (opened, named) {
                (Ok(opened), _) => {
                    // The manifest of an input matters even if the manifest of another input names the jar first.
                    if self.app.contains(&opened.real) {
                        self.executable(&path, &opened.manifest);
                    }
                    stack.extend(self.class_path((&path, &opened.real), role, &opened.manifest));
                }
                (Err(error), None) => return Err(error),
                (Err(error), Some(Named { jar, .. })) => {
                    let what = format!(
                        "an entry of the Class-Path in the manifest is left out, as by the JVM: {error:#}"
                    );
                    self.problems.push(Problem::note(jar, what));
                }
            }
        }
        Ok(())
    }

    /// If `jar` is executable (its manifest has a `Main-Class`), records the packages that the manifest exports. The
    /// JVM reads the attributes for exports only in the manifest of the jar with which it is started.
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

    /// Whether this opener has already opened the file or folder at `path`.
    pub(crate) fn has_opened(&self, path: &Path) -> bool {
        std::fs::canonicalize(path).is_ok_and(|it| self.opened.contains(&it))
    }

    /// Ends the class path: appends to it the containers of jars that are inside plain jars, because these containers
    /// come last.
    pub(crate) fn end_class_path(&mut self) {
        self.found.containers.append(&mut self.found.late);
    }

    /// Opens the class library of a JDK.
    pub(crate) fn open_jdk(&mut self, files: &JdkFiles, role: Role) -> anyhow::Result<()> {
        let paths = match files {
            JdkFiles::Image(path) => std::slice::from_ref(path),
            JdkFiles::Archives(paths) => paths,
        };
        paths.iter().try_for_each(|it| self.open_one(it, role, true).map(|_| ()))
    }

    /// Returns the files that the `Class-Path` in the manifest of a jar names, from the last to the first; each with
    /// its role and the entry that names it. `real` is the path of the jar with symbolic links resolved. Adds
    /// entries that are not files to the problems.
    fn class_path(
        &mut self,
        (jar, real): (&Path, &Path),
        role: Role,
        manifest: &Manifest,
    ) -> Vec<(PathBuf, Role, Option<Named>)> {
        let name = path_text(jar);
        // The JVM resolves the entries against the path without symbolic links.
        let is_link = std::fs::symlink_metadata(jar).is_ok_and(|it| it.is_symlink());
        let folder = if is_link { real.parent() } else { jar.parent() }.unwrap_or(Path::new(""));
        let role = if role == Role::Jdk { Role::Jdk } else { Role::Lib };
        let mut named = Vec::new();
        for entry in manifest.class_path() {
            match class_path_file(entry) {
                Some(ClassPathFile { path, is_folder }) => {
                    named.push((folder.join(path), role, Some(Named { jar: name.clone(), is_folder })));
                }
                None => {
                    let what = format!(
                        "the Class-Path in the manifest names `{entry}`, which is not a file; the entry is left out"
                    );
                    self.problems.push(Problem::note(name.clone(), what));
                }
            }
        }
        named.reverse();
        named
    }

    /// Returns an error if `path` leads to a folder although the manifest that names it names a file, or the other way
    /// round.
    fn other_kind(&mut self, path: &Path, named: &Named) -> Option<anyhow::Error> {
        self.disk.looks_at(path);
        let is_folder = std::fs::metadata(path).ok()?.is_dir();
        let what = match is_folder {
            true if !named.is_folder => "it is a folder, but the entry does not end in a slash",
            false if named.is_folder => "it is a file, but the entry ends in a slash",
            true | false => return None,
        };
        Some(anyhow!("{}: {what}", path_text(path)))
    }

    /// Opens one file or folder, unless it has been opened already. Does not open the files that the `Class-Path` of
    /// its manifest names. `platform` tells whether the file belongs to the JDK.
    fn open_one(&mut self, path: &Path, role: Role, platform: bool) -> anyhow::Result<Opened> {
        self.disk.looks_at(path);
        let real =
            std::fs::canonicalize(path).with_context(|| format!("{}: cannot be opened", path_text(path)));
        let plan = match real {
            Ok(real) if self.opened.contains(&real) => {
                return Ok(Opened { real, manifest: Manifest::default() });
            }
            Ok(real) => self.plan(path, real, role, platform),
            Err(error) => Err(error),
        };
        let Plan { real, steps } = self.disk.keep_plan(path, role, plan)?;
        let mut manifest = Manifest::default();
        if !self.opened.insert(real.clone()) {
            return Ok(Opened { real, manifest });
        }
        for step in steps {
            match step {
                Step::Part(part) => {
                    // The JVM does not follow the `Class-Path` of modules.
                    if self.loader(&real) != Loader::ModulePath {
                        manifest = part.manifest.clone();
                    }
                    self.add(&part);
                }
                Step::Jdk(files, role) => self.open_jdk(&files, role)?,
                Step::Open(path, role) => {
                    let outer = std::mem::replace(&mut self.loader, Loader::Program);
                    let done = self.open(&path, role);
                    self.loader = outer;
                    if let Err(error) = done {
                        let what = format!(
                            "{:#}; the classes of this file or folder are missing",
                            error.root_cause()
                        );
                        self.problems.push(Problem::error(path_text(&path), what));
                    }
                }
            }
        }
        Ok(Opened { real, manifest })
    }

    fn add(&mut self, part: &Part) {
        self.found.containers.extend(part.containers.iter().cloned());
        self.found.late.extend(part.late.iter().cloned());
        self.found.declared.extend(part.declared.iter().cloned());
        self.problems.extend(part.problems.iter().cloned());
    }

    fn loader(&self, real: &Path) -> Loader {
        if self.modules.contains(real) { Loader::ModulePath } else { self.loader }
    }

    /// Determines the steps that open the file or folder at `path`. `real` is the path with symbolic links resolved;
    /// `platform` tells whether the file or folder belongs to the JDK.
    fn plan(&mut self, path: &Path, real: PathBuf, role: Role, platform: bool) -> anyhow::Result<Plan> {
        let name = path_text(path);
        let metadata = std::fs::metadata(&real).with_context(|| format!("{name}: cannot be opened"))?;
        let role = if self.app.contains(&real) { Role::App } else { role };
        let loader = self.loader(&real);
        let at = At { path, name: &name, role, loader, platform, release: self.release };
        let steps = if metadata.is_dir() {
            self.plan_folder(&at)
        } else if metadata.is_file() {
            vec![Step::Part(self.disk.file(&at).with_context(|| name.clone())?)]
        } else {
            return Err(anyhow!(
                "{name}: cannot be opened, because the path leads neither to a file nor to a folder"
            ));
        };
        Ok(Plan { real, steps })
    }

    fn plan_folder(&mut self, at: &At<'_>) -> Vec<Step> {
        if let Some(files) = files_of(at.path, self.disk) {
            return vec![Step::Jdk(files, at.role)];
        }
        let lib_role = if at.role == Role::Jdk { Role::Jdk } else { Role::Lib };
        let Some(layout) = self.unpacked(at.path) else {
            let part = self.disk.folder(at, &[]);
            let mut steps = vec![Step::Part(part.clone())];
            let is_empty = part.containers.iter().all(|it| it.classes.is_empty());
            // An input without classes is reported in any case, after it was opened.
            if is_empty && at.role != Role::App && has_archives(at.path) {
                let problems = vec![Problem::note(at.name, classless::reason(at.path, self.disk))];
                steps.insert(0, Step::Part(Arc::new(Part { problems, ..Part::default() })));
            }
            return steps;
        };
        match layout {
            // The loader of Spring Boot asks the loader of the class path first.
            Layout::Boot(web, _) => {
                let mut steps = vec![self.plan_top(&At { role: lib_role, ..*at }, web)];
                steps.extend(self.plan_classes(at, web));
                steps
                    .extend(self.boot_libraries(at.path, web).into_iter().map(|it| Step::Open(it, lib_role)));
                steps
            }
            Layout::War(web) => {
                let mut steps: Vec<Step> = self.plan_classes(at, web).into_iter().collect();
                let jars = files_with_extension(&at.path.join(web.lib), "jar");
                steps.extend(jars.into_iter().map(|it| Step::Open(it, lib_role)));
                // A servlet container does not load what is left at the top level.
                steps.push(self.plan_top(&At { role: lib_role, loader: Loader::Program, ..*at }, web));
                steps
            }
            Layout::Jar | Layout::Ear | Layout::Jmod => vec![Step::Part(self.disk.folder(at, &[]))],
        }
    }

    /// Returns the layout of a folder that is an unpacked war or Spring Boot archive; `None` for another folder.
    fn unpacked(&mut self, folder: &Path) -> Option<Layout> {
        for web in UNPACKED {
            self.disk.looks_at(&folder.join(web.classes));
            self.disk.lists(&folder.join(web.lib));
        }
        let has = |it: &str| folder.join(it).is_dir();
        // Only the manifest of an unpacked archive matters.
        Layout::web(&Manifest::default(), &has)?;
        Layout::web(&self.manifest_in(folder), &has)
    }

    fn manifest_in(&mut self, folder: &Path) -> Manifest {
        let path = folder.join(MANIFEST_NAME);
        self.disk.looks_at(&path);
        std::fs::read(path).map_or_else(|_| Manifest::default(), |it| Manifest::parse(&it))
    }

    /// Returns the step that adds the folder of the classes of an unpacked archive, if there is one.
    fn plan_classes(&mut self, at: &At<'_>, web: Web) -> Option<Step> {
        let classes = at.path.join(web.classes.trim_end_matches('/'));
        if !classes.is_dir() {
            return None;
        }
        let name = path_text(&classes);
        let at = At { path: &classes, name: &name, loader: Loader::Program, ..*at };
        Some(Step::Part(self.disk.folder(&at, &[])))
    }

    /// Returns the step that adds the classes at the top level of an unpacked archive, and what its manifest and service
    /// files declare. Without such classes, no container is added.
    fn plan_top(&mut self, at: &At<'_>, web: Web) -> Step {
        let part = self.disk.folder(at, &[web.inf.trim_end_matches('/')]);
        if part.containers.iter().any(|it| !it.classes.is_empty()) {
            return Step::Part(part);
        }
        let (declared, problems) = (part.declared.clone(), part.problems.clone());
        Step::Part(Arc::new(Part { declared, problems, ..Part::default() }))
    }

    /// Returns the libraries of an unpacked Spring Boot archive in the order in which its loader searches them: first
    /// those that the index does not list, by their paths, then the others in the order of the index.
    fn boot_libraries(&mut self, folder: &Path, web: Web) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for lib in [Some(web.lib), web.provided].into_iter().flatten() {
            files_below(&folder.join(lib), self.disk, &mut files);
        }
        let manifest = self.manifest_in(folder);
        let index = folder.join(web.index(&manifest));
        self.disk.looks_at(&index);
        let names = classpath_index::parse(&std::fs::read(index).unwrap_or_default());
        let mut rank: FxHashMap<PathBuf, usize> = FxHashMap::default();
        for (name, at) in names.iter().zip(1..) {
            rank.entry(folder.join(name)).or_insert(at);
        }
        files.sort_by_key(|it| rank.get(it).copied().unwrap_or(0));
        files
    }
}

/// Returns a path as text for the output; bytes that are not UTF-8 are escaped.
pub(crate) fn path_text(path: &Path) -> String {
    name_text(path.as_os_str().as_encoded_bytes()).into_owned()
}
