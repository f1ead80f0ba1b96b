//! Colours of text output.

/// Whether text is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style {
    /// Whether to write the escape sequences that set colours.
    pub(crate) color: bool,
}

/// The role of a piece of text, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    /// Headings.
    Bold,
    /// Details.
    Dim,
    /// Exceptions.
    Red,
    /// Unknown parts of answers, and warnings.
    Yellow,
    /// Control flow.
    Blue,
}

impl Style {
    /// Calls `write` to append text in the colour of the role `ink`.
    pub(crate) fn ink(self, out: &mut String, ink: Ink, write: impl FnOnce(&mut String)) {
        if !self.color {
            return write(out);
        }
        out.push_str(match ink {
            Ink::Bold => "\x1b[1m",
            Ink::Dim => "\x1b[2m",
            Ink::Red => "\x1b[31m",
            Ink::Yellow => "\x1b[33m",
            Ink::Blue => "\x1b[34m",
        });
        write(out);
        out.push_str("\x1b[0m");
    }

    /// Returns the text in the colour of the role `ink`.
    pub(crate) fn text(self, ink: Ink, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 9);
        self.ink(&mut out, ink, |out| out.push_str(text));
        out
    }
}
