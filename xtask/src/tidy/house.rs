//! Compares the rooms (crates) and arrows (allowed dependencies) of `arrows.toml` with the folders and manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::tree::Tree;
use super::{Checkout, Violation};

pub(super) const ARROWS_FILE: &str = "xtask/arrows.toml";
const ANYWHERE: &str = "*";

/// The content of `arrows.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct House {
    arrows: BTreeMap<String, Vec<String>>,
    dev: Dev,
    packages: BTreeMap<String, Vec<String>>,
    test_packages: TestPackages,
    pub(super) effects: Vec<Effect>,
    pub(super) queries: Queries,
    #[serde(rename = "unsafe")]
    pub(super) unsafe_: Unsafe,
    pub(super) limits: BTreeMap<String, usize>,
    #[serde(default)]
    pub(super) few_dependencies: FewDependencies,
    /// The rooms that are exempt from the limits on the methods of a type and from the check for cycles of method
    /// calls, each with the reason.
    #[serde(default)]
    recursive: BTreeMap<String, String>,
    /// The phrases that no comment, page or message may use, in lower case, each with what to say instead.
    #[serde(default)]
    pub(super) phrases: BTreeMap<String, String>,
    /// The public items that are allowed although no product code uses them, each with the reason why it is public.
    #[serde(default)]
    pub(super) public: BTreeMap<String, String>,
    #[serde(default)]
    allow: Vec<Allow>,
}

/// The rooms in which each file may depend on a limited number of other files, and the files that do not count as
/// such dependencies.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FewDependencies {
    pub(super) rooms: Vec<String>,
    /// The files of data: types with accessors, which many files name. Dependencies on these files are not counted;
    /// files of data depend only on each other.
    #[serde(default)]
    pub(super) data: Vec<String>,
    /// The files that define the database, its inputs and its keys. Every query names them, so dependencies on these
    /// files are not counted.
    #[serde(default)]
    pub(super) database: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dev {
    rooms: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestPackages {
    anywhere: Vec<String>,
}

/// An effect that only the listed rooms and files may have, such as access to files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Effect {
    pub(super) name: String,
    pub(super) mentions: Vec<String>,
    #[serde(default)]
    pub(super) macros: Vec<String>,
    #[serde(default)]
    pub(super) methods: Vec<String>,
    /// The rooms whose files may all have this effect, such as access to files.
    pub(super) rooms: Vec<String>,
    /// The files that may have this effect, such as access to files, although their rooms may not.
    #[serde(default)]
    pub(super) files: Vec<String>,
    #[serde(default = "default_why")]
    pub(super) why: String,
    /// What code should do instead of having this effect, as advice in messages; `None` if messages give the general
    /// advice.
    pub(super) instead: Option<String>,
}

fn default_why() -> String {
    "rooms without effects can be tested without files and threads, and always give the same answer"
        .to_string()
}

/// The section `[queries]` of `arrows.toml`: which salsa queries may depend on more than one class.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Queries {
    /// The types of query keys that identify one class.
    pub(super) class_keys: Vec<String>,
    /// The queries whose key may be of any other type.
    pub(super) whole: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unsafe {
    /// The modules that may contain unsafe code, as paths without `.rs`: `a/b` stands for the file `a/b.rs` and the
    /// folder `a/b`.
    pub(super) modules: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allow {
    check: String,
    file: String,
    reason: String,
}

impl House {
    pub(super) fn read(tree: &Tree) -> Result<House> {
        let text = tree.text(ARROWS_FILE).with_context(|| format!("{ARROWS_FILE} is missing"))?;
        toml::from_str(text).with_context(|| format!("cannot read {ARROWS_FILE}"))
    }

    pub(super) fn rooms(&self) -> Vec<&str> {
        self.arrows.keys().map(String::as_str).collect()
    }

    /// Returns the rooms on which a room may depend directly.
    pub(super) fn arrows_of(&self, room: &str) -> &[String] {
        self.arrows.get(room).map_or(&[], Vec::as_slice)
    }

    /// Returns the rooms that only tests may use.
    pub(super) fn dev_rooms(&self) -> &[String] {
        &self.dev.rooms
    }

    pub(super) fn limit(&self, name: &str) -> usize {
        self.limits.get(name).copied().unwrap_or(usize::MAX)
    }

    /// Returns whether the room is exempt from the check for cycles of method calls between files, and from the
    /// limits on types. An entry without a reason does not exempt a room.
    pub(super) fn is_recursive(&self, room: &str) -> bool {
        self.recursive.get(room).is_some_and(|it| !it.trim().is_empty())
    }

    /// Returns the violations that the allow list does not permit. Adds a violation for each entry of the list that
    /// has no reason or permits no violation.
    pub(super) fn apply_allow_list(&self, violations: Vec<Violation>) -> Vec<Violation> {
        let mut used = vec![false; self.allow.len()];
        let mut kept: Vec<Violation> = violations
            .into_iter()
            .filter(|violation| {
                let entry = self.allow.iter().position(|allow| {
                    allow.check == violation.check
                        && allow.file == violation.file
                        && !allow.reason.trim().is_empty()
                });
                if let Some(entry) = entry {
                    used[entry] = true;
                }
                entry.is_none()
            })
            .collect();
        for (allow, used) in self.allow.iter().zip(used) {
            if !used {
                kept.push(Violation {
                    file: ARROWS_FILE.to_string(),
                    line: 1,
                    check: "allow-list",
                    what: format!(
                        "the exception of {} from `{}` has no reason or no use",
                        allow.file, allow.check
                    ),
                    why: "an unused exception permits later violations unnoticed".into(),
                    fix: "give a reason, or remove the entry".to_string(),
                });
            }
        }
        kept
    }
}

/// The kind of a dependency in a manifest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Product,
    Dev,
}

struct Dependency {
    name: String,
    kind: Kind,
    line: usize,
}

fn dependencies(manifest: &str) -> Result<Vec<Dependency>, toml::de::Error> {
    let table: toml::Table = manifest.parse()?;
    let mut found = Vec::new();
    collect(&table, manifest, &mut found);
    for target in table.get("target").and_then(|it| it.as_table()).into_iter().flat_map(|it| it.values()) {
        if let Some(target) = target.as_table() {
            collect(target, manifest, &mut found);
        }
    }
    Ok(found)
}

fn collect(table: &toml::Table, manifest: &str, found: &mut Vec<Dependency>) {
    let sections = [
        ("dependencies", Kind::Product),
        ("build-dependencies", Kind::Product),
        ("dev-dependencies", Kind::Dev),
    ];
    for (section, kind) in sections {
        for (key, value) in table.get(section).and_then(|it| it.as_table()).into_iter().flatten() {
            let name = value.get("package").and_then(|it| it.as_str()).unwrap_or(key);
            found.push(Dependency { name: name.to_string(), kind, line: line_of(manifest, section, key) });
        }
    }
}

/// Returns the number of the line with `key` below the header of `section`; the line of the header if the section
/// does not have the key.
fn line_of(manifest: &str, section: &str, key: &str) -> usize {
    let lines: Vec<&str> = manifest.lines().collect();
    let header = lines
        .iter()
        .position(|it| it.starts_with('[') && it.trim_end_matches(']').ends_with(section))
        .unwrap_or(0);
    let below = lines[header.min(lines.len())..].iter().position(|it| {
        it.trim_start()
            .trim_start_matches('"')
            .strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(['.', ' ', '=', '"']))
    });
    header + below.unwrap_or(0) + 1
}

/// Checks that `arrows.toml` allows every dependency of every room, be it on a room (an arrow) or on an outside
/// package.
pub(super) fn arrows(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let house = &checkout.house;
    for folder in checkout.tree.room_folders() {
        let room = folder.rsplit('/').next().unwrap_or(folder);
        let file = format!("{folder}/Cargo.toml");
        let manifest = checkout.tree.text(&file).unwrap_or_default();
        let dependencies = match dependencies(manifest) {
            Ok(dependencies) => dependencies,
            Err(error) => {
                let what = format!("the manifest cannot be read: {}", error.message());
                violations.push(arrow(&file, 1, what, "repair the manifest".to_string()));
                continue;
            }
        };
        for Dependency { name, kind, line } in dependencies {
            if house.arrows.contains_key(&name) {
                let down = house.arrows.get(room).is_some_and(|it| it.contains(&name));
                let dev = kind == Kind::Dev && house.dev.rooms.contains(&name);
                if !down && !dev {
                    let what = format!("the arrow {room} -> {name} is not allowed");
                    violations.push(arrow(
                        &file,
                        line,
                        what,
                        format!("use a room below, or move the code; {ARROWS_FILE} lists the allowed arrows"),
                    ));
                }
            } else {
                let here = house
                    .packages
                    .get(&name)
                    .is_some_and(|it| it.iter().any(|it| it == room || it == ANYWHERE));
                let dev = kind == Kind::Dev && house.test_packages.anywhere.contains(&name);
                if !here && !dev {
                    let what = format!("the package {name} may not appear in {room}");
                    violations.push(arrow(
                        &file,
                        line,
                        what,
                        format!(
                            "use the package only in rooms for which {ARROWS_FILE} lists it, or do without"
                        ),
                    ));
                }
            }
        }
    }
}

fn arrow(file: &str, line: usize, what: String, fix: String) -> Violation {
    Violation {
        file: file.to_string(),
        line,
        check: "arrows",
        what,
        why: "crates are understood from the bottom up, and each new arrow (dependency) makes that harder"
            .into(),
        fix,
    }
}

/// Checks that the rooms of `arrows.toml` are exactly the folders of crates, and that its arrows form no cycle.
pub(super) fn rooms_exist(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let house = &checkout.house;
    let folders: BTreeSet<&str> =
        checkout.tree.room_folders().iter().map(|it| it.rsplit('/').next().unwrap_or(it)).collect();
    for room in house.arrows.keys().filter(|it| !folders.contains(it.as_str())) {
        let what = format!("the room {room} has no folder");
        violations.push(arrow(ARROWS_FILE, 1, what, "remove the room, or make crates/<room>".to_string()));
    }
    for folder in folders.iter().filter(|it| !house.arrows.contains_key(**it)) {
        let what = format!("the folder of {folder} is not listed as a room");
        violations.push(arrow(
            ARROWS_FILE,
            1,
            what,
            "name the room with its arrows, or remove the folder".to_string(),
        ));
    }
    for (room, targets) in &house.arrows {
        for target in targets.iter().filter(|it| !house.arrows.contains_key(*it)) {
            let what = format!("the arrow {room} -> {target} leads to no room");
            violations.push(arrow(ARROWS_FILE, 1, what, "remove the arrow".to_string()));
        }
    }
    let graph: BTreeMap<&str, BTreeSet<&str>> = house
        .arrows
        .iter()
        .map(|(room, targets)| (room.as_str(), targets.iter().map(String::as_str).collect()))
        .collect();
    if let Some(cycle) = find_cycle(&graph) {
        let what = format!("the arrows form a cycle: {}", cycle.join(" -> "));
        violations.push(arrow(ARROWS_FILE, 1, what, "remove one of these arrows".to_string()));
    }
}

/// Checks that each room inherits the lints of the workspace. The room with unsafe code may instead have its own
/// lints, if these only lower `unsafe_code` from `forbid` to `deny`.
pub(super) fn lints(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let unsafe_folders = &checkout.house.unsafe_.modules;
    for folder in checkout.tree.room_folders() {
        let file = format!("{folder}/Cargo.toml");
        let Some(table) = checkout.tree.text(&file).and_then(|it| it.parse::<toml::Table>().ok()) else {
            continue;
        };
        let lints = table.get("lints");
        let lint = |name: &str| lints.and_then(|it| it.get("rust")?.get(name)?.as_str());
        let inherits = lints.and_then(|it| it.get("workspace")?.as_bool()) == Some(true);
        let own = unsafe_folders.iter().any(|it| it.starts_with(&format!("{folder}/")))
            && lint("missing_docs") == Some("deny")
            && matches!(lint("unsafe_code"), Some("deny" | "forbid"));
        if !inherits && !own {
            violations.push(Violation {
                file,
                line: 1,
                check: "lints",
                what: "the manifest does not inherit the lints of the workspace".to_string(),
                why: "missing docs and unsafe code are denied in every room".into(),
                fix: "add `[lints]` with `workspace = true`".to_string(),
            });
        }
    }
}

/// Returns a cycle of the graph as a path that ends where it starts; `None` if there is no cycle. The path starts at
/// the first node, in text order, that is on a cycle.
pub(super) fn find_cycle<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    for &start in graph.keys() {
        // Breadth first from the start back to itself, so that the cycle shown is a short one.
        let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = vec![start];
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            for &target in graph.get(node).into_iter().flatten() {
                if target == start {
                    let mut path = vec![start, node];
                    let mut at = node;
                    while at != start {
                        at = came_from.get(at).copied().unwrap_or(start);
                        path.push(at);
                    }
                    if node == start {
                        path.truncate(2);
                    }
                    path.reverse();
                    return Some(path);
                }
                if !came_from.contains_key(target) {
                    came_from.insert(target, node);
                    queue.push(target);
                }
            }
        }
    }
    None
}

/// Returns the dependency graph of the rooms as text: for each room, a line with the rooms that its manifest names.
pub(super) fn picture(checkout: &Checkout) -> String {
    let mut out = String::new();
    let (mut rooms, mut n_arrows) = (0, 0);
    for folder in checkout.tree.room_folders() {
        let room = folder.rsplit('/').next().unwrap_or(folder);
        let manifest = checkout.tree.text(&format!("{folder}/Cargo.toml")).unwrap_or_default();
        let targets: Vec<String> = dependencies(manifest)
            .unwrap_or_default()
            .into_iter()
            .filter(|it| it.kind == Kind::Product && checkout.house.arrows.contains_key(&it.name))
            .map(|it| it.name)
            .collect();
        rooms += 1;
        n_arrows += targets.len();
        let _ = writeln!(
            out,
            "{room:12} -> {}",
            if targets.is_empty() { "-".into() } else { targets.join(", ") }
        );
    }
    let _ = writeln!(out, "{rooms} rooms, {n_arrows} arrows");
    out
}
