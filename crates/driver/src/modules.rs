//! The named modules of a run: the modules of the JDK, of which only those that are resolved take part in the program,
//! and the modules on the module path.

use crate::container::{DESCRIPTOR, LoadedContainer, Loader, Scratch};
use crate::problem::Problem;
use crate::world::LoadedWorld;
use anyhow::bail;
use ide::module::module_info;
use ide::{ModuleInfo, Role};
use rustc_hash::{FxHashMap, FxHashSet};

/// A named module of the JDK or of the module path.
pub(crate) struct Module {
    /// The name of the module.
    pub(crate) name: String,
    /// The content of the module's descriptor; `None` for an automatic module.
    pub(crate) info: Option<ModuleInfo>,
    /// The index of the container that holds the module, in the list of loaded containers.
    pub(crate) container: usize,
    /// The folder of the module inside the container; empty if the container holds only this module. A JDK image
    /// holds many modules, each in a folder of its own.
    pub(crate) root: String,
    /// Whether the module belongs to the JDK.
    pub(crate) platform: bool,
    /// Whether the module is resolved, that is, whether it is in the module graph when the program runs. The JVM finds
    /// no class of a module that is not resolved.
    pub(crate) resolved: bool,
}

/// The named modules that were found in the loaded containers.
pub(crate) struct Modules {
    /// All modules: first the modules of the JDK, then those of the module path.
    pub(crate) all: Vec<Module>,
    /// The indices of the containers whose module has the name of a module that was found earlier; the JVM ignores
    /// the classes in these containers.
    pub(crate) hidden: Vec<usize>,
}

/// Finds the named modules in the loaded containers, and determines which of them are resolved. `added` has the values
/// of `--add-modules`: names of modules, or `ALL-DEFAULT`, `ALL-SYSTEM`, `ALL-MODULE-PATH`. Adds to `problems` the
/// containers of the module path whose module cannot be determined, or is hidden by an earlier module of the same name.
///
/// # Errors
/// Fails if a module in `added` does not exist, because then the JVM does not start.
pub(crate) fn modules(
    world: &LoadedWorld,
    added: &[String],
    problems: &mut Vec<Problem>,
) -> anyhow::Result<Modules> {
    let mut modules: Vec<Module> = Vec::new();
    let mut hidden = Vec::new();
    for (idx, container) in world.containers.iter().enumerate().filter(|it| it.1.platform) {
        platform_modules(idx, container, &mut modules);
    }
    for (idx, container) in world.containers.iter().enumerate() {
        if container.loader != Loader::ModulePath {
            continue;
        }
        let Some(module) = path_module(idx, container, problems) else { continue };
        match modules.iter().find(|it| it.name == module.name) {
            None => modules.push(module),
            Some(first) => {
                let by = &world.containers[first.container].name;
                let what = format!(
                    "the module {} is left out here, because it is also in {by}, which comes first",
                    module.name
                );
                problems.push(Problem::note(container.name.clone(), what));
                hidden.push(idx);
            }
        }
    }
    add_roots(&mut modules, added)?;
    resolve(&mut modules);
    Ok(Modules { all: modules, hidden })
}

/// Adds to `modules` the modules in a container of the JDK; `idx` is the index of the container. A module whose
/// descriptor cannot be read is not added, because its exports are unknown. If the JDK itself is the analysed program,
/// all its modules are resolved.
fn platform_modules(idx: usize, container: &LoadedContainer, modules: &mut Vec<Module>) {
    let mut scratch = Scratch::new();
    for entry in container.classes.iter().filter(|it| it.path() == DESCRIPTOR) {
        let Ok(class) = container.bytes(entry, &mut scratch) else { continue };
        let Ok(Some(info)) = module_info(class.bytes) else { continue };
        let (name, root) = (info.name.clone(), entry.root().to_owned());
        modules.push(Module {
            name,
            info: Some(info),
            container: idx,
            root,
            platform: true,
            resolved: container.role == Role::App,
        });
    }
}

/// Returns the module in a container of the module path; `idx` is the index of the container. If the module cannot be
/// determined, adds a problem and returns `None`.
fn path_module(idx: usize, container: &LoadedContainer, problems: &mut Vec<Problem>) -> Option<Module> {
    let module = |name, info| Module {
        name,
        info,
        container: idx,
        root: String::new(),
        platform: false,
        resolved: true,
    };
    let mut fault = |place: String, what: String| problems.push(Problem::error(place, what));
    let Some(entry) = container.classes.iter().find(|it| it.path() == DESCRIPTOR) else {
        let given = container.manifest.value("Automatic-Module-Name").map(str::to_owned);
        let name = given.or_else(|| automatic_name(&container.name));
        if name.is_none() {
            let what = "no module name follows from the file name, so the JVM rejects the jar; \
                        it is assumed that unknown classes may be in the packages of the jar";
            fault(container.name.clone(), what.to_owned());
        }
        return name.map(|it| module(it, None));
    };
    let mut scratch = Scratch::new();
    let info = match container.bytes(entry, &mut scratch) {
        Ok(class) => module_info(class.bytes).map_err(|it| it.what),
        Err(it) => Err(it.what),
    };
    match info {
        Ok(Some(info)) => Some(module(info.name.clone(), Some(info))),
        Ok(None) => {
            fault(
                container.display(entry),
                "the file declares no module, so it is assumed that unknown classes may be in the packages of its container".to_owned(),
            );
            None
        }
        Err(what) => {
            fault(
                container.display(entry),
                format!("{what}; it is assumed that unknown classes may be in the packages of the module"),
            );
            None
        }
    }
}

/// Derives the name of an automatic module from the path of its jar, by the rules of
/// `java.lang.module.ModuleFinder.of`: the version is left out, and a dot replaces each run of characters that are
/// neither letters nor digits. Returns `None` if the file has no extension `.jar`, or if the result is no legal
/// module name.
fn automatic_name(jar: &str) -> Option<String> {
    let file = jar.rsplit(['/', '\\']).next()?.strip_suffix(".jar")?;
    let version = file.match_indices('-').map(|it| it.0).find(|&at| {
        let digits = file[at + 1..].trim_start_matches(|it: char| it.is_ascii_digit());
        digits.len() < file.len() - at - 1 && (digits.is_empty() || digits.starts_with('.'))
    });
    let name = &file[..version.unwrap_or(file.len())];
    let parts: Vec<&str> =
        name.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let legal = !parts.is_empty() && parts.iter().all(|it| !it.starts_with(|it: char| it.is_ascii_digit()));
    legal.then(|| parts.join("."))
}

/// Marks the modules that `added`, the values of `--add-modules`, makes root modules. `ALL-DEFAULT` and
/// `ALL-MODULE-PATH` change nothing, because the default root modules and all modules of the module path are roots
/// anyway. Fails if there is no module with one of the names.
fn add_roots(modules: &mut [Module], added: &[String]) -> anyhow::Result<()> {
    let has_platform = modules.iter().any(|it| it.platform);
    for name in added {
        match name.as_str() {
            "ALL-DEFAULT" | "ALL-MODULE-PATH" => {}
            "ALL-SYSTEM" => modules.iter_mut().filter(|it| it.platform).for_each(|it| it.resolved = true),
            name => match modules.iter_mut().find(|it| it.name == name) {
                Some(module) => module.resolved = true,
                None if has_platform => {
                    bail!("--add-modules: there is no module {name} in the JDK or on the module path")
                }
                None => bail!(
                    "--add-modules: there is no module {name} on the module path, and there is no JDK with modules"
                ),
            },
        }
    }
    Ok(())
}

/// Determines which modules are resolved when a program is started from the class path and all modules of the module
/// path are roots (JEP 261, "Root modules"); the modules that are roots for another reason are resolved already. Of
/// the modules of the JDK, these are: the default root modules, that is, modules that export a package to all modules
/// and are not incubator modules; the modules that a resolved module requires; and the modules that provide a service
/// that a resolved module uses.
fn resolve(modules: &mut [Module]) {
    let by_name: FxHashMap<String, usize> =
        modules.iter().enumerate().map(|(idx, it)| (it.name.clone(), idx)).collect();
    let is_root = |it: &Module| it.resolved || it.info.as_ref().is_some_and(|it| it.by_default);
    let mut stack: Vec<usize> = (0..modules.len()).filter(|it| is_root(&modules[*it])).collect();
    let mut used: FxHashSet<String> = FxHashSet::default();
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    loop {
        while let Some(idx) = stack.pop() {
            if !seen.insert(idx) {
                continue;
            }
            modules[idx].resolved = true;
            let Some(info) = &modules[idx].info else { continue };
            used.extend(info.uses.iter().cloned());
            stack.extend(info.requires.iter().filter_map(|it| by_name.get(it)));
        }
        let provides = |it: &Module| {
            !it.resolved && it.info.as_ref().is_some_and(|it| it.provides.iter().any(|it| used.contains(it)))
        };
        stack.extend((0..modules.len()).filter(|it| provides(&modules[*it])));
        if stack.is_empty() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::process::Command;

    use crate::config::module_names;
    use crate::jdk::JdkChoice;
    use crate::world::{WorldSpec, load};

    use super::*;

    #[test]
    fn automatic_modules_are_named_by_their_files() {
        let name = |it: &str| automatic_name(it).unwrap_or_default();
        assert_eq!(name("lib/au-lib-1.0.jar"), "au.lib");
        assert_eq!(name("commons-lang3-3.12.jar"), "commons.lang3");
        assert_eq!(name("a_b--c-x2.jar"), "a.b.c.x2");
        assert_eq!(name("a_b--c-2x.jar"), "", "2x is no identifier");
        assert_eq!(name("x-7"), "");
        assert_eq!(name("foo-bar-7.jar"), "foo.bar");
        assert_eq!(name("-1.jar"), "");
    }

    /// Returns the modules that `java` resolves by itself, and those that we find. A program that prints the modules
    /// of the boot layer would need a class; `java` itself lists them with `--show-module-resolution`.
    fn resolved(home: &Path, added: &str) -> (BTreeSet<String>, BTreeSet<String>) {
        let mut java = Command::new(home.join("bin/java"));
        if !added.is_empty() {
            java.args(["--add-modules", added]);
        }
        let out = java
            .args(["--show-module-resolution", "-cp", "none", "NoSuchClass"])
            .output()
            .expect("java runs");
        let text = String::from_utf8_lossy(&out.stdout);
        let named = text.lines().filter_map(|it| {
            if it.starts_with("root ") {
                return it.split(' ').nth(1);
            }
            // Lines are `A requires B` or `A binds B`, each with a place.
            let (_, rest) = it.split_once(" requires ").or_else(|| it.split_once(" binds "))?;
            rest.split(' ').next()
        });
        // The root of all modules is resolved without being listed.
        let want = named.chain(["java.base"]).map(str::to_owned).collect();
        let home = camino::Utf8PathBuf::from_path_buf(home.to_owned()).expect("a printable path");
        let spec = WorldSpec {
            inputs: vec![],
            class_path: vec![],
            module_path: vec![],
            jdk: JdkChoice::At(home),
            release: None,
        };
        let world = load(&spec).expect("the JDK can be opened");
        let added = module_names(added);
        let modules = modules(&world, &added, &mut Vec::new()).map_or(Vec::new(), |it| it.all);
        (want, modules.iter().filter(|it| it.resolved).map(|it| it.name.clone()).collect())
    }

    #[test]
    fn the_resolved_modules_are_those_of_the_jvm() {
        for jdk in test_utils::jdk::all().iter().filter(|it| it.version >= 17) {
            let (default, _) = resolved(&jdk.home, "");
            assert!(default.len() > 40, "{default:?}");
            let mut seen = BTreeSet::new();
            let many = "jdk.jcmd,java.sql,jdk.incubator.vector";
            for added in
                ["", "ALL-DEFAULT", "ALL-MODULE-PATH", ",", "jdk.incubator.vector", many, "ALL-SYSTEM"]
            {
                let (want, got) = resolved(&jdk.home, added);
                assert!(want.is_superset(&default), "{want:?}");
                assert_eq!(got, want, "JDK {}, --add-modules {added}", jdk.version);
                seen.insert(want);
            }
            assert_eq!(seen.len(), 4, "JDK {}", jdk.version);
            // The JVM does not start.
            let (want, got) = resolved(&jdk.home, "java.sql,no.such.module");
            assert!(!want.is_superset(&default), "{want:?}");
            assert_eq!(got, BTreeSet::new());
        }
    }

    /// The image is linked with modules that are not of the JDK, some of which export no package to all modules.
    #[test]
    fn the_modules_of_a_linked_image_are_resolved_if_they_export_something() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data/modules/roots");
        let folder = tempfile::tempdir().unwrap();
        let mut linked = 0;
        for jdk in test_utils::jdk::all().iter().filter(|it| it.version >= 17) {
            let image = folder.path().join(jdk.version.to_string());
            let mut jlink = Command::new(jdk.home.join("bin/jlink"));
            jlink.arg("--module-path").arg(&data).arg("--output").arg(&image);
            let all = "opens,qualified,open,exports,required,provides,idle";
            // Some JDKs have no jlink, or lack what it needs.
            if !jlink.args(["--add-modules", all]).output().is_ok_and(|it| it.status.success()) {
                continue;
            }
            linked += 1;
            let (want, got) = resolved(&image, "");
            let there = ["exports", "java.base", "provides", "required"];
            assert_eq!(want, there.map(str::to_owned).into(), "JDK {}", jdk.version);
            assert_eq!(got, want, "JDK {}", jdk.version);
            if linked == test_utils::tier::at_most(1) {
                break;
            }
        }
        if linked == 0 {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI must have a JDK that links images");
            eprintln!("skipped: no JDK that links images on this machine");
        }
    }
}
