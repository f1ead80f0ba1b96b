//! Checks that comments, pages and messages use none of the phrases that `arrows.toml` forbids.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

use super::house::ARROWS_FILE;
use super::prose::prose;
use super::{Checkout, Violation};

/// Checks that no comment, page or message of product code has one of the forbidden phrases, ignoring case.
pub(super) fn phrases(checkout: &Checkout, violations: &mut Vec<Violation>) {
    let phrases = &checkout.house.phrases;
    for (file, text) in checkout.tree.texts() {
        if file.starts_with("test-data/") && !file.ends_with(".md") {
            continue;
        }
        for prose in prose(file, text) {
            find(phrases, &prose.text, &mut |at, phrase, instead| {
                violations.push(violation(file, prose.line(at), phrase, instead));
            });
        }
    }
    for file in checkout.sources.files.iter().filter(|it| !it.test) {
        for (_, item) in file.live_items() {
            messages(item.to_token_stream(), &mut |line, text| {
                find(phrases, text, &mut |_, phrase, instead| {
                    violations.push(violation(&file.path, line, phrase, instead));
                });
            });
        }
    }
}

fn violation(file: &str, line: usize, phrase: &str, instead: &str) -> Violation {
    Violation {
        file: file.to_string(),
        line,
        check: "phrases",
        what: format!("the text has the forbidden phrase \"{phrase}\""),
        why: "a sentence must be understood at first reading, by a reader who has not seen this code".into(),
        fix: format!("say {instead}; the phrases are in `[phrases]` of {ARROWS_FILE}"),
    }
}

/// Calls `found` for each occurrence of a forbidden phrase in the text, if the phrase is not part of a longer word.
/// The arguments are the byte offset, the phrase, and what to say instead.
fn find(phrases: &BTreeMap<String, String>, text: &str, found: &mut dyn FnMut(usize, &str, &str)) {
    // `to_lowercase` is not used, because it may change the length.
    let text = text.to_ascii_lowercase();
    let mut matches: Vec<(usize, &str, &str)> = Vec::new();
    for (phrase, instead) in phrases {
        for (at, _) in text.match_indices(phrase.as_str()) {
            let goes_on = |inner: Option<char>, outer: Option<char>| {
                inner.is_some_and(char::is_alphanumeric)
                    && outer.is_some_and(|it| it.is_alphanumeric() || it == '_')
            };
            let before = goes_on(phrase.chars().next(), text[..at].chars().next_back());
            let after = goes_on(phrase.chars().next_back(), text[at + phrase.len()..].chars().next());
            if !before && !after {
                matches.push((at, phrase, instead));
            }
        }
    }
    // Of two phrases at one place, one inside the other, only the longer phrase is reported.
    let is_inside = |a: (usize, &str, &str), b: (usize, &str, &str)| {
        a.1.len() < b.1.len() && b.0 <= a.0 && a.0 + a.1.len() <= b.0 + b.1.len()
    };
    for &it in matches.iter().filter(|it| !matches.iter().any(|other| is_inside(**it, *other))) {
        found(it.0, it.1, it.2);
    }
}

/// Calls `found` with the line and text of each string literal in code. Attributes are skipped, because doc comments
/// are attributes.
fn messages(tokens: TokenStream, found: &mut dyn FnMut(usize, &str)) {
    let mut after_hash = false;
    for token in tokens {
        let is_hash = matches!(&token, TokenTree::Punct(it) if it.as_char() == '#');
        match token {
            TokenTree::Group(it) if it.delimiter() == Delimiter::Bracket && after_hash => {}
            TokenTree::Group(it) => messages(it.stream(), found),
            TokenTree::Literal(it) => {
                let text = it.to_string();
                if text.contains('"') {
                    found(it.span().start().line, &text);
                }
            }
            _ => {}
        }
        after_hash = is_hash;
    }
}
