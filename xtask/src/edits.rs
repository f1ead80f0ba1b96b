//! What it takes to keep answers current: the tables that `ajar-edits` prints, and what is made of them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::corpus::output;
use crate::growth;

/// How many edits of the application are made, if nothing else is said.
pub(crate) const EDITS: u32 = 1000;

/// How many edits show how cost grows. Of fewer the middle is not steady: from one half to the other kinds of edits follow.
const EDITS_GROWN: u32 = 500;

/// Milliseconds at the pace of the machine on which the targets were set that an edit may take for each set that it changes.
const FOR_A_SET: f64 = 0.004;

/// What `ajar-edits` printed.
#[derive(Clone, Debug)]
pub(crate) struct Table(Vec<Vec<String>>);

/// Milliseconds that edits took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Times {
    pub(crate) n: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) most: f64,
}

impl Table {
    /// Runs it.
    pub(crate) fn of(command: &mut Command) -> Result<Table> {
        Ok(Table::read(&output(command)?))
    }

    pub(crate) fn read(text: &str) -> Table {
        Table(text.lines().map(|it| it.split('\t').map(str::to_string).collect()).collect())
    }

    fn rows<'a>(&'a self, group: &'a str, kind: &'a str) -> impl Iterator<Item = Vec<f64>> + 'a {
        let rows = self.0.iter().filter(move |it| it.len() > 2 && it[0] == group && it[1] == kind);
        rows.map(|it| it[2..].iter().filter_map(|it| it.parse().ok()).collect())
    }

    /// The command that was measured, if it is one of the shipped program.
    pub(crate) fn command(&self) -> Option<&str> {
        self.0.iter().find(|it| it.len() == 2 && it[0] == "command").map(|it| it[1].as_str())
    }

    /// A row of three counts.
    pub(crate) fn counts(&self, group: &str, kind: &str) -> Option<[u64; 3]> {
        let row = self.rows(group, kind).next()?;
        <[f64; 3]>::try_from(row).ok().map(|it| it.map(|it| it as u64))
    }

    /// What edits of a kind took.
    pub(crate) fn times(&self, group: &str, kind: &str) -> Result<Times> {
        match self.rows(group, kind).next().as_deref() {
            Some(&[n, p50, p99, most]) => Ok(Times { n, p50: p50 / 1e6, p99: p99 / 1e6, most: most / 1e6 }),
            _ => bail!("ajar-edits says nothing of {group}, {kind}"),
        }
    }

    /// What an edit takes at p99 until all is asked, less what it may take for what it changes: in milliseconds at the pace
    /// of the machine on which the targets were set, for one that is as `pace` says.
    pub(crate) fn beyond(&self, group: &str, pace: f64) -> Result<f64> {
        let beyond = |it: Vec<f64>| match it[..] {
            [all, changed] => Some(all / 1e6 * pace - FOR_A_SET * changed),
            _ => None,
        };
        let mut beyond: Vec<f64> = self.rows(group, "edit").filter_map(beyond).collect();
        beyond.sort_by(f64::total_cmp);
        let place = (beyond.len() * 99).div_ceil(100);
        beyond.get(place.saturating_sub(1)).copied().with_context(|| format!("no edit of {group}"))
    }

    /// What was seen of a group, for people.
    pub(crate) fn seen(&self, group: &str) -> String {
        let kinds = ["all", "body", "throw", "call", "override", "class"];
        let times = |kind: &&str| {
            let Times { n, p50, p99, most } = self.times(group, kind).ok()?;
            Some(format!("{kind} {p50:.2}/{p99:.2}/{most:.2} ms ({n})"))
        };
        let mut parts: Vec<String> = kinds.iter().filter_map(times).collect();
        if let Some(&[unchanged, taken, rebuilt]) = self.rows(group, "ways").next().as_deref() {
            parts.push(format!(
                "{unchanged} changed no fact, {taken} were taken in, {rebuilt} made it rebuild"
            ));
        }
        if let Some(&[tell, read, change, ask]) = self.rows(group, "stages").next().as_deref() {
            let [tell, read, change, ask] = [tell, read, change, ask].map(|it| it / 1e6);
            parts.push(format!(
                "p50 of stages: tell {tell:.3}, take apart {read:.3}, change {change:.3}, ask {ask:.3} ms"
            ));
        }
        parts.join(", ")
    }
}

/// Edits of the sample of the large tier, each also made in all of it: p50 of both in milliseconds.
pub(crate) fn grown(root: &Path, out: &Path, ours: &Path, edits: &Path) -> Result<(f64, f64, String)> {
    let (sample, _) = growth::sample(root, out, ours, growth::ONE_IN)?;
    let (all, _) = growth::sample(root, out, ours, 1)?;
    let n = EDITS_GROWN.to_string();
    let table = Table::of(Command::new(edits).args(["grown", &n]).args([&sample, &all]))?;
    for it in [&sample, &all] {
        std::fs::remove_file(it)?;
    }
    let p50 = |group| Ok::<f64, anyhow::Error>(table.times(group, "all")?.p50);
    let seen = format!("{}; of all: {}", table.seen("alone"), table.seen("among"));
    Ok((p50("alone")?, p50("among")?, seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read() {
        let table = Table::read(
            "a\tall\t3\t1000000\t2000000\t4000000\na\tways\t1\t2\t0\na\tstages\t1000\t2000\t3000\t4000\n\
             a\tedit\t9000000\t1000\na\tedit\t2000000\t0\nb\tedit\t2\t0\n",
        );
        assert_eq!(table.times("a", "all").unwrap(), Times { n: 3.0, p50: 1.0, p99: 2.0, most: 4.0 });
        assert!(table.times("a", "body").is_err() && table.times("b", "all").is_err());
        // 9 ms at half the pace are 4.5 ms, and 4 ms are for a thousand sets.
        assert_eq!(table.beyond("a", 0.5).unwrap(), 1.0);
        assert_eq!(table.beyond("a", 1.0).unwrap(), 5.0);
        assert!(table.beyond("c", 1.0).is_err());
        assert_eq!(
            table.seen("a"),
            "all 1.00/2.00/4.00 ms (3), 1 changed no fact, 2 were taken in, 0 made it rebuild, \
             p50 of stages: tell 0.001, take apart 0.002, change 0.003, ask 0.004 ms"
        );
    }
}
