//! A backward search on demand for the sources of the value that a variable has at one point.
//!
//! Copies and casts are followed; any other instruction that assigns the variable is a source. The number of steps is
//! limited, so that a hostile method costs little; beyond the limit the answer is [`Source::Unknown`].

use bir::body::{Body, Expr, ExprId, Instr, InstrId, Place, Var, instr_id, ordinal};
use classfile::names::ClassName;
use rustc_hash::FxHashSet;

/// The maximum number of steps of one search. A step examines one instruction, one jump or one row of the exception
/// table.
const MAX_STEPS: usize = 20_000;

/// One of the places from which a value may come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// This instruction assigned the value to a variable. For an `Assign` instruction, the second field is the
    /// assigned expression without the casts around it; this expression is not a variable. For other instructions,
    /// the second field is `None`.
    Instr(InstrId, Option<ExprId>),
    /// The value was computed by this expression, not read from a variable. The expression is the one that the query
    /// asked about, without the casts around it.
    Expr(ExprId),
    /// The value is the one that this variable has at entry of the method.
    Entry(Var),
    /// The source is not known: the last assignment was to an overlapping variable of another kind, or the search
    /// exceeded its limit of steps.
    Unknown,
}

/// Searches backward through one body for the sources of values.
pub struct Reaching<'a> {
    body: &'a Body,
    /// An index of jumps by their target, computed when first needed. The instructions that jump to the instruction
    /// `t` are `sources[starts[t]..starts[t + 1]]`.
    starts: Vec<u32>,
    sources: Vec<u32>,
    handlers: Vec<u32>,
    visited: FxHashSet<(u32, Var, Option<ClassName>)>,
    work: Vec<(u32, Var, Option<ClassName>)>,
    steps: usize,
}

impl<'a> Reaching<'a> {
    /// Prepares searches in `body`. Nothing is computed until the first search.
    pub fn new(body: &'a Body) -> Self {
        Reaching {
            body,
            starts: Vec::new(),
            sources: Vec::new(),
            handlers: Vec::new(),
            visited: FxHashSet::default(),
            work: Vec::new(),
            steps: 0,
        }
    }

    /// Calls `f` with each source of the value that the expression `expr` has at the instruction `at`. The second
    /// argument of `f` is the class of the last cast between the source and the expression; `None` if there is no
    /// cast. `f` may be called more than once for a source.
    pub fn sources(&mut self, at: InstrId, expr: ExprId, mut f: impl FnMut(Source, Option<ClassName>)) {
        self.steps = 0;
        self.visited.clear();
        self.work.clear();
        match self.strip(expr, None) {
            Ok((var, narrow)) => self.work.push((ordinal(at), var, narrow)),
            Err((e, narrow)) => return f(Source::Expr(e), narrow),
        }
        while let Some((at, var, narrow)) = self.work.pop() {
            if self.temp(at, var, narrow, &mut f) {
                continue;
            }
            self.walk(at, var, narrow, &mut f);
            if self.steps > MAX_STEPS {
                return f(Source::Unknown, None);
            }
        }
    }

    /// Removes the casts around an expression. Returns the rest, as `Ok` if it is a variable and as `Err` if it is
    /// another expression, together with the class of the outermost cast, if any. `narrow` is the class of a cast
    /// that was already found around the whole of `e`; it counts as the outermost cast.
    #[allow(clippy::type_complexity)] // Both sides pair what was found with the cast around it.
    fn strip(
        &self,
        mut e: ExprId,
        mut narrow: Option<ClassName>,
    ) -> Result<(Var, Option<ClassName>), (ExprId, Option<ClassName>)> {
        loop {
            match self.body.exprs[e] {
                Expr::Var(var) => return Ok((var, narrow)),
                Expr::Cast(class, inner) => {
                    narrow = narrow.or(Some(class));
                    e = inner;
                }
                _ => return Err((e, narrow)),
            }
        }
    }

    /// Searches the 64 instructions before `at` for the assignment of the temporary `var`, and passes the assignment
    /// to `defined` if it is found. A temporary has only one assignment, so control flow need not be examined.
    /// Returns whether the assignment was found; always `false` if `var` is not a temporary.
    fn temp(
        &mut self,
        at: u32,
        var: Var,
        narrow: Option<ClassName>,
        f: &mut impl FnMut(Source, Option<ClassName>),
    ) -> bool {
        if !matches!(var.place(), Place::Temp(_)) {
            return false;
        }
        for i in (at.saturating_sub(64)..at).rev() {
            self.steps += 1;
            if self.body.instrs[instr_id(i)].assigned() == Some(var) {
                self.defined(i, var, var, narrow, f);
                return true;
            }
        }
        false
    }

    /// Searches backward from the instruction `at`, in the order of the body, for an assignment of the variable
    /// `var`. The search stops at the first assignment, at the start of the body, and at an instruction after which
    /// control never continues with the next one. At each jump target and each start of a handler on the way, queues
    /// the instructions from which control may come, so that they are searched later.
    fn walk(
        &mut self,
        mut at: u32,
        var: Var,
        narrow: Option<ClassName>,
        f: &mut impl FnMut(Source, Option<ClassName>),
    ) {
        self.make_index();
        while self.steps <= MAX_STEPS {
            self.steps += 1;
            let (first, last) = (self.starts[at as usize] as usize, self.starts[at as usize + 1] as usize);
            let is_handler = self.handlers.binary_search(&at).is_ok();
            if at == 0 || first != last || is_handler {
                if !self.visited.insert((at, var, narrow)) {
                    return;
                }
                self.steps += last - first;
                self.work.extend(self.sources[first..last].iter().map(|&it| (it, var, narrow)));
                if is_handler {
                    self.enter_handler(at, var, narrow, f);
                }
            }
            if at == 0 {
                return f(Source::Entry(var), narrow);
            }
            at -= 1;
            let instr = &self.body.instrs[instr_id(at)];
            if !instr.falls_through() {
                return;
            }
            if let Some(assigned) = instr.assigned()
                && overlap(assigned, var)
            {
                return self.defined(at, assigned, var, narrow, f);
            }
        }
    }

    /// Continues the search for the value of `var` at the instructions that are covered by the exception-table rows
    /// of the handler. An exception may be raised before a covered instruction takes effect, so each value that `var`
    /// has before a covered instruction may be the value of `var` in the handler.
    fn enter_handler(
        &mut self,
        handler: u32,
        var: Var,
        narrow: Option<ClassName>,
        f: &mut impl FnMut(Source, Option<ClassName>),
    ) {
        let body = self.body;
        self.steps += body.rows.len();
        for row in body.rows.iter().filter(|it| ordinal(it.handler) == handler) {
            let start = ordinal(row.start);
            let end = row.end.min(body.instrs.len() as u32);
            if start >= end {
                continue;
            }
            self.work.push((start, var, narrow));
            for at in start..end {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return;
                }
                let joins = self.starts[at as usize] != self.starts[at as usize + 1];
                if joins || self.handlers.binary_search(&at).is_ok() {
                    self.work.push((at, var, narrow));
                }
                if let Some(assigned) = body.instrs[instr_id(at)].assigned()
                    && at + 1 < end
                    && overlap(assigned, var)
                {
                    self.defined(at, assigned, var, narrow, f);
                }
            }
        }
    }

    /// Handles the instruction `at`, which assigns the variable `assigned`. If `assigned` is the searched variable
    /// `var`, and the assigned value is a copy of another variable, the search continues with that variable; any
    /// other assigned value is reported as a source. If `assigned` only overlaps with `var`, the source is
    /// [`Source::Unknown`].
    fn defined(
        &mut self,
        at: u32,
        assigned: Var,
        var: Var,
        narrow: Option<ClassName>,
        f: &mut impl FnMut(Source, Option<ClassName>),
    ) {
        if assigned != var {
            return f(Source::Unknown, narrow);
        }
        let id = instr_id(at);
        match self.body.instrs[id] {
            Instr::Assign(_, e) => match self.strip(e, narrow) {
                Ok((from, narrow)) => self.work.push((at, from, narrow)),
                Err((e, narrow)) => f(Source::Instr(id, Some(e)), narrow),
            },
            _ => f(Source::Instr(id, None), narrow),
        }
    }

    fn make_index(&mut self) {
        if !self.starts.is_empty() {
            return;
        }
        let n = self.body.instrs.len();
        let mut starts = vec![0u32; n + 2];
        for (_, instr) in self.body.instrs.iter() {
            self.body.jumps(instr, |to| {
                if let Some(it) = starts.get_mut(ordinal(to) as usize + 2) {
                    *it += 1;
                }
            });
        }
        for i in 2..n + 2 {
            starts[i] += starts[i - 1];
        }
        self.sources = vec![0; starts[n + 1] as usize];
        for (id, instr) in self.body.instrs.iter() {
            self.body.jumps(instr, |to| {
                if let Some(it) = starts.get_mut(ordinal(to) as usize + 1) {
                    self.sources[*it as usize] = ordinal(id);
                    *it += 1;
                }
            });
        }
        self.starts = starts;
        self.handlers = self.body.rows.iter().map(|it| ordinal(it.handler)).collect();
        self.handlers.sort_unstable();
    }
}

/// Returns whether assigning the variable `assigned` changes the value of `var`. This holds if both are at
/// the same place, or are locals that share a slot: a long or double local takes two slots.
pub fn overlap(assigned: Var, var: Var) -> bool {
    match (assigned.place(), var.place()) {
        (Place::Local(a), Place::Local(b)) => {
            a == b
                || (assigned.kind().words() == 2 && a.checked_add(1) == Some(b))
                || (var.kind().words() == 2 && b.checked_add(1) == Some(a))
        }
        (a, b) => a == b,
    }
}
