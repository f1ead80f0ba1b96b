//! Checks that files and functions do not exceed the limits of lines in `arrows.toml`.

use syn::visit::{self, Visit};

use super::{Checkout, Violation};

/// The beginning of the comment that permits a long function, because it is an exhaustive match.
const LONG_MATCH: &str = "// long match:";

/// Checks that no Rust file has more lines than allowed.
pub(super) fn files(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let cap = checkout.house.limit("file");
    for file in &checkout.sources.files {
        let lines = checkout.tree.text(&file.path).unwrap_or_default().lines().count();
        if lines > cap {
            violations.push(Violation {
                file: file.path.clone(),
                line: cap + 1,
                check: "file-size",
                what: format!("the file has {lines} lines, {cap} are allowed"),
                why: "a longer file is hard to review".into(),
                fix: "split the file by topic, for example where its documentation needs the word `and`"
                    .to_string(),
            });
        }
    }
}

/// Checks that no function has more lines than allowed, except for a function whose comment permits this because it
/// is an exhaustive match.
pub(super) fn functions(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let cap = checkout.house.limit("function");
    for file in &checkout.sources.files {
        let text: Vec<&str> = checkout.tree.text(&file.path).unwrap_or_default().lines().collect();
        let mut functions = Spans(Vec::new());
        functions.visit_file(&file.ast);
        for Span { name, start, end } in functions.0 {
            let lines = end + 1 - start;
            if lines > cap && !is_marked(&text, start, end) {
                violations.push(Violation {
                    file: file.path.clone(),
                    line: start,
                    check: "function-size",
                    what: format!("`{name}` has {lines} lines, {cap} are allowed"),
                    why: "a longer function is hard to read".into(),
                    fix: format!(
                        "move parts of the function to other functions, or mark one exhaustive match with `{LONG_MATCH} why`"
                    ),
                });
            }
        }
    }
}

/// Returns whether the function in these lines has the comment that permits a long function ([`LONG_MATCH`]): above
/// the function, among its comments and attributes, or directly above a `match` in it.
fn is_marked(text: &[&str], start: usize, end: usize) -> bool {
    let marked = |line: &str| {
        line.trim_start().strip_prefix(LONG_MATCH).is_some_and(|reason| !reason.trim().is_empty())
    };
    let head = text[..(start - 1).min(text.len())]
        .iter()
        .rev()
        .take_while(|it| it.trim_start().starts_with("//") || it.trim_start().starts_with('#'));
    let body = text[(start - 1).min(text.len())..end.min(text.len())].windows(2);
    head.into_iter().any(|it| marked(it))
        || body.into_iter().any(|it| marked(it[0]) && it[1].contains("match "))
}

struct Span {
    name: String,
    start: usize,
    end: usize,
}

struct Spans(Vec<Span>);

impl Spans {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        self.0.push(Span {
            name: signature.ident.to_string(),
            start: signature.fn_token.span.start().line,
            end: block.brace_token.span.close().end().line,
        });
    }
}

impl<'ast> Visit<'ast> for Spans {
    fn visit_item_fn(&mut self, it: &'ast syn::ItemFn) {
        self.add(&it.sig, &it.block);
        visit::visit_item_fn(self, it);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.add(&it.sig, &it.block);
        visit::visit_impl_item_fn(self, it);
    }

    fn visit_trait_item_fn(&mut self, it: &'ast syn::TraitItemFn) {
        if let Some(block) = &it.default {
            self.add(&it.sig, block);
        }
        visit::visit_trait_item_fn(self, it);
    }
}
