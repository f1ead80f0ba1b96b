//! Finds the assertions that always hold, each with the fact that proves it (`semantics.md` §3.5).
//!
//! Facts are about values of variables, never about the heap. A fact begins at an assertion or branch that was
//! passed, an allocation, a constant or a handler; it is copied with the value, and ends when the variable's place is
//! assigned. Where paths join, the facts known on all paths are kept.
//!
//! Most assertions need no flow analysis: temporaries are assigned once, so the instruction that computed the value
//! is known. The forward pass runs only if an assertion is left unproved, and its variables occur at other
//! instructions that yield facts.

mod branch;
mod prove;
mod scan;
mod settled;
mod state;

use bir::body::{Body, Check, Expr, ExprId, Instr, InstrId, Place, Var, instr_id, ordinal};
use bir::ops::{Cond, UnOp};
use classfile::names::ClassName;

use branch::{known_after, negated};
use prove::{not_null, prove};
use scan::{Scan, Tables};
use settled::{Made, settled};
use state::{Fact, State, What, meet_one};

use crate::blocks::{Blocks, Handlers};
use crate::discharge::Proof;

/// Working memory for the search for proofs, reused from one method to the next.
#[derive(Default)]
pub struct Scratch {
    tables: Tables,
    proved: Vec<(InstrId, Proof)>,
    memory: Memory,
    made: Made,
}

/// Returns the assertions of a method that always hold, each with its proof, ascending by instruction. `own` is the class
/// of the method, or `None` if that is an interface. `scratch` is working memory.
pub fn proofs(body: &Body, own: Option<ClassName>, scratch: &mut Scratch) -> Box<[(InstrId, Proof)]> {
    let Scratch { tables, proved, memory, .. } = scratch;
    let mut scan = Scan::new(body, own, tables);
    proved.clear();
    let mut needs_flow = false;
    for (id, instr) in body.instrs.iter() {
        let Instr::Assert(check) = *instr else { continue };
        match prove(body, &scan, None, check) {
            Some(proof) => proved.push((id, proof)),
            None => needs_flow |= use_in_open(&mut scan, check),
        }
    }
    if needs_flow {
        scan.spread_use();
        Flow::run(body, &scan, memory, proved);
    }
    proved.as_slice().into()
}

/// Returns assertions of a method that always hold, each with its proof, ascending by instruction. Some of those that
/// [`proofs`] returns may be missing, but the result suffices to determine which exceptions the assertions raise
/// under which exception-table rows, and in which order these exceptions first occur. This is cheaper than
/// [`proofs`], because often a single pass over the body suffices.
pub fn proofs_of_raised(
    body: &Body,
    own: Option<ClassName>,
    scratch: &mut Scratch,
) -> Box<[(InstrId, Proof)]> {
    if settled(body, own, &mut scratch.made, &mut scratch.proved) {
        return scratch.proved.as_slice().into();
    }
    proofs(body, own, scratch)
}

fn use_in_open(scan: &mut Scan<'_>, check: Check) -> bool {
    let (a, b) = match check {
        Check::NotNull(e) | Check::NotZero(_, e) | Check::NotNegative(e) | Check::Cast(_, e) => (e, None),
        Check::Bound(a, b) | Check::Store(a, b) => (a, Some(b)),
    };
    let mut helps = false;
    for e in [Some(a), b].into_iter().flatten() {
        helps |= scan.copied(e).is_some_and(|it| scan.use_in_open(it));
    }
    helps
}

/// Whether it is known so far that an assertion always holds, and how it was proved.
#[derive(Clone, Copy)]
enum Known {
    /// The assertion holds on all paths; this was proved without the forward pass.
    Always(Proof),
    /// The result of the forward pass when it last visited the assertion: the proof, or `None` if the assertion could
    /// not be proved.
    Here(Option<Proof>),
}

/// The forward pass, which tracks facts about the values of variables and proves assertions from these facts. It
/// computes a greatest fixpoint, and always visits the pending block with the lowest number. Facts at the start of a
/// block are only removed, never added, so the result of the last visit of a block is its final result.
struct Flow<'a> {
    body: &'a Body,
    scan: &'a Scan<'a>,
    /// A number such that no block with a lower number is pending (still to be visited).
    lowest: usize,
    m: &'a mut Memory,
}

#[derive(Default)]
struct Memory {
    blocks: Blocks,
    handlers: Handlers,
    /// For each block, the range of `pool` that holds the facts at the start of the block: index and length. `None`
    /// until the pass reaches the block.
    at_start: Vec<Option<(u32, u32)>>,
    pool: Vec<Fact>,
    pending: Vec<bool>,
    /// For each instruction that is an assertion, whether it is proved. The entries of other instructions are not
    /// used.
    known: Vec<Known>,
    state: State,
    /// The facts that hold before every instruction of the visited block, and so also whenever the block raises an
    /// exception.
    raised: State,
}

/// The maximum number of visits of the forward pass per instruction, on average over the method. The pass gives up if
/// it needs more.
const MAX_VISITS: usize = 16;

impl<'a> Flow<'a> {
    /// Adds to `proved` the assertions that the forward pass proves. If the method has too many handlers, or the pass
    /// needs too many visits of blocks, `proved` is left unchanged.
    fn run(body: &'a Body, scan: &'a Scan<'a>, m: &'a mut Memory, proved: &mut Vec<(InstrId, Proof)>) {
        m.blocks.fill(body);
        if m.handlers.fill(body, &m.blocks).is_none() {
            return;
        }
        m.at_start.clear();
        m.at_start.resize(m.blocks.len(), None);
        m.pool.clear();
        m.pending.clear();
        m.pending.resize(m.blocks.len(), false);
        m.known.clear();
        m.known.resize(body.instrs.len(), Known::Here(None));
        for &(id, proof) in &*proved {
            m.known[ordinal(id) as usize] = Known::Always(proof);
        }
        let mut flow = Flow { body, scan, lowest: 0, m };
        let mut state = std::mem::take(&mut flow.m.state);
        state.clear();
        if let Some(this) = scan.first_this {
            flow.learn(this, What::NotNull, Proof::This, &mut state);
        }
        flow.enter(0, state.facts());
        flow.m.state = state;
        let mut steps = MAX_VISITS * body.instrs.len() + 256;
        while let Some(block) = flow.next() {
            match steps.checked_sub(flow.m.blocks.range(block).len()) {
                Some(left) => steps = left,
                None => return,
            }
            flow.visit(block);
        }
        let known = (0u32..).zip(&flow.m.known);
        proved.clear();
        proved.extend(known.filter_map(|(at, it)| match *it {
            Known::Always(it) | Known::Here(Some(it)) => Some((instr_id(at), it)),
            Known::Here(None) => None,
        }));
    }

    fn next(&mut self) -> Option<u32> {
        let block = self.lowest + self.m.pending.get(self.lowest..)?.iter().position(|&it| it)?;
        self.m.pending[block] = false;
        self.lowest = block;
        Some(block as u32)
    }

    fn enter(&mut self, block: u32, facts: &[Fact]) {
        let i = block as usize;
        let Memory { at_start, pool, pending, .. } = &mut *self.m;
        let Some(at_start) = at_start.get_mut(i) else { return };
        match at_start {
            None => {
                *at_start = Some((pool.len() as u32, facts.len() as u32));
                pool.extend_from_slice(facts);
            }
            Some((start, len)) => {
                // Facts are only removed, so they stay in the same place of the pool.
                let mine = &mut pool[*start as usize..(*start + *len) as usize];
                let mut kept = 0;
                let mut changed = false;
                for i in 0..mine.len() {
                    let mut fact = mine[i];
                    if meet_one(&mut fact, facts) {
                        changed |= fact != mine[i];
                        mine[kept] = fact;
                        kept += 1;
                    }
                }
                if kept as u32 == *len && !changed {
                    return;
                }
                *len = kept as u32;
            }
        }
        pending[i] = true;
        self.lowest = self.lowest.min(i);
    }

    fn visit(&mut self, block: u32) {
        let range = self.m.blocks.range(block);
        let mut state = std::mem::take(&mut self.m.state);
        state.clear();
        if let Some((start, len)) = self.m.at_start[block as usize] {
            state.copy_from(&self.m.pool[start as usize..(start + len) as usize]);
        }
        let is_covered = !self.m.handlers.of(block).is_empty();
        let mut raised = std::mem::take(&mut self.m.raised);
        if is_covered {
            raised.copy_from(state.facts());
        }
        let mut forgot = false;
        for at in range.clone() {
            // An exception is raised before the effect of its instruction. Every instruction counts, as VM errors
            // can be raised anywhere; within a block, only forgetting removes facts.
            if std::mem::take(&mut forgot) {
                raised.meet(state.facts());
            }
            forgot = self.pass(instr_id(at), &mut state) && is_covered;
        }
        if is_covered {
            for i in 0..self.m.handlers.of(block).len() {
                let handler = self.m.handlers.of(block)[i];
                self.enter(handler, raised.facts());
            }
        }
        if let Some(last) = range.clone().next_back() {
            self.leave(block, instr_id(last), &mut state);
        }
        self.m.state = state;
        self.m.raised = raised;
    }

    /// Passes the facts `state`, which hold at the end of a block, to the blocks that control may enter from there.
    /// `last` is the last instruction of the block.
    fn leave(&mut self, block: u32, last: InstrId, state: &mut State) {
        let (body, scan) = (self.body, self.scan);
        let instr = &body.instrs[last];
        if let Instr::If(cond, a, b, to) = *instr {
            if let Some(to) = self.m.blocks.of(to) {
                let mut taken = std::mem::take(&mut self.m.raised);
                taken.copy_from(state.facts());
                learn_branch(body, scan, (last, cond), (a, b), &mut taken);
                self.enter(to, taken.facts());
                self.m.raised = taken;
            }
            learn_branch(body, scan, (last, negated(cond)), (a, b), state);
        } else {
            body.jumps(instr, |to| {
                if let Some(to) = self.m.blocks.of(to) {
                    self.enter(to, state.facts());
                }
            });
        }
        if instr.falls_through() {
            self.enter(block + 1, state.facts());
        }
    }

    /// Applies the effect of the instruction `id`, if it completes normally, to the facts `state`. Returns whether a
    /// fact may have been removed.
    fn pass(&mut self, id: InstrId, state: &mut State) -> bool {
        match self.body.instrs[id] {
            Instr::Assert(check) => {
                // An assertion that always holds teaches nothing new.
                if let Known::Here(it) = &mut self.m.known[ordinal(id) as usize] {
                    *it = prove(self.body, self.scan, Some(state), check);
                    self.learn_check(id, check, state);
                }
                false
            }
            Instr::Assign(var, e) => self.assign(var, e, state),
            Instr::New(var, ..)
            | Instr::Alloc(var, _)
            | Instr::NewArray(var, ..)
            | Instr::MultiNewArray(var, ..) => {
                let forgot = self.kill(var, state);
                self.learn(var, What::NotNull, Proof::Allocated(id), state);
                forgot
            }
            Instr::Catch(var) => {
                let forgot = self.kill(var, state);
                self.learn(var, What::NotNull, Proof::Caught(id), state);
                forgot
            }
            ref instr => instr.assigned().is_some_and(|var| self.kill(var, state)),
        }
    }

    /// Removes the facts about the variable `var`, which gets a new value, from `state`. Returns whether a fact was
    /// removed.
    fn kill(&self, var: Var, state: &mut State) -> bool {
        // Locals of other kinds may overlap with this one; other places do not overlap.
        let matters = matches!(var.place(), Place::Local(_)) || self.scan.is_followed(var);
        matters && state.kill(var)
    }

    fn assign(&self, var: Var, e: ExprId, state: &mut State) -> bool {
        let (body, scan) = (self.body, self.scan);
        let from = scan.copied(e);
        if from == Some(var) {
            return false;
        }
        if !scan.is_followed(var) {
            return self.kill(var, state);
        }
        // The question comes before the variable is overwritten, because its old value may be part of the new value.
        let not_null = not_null(body, scan, Some(state), e);
        let before = state.facts().len();
        match from {
            Some(from) if scan.is_followed(from) => {
                state.copy(var, from);
            }
            _ => {
                state.kill(var);
            }
        }
        // The number of facts does not tell, as copying may have added as many as it forgot.
        let forgot = before > 0;
        if let Some(proof) = not_null {
            state.learn(var, What::NotNull, proof);
        }
        let mut learn = |what, why| self.learn(var, what, why, state);
        match body.exprs[e] {
            Expr::Null => learn(What::Null, Proof::Constant),
            Expr::Int(it) => {
                learn(What::Int(it), Proof::Constant);
                if it != 0 {
                    learn(What::NotZero, Proof::Constant);
                }
                if it >= 0 {
                    learn(What::NotNegative, Proof::Constant);
                }
            }
            Expr::Long(it) if u64::from(it) != 0 => learn(What::NotZero, Proof::Constant),
            Expr::Unary(UnOp::Length, _) => learn(What::NotNegative, Proof::Length),
            _ => {}
        }
        forgot
    }

    fn learn(&self, var: Var, what: What, why: Proof, state: &mut State) {
        if self.scan.is_followed(var) {
            state.learn(var, what, why);
        }
    }

    /// Adds to `state` the facts that follow if the assertion `check` of the instruction `id` did not fail.
    fn learn_check(&self, id: InstrId, check: Check, state: &mut State) {
        let why = Proof::Tested(id);
        let mut learn = |e: ExprId, what| {
            if let Some(var) = self.scan.copied(e) {
                self.learn(var, what, why, state);
            }
        };
        match check {
            Check::NotNull(e) => learn(e, What::NotNull),
            Check::NotZero(_, e) => learn(e, What::NotZero),
            Check::NotNegative(e) => learn(e, What::NotNegative),
            Check::Cast(class, e) => learn(e, What::Is(class)),
            Check::Bound(array, index) => match self.body.exprs[index] {
                Expr::Int(it) => learn(array, What::HasConstIndex(it)),
                Expr::Var(var) => {
                    if self.scan.is_followed(var) {
                        learn(array, What::HasIndex(var));
                    }
                    learn(index, What::NotNegative);
                }
                _ => {}
            },
            Check::Store(..) => {}
        }
    }
}

fn learn_branch(
    body: &Body,
    scan: &Scan<'_>,
    (branch, cond): (InstrId, Cond),
    operands: (ExprId, ExprId),
    state: &mut State,
) {
    known_after(body, scan, cond, operands, |var, what| {
        if scan.is_followed(var) {
            state.learn(var, what, Proof::Tested(branch));
        }
    });
}
