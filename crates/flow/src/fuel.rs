//! Cancellation checks at regular intervals of work.

use std::error::Error;
use std::fmt;

/// The work was given up because a caller wants to change an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl Error for Cancelled {}

/// The number of steps between two cancellation checks: some 25 µs at about 0.1 µs per step.
pub const PATIENCE: u32 = 256;

/// The number of steps charged for a lattice operation: one on sets not seen before takes about a microsecond.
pub(crate) const OPERATION: u32 = 8;

/// Counts steps of work and checks at intervals whether the work is cancelled.
pub struct Fuel<'a> {
    cancelled: &'a mut dyn FnMut() -> bool,
    patience: u32,
    left: u32,
}

impl<'a> Fuel<'a> {
    /// Checks before the first step, and then again after about every `patience` steps.
    pub fn new(patience: u32, cancelled: &'a mut dyn FnMut() -> bool) -> Self {
        Fuel { cancelled, patience, left: 0 }
    }

    /// Charges some steps, each about as long as a cache miss.
    ///
    /// # Errors
    /// [`Cancelled`] if the work is no longer wanted.
    #[inline]
    pub fn spend(&mut self, steps: u32) -> Result<(), Cancelled> {
        if let Some(left) = self.left.checked_sub(steps) {
            self.left = left;
            return Ok(());
        }
        self.ask()
    }

    /// Checks for cancellation now, after a step of unknown length.
    ///
    /// # Errors
    /// [`Cancelled`] if the work is no longer wanted.
    pub fn ask(&mut self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Checks for cancellation now.
    pub fn is_cancelled(&mut self) -> bool {
        self.left = self.patience;
        (self.cancelled)()
    }

    /// Charges steps of work that cannot be interrupted, without a check.
    pub(crate) fn owe(&mut self, steps: u32) {
        self.left = self.left.saturating_sub(steps);
    }
}

/// Runs work that is never cancelled.
pub fn uncancelled<T>(work: impl FnOnce(&mut Fuel<'_>) -> Result<T, Cancelled>) -> T {
    match work(&mut Fuel::new(u32::MAX, &mut || false)) {
        Ok(it) => it,
        Err(Cancelled) => unreachable!("this work is never cancelled"),
    }
}
