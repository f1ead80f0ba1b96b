//! `cargo xtask bench [WORD]`: our figures beside those of ASM 9, taken in the same run from the same bytes; as a table
//! and in `bench-out/bench.tsv`. A bench whose subject does not exist yet is not listed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::corpus::{self, output};
use crate::jdk::{self, Jdk};

/// Our figure against the peer's, both CPU time of one thread.
struct Bench {
    name: &'static str,
    /// Mode of `ajar-bench`, and of `AsmBench`.
    ours: &'static str,
    peers: &'static str,
    /// Module of the JDK image whose classes both read; `None` for all.
    module: Option<&'static str>,
    /// Both sides print the same counts.
    same_counts: bool,
    /// How many times faster we have to be.
    at_least: f64,
}

const BENCHES: &[Bench] = &[Bench {
    name: "JDK 17: read every instruction, handler and line",
    ours: "read",
    peers: "read",
    module: None,
    same_counts: true,
    at_least: 3.0,
}];

/// The release that the targets speak of.
const JDK_FEATURE: u32 = 17;

/// What one side printed: nanoseconds, then counts.
#[derive(Debug, PartialEq)]
struct Measured {
    seconds: f64,
    counts: String,
}

struct Row {
    name: &'static str,
    ours: f64,
    peers: f64,
    megabytes: f64,
    at_least: f64,
}

/// Runs the benches whose name contains `word`. Fails if one misses its target.
pub(crate) fn run(root: &Path, word: &str) -> Result<()> {
    let chosen: Vec<&Bench> = BENCHES.iter().filter(|it| it.name.contains(word)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = BENCHES.iter().map(|it| it.name).collect();
        bail!("no bench is named like `{word}`; there are:\n  {}", names.join("\n  "));
    }
    let out = root.join("bench-out");
    std::fs::create_dir_all(&out)?;
    let ours = build_ours(root)?;
    let peer = Peer::build(root, &out)?;
    let mut rows = Vec::new();
    for bench in chosen {
        eprintln!("{}: running", bench.name);
        let blob = out.join(format!("jdk-{}-{}.blob", peer.jdk.feature(), bench.module.unwrap_or("all")));
        write_blob(&ours, &peer.jdk, bench.module, &blob)?;
        let our_side = measured(&output(Command::new(&ours).arg(bench.ours).arg(&blob))?)?;
        let peers_side = measured(&output(&mut peer.command(bench.peers, &blob))?)?;
        if bench.same_counts && our_side.counts != peers_side.counts {
            bail!(
                "{}: both sides read the same bytes and counted differently: ours {}, peer's {}",
                bench.name,
                our_side.counts,
                peers_side.counts
            );
        }
        rows.push(Row {
            name: bench.name,
            ours: our_side.seconds,
            peers: peers_side.seconds,
            megabytes: std::fs::metadata(&blob)?.len() as f64 / 1e6,
            at_least: bench.at_least,
        });
    }
    print!("{}", table(&rows));
    std::fs::write(out.join("bench.tsv"), tsv(&rows))?;
    let missed = rows.iter().filter(|it| !it.passes()).count();
    if missed > 0 {
        bail!("{missed} of {} benches miss their target", rows.len());
    }
    Ok(())
}

/// Builds `ajar-bench` as users build the product, and asks cargo where it put it.
fn build_ours(root: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--package", "xtask", "--example", "ajar-bench"]);
    command.args(["--message-format", "json-render-diagnostics"]).current_dir(root).stderr(Stdio::inherit());
    let messages = output(&mut command)?;
    let executable = messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        if message.get("target")?.get("name")? != "ajar-bench" {
            return None;
        }
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    });
    executable.context("cargo did not say where ajar-bench is")
}

fn write_blob(ours: &Path, jdk: &Jdk, module: Option<&str>, blob: &Path) -> Result<()> {
    let mut command = Command::new(ours);
    command.arg("blob").arg(&jdk.home).arg(blob).args(module);
    output(&mut command).map(drop)
}

/// ASM on a JVM.
struct Peer {
    jdk: Jdk,
    class_path: std::ffi::OsString,
}

impl Peer {
    fn build(root: &Path, out: &Path) -> Result<Peer> {
        let jdk = jdk::find_all()
            .into_iter()
            .find(|it| it.feature() == JDK_FEATURE && it.home.join("bin/javac").is_file())
            .with_context(|| {
                format!("no JDK {JDK_FEATURE} with javac found: set JAVA_HOME, or install one")
            })?;
        corpus::run(root, "tools", true)?;
        let jars = root.join("corpus/tools/libasm-java/usr/share/java");
        let classes = out.join("classes");
        std::fs::create_dir_all(&classes)?;
        let mut parts = vec![classes.clone()];
        for name in ["asm", "asm-tree", "asm-analysis"] {
            parts.push(find_jar(&jars, name)?);
        }
        let class_path = std::env::join_paths(parts)?;
        let mut javac = Command::new(jdk.home.join("bin/javac"));
        javac.arg("-cp").arg(&class_path).arg("-d").arg(&classes).arg(root.join("xtask/bench/AsmBench.java"));
        output(&mut javac)?;
        Ok(Peer { jdk, class_path })
    }

    fn command(&self, mode: &str, blob: &Path) -> Command {
        let mut command = Command::new(self.jdk.home.join("bin/java"));
        command.args(["-XX:+UseSerialGC", "-Xmx3g", "-cp"]).arg(&self.class_path);
        command.arg("AsmBench").arg(mode).arg(blob);
        command
    }
}

/// `asm-9.4.jar` for `asm`, but not `asm-tree-9.4.jar`.
fn find_jar(folder: &Path, name: &str) -> Result<PathBuf> {
    let is_it = |file: &str| {
        let version = file.strip_prefix(name).and_then(|it| it.strip_prefix('-')?.strip_suffix(".jar"));
        version.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    };
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.file_name().and_then(|it| it.to_str()).is_some_and(is_it) {
            return Ok(path);
        }
    }
    bail!("{} holds no {name}-VERSION.jar", folder.display())
}

fn measured(line: &str) -> Result<Measured> {
    let (time, counts) = line.trim().split_once('\t').unwrap_or((line.trim(), ""));
    let nanoseconds: u64 = time.parse().with_context(|| format!("`{line}` starts with no time"))?;
    Ok(Measured { seconds: nanoseconds as f64 / 1e9, counts: counts.to_string() })
}

impl Row {
    fn ratio(&self) -> f64 {
        self.peers / self.ours
    }

    fn passes(&self) -> bool {
        self.ratio() >= self.at_least
    }

    fn verdict(&self) -> &'static str {
        if self.passes() { "pass" } else { "FAIL" }
    }
}

fn table(rows: &[Row]) -> String {
    let mut out = String::new();
    let width = rows.iter().map(|it| it.name.len()).max().unwrap_or(0);
    let _ = writeln!(out, "{:width$}  {:>8} {:>6}  {:>8}  ratio  target", "", "ours", "MB/s", "ASM 9");
    for row in rows {
        let (ours, peers, speed) = (row.ours, row.peers, row.megabytes / row.ours);
        let (ratio, at_least) = (row.ratio(), row.at_least);
        let verdict = row.verdict();
        let _ = writeln!(
            out,
            "{:width$}  {ours:>6.3} s {speed:>6.0}  {peers:>6.3} s  {ratio:>5.1}  {at_least:>6.1}  {verdict}",
            row.name
        );
    }
    out
}

fn tsv(rows: &[Row]) -> String {
    let mut out = "name\tours_s\tours_mb_per_s\tpeer_s\tratio\ttarget\tverdict\n".to_string();
    for row in rows {
        let (ours, peers, speed) = (row.ours, row.peers, row.megabytes / row.ours);
        let (ratio, at_least) = (row.ratio(), row.at_least);
        let verdict = row.verdict();
        let _ = writeln!(
            out,
            "{}\t{ours:.4}\t{speed:.0}\t{peers:.4}\t{ratio:.2}\t{at_least}\t{verdict}",
            row.name
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_passes_from_its_target_on() {
        let row = |peers| Row { name: "read", ours: 0.1, peers, megabytes: 100.0, at_least: 3.0 };
        let text = tsv(&[row(0.3125), row(0.25)]);
        assert_eq!(
            text,
            "name\tours_s\tours_mb_per_s\tpeer_s\tratio\ttarget\tverdict\n\
             read\t0.1000\t1000\t0.3125\t3.12\t3\tpass\n\
             read\t0.1000\t1000\t0.2500\t2.50\t3\tFAIL\n"
        );
        assert!(table(&[row(0.25)]).contains("2.5     3.0  FAIL"));
    }

    #[test]
    fn what_a_side_prints() {
        let found = measured("2000000000\t3\t4\n").unwrap();
        assert_eq!(found, Measured { seconds: 2.0, counts: "3\t4".to_string() });
        assert!(measured("soon\t3").is_err());
    }
}
