//! How long `ajar watch` takes, by the clock, from a file that is written to the line about the cycle.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use test_utils::jar::jar;
use test_utils::patch::{Insertion, Patch};
use test_utils::rng::Rng;

use crate::line;

/// The bytes of the jar.
const JAR: usize = 60_000_000;

/// The bytes of each entry of the jar that is no class.
const FILLER: usize = 15_000;

/// The longest that a cycle may take before the run fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long it is quiet between two changes, as between two builds.
const QUIET: Duration = Duration::from_millis(500);

/// A process that keeps an answer current.
struct Watching {
    child: Child,
    /// When each cycle was told.
    cycles: Receiver<Instant>,
}

impl Watching {
    fn start(ajar: &str, jdk: &str, input: &Path) -> Result<Self> {
        let mut command = Command::new(ajar);
        command.args(["watch", "throws", "--output-format", "jsonl", "--quiet", "--jdk", jdk]).arg(input);
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run ajar")?;
        let out = BufReader::new(child.stdout.take().context("the output of ajar")?);
        let (sender, cycles) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(|it| it.ok()) {
                let now = Instant::now();
                let value: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
                if value["record"] == "cycle" && sender.send(now).is_err() {
                    return;
                }
            }
        });
        let it = Watching { child, cycles };
        it.cycles.recv_timeout(PATIENCE).context("ajar has no first answer")?;
        // It makes ready for changes.
        std::thread::sleep(8 * QUIET);
        Ok(it)
    }

    /// Nanoseconds from a change to the line about it.
    fn time(&self, change: impl FnOnce() -> Result<()>) -> Result<u64> {
        change()?;
        let begin = Instant::now();
        let told = self.cycles.recv_timeout(PATIENCE).context("no cycle came")?;
        std::thread::sleep(QUIET);
        ensure!(self.cycles.try_recv().is_err(), "one change, and two cycles");
        Ok(told.saturating_duration_since(begin).as_nanos() as u64)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A class of the application: the name of its file, its bytes, and those after an edit.
struct Edited {
    file: String,
    original: Vec<u8>,
    throws: Vec<u8>,
}

/// Classes to edit, as many as are wanted.
fn edited(app: &[&[u8]], n: usize) -> Result<Vec<Edited>> {
    let mut rng = Rng::new(crate::SEED);
    let mut acc = Vec::new();
    for _ in 0..100 * n {
        let original = *rng.pick(app).context("the application has no class")?;
        let Some(mut patch) = Patch::read(original) else { continue };
        let methods: Vec<usize> = (0..patch.methods().len()).filter(|it| patch.has_body(*it)).collect();
        let Some(&method) = rng.pick(&methods) else { continue };
        if patch.insert(method, Insertion::Throw).is_some() {
            let file = format!("{}.class", String::from_utf8_lossy(patch.name()));
            acc.push(Edited { file, original: original.to_vec(), throws: patch.bytes() });
        }
        if acc.len() == n {
            return Ok(acc);
        }
    }
    anyhow::bail!("the application has too few bodies to edit")
}

/// Measures both. Each edit is brought back by the next change.
pub(crate) fn watch(ajar: &str, jdk: &str, app: &[&[u8]], folder: &Path, n: usize) -> Result<()> {
    let folder = folder.join(format!("watched-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    // Where the kernel says it is, as `ajar` is told.
    let folder = folder.canonicalize()?;
    let done = classes(ajar, jdk, app, &folder.join("classes"), n)
        .and_then(|()| jars(ajar, jdk, app, &folder.join("jars"), n.div_ceil(4)));
    std::fs::remove_dir_all(&folder)?;
    done
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// A class file that is written.
fn classes(ajar: &str, jdk: &str, app: &[&[u8]], folder: &Path, n: usize) -> Result<()> {
    for bytes in app {
        let Some(patch) = Patch::read(bytes) else { continue };
        let path = folder.join(format!("{}.class", String::from_utf8_lossy(patch.name())));
        std::fs::create_dir_all(path.parent().context("a folder")?)?;
        put(&path, bytes)?;
    }
    let watching = Watching::start(ajar, jdk, folder)?;
    let mut times = Vec::new();
    for it in edited(app, n.div_ceil(2))? {
        let path = folder.join(&it.file);
        times.push(watching.time(|| put(&path, &it.throws))?);
        times.push(watching.time(|| put(&path, &it.original))?);
    }
    line("watch", "class", times);
    Ok(())
}

/// A jar that is moved over another, in which one class is other.
fn jars(ajar: &str, jdk: &str, app: &[&[u8]], folder: &Path, n: usize) -> Result<()> {
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
    // Of the size of classes, and as hard to make smaller as noise.
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
    let watching = Watching::start(ajar, jdk, &target)?;
    let mut times = Vec::new();
    for it in edited(app, n.div_ceil(2))? {
        let mut changed = members.clone();
        changed
            .iter_mut()
            .filter(|member| member.0 == it.file)
            .for_each(|member| member.1 = it.throws.clone());
        let next = write(beside.join("next"), &changed)?;
        times.push(watching.time(|| Ok(std::fs::rename(&next, &target)?))?);
        std::fs::copy(&original, beside.join("next"))?;
        times.push(watching.time(|| Ok(std::fs::rename(beside.join("next"), &target)?))?);
    }
    line("watch", "jar", times);
    Ok(())
}
