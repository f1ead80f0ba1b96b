//! A process `ajar watch` that keeps a result current: reads its output, and measures the CPU time that it takes for
//! a cycle, that is, for the reaction to one change on disk.
//!
//! The kernel updates the CPU time of a thread when the thread goes to sleep, and otherwise only at clock ticks,
//! which are milliseconds apart. To measure the CPU time of a cycle to the microsecond, the output pipe of the
//! process is filled before the cycle begins. Then the thread that prints the line about the cycle must sleep until
//! this program reads from the pipe.
//!
//! The process gets a control group, whose CPU time includes threads that have ended. If no control group can be
//! created, the times of the present threads are used. If a thread has ended, the time of the process is used, which
//! is known only to a hundredth of a second.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// The longest time that a cycle may take before the run fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// The pause between two changes on disk, as between two builds.
const QUIET: Duration = Duration::from_millis(500);

/// The time without CPU use after which a process counts as idle.
const STILL: Duration = Duration::from_millis(30);

/// The capacity of a pipe in bytes (pipe(7)).
const PIPE: usize = 65_536;

/// The beginning of a printed line about a cycle.
const CYCLE: &[u8] = br#"{"record":"cycle""#;

/// A line that this program writes into the pipe to find the end of the output so far.
const MARK: &[u8] = b"mark\n";

/// The length in nanoseconds of the ticks in which the kernel reports the CPU time of a process.
const TICK: u64 = 10_000_000;

/// A running process `ajar watch`.
pub(crate) struct Watching {
    child: Child,
    group: Option<Group>,
    /// The writing end of the pipe that the process prints to.
    pipe: PipeWriter,
    /// Requests the next line about a cycle or mark from the reading thread.
    wanted: Sender<()>,
    lines: Receiver<Line>,
}

/// The cost of a cycle, in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct Cycle {
    /// The wall time from the change to the line about the cycle.
    pub(crate) told: u64,
    /// The CPU time until the line about the cycle is printed.
    pub(crate) line: Cpu,
    /// The CPU time until the process is idle again.
    pub(crate) whole: Cpu,
    /// The number of facts that the cycle added or removed.
    pub(crate) facts: u64,
}

/// An amount of CPU time that a process used.
#[derive(Clone, Copy)]
pub(crate) struct Cpu {
    pub(crate) nanoseconds: u64,
    /// Whether the time is known only to a hundredth of a second.
    pub(crate) is_coarse: bool,
}

/// A line in the pipe that is about a cycle or is a mark; all other lines are skipped.
enum Line {
    /// A line about a cycle: when it was read, and the number of facts that the cycle added or removed.
    Cycle {
        at: Instant,
        facts: u64,
    },
    Mark,
}

/// A control group that contains one process (cgroups(7)).
struct Group {
    folder: PathBuf,
}

/// The CPU times of a process at one moment.
struct Reading {
    /// The CPU time in nanoseconds of all threads, including ended ones, to the microsecond; `None` if there is no
    /// control group.
    group: Option<u64>,

    /// The CPU time in nanoseconds of each present thread, by the id of the thread.
    threads: BTreeMap<u32, u64>,
    /// The CPU time of all threads, including ended ones, in ticks.
    ticks: u64,
}

impl Watching {
    /// Starts a command `ajar watch` that prints JSON lines, and waits for its first result.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let (reader, pipe) = std::io::pipe()?;
        let child = command.stdout(pipe.try_clone()?).spawn().context("cannot run ajar")?;
        // Release the end of the pipe that the command holds.
        command.stdout(std::process::Stdio::null());
        let ((wanted, asked), (sender, lines)) = (channel(), channel());
        std::thread::spawn(move || read(reader, asked, sender));
        let group = Group::of(child.id());
        let it = Watching { child, group, pipe, wanted, lines };
        ensure!(matches!(it.line()?, Line::Cycle { .. }), "a mark was read before any was written");
        // Wait until the process has prepared for changes.
        std::thread::sleep(8 * QUIET);
        it.still()?;
        Ok(it)
    }

    /// Makes a change on disk, and measures the cost of the cycle that it causes.
    pub(crate) fn time(&mut self, change: impl FnOnce() -> Result<()>) -> Result<Cycle> {
        let mut filler = vec![b' '; PIPE];
        filler[PIPE - 1] = b'\n';
        self.pipe.write_all(&filler)?;
        let before = self.still()?;
        change()?;
        let begin = Instant::now();
        // Threads that start and end within a cycle are in no reading.
        let mut threads = BTreeSet::new();
        while !self.prints()? {
            threads.extend(threads_of(&self.folder())?);
            ensure!(begin.elapsed() < PATIENCE, "ajar reported no cycle within the time limit");
            if let Some(status) = self.child.try_wait()? {
                bail!("ajar ended: {status}");
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let line = self.reading()?;
        let Line::Cycle { at, facts } = self.line()? else { bail!("a mark was read before any was written") };
        let whole = self.still()?;
        std::thread::sleep(QUIET);
        self.wanted.send(()).context("the thread that reads the output has ended")?;
        self.pipe.write_all(MARK)?;
        ensure!(matches!(self.received()?, Line::Mark), "one change caused two cycles");
        let told = at.saturating_duration_since(begin).as_nanos() as u64;
        threads.extend(before.threads.keys());
        Ok(Cycle { told, line: line.since(&before, &threads), whole: whole.since(&before, &threads), facts })
    }

    /// Requests and returns the next line about a cycle or mark.
    fn line(&self) -> Result<Line> {
        self.wanted.send(()).context("the thread that reads the output has ended")?;
        self.received()
    }

    fn received(&self) -> Result<Line> {
        self.lines.recv_timeout(PATIENCE).context("ajar printed no line within the time limit")
    }

    /// Returns whether the thread that prints sleeps because the pipe is full.
    fn prints(&self) -> Result<bool> {
        let path = self.folder().join("wchan");
        let place =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(place.contains("pipe_w"))
    }

    /// Waits until the process is idle, and returns its CPU times.
    fn still(&self) -> Result<Reading> {
        let begin = Instant::now();
        let (mut last, mut since) = (self.reading()?, Instant::now());
        while since.elapsed() < STILL {
            ensure!(begin.elapsed() < PATIENCE, "ajar does not become idle");
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

    /// Returns the folder in `/proc` with the kernel's information about the process.
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

/// Reads from the pipe in a thread: for each request, sends the next line about a cycle or mark to `to`.
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
                    // The clock is read before the new bytes are parsed.
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

/// Removes the next line about a cycle or mark, and all lines before it, from the bytes that were read, and returns
/// it; `None` if there is no such line. `at` is the time at which the bytes were read.
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

/// Returns the number of facts that a cycle added or removed, according to the line about the cycle.
fn facts(line: &[u8]) -> u64 {
    let value: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
    ["added", "removed"].iter().filter_map(|it| value[it].as_u64()).sum()
}

impl Reading {
    /// Reads the CPU times of the process with this folder in `/proc`.
    fn of(folder: &Path, group: Option<&Group>) -> Result<Reading> {
        let mut threads = BTreeMap::new();
        for number in threads_of(folder)? {
            // A thread may end in the meantime.
            let path = folder.join(format!("task/{number}/schedstat"));
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            let time = text.split(' ').next().and_then(|it| it.parse().ok());
            threads.insert(number, time.context("schedstat does not start with a number")?);
        }
        let stat = std::fs::read_to_string(folder.join("stat")).context("ajar has ended")?;
        let fields = stat.rsplit_once(')').map(|it| it.1).unwrap_or_default();
        let times = fields.split_ascii_whitespace().skip(11).take(2);
        let ticks = times.filter_map(|it| it.parse::<u64>().ok()).sum();
        Ok(Reading { group: group.and_then(Group::time), threads, ticks })
    }

    /// Returns the CPU time since the earlier reading `before`. The sum over the present threads is exact unless a
    /// thread has ended: either one of the threads `seen` in the meantime, or an unseen one, which the ticks reveal.
    /// Both tick counts are rounded down, so a difference of less than two ticks is no evidence.
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
    /// Creates a control group with this process; `None` if the system has no control groups of version 2, or does
    /// not permit it.
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

    /// Returns the CPU time in nanoseconds that the processes of the group have used; `None` if it cannot be read.
    fn time(&self) -> Option<u64> {
        let text = std::fs::read_to_string(self.folder.join("cpu.stat")).ok()?;
        let microseconds: u64 = text.lines().find_map(|it| it.strip_prefix("usage_usec "))?.parse().ok()?;
        Some(1000 * microseconds)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The process has ended, or was never in the group.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// Returns the ids of the threads of the process with this folder in `/proc`.
fn threads_of(folder: &Path) -> Result<Vec<u32>> {
    let entries = std::fs::read_dir(folder.join("task")).context("ajar has ended")?;
    Ok(entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok()).collect())
}
