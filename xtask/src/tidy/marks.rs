//! Checks that read the text of files: unfinished work is marked with an issue and a reason, no test is ignored, one
//! file reads the tier of the tests, and no path names a folder of one machine.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use super::{Checkout, Violation};

/// Words that mark unfinished work but give no issue and no reason, so they are not allowed.
const BARE: [&str; 3] = ["TODO", "XXX", "HACK"];
const MARK: &str = "FIXME";

/// Folders of the machine on which the project was written. The literals are split so that the check does not find
/// this line.
const MACHINE: [&str; 2] = [concat!("/wo", "rk/"), concat!("/fa", "rm/")];

/// The environment variable that names the tier of the tests. The literal is split so that the check does not find
/// this line.
const TIER: &str = concat!("AJAR", "_TESTS");
/// The only file that may read the tier of the tests.
const TIER_READER: &str = "crates/test-utils/src/tier.rs";

/// Checks that unfinished work is marked only in the form that has an issue and a reason. Words inside string
/// literals are ignored.
pub(super) fn fixme_form(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for (file, text) in checkout.tree.texts() {
        let code =
            [".rs", ".java", ".toml", ".sh", ".yml"].iter().any(|it| file.ends_with(it)) || file == ".ci/run";
        if !code || file.starts_with("test-data/") {
            continue;
        }
        let literals = if file.ends_with(".rs") { literals(text) } else { Vec::new() };
        for (line, content) in text.lines().enumerate().map(|(at, it)| (at + 1, it)) {
            for word in BARE.iter().chain([&MARK]) {
                for (column, _) in content.match_indices(word) {
                    let rest = &content[column + word.len()..];
                    if !is_word(content, column, word) || in_literal(&literals, content, line, column) {
                        continue;
                    }
                    if *word == MARK && is_explained(rest) {
                        continue;
                    }
                    violations.push(Violation {
                        file: file.to_string(),
                        line,
                        check: "fixme",
                        what: format!("`{word}` is not followed by an issue and a reason"),
                        why: "unfinished work without an issue is never finished".into(),
                        fix: format!("write `{MARK}(#issue): reason`, or finish the work"),
                    });
                }
            }
        }
    }
}

fn is_word(content: &str, column: usize, word: &str) -> bool {
    let letter = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    !letter(content[..column].chars().next_back()) && !letter(content[column + word.len()..].chars().next())
}

/// Returns whether the text after the mark has the form `(#12): reason`.
fn is_explained(rest: &str) -> bool {
    let Some((issue, reason)) = rest.strip_prefix("(#").and_then(|it| it.split_once("):")) else {
        return false;
    };
    !issue.is_empty() && issue.chars().all(|it| it.is_ascii_alphanumeric()) && !reason.trim().is_empty()
}

/// The start and end of a literal that is no doc comment, each as line and column in chars.
type Literal = ((usize, usize), (usize, usize));

fn literals(text: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    if let Ok(tokens) = text.parse::<TokenStream>() {
        let lines: Vec<&str> = text.lines().collect();
        collect_literals(tokens, &lines, &mut found);
    }
    found
}

fn collect_literals(tokens: TokenStream, lines: &[&str], found: &mut Vec<Literal>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_literals(group.stream(), lines, found),
            TokenTree::Literal(literal) => {
                let (start, end) = (literal.span().start(), literal.span().end());
                let first = lines.get(start.line - 1).and_then(|it| it.chars().nth(start.column));
                if first != Some('/') {
                    found.push(((start.line, start.column), (end.line, end.column)));
                }
            }
            _ => {}
        }
    }
}

fn in_literal(literals: &[Literal], content: &str, line: usize, byte: usize) -> bool {
    let column = content[..byte].chars().count();
    literals.iter().any(|(start, end)| *start <= (line, column) && (line, column) < *end)
}

/// Checks that no test is ignored. A test of a known wrong result is to assert that result, with a mark.
pub(super) fn no_ignored_tests(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for file in &checkout.sources.files {
        let mut lines = Vec::new();
        ignored(file.ast.to_token_stream(), &mut lines);
        for line in lines {
            violations.push(Violation {
                file: file.path.clone(),
                line,
                check: "ignored-test",
                what: "the test is ignored".to_string(),
                why: "an ignored test is not run, so faults in it go unnoticed".into(),
                fix: format!("assert the present result, with a {MARK}, or remove the test"),
            });
        }
    }
}

fn ignored(tokens: TokenStream, lines: &mut Vec<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let attribute = at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(it) if it.as_char() == '#');
        let text = group.stream().to_string().replace(' ', "");
        let ignores = text == "ignore"
            || text.starts_with("ignore=")
            || (text.starts_with("cfg_attr(") && (text.contains(",ignore)") || text.contains(",ignore=")));
        if attribute && ignores {
            lines.push(group.span_open().start().line);
        } else {
            ignored(group.stream(), lines);
        }
    }
}

/// Checks that only one file reads the tier of the tests.
pub(super) fn one_file_reads_the_tier(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for (file, text) in checkout.tree.texts().filter(|it| it.0.ends_with(".rs") && it.0 != TIER_READER) {
        for (line, _) in text.lines().enumerate().filter(|it| it.1.contains(TIER)) {
            violations.push(Violation {
                file: file.to_string(),
                line: line + 1,
                check: "tier",
                what: format!("the file names `{TIER}`"),
                why: "the names and meanings of the tiers are defined in one place".into(),
                fix: format!("use the functions of {TIER_READER}"),
            });
        }
    }
}

/// Checks that no file names a folder of the machine on which the project was written.
pub(super) fn machine_paths(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for (file, text) in checkout.tree.texts() {
        for (line, content) in text.lines().enumerate() {
            if let Some(path) = MACHINE.iter().find(|it| content.contains(**it)) {
                violations.push(Violation {
                    file: file.to_string(),
                    line: line + 1,
                    check: "machine-path",
                    what: format!("the file names `{path}`"),
                    why: "the folder exists on one machine only".into(),
                    fix: "write the path from the root of the checkout, or take it as an argument"
                        .to_string(),
                });
            }
        }
    }
}
