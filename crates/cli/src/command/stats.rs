//! `ajar stats`: shows the size of the program and the processor time and memory of its analysis.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use driver::usage;
use export::stats::{Stats, stats_json};
use ide::answer::ClassAnswer;

use crate::args::{Global, StatsArgs};
use crate::known::Known;
use crate::output::Output;
use crate::pass::{Maker, Pass};
use crate::report::Ended;
use crate::run::Run;
use crate::settings;

/// The [`Maker`] of `ajar stats`. It makes no output for single classes, because only the sums of their figures are
/// printed.
struct Figures;

impl Maker for Figures {
    const GRAPHS: bool = true;
    const FIGURES: bool = true;

    fn make(&self, _place: &str, _number: usize, _class: &ClassAnswer, _out: &mut Vec<u8>) {}
}

/// Runs `ajar stats`.
pub(crate) fn run(args: &StatsArgs, global: &Global) -> anyhow::Result<Ended> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json"])?;
    let run = Run::open(&settings, global, input, &args.select)?;
    let mut out = Output::open(args.output.output.as_ref())?;
    let mut summary = Pass::new(&run, &Known::default()).classes(&Figures, false, |_| Ok(()))?;
    scale(&mut summary.stats);
    summary.stats.peak_memory = usage::peak_memory();
    let header = run.header("stats", &[]);
    if format == "json" {
        out.write_all(&stats_json(&header, &summary.stats, &summary.trailer))?;
    } else {
        out.write_all(table(&summary.stats).as_bytes())?;
    }
    out.finish()?;
    Ok(run.end(&summary.trailer, summary.outcome).into())
}

/// Scales the times of the stages to processor time. The stages are measured as wall time, which on a busy machine is
/// more than their processor time. But the ratios between the stages are right, so the processor time of the process
/// is divided in these ratios.
fn scale(stats: &mut Stats) {
    let cpu = &mut stats.cpu;
    let sum = (cpu.read + cpu.decode + cpu.lower + cpu.flow).as_secs_f64();
    let Some(total) = usage::process_time().map(|it| it.as_secs_f64()) else { return };
    if sum > total && total > 0.0 {
        for it in [&mut cpu.read, &mut cpu.decode, &mut cpu.lower, &mut cpu.flow] {
            *it = Duration::from_secs_f64(it.as_secs_f64() * total / sum);
        }
    }
}

fn table(stats: &Stats) -> String {
    let mut text = String::new();
    let counts = [
        ("classes", stats.classes),
        ("methods", stats.methods),
        ("bytecode instructions", stats.instructions),
        ("BIR instructions", stats.bir_instructions),
        ("graph nodes", stats.nodes),
        ("graph edges", stats.edges),
        ("bytes of class files", stats.bytes),
    ];
    for (name, n) in counts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<24}{:>15}", grouped(n));
    }
    let cpu = &stats.cpu;
    let stages = [("read", cpu.read), ("decode", cpu.decode), ("lower", cpu.lower), ("flow", cpu.flow)];
    for (name, time) in stages {
        let _ = writeln!(text, "{:<24}{:>13.3} s", format!("processor, {name}"), time.as_secs_f64());
    }
    if let Some(it) = stats.peak_memory {
        let _ = writeln!(text, "{:<24}{:>11} MiB", "peak memory", grouped(it >> 20));
    }
    text
}

/// Returns the number with commas: `1,234,567`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        let all: Vec<String> = [0, 999, 1000, 1234567].into_iter().map(grouped).collect();
        assert_eq!(all, ["0", "999", "1,000", "1,234,567"]);
    }
}
