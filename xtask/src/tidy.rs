//! Checks of the structure of the code base. Each check is a pure function from the files of the checkout to
//! violations, so each has tests in which a small bad checkout makes the check fail. The file `arrows.toml` lists
//! what is allowed.

mod citations;
mod docs;
mod effects;
mod files;
mod house;
mod marks;
mod methods;
mod modules;
mod papers;
mod phrases;
mod prose;
mod queries;
mod size;
mod source;
#[cfg(test)]
mod tests;
mod tree;
mod unused;
mod uses;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use house::House;
use source::Sources;
use tree::Tree;
use uses::Crate;

/// A violation of a rule: the place, what is wrong, why the rule exists, and what to do.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    file: String,
    line: usize,
    check: &'static str,
    what: String,
    why: Cow<'static, str>,
    fix: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { file, line, check, what, why, fix } = self;
        write!(f, "{file}:{line}: [{check}] {what}\n    why: {why}\n    do:  {fix}")
    }
}

/// The data that checks read.
struct Checkout {
    tree: Tree,
    house: House,
    sources: Sources,
    crates: Vec<Crate>,
}

impl Checkout {
    fn new(tree: Tree) -> Result<Checkout> {
        let house = House::read(&tree)?;
        let sources = Sources::read(&tree);
        let crates = uses::crates(&house, &sources);
        Ok(Checkout { tree, house, sources, crates })
    }
}

type Check = fn(&Checkout, &mut Vec<Violation>);

const CHECKS: &[Check] = &[
    house::arrows,
    house::rooms_exist,
    house::lints,
    modules::every_file_is_reached,
    modules::no_cycles,
    files::calls_go_one_way,
    files::types,
    files::dependencies,
    effects::effects,
    effects::unsafe_code,
    docs::module_docs,
    citations::citations,
    phrases::phrases,
    queries::query_headings,
    queries::query_keys,
    size::files,
    size::functions,
    unused::public_items,
    marks::fixme_form,
    marks::no_ignored_tests,
    marks::one_file_reads_the_tier,
    marks::machine_paths,
    papers::architecture,
    papers::lengths,
    papers::paths_exist,
    papers::modules_exist,
    papers::licences,
    papers::schemas,
    papers::snapshots,
];

/// Runs all checks on the checkout at `root`. Prints violations to stderr, and fails if there are any.
pub(crate) fn run(root: &Path) -> Result<()> {
    let checkout = Checkout::new(Tree::read(root)?)?;
    let violations = check(&checkout);
    for violation in &violations {
        eprintln!("{violation}");
    }
    if !violations.is_empty() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for violation in &violations {
            *counts.entry(violation.check).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(check, n)| format!("{check} {n}")).collect();
        bail!("tidy found {} violations ({})", violations.len(), counts.join(", "));
    }
    println!(
        "tidy: {} rooms, {} Rust files, {} checks",
        checkout.house.rooms().len(),
        checkout.sources.files.len(),
        CHECKS.len()
    );
    Ok(())
}

/// Prints each room (crate) with the rooms on which it depends according to its manifest.
pub(crate) fn print_arrows(root: &Path) -> Result<()> {
    print!("{}", house::picture(&Checkout::new(Tree::read(root)?)?));
    Ok(())
}

/// Prints the tracked queries, each with its key, place and first line of documentation: first the queries about one
/// class, then those about the program.
pub(crate) fn print_queries(root: &Path) -> Result<()> {
    print!("{}", queries::list(&Checkout::new(Tree::read(root)?)?));
    Ok(())
}

/// Prints, for each file of a room, the files of the room that it uses by paths or by method calls.
pub(crate) fn print_uses(root: &Path, room: &str) -> Result<()> {
    print!("{}", uses::list(&Checkout::new(Tree::read(root)?)?, room));
    Ok(())
}

fn check(checkout: &Checkout) -> Vec<Violation> {
    let mut violations = Vec::new();
    for check in CHECKS {
        check(checkout, &mut violations);
    }
    let mut kept = checkout.house.apply_allow_list(violations);
    kept.sort();
    kept
}
