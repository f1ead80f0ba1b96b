//! Checks that the uses between sibling modules of a crate form no cycle, neither by paths nor by method calls. A
//! module and its child modules count as one, so a parent may use its child, and a child its parent. (The check of
//! calls between a file and the files of its child modules is in `files`.)

use std::collections::{BTreeMap, BTreeSet};

use super::uses::Use;
use super::{Checkout, Violation, house};

/// Checks that every Rust file can be parsed and is reached by a `mod` declaration.
pub(super) fn every_file_is_reached(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for (file, line, message) in &checkout.sources.broken {
        violations.push(Violation {
            file: file.clone(),
            line: *line,
            check: "parses",
            what: format!("the file cannot be parsed: {message}"),
            why: "the checks need the syntax tree of the file".into(),
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

/// The dependencies between modules with the same parent. For each parent: the pairs of a using and a used child,
/// each with the first place of the use.
type Siblings<'a> = BTreeMap<String, BTreeMap<(String, String), &'a Use>>;

/// Checks that the modules with the same parent do not depend on each other in a cycle, by paths or by method calls.
/// In rooms that `arrows.toml` lists as recursive, calls are ignored. Tests are ignored, because they may use any
/// module.
pub(super) fn no_cycles(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for crate_ in &checkout.crates {
        let mut siblings = Siblings::new();
        let calls_count = !checkout.house.is_recursive(&crate_.room);
        // Paths come first, so that a call is reported only if no path is a use of the same module.
        let calls = crate_.uses.iter().filter(|_| calls_count);
        for use_ in crate_.uses.iter().filter(|it| it.call.is_none()).chain(calls) {
            let shared = use_.from.iter().zip(&use_.to).take_while(|(a, b)| a == b).count();
            // If one module is above the other, both count as one.
            let (Some(from), Some(to)) = (use_.from.get(shared), use_.to.get(shared)) else { continue };
            let parent = if shared == 0 { "crate".to_string() } else { use_.from[..shared].join("::") };
            siblings.entry(parent).or_default().entry((from.clone(), to.clone())).or_insert(use_);
        }
        for (parent, edges) in &siblings {
            cycles(parent, edges, violations);
        }
    }
}

fn cycles(parent: &str, edges: &BTreeMap<(String, String), &Use>, violations: &mut Vec<Violation>) {
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in edges.keys() {
        graph.entry(from).or_default().insert(to);
    }
    // Remove one edge of each cycle found, so that each cycle is reported once.
    while let Some(cycle) = house::find_cycle(&graph) {
        let edge = |from: &str, to: &str| edges.get(&(from.to_string(), to.to_string()));
        let (from, to) = (cycle[0], cycle[1]);
        let Some(first) = edge(from, to) else { break };
        let calls: Vec<String> = cycle
            .windows(2)
            .filter_map(|it| edge(it[0], it[1]))
            .filter_map(|it| Some(format!("{}:{} calls `{}`", it.file, it.line, it.call.as_ref()?)))
            .collect();
        let by_calls = if calls.is_empty() { String::new() } else { format!(" ({})", calls.join(", ")) };
        violations.push(Violation {
            file: first.file.clone(),
            line: first.line,
            check: "module-cycle",
            what: format!("modules below `{parent}` form a cycle: {}{by_calls}", cycle.join(" -> ")),
            why: "modules in a cycle can only be read all together".into(),
            fix: "move what several of them need into the lowest of them, or into a new module below"
                .to_string(),
        });
        if let Some(targets) = graph.get_mut(from) {
            targets.remove(to);
        }
    }
}
