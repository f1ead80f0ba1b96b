//! Determines which packages are closed, that is, get no unknown classes, given the module path, the settings and the
//! manifests; and lists the assumptions behind this, for the output.

use std::sync::Arc;

use ide::{Owner, Packages};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::Settings;
use crate::container::{DESCRIPTOR, LoadedContainer};
use crate::loaders::{package, passed_over};
use crate::modules::{Module, modules};
use crate::problem::Problem;
use crate::world::LoadedWorld;

/// The packages that are closed (no unknown class belongs to them), the packages that are exported to all code, and
/// the assumptions from which this follows.
#[derive(Clone, Default)]
pub struct Closing {
    /// The closed packages, each with the reason (sealed, or owned by a module); and the packages that options and
    /// manifests export.
    pub packages: Packages,
    /// The assumptions about closed packages and added modules, one sentence each, for the output.
    pub assumptions: Vec<String>,
    /// The packages of the JDK modules that are not resolved, such as `jdk/incubator/vector`, each with the name of its
    /// module; sorted. The JVM finds no class of these packages in the JDK unless `--add-modules` names the module.
    pub unresolved: Vec<(String, String)>,
}

/// Does the work of the function [`settle`] for successive versions of the loaded containers. If the names of the
/// entries, the module descriptors and the manifests are unchanged, the results that depend only on these are reused.
/// An unchanged container is shared by the previous result and the new one.
#[derive(Default)]
pub struct Settler {
    last: Option<Settled>,
}

/// The result of [`settle`]: the remaining entries of each container, and the findings about all containers together.
struct Settled {
    containers: Vec<Judged>,
    findings: Findings,
}

/// A container as it was loaded, the decision which of its entries remain, and the container with only the remaining
/// entries.
struct Judged {
    given: Arc<LoadedContainer>,
    verdict: Verdict,
    settled: Arc<LoadedContainer>,
}

/// Which entries of a container the JVM's class loaders may find.
#[derive(Clone, PartialEq, Eq)]
enum Verdict {
    All,
    /// The loaders find none of the classes, because an earlier container holds a module of the same name.
    Nothing,
    /// The loaders may find all entries except those whose flag in this list is true.
    Without(Vec<bool>),
}

/// What [`settle`] determined for all containers together (closed packages and problems), and the settings and
/// manifest attributes on which this depends.
struct Findings {
    asked: Asked,
    closing: Closing,
    problems: Vec<Problem>,
}

/// The settings and manifest attributes for which a result of [`settle`] was computed.
#[derive(PartialEq, Eq)]
struct Asked {
    trust_sealed: bool,
    add_exports: Vec<String>,
    add_modules: Vec<String>,
    manifest_exports: Vec<(String, Vec<String>)>,
}

/// Finds the modules in the containers of `world`, and removes the classes that the JVM's class loaders would not
/// find. Returns which packages are closed, that is, to which packages no unknown class belongs. Adds the problems
/// that it finds to those of `world`.
///
/// # Errors
/// Fails if `--add-modules` names a module that does not exist; `world` is unchanged then.
pub fn settle(world: &mut LoadedWorld, settings: &Settings) -> anyhow::Result<Closing> {
    Settler::default().settle(world, settings)
}

impl Settler {
    /// Does the work of the function [`settle`]. If the previous call received the same container and removed the
    /// same entries, both results share the container without these entries.
    ///
    /// # Errors
    /// Fails if `--add-modules` names a module that does not exist; `world` is unchanged then.
    pub fn settle(&mut self, world: &mut LoadedWorld, settings: &Settings) -> anyhow::Result<Closing> {
        let asked = Asked {
            trust_sealed: settings.trust_sealed.value,
            add_exports: settings.add_exports.value.clone(),
            add_modules: settings.add_modules.value.clone(),
            manifest_exports: world.manifest_exports.clone(),
        };
        let (before, findings) = match self.last.take() {
            Some(it) => (it.containers, Some(it.findings)),
            None => (Vec::new(), None),
        };
        let findings = findings.filter(|it| it.asked == asked && has_names_of(&world.containers, &before));
        let settled = match findings {
            Some(findings) => {
                let verdicts = before.iter().map(|it| it.verdict.clone()).collect();
                Settled { containers: apply(&world.containers, verdicts, &before), findings }
            }
            None => judge(world, settings, asked, &before)?,
        };
        world.containers = settled.containers.iter().map(|it| Arc::clone(&it.settled)).collect();
        world.problems.extend(settled.findings.problems.iter().cloned());
        let closing = settled.findings.closing.clone();
        self.last = Some(settled);
        Ok(closing)
    }
}

/// Computes the result of [`settle`] for containers as they were loaded. The modules, the entries to remove and the
/// closed packages are determined again. `before` is the result of the previous call for each container; it is used
/// only to share a container that is the same and loses the same entries. Fails if a module to add does not exist.
fn judge(
    world: &LoadedWorld,
    settings: &Settings,
    asked: Asked,
    before: &[Judged],
) -> anyhow::Result<Settled> {
    let mut problems = Vec::new();
    let modules = modules(world, &asked.add_modules, &mut problems)?;
    let mut world = world.clone();
    let given = world.containers.clone();
    let mut verdicts = vec![Verdict::All; given.len()];
    for it in modules.hidden {
        world.containers[it] = Arc::new(given[it].without_classes());
        verdicts[it] = Verdict::Nothing;
    }
    let gone = passed_over(&world, &modules.all, &mut problems);
    for (verdict, gone) in verdicts.iter_mut().zip(gone) {
        if gone.contains(&true) {
            *verdict = Verdict::Without(gone);
        }
    }
    let containers = apply(&given, verdicts, before);
    world.containers = containers.iter().map(|it| Arc::clone(&it.settled)).collect();
    let mut closing = closing(&world, &modules.all, settings, &mut problems);
    closing.unresolved = unresolved(&given, &modules.all);
    Ok(Settled { containers, findings: Findings { asked, closing, problems } })
}

/// Returns the packages of the modules that are not resolved, each with the name of its module; sorted. `given` are
/// the containers as they were loaded.
fn unresolved(given: &[Arc<LoadedContainer>], modules: &[Module]) -> Vec<(String, String)> {
    let mut packages = FxHashSet::default();
    for module in modules.iter().filter(|it| !it.resolved) {
        let entries = given[module.container].classes.iter().filter(|it| it.root() == module.root);
        let inside = entries.map(|it| it.path()).filter(|it| *it != DESCRIPTOR);
        packages.extend(inside.map(|it| (package(it), module.name.as_str())));
    }
    let mut packages: Vec<_> = packages.into_iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    packages.sort_unstable();
    packages
}

/// Removes from each container in `given` the entries that its verdict excludes. `before` is the result of the
/// previous call of [`settle`] for each container; it is reused if the container and the verdict are the same.
fn apply(given: &[Arc<LoadedContainer>], verdicts: Vec<Verdict>, before: &[Judged]) -> Vec<Judged> {
    let known: FxHashMap<*const LoadedContainer, &Judged> =
        before.iter().map(|it| (Arc::as_ptr(&it.given), it)).collect();
    let apply = |(given, verdict): (&Arc<LoadedContainer>, Verdict)| {
        let known = known.get(&Arc::as_ptr(given)).filter(|it| it.verdict == verdict);
        let settled = known.map_or_else(|| verdict.apply(given), |it| Arc::clone(&it.settled));
        Judged { given: Arc::clone(given), verdict, settled }
    };
    given.iter().zip(verdicts).map(apply).collect()
}

/// Returns whether the containers equal those of the previous call (`before`) in everything that [`settle`] reads:
/// class loaders, manifests, names of entries, and contents of module descriptors.
fn has_names_of(containers: &[Arc<LoadedContainer>], before: &[Judged]) -> bool {
    let is_same = |(now, before): (&Arc<LoadedContainer>, &Judged)| {
        let before = &before.given;
        Arc::ptr_eq(now, before)
            || now.has_frame_of(before) && now.has_entries_of(before, |it| it.path().ends_with(DESCRIPTOR))
    };
    containers.len() == before.len() && containers.iter().zip(before).all(is_same)
}

impl Verdict {
    fn apply(&self, container: &Arc<LoadedContainer>) -> Arc<LoadedContainer> {
        match self {
            Verdict::All => Arc::clone(container),
            Verdict::Nothing => Arc::new(container.without_classes()),
            Verdict::Without(gone) => {
                let kept = container.classes.iter().zip(gone).filter(|it| !it.1).map(|it| it.0.clone());
                Arc::new(LoadedContainer { classes: kept.collect(), ..container.without_classes() })
            }
        }
    }
}

/// Determines the packages that are closed (no unknown class belongs to them) because of modules and sealing
/// manifests, and the packages that options and manifests export.
fn closing(
    world: &LoadedWorld,
    modules: &[Module],
    settings: &Settings,
    problems: &mut Vec<Problem>,
) -> Closing {
    let mut closing = Closing::default();
    let mut owners = FxHashMap::default();
    if settings.trust_sealed.value || modules.iter().any(|it| !it.platform) {
        let holders = holders(world);
        own_modules(modules, &holders, &mut owners, &mut closing);
        if settings.trust_sealed.value {
            seal(world, &holders, &mut owners, &mut closing, problems);
        }
    }
    let mut owners: Vec<_> = owners.into_iter().map(|(package, owner)| (package.to_owned(), owner)).collect();
    owners.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    closing.packages.owners = owners;
    add_exports(world, modules, settings, &mut closing, problems);
    if !settings.add_modules.value.is_empty() {
        let names: Vec<&str> = settings.add_modules.value.iter().map(String::as_str).collect();
        closing
            .assumptions
            .push(format!("these modules are root modules (--add-modules): {}", listed(&names)));
    }
    closing
}

/// For each package, the indices of the containers outside the JDK that have classes of the package.
type Holders<'a> = FxHashMap<&'a str, Vec<usize>>;

fn holders(world: &LoadedWorld) -> Holders<'_> {
    let mut holders = Holders::default();
    for (idx, container) in world.containers.iter().enumerate().filter(|it| !it.1.platform && it.1.has_paths)
    {
        for entry in &container.classes {
            let all = holders.entry(package(entry.path())).or_default();
            if all.last() != Some(&idx) {
                all.push(idx);
            }
        }
    }
    holders
}

/// Records in `owners` which module of the module path owns which package; no absent class belongs to a package that
/// has an owner. A package that occurs in several containers gets no owner. A package that is exported only to some
/// modules counts as exported if one of these modules is absent, because the absent module may be added and use the
/// package.
fn own_modules<'a>(
    modules: &[Module],
    holders: &Holders<'a>,
    owners: &mut FxHashMap<&'a str, Owner>,
    closing: &mut Closing,
) {
    let names: FxHashSet<&str> = modules.iter().map(|it| it.name.as_str()).collect();
    let of: FxHashMap<usize, usize> =
        modules.iter().enumerate().filter(|it| !it.1.platform).map(|(idx, it)| (it.container, idx)).collect();
    for (package, holders) in holders {
        let [holder] = holders.as_slice() else { continue };
        let Some(&number) = of.get(holder) else { continue };
        let exported = is_exported(&modules[number], package, &names);
        owners.insert(*package, Owner::Module { module: number as u32, exported });
    }
    let names: Vec<&str> = modules.iter().filter(|it| !it.platform).map(|it| it.name.as_str()).collect();
    if !names.is_empty() {
        closing.assumptions.push(format!(
            "the program runs with these modules, and no class is added to their packages (--module-path): {}",
            listed(&names)
        ));
    }
}

/// Returns whether unknown code may use the public classes of `package` in `module`. `there` has the names of all
/// present modules.
fn is_exported(module: &Module, package: &str, there: &FxHashSet<&str>) -> bool {
    let Some(info) = module.info.as_ref().filter(|it| !it.open) else { return true };
    let to_absent = |to: &[String]| to.iter().any(|it| !there.contains(it.as_str()));
    info.exports.iter().any(|it| it == package)
        || info.qualified.iter().any(|(of, to)| of == package && to_absent(to))
}

/// Records in `owners` the packages that are sealed by the manifests of all containers with classes of the package,
/// so that no unknown class belongs to them.
fn seal<'a>(
    world: &'a LoadedWorld,
    holders: &Holders<'a>,
    owners: &mut FxHashMap<&'a str, Owner>,
    closing: &mut Closing,
    problems: &mut Vec<Problem>,
) {
    let mut names = Vec::new();
    let mut split = Vec::new();
    for (package, holders) in holders {
        let seals = |it: &usize| world.containers[*it].manifest.is_sealed(package);
        // The JVM does not seal the unnamed package.
        let Some(by) = holders.iter().find(|it| seals(it)).filter(|_| !package.is_empty()) else { continue };
        let (by, human) = (&world.containers[*by].name, package.replace('/', "."));
        match holders.iter().find(|it| !seals(it)) {
            None => {
                owners.entry(*package).or_insert(Owner::Sealed);
                names.push(format!("{human} in {by}"));
            }
            Some(other) => {
                let what = format!(
                    "the container has classes of the package {human}, which is sealed in {by}: \
                     the JVM loads the classes of the package from one place only, \
                     but it is assumed that unknown classes may be in the package"
                );
                split.push((world.containers[*other].name.clone(), what));
            }
        }
    }
    split.sort_unstable();
    problems.extend(split.into_iter().map(|(place, what)| Problem::note(place, what)));
    names.sort_unstable();
    if !names.is_empty() {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        closing
            .assumptions
            .push(format!("no class is added to a sealed package (--trust-sealed): {}", listed(&names)));
    }
}

/// Adds to `closing` the packages that `--add-exports` and the manifests of executable jars export.
fn add_exports(
    world: &LoadedWorld,
    modules: &[Module],
    settings: &Settings,
    closing: &mut Closing,
    problems: &mut Vec<Problem>,
) {
    let asked = settings.add_exports.value.iter().map(|it| ("--add-exports", it));
    let read =
        world.manifest_exports.iter().flat_map(|(jar, all)| all.iter().map(move |it| (jar.as_str(), it)));
    let mut opened = Vec::new();
    for (place, text) in asked.chain(read) {
        match exported_package(world, modules, text) {
            Ok(package) => {
                let by =
                    if place == "--add-exports" { place.to_owned() } else { format!("manifest of {place}") };
                opened.push(format!("{text} ({by})"));
                closing.packages.add_exports.push(package);
            }
            Err(what) => problems.push(Problem::note(place, format!("{what}; `{text}` has no effect"))),
        }
    }
    opened.sort_unstable();
    opened.dedup();
    closing.packages.add_exports.sort_unstable();
    closing.packages.add_exports.dedup();
    if !opened.is_empty() {
        let opened: Vec<&str> = opened.iter().map(String::as_str).collect();
        closing.assumptions.push(format!("these packages are exported to all code: {}", listed(&opened)));
    }
}

/// Returns the package that `text` names in the form `module/package`; an error message if `text` has another form,
/// or if the module or the package does not exist.
fn exported_package(world: &LoadedWorld, modules: &[Module], text: &str) -> Result<String, String> {
    let Some((name, package_name)) = text.split_once('/') else {
        return Err("a package to export is written MODULE/PACKAGE".to_owned());
    };
    let Some(module) = modules.iter().find(|it| it.name == name) else {
        let none = if modules.is_empty() { ": there are no modules" } else { "" };
        return Err(format!("there is no module {name}{none}"));
    };
    let wanted = package_name.replace('.', "/");
    let mut classes = world.containers[module.container].classes.iter();
    let is_wanted = |path: &str, root: &str| {
        (!module.platform || root == module.root)
            && package(path) == wanted
            && !path.ends_with("module-info.class")
    };
    if classes.any(|it| is_wanted(it.path(), it.root())) {
        return Ok(wanted);
    }
    Err(format!("the module {name} has no package {package_name}"))
}

/// The maximum number of names that an assumption lists; further names are only counted.
const LISTED: usize = 8;

fn listed(names: &[&str]) -> String {
    match names.len().checked_sub(LISTED).filter(|it| *it > 0) {
        Some(more) => format!("{} and {more} more", names[..LISTED].join(", ")),
        None => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use ide::ModuleInfo;

    use super::*;

    #[test]
    fn a_package_is_closed_if_all_modules_to_which_it_is_exported_are_present() {
        let names = |it: &[&str]| -> Vec<String> { it.iter().map(|it| (*it).to_owned()).collect() };
        let info = ModuleInfo {
            name: "mod".to_owned(),
            open: false,
            exports: Vec::new(),
            qualified: vec![("p/in".to_owned(), names(&["one", "two"]))],
            requires: Vec::new(),
            uses: Vec::new(),
            provides: Vec::new(),
            by_default: false,
        };
        let module = Module {
            name: "mod".to_owned(),
            info: Some(info),
            container: 0,
            root: String::new(),
            platform: false,
            resolved: true,
        };
        let is_exported = |there: &[&str]| is_exported(&module, "p/in", &there.iter().copied().collect());
        assert!(is_exported(&[]));
        assert!(is_exported(&["mod", "one"]) && is_exported(&["mod", "two"]));
        assert!(!is_exported(&["mod", "one", "two"]));
    }
}
