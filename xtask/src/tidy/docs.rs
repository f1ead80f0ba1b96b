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
                what: "the file does not begin with `//!`".to_string(),
                why: "readers decide by the first lines whether they need this file".into(),
                fix: "describe what the file contains, how it is used, and what it must not depend on"
                    .to_string(),
            });
        }
    }
}
