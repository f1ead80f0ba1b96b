//! Colours, if they are wanted.

/// Whether text is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style {
    /// Whether to write escape sequences.
    pub(crate) color: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// What to look at first.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What to look at last.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Exceptions.
    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// What is not known.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Where control goes.
    pub(crate) fn blue(self, text: &str) -> String {
        self.paint("34", text)
    }
}
