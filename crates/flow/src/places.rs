//! Finds the exception-table rows that may cover the bytecode from which the expressions of an instruction come.
//!
//! BIR evaluates an expression on the operand stack that does not read the heap at the instruction that uses it. In
//! the bytecode, the expression may be at an earlier place, under other rows of the exception table: for example, an
//! `ldc` in a `try` block, used by the `return` after the block. The class or field is resolved at this earlier
//! place. But no expression is moved across a place where control joins.

use bir::body::{Body, Instr, ordinal};

/// A cursor that moves forward over the instructions of a body, with the exception-table rows that may cover the
/// bytecode from which the expressions of the current instruction come.
pub struct EarlierRows {
    /// For each instruction, the ordinal of the last instruction up to and including it at which control may join; 0
    /// if there is none. The bytecode from which the instruction's expressions come is never before that place.
    firsts: Vec<u32>,
    /// The rows of the exception table, sorted by start: pairs of the ordinal of the first covered instruction and
    /// the row's index in the table.
    starts: Vec<(u32, u32)>,
    ends: Vec<(u32, u32)>,
    next_start: usize,
    next_end: usize,
    active: Vec<u32>,
}

impl EarlierRows {
    /// Creates a cursor that is positioned before the first instruction of `body`.
    pub fn new(body: &Body) -> Self {
        let mut joins = vec![false; body.instrs.len() + 1];
        for (id, instr) in body.instrs.iter() {
            body.jumps(instr, |it| joins[ordinal(it) as usize] = true);
            joins[ordinal(id) as usize] |= matches!(instr, Instr::Catch(_));
            joins[ordinal(id) as usize + 1] |= !instr.falls_through();
        }
        let mut first = 0;
        let firsts = (0u32..).zip(&joins).map(|(i, &joins)| {
            first = if joins { i } else { first };
            first
        });
        let rows = || body.rows.iter().zip(0u32..);
        let mut starts: Vec<_> = rows().map(|(row, i)| (ordinal(row.start), i)).collect();
        let mut ends: Vec<_> = rows().map(|(row, i)| (row.end, i)).collect();
        starts.sort_unstable();
        ends.sort_unstable();
        EarlierRows { firsts: firsts.collect(), starts, ends, next_start: 0, next_end: 0, active: Vec::new() }
    }

    /// Moves the cursor to the instruction with the ordinal `instr`. Returns the indices of the rows that may cover
    /// the bytecode from which the instruction's expressions come, in the order of the table; rows that cover the
    /// instruction itself are included. The ordinal must not be less than in the previous call.
    pub fn at(&mut self, instr: u32) -> &[u32] {
        let first = self.firsts.get(instr as usize).copied().unwrap_or(instr);
        while let Some(&(_, row)) = self.starts.get(self.next_start).filter(|it| it.0 <= instr) {
            if let Err(i) = self.active.binary_search(&row) {
                self.active.insert(i, row);
            }
            self.next_start += 1;
        }
        // A row whose bytecode yielded no instruction ends where it starts.
        while let Some(&(_, row)) = self.ends.get(self.next_end).filter(|it| it.0 < first) {
            if let Ok(i) = self.active.binary_search(&row) {
                self.active.remove(i);
            }
            self.next_end += 1;
        }
        &self.active
    }
}
