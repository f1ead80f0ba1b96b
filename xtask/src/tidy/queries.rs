//! Checks of the tracked queries: each documents how it behaves under edits, and only listed queries depend on more
//! than one class.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FnArg, Lit, Meta};

use super::house::ARROWS_FILE;
use super::{Checkout, Violation};

/// The headings that the doc comment of each tracked function must have.
const HEADINGS: [&str; 5] = ["Reads", "Stays when", "Cost", "Approximates", "Test"];

/// A salsa-tracked function.
struct Query {
    name: String,
    /// The types of the function's parameters after the database, such as `ClassFile`.
    key: String,
    file: String,
    line: usize,
    doc: String,
}

/// The tracked functions of a file, and the names of its tests.
#[derive(Default)]
struct Functions {
    file: String,
    /// The type whose `impl` block is being read; `None` outside `impl` blocks.
    self_type: Option<String>,
    tests: Vec<String>,
    queries: Vec<Query>,
}

/// Returns the salsa-tracked functions of product code, sorted by file and line.
fn queries(checkout: &Checkout) -> Vec<Query> {
    let mut found = Vec::new();
    for file in checkout.sources.files.iter().filter(|it| !it.test) {
        let mut functions = Functions { file: file.path.clone(), ..Functions::default() };
        functions.visit_file(&file.ast);
        found.append(&mut functions.queries);
    }
    found.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    found
}

/// Returns the list of salsa queries as text: first the queries about one class, then those about the program.
pub(super) fn list(checkout: &Checkout) -> String {
    let (class, program): (Vec<Query>, Vec<Query>) =
        queries(checkout).into_iter().partition(|it| is_of_one_class(checkout, it));
    let mut out = String::new();
    for (title, queries) in [("about one class", class), ("about the program", program)] {
        _ = writeln!(out, "{title}: {}", queries.len());
        for Query { name, key, file, line, doc } in &queries {
            let first = doc.lines().next().unwrap_or_default().trim();
            _ = writeln!(out, "  {name}({key})  {file}:{line}\n      {first}");
        }
    }
    out
}

fn is_of_one_class(checkout: &Checkout, query: &Query) -> bool {
    query.key.split(", ").all(|it| checkout.house.queries.class_keys.iter().any(|key| key == it))
}

/// Checks that the key of each salsa query is one class, or that the query is listed in `arrows.toml`. Also checks
/// that each listed query exists.
pub(super) fn query_keys(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let whole = &checkout.house.queries.whole;
    let mut unused: BTreeSet<&str> = whole.iter().map(String::as_str).collect();
    for query in queries(checkout).iter().filter(|it| !is_of_one_class(checkout, it)) {
        if unused.remove(query.name.as_str()) || whole.contains(&query.name) {
            continue;
        }
        violations.push(Violation {
            file: query.file.clone(),
            line: query.line,
            check: "query-keys",
            what: format!("the query `{}({})` is about more than one class", query.name, query.key),
            why: "an edit of any class recomputes and compares the value of the query as a whole".into(),
            fix: format!(
                "make this a query about one class, or list the query in `[queries] whole` of {ARROWS_FILE}"
            ),
        });
    }
    for name in unused {
        violations.push(Violation {
            file: ARROWS_FILE.to_string(),
            line: 1,
            check: "query-keys",
            what: format!("no query `{name}` is about more than one class"),
            why: "an unused exception permits later violations unnoticed".into(),
            fix: "remove the name from `[queries] whole`".to_string(),
        });
    }
}

/// Checks that the documentation of every query has the headings in [`HEADINGS`], and names existing tests, at least
/// one of them with a mention of the query.
pub(super) fn query_headings(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let tests = tests(checkout);
    for query in queries(checkout) {
        for problem in problems(checkout, &query, &tests) {
            violations.push(Violation {
                file: query.file.clone(),
                line: query.line,
                check: "query-headings",
                what: format!("the query `{}` {problem}", query.name),
                why: "only its documentation tells at which edits a query stops recomputation".into(),
                fix: "write **Reads:**, **Stays when:**, **Cost:**, **Approximates:** and **Test:** `name`"
                    .to_string(),
            });
        }
    }
}

/// For each name of a test, the files that are searched for a mention of the query that it tests: the file of the
/// test, or all files of its test crate.
type Tests<'a> = BTreeMap<String, Vec<&'a str>>;

fn tests(checkout: &Checkout) -> Tests<'_> {
    let mut found = Tests::new();
    for file in &checkout.sources.files {
        let mut functions = Functions::default();
        functions.visit_file(&file.ast);
        let files: Vec<&str> = match test_folder(&file.path) {
            None => vec![&file.path],
            Some(folder) => checkout.tree.paths().filter(|it| it.starts_with(folder)).collect(),
        };
        for test in functions.tests {
            found.entry(test).or_default().extend(&files);
        }
    }
    found
}

/// Returns the folder `crates/room/tests/name/` of the test crate to which a file belongs; `None` if the file is not
/// in such a folder, for example because it is a test crate by itself.
fn test_folder(path: &str) -> Option<&str> {
    let start = path.find("/tests/")? + "/tests/".len();
    path[start..].find('/').map(|it| &path[..=start + it])
}

fn problems(checkout: &Checkout, query: &Query, tests: &Tests<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for heading in HEADINGS {
        let mark = format!("**{heading}:**");
        let Some((_, after)) = query.doc.split_once(&mark) else {
            found.push(format!("has no {mark}"));
            continue;
        };
        let text = after.split("**").next().unwrap_or_default().trim();
        if text.is_empty() {
            found.push(format!("has no text after {mark}"));
        } else if heading == "Test" {
            found.extend(test_problems(checkout, query, text, tests));
        }
    }
    found
}

/// Checks the text after the heading `Test` of a query, and returns the problems found. The text is a list of test
/// names, such as `` `name` (in `room`), `other` ``. Each name must be that of a test, and the files of one of these
/// tests must mention the query.
fn test_problems(checkout: &Checkout, query: &Query, text: &str, tests: &Tests<'_>) -> Vec<String> {
    let in_ticks = text.split('`').skip(1).step_by(2);
    let mut names: Vec<&str> = in_ticks
        .filter(|it| !checkout.house.rooms().contains(it))
        .map(|it| it.rsplit("::").next().unwrap_or(it))
        .collect();
    if names.is_empty() {
        names.push(text.trim_end_matches('.'));
    }
    let mut found: Vec<String> = names
        .iter()
        .filter(|it| !tests.contains_key(**it))
        .map(|it| format!("names the test `{it}`, which does not exist"))
        .collect();
    let mut files = names.iter().filter_map(|it| tests.get(*it)).flatten();
    let is_named = files.any(|it| has_word(checkout.tree.text(it).unwrap_or_default(), &query.name));
    if found.is_empty() && !is_named {
        found.push(format!("names tests, but no file of `{}` mentions the query", names.join("`, `")));
    }
    found
}

fn has_word(text: &str, word: &str) -> bool {
    let letter = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    text.match_indices(word).any(|(at, _)| {
        !letter(text[..at].chars().next_back()) && !letter(text[at + word.len()..].chars().next())
    })
}

impl Functions {
    fn add(&mut self, attributes: &[Attribute], signature: &syn::Signature) {
        let name = signature.ident.to_string();
        if attributes.iter().any(is_tracked) {
            self.queries.push(Query {
                name: name.clone(),
                key: key(signature, self.self_type.as_deref()),
                file: self.file.clone(),
                line: signature.fn_token.span.start().line,
                doc: doc(attributes),
            });
        }
        if attributes.iter().any(|it| it.path().is_ident("test")) {
            self.tests.push(name);
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, it: &'ast syn::ItemFn) {
        self.add(&it.attrs, &it.sig);
        visit::visit_item_fn(self, it);
    }

    fn visit_item_impl(&mut self, it: &'ast syn::ItemImpl) {
        let outer = self.self_type.replace(last_name(&it.self_ty));
        visit::visit_item_impl(self, it);
        self.self_type = outer;
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.add(&it.attrs, &it.sig);
        visit::visit_impl_item_fn(self, it);
    }
}

/// Returns the types of the parameters of a query, without the database, joined by commas.
fn key(signature: &syn::Signature, self_type: Option<&str>) -> String {
    let types: Vec<String> = signature
        .inputs
        .iter()
        .filter_map(|it| match it {
            FnArg::Receiver(_) => Some(self_type.unwrap_or("Self").to_string()),
            FnArg::Typed(it) => (!matches!(&*it.ty, syn::Type::Reference(_))).then(|| last_name(&it.ty)),
        })
        .collect();
    types.join(", ")
}

/// Returns the name of a type without its path, and without the lifetimes of interned keys: `ClassFile` for
/// `input::ClassFile`, `LibraryClass` for `LibraryClass<'db>`.
fn last_name(ty: &syn::Type) -> String {
    let is_lifetime = |it: &syn::GenericArgument| matches!(it, syn::GenericArgument::Lifetime(_));
    let is_plain = |it: &syn::PathArguments| match it {
        syn::PathArguments::None => true,
        syn::PathArguments::AngleBracketed(it) => it.args.iter().all(is_lifetime),
        syn::PathArguments::Parenthesized(_) => false,
    };
    match ty {
        syn::Type::Path(it) if it.path.segments.last().is_some_and(|it| is_plain(&it.arguments)) => {
            it.path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default()
        }
        _ => ty.to_token_stream().to_string(),
    }
}

fn is_tracked(attribute: &Attribute) -> bool {
    let path = attribute.path().to_token_stream().to_string().replace(' ', "");
    matches!(path.as_str(), "salsa::tracked" | "tracked")
}

fn doc(attributes: &[Attribute]) -> String {
    let mut doc = String::new();
    for attribute in attributes.iter().filter(|it| it.path().is_ident("doc")) {
        if let Meta::NameValue(meta) = &attribute.meta
            && let Expr::Lit(literal) = &meta.value
            && let Lit::Str(text) = &literal.lit
        {
            doc.push_str(&text.value());
            doc.push('\n');
        }
    }
    doc
}
