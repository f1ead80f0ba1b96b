//! Where results go: stdout, or a file that appears when it is complete.

use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};

/// Results are written in pieces of this size.
const BUFFER: usize = 1 << 16;

/// Where the result of a run goes.
pub(crate) enum Output {
    /// Standard output.
    Stdout(BufWriter<io::Stdout>),
    /// A file beside the one that is wanted, to be renamed to it.
    File(BufWriter<Unfinished>, Utf8PathBuf),
    /// Something that is no plain file, such as `/dev/null`: written in place.
    Device(BufWriter<std::fs::File>, Utf8PathBuf),
}

impl Output {
    /// Opens what `-o` names, or stdout.
    pub(crate) fn open(path: Option<&Utf8PathBuf>) -> anyhow::Result<Output> {
        let Some(path) = path else {
            return Ok(Output::Stdout(BufWriter::with_capacity(BUFFER, io::stdout())));
        };
        if std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
            let file = std::fs::File::create(path).with_context(|| format!("{path}: cannot be written"))?;
            return Ok(Output::Device(BufWriter::with_capacity(BUFFER, file), path.clone()));
        }
        let file = Unfinished::beside(path).with_context(|| format!("{path}: cannot be written"))?;
        Ok(Output::File(BufWriter::with_capacity(BUFFER, file), path.clone()))
    }

    /// Whether somebody looks at it on a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Output::Stdout(_)) && io::stdout().is_terminal()
    }

    /// Writes what is left, and gives the file its name. Without this the file never appears.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        if let Output::File(it, path) = self {
            let renamed = it.into_inner().map_err(io::IntoInnerError::into_error);
            let renamed = renamed.and_then(|it| it.rename(&path));
            renamed.with_context(|| format!("{path}: cannot be written"))?;
        }
        Ok(())
    }

    /// The error with the name of what cannot be written, and of the same kind.
    fn fault(&self, error: &io::Error) -> io::Error {
        let name = match self {
            Output::Stdout(_) => "the standard output",
            Output::File(_, path) | Output::Device(_, path) => path.as_str(),
        };
        io::Error::new(error.kind(), format!("{name}: cannot be written: {error}"))
    }
}

/// A file under a name of its own, which goes away unless it is renamed.
pub(crate) struct Unfinished {
    file: Option<std::fs::File>,
    name: Utf8PathBuf,
}

impl Unfinished {
    fn beside(path: &Utf8Path) -> io::Result<Unfinished> {
        let base = path.file_name().unwrap_or("result");
        let name = path.with_file_name(format!(".{base}.{}.part", std::process::id()));
        let file = std::fs::File::create(&name)?;
        Ok(Unfinished { file: Some(file), name })
    }

    fn rename(mut self, path: &Utf8Path) -> io::Result<()> {
        // Some systems rename no open file.
        self.file = None;
        std::fs::rename(&self.name, path)
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(it) => it.write(bytes),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.file = None;
        // After a renaming there is nothing to remove.
        let _ = std::fs::remove_file(&self.name);
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = match self {
            Output::Stdout(it) => it.write(bytes),
            Output::File(it, _) => it.write(bytes),
            Output::Device(it, _) => it.write(bytes),
        };
        done.map_err(|it| self.fault(&it))
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = match self {
            Output::Stdout(it) => it.flush(),
            Output::File(it, _) => it.flush(),
            Output::Device(it, _) => it.flush(),
        };
        done.map_err(|it| self.fault(&it))
    }
}

/// Whether the reader of our output has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|it| it.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|it| it == io::ErrorKind::BrokenPipe)
}
