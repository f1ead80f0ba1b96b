//! The cost of keeping results current when classes are edited: reads the tables that `ajar-edits` prints, and
//! derives figures from them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::corpus::output;
use crate::growth;

/// The default number of edits that the benches make in an application.
pub(crate) const EDITS: u32 = 1000;

/// The number of edits in the bench that compares the times of edits in a large program and in a small one. With
/// fewer edits, the median is not stable, because it lies between the times of different kinds of edits.
const EDITS_GROWN: u32 = 500;

/// The time in ms on the reference machine that is allowed for each exception set that an edit changes. It is
/// subtracted from the time of the edit.
const FOR_A_SET: f64 = 0.004;

/// The table that `ajar-edits` prints, as rows of fields.
#[derive(Clone, Debug)]
pub(crate) struct Table(Vec<Vec<String>>);

/// The times in ms that `n` edits took: p50, p99 and maximum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Times {
    pub(crate) n: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) most: f64,
}

impl Table {
    /// Runs a command, and parses the table that it prints.
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

    /// Returns the command of the shipped binary `ajar` that was measured; `None` if the table names none.
    pub(crate) fn command(&self) -> Option<&str> {
        self.0.iter().find(|it| it.len() == 2 && it[0] == "command").map(|it| it[1].as_str())
    }

    /// Returns the three numbers in the row for a group and a kind, such as `cycles` and `all`. What they count
    /// depends on the group. `None` if there is no such row.
    pub(crate) fn counts(&self, group: &str, kind: &str) -> Option<[u64; 3]> {
        let row = self.rows(group, kind).next()?;
        <[f64; 3]>::try_from(row).ok().map(|it| it.map(|it| it as u64))
    }

    /// Returns the times of the edits of one kind in a group of classes; an error if the table has no such row.
    pub(crate) fn times(&self, group: &str, kind: &str) -> Result<Times> {
        match self.rows(group, kind).next().as_deref() {
            Some(&[n, p50, p99, most]) => Ok(Times { n, p50: p50 / 1e6, p99: p99 / 1e6, most: most / 1e6 }),
            _ => bail!("the output of ajar-edits has no row for {group}, {kind}"),
        }
    }

    /// Returns the p99, over the edits in this group of classes, of the time in ms until the exceptions of all
    /// methods are known, minus the time allowed for the exception sets that the edit changes. `pace` scales the
    /// times of this machine to the reference machine.
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

    /// Describes the measured times of edits in a group of classes, as text for people.
    pub(crate) fn seen(&self, group: &str) -> String {
        let kinds = ["all", "body", "throw", "call", "override", "class"];
        let times = |kind: &&str| {
            let Times { n, p50, p99, most } = self.times(group, kind).ok()?;
            Some(format!("{kind} {p50:.2}/{p99:.2}/{most:.2} ms ({n})"))
        };
        let mut parts: Vec<String> = kinds.iter().filter_map(times).collect();
        if let Some(&[unchanged, taken, rebuilt]) = self.rows(group, "ways").next().as_deref() {
            parts.push(format!(
                "{unchanged} edits changed no fact, {taken} updated the program, {rebuilt} rebuilt it"
            ));
        }
        if let Some(&[tell, read, change, ask]) = self.rows(group, "stages").next().as_deref() {
            let [tell, read, change, ask] = [tell, read, change, ask].map(|it| it / 1e6);
            parts.push(format!(
                "p50 of the stages of an edit: apply {tell:.3}, read {read:.3}, update {change:.3}, ask {ask:.3} ms"
            ));
        }
        parts.join(", ")
    }
}

/// Measures the same edits in the corpus tier `large` (a set of fetched jars) and in a sample of its classes. Returns
/// the p50 time in ms for the sample and for the whole tier, and details as text for people.
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
        // At half the speed, 9 ms count as 4.5 ms; 4 ms are allowed for a thousand sets.
        assert_eq!(table.beyond("a", 0.5).unwrap(), 1.0);
        assert_eq!(table.beyond("a", 1.0).unwrap(), 5.0);
        assert!(table.beyond("c", 1.0).is_err());
        assert_eq!(
            table.seen("a"),
            "all 1.00/2.00/4.00 ms (3), 1 edits changed no fact, 2 updated the program, 0 rebuilt it, \
             p50 of the stages of an edit: apply 0.001, read 0.002, update 0.003, ask 0.004 ms"
        );
    }
}
