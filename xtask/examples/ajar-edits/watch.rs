//! Measures the cost of a change on disk for `ajar watch`: the wall time from the written file to the printed line
//! about the change, and CPU times.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use test_utils::jar::jar;
use test_utils::patch::Patch;
use test_utils::rng::Rng;

use crate::edits::{Drawing, Kind, Now};
use crate::line;
use crate::process::{Cycle, Watching};
use crate::redraft;

/// The size of the watched jar in bytes.
const JAR: usize = 60_000_000;

/// The size in bytes of each entry of the jar that is no class.
const FILLER: usize = 15_000;

/// The command `ajar watch throws` to measure: the binary, the JDK and further flags.
pub(crate) struct Asked<'a> {
    pub(crate) ajar: &'a str,
    pub(crate) jdk: &'a str,
    pub(crate) flags: &'a [&'a str],
}

impl Asked<'_> {
    /// Starts the command for this input, and prints it as the first line of the table.
    fn start(&self, input: &Path) -> Result<Watching> {
        let mut command = Command::new(self.ajar);
        command.args(["watch", "throws", "--output-format", "jsonl", "--quiet", "--jdk", self.jdk]);
        let watching = Watching::start(command.args(self.flags).arg(input))?;
        let args = command.get_args().map(|it| it.to_string_lossy().into_owned()).collect::<Vec<_>>();
        println!("command\tajar {}", args.join(" "));
        Ok(watching)
    }
}

/// A class of the application and its edit: the word for the kind of edit, the path of the class file, and its bytes
/// before and after the edit.
struct Edited {
    kind: &'static str,
    file: String,
    original: Vec<u8>,
    edited: Vec<u8>,
}

/// The kinds of edits that a run alternates.
#[derive(Clone, Copy)]
enum Draft {
    /// The edit changes the name of the source file, which changes no fact.
    Source,
    /// The edit changes a line number, which changes no fact.
    Line,
    /// The edit changes a method to a ghost method, whose code is not analysed.
    Ghost,
    /// The edit is of this kind, and may change facts.
    Of(Kind),
}

const SAME_FACTS: [(Draft, &str); 2] = [(Draft::Source, "source"), (Draft::Line, "line")];

const OTHER_FACTS: [(Draft, &str); 4] = [
    (Draft::Of(Kind::Throw), "throw"),
    (Draft::Of(Kind::Call), "call"),
    (Draft::Of(Kind::Override), "override"),
    (Draft::Ghost, "ghost"),
];

/// Prepares edits of `n` classes, with the given kinds of edits in turn.
fn edited(app: &[&[u8]], kinds: &[(Draft, &'static str)], n: usize) -> Result<Vec<Edited>> {
    let mut rng = Rng::new(crate::SEED);
    let drawing = Drawing::new(app);
    let mut acc = Vec::new();
    for _ in 0..100 * n {
        let number = rng.below(app.len() as u32) as usize;
        let Some(&original) = app.get(number) else { bail!("the application has no class") };
        let (draft, kind) = kinds[acc.len() % kinds.len()];
        let edited = match draft {
            Draft::Source => redraft::other_source(original),
            Draft::Line => redraft::other_line(original, &mut rng),
            Draft::Ghost => redraft::ghost(original, &mut rng),
            Draft::Of(kind) => drawing.edit_of(kind, number, &mut rng).and_then(|it| match it.now {
                Now::Changed(bytes) => Some(bytes),
                Now::Gone | Now::Twin(_) => None,
            }),
        };
        if let (Some(edited), Some(patch)) = (edited, Patch::read(original)) {
            if matches!(draft, Draft::Source | Draft::Line) {
                redraft::check_same(original, &edited)?;
            }
            let file = format!("{}.class", String::from_utf8_lossy(patch.name()));
            acc.push(Edited { kind, file, original: original.to_vec(), edited });
        }
        if acc.len() == n {
            return Ok(acc);
        }
    }
    bail!("the application has too few bodies to edit")
}

/// Measures `n` changes of the kind `what`, and prints the table. Each edit is undone by the next change.
pub(crate) fn watch(asked: &Asked<'_>, app: &[&[u8]], folder: &Path, n: usize, what: &str) -> Result<()> {
    let folder = folder.join(format!("watched-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    // Use the path that the kernel reports, because `ajar` gets the same path.
    let folder = folder.canonicalize()?;
    let n = n.div_ceil(2).max(1);
    let done = match what {
        "bytes" => classes(asked, app, &folder, &edited(app, &SAME_FACTS, n)?).and_then(|cycles| {
            ensure!(cycles.iter().all(|it| it.1.facts == 0), "a change of debug data changed a fact");
            Ok(cycles)
        }),
        "facts" => classes(asked, app, &folder, &edited(app, &OTHER_FACTS, n)?),
        "jar" => jars(asked, app, &folder, &edited(app, &OTHER_FACTS[..1], n)?),
        _ => {
            let Some(kind) = OTHER_FACTS.iter().find(|it| it.1 == what) else {
                bail!(
                    "unknown kind of change `{what}`; the kinds are bytes, facts, jar, throw, call, override, ghost"
                );
            };
            classes(asked, app, &folder, &edited(app, &[*kind], n)?)
        }
    };
    std::fs::remove_dir_all(&folder)?;
    print(&done?);
    Ok(())
}

/// Prints the table: for each kind of change, a line in each group, and a line with the numbers of cycles.
fn print(cycles: &[(&'static str, Cycle)]) {
    let mut kinds: Vec<&str> = vec!["all", "changed"];
    for (kind, _) in cycles {
        if !kinds.contains(kind) {
            kinds.push(kind);
        }
    }
    for kind in kinds {
        let of_kind = |it: &&(&'static str, Cycle)| match kind {
            "all" => true,
            "changed" => it.1.facts > 0,
            _ => it.0 == kind,
        };
        let cycles: Vec<Cycle> = cycles.iter().filter(of_kind).map(|it| it.1).collect();
        line("told", kind, cycles.iter().map(|it| it.told).collect());
        line("line", kind, cycles.iter().map(|it| it.line.nanoseconds).collect());
        line("whole", kind, cycles.iter().map(|it| it.whole.nanoseconds).collect());
        let n_changed = cycles.iter().filter(|it| it.facts > 0).count();
        let n_coarse = cycles.iter().filter(|it| it.line.is_coarse || it.whole.is_coarse).count();
        println!("cycles\t{kind}\t{}\t{n_changed}\t{n_coarse}", cycles.len());
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Measures changes of class files.
fn classes(
    asked: &Asked<'_>,
    app: &[&[u8]],
    folder: &Path,
    edits: &[Edited],
) -> Result<Vec<(&'static str, Cycle)>> {
    for bytes in app {
        let Some(patch) = Patch::read(bytes) else { continue };
        let path = folder.join(format!("{}.class", String::from_utf8_lossy(patch.name())));
        std::fs::create_dir_all(path.parent().context("a folder")?)?;
        put(&path, bytes)?;
    }
    let mut watching = asked.start(folder)?;
    let mut cycles = Vec::new();
    for it in edits {
        let path = folder.join(&it.file);
        cycles.push((it.kind, watching.time(|| put(&path, &it.edited))?));
        cycles.push((it.kind, watching.time(|| put(&path, &it.original))?));
    }
    Ok(cycles)
}

/// Measures the replacement of a jar by a jar in which one class differs.
fn jars(
    asked: &Asked<'_>,
    app: &[&[u8]],
    folder: &Path,
    edits: &[Edited],
) -> Result<Vec<(&'static str, Cycle)>> {
    let (watched, beside) = (folder.join("watched"), folder.join("beside"));
    std::fs::create_dir_all(&watched)?;
    std::fs::create_dir_all(&beside)?;
    let mut rng = Rng::new(crate::SEED);
    let mut members: Vec<(String, Vec<u8>)> = Vec::new();
    let mut size = 0;
    for bytes in app {
        let Some(patch) = Patch::read(bytes) else { continue };
        size += bytes.len();
        members.push((format!("{}.class", String::from_utf8_lossy(patch.name())), bytes.to_vec()));
    }
    // Entries as large as classes, and random, so that they cannot be compressed.
    while size < JAR {
        let filler: Vec<u8> = (0..FILLER / 8).flat_map(|_| rng.bits().to_le_bytes()).collect();
        size += filler.len();
        members.push((format!("data/{}.bin", members.len()), filler));
    }
    let target = watched.join("app.jar");
    let write = |path: PathBuf, members: &[(String, Vec<u8>)]| {
        let members: Vec<(&str, Vec<u8>)> = members.iter().map(|it| (&*it.0, it.1.clone())).collect();
        put(&path, &jar("", &members)).map(|()| path)
    };
    let original = write(beside.join("original"), &members)?;
    std::fs::copy(&original, &target)?;
    let mut watching = asked.start(&target)?;
    let mut cycles = Vec::new();
    for it in edits {
        let mut changed = members.clone();
        changed
            .iter_mut()
            .filter(|member| member.0 == it.file)
            .for_each(|member| member.1 = it.edited.clone());
        let next = write(beside.join("next"), &changed)?;
        cycles.push((it.kind, watching.time(|| Ok(std::fs::rename(&next, &target)?))?));
        std::fs::copy(&original, beside.join("next"))?;
        cycles.push((it.kind, watching.time(|| Ok(std::fs::rename(beside.join("next"), &target)?))?));
    }
    Ok(cycles)
}
