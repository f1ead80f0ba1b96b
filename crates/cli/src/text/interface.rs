//! The interface of graphs, that is, the methods that they provide and require, as text.

use std::fmt::Write;

use export::frame::Interface;
use ide::Human;

use crate::report::count;
use crate::text::style::{Ink, Style};

/// The maximum number of required methods listed; machine-readable formats contain all of them.
const METHODS: usize = 12;

/// Returns the lines about the interface of the graphs, which follow the graphs.
pub(crate) fn text(it: &Interface, style: Style) -> Vec<u8> {
    let (provided, required) = (it.provided.len(), it.required.len());
    let mut text = format!("// provides {}", count(provided, "method", "methods"));
    if required > 0 {
        let _ =
            write!(text, ", requires {} of other parts of the program", count(required, "method", "methods"));
    }
    text.push('\n');
    for method in it.required.iter().take(METHODS) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "//   {}", Human(*method));
    }
    if let Some(more) = required.checked_sub(METHODS).filter(|&it| it > 0) {
        let _ = writeln!(text, "//   and {more} more");
    }
    style.text(Ink::Dim, &text).into_bytes()
}
