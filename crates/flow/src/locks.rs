//! Finds the instructions at which IllegalMonitorStateException may be raised, by counting how often each lock value
//! is held (`semantics.md` §3.4).
//!
//! The operand of each monitor instruction is traced back to the instruction, parameter or constant that produced the
//! value. A forward pass counts how often each value is held. Nothing is proved if the instruction that produced a
//! value runs again while the value is held, if an operand has several sources, or if counts differ between paths.
//!
//! A method that releases its caller's monitor never counts as balanced (JVMS §2.11.10, structured locking).

use bir::body::{Body, Expr, Instr, InstrId, Var, instr_id, ordinal};

use crate::blocks::{Blocks, Handlers};
use crate::reaching::{Reaching, Source};

/// The instructions of a method at which IllegalMonitorStateException may be raised, because it is not proved that
/// the method's monitors are balanced. Both lists are empty if the monitors are proved to be balanced on every path.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Locks {
    /// The `monitorexit` and `return` instructions that may raise IllegalMonitorStateException, ascending.
    pub at: Box<[InstrId]>,
    /// The instructions that may raise an exception while monitors may be unbalanced, ascending. If such an exception
    /// leaves the method, it may be replaced by IllegalMonitorStateException.
    pub leaving: Box<[InstrId]>,
}

/// The origin of a value that a monitor instruction locks or unlocks (a lock value): an instruction, the value of a
/// variable at entry, or a constant.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Maker {
    Instr(InstrId),
    Entry(Var),
    Constant(Expr),
}

/// The maximum number of lock values in one method: values that monitor instructions lock or unlock. For a method
/// with more, nothing is proved about monitors.
const MAX_LOCKS: usize = 16;
/// The count of a lock value whose real count is not known, for example because it differs between paths that join.
const UNKNOWN: u8 = u8::MAX;
/// For each lock value, by its index, the number of times that the method holds the lock of this value at one point
/// of the body; [`UNKNOWN`] if this number is not known.
type Counts = [u8; MAX_LOCKS];

/// Finds the instructions of a method at which IllegalMonitorStateException may be raised, because it is not proved
/// that the monitors are balanced.
pub fn locks(body: &Body) -> Locks {
    let is_monitor = |it: &Instr| matches!(it, Instr::MonitorEnter(_) | Instr::MonitorExit(_));
    if !body.instrs.values().any(is_monitor) {
        return Locks::default();
    }
    let blocks = Blocks::new(body);
    match (lock_values(body), Handlers::new(body, &blocks)) {
        (Some(values), Some(handlers)) => {
            let at_start = vec![None; blocks.len()];
            Counting { body, values, blocks, handlers, at_start, pending: Vec::new() }.run()
        }
        _ => nothing_proved(body),
    }
}

fn nothing_proved(body: &Body) -> Locks {
    let may_raise = |it: &Instr| matches!(it, Instr::MonitorExit(_) | Instr::Return(_));
    Locks {
        at: body.instrs.iter().filter(|it| may_raise(it.1)).map(|it| it.0).collect(),
        leaving: body.instrs.iter().map(|it| it.0).collect(),
    }
}

/// The origins of the lock values of a method, and for each monitor instruction the index of the lock value that it
/// locks or unlocks.
struct LockValues {
    makers: Vec<Maker>,
    used: Vec<(InstrId, usize)>,
}

fn lock_values(body: &Body) -> Option<LockValues> {
    let mut acc = LockValues { makers: Vec::new(), used: Vec::new() };
    let mut reaching = Reaching::new(body);
    for (id, instr) in body.instrs.iter() {
        let (Instr::MonitorEnter(e) | Instr::MonitorExit(e)) = *instr else { continue };
        let mut makers = Vec::new();
        reaching.sources(id, e, |source, _| {
            let maker = match source {
                Source::Entry(var) => Some(Maker::Entry(var)),
                Source::Expr(e) | Source::Instr(_, Some(e)) if is_constant(&body.exprs[e]) => {
                    Some(Maker::Constant(body.exprs[e]))
                }
                Source::Instr(id, _) => Some(Maker::Instr(id)),
                Source::Expr(_) | Source::Unknown => None,
            };
            if !makers.contains(&maker) {
                makers.push(maker);
            }
        });
        let &[Some(maker)] = &makers[..] else { return None };
        let i = acc.makers.iter().position(|&it| it == maker).unwrap_or(acc.makers.len());
        if i == MAX_LOCKS {
            return None;
        }
        if i == acc.makers.len() {
            acc.makers.push(maker);
        }
        acc.used.push((id, i));
    }
    Some(acc)
}

fn is_constant(e: &Expr) -> bool {
    matches!(e, Expr::Str(_) | Expr::Class(_) | Expr::MethodType(_) | Expr::MethodHandle(_))
}

/// The forward pass over a method that computes how often the lock of each lock value is held at each instruction.
struct Counting<'a> {
    body: &'a Body,
    values: LockValues,
    blocks: Blocks,
    handlers: Handlers,
    /// The counts of the lock values at the start of each block; `None` until the pass reaches the block.
    at_start: Vec<Option<Counts>>,
    /// The numbers of the blocks that the pass must still visit.
    pending: Vec<u32>,
}

impl Counting<'_> {
    fn run(mut self) -> Locks {
        self.enter(0, [0; MAX_LOCKS]);
        // Each count of a block changes at most twice: when the block is reached, and to unknown.
        while let Some(block) = self.pending.pop() {
            self.visit(block, |_, _, _| {});
        }
        let mut at = Vec::new();
        let mut leaving = Vec::new();
        for block in 0..self.blocks.len() as u32 {
            self.visit(block, |it, id, counts| {
                let balanced = counts.iter().all(|&it| it == 0);
                match it.body.instrs[id] {
                    Instr::Return(_) if !balanced => at.push(id),
                    Instr::MonitorExit(_) if !it.holds(id, counts) => at.push(id),
                    _ => {}
                }
                let leaves = !it.handlers.takes_all(block) && !it.is_quiet(id, counts);
                if !balanced && leaves {
                    leaving.push(id);
                }
            });
        }
        Locks { at: at.into(), leaving: leaving.into() }
    }

    fn enter(&mut self, block: u32, counts: Counts) {
        let Some(at_start) = self.at_start.get_mut(block as usize) else { return };
        let joined = match *at_start {
            None => counts,
            Some(old) => std::array::from_fn(|i| if old[i] == counts[i] { old[i] } else { UNKNOWN }),
        };
        if *at_start != Some(joined) {
            *at_start = Some(joined);
            self.pending.push(block);
        }
    }

    /// Returns the index of the lock value that a monitor instruction locks or unlocks; `None` for other
    /// instructions.
    fn used(&self, id: InstrId) -> Option<usize> {
        let i = self.values.used.binary_search_by_key(&ordinal(id), |it| ordinal(it.0)).ok()?;
        Some(self.values.used[i].1)
    }

    fn holds(&self, exit: InstrId, counts: &Counts) -> bool {
        self.used(exit).is_some_and(|i| counts[i] != 0 && counts[i] != UNKNOWN)
    }

    /// Returns whether the instruction certainly raises no exception. `counts` are the counts of the lock values
    /// before the instruction. If the result is `false`, the instruction may raise an exception before it takes
    /// effect.
    fn is_quiet(&self, id: InstrId, counts: &Counts) -> bool {
        match self.body.instrs[id] {
            Instr::Catch(_) | Instr::Goto(_) => true,
            Instr::MonitorExit(_) => self.holds(id, counts),
            _ => false,
        }
    }

    /// Applies the effects of a block's instructions to the counts of the lock values, and passes the counts to the
    /// blocks that control may enter next. Calls `f` with each instruction of the block, and with the counts just
    /// before this instruction.
    fn visit(&mut self, block: u32, mut f: impl FnMut(&Self, InstrId, &Counts)) {
        let Some(mut counts) = self.at_start[block as usize] else { return };
        let range = self.blocks.range(block);
        let mut raised: Vec<Counts> = Vec::new();
        for at in range.clone() {
            let id = instr_id(at);
            let instr = self.body.instrs[id];
            f(self, id, &counts);
            if !self.is_quiet(id, &counts) && !raised.contains(&counts) {
                raised.push(counts);
            }
            self.pass(id, &instr, &mut counts);
        }
        let Some(last) = range.clone().next_back() else { return };
        let body = self.body;
        let instr = &body.instrs[instr_id(last)];
        body.jumps(instr, |to| {
            if let Some(to) = self.blocks.of(to) {
                self.enter(to, counts);
            }
        });
        if instr.falls_through() {
            self.enter(block + 1, counts);
        }
        for i in 0..self.handlers.of(block).len() {
            let handler = self.handlers.of(block)[i];
            raised.iter().for_each(|&it| self.enter(handler, it));
        }
    }

    fn pass(&self, id: InstrId, instr: &Instr, counts: &mut Counts) {
        match instr {
            Instr::MonitorEnter(_) => {
                if let Some(i) = self.used(id)
                    && counts[i] < UNKNOWN
                {
                    counts[i] += 1;
                }
            }
            Instr::MonitorExit(_) => {
                if let Some(i) = self.used(id) {
                    counts[i] = if self.holds(id, counts) { counts[i] - 1 } else { UNKNOWN };
                }
            }
            _ => {
                // The value is replaced by a new one: from here on, the count would be that of another object.
                if let Some(i) = self.values.makers.iter().position(|&it| it == Maker::Instr(id))
                    && counts[i] != 0
                {
                    counts[i] = UNKNOWN;
                }
            }
        }
    }
}
