//! A progress bar on the terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The time after which the progress bar appears; shorter work shows no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// A progress bar that counts classes and appears only if the work takes longer than [`PATIENCE`].
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    total: u64,
    done: u64,
    wanted: bool,
    begin: Instant,
}

impl Progress {
    /// Returns a progress bar for `total` classes. The bar stays hidden if `quiet` is set, if the result is printed
    /// on the terminal, or if stderr is no terminal.
    pub(crate) fn new(total: usize, quiet: bool, result_on_terminal: bool) -> Progress {
        let wanted = !quiet && !result_on_terminal && std::io::stderr().is_terminal();
        Progress { bar: None, total: total as u64, done: 0, wanted, begin: Instant::now() }
    }

    /// Counts one more finished class.
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
            // The template is a constant that parses; the default style is only a fallback.
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar = Some(bar);
        }
    }

    /// Removes the bar from the terminal.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
