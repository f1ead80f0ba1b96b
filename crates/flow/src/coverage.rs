//! Computes which rows of the exception table cover an instruction, for walks over the instructions in ascending
//! order.

use bir::body::{Body, ordinal};

/// A cursor that moves forward over the instructions of a body, with the exception-table rows that cover the current
/// instruction.
pub(crate) struct Coverage {
    /// The rows of the exception table, sorted by start: pairs of the ordinal of the first covered instruction and
    /// the row's index in the table.
    starts: Vec<(u32, u32)>,
    ends: Vec<(u32, u32)>,
    next_start: usize,
    next_end: usize,
    active: Vec<u32>,
}

impl Coverage {
    pub(crate) fn new(body: &Body) -> Self {
        let rows = || body.rows.iter().zip(0u32..).filter(|(row, _)| ordinal(row.start) < row.end);
        let mut starts: Vec<_> = rows().map(|(row, i)| (ordinal(row.start), i)).collect();
        let mut ends: Vec<_> = rows().map(|(row, i)| (row.end, i)).collect();
        starts.sort_unstable();
        ends.sort_unstable();
        Coverage { starts, ends, next_start: 0, next_end: 0, active: Vec::new() }
    }

    /// Moves the cursor back to the first instruction.
    pub(crate) fn rewind(&mut self) {
        (self.next_start, self.next_end) = (0, 0);
        self.active.clear();
    }

    /// Moves the cursor to the instruction with the ordinal `instr`, and returns the indices of the rows that cover
    /// this instruction, ascending. The ordinal must not be less than in the previous call.
    pub(crate) fn at(&mut self, instr: u32) -> &[u32] {
        while let Some(&(_, row)) = self.starts.get(self.next_start).filter(|it| it.0 <= instr) {
            if let Err(i) = self.active.binary_search(&row) {
                self.active.insert(i, row);
            }
            self.next_start += 1;
        }
        while let Some(&(_, row)) = self.ends.get(self.next_end).filter(|it| it.0 <= instr) {
            if let Ok(i) = self.active.binary_search(&row) {
                self.active.remove(i);
            }
            self.next_end += 1;
        }
        &self.active
    }
}
