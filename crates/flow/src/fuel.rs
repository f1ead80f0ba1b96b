//! Asking often enough whether the work is still wanted.

use std::error::Error;
use std::fmt;

/// The work was given up because somebody wants to change something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl Error for Cancelled {}

/// Steps between two questions: at about 0.1 µs a step some 25 µs.
pub const PATIENCE: u32 = 256;

/// Steps that an operation of the lattice counts for: one on sets that were never met takes about a microsecond.
pub(crate) const OPERATION: u32 = 8;

/// Counts steps of work and asks now and then whether to go on.
pub struct Fuel<'a> {
    cancelled: &'a mut dyn FnMut() -> bool,
    patience: u32,
    left: u32,
}

impl<'a> Fuel<'a> {
    /// Asks before the first step, and then each time after about so many steps.
    pub fn new(patience: u32, cancelled: &'a mut dyn FnMut() -> bool) -> Self {
        Fuel { cancelled, patience, left: 0 }
    }

    /// Takes some steps, each about as long as a look into memory that is not in a cache.
    ///
    /// # Errors
    /// When the work is not wanted any more.
    #[inline]
    pub fn spend(&mut self, steps: u32) -> Result<(), Cancelled> {
        if let Some(left) = self.left.checked_sub(steps) {
            self.left = left;
            return Ok(());
        }
        self.ask()
    }

    /// Asks now, after a step of unknown length.
    ///
    /// # Errors
    /// When the work is not wanted any more.
    pub fn ask(&mut self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Asks now.
    pub fn is_cancelled(&mut self) -> bool {
        self.left = self.patience;
        (self.cancelled)()
    }

    /// Counts steps of what cannot be stopped in between.
    pub(crate) fn owe(&mut self, steps: u32) {
        self.left = self.left.saturating_sub(steps);
    }
}

/// Does work that nobody cancels.
pub fn uncancelled<T>(work: impl FnOnce(&mut Fuel<'_>) -> Result<T, Cancelled>) -> T {
    match work(&mut Fuel::new(u32::MAX, &mut || false)) {
        Ok(it) => it,
        Err(Cancelled) => unreachable!("nobody cancels"),
    }
}
