//! Finds public items that no product code mentions. The compiler reports unused private and `pub(crate)` items, but
//! treats every `pub` item of a library as used. Mentions are found by name, so an unused item is not reported if
//! another item of the same name and kind is used.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{ImplItem, Item, Visibility};

use super::house::ARROWS_FILE;
use super::methods::type_name;
use super::source::{RustFile, is_test};
use super::{Checkout, Violation};

/// The kind of a public item, which determines how code mentions the item; also the kind of a mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A function, which is mentioned as `name(…)`, as `module::name`, or by its bare name where it is imported or
    /// defined.
    Function,
    /// A method, which is mentioned as `.name(…)` or `Type::name`.
    Method,
    /// A type, constant or static, which is mentioned by its name anywhere except in an import.
    Other,
    /// A trait, which is mentioned by its name anywhere, even in an import: code that only calls the trait's methods
    /// names the trait nowhere else.
    Trait,
}

/// A part of a file, given by its first and last token.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: String,
    start: LineColumn,
    end: LineColumn,
}

impl Place {
    fn of(file: &str, tokens: &impl Spanned) -> Place {
        let span = tokens.span();
        Place { file: file.to_string(), start: span.start(), end: span.end() }
    }

    fn contains(&self, mention: &Mention) -> bool {
        self.file == mention.file && self.start <= mention.at && mention.at < self.end
    }
}

/// A public item of a room.
struct Public {
    /// The path of the item: `room::name` or `room::Type::name`.
    path: String,
    name: String,
    kind: Kind,
    line: usize,
    /// The places of the definition and, for a type, of its `impl` blocks. Mentions in these places do not count as
    /// uses.
    places: Vec<Place>,
}

/// A place where product code mentions a name.
struct Mention {
    kind: Kind,
    file: String,
    at: LineColumn,
}

/// Checks that every public item of a product room is mentioned by product code outside its definition.
pub(super) fn public_items(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let excused = &checkout.house.public;
    let mut needed = BTreeSet::new();
    let is_product = |it: &&RustFile| {
        !it.test && it.path.starts_with("crates/") && !checkout.house.dev_rooms().contains(&it.room)
    };
    let files: Vec<&RustFile> = checkout.sources.files.iter().filter(is_product).collect();
    for item in unused(&files) {
        if excused.get(&item.path).is_some_and(|it| !it.trim().is_empty()) {
            needed.insert(item.path);
            continue;
        }
        violations.push(Violation {
            file: item.places[0].file.clone(),
            line: item.line,
            check: "unused-public",
            what: format!("no product code uses the public item `{}`", item.path),
            why: "code without a caller in the product costs maintenance, and its tests protect nothing".into(),
            fix: format!(
                "remove the item, make it `pub(crate)`, move it to the tests, or give a reason in `[public]` of {ARROWS_FILE}"
            ),
        });
    }
    for path in excused.keys().filter(|it| !needed.contains(*it)) {
        violations.push(Violation {
            file: ARROWS_FILE.to_string(),
            line: 1,
            check: "unused-public",
            what: format!("the exception for `{path}` has no reason or no use"),
            why: "an unused exception permits later violations unnoticed".into(),
            fix: "give a reason, or remove the exception from `[public]`".to_string(),
        });
    }
}

/// Returns the public items of a room that product code does not mention, or mentions only in other unused items.
fn unused(files: &[&RustFile]) -> Vec<Public> {
    let mut items = Vec::new();
    for file in files {
        for (_, item) in file.live_items() {
            public_of(file, item, &mut items);
        }
    }
    let mut mentions: BTreeMap<String, Vec<Mention>> = BTreeMap::new();
    for file in files {
        let live = file.live_items();
        let known: BTreeSet<String> = live.iter().flat_map(|(_, it)| names_in_scope(it)).collect();
        for (_, item) in live {
            let mut scan = Scan { file: &file.path, known: &known, found: &mut mentions };
            scan.item(item);
            if let Item::Impl(it) = item
                && let Some(name) = type_name(&it.self_ty, None)
            {
                for public in items.iter_mut().filter(|it| it.name == name && it.kind == Kind::Other) {
                    public.places.push(Place::of(&file.path, it));
                }
            }
        }
    }
    let mut unused: Vec<Public> = Vec::new();
    loop {
        let dead = |mention: &Mention| unused.iter().flat_map(|it| &it.places).any(|it| it.contains(mention));
        let is_used = |item: &Public| {
            mentions.get(&item.name).into_iter().flatten().any(|it| {
                let fits = it.kind == item.kind || (item.kind == Kind::Trait && it.kind == Kind::Other);
                fits && !item.places.iter().any(|place| place.contains(it)) && !dead(it)
            })
        };
        let (used, mut found): (Vec<Public>, Vec<Public>) = items.into_iter().partition(is_used);
        items = used;
        if found.is_empty() {
            return unused;
        }
        unused.append(&mut found);
    }
}

fn public_of(file: &RustFile, item: &Item, found: &mut Vec<Public>) {
    let mut add = |owner: Option<&str>, ident: &syn::Ident, kind, place| {
        let name = ident.to_string();
        let path = match owner {
            Some(owner) => format!("{}::{owner}::{name}", file.room),
            None => format!("{}::{name}", file.room),
        };
        found.push(Public { path, name, kind, line: ident.span().start().line, places: vec![place] });
    };
    let is_public = |it: &Visibility| matches!(it, Visibility::Public(_));
    let place = Place::of(&file.path, item);
    match item {
        Item::Fn(it) if is_public(&it.vis) => add(None, &it.sig.ident, Kind::Function, place),
        Item::Struct(it) if is_public(&it.vis) => add(None, &it.ident, Kind::Other, place),
        Item::Enum(it) if is_public(&it.vis) => add(None, &it.ident, Kind::Other, place),
        Item::Union(it) if is_public(&it.vis) => add(None, &it.ident, Kind::Other, place),
        Item::Const(it) if is_public(&it.vis) => add(None, &it.ident, Kind::Other, place),
        Item::Static(it) if is_public(&it.vis) => add(None, &it.ident, Kind::Other, place),
        Item::Type(it) if is_public(&it.vis) => add(None, &it.ident, Kind::Other, place),
        Item::Trait(it) if is_public(&it.vis) => add(None, &it.ident, Kind::Trait, place),
        Item::Impl(it) if it.trait_.is_none() => {
            let owner = type_name(&it.self_ty, None);
            for item in &it.items {
                let place = Place::of(&file.path, item);
                match item {
                    ImplItem::Fn(it) if is_public(&it.vis) && !is_test(&it.attrs) => {
                        add(owner.as_deref(), &it.sig.ident, Kind::Method, place);
                    }
                    ImplItem::Const(it) if is_public(&it.vis) && !is_test(&it.attrs) => {
                        add(owner.as_deref(), &it.ident, Kind::Method, place);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Returns the names that an item defines or imports. In the file of the item, such a name counts as a mention of a
/// function even where it is not called, for example where it is passed as a value.
fn names_in_scope(item: &Item) -> Vec<String> {
    match item {
        Item::Fn(it) => vec![it.sig.ident.to_string()],
        Item::Use(it) => {
            let mut names = Vec::new();
            idents(it.to_token_stream(), &mut |it| names.push(it.to_string()));
            names
        }
        _ => Vec::new(),
    }
}

fn idents(tokens: TokenStream, found: &mut impl FnMut(&proc_macro2::Ident)) {
    for token in tokens {
        match token {
            TokenTree::Ident(it) => found(&it),
            TokenTree::Group(it) => idents(it.stream(), found),
            _ => {}
        }
    }
}

/// Collects the mentions of names in one file.
struct Scan<'a> {
    file: &'a str,
    /// The names that the file defines as functions or imports. They count as mentions of functions even where they
    /// are not called.
    known: &'a BTreeSet<String>,
    found: &'a mut BTreeMap<String, Vec<Mention>>,
}

impl Scan<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            // A re-export is no use. An import is a use of a trait, and of the enum before `::*`.
            Item::Use(it) if matches!(it.vis, Visibility::Inherited) => self.import(&it.tree, it.tree.span()),
            Item::Use(_) => {}
            Item::Impl(it) => {
                // An implementation of a trait is no use of the trait.
                let head = [it.generics.to_token_stream(), it.self_ty.to_token_stream()];
                let attributes = it.attrs.iter().map(ToTokens::to_token_stream);
                let where_ = it.generics.where_clause.to_token_stream();
                let items = it.items.iter().filter(|it| !is_test_item(it)).map(ToTokens::to_token_stream);
                for tokens in attributes.chain(head).chain([where_]).chain(items) {
                    self.tokens(tokens, false);
                }
            }
            _ => self.tokens(item.to_token_stream(), false),
        }
    }

    fn import(&mut self, tree: &syn::UseTree, span: Span) {
        match tree {
            syn::UseTree::Path(it) => {
                if starts_upper(&it.ident.to_string()) {
                    self.add(&it.ident.to_string(), Kind::Other, span);
                }
                self.import(&it.tree, span);
            }
            syn::UseTree::Name(it) => self.add(&it.ident.to_string(), Kind::Trait, span),
            syn::UseTree::Rename(it) => {
                for kind in [Kind::Function, Kind::Other] {
                    self.add(&it.ident.to_string(), kind, span);
                }
            }
            syn::UseTree::Glob(_) => {}
            syn::UseTree::Group(it) => it.items.iter().for_each(|it| self.import(it, span)),
        }
    }

    fn add(&mut self, name: &str, kind: Kind, span: Span) {
        let name = name.trim_start_matches("r#").to_string();
        self.found.entry(name).or_default().push(Mention {
            kind,
            file: self.file.to_string(),
            at: span.start(),
        });
    }

    fn tokens(&mut self, tokens: TokenStream, attribute: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let punct = |at: Option<usize>, c: char| {
            at.and_then(|it| tokens.get(it))
                .is_some_and(|it| matches!(it, TokenTree::Punct(it) if it.as_char() == c))
        };
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(it) => {
                    let attribute = attribute || punct(at.checked_sub(1), '#');
                    self.tokens(it.stream(), attribute);
                }
                // `#[serde(default = "name")]`.
                TokenTree::Literal(it) if attribute && !is_doc(&tokens) => {
                    let text = it.to_string();
                    let name = text.trim_matches('"').rsplit("::").next().unwrap_or_default().to_string();
                    for kind in [Kind::Function, Kind::Method] {
                        self.add(&name, kind, it.span());
                    }
                }
                TokenTree::Ident(it) => {
                    let name = it.to_string();
                    self.add(&name, Kind::Other, it.span());
                    let is_definition =
                        at > 0 && matches!(&tokens[at - 1], TokenTree::Ident(it) if it == "fn");
                    if is_definition {
                        continue;
                    }
                    let turbofish = punct(Some(at + 1), ':') && punct(Some(at + 3), '<');
                    let called = turbofish
                        || matches!(tokens.get(at + 1), Some(TokenTree::Group(it)) if it.delimiter() == proc_macro2::Delimiter::Parenthesis);
                    let leads_on = punct(Some(at + 1), ':') && punct(Some(at + 2), ':') && !turbofish;
                    let after_dot = punct(at.checked_sub(1), '.') && !punct(at.checked_sub(2), '.');
                    let after_path = punct(at.checked_sub(1), ':') && punct(at.checked_sub(2), ':');
                    let before_path = at.checked_sub(3).map(|it| &tokens[it]);
                    let kind = match before_path {
                        _ if leads_on => None,
                        _ if after_dot => called.then_some(Kind::Method),
                        Some(TokenTree::Ident(before))
                            if after_path && !starts_upper(&before.to_string()) =>
                        {
                            Some(Kind::Function)
                        }
                        _ if after_path => Some(Kind::Method),
                        _ => (called || self.known.contains(&name)).then_some(Kind::Function),
                    };
                    if let Some(kind) = kind {
                        self.add(&name, kind, it.span());
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns whether these are the tokens of an attribute `doc = "…"`, which is how doc comments are parsed.
fn is_doc(attribute: &[TokenTree]) -> bool {
    matches!(attribute.first(), Some(TokenTree::Ident(it)) if it == "doc")
}

fn is_test_item(item: &ImplItem) -> bool {
    match item {
        ImplItem::Fn(it) => is_test(&it.attrs),
        ImplItem::Const(it) => is_test(&it.attrs),
        _ => false,
    }
}

fn starts_upper(name: &str) -> bool {
    name.starts_with(|it: char| it.is_uppercase())
}
