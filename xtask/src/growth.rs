//! Measures how the cost grows with the size of the program: the cost of the final graphs for the whole tier `large`
//! of the corpus, compared with a sample of its classes. Both are measured in one run, so that the speed of the
//! machine has no influence. System time is excluded, because the time to allocate memory depends on whether a
//! virtual machine has that memory already (for a program that only allocates 3.5 GB, 0.3 s and 10 s were observed),
//! and because memory is measured separately.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::corpus::{self, output};

/// The sample contains one out of this number of classes of the corpus tier `large`.
pub(crate) const ONE_IN: u32 = 10;

/// The cost of computing the final graphs of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    classes: f64,
    /// The CPU time in seconds that the computation takes in user mode.
    pub(crate) seconds: f64,
    /// The CPU time in seconds that the computation takes in the kernel.
    system: f64,
    /// The part of `seconds` that is spent on building and solving the system of inclusions.
    propagation: f64,
    /// The maximum memory in MB.
    pub(crate) memory: f64,
}

/// The costs of the final graphs of the corpus tier `large`: for a sample of its classes, and for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) sample: Cost,
    pub(crate) all: Cost,
}

impl Growth {
    /// Describes the costs for the sample and for all classes, as text for people.
    pub(crate) fn seen(&self) -> String {
        let side = |it: &Cost| {
            let Cost { classes, seconds, system, propagation, memory } = it;
            format!(
                "{classes} classes: {seconds:.2} s CPU in user mode (of this {propagation:.2} s to propagate) and {system:.2} s in the kernel, {memory:.0} MB"
            )
        };
        format!("{}; {}", side(&self.sample), side(&self.all))
    }
}

/// Measures the costs of the final graphs of a sample and of all classes of the corpus tier `large`, each in a
/// separate process. Fetches the tier if it is missing.
pub(crate) fn measure(root: &Path, out: &Path, ours: &Path, whole: &Path) -> Result<Growth> {
    let cost = |one_in: u32| {
        let (blob, classes) = sample(root, out, ours, one_in)?;
        let line = output(Command::new(whole).args(["program", "open"]).arg(&blob))?;
        let cost = cost(f64::from(classes), &line);
        // The file has half a gigabyte.
        std::fs::remove_file(&blob)?;
        cost
    };
    Ok(Growth { sample: cost(ONE_IN)?, all: cost(1)? })
}

/// Writes a blob (class files one after another) with one in `one_in` classes of the corpus tier `large`. Returns the
/// path of the blob and the number of its classes. Fetches the tier if it is missing.
pub(crate) fn sample(root: &Path, out: &Path, ours: &Path, one_in: u32) -> Result<(PathBuf, u32)> {
    let tier = root.join("corpus/large");
    if !tier.join("manifest.tsv").is_file() {
        corpus::run(root, "large", false)?;
    }
    let blob = out.join(format!("large-1-in-{one_in}.blob"));
    let mut sample = Command::new(ours);
    sample.arg("sample").arg(&tier).arg(&blob).arg(one_in.to_string());
    let classes = output(&mut sample)?.trim().parse().context("ajar-bench prints no number")?;
    Ok((blob, classes))
}

fn cost(classes: f64, line: &str) -> Result<Cost> {
    let numbers: Vec<f64> = line.trim().split('\t').filter_map(|it| it.parse().ok()).collect();
    let [records, program, solved, graphs, propagation, .., system, memory] = numbers[..] else {
        bail!("`{line}` is not the output of ajar-whole");
    };
    let seconds = (records + program + solved + graphs - system) / 1e9;
    Ok(Cost { classes, seconds, system: system / 1e9, propagation: propagation / 1e9, memory: memory / 1e6 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_from_the_line() {
        let line =
            "1000000000\t500000000\t250000000\t250000000\t125000000\t7\t8\t9\t10\t11\t500000000\t3000000\n";
        let cost = cost(12.0, line).unwrap();
        assert_eq!((cost.seconds, cost.propagation, cost.memory), (1.5, 0.125, 3.0));
        assert!(super::cost(1.0, "soon").is_err());
        let seen = Growth { sample: cost, all: cost }.seen();
        assert!(
            seen.starts_with(
                "12 classes: 1.50 s CPU in user mode (of this 0.12 s to propagate) and 0.50 s in the kernel, 3 MB; 12 classes"
            ),
            "{seen}"
        );
    }
}
