//! Asking often enough whether the work is still wanted.

use std::error::Error;
use std::fmt;

/// The work was given up because somebody wants to change something. What was done is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl Error for Cancelled {}

/// Steps between two questions: at about 0.1 µs a step some 25 µs.
pub(super) const PATIENCE: u32 = 256;

/// Steps that an operation of the lattice counts for: one on sets that were never met takes about a microsecond.
pub(super) const OPERATION: u32 = 8;

/// Counts steps of work and asks now and then whether to go on.
pub(super) struct Fuel<'a> {
    cancelled: &'a mut dyn FnMut() -> bool,
    patience: u32,
    left: u32,
}

impl<'a> Fuel<'a> {
    /// Asks before the first step.
    pub(super) fn new(patience: u32, cancelled: &'a mut dyn FnMut() -> bool) -> Self {
        Fuel { cancelled, patience, left: 0 }
    }

    /// Takes some steps, each about as long as a look into memory that is not in a cache.
    pub(super) fn spend(&mut self, steps: u32) -> Result<(), Cancelled> {
        if let Some(left) = self.left.checked_sub(steps) {
            self.left = left;
            return Ok(());
        }
        if (self.cancelled)() {
            return Err(Cancelled);
        }
        self.left = self.patience;
        Ok(())
    }

    /// Counts steps of what cannot be stopped in between.
    pub(super) fn owe(&mut self, steps: u32) {
        self.left = self.left.saturating_sub(steps);
    }
}
