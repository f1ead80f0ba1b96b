//! Cancellation checks at regular intervals of work.

use std::error::Error;
use std::fmt;

/// The error that work returns if it was stopped because its result is no longer needed, for example after a change
/// of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl Error for Cancelled {}

/// The usual number of steps of work between two cancellation checks: about 25 µs, at about 0.1 µs per step.
pub const PATIENCE: u32 = 256;

/// The number of steps of work that is counted for one lattice operation (a join, or an application of a function).
/// An operation on sets whose result is not cached takes about a microsecond.
pub(crate) const OPERATION: u32 = 8;

/// Counts steps of work, and checks at intervals whether the work is cancelled.
pub struct Fuel<'a> {
    cancelled: &'a mut dyn FnMut() -> bool,
    patience: u32,
    left: u32,
}

impl<'a> Fuel<'a> {
    /// Creates a counter that calls `cancelled` before the first step of work, and then after about every `patience`
    /// steps.
    pub fn new(patience: u32, cancelled: &'a mut dyn FnMut() -> bool) -> Self {
        Fuel { cancelled, patience, left: 0 }
    }

    /// Counts `steps` steps of work, and checks for cancellation if enough steps were counted since the last check. A
    /// step takes about as long as a cache miss.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the work was cancelled.
    #[inline]
    pub fn spend(&mut self, steps: u32) -> Result<(), Cancelled> {
        if let Some(left) = self.left.checked_sub(steps) {
            self.left = left;
            return Ok(());
        }
        self.ask()
    }

    /// Checks for cancellation immediately, for use after work of unknown length.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the work was cancelled.
    pub fn ask(&mut self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Checks for cancellation immediately, and returns whether the work was cancelled.
    pub fn is_cancelled(&mut self) -> bool {
        self.left = self.patience;
        (self.cancelled)()
    }

    /// Counts `steps` steps of work that cannot be interrupted. The check for cancellation is left to a later call of
    /// [`Fuel::spend`].
    pub(crate) fn owe(&mut self, steps: u32) {
        self.left = self.left.saturating_sub(steps);
    }
}

/// Runs `work` with a counter of steps that never reports a cancellation, and returns the result of `work`.
pub fn uncancelled<T>(work: impl FnOnce(&mut Fuel<'_>) -> Result<T, Cancelled>) -> T {
    match work(&mut Fuel::new(u32::MAX, &mut || false)) {
        Ok(it) => it,
        Err(Cancelled) => {
            unreachable!("`work` reported a cancellation, although the counter of steps never cancels")
        }
    }
}
