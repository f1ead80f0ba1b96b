//! Every file says what it holds, every query says how it behaves under edits.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Lit, Meta};

use super::{Checkout, Violation};

/// The headings that the doc comment of each tracked function carries.
const HEADINGS: [&str; 5] = ["Reads", "Stays when", "Cost", "Approximates", "Test"];

/// Every Rust file opens with `//!`.
pub(super) fn module_docs(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for file in &checkout.sources.files {
        let first = checkout.tree.text(&file.path).unwrap_or_default().lines().next().unwrap_or_default();
        if first.strip_prefix("//!").is_none_or(|it| it.trim().is_empty()) {
            violations.push(Violation {
                file: file.path.clone(),
                line: 1,
                check: "module-docs",
                what: "does not open with `//!`".to_string(),
                why: "a reader decides by the first lines whether this is the file they need",
                fix: "say what it holds, how it is used, what it must not know".to_string(),
            });
        }
    }
}

/// Every salsa-tracked function has the five headings, and its test exists.
pub(super) fn query_headings(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let mut all = Functions::default();
    for file in &checkout.sources.files {
        all.visit_file(&file.ast);
    }
    for file in checkout.sources.files.iter().filter(|it| !it.test) {
        let mut functions = Functions::default();
        functions.visit_file(&file.ast);
        for query in functions.queries {
            for problem in problems(&query.doc, &all.names) {
                violations.push(Violation {
                    file: file.path.clone(),
                    line: query.line,
                    check: "query-headings",
                    what: format!("the query `{}` {problem}", query.name),
                    why: "whether a query is a barrier is seen from nowhere but its doc",
                    fix:
                        "write **Reads:**, **Stays when:**, **Cost:**, **Approximates:** and **Test:** `name`"
                            .to_string(),
                });
            }
        }
    }
}

fn problems(doc: &str, functions: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for heading in HEADINGS {
        let mark = format!("**{heading}:**");
        let Some((_, after)) = doc.split_once(&mark) else {
            found.push(format!("has no {mark}"));
            continue;
        };
        let text = after.split("**").next().unwrap_or_default().trim();
        if text.is_empty() {
            found.push(format!("says nothing after {mark}"));
        } else if heading == "Test" {
            let test = text.split('`').nth(1).unwrap_or(text).trim_end_matches('.');
            let name = test.rsplit("::").next().unwrap_or(test).trim();
            if !functions.contains(name) {
                found.push(format!("names the test `{name}`, which does not exist"));
            }
        }
    }
    found
}

struct Query {
    name: String,
    line: usize,
    doc: String,
}

/// All functions of a file by name, and the tracked ones.
#[derive(Default)]
struct Functions {
    names: BTreeSet<String>,
    queries: Vec<Query>,
}

impl Functions {
    fn add(&mut self, attributes: &[Attribute], signature: &syn::Signature) {
        let name = signature.ident.to_string();
        if attributes.iter().any(is_tracked) {
            let line = signature.fn_token.span.start().line;
            self.queries.push(Query { name: name.clone(), line, doc: doc(attributes) });
        }
        self.names.insert(name);
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, it: &'ast syn::ItemFn) {
        self.add(&it.attrs, &it.sig);
        visit::visit_item_fn(self, it);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.add(&it.attrs, &it.sig);
        visit::visit_impl_item_fn(self, it);
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
