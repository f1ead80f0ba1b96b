//! The interface of graphs, that is, the methods that they provide and require, as text.

use std::fmt::Write;

use export::frame::Interface;
use ide::Human;

use crate::report::count;
use crate::text::style::{Ink, Style};

/// The maximum number of required methods that are listed; machine-readable formats contain all of them.
const METHODS: usize = 12;

/// Returns the lines about the interface of the graphs, which follow the graphs.
pub(crate) fn text(it: &Interface, style: Style) -> Vec<u8> {
    let (provided, required) = (it.provided.len(), it.required.len());
    let methods = |n: usize| count(n, "method", "methods");
    let (provides, requires) = (methods(provided), methods(required));
    let mut text = if required == 0 {
        format!("// provides {provides}\n")
    } else {
        format!("// provides {provides}, requires {requires} of other parts of the program\n")
    };
    for method in it.required.iter().take(METHODS) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "//   {}", Human(*method));
    }
    if let Some(more) = required.checked_sub(METHODS).filter(|&it| it > 0) {
        let _ = writeln!(text, "//   and {more} more");
    }
    style.text(Ink::Dim, &text).into_bytes()
}
