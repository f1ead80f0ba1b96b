//! Checks that each Rust file describes its content in its first lines.

use super::{Checkout, Violation};

/// Checks that every Rust file begins with a `//!` comment.
pub(super) fn module_docs(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for file in &checkout.sources.files {
        let first = checkout.tree.text(&file.path).unwrap_or_default().lines().next().unwrap_or_default();
        if first.strip_prefix("//!").is_none_or(|it| it.trim().is_empty()) {
            violations.push(Violation {
                file: file.path.clone(),
                line: 1,
                check: "module-docs",
                what: "does not open with `//!`".to_string(),
                why: "a reader decides by the first lines whether this is the file they need".into(),
                fix: "say what it holds, how it is used, what it must not know".to_string(),
            });
        }
    }
}
