//! A bar on a terminal for work that takes long.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that is done before this shows no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// Counts classes; shows itself when it is worth it.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    total: u64,
    done: u64,
    wanted: bool,
    begin: Instant,
}

impl Progress {
    /// A bar for `total` classes. None is shown when the result itself scrolls by on the terminal.
    pub(crate) fn new(total: usize, quiet: bool, result_on_terminal: bool) -> Progress {
        let wanted = !quiet && !result_on_terminal && std::io::stderr().is_terminal();
        Progress { bar: None, total: total as u64, done: 0, wanted, begin: Instant::now() }
    }

    /// One class more is done.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        if !self.wanted {
            return;
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.begin.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.total);
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} classes, {eta} left");
            // A template that does not parse would be ours; the bar then looks plain.
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar = Some(bar);
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
