//! Reads the Rust files of the rooms (crates): parses each file, finds its place in the module tree of its crate, and
//! separates product code from tests.

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item};

use super::tree::Tree;

pub(super) struct Sources {
    pub(super) files: Vec<RustFile>,
    /// The Rust files that cannot be parsed: path, line and message of the parser.
    pub(super) broken: Vec<(String, usize, String)>,
    /// The paths of files below `src` that no `mod` declaration reaches.
    pub(super) unreached: Vec<String>,
}

pub(super) struct RustFile {
    pub(super) path: String,
    pub(super) room: String,
    /// The path of the root file of the crate: `src/lib.rs`, `src/main.rs` or `tests/x.rs`. Modules of different
    /// roots belong to different crates.
    pub(super) root: String,
    pub(super) module: Vec<String>,
    /// Whether the file is compiled only in tests: it is below a module with the attribute `cfg(test)`, or outside
    /// `src`.
    pub(super) test: bool,
    pub(super) ast: Rc<syn::File>,
}

/// A path as written in the code, such as `crate::a::B` or `std::fs`, with its line. A `use` with a group gives one
/// mention for each path in the group.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

impl Sources {
    pub(super) fn read(tree: &Tree) -> Sources {
        let mut sources = Sources { files: Vec::new(), broken: Vec::new(), unreached: Vec::new() };
        for folder in tree.room_folders() {
            let room = folder.rsplit('/').next().unwrap_or(folder);
            let mut asts: BTreeMap<&str, Rc<syn::File>> = BTreeMap::new();
            for (path, text) in tree.texts() {
                let inside = path.strip_prefix(folder).and_then(|it| it.strip_prefix('/'));
                let code = inside.is_some_and(|it| {
                    ["src/", "tests/", "benches/", "examples/"].iter().any(|part| it.starts_with(part))
                        || it == "build.rs"
                });
                if !code || !path.ends_with(".rs") {
                    continue;
                }
                match syn::parse_file(text) {
                    Ok(ast) => {
                        asts.insert(path, Rc::new(ast));
                    }
                    Err(error) => {
                        sources.broken.push((path.to_string(), error.span().start().line, error.to_string()));
                    }
                }
            }
            sources.place(folder, room, &asts);
        }
        sources
    }

    fn place(&mut self, folder: &str, room: &str, asts: &BTreeMap<&str, Rc<syn::File>>) {
        let mut placed: BTreeMap<String, RustFile> = BTreeMap::new();
        for path in asts.keys() {
            let inside = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
            let product_root = matches!(inside, "src/lib.rs" | "src/main.rs" | "build.rs")
                || inside.strip_prefix("src/bin/").is_some_and(|it| !it.contains('/'));
            let test_root = !inside.starts_with("src/") && inside.matches('/').count() == 1;
            if product_root || test_root {
                let walk = Walk { asts, room, root: path };
                walk.file(path, Vec::new(), test_root, &mut placed);
            }
        }
        let mut files: Vec<RustFile> = Vec::new();
        for path in asts.keys().filter(|it| !placed.contains_key(**it)) {
            let inside = path.strip_prefix(folder).unwrap_or(path);
            if inside.starts_with("/src/") {
                self.unreached.push(path.to_string());
            } else if let Some(ast) = asts.get(path) {
                // A file deeper below `tests`: a fixture or a shared module; checked as test code.
                files.push(new_file(path, room, path, Vec::new(), true, ast.clone()));
            }
        }
        files.extend(placed.into_values());
        self.files.append(&mut files);
    }
}

fn new_file(
    path: &str,
    room: &str,
    root: &str,
    module: Vec<String>,
    test: bool,
    ast: Rc<syn::File>,
) -> RustFile {
    RustFile { path: path.to_string(), room: room.to_string(), root: root.to_string(), module, test, ast }
}

/// Follows the `mod` declarations of one crate from its root file.
struct Walk<'a> {
    asts: &'a BTreeMap<&'a str, Rc<syn::File>>,
    room: &'a str,
    root: &'a str,
}

impl Walk<'_> {
    fn file(&self, path: &str, module: Vec<String>, test: bool, placed: &mut BTreeMap<String, RustFile>) {
        let Some(ast) = self.asts.get(path) else { return };
        // A module reached from two roots, or both in and out of tests, counts as product code.
        if placed.get(path).is_some_and(|it| !it.test || test) {
            return;
        }
        placed.insert(
            path.to_string(),
            new_file(path, self.room, self.root, module.clone(), test, ast.clone()),
        );
        let folder = if path == self.root || path.ends_with("/mod.rs") {
            path.rsplit_once('/').map_or("", |it| it.0).to_string()
        } else {
            path.trim_end_matches(".rs").to_string()
        };
        self.items(&ast.items, &folder, module, test, placed);
    }

    fn items(
        &self,
        items: &[Item],
        folder: &str,
        module: Vec<String>,
        test: bool,
        placed: &mut BTreeMap<String, RustFile>,
    ) {
        for item in items {
            let Item::Mod(item) = item else { continue };
            let name = item.ident.to_string();
            let test = test || is_test(&item.attrs);
            let inner = [module.as_slice(), std::slice::from_ref(&name)].concat();
            match &item.content {
                Some((_, items)) => self.items(items, &format!("{folder}/{name}"), inner, test, placed),
                None => {
                    let file = format!("{folder}/{name}.rs");
                    let below = format!("{folder}/{name}/mod.rs");
                    let path = if self.asts.contains_key(file.as_str()) { file } else { below };
                    self.file(&path, inner, test, placed);
                }
            }
        }
    }
}

impl RustFile {
    /// Returns the items of product code, each with its module. Items of inline modules are included.
    pub(super) fn live_items(&self) -> Vec<(Vec<String>, &Item)> {
        let mut found = Vec::new();
        if !self.test {
            live(&self.ast.items, &self.module, &mut found);
        }
        found
    }
}

fn live<'a>(items: &'a [Item], module: &[String], found: &mut Vec<(Vec<String>, &'a Item)>) {
    for item in items {
        if is_test(attributes(item)) {
            continue;
        }
        match item {
            Item::Mod(inner) => {
                if let Some((_, items)) = &inner.content {
                    live(items, &[module, &[inner.ident.to_string()]].concat(), found);
                }
            }
            _ => found.push((module.to_vec(), item)),
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::ExternCrate(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// Returns whether an item with these attributes is compiled only in tests: by `test`, `cfg(test)` or
/// `cfg(all(test, …))`.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.meta.to_token_stream().to_string().replace(' ', "");
        text == "test" || text == "cfg(test)" || text.starts_with("cfg(all(test,")
    })
}

/// Returns all paths of two or more segments in the tokens, including those in macro calls.
pub(super) fn mentions(tokens: TokenStream) -> Vec<Mention> {
    let mut found = Vec::new();
    scan(&tokens.into_iter().collect::<Vec<_>>(), &mut found);
    found
}

fn scan(tokens: &[TokenTree], found: &mut Vec<Mention>) {
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(_) => at = path(tokens, at, &[], found),
            TokenTree::Group(group) => {
                scan(&group.stream().into_iter().collect::<Vec<_>>(), found);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Reads the path that starts with the identifier at index `at` of the tokens. Adds the path to `found`, with
/// `prefix` in front. Returns the index of the first token after the path.
fn path(tokens: &[TokenTree], mut at: usize, prefix: &[String], found: &mut Vec<Mention>) -> usize {
    let line = tokens[at].span().start().line;
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => {
                path.push(ident.to_string().trim_start_matches("r#").to_string())
            }
            Some(TokenTree::Punct(punct)) if punct.as_char() == '*' => path.push("*".to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                use_group(&inner, &path, found);
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !is_path_separator(tokens, at) {
            break;
        }
        at += 2;
    }
    if path.len() >= 2 {
        found.push(Mention { path, line });
    }
    at
}

/// Reads the paths of a group in a `use`, such as `{a, b::c, d::{e, f}}`. Adds each path to `found`, with `prefix` in
/// front.
fn use_group(tokens: &[TokenTree], prefix: &[String], found: &mut Vec<Mention>) {
    let is_comma = |it: &TokenTree| matches!(it, TokenTree::Punct(punct) if punct.as_char() == ',');
    for part in tokens.split(is_comma).filter(|it| !it.is_empty()) {
        path(part, 0, prefix, found);
    }
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |it: Option<&TokenTree>, spacing: Option<Spacing>| {
        matches!(it, Some(TokenTree::Punct(punct)) if punct.as_char() == ':'
            && spacing.is_none_or(|it| it == punct.spacing()))
    };
    colon(tokens.get(at), Some(Spacing::Joint)) && colon(tokens.get(at + 1), None)
}
