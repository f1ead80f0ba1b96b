//! A process that keeps an answer current: what it prints, and what CPU time it takes until it does.
//!
//! The kernel brings the time of a thread up to date when the thread goes to sleep, and else with its ticks, which are
//! milliseconds apart. So that it is known to the microsecond what a cycle takes until its line is printed, the pipe is full
//! before the cycle begins: who prints, sleeps until somebody reads.

use std::collections::BTreeMap;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::path::Path;
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

/// The times that a process has taken so far.
struct Reading {
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
        let it = Watching { child, pipe, wanted, lines };
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
        while !self.prints()? {
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
        Ok(Cycle { told, line: line.since(&before), whole: whole.since(&before), facts })
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
        let path = format!("/proc/{}/wchan", self.child.id());
        let place = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
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
        Reading::of(Path::new(&format!("/proc/{}", self.child.id())))
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
    fn of(folder: &Path) -> Result<Reading> {
        let mut threads = BTreeMap::new();
        for entry in std::fs::read_dir(folder.join("task")).context("ajar has ended")? {
            let path = entry?.path();
            // A thread may end meanwhile.
            let Ok(text) = std::fs::read_to_string(path.join("schedstat")) else { continue };
            let number = path.file_name().and_then(|it| it.to_str()?.parse().ok());
            let time = text.split(' ').next().and_then(|it| it.parse().ok());
            let (Some(number), Some(time)) = (number, time) else {
                bail!("{} starts with no number", path.display());
            };
            threads.insert(number, time);
        }
        let stat = std::fs::read_to_string(folder.join("stat")).context("ajar has ended")?;
        let fields = stat.rsplit_once(')').map(|it| it.1).unwrap_or_default();
        let times = fields.split_ascii_whitespace().skip(11).take(2);
        let ticks = times.filter_map(|it| it.parse::<u64>().ok()).sum();
        Ok(Reading { threads, ticks })
    }

    /// What was taken since another reading. The threads that there are tell all, unless one ended, which the ticks betray:
    /// their two counts are cut off, so less than two are missing at either reading.
    fn since(&self, before: &Reading) -> Cpu {
        let of_thread = |(id, time): (&u32, &u64)| time - before.threads.get(id).unwrap_or(&0).min(time);
        let sum: u64 = self.threads.iter().map(of_thread).sum();
        let ticks = (self.ticks - before.ticks.min(self.ticks)) * TICK;
        let has_ended = before.threads.keys().any(|it| !self.threads.contains_key(it));
        let is_coarse = has_ended || ticks > sum + 2 * TICK;
        Cpu { nanoseconds: if is_coarse { ticks.max(sum) } else { sum }, is_coarse }
    }
}
