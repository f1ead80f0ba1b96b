//! The cost for `ajar watch throws` to keep its result current: the figures taken from the table that
//! `ajar-edits watch` prints, and their targets.

use anyhow::{Result, bail};

use crate::edits::{Table, Times};

/// A measured program: an application with the JDK, in one kind of world.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Program {
    pub(crate) app: App,
    pub(crate) world: World,
}

/// An application whose edits are measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum App {
    /// The assembler Jasmin, an application of about 150 classes.
    Jasmin,
    /// Guava, a library of about 2,000 classes.
    Guava,
}

/// The kind of world (`--world`): which classes may exist besides the present ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum World {
    Open,
    Declared,
    Closed,
}

/// A time of `ajar watch throws` that a bench measures, in ms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Watch {
    pub(crate) program: Program,
    pub(crate) change: Change,
    pub(crate) cost: Cost,
    pub(crate) percentile: Percentile,
}

/// The kind of change that the bench makes on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Change {
    /// Class files are replaced by files with different bytes but the same facts.
    Bytes,
    /// Class files are replaced such that facts may change.
    Facts,
    /// A jar of 60 MB is replaced by moving another jar to its path.
    Jar,
}

/// Which time of a cycle (the reaction of `ajar watch` to one change) is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cost {
    /// The wall time from the change on disk until `ajar watch` has printed the line that reports the cycle. Most of
    /// this time is waiting, so it is not scaled to the reference machine.
    Told,
    /// The CPU time that all threads use from the change on disk until `ajar watch` has printed the line that reports
    /// the cycle, scaled to the reference machine.
    Line,
    /// The CPU time that all threads use from the change on disk until the process is idle again, scaled to the
    /// reference machine.
    Whole,
}

/// The percentile of the measured times that is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Percentile {
    P50,
    P99,
}

/// All programs that are measured.
pub(crate) const PROGRAMS: [Program; 6] = {
    use App::{Guava, Jasmin};
    use World::{Closed, Declared, Open};
    [
        Program { app: Jasmin, world: Open },
        Program { app: Jasmin, world: Declared },
        Program { app: Jasmin, world: Closed },
        Program { app: Guava, world: Open },
        Program { app: Guava, world: Declared },
        Program { app: Guava, world: Closed },
    ]
};

impl Program {
    /// Returns the name of the program, as it appears in the names of benches.
    pub(crate) fn words(self) -> String {
        let app = match self.app {
            App::Jasmin => "Jasmin",
            App::Guava => "guava",
        };
        match self.world {
            World::Open => format!("{app} on JDK 17"),
            World::Declared | World::Closed => format!("{app} on JDK 17, {} world", self.world.word()),
        }
    }
}

impl World {
    /// Returns the value of the flag `--world` for this world.
    pub(crate) fn word(self) -> &'static str {
        match self {
            World::Open => "open",
            World::Declared => "declared",
            World::Closed => "closed",
        }
    }

    /// Returns the flags of `ajar watch throws` for this world; none for the open world, which is the default.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            World::Open => &[],
            World::Declared => &["--world", "declared"],
            World::Closed => &["--world", "closed"],
        }
    }
}

impl Change {
    /// Returns the word for this kind of change in the arguments of `ajar-edits watch`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Change::Bytes => "bytes",
            Change::Facts => "facts",
            Change::Jar => "jar",
        }
    }

    /// Returns the number of changes on disk that the bench makes, if the user requests `n_edits` edits. It is
    /// smaller than `n_edits`, because each change takes more than half a second.
    pub(crate) fn times(self, n_edits: u32) -> u32 {
        match self {
            Change::Bytes | Change::Facts => (n_edits / 10).max(8),
            Change::Jar => (n_edits / 100).max(2),
        }
    }
}

/// Returns all times of `ajar watch throws` that are measured, each with its target (a maximum in ms).
pub(crate) fn all() -> Vec<(Watch, f64)> {
    use Cost::{Line, Told, Whole};
    use Percentile::{P50, P99};
    let mut acc = Vec::new();
    for program in PROGRAMS {
        let mut add = |change, cost, percentile, most| {
            acc.push((Watch { program, change, cost, percentile }, most));
        };
        if program == (Program { app: App::Guava, world: World::Open }) {
            add(Change::Bytes, Whole, P99, 5.0);
        }
        add(Change::Facts, Line, P50, 3.0);
        add(Change::Facts, Line, P99, 15.0);
        add(Change::Facts, Told, P99, 100.0);
        if program == (Program { app: App::Jasmin, world: World::Open }) {
            add(Change::Jar, Told, P99, 250.0);
        }
    }
    acc
}

impl Watch {
    /// Returns the name of the bench that measures this time.
    pub(crate) fn name(self) -> String {
        let change = match self.change {
            Change::Bytes => "class file that changes no fact",
            Change::Facts => "class file that changes facts",
            Change::Jar => "jar of 60 MB moved",
        };
        let cost = match self.cost {
            Cost::Told => "written to printed",
            Cost::Line => "CPU until printed",
            Cost::Whole => "CPU until quiet",
        };
        let percentile = match self.percentile {
            Percentile::P50 => "p50",
            Percentile::P99 => "p99",
        };
        format!("ajar watch throws of {}: {change}, {cost}, {percentile}, ms", self.program.words())
    }

    /// Returns the measured time in ms, from a table of `ajar-edits watch`, and details as text for people. `pace`
    /// scales the times of this machine to the reference machine. For [`Change::Facts`], only cycles that reported a
    /// changed fact are used.
    pub(crate) fn figure(self, table: &Table, pace: f64) -> Result<(f64, String)> {
        let kind = match self.change {
            Change::Bytes | Change::Jar => "all",
            Change::Facts => "changed",
        };
        let (group, pace) = match self.cost {
            Cost::Told => ("told", 1.0),
            Cost::Line => ("line", pace),
            Cost::Whole => ("whole", pace),
        };
        let times = table.times(group, kind)?;
        let figure = match self.percentile {
            Percentile::P50 => times.p50,
            Percentile::P99 => times.p99,
        };
        let scaled = match self.cost {
            Cost::Told => "on this machine".to_string(),
            Cost::Line | Cost::Whole => format!(
                "on this machine, where ASM takes {:.1} times as long as on the reference machine",
                1.0 / pace
            ),
        };
        Ok((figure * pace, format!("p50/p99/most {scaled}: {}", seen(table, group)?)))
    }
}

/// Describes the times in the rows of one group of a table, as text for people.
fn seen(table: &Table, group: &str) -> Result<String> {
    let kinds = ["all", "changed", "source", "line", "throw", "call", "override", "ghost"];
    let times = |kind: &&str| {
        let Times { n, p50, p99, most } = table.times(group, kind).ok()?;
        Some(format!("{kind} {p50:.2}/{p99:.2}/{most:.2} ms ({n})"))
    };
    let parts: Vec<String> = kinds.iter().filter_map(times).collect();
    let Some([n, changed, coarse]) = table.counts("cycles", "all") else {
        bail!("the output of ajar-edits has no number of cycles");
    };
    let coarse = match coarse {
        0 => String::new(),
        _ => format!("; the CPU time of {coarse} cycles is known only to 10 ms"),
    };
    Ok(format!("{}; {changed} of {n} cycles reported a changed fact{coarse}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUAVA: Program = Program { app: App::Guava, world: World::Closed };

    #[test]
    fn names_tell_what_is_measured() {
        let names: Vec<String> = all().into_iter().map(|it| it.0.name()).collect();
        assert_eq!(names.len(), 20);
        assert_eq!(
            names[17],
            "ajar watch throws of guava on JDK 17, closed world: class file that changes facts, CPU until printed, p50, ms"
        );
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
    }

    #[test]
    fn figures_count_cycles_that_reported_a_fact() {
        let table = Table::read(
            "command\tajar watch throws app\n\
             told\tall\t4\t30000000\t40000000\t40000000\ntold\tchanged\t2\t40000000\t40000000\t40000000\n\
             line\tall\t4\t1000000\t4000000\t4000000\nline\tchanged\t2\t3000000\t4000000\t4000000\n\
             line\tthrow\t2\t3000000\t4000000\t4000000\ncycles\tall\t4\t2\t1\ncycles\tthrow\t2\t2\t0\n",
        );
        let watch = |cost, percentile| Watch { program: GUAVA, change: Change::Facts, cost, percentile };
        let (figure, seen) = watch(Cost::Line, Percentile::P50).figure(&table, 0.5).unwrap();
        assert_eq!(figure, 1.5);
        assert_eq!(
            seen,
            "p50/p99/most on this machine, where ASM takes 2.0 times as long as on the reference machine: all 1.00/4.00/4.00 ms (4), changed 3.00/4.00/4.00 ms (2), \
             throw 3.00/4.00/4.00 ms (2); 2 of 4 cycles reported a changed fact; the CPU time of 1 cycles is known only to 10 ms"
        );
        // Wall times are not scaled.
        assert_eq!(watch(Cost::Told, Percentile::P99).figure(&table, 0.5).unwrap().0, 40.0);
        assert!(watch(Cost::Whole, Percentile::P99).figure(&table, 0.5).is_err());
        assert_eq!(table.command(), Some("ajar watch throws app"));
    }
}
