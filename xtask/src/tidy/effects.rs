//! Checks where files, threads, clocks, salsa, one-shot code, the keeper and unsafe code may appear. The checks
//! compare names as written, so they do not find what a macro of another crate expands to; the check of arrows
//! excludes such crates.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use super::house::{ARROWS_FILE, Effect};
use super::source::{RustFile, mentions};
use super::{Checkout, Violation};

/// Checks that product code has an effect, such as access to files, only in the rooms and files that `arrows.toml`
/// lists for the effect. Also checks that each listed file has the effect.
pub(super) fn effects(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for effect in &checkout.house.effects {
        let mut unused: Vec<&str> = effect.files.iter().map(String::as_str).collect();
        for file in checkout.sources.files.iter().filter(|it| !it.test && !effect.rooms.contains(&it.room)) {
            let uses = uses(file, effect);
            if effect.files.contains(&file.path) {
                if !uses.is_empty() {
                    unused.retain(|it| *it != file.path);
                }
                continue;
            }
            for (what, line) in uses {
                violations.push(Violation {
                    file: file.path.clone(),
                    line,
                    check: "effects",
                    what: format!("`{what}` may not be used in {} ({})", file.room, effect.name),
                    why: effect.why.clone().into(),
                    fix: effect.instead.clone().unwrap_or_else(|| {
                        format!("pass the value in as an argument, or have this effect only in one of the rooms: {}", effect.rooms.join(", "))
                    }),
                });
            }
        }
        for file in unused {
            violations.push(Violation {
                file: ARROWS_FILE.to_string(),
                line: 1,
                check: "effects",
                what: format!("{file} is exempt, but needs no exemption ({})", effect.name),
                why: "an unused exception permits later violations unnoticed".into(),
                fix: "remove the file from `files` of the effect".to_string(),
            });
        }
    }
}

fn uses(file: &RustFile, effect: &Effect) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (_, item) in file.live_items() {
        let tokens = item.to_token_stream();
        for mention in mentions(tokens.clone()) {
            if effect.mentions.iter().any(|it| reaches(&mention.path, it)) {
                found.push((mention.path.join("::"), mention.line));
            }
        }
        calls(tokens, effect, &mut found);
    }
    found
}

/// Returns whether a path, as written, names the item `mention` or an item below it, or imports with `*` from a
/// module that contains the item.
fn reaches(path: &[String], mention: &str) -> bool {
    let mention: Vec<&str> = mention.split("::").collect();
    let named = match path.split_last() {
        Some((last, above)) if last == "*" => above,
        _ => return path.len() >= mention.len() && path.iter().zip(&mention).all(|(a, b)| a == b),
    };
    named.iter().zip(&mention).all(|(a, b)| a == b)
}

/// Adds the uses of the effect's macros (`name!`) and methods (`.name`) in the tokens to `found`: what is used, and
/// the line.
fn calls(tokens: TokenStream, effect: &Effect, found: &mut Vec<(String, usize)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => calls(group.stream(), effect, found),
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let line = ident.span().start().line;
                let is = |it: Option<&TokenTree>, c: char| matches!(it, Some(TokenTree::Punct(punct)) if punct.as_char() == c);
                if effect.macros.contains(&name) && is(tokens.get(at + 1), '!') {
                    found.push((format!("{name}!"), line));
                }
                if effect.methods.contains(&name) && at > 0 && is(tokens.get(at - 1), '.') {
                    found.push((format!(".{name}()"), line));
                }
            }
            _ => {}
        }
    }
}

/// Checks that `unsafe` appears only in the modules that `arrows.toml` lists, and that each `unsafe` has a SAFETY
/// comment above.
pub(super) fn unsafe_code(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for file in &checkout.sources.files {
        let allowed = checkout.house.unsafe_.modules.iter().any(|module| {
            file.path.strip_prefix(module.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
        let mut lines = Vec::new();
        unsafe_lines(file.ast.to_token_stream(), &mut lines);
        let text: Vec<&str> = checkout.tree.text(&file.path).unwrap_or_default().lines().collect();
        for line in lines {
            let (what, fix) = if !allowed {
                (
                    "unsafe code".to_string(),
                    format!(
                        "do without unsafe code, or move the code to {}",
                        checkout.house.unsafe_.modules.join(", ")
                    ),
                )
            } else if !explained(&text, line) {
                (
                    "the unsafe code has no comment that explains why it is sound".to_string(),
                    "write a `// SAFETY:` comment above".to_string(),
                )
            } else {
                continue;
            };
            violations.push(Violation {
                file: file.path.clone(),
                line,
                check: "unsafe",
                what,
                why: "only one small module should have to be proved safe by hand".into(),
                fix,
            });
        }
    }
}

fn unsafe_lines(tokens: TokenStream, lines: &mut Vec<usize>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if ident == "unsafe" => lines.push(ident.span().start().line),
            TokenTree::Group(group) => unsafe_lines(group.stream(), lines),
            _ => {}
        }
    }
}

/// Returns whether a comment with `SAFETY:` is on the line, or in the comment block directly above it.
fn explained(text: &[&str], line: usize) -> bool {
    let above = text[..line.saturating_sub(1).min(text.len())].iter().rev();
    above.take_while(|it| it.trim_start().starts_with("//")).any(|it| it.contains("SAFETY:"))
        || text.get(line.saturating_sub(1)).is_some_and(|it| it.contains("// SAFETY:"))
}
