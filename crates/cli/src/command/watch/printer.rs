//! Prints the changes of an answer as text or JSON lines.

use std::io::{self, IsTerminal, Write};

use driver::config::Settings;
use export::frame::Header;
use export::watch::Cycle;
use ide::difference::Changed;

use crate::settings;
use crate::text::{self, style::Style};

/// Prints the changes of an answer as text or JSON lines. All changes of one update are written in one piece, so that
/// a reader of the output never sees only some of them.
pub(super) struct Printer {
    /// The style of text output; `None` for JSON lines.
    pub(super) style: Option<Style>,
    clear: bool,
}

impl Printer {
    pub(super) fn new(settings: &Settings, clear: bool) -> anyhow::Result<Printer> {
        let to_terminal = io::stdout().is_terminal();
        let lines = settings::format(settings, &["text", "jsonl"])? == "jsonl";
        let style = Style { color: settings::colored(settings, to_terminal) };
        Ok(Printer { style: (!lines).then_some(style), clear: clear && to_terminal && !lines })
    }

    pub(super) fn header(&self, header: &Header) -> io::Result<()> {
        let bytes = match self.style {
            Some(style) => text::header(header, &text::legend::of_changes(header.command), style),
            None => export::watch::header(header),
        };
        write(&bytes)
    }

    pub(super) fn cycle(&self, changes: &[Changed], cycle: Cycle) -> io::Result<()> {
        let mut out = Vec::new();
        match self.style {
            Some(style) => {
                if self.clear && cycle.generation > 1 {
                    out.extend(CLEAR);
                }
                out.extend(text::watch::changes(changes, style).into_bytes());
                out.extend(text::watch::cycle(&cycle, style).into_bytes());
            }
            None => {
                changes.iter().for_each(|it| export::watch::changed(&mut out, cycle.generation, it));
                export::watch::cycle(&mut out, &cycle);
            }
        }
        write(&out)
    }
}

/// The escape sequences that clear the screen and move the cursor to its top left (ECMA-48: ED, CUP).
const CLEAR: &[u8] = b"\x1b[2J\x1b[H";

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
