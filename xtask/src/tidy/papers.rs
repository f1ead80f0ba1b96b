//! Checks of the files beside the code: ARCHITECTURE.md, README.md, pages, licences, schemas and snapshots.

use std::collections::BTreeSet;

use super::{Checkout, Violation};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// Checks that the headings `### room` of ARCHITECTURE.md name exactly the rooms.
pub(super) fn architecture(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let rooms: BTreeSet<&str> =
        checkout.tree.room_folders().iter().map(|it| it.rsplit('/').next().unwrap_or(it)).collect();
    let text = checkout.tree.text(ARCHITECTURE).unwrap_or_default();
    let mut named = BTreeSet::new();
    let mut wrong = |line, what: String, fix: &str| {
        violations.push(Violation {
            file: ARCHITECTURE.to_string(),
            line,
            check: "architecture",
            what,
            why: "an overview with missing or outdated sections misleads readers".into(),
            fix: fix.to_string(),
        });
    };
    for (line, heading) in
        text.lines().enumerate().filter_map(|(line, it)| Some((line + 1, it.strip_prefix("### ")?)))
    {
        let room = heading.trim().trim_matches('`');
        if !rooms.contains(room) {
            wrong(
                line,
                format!("`{room}` is not a room"),
                "remove the section, or use another level of heading",
            );
        }
        if !named.insert(room) {
            wrong(line, format!("`{room}` has two sections"), "join them");
        }
    }
    for room in rooms.difference(&named) {
        wrong(1, format!("the room `{room}` has no section"), "write one paragraph below `### room`");
    }
}

/// Checks that every path below `crates`, `xtask`, `test-data` or `.ci` that a page names exists in the repository.
pub(super) fn paths_exist(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for paper in pages(checkout) {
        let text = checkout.tree.text(paper).unwrap_or_default();
        for (line, content) in text.lines().enumerate() {
            let words =
                content.split([' ', '`', '(', ')', ',', ';', ':']).map(|it| it.trim_end_matches(['.', '/']));
            let ours = |it: &&str| {
                ["crates/", "xtask/", "test-data/", ".ci/"].iter().any(|part| it.starts_with(part))
            };
            for path in words.filter(ours) {
                let folder = format!("{path}/");
                if checkout.tree.contains(path) || checkout.tree.paths().any(|it| it.starts_with(&folder)) {
                    continue;
                }
                violations.push(Violation {
                    file: paper.to_string(),
                    line: line + 1,
                    check: "paper-paths",
                    what: format!("the page names {path}, which does not exist"),
                    why: "a reference to something that does not exist misleads readers".into(),
                    fix: "name a file or folder of the repository".to_string(),
                });
            }
        }
    }
}

/// Returns the paths of all pages: ARCHITECTURE.md, README.md and the pages below `docs`.
fn pages(checkout: &Checkout) -> impl Iterator<Item = &str> {
    let is_page = |it: &&str| {
        [ARCHITECTURE, "README.md"].contains(it) || (it.starts_with("docs/") && it.ends_with(".md"))
    };
    checkout.tree.paths().filter(is_page)
}

/// Checks that every module of this repository that a page names between backticks exists. Modules are named as
/// `room::module` or as the end of such a path; the last part may be a function.
pub(super) fn modules_exist(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let mut modules: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut functions: BTreeSet<String> = BTreeSet::new();
    for file in &checkout.sources.files {
        let room = [file.room.replace('-', "_")];
        modules.insert([&room, &*file.module].concat());
        for (module, item) in file.live_items() {
            modules.insert([&room, &*module].concat());
            if let syn::Item::Fn(it) = item {
                functions.insert(it.sig.ident.to_string());
            }
        }
    }
    let names: BTreeSet<&String> = modules.iter().flatten().collect();
    let is_module = |path: &[String]| modules.iter().any(|it| it.ends_with(path));
    for page in pages(checkout) {
        let text = checkout.tree.text(page).unwrap_or_default();
        for (line, content) in text.lines().enumerate() {
            for word in content.split('`').skip(1).step_by(2) {
                let is_lower =
                    |it: &&str| !it.is_empty() && it.chars().all(|it| it.is_ascii_lowercase() || it == '_');
                let path: Vec<String> = word.split("::").take_while(is_lower).map(str::to_string).collect();
                let is_ours = path.len() > 1 && names.contains(&path[0]);
                let known = is_module(&path)
                    || path
                        .split_last()
                        .is_some_and(|(last, path)| functions.contains(last) && is_module(path));
                if is_ours && !known {
                    violations.push(Violation {
                        file: page.to_string(),
                        line: line + 1,
                        check: "paper-modules",
                        what: format!("the page names `{word}`, which is not a module"),
                        why: "a reference to something that does not exist misleads readers".into(),
                        fix: "name the module that contains the item now".to_string(),
                    });
                }
            }
        }
    }
}

/// Checks that ARCHITECTURE.md and README.md do not exceed their limits of lines.
pub(super) fn lengths(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for paper in [ARCHITECTURE, "README.md"] {
        let cap = checkout.house.limit(paper);
        match checkout.tree.text(paper).map(|it| it.lines().count()) {
            Some(lines) if lines <= cap => {}
            found => violations.push(Violation {
                file: paper.to_string(),
                line: 1,
                check: "paper-length",
                what: found.map_or("the file is missing".to_string(), |lines| {
                    format!("the page has {lines} lines, {cap} are allowed")
                }),
                why: "a longer page is not read to its end".into(),
                fix: "shorten the text, or move details to comments in the code".to_string(),
            }),
        }
    }
}

/// Checks that the files of both licences exist.
pub(super) fn licences(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for licence in LICENCES.iter().filter(|it| !checkout.tree.contains(it)) {
        violations.push(Violation {
            file: licence.to_string(),
            line: 1,
            check: "licences",
            what: "the file is missing".to_string(),
            why: "without the text of the licence, the code may not be used".into(),
            fix: "restore the file".to_string(),
        });
    }
}

/// Checks that the files of JSON Schemas are valid JSON.
pub(super) fn schemas(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for (file, text) in checkout.tree.texts() {
        if !file.starts_with("crates/export/schemas/") || !file.ends_with(".json") {
            continue;
        }
        if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
            violations.push(Violation {
                file: file.to_string(),
                line: error.line().max(1),
                check: "schemas",
                what: format!("the file is not JSON: {error}"),
                why: "users validate the output of ajar against the schemas".into(),
                fix: "repair the file".to_string(),
            });
        }
    }
}

/// Checks that every snapshot file names a test file that exists, and that no unaccepted snapshot is left.
pub(super) fn snapshots(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for (file, text) in checkout.tree.texts().filter(|(file, _)| file.ends_with(".snap")) {
        let source =
            text.lines().take(10).find_map(|it| it.strip_prefix("source: ")).map(|it| it.trim_matches('"'));
        let problem = match source {
            None => "it names no source file".to_string(),
            Some(source) if !checkout.tree.contains(source) => format!("its source {source} does not exist"),
            Some(_) => continue,
        };
        violations.push(Violation {
            file: file.to_string(),
            line: 1,
            check: "snapshots",
            what: format!("the snapshot has no test: {problem}"),
            why: "no test compares the snapshot with a result".into(),
            fix: "remove the snapshot, or name the test that writes it".to_string(),
        });
    }
    for file in checkout.tree.paths().filter(|it| it.ends_with(".snap.new")) {
        violations.push(Violation {
            file: file.to_string(),
            line: 1,
            check: "snapshots",
            what: "the snapshot was not accepted".to_string(),
            why: "a failed test left this file".into(),
            fix: "accept or remove the snapshot".to_string(),
        });
    }
}
