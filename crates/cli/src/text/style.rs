//! Colours, if they are wanted.

/// Whether text is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style {
    /// Whether to write escape sequences.
    pub(crate) color: bool,
}

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    /// What to look at first.
    Bold,
    /// What to look at last.
    Dim,
    /// Exceptions.
    Red,
    /// What is not known.
    Yellow,
    /// Where control goes.
    Blue,
}

impl Style {
    /// Appends what `write` writes, in this ink.
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

    /// The text in this ink.
    pub(crate) fn text(self, ink: Ink, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 9);
        self.ink(&mut out, ink, |out| out.push_str(text));
        out
    }
}
