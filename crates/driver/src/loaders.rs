//! The class definitions that the JVM's loaders ignore for other reasons than their order on the class path. A loader
//! asks its parent first, so a class that the JDK has is taken from the JDK (JVMS §5.3, `ClassLoader.loadClass`). A
//! loader looks for a class of a package that belongs to a named module only in that module (JEP 261, "Class
//! loaders"). The classes of a module that is not resolved are found by no loader (JEP 261, "Root modules").

use crate::container::{ClassEntry, LoadedContainer, Loader, is_descriptor};
use crate::problem::Problem;
use crate::world::LoadedWorld;
use ide::Role;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::modules::Module;

/// Returns, for each container, a list with a flag for each of its entries: whether the JVM's class loaders ignore
/// the class that the entry defines. The list may be empty if no class of the container is ignored. Adds to
/// `problems` a problem for each ignored class of the program; for each library with ignored classes, only one
/// problem with their number.
pub(crate) fn passed_over(
    world: &LoadedWorld,
    modules: &[Module],
    problems: &mut Vec<Problem>,
) -> Vec<Vec<bool>> {
    let Some(owners) = Owners::of(world, modules) else { return vec![Vec::new(); world.containers.len()] };
    let containers = world.containers.iter().enumerate();
    containers.map(|(idx, it)| owners.passed_over(idx, it, problems)).collect()
}

/// The containers that own the packages of the JDK and of named modules. Class loaders look for classes of these
/// packages there first, or only there.
struct Owners<'a> {
    world: &'a LoadedWorld,
    modules: &'a [Module],
    /// For each package of the JDK or the module path, the index of the first container that has classes of the
    /// package, and the index of the module to which the package belongs (`None` if it belongs to no named module).
    packages: FxHashMap<&'a str, (usize, Option<usize>)>,
    /// For each class of the JDK or the module path whose package also occurs in a container outside the JDK: the
    /// index of the first container that defines the class.
    classes: FxHashMap<&'a str, usize>,
    has_platform: bool,
}

/// The reason why the JVM's class loaders ignore a class definition.
enum Why<'a> {
    Shadowed(&'a str),
    OtherModule(&'a str),
    Prohibited,
}

impl<'a> Owners<'a> {
    /// Collects the containers that own packages. Returns `None` if there is neither a JDK nor a named module, so
    /// that class loaders ignore no class definition.
    fn of(world: &'a LoadedWorld, modules: &'a [Module]) -> Option<Owners<'a>> {
        let has_platform = world.containers.iter().any(|it| it.platform);
        if !has_platform && modules.is_empty() {
            return None;
        }
        let (packages, classes) = Default::default();
        let mut owners = Owners { world, modules, packages, classes, has_platform };
        owners.list_packages();
        let mut shared: FxHashSet<&str> = FxHashSet::default();
        for container in world.containers.iter().filter(|it| is_judged(it)) {
            for entry in &container.classes {
                let package = package(entry.path());
                if owners.packages.contains_key(package) {
                    shared.insert(package);
                }
            }
        }
        if !shared.is_empty() {
            owners.each(|owners, idx, _, entry| {
                if shared.contains(package(entry.path())) {
                    owners.classes.entry(entry.path()).or_insert(idx);
                }
            });
        }
        Some(owners)
    }

    fn list_packages(&mut self) {
        let mut last = (usize::MAX, "");
        self.each(|owners, idx, module, entry| {
            let here = (idx, package(entry.path()));
            if here != last && !is_descriptor(entry.path()) {
                owners.packages.entry(here.1).or_insert((idx, module));
                last = here;
            }
        });
    }

    /// Calls the function `it` with each entry that the JVM can find in the JDK, and then with each entry that the
    /// JVM can find on the module path. The arguments are `self`, the index of the entry's container, the index of
    /// the entry's module (`None` if the entry belongs to no named module), and the entry.
    fn each(&mut self, mut it: impl FnMut(&mut Self, usize, Option<usize>, &'a ClassEntry)) {
        let module_of: FxHashMap<(usize, &str), usize> = self
            .modules
            .iter()
            .enumerate()
            .map(|(idx, it)| ((it.container, it.root.as_str()), idx))
            .collect();
        let world = self.world;
        for platform in [true, false] {
            for (idx, container) in world.containers.iter().enumerate() {
                if container.platform != platform || !platform && container.loader != Loader::ModulePath {
                    continue;
                }
                // Entries of one module are adjacent.
                let mut last: Option<(&str, Option<usize>)> = None;
                for entry in &container.classes {
                    let root = entry.root();
                    let module = match last {
                        Some((of, module)) if of == root => module,
                        _ => module_of.get(&(idx, if platform { root } else { "" })).copied(),
                    };
                    last = Some((root, module));
                    if module.is_none_or(|it| self.modules[it].resolved) {
                        it(self, idx, module, entry);
                    }
                }
            }
        }
    }

    /// Returns, for each entry of `container`, whether the JVM's class loaders ignore the entry; the list may be
    /// empty if they ignore none. `idx` is the index of the container. Adds the ignored entries to `problems`.
    fn passed_over(&self, idx: usize, container: &LoadedContainer, problems: &mut Vec<Problem>) -> Vec<bool> {
        if container.platform {
            return self.not_resolved(idx, container);
        }
        if !is_judged(container) {
            return Vec::new();
        }
        if self.has_platform && container.classes.iter().any(|it| it.path() == "java/lang/Object.class") {
            let what = "the container has a class java/lang/Object, so it takes the place of the class library of the JDK";
            problems.push(Problem::note(container.name.clone(), what));
            return Vec::new();
        }
        let mut gone = vec![false; container.classes.len()];
        let mut first = None;
        for (entry, gone) in container.classes.iter().zip(&mut gone) {
            let Some(why) = self.why(idx, container.loader, entry) else { continue };
            *gone = true;
            let text = match why {
                Why::Shadowed(by) => {
                    format!("the class is left out: it is shadowed by the class of this name in {by}")
                }
                Why::OtherModule(name) => format!(
                    "the class is left out: its package belongs to the module {name}, and the JVM looks for the package only there"
                ),
                Why::Prohibited => {
                    "the class is left out: the JVM loads classes of java.* packages from the JDK only".into()
                }
            };
            if container.role == Role::App {
                problems.push(Problem::note(container.display(entry), text));
            } else {
                first.get_or_insert((entry, text));
            }
        }
        if let Some((entry, text)) = first {
            let more = gone.iter().filter(|it| **it).count() - 1;
            let more = match more {
                0 => String::new(),
                1 => "; 1 more class of this container is also left out".to_owned(),
                _ => format!("; {more} more classes of this container are also left out"),
            };
            problems.push(Problem::note(container.display(entry), format!("{text}{more}")));
        }
        gone
    }

    /// Returns, for each entry of a container of the JDK, whether it belongs to a module that is not resolved; an empty
    /// list if all modules of the container are resolved. `idx` is the index of the container.
    fn not_resolved(&self, idx: usize, container: &LoadedContainer) -> Vec<bool> {
        let unresolved = self.modules.iter().filter(|it| it.container == idx && !it.resolved);
        let roots: FxHashSet<&str> = unresolved.map(|it| it.root.as_str()).collect();
        if roots.is_empty() {
            return Vec::new();
        }
        container.classes.iter().map(|it| roots.contains(it.root())).collect()
    }

    fn why(&self, idx: usize, loader: Loader, entry: &ClassEntry) -> Option<Why<'a>> {
        if is_descriptor(entry.path()) {
            return None;
        }
        let package = package(entry.path());
        let owner = self.packages.get(package);
        if let Some((owner, module)) = owner
            && *owner != idx
        {
            let by = self.classes.get(entry.path()).copied().filter(|by| *by != idx);
            // A loader that comes with the program first asks the JVM's own loader for classes that the JDK has; for
            // other classes its order is not known.
            if let Some(by) = by.filter(|it| loader != Loader::Program || self.world.containers[*it].platform)
            {
                return Some(Why::Shadowed(&self.world.containers[by].name));
            }
            if let (Loader::ClassPath, Some(module)) = (loader, module) {
                return Some(Why::OtherModule(&self.modules[*module].name));
            }
        }
        let is_of_java = package == "java" || package.starts_with("java/");
        (self.has_platform && is_of_java).then_some(Why::Prohibited)
    }
}

/// Returns whether the rules for ignored classes apply to the container: it is not a part of the JDK, and it is known
/// which class loader uses it. The loader is unknown for a class file that is an input by itself.
fn is_judged(container: &LoadedContainer) -> bool {
    !container.platform && container.loader != Loader::Other
}

/// Returns the package in the path of a class file: `p/q` for `p/q/C.class`.
pub(crate) fn package(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}
