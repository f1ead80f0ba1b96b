//! Writes the result of a pass over classes as text or in a machine-readable format.

use std::io::{self, Write};

use camino::Utf8PathBuf;
use export::document::Document;
use export::form::Format;
use export::frame::Header;

use crate::output::Output;
use crate::pass::{Maker, Pass};
use crate::report::Outcome;
use crate::run::Run;
use crate::settings;
use crate::text::{self, style::Style};

/// The form of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Text for people.
    Text(Style),
    /// A machine-readable document.
    Document(Format),
}

/// A result that is being written. The header is written together with the first piece, so that a run that fails
/// earlier writes nothing.
enum Writing {
    Pending(Output),
    Text(Output),
    Document(Document<Output>),
    /// The state after a failed write.
    Broken,
}

impl Writing {
    fn begin(&mut self, form: Form, header: &Header) -> io::Result<()> {
        *self = match std::mem::replace(self, Writing::Broken) {
            Writing::Pending(mut out) => match form {
                Form::Text(style) => {
                    out.write_all(&text::header(header, &text::legend::of(header.command), style))?;
                    Writing::Text(out)
                }
                Form::Document(format) => Writing::Document(Document::begin(out, format, header)?),
            },
            it => it,
        };
        Ok(())
    }

    fn piece(&mut self, form: Form, header: &Header, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.begin(form, header)?;
        match self {
            Writing::Text(out) => out.write_all(bytes),
            Writing::Document(it) => it.fragment(bytes),
            Writing::Pending(_) | Writing::Broken => Ok(()),
        }
    }
}

/// Returns the machine-readable format of this name; `None` for text.
pub(crate) fn format(name: &str) -> Option<Format> {
    match name {
        "json" => Some(Format::Json),
        "jsonl" => Some(Format::JsonLines),
        "dot" => Some(Format::Dot),
        "graphml" => Some(Format::GraphMl),
        "edges" => Some(Format::Edges),
        _ => None,
    }
}

/// Passes over all shown classes and writes the pieces of the result that `maker` makes.
///
/// # Errors
/// A failed write, or a pattern that selects no method.
pub(crate) fn write<M: Maker>(
    run: &Run<'_>,
    pass: &Pass<'_>,
    header: Header,
    format: &str,
    path: Option<&Utf8PathBuf>,
    maker: impl FnOnce(Form) -> M,
) -> anyhow::Result<Outcome> {
    let out = Output::open(path)?;
    let to_terminal = out.is_terminal();
    let form = match self::format(format) {
        Some(it) => Form::Document(it),
        None => Form::Text(Style { color: settings::colored(run.settings, to_terminal) }),
    };
    let mut writing = Writing::Pending(out);
    let maker = maker(form);
    let mut summary = pass.classes(&maker, to_terminal, |bytes| writing.piece(form, &header, bytes))?;
    writing.begin(form, &header)?;
    maker.finish(&mut summary.trailer);
    match writing {
        Writing::Text(mut out) | Writing::Pending(mut out) => {
            if let (Form::Text(style), Some(it)) = (form, &summary.trailer.interface) {
                out.write_all(&text::interface::text(it, style))?;
            }
            if matches!(form, Form::Text(_)) {
                out.write_all(&maker.summary())?;
            }
            out.finish()?;
        }
        Writing::Document(it) => it.end(&summary.trailer)?.finish()?,
        Writing::Broken => {}
    }
    // Documents contain the same list; it is printed for all formats.
    Ok(run.end(&summary.trailer, summary.outcome))
}
