//! The destination of results: stdout, or a file that appears when it is complete.

use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};

/// The size of the write buffer in bytes.
const BUFFER: usize = 1 << 16;

/// The destination of the result of a run.
pub(crate) enum Output {
    /// Standard output.
    Stdout(BufWriter<io::Stdout>),
    /// A temporary file in the folder of the requested file, which is renamed to the requested path at the end.
    File(BufWriter<Unfinished>, Utf8PathBuf),
    /// An existing path that is not a plain file, such as `/dev/null`, and is written in place.
    Device(BufWriter<std::fs::File>, Utf8PathBuf),
}

impl Output {
    /// Opens the file that `-o` names, or stdout.
    ///
    /// # Errors
    /// When the file cannot be created.
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

    /// Whether the result is printed on a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Output::Stdout(_)) && io::stdout().is_terminal()
    }

    /// Writes the rest of the buffered output, and renames the temporary file to the requested path. Without this
    /// call, the file never appears.
    ///
    /// # Errors
    /// When the output cannot be written or the file cannot be renamed.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        if let Output::File(it, path) = self {
            let renamed = it.into_inner().map_err(io::IntoInnerError::into_error);
            let renamed = renamed.and_then(|it| it.rename(&path));
            renamed.with_context(|| format!("{path}: cannot be written"))?;
        }
        Ok(())
    }

    /// Returns an error of the same kind as `error`, with a message that names the destination.
    fn fault(&self, error: &io::Error) -> io::Error {
        let name = match self {
            Output::Stdout(_) => "the standard output",
            Output::File(_, path) | Output::Device(_, path) => path.as_str(),
        };
        io::Error::new(error.kind(), format!("{name}: cannot be written: {error}"))
    }
}

/// A temporary file that is deleted when it is dropped without being renamed.
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
        // Some systems cannot rename an open file.
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
        // After the file was renamed, this fails and may be ignored.
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

/// Whether the error is that the reader of the output has closed the pipe.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|it| it.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|it| it == io::ErrorKind::BrokenPipe)
}
