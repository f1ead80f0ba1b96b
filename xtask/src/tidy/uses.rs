//! Finds which module of a crate uses which other module: by a path, or by a call of a method that the other module
//! defines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use quote::ToTokens;

use super::Checkout;
use super::house::House;
use super::methods::{Methods, Module};
use super::source::{RustFile, Sources, mentions};

/// The product code of one crate.
pub(super) struct Crate {
    pub(super) room: String,
    pub(super) methods: Methods,
    /// The places where a module of the crate uses another module, in source order.
    pub(super) uses: Vec<Use>,
    /// The files of the modules; inline modules have no entry of their own.
    files: BTreeMap<Module, String>,
}

/// A place where one module of a crate uses another.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) from: Module,
    pub(super) to: Module,
    pub(super) file: String,
    pub(super) line: usize,
    /// The called method, as `Type::name`; `None` if the module is not used by a call but named by a path.
    pub(super) call: Option<String>,
    /// Whether the called method only reads or writes a field, or is a constructor of its type.
    pub(super) accessor: bool,
}

/// Reads the product code of all crates of a checkout, and finds which modules use each other.
pub(super) fn crates(house: &House, sources: &Sources) -> Vec<Crate> {
    let mut by_root: BTreeMap<&str, Vec<&RustFile>> = BTreeMap::new();
    for file in sources.files.iter().filter(|it| !it.test) {
        by_root.entry(&file.root).or_default().push(file);
    }
    let methods: BTreeMap<&str, Methods> =
        by_root.iter().map(|(root, it)| (*root, Methods::read(it))).collect();
    let mut names: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (root, files) in &by_root {
        names.entry(&files[0].room).or_default().extend(methods[root].names());
    }
    methods
        .into_iter()
        .map(|(root, methods)| {
            let files = &by_root[root];
            let room = files[0].room.as_str();
            let below = below(house, room);
            let others: BTreeSet<String> =
                below.iter().filter_map(|it| names.get(it.as_str())).flatten().cloned().collect();
            let mut modules: BTreeSet<Module> = BTreeSet::new();
            for file in files {
                modules.insert(file.module.clone());
                modules.extend(file.live_items().into_iter().map(|(module, _)| module));
            }
            let uses = files.iter().flat_map(|it| uses(it, &modules, &methods, &others)).collect();
            let files = files.iter().map(|it| (it.module.clone(), it.path.clone())).collect();
            Crate { room: room.to_string(), methods, uses, files }
        })
        .collect()
}

impl Crate {
    /// Returns the file that contains a module.
    pub(super) fn file(&self, module: &Module) -> Option<&str> {
        (0..=module.len()).rev().find_map(|n| self.files.get(&module[..n])).map(String::as_str)
    }
}

/// Returns the uses between the files of a room as text: for each file, the files that it uses, with the number of
/// paths and the called methods.
pub(super) fn list(checkout: &Checkout, room: &str) -> String {
    let mut out = String::new();
    for crate_ in checkout.crates.iter().filter(|it| it.room == room) {
        let mut pairs: BTreeMap<(&str, &str), (usize, BTreeSet<&str>)> = BTreeMap::new();
        for use_ in &crate_.uses {
            if let Some(to) = crate_.file(&use_.to).filter(|it| *it != use_.file) {
                let pair = pairs.entry((&use_.file, to)).or_default();
                match &use_.call {
                    Some(call) => {
                        pair.1.insert(call);
                    }
                    None => pair.0 += 1,
                }
            }
        }
        let mut last = "";
        for ((from, to), (paths, calls)) in pairs {
            if from != last {
                _ = writeln!(out, "{from}");
                last = from;
            }
            let calls: Vec<&str> = calls.into_iter().collect();
            _ = writeln!(out, "    {to}: {paths} paths; calls: {}", calls.join(", "));
        }
    }
    out
}

/// Returns the rooms on which a room may depend, directly or through other rooms.
fn below(house: &House, room: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut queue = vec![room.to_string()];
    while let Some(room) = queue.pop() {
        for target in house.arrows_of(&room) {
            if found.insert(target.clone()) {
                queue.push(target.clone());
            }
        }
    }
    found
}

fn uses(
    file: &RustFile,
    modules: &BTreeSet<Module>,
    methods: &Methods,
    others: &BTreeSet<String>,
) -> Vec<Use> {
    let mut found = Vec::new();
    for (module, item) in file.live_items() {
        for mention in mentions(item.to_token_stream()) {
            if let Some(to) = resolve(&mention.path, &module, modules) {
                found.push(Use {
                    from: module.clone(),
                    to,
                    file: file.path.clone(),
                    line: mention.line,
                    call: None,
                    accessor: false,
                });
            }
        }
    }
    for call in methods.calls(file, others) {
        found.push(Use {
            from: call.module,
            to: call.method.module.clone(),
            file: file.path.clone(),
            line: call.line,
            call: Some(format!("{}::{}", call.method.owner, call.method.name)),
            accessor: call.method.accessor,
        });
    }
    found.retain(|it| it.from != it.to);
    found
}

/// Returns the innermost module that a path leads into, where the path is written in the module `module`. `None` if
/// the path does not start with `crate`, `super`, `self` or the name of a child module. `known` are all modules of
/// the crate.
fn resolve(path: &[String], module: &[String], known: &BTreeSet<Module>) -> Option<Module> {
    let mut rest = path;
    let mut at: Module = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        first if known.contains([module, &[first.to_string()]].concat().as_slice()) => module.to_vec(),
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
