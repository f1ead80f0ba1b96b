//! Checks of the dependencies between the files of a crate: method calls between a file and the files of its child
//! modules go one way only; a type has few methods, in few files; and in certain rooms, a file depends on few others.

use std::collections::{BTreeMap, BTreeSet};

use super::house::ARROWS_FILE;
use super::uses::{Crate, Use};
use super::{Checkout, Violation};

/// Checks pairs of files of which the module of one is below that of the other in the module tree: they must not call
/// each other's methods. Constructors, and methods that only read or write a field, are ignored. ([`super::modules`]
/// checks the other pairs of modules.)
pub(super) fn calls_go_one_way(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for crate_ in checkout.crates.iter().filter(|it| !checkout.house.is_recursive(&it.room)) {
        let mut calls: BTreeMap<(&str, &str), &Use> = BTreeMap::new();
        for use_ in crate_.uses.iter().filter(|it| it.call.is_some() && !it.accessor) {
            if let Some(target) = crate_.file(&use_.to) {
                calls.entry((&use_.file, target)).or_insert(use_);
            }
        }
        for ((from, to), up) in &calls {
            let Some(down) = calls.get(&(*to, *from)) else { continue };
            // The file below reports.
            if up.from.len() <= up.to.len() || !up.from.starts_with(&up.to) {
                continue;
            }
            let (up_call, down_call) = (up.call.as_deref().unwrap_or(""), down.call.as_deref().unwrap_or(""));
            violations.push(Violation {
                file: from.to_string(),
                line: up.line,
                check: "call-cycle",
                what: format!(
                    "this file calls `{up_call}` of {to}, which calls `{down_call}` of this file (line {})",
                    down.line
                ),
                why: "neither of two files that call each other can be read or tested alone".into(),
                fix: "move what both call into a file of its own below, or pass values instead".to_string(),
            });
        }
    }
}

/// Checks that no type has more methods, or methods in more files, than `arrows.toml` allows.
pub(super) fn types(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let (most_methods, most_files) = (checkout.house.limit("methods"), checkout.house.limit("impl-files"));
    for crate_ in checkout.crates.iter().filter(|it| !checkout.house.is_recursive(&it.room)) {
        // Private types of two files may have the same name.
        let mut types: BTreeMap<String, BTreeMap<&str, (usize, usize)>> = BTreeMap::new();
        for method in crate_.methods.inherent() {
            let files = types.entry(method.owner.clone()).or_default();
            let place = files.entry(&method.file).or_insert((method.line, 0));
            place.1 += 1;
        }
        for (ty, files) in types {
            let count: usize = files.values().map(|it| it.1).sum();
            let Some((file, (line, _))) = files.iter().max_by_key(|it| it.1.1) else { continue };
            let mut too_many = |what: String, fix: &str| {
                violations.push(Violation {
                    file: file.to_string(),
                    line: *line,
                    check: "type-size",
                    what,
                    why: "a large type hides which methods depend on which fields".into(),
                    fix: fix.to_string(),
                });
            };
            if count > most_methods {
                too_many(
                    format!("`{ty}` has {count} methods, {most_methods} allowed"),
                    "split the type by what changes together, or make functions of methods that use few fields",
                );
            }
            if files.len() > most_files {
                let list: Vec<String> = files.iter().map(|(file, it)| format!("{file} ({})", it.1)).collect();
                too_many(
                    format!(
                        "the methods of `{ty}` are in {} files, {most_files} allowed: {}",
                        files.len(),
                        list.join(", ")
                    ),
                    "give each task a type or functions of its own, which take what they read as arguments",
                );
            }
        }
    }
}

/// Checks the files of the rooms that `arrows.toml` lists in `[few-dependencies]`: no file may depend, by paths or
/// method calls, on more files of its room than the limit allows. `arrows.toml` also lists the files of data (types
/// with accessors) and of the database; dependencies on these are not counted. A file of data may use only files of
/// data.
pub(super) fn dependencies(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let most = checkout.house.limit("file-dependencies");
    let few = &checkout.house.few_dependencies;
    for file in few.data.iter().chain(&few.database).filter(|it| !checkout.tree.contains(it)) {
        violations.push(Violation {
            file: ARROWS_FILE.to_string(),
            line: 1,
            check: "file-dependencies",
            what: format!("the listed file {file} does not exist"),
            why: "an unused exception permits later violations unnoticed".into(),
            fix: "remove the file from the list".to_string(),
        });
    }
    for crate_ in &checkout.crates {
        if !few.rooms.contains(&crate_.room) {
            continue;
        }
        for (file, mut others) in dependencies_of(crate_) {
            let is_module_root = |it: &str| it.ends_with("/mod.rs") && is_above(it, file);
            others.retain(|it| !few.data.iter().any(|data| data == it) && !is_module_root(it));
            if few.data.iter().any(|it| it == file) {
                for other in others {
                    violations.push(Violation {
                        file: file.to_string(),
                        line: 1,
                        check: "file-dependencies",
                        what: format!("this is a file of data, but it uses {other}, which is not a file of data"),
                        why: "data modules never use logic modules: a reader of the data would have to read the logic too".into(),
                        fix: "move the used items to a file of data, or their uses out of this file".to_string(),
                    });
                }
                continue;
            }
            others.retain(|it| !few.database.iter().any(|database| database == it));
            if others.len() > most {
                let list: Vec<&str> = others.into_iter().collect();
                violations.push(Violation {
                    file: file.to_string(),
                    line: 1,
                    check: "file-dependencies",
                    what: format!(
                        "the file depends on {} other files, {most} allowed: {}",
                        list.len(),
                        list.join(", ")
                    ),
                    why: "a file is understood only together with every file that it depends on".into(),
                    fix: "pass values instead, or split the file by what it depends on".to_string(),
                });
            }
        }
    }
}

/// Returns whether `module` is the `mod.rs` of a folder that contains the file. Visibilities such as `pub(in …)` name
/// such a module, so a dependency on it is not counted.
fn is_above(module: &str, file: &str) -> bool {
    module.strip_suffix("mod.rs").is_some_and(|folder| file.starts_with(folder))
}

/// Returns, for each file of a crate, the other files of the crate that it uses.
fn dependencies_of(crate_: &Crate) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for use_ in &crate_.uses {
        if let Some(to) = crate_.file(&use_.to).filter(|it| *it != use_.file) {
            found.entry(&use_.file).or_default().insert(to);
        }
    }
    found
}
