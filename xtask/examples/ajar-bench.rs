//! Measures ajar for `cargo xtask bench`, which builds this program with `--release` and runs each mode in a separate
//! process; `AsmBench` measures ASM in the same way.
//!
//! - `ajar-bench blob INPUT OUT [ROOT]` writes a *blob*: the classes of a JDK, jar or folder one after another, each
//!   after its length in four bytes (big-endian), so that ajar and ASM read the same bytes from memory. `ROOT`
//!   selects a module.
//! - `ajar-bench sample TIER OUT N` writes a blob with one in N of the classes of the jars in the manifest of a
//!   corpus tier, each name once. The choice depends only on the names. Prints the number of classes.
//! - `ajar-bench read BLOB` reads every instruction, handler and line.
//! - `ajar-bench graphs BLOB` computes the stackless form, the local facts and the graph of every method.
//! - `ajar-bench list JAR` lists a jar in memory and hashes its entries; `disk JAR` first reads the jar from disk.
//! - `ajar-bench facts BLOB` computes the facts of all classes, and prints the memory that the facts take, the size
//!   of the class files (both in bytes), and the number of classes.
//!
//! A mode that measures time prints the CPU time of its thread in nanoseconds, as the median of five rounds after
//! four warm-up rounds. Then it prints counts, which show whether ajar and ASM did the same work.

use std::collections::HashSet;
use std::hint::black_box;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result, bail};

use analysis::parts::{ClassParts, PartOptions, StageTimes, Wanted};
use classfile::class::ClassFile;
use driver::container::Scratch;
use driver::jdk::JdkChoice;
use driver::world::{DEFAULT_RELEASE, WorldSpec, list_archive, load};

const WARM_UP: usize = 4;
const ROUNDS: usize = 5;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["blob", input, out] => write_blob(input, out, None),
        ["blob", input, out, root] => write_blob(input, out, Some(root)),
        ["sample", tier, out, one_in] => sample(tier, out, one_in.parse()?),
        ["read", blob] => {
            let bytes = std::fs::read(blob).with_context(|| format!("cannot read {blob}"))?;
            let classes = split(&bytes)?;
            let counts = read(&classes)?;
            let time = median(|| read(&classes).map(drop))?;
            let Counts { bodies, instructions, handlers, lines, .. } = counts;
            println!("{time}\t{}\t{bodies}\t{instructions}\t{handlers}\t{lines}", classes.len());
            Ok(())
        }
        ["graphs", blob] => {
            let bytes = std::fs::read(blob).with_context(|| format!("cannot read {blob}"))?;
            let classes = split(&bytes)?;
            let nodes = graphs(&classes)?;
            let time = median(|| graphs(&classes).map(drop))?;
            println!("{time}\t{nodes}");
            Ok(())
        }
        ["list", jar] => {
            let bytes = std::fs::read(jar).with_context(|| format!("cannot read {jar}"))?;
            let mut copies: Vec<Vec<u8>> = (0..WARM_UP + ROUNDS).map(|_| bytes.clone()).collect();
            let mut n = 0;
            let time = median(|| {
                n = list(jar, copies.pop().unwrap_or_default())?;
                Ok(())
            })?;
            println!("{time}\t{n}");
            Ok(())
        }
        ["disk", jar] => {
            let mut n = 0;
            let time = median(|| {
                n = list(jar, std::fs::read(jar)?)?;
                Ok(())
            })?;
            println!("{time}\t{n}");
            Ok(())
        }
        ["facts", blob] => {
            let bytes = std::fs::read(blob).with_context(|| format!("cannot read {blob}"))?;
            let classes = split(&bytes)?;
            let before = own_memory()?;
            let kept: Vec<_> = classes
                .iter()
                .filter_map(|it| analysis::facts::class_facts(it).ok().map(|it| it.0))
                .collect();
            let grown = own_memory()?.saturating_sub(before);
            println!("{grown}\t{}\t{}", bytes.len(), kept.len());
            // The process ends here, so the memory need not be freed piece by piece.
            std::mem::forget(kept);
            Ok(())
        }
        _ => bail!(
            "usage: ajar-bench blob INPUT OUT [ROOT] | sample TIER OUT N | read|graphs|facts BLOB | list|disk JAR"
        ),
    }
}

/// Lists the classes of a jar and hashes each; returns the number of classes.
fn list(name: &str, bytes: Vec<u8>) -> Result<usize> {
    let (containers, _) = list_archive(name, bytes, DEFAULT_RELEASE).map_err(anyhow::Error::msg)?;
    let mut scratch = Scratch::new();
    let mut n = 0;
    for container in &containers {
        for entry in &container.classes {
            if let Err(problem) = container.identity(entry, &mut scratch) {
                bail!("{}: {problem:?}", container.display(entry));
            }
            n += 1;
        }
    }
    Ok(n)
}

/// Returns the memory of this process in bytes, without mapped files.
fn own_memory() -> Result<u64> {
    driver::usage::own_memory().context("this system does not report the memory of a process")
}

/// Computes the stackless form, local facts and graph of every method; returns the number of nodes.
fn graphs(classes: &[&[u8]]) -> Result<usize> {
    let mut scratch = analysis::parts::Scratch::default();
    let mut times = StageTimes::default();
    let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    let mut nodes = 0;
    for bytes in classes {
        let class = ClassParts::read(bytes)?;
        for method in class.methods(&options, &mut scratch, &mut times)? {
            if let Some(code) = method.code {
                let (code, positions) = code?;
                nodes += class.head.graph(&code).nodes.len();
                black_box(positions);
            }
        }
    }
    Ok(nodes)
}

fn write_blob(input: &str, out: &str, root: Option<&str>) -> Result<()> {
    let spec = WorldSpec {
        inputs: vec![input.into()],
        class_path: Vec::new(),
        module_path: Vec::new(),
        jdk: JdkChoice::None,
        release: None,
    };
    let world = load(&spec)?;
    let file = std::fs::File::create(out).with_context(|| format!("cannot write {out}"))?;
    let mut file = BufWriter::new(file);
    let mut scratch = Scratch::new();
    let mut n_classes = 0;
    for (container, entry) in world.classes() {
        if root.is_some_and(|it| entry.root().trim_matches('/') != it) {
            continue;
        }
        let bytes = match world.bytes(container, entry, &mut scratch) {
            Ok(found) => found.bytes,
            Err(problem) => bail!("{}: cannot be read: {problem:?}", container.display(entry)),
        };
        file.write_all(&u32::try_from(bytes.len())?.to_be_bytes())?;
        file.write_all(bytes)?;
        n_classes += 1;
    }
    file.flush()?;
    if n_classes == 0 {
        bail!("{input} contains no class{}", root.map(|it| format!(" in {it}")).unwrap_or_default());
    }
    println!("{n_classes}");
    Ok(())
}

fn sample(tier: &str, out: &str, one_in: u64) -> Result<()> {
    let manifest = format!("{tier}/manifest.tsv");
    let list = std::fs::read_to_string(&manifest).with_context(|| format!("cannot read {manifest}"))?;
    let jars = list.lines().skip(1).filter_map(|it| it.split('\t').nth(5));
    let inputs = jars.map(|it| format!("{tier}/{it}").into()).collect();
    let spec = WorldSpec {
        inputs,
        class_path: Vec::new(),
        module_path: Vec::new(),
        jdk: JdkChoice::None,
        release: None,
    };
    let world = load(&spec)?;
    let file = std::fs::File::create(out).with_context(|| format!("cannot write {out}"))?;
    let mut file = BufWriter::new(file);
    let (mut scratch, mut seen) = (Scratch::new(), HashSet::new());
    for (container, entry) in world.classes() {
        let chosen = mixed(entry.path()).is_multiple_of(one_in.max(1));
        // Like the JVM, use the first class of a name.
        if !chosen || !seen.insert(entry.path().to_owned()) {
            continue;
        }
        let Ok(found) = world.bytes(container, entry, &mut scratch) else { continue };
        file.write_all(&u32::try_from(found.bytes.len())?.to_be_bytes())?;
        file.write_all(found.bytes)?;
    }
    file.flush()?;
    println!("{}", seen.len());
    Ok(())
}

/// Returns a hash of a name (FNV-1a, folded).
fn mixed(name: &str) -> u64 {
    let step = |acc: u64, it: u8| (acc ^ u64::from(it)).wrapping_mul(0x0100_0000_01b3);
    let it = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    it ^ (it >> 32)
}

/// Splits a blob into its class files.
fn split(mut blob: &[u8]) -> Result<Vec<&[u8]>> {
    let mut classes = Vec::new();
    while let Some((length, rest)) = blob.split_first_chunk() {
        let length = u32::from_be_bytes(*length) as usize;
        let (class, rest) = rest.split_at_checked(length).context("the blob is truncated")?;
        classes.push(class);
        blob = rest;
    }
    Ok(classes)
}

#[derive(Default)]
struct Counts {
    bodies: u64,
    instructions: u64,
    handlers: u64,
    lines: u64,
    /// A hash of everything that was read, so that the compiler cannot remove any of the work.
    mixed: u64,
}

fn read(classes: &[&[u8]]) -> Result<Counts> {
    let mut counts = Counts::default();
    for bytes in classes {
        let class = ClassFile::parse(bytes)?;
        for method in class.methods() {
            let Some(code) = method.code()? else { continue };
            counts.bodies += 1;
            for insn in code.instructions() {
                let (pc, insn) = insn?;
                black_box(&insn);
                counts.instructions += 1;
                counts.mixed = counts.mixed.wrapping_add(u64::from(pc.0));
            }
            for handler in code.handlers() {
                black_box(handler?);
                counts.handlers += 1;
            }
            for (pc, line) in code.lines() {
                counts.lines += 1;
                counts.mixed = counts.mixed.wrapping_add(u64::from(pc.0) ^ u64::from(line));
            }
        }
    }
    black_box(counts.mixed);
    Ok(counts)
}

/// Runs `round` several times, and returns the median CPU time of this thread for one round, in nanoseconds.
fn median(mut round: impl FnMut() -> Result<()>) -> Result<u64> {
    let mut times = Vec::with_capacity(ROUNDS);
    for n in 0..WARM_UP + ROUNDS {
        let start = cpu_time()?;
        round()?;
        let time = cpu_time()? - start;
        if n >= WARM_UP {
            times.push(time);
        }
    }
    times.sort_unstable();
    Ok(times[ROUNDS / 2])
}

/// Returns the time in nanoseconds that this thread has run on a CPU, from `schedstat`: the times in `stat` have a
/// resolution of a hundredth of a second.
fn cpu_time() -> Result<u64> {
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let field = text.split(' ').next().unwrap_or_default();
    field.parse().with_context(|| format!("{path} starts with `{field}`"))
}
