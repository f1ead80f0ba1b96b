//! Measures how soon an update of the solved program stops after it is cancelled. `ajar-polls JDK APP LIB` uses the
//! modules APP and LIB of a JDK as an application and a library, and the other modules as the JDK. For each kind of
//! update, this program prints the number of runs and the maximum duration. It also prints two times at p50, p99 and
//! maximum: the time between two checks for cancellation, and the time from a cancellation at a random check to the
//! end of the work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use analysis::keeper::{Advance, Keeper};
use analysis::tiers::{ClassKey, Tier};
use anyhow::{Context, Result, bail};
use driver::container::Scratch as Archive;
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};
use ide::whole::{ClassRecord, read_class};
use ide::{Role, Scratch, Settings, WorldKind};
use test_utils::rng::Rng;

/// The classes of a container: the class file and the record of each.
type Classes = Vec<(Vec<u8>, ClassRecord)>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [jdk, app, lib] => measure(&read(jdk, [app, lib])?),
        _ => bail!("usage: ajar-polls JDK APP LIB"),
    }
}

/// Reads the classes of a JDK: those of the first module, of the second, and of all other modules.
fn read(jdk: &str, modules: [&str; 2]) -> Result<[Classes; 3]> {
    let spec = WorldSpec {
        inputs: vec![jdk.into()],
        class_path: Vec::new(),
        module_path: Vec::new(),
        jdk: JdkChoice::None,
        release: None,
    };
    let world = load(&spec)?;
    let (mut archive, mut scratch) = (Archive::new(), Scratch::default());
    let mut acc = [Vec::new(), Vec::new(), Vec::new()];
    for (container, entry) in world.classes() {
        let root = entry.root().trim_matches('/').to_owned();
        let at = modules.iter().position(|it| *it == root).unwrap_or(2);
        let Ok(found) = world.bytes(container, entry, &mut archive) else { continue };
        let is_module = found.bytes.windows(11).any(|it| it == b"module-info") && at != 2;
        match read_class(found.bytes, &mut scratch) {
            Ok(record) if !is_module => acc[at].push((found.bytes.to_vec(), record)),
            _ => {}
        }
    }
    Ok(acc)
}

/// The measured times of one kind of update of the program.
#[derive(Default)]
struct Measured {
    times: Vec<Duration>,
    gaps: Vec<Duration>,
    ends: Vec<Duration>,
}

impl Measured {
    fn print(&mut self, what: &str) {
        let most = self.times.iter().max().copied().unwrap_or_default();
        print!("{what}\t{} times, at most {most:?}", self.times.len());
        for (name, list) in [("between", &mut self.gaps), ("to the end", &mut self.ends)] {
            list.sort_unstable();
            let at = |p: usize| list.get((list.len() * p / 100).min(list.len().saturating_sub(1)));
            let [p50, p99, most] = [50, 99, 100].map(|it| at(it).copied().unwrap_or_default());
            print!("; {name} ({}) {p50:?} {p99:?} {most:?}", list.len());
        }
        println!();
    }
}

/// A clock for the time between two calls. In gaps above 500 µs, time in which the thread waited for a CPU is
/// excluded.
struct Clock {
    last: Instant,
    waited: Duration,
}

impl Clock {
    fn start() -> Self {
        Clock { last: Instant::now(), waited: waited() }
    }

    /// Returns the time since the last call of this function.
    fn gap(&mut self) -> Duration {
        let mut gap = self.last.elapsed();
        if gap > Duration::from_micros(500) {
            let before = std::mem::replace(&mut self.waited, waited());
            gap = gap.saturating_sub(self.waited - before);
        }
        self.last = Instant::now();
        gap
    }
}

/// Returns the total time that this thread has waited for a CPU.
fn waited() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let field = text.split(' ').nth(1).and_then(|it| it.parse().ok());
    Duration::from_nanos(field.unwrap_or(0))
}

struct Run {
    keeper: Keeper,
    settings: Arc<Settings>,
    tiers: Vec<Tier>,
    rng: Rng,
}

impl Run {
    /// Updates the program, and records the times. If `break_off` is set, a first attempt is cancelled at a random
    /// check.
    fn advance(&mut self, measured: &mut Measured, break_off: bool) -> Result<Advance> {
        if break_off {
            let n = 1 + self.rng.below([8, 256, 8_192, 65_536][self.rng.clone().below(4) as usize]);
            let (mut polls, mut clock) = (0, Clock::start());
            let done = self.keeper.advance(&self.settings, self.tiers.clone(), &mut || {
                polls += 1;
                clock.gap();
                polls == n
            });
            if done.is_err() {
                measured.ends.push(clock.gap());
            }
        }
        let start = Instant::now();
        let mut clock = Clock::start();
        let mut gaps = Vec::with_capacity(1 << 16);
        let tiers = self.tiers.clone();
        let shows = std::env::var_os("AJAR_GAPS").is_some();
        let done = self.keeper.advance(&self.settings, tiers, &mut || {
            let gap = clock.gap();
            gaps.push(gap);
            if shows && gap > Duration::from_millis(4) {
                let trace = std::backtrace::Backtrace::force_capture().to_string();
                let names = trace
                    .lines()
                    .filter(|it| ["analysis::", "flow::", "program::"].iter().any(|n| it.contains(n)));
                let names: Vec<&str> = names.filter_map(|it| it.split(": ").nth(1)).take(4).collect();
                println!("  {gap:?} {}", names.join(" < "));
            }
            false
        });
        let gap = clock.gap();
        gaps.push(gap);
        if shows && gap > Duration::from_millis(4) {
            println!("  {gap:?} at the end, {:?}", done.as_ref().map(|it| it.1));
        }
        measured.times.push(start.elapsed());
        measured.gaps.append(&mut gaps);
        Ok(done.ok().context("the work was cancelled")?.1)
    }

    fn keep_current(&mut self, measured: &mut Measured) -> Result<()> {
        let start = Instant::now();
        let mut clock = Clock::start();
        let mut gaps = Vec::with_capacity(1 << 16);
        let done = self.keeper.keep_current(&mut || {
            gaps.push(clock.gap());
            false
        });
        gaps.push(clock.gap());
        measured.times.push(start.elapsed());
        measured.gaps.append(&mut gaps);
        done.ok().context("the work was cancelled")
    }
}

fn tier(role: Role, classes: &Classes, first: usize) -> Tier {
    let key = |i: usize| (role == Role::App).then_some(ClassKey((first + i) as u32));
    let records = classes.iter().enumerate().map(|(i, it)| (key(i), it.1.clone()));
    Tier { role, records: records.collect() }
}

/// Flips a random bit of a class file, and returns the record of the result; `None` if the result is not a class of
/// the same name with a different record.
fn edited(bytes: &[u8], record: &ClassRecord, rng: &mut Rng) -> Option<ClassRecord> {
    let mut bytes = bytes.to_vec();
    let i = rng.range(10, bytes.len() as i32 - 1) as usize;
    bytes[i] ^= 1 << rng.range(0, 4);
    let now = read_class(&bytes, &mut Scratch::default()).ok()?;
    (now.class() == record.class() && now != *record).then_some(now)
}

fn measure([app, lib, jdk]: &[Classes; 3]) -> Result<()> {
    println!("{} classes of the application, {} of the library, {} others", app.len(), lib.len(), jdk.len());
    let tiers = vec![tier(Role::App, app, 0), tier(Role::Lib, lib, 0), tier(Role::Jdk, jdk, 0)];
    let settings = Arc::new(Settings::new(WorldKind::Open, 17));
    let mut run = Run { keeper: Keeper::default(), settings, tiers, rng: Rng::new(17) };
    let mut rebuilds = Measured::default();
    for n in 0..8 {
        // Use another world or option each time, so that the program is rebuilt.
        let mut settings =
            Settings::new([WorldKind::Open, WorldKind::Closed, WorldKind::Declared][n % 3], 17);
        settings.options.link_errors = n % 2 == 1;
        run.settings = Arc::new(settings);
        run.advance(&mut rebuilds, true)?;
    }
    rebuilds.print("rebuild");
    let mut rta = Measured::default();
    for n in 0..3 {
        let mut settings = Settings::new([WorldKind::Open, WorldKind::Closed][n % 2], 17);
        settings.entries =
            Some(ide::entries::EntryRequest { app: true, library: true, ..Default::default() });
        settings.receivers = Some(ide::entries::Receivers::Created);
        run.settings = Arc::new(settings);
        run.advance(&mut rta, true)?;
    }
    rta.print("rebuild, RTA");
    run.settings = Arc::new(Settings::new(WorldKind::Open, 17));
    run.advance(&mut rebuilds, false)?;
    let mut first = Measured::default();
    run.keep_current(&mut first)?;
    first.print("first keep_current");

    let (mut code, mut more, mut refused) = (Measured::default(), Measured::default(), 0);
    for n in 0..600 {
        let at = run.rng.below(app.len() as u32) as usize;
        let Some(record) = edited(&app[at].0, &app[at].1, &mut run.rng) else { continue };
        let of_code = record.outline() == app[at].1.outline();
        let measured = if of_code { &mut code } else { &mut more };
        let mut records = run.tiers[0].records.to_vec();
        records[at].1 = record;
        let original = run.tiers[0].clone();
        run.tiers[0].records = records.into();
        if run.advance(measured, n % 2 == 0)? == Advance::Rebuilt {
            refused += 1;
        }
        run.tiers[0] = original;
        run.advance(measured, false)?;
    }
    code.print("code of a class");
    more.print("more of a class");
    println!("{refused} rebuilt the program");

    let mut library = Measured::default();
    for n in 0..6 {
        let original = run.tiers[1].clone();
        if n % 2 == 0 {
            run.tiers[1].records = Vec::new().into();
        } else {
            let mut rng = Rng::new(n);
            let mut other = |it: &(Vec<u8>, ClassRecord)| {
                let record = (0..20).find_map(|_| edited(&it.0, &it.1, &mut rng));
                (None, record.unwrap_or_else(|| it.1.clone()))
            };
            run.tiers[1].records = lib.iter().map(&mut other).collect();
        }
        println!("library: {:?}", run.advance(&mut library, n > 3)?);
        run.tiers[1] = original;
        println!("library back: {:?}", run.advance(&mut library, n > 3)?);
    }
    library.print("library");
    Ok(())
}
