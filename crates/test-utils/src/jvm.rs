//! Runs static methods of class files on a real JVM, thousands of them in one process (`test-data/harness`).
//!
//! Each case runs in a class loader of its own, so static state is fresh. An answer contains the result (values as
//! text, floats and doubles as bits, exceptions by class) and the trace that the code wrote through `ajar/T`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::asm::{Assembled, Text};
use crate::jdk::Jdk;

/// One method call that is to be run on a JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The internal name of the class.
    pub class: String,
    /// The name of the method, which must be static.
    pub method: String,
    /// The descriptor of the method.
    pub descriptor: String,
    /// The arguments of the call, one for each parameter.
    pub args: Vec<Arg>,
}

/// An argument of the method that a [`Case`] calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// An argument for a parameter of type int, short, char, byte or boolean.
    Int(i32),
    /// An argument for a long parameter.
    Long(i64),
    /// An argument for a float parameter, as bits.
    Float(u32),
    /// An argument for a double parameter, as bits.
    Double(u64),
    /// An argument for a string parameter.
    Str(Text),
    /// The argument `null` for a reference parameter.
    Null,
}

/// The observed behaviour of one run of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The way in which the case ended.
    pub outcome: Outcome,
    /// The lines that the case wrote through the trace class `ajar/T`.
    pub trace: Vec<String>,
}

/// The way in which a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The method returned a value, in the form that the trace class `ajar/T` prints: `I 5`, `J 5`, `F 7fc00000`, `D
    /// …`, `"text"`, `V`, or `L` and a class name.
    Result(String),
    /// The method threw an exception of this class; for failed initialisers, ` <- ` and the cause follow.
    Throw(String),
    /// The method did not end within the allowed time.
    Timeout,
}

impl std::fmt::Display for Answer {
    /// Writes the answer as the harness (the Java program that runs the cases) prints it, without the lines that
    /// begin and end the answer.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.outcome {
            Outcome::Result(it) => writeln!(f, "result {it}")?,
            Outcome::Throw(it) => writeln!(f, "throw {it}")?,
            Outcome::Timeout => writeln!(f, "timeout")?,
        }
        self.trace.iter().try_for_each(|it| writeln!(f, "trace {it}"))
    }
}

/// The folder `test-data` of this repository.
pub fn data_dir() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).join("test-data")
}

/// A folder that is deleted when the value is dropped.
#[derive(Debug)]
pub struct TempDir(PathBuf);

impl TempDir {
    /// Creates a new empty folder for temporary files.
    pub fn new() -> std::io::Result<TempDir> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ajar-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(TempDir(path))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // Best effort: a folder that remains does not affect later tests.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes class files into the folder `root`, in a subfolder for each package.
pub fn write_classes(root: &Path, classes: &[Assembled]) -> std::io::Result<()> {
    for it in classes {
        let path = root.join(format!("{}.class", it.name));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, &it.bytes)?;
    }
    Ok(())
}

/// Runs `cases` on `jdk`, in a program that consists of `classes`. Returns one answer for each case, in order.
pub fn run(jdk: &Jdk, classes: &[Assembled], cases: &[Case]) -> std::io::Result<Vec<Answer>> {
    let dir = TempDir::new()?;
    let root = dir.path().join("classes");
    std::fs::create_dir_all(&root)?;
    write_classes(&root, classes)?;
    run_folder(jdk, &root, cases)
}

/// Runs `cases` on `jdk`, in the program whose class files are in `root`. Returns one answer for each case, in order.
pub fn run_folder(jdk: &Jdk, root: &Path, cases: &[Case]) -> std::io::Result<Vec<Answer>> {
    let dir = TempDir::new()?;
    let requests = dir.path().join("requests");
    std::fs::write(&requests, cases.iter().map(request).collect::<String>())?;
    let output = Command::new(jdk.java())
        .args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx768m", "-Xverify:remote", "-cp"])
        .arg(data_dir().join("harness"))
        .arg("Harness")
        .args([root, &requests])
        .arg("10000")
        .output()?;
    let answers = answers(&String::from_utf8_lossy(&output.stdout));
    if answers.len() != cases.len() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let message = format!(
            "the JVM printed {} answers for {} cases; its standard error: {stderr}",
            answers.len(),
            cases.len()
        );
        return Err(std::io::Error::other(message));
    }
    Ok(answers)
}

fn request(case: &Case) -> String {
    let mut out = format!("{}\t{}\t{}", case.class, case.method, case.descriptor);
    for arg in &case.args {
        out.push('\t');
        // Writing to a string cannot fail.
        let _ = match arg {
            Arg::Int(it) => write!(out, "{it}"),
            Arg::Long(it) => write!(out, "{it}"),
            Arg::Float(it) => write!(out, "{it:08x}"),
            Arg::Double(it) => write!(out, "{it:016x}"),
            Arg::Str(it) => write!(out, "{}", quote(it)),
            Arg::Null => write!(out, "null"),
        };
    }
    out.push('\n');
    out
}

/// Quotes a string as `ajar/T` does: printable ASCII unchanged, `\n`, `\\`, `\"`, and all else as `\uXXXX`.
pub fn quote(text: &Text) -> String {
    let mut out = "\"".to_owned();
    for &unit in text.units() {
        match u8::try_from(unit) {
            Ok(b'\n') => out.push_str("\\n"),
            Ok(it @ (b'"' | b'\\')) => out.extend(['\\', char::from(it)]),
            Ok(it @ b' '..=b'~') => out.push(char::from(it)),
            _ => {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.push('"');
    out
}

/// Parses the output of the harness (the Java program that runs the cases), which prints a block of lines for each
/// case.
pub(crate) fn answers(text: &str) -> Vec<Answer> {
    let mut out = Vec::new();
    let mut open = Answer { outcome: Outcome::Timeout, trace: Vec::new() };
    for line in text.lines() {
        let (keyword, rest) = line.split_once(' ').unwrap_or((line, ""));
        match keyword {
            "case" => open = Answer { outcome: Outcome::Timeout, trace: Vec::new() },
            "result" => open.outcome = Outcome::Result(rest.to_owned()),
            "throw" => open.outcome = Outcome::Throw(rest.to_owned()),
            "trace" => open.trace.push(rest.to_owned()),
            "end" => out.push(open.clone()),
            _ => {}
        }
    }
    out
}
