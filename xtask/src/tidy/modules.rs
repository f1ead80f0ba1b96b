//! Modules of a crate form no cycle: neither the top-level ones nor the children of any module. A module and its
//! own children count as one thing, so a parent may use its child and a child its parent.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;

use super::source::{RustFile, mentions};
use super::{Checkout, Violation, house};

/// Files that do not parse, or that no `mod` line reaches.
pub(super) fn every_file_is_reached(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for (file, line, message) in &checkout.sources.broken {
        violations.push(Violation {
            file: file.clone(),
            line: *line,
            check: "parses",
            what: format!("does not parse: {message}"),
            why: "the checks read the syntax tree".into(),
            fix: "repair the file".to_string(),
        });
    }
    for file in &checkout.sources.unreached {
        violations.push(Violation {
            file: file.clone(),
            line: 1,
            check: "reached",
            what: "no `mod` line reaches this file".to_string(),
            why: "code that is never compiled is never checked".into(),
            fix: "declare the module, or remove the file".to_string(),
        });
    }
}

/// Where one module mentions another: parent of both -> (from, to) -> first place.
type Siblings = BTreeMap<(String, String), BTreeMap<(String, String), (String, usize)>>;

/// No cycle among the modules that share a parent. Tests are left out: they may look from above.
pub(super) fn no_cycles(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let files = &checkout.sources.files;
    let mut modules: BTreeMap<&str, BTreeSet<Vec<String>>> = BTreeMap::new();
    for file in files.iter().filter(|it| !it.test) {
        let known = modules.entry(&file.root).or_default();
        known.insert(file.module.clone());
        known.extend(file.live_items().into_iter().map(|(module, _)| module));
    }
    let mut siblings = Siblings::new();
    for file in files.iter().filter(|it| !it.test) {
        if let Some(known) = modules.get(file.root.as_str()) {
            collect(file, known, &mut siblings);
        }
    }
    for ((_, parent), edges) in &siblings {
        let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, to) in edges.keys() {
            graph.entry(from).or_default().insert(to);
        }
        // Cut one arrow of each cycle found, so that every knot is told and none twice.
        while let Some(cycle) = house::find_cycle(&graph) {
            let (from, to) = (cycle[0], cycle[1]);
            let Some((file, line)) = edges.get(&(from.to_string(), to.to_string())) else { break };
            violations.push(Violation {
                file: file.clone(),
                line: *line,
                check: "module-cycle",
                what: format!("modules below `{parent}` form a cycle: {}", cycle.join(" -> ")),
                why: "modules in a knot can only be read all at once".into(),
                fix: "move what both need into the lowest of them, or into one below".to_string(),
            });
            if let Some(targets) = graph.get_mut(from) {
                targets.remove(to);
            }
        }
    }
}

fn collect(file: &RustFile, known: &BTreeSet<Vec<String>>, siblings: &mut Siblings) {
    for (module, item) in file.live_items() {
        for mention in mentions(item.to_token_stream()) {
            let Some(target) = resolve(&mention.path, &module, known) else { continue };
            let shared = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            // One is above the other: they count as one thing.
            let (Some(from), Some(to)) = (module.get(shared), target.get(shared)) else { continue };
            let parent = if shared == 0 { "crate".to_string() } else { module[..shared].join("::") };
            siblings
                .entry((file.root.clone(), parent))
                .or_default()
                .entry((from.clone(), to.clone()))
                .or_insert_with(|| (file.path.clone(), mention.line));
        }
    }
}

/// The module that a path of `crate`, `super` or `self` leads into, as deep as modules go.
fn resolve(path: &[String], module: &[String], known: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let mut rest = path;
    let mut at: Vec<String> = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return None,
    };
    while let Some((first, tail)) = rest.split_first() {
        match first.as_str() {
            "crate" | "self" => {}
            "super" => {
                at.pop()?;
            }
            _ => break,
        }
        rest = tail;
    }
    for segment in rest {
        at.push(segment.clone());
        if !known.contains(&at) {
            at.pop();
            break;
        }
    }
    Some(at)
}
