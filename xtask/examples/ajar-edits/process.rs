//! A process that keeps an answer current: what it prints, and what CPU time it takes until it does.
//!
//! The kernel brings the time of a thread up to date when the thread goes to sleep, and else with its ticks, which are
//! milliseconds apart. So that it is known to the microsecond what a cycle takes until its line is printed, the pipe is full
//! before the cycle begins: who prints, sleeps until somebody reads.
//!
//! A control group of its own counts the threads that ended with the others. Who must not make one has the times of the threads that
//! are there; where one has ended, the process's to the hundredth of a second.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// The longest that a cycle may take before the run fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long it is quiet between two changes, as between two builds.
const QUIET: Duration = Duration::from_millis(500);

/// Who takes no CPU time for so long does nothing.
const STILL: Duration = Duration::from_millis(30);

/// The bytes that a pipe holds (pipe(7)).
const PIPE: usize = 65_536;

/// How a line about a cycle begins.
const CYCLE: &[u8] = br#"{"record":"cycle""#;

/// A line of ours behind all that was printed.
const MARK: &[u8] = b"mark\n";

/// Nanoseconds of a tick of the kernel's clock for users.
const TICK: u64 = 10_000_000;

/// A process that keeps an answer current.
pub(crate) struct Watching {
    child: Child,
    group: Option<Group>,
    /// The end of the pipe to which it prints.
    pipe: PipeWriter,
    /// Has the next line that counts read.
    wanted: Sender<()>,
    lines: Receiver<Line>,
}

/// What a cycle took, in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct Cycle {
    /// By the clock, from the change to its line.
    pub(crate) told: u64,
    /// Of CPU until the line is printed.
    pub(crate) line: Cpu,
    /// Of CPU until it is quiet again.
    pub(crate) whole: Cpu,
    /// How many facts came or went.
    pub(crate) facts: u64,
}

/// A time that a process took.
#[derive(Clone, Copy)]
pub(crate) struct Cpu {
    pub(crate) nanoseconds: u64,
    /// It is known to the tick only.
    pub(crate) is_coarse: bool,
}

/// A line that counts.
enum Line {
    /// About a cycle, with the facts that came or went.
    Cycle {
        at: Instant,
        facts: u64,
    },
    Mark,
}

/// A control group with one process in it (cgroups(7)).
struct Group {
    folder: PathBuf,
}

/// The times that a process has taken so far.
struct Reading {
    /// Nanoseconds of all threads that ever were, to the microsecond, if somebody counts them.
    group: Option<u64>,

    /// Nanoseconds of each thread that is there.
    threads: BTreeMap<u32, u64>,
    /// Ticks of all threads that ever were.
    ticks: u64,
}

impl Watching {
    /// Starts a command that prints JSON lines, and waits for the first answer.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let (reader, pipe) = std::io::pipe()?;
        let child = command.stdout(pipe.try_clone()?).spawn().context("cannot run ajar")?;
        // It holds an end of the pipe.
        command.stdout(std::process::Stdio::null());
        let ((wanted, asked), (sender, lines)) = (channel(), channel());
        std::thread::spawn(move || read(reader, asked, sender));
        let group = Group::of(child.id());
        let it = Watching { child, group, pipe, wanted, lines };
        ensure!(matches!(it.line()?, Line::Cycle { .. }), "nobody has written a mark yet");
        // It makes ready for changes.
        std::thread::sleep(8 * QUIET);
        it.still()?;
        Ok(it)
    }

    /// What a change takes.
    pub(crate) fn time(&mut self, change: impl FnOnce() -> Result<()>) -> Result<Cycle> {
        let mut filler = vec![b' '; PIPE];
        filler[PIPE - 1] = b'\n';
        self.pipe.write_all(&filler)?;
        let before = self.still()?;
        change()?;
        let begin = Instant::now();
        // Threads that come and go within a cycle are in no reading.
        let mut threads = BTreeSet::new();
        while !self.prints()? {
            threads.extend(threads_of(&self.folder())?);
            ensure!(begin.elapsed() < PATIENCE, "no cycle came");
            if let Some(status) = self.child.try_wait()? {
                bail!("ajar ended: {status}");
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let line = self.reading()?;
        let Line::Cycle { at, facts } = self.line()? else { bail!("nobody has written a mark") };
        let whole = self.still()?;
        std::thread::sleep(QUIET);
        self.wanted.send(()).context("nobody reads")?;
        self.pipe.write_all(MARK)?;
        ensure!(matches!(self.received()?, Line::Mark), "one change, and two cycles");
        let told = at.saturating_duration_since(begin).as_nanos() as u64;
        threads.extend(before.threads.keys());
        Ok(Cycle { told, line: line.since(&before, &threads), whole: whole.since(&before, &threads), facts })
    }

    /// The next line that counts.
    fn line(&self) -> Result<Line> {
        self.wanted.send(()).context("nobody reads")?;
        self.received()
    }

    fn received(&self) -> Result<Line> {
        self.lines.recv_timeout(PATIENCE).context("ajar prints nothing")
    }

    /// Whether the thread that prints sleeps because the pipe is full.
    fn prints(&self) -> Result<bool> {
        let path = self.folder().join("wchan");
        let place =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(place.contains("pipe_w"))
    }

    /// What it has taken when it does nothing any more.
    fn still(&self) -> Result<Reading> {
        let begin = Instant::now();
        let (mut last, mut since) = (self.reading()?, Instant::now());
        while since.elapsed() < STILL {
            ensure!(begin.elapsed() < PATIENCE, "ajar does not come to rest");
            std::thread::sleep(STILL / 6);
            let now = self.reading()?;
            if now.threads != last.threads {
                since = Instant::now();
            }
            last = now;
        }
        Ok(last)
    }

    fn reading(&self) -> Result<Reading> {
        Reading::of(&self.folder(), self.group.as_ref())
    }

    /// What the kernel says of it.
    fn folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.child.id()))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads until a line counts, each time that one is wanted.
fn read(mut pipe: PipeReader, wanted: Receiver<()>, to: Sender<Line>) {
    let (mut rest, mut bytes, mut at) = (Vec::new(), vec![0; PIPE], Instant::now());
    for () in wanted {
        let line = loop {
            if let Some(it) = counting(&mut rest, at) {
                break it;
            }
            match pipe.read(&mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(n) => {
                    // What was there is not parsed before the clock is read.
                    at = Instant::now();
                    rest.extend(&bytes[..n]);
                }
            }
        };
        if to.send(line).is_err() {
            return;
        }
    }
}

/// Takes the next line that counts out of what was read, with all before it.
fn counting(rest: &mut Vec<u8>, at: Instant) -> Option<Line> {
    let (mut first, mut found) = (0, None);
    while let Some(length) = rest[first..].iter().position(|it| *it == b'\n').filter(|_| found.is_none()) {
        let line = &rest[first..=first + length];
        if line == MARK {
            found = Some(Line::Mark);
        } else if line.starts_with(CYCLE) {
            found = Some(Line::Cycle { at, facts: facts(line) });
        }
        first += length + 1;
    }
    rest.drain(..first);
    found
}

/// The facts that came or went, by a line about a cycle.
fn facts(line: &[u8]) -> u64 {
    let value: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
    ["added", "removed"].iter().filter_map(|it| value[it].as_u64()).sum()
}

impl Reading {
    /// Of the process with this folder of `/proc`.
    fn of(folder: &Path, group: Option<&Group>) -> Result<Reading> {
        let mut threads = BTreeMap::new();
        for number in threads_of(folder)? {
            // A thread may end meanwhile.
            let path = folder.join(format!("task/{number}/schedstat"));
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            let time = text.split(' ').next().and_then(|it| it.parse().ok());
            threads.insert(number, time.context("schedstat starts with no number")?);
        }
        let stat = std::fs::read_to_string(folder.join("stat")).context("ajar has ended")?;
        let fields = stat.rsplit_once(')').map(|it| it.1).unwrap_or_default();
        let times = fields.split_ascii_whitespace().skip(11).take(2);
        let ticks = times.filter_map(|it| it.parse::<u64>().ok()).sum();
        Ok(Reading { group: group.and_then(Group::time), threads, ticks })
    }

    /// What was taken since another reading. The threads that there are tell all, unless one of those that were seen meanwhile
    /// has ended, or one that nobody saw, which the ticks betray: their two counts are cut off, so less than two are missing.
    fn since(&self, before: &Reading, seen: &BTreeSet<u32>) -> Cpu {
        if let (Some(before), Some(now)) = (before.group, self.group) {
            return Cpu { nanoseconds: now.saturating_sub(before), is_coarse: false };
        }
        let of_thread = |(id, time): (&u32, &u64)| time.saturating_sub(*before.threads.get(id).unwrap_or(&0));
        let sum: u64 = self.threads.iter().map(of_thread).sum();
        let ticks = self.ticks.saturating_sub(before.ticks) * TICK;
        let has_ended = seen.iter().any(|it| !self.threads.contains_key(it));
        let is_coarse = has_ended || ticks > sum + 2 * TICK;
        Cpu { nanoseconds: if is_coarse { ticks.max(sum) } else { sum }, is_coarse }
    }
}

impl Group {
    /// A new one with this process; `None` if the system has none of version 2, or lets nobody make one.
    fn of(process: u32) -> Option<Group> {
        for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
            let folder = Path::new(root).join(format!("ajar-edits-{process}"));
            if !Path::new(root).join("cgroup.procs").is_file() || std::fs::create_dir(&folder).is_err() {
                continue;
            }
            let group = Group { folder };
            let moved = std::fs::write(group.folder.join("cgroup.procs"), process.to_string());
            if moved.is_ok() && group.time().is_some() {
                return Some(group);
            }
        }
        None
    }

    /// Nanoseconds that were taken in it.
    fn time(&self) -> Option<u64> {
        let text = std::fs::read_to_string(self.folder.join("cpu.stat")).ok()?;
        let microseconds: u64 = text.lines().find_map(|it| it.strip_prefix("usage_usec "))?.parse().ok()?;
        Some(1000 * microseconds)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The process has ended, or never was in it.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// The threads of the process with this folder of `/proc`.
fn threads_of(folder: &Path) -> Result<Vec<u32>> {
    let entries = std::fs::read_dir(folder.join("task")).context("ajar has ended")?;
    Ok(entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok()).collect())
}
