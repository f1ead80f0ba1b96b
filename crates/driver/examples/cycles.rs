//! Measures the CPU time of the crate `driver` in a cycle (the reaction to a change on disk). `cycles CLASSES [JDK]`
//! watches a copy of a class folder with a JDK, and rewrites one class file at a time with other bytes. It prints the
//! CPU time of all threads of the process for loading the changed world and for settling it.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use driver::config::{Overrides, Settings};
use driver::jdk::JdkChoice;
use driver::packages::Settler;
use driver::watch::{Watch, WatchOptions};
use driver::world::WorldSpec;

const ROUNDS: usize = 300;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let classes = Utf8PathBuf::from(arguments.next().context("which class folder?")?);
    let jdk = arguments.next().map_or(JdkChoice::Default, |it| JdkChoice::At(it.into()));
    let root =
        Utf8PathBuf::from_path_buf(std::env::temp_dir()).ok().context("a folder with a printable name")?;
    let root = root.join(format!("cycles-{}", std::process::id()));
    let mut files = Vec::new();
    copy(&classes, &root, &mut files)?;
    files.retain(|it| it.extension() == Some("class"));
    files.sort();
    let done = measure(&root, &files, jdk);
    std::fs::remove_dir_all(&root)?;
    done
}

fn measure(root: &Utf8Path, files: &[Utf8PathBuf], jdk: JdkChoice) -> anyhow::Result<()> {
    let spec = WorldSpec {
        inputs: vec![root.to_owned()],
        class_path: vec![],
        module_path: vec![],
        jdk,
        release: None,
    };
    let settings = Settings::resolve(&Overrides::default(), root, &|_| None)?;
    let (mut watch, mut world) = Watch::new(spec, vec![], WatchOptions::default())?;
    let mut settler = Settler::default();
    settler.settle(&mut world, &settings)?;
    println!("{} classes, {} of them watched", world.classes().count(), files.len());
    let mut measure =
        |what: &str, mut edit: Box<dyn FnMut(usize) -> anyhow::Result<()> + '_>| -> anyhow::Result<()> {
            let (mut waiting, mut settling) = (Vec::new(), Vec::new());
            for round in 0..ROUNDS {
                edit(round)?;
                let begin = cpu()?;
                let cycle =
                    watch.next(Some(Instant::now() + Duration::from_secs(60)))?.context("nothing came")?;
                let waited = cpu()?;
                let mut world = cycle.world;
                settler.settle(&mut world, &settings)?;
                let end = cpu()?;
                ensure!(cycle.kept.is_empty(), "{:?}", cycle.kept);
                waiting.push(waited - begin);
                settling.push(end - waited);
            }
            println!("{what}");
            report("waiting", waiting);
            report("settling", settling);
            Ok(())
        };
    let rewrite = |round: usize| {
        let file = &files[round * 37 % files.len()];
        let mut bytes = std::fs::read(file)?;
        // This changes the minor version, which has no effect.
        bytes[5] = bytes[5].wrapping_add(1);
        std::fs::write(file, bytes)?;
        Ok(())
    };
    measure("a class file is written", Box::new(rewrite))?;
    let (new, content) = (root.join("New.class"), std::fs::read(&files[0])?);
    let come_and_go = |round: usize| {
        if round.is_multiple_of(2) {
            std::fs::write(&new, &content)?
        } else {
            std::fs::remove_file(&new)?
        }
        Ok(())
    };
    measure("a class file appears or vanishes", Box::new(come_and_go))
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    println!("{what:>9}: {:>8.2?} at p50, {:>8.2?} at p90, {:>8.2?} at p99", at(50), at(90), at(99));
}

/// Returns the CPU time of all threads, to the nanosecond (proc(5), `schedstat`).
fn cpu() -> anyhow::Result<Duration> {
    // Makes the system count the time up to now.
    std::thread::yield_now();
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        sum += text.split(' ').next().context("a number")?.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(sum))
}

fn copy(from: &Utf8Path, to: &Utf8Path, acc: &mut Vec<Utf8PathBuf>) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in from.read_dir_utf8()? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(entry.path(), &to, acc)?;
        } else {
            std::fs::copy(entry.path(), &to)?;
            acc.push(to);
        }
    }
    Ok(())
}
