//! A quick check whether one pass over a body suffices to determine which exceptions its assertions raise.

use bir::body::{Body, Check, Expr, ExprId, Instr, InstrId, Place, Var, ordinal};
use bir::ops::UnOp;
use classfile::descriptor::Kind;
use classfile::names::ClassName;

use super::scan::{cloned, is_new};
use crate::coverage::Coverage;
use crate::discharge::Proof;
use crate::reaching::overlap;
use crate::throwables::well_known;

/// Fills `proved` with the assertions that always hold by their operands alone, and returns whether these suffice:
/// whether proving further assertions would change neither which exceptions the body raises nor their order. If the
/// result is `false`, `proved` must not be used.
///
/// The result is `true` if each assertion is of one of three kinds: it is in `proved`; it cannot be proved by any
/// means; or it comes after an assertion that cannot be proved, that raises the same exception and that is covered by
/// the same exception-table rows.
///
/// `own` is the class of the body, or `None` if that is an interface.
///
/// The function makes a single pass over the instructions, along the path on which each instruction falls through to
/// the next. It tracks the variables about which no fact is known on that path; where paths join, no more facts are
/// known than on each path.
pub(super) fn settled(
    body: &Body,
    own: Option<ClassName>,
    made: &mut Made,
    proved: &mut Vec<(InstrId, Proof)>,
) -> bool {
    made.clear(own);
    proved.clear();
    let mut coverage = (!body.rows.is_empty()).then(|| Coverage::new(body));
    let mut rows = Vec::new();
    let mut fresh = Fresh::at_entry(body);
    // The kinds of assertions for which an assertion under the current rows cannot be proved, as bits.
    let mut failing = 0_u8;
    for (id, instr) in body.instrs.iter() {
        if let Instr::Assert(check) = *instr {
            if let Some(coverage) = &mut coverage {
                let now = coverage.at(ordinal(id));
                if *now != *rows {
                    failing = 0;
                    rows.clear();
                    rows.extend_from_slice(now);
                }
            }
            if let Some(proof) = made.proof(body, check) {
                proved.push((id, proof));
                continue;
            }
            if fresh.fails(body, check) {
                failing |= kind(check);
            } else if failing & kind(check) == 0 {
                return false;
            }
            operands(check).into_iter().flatten().for_each(|it| fresh.touch(body, it));
            continue;
        }
        if let Some(var) = instr.assigned()
            && !made.assign(body, var, id)
        {
            return false;
        }
        match *instr {
            Instr::Assign(var, e) => fresh.assign(body, var, e),
            Instr::Call(Some(var), ..) | Instr::CallDynamic(Some(var), ..) | Instr::ConstDynamic(var, _) => {
                fresh.set(var, true);
            }
            Instr::If(_, a, b, _) => {
                fresh.touch_tested(body, a);
                fresh.touch_tested(body, b);
            }
            ref it => it.assigned().into_iter().for_each(|it| fresh.set(it, false)),
        }
        if !instr.falls_through() {
            fresh = Fresh::default();
        }
    }
    true
}

/// Returns the bit for the kind of an assertion. Assertions that raise the same exception have the same bit.
fn kind(check: Check) -> u8 {
    match check {
        Check::NotNull(_) => 1,
        Check::Bound(..) => 2,
        Check::Store(..) => 4,
        Check::NotZero(..) => 8,
        Check::NotNegative(_) => 16,
        Check::Cast(..) => 32,
    }
}

fn operands(check: Check) -> [Option<ExprId>; 2] {
    match check {
        Check::NotNull(e) | Check::NotZero(_, e) | Check::NotNegative(e) | Check::Cast(_, e) => {
            [Some(e), None]
        }
        Check::Bound(a, b) | Check::Store(a, b) => [Some(a), Some(b)],
    }
}

/// The temporaries whose values are newly allocated objects, among the instructions that [`settled`] has examined so
/// far.
#[derive(Default)]
pub(super) struct Made {
    /// The class of the body; `None` if that is an interface.
    own: Option<ClassName>,
    /// The number of the temporary that was assigned last, plus one; 0 if none was assigned yet.
    next: u32,
    /// Pairs of a temporary's number and the instruction that allocates the temporary's value, ascending by number.
    allocated: Vec<(u32, InstrId)>,
}

impl Made {
    fn clear(&mut self, own: Option<ClassName>) {
        self.own = own;
        self.next = 0;
        self.allocated.clear();
    }

    /// Records that the instruction `id` assigns the variable `var`. Returns `false` if [`settled`] must give up: the
    /// variable is `this`, or a temporary that another instruction may assign, too.
    fn assign(&mut self, body: &Body, var: Var, id: InstrId) -> bool {
        match var.place() {
            Place::Local(_) => body.flags.is_static() || !overlap(var, Var::local(0, Kind::Ref)),
            Place::Stack(_) => true,
            // Lowering numbers temporaries in the order of their assignments.
            Place::Temp(it) => {
                let is_later = it >= self.next;
                self.next = it + 1;
                if is_new(&body.instrs[id], self.own) {
                    self.allocated.push((it, id));
                }
                is_later
            }
        }
    }

    /// Returns the fact that proves the assertion on all paths, if the assertion's operands alone suffice for a
    /// proof; else `None`.
    fn proof(&self, body: &Body, check: Check) -> Option<Proof> {
        let constant = |it: bool| it.then_some(Proof::Constant);
        match check {
            Check::NotNull(e) => match body.exprs[e] {
                Expr::Var(it) => match it.place() {
                    Place::Local(_) => {
                        (!body.flags.is_static() && it == Var::local(0, Kind::Ref)).then_some(Proof::This)
                    }
                    Place::Temp(_) => self.allocated(it).map(Proof::Allocated),
                    Place::Stack(_) => None,
                },
                Expr::Str(_) | Expr::Class(_) | Expr::MethodType(_) | Expr::MethodHandle(_) => constant(true),
                _ => None,
            },
            Check::NotZero(_, e) => match body.exprs[e] {
                Expr::Int(it) => constant(it != 0),
                Expr::Long(it) => constant(u64::from(it) != 0),
                _ => None,
            },
            Check::NotNegative(e) => match body.exprs[e] {
                Expr::Int(it) => constant(it >= 0),
                Expr::Unary(UnOp::Length, _) => Some(Proof::Length),
                _ => None,
            },
            Check::Cast(class, _) if class == well_known().object => Some(Proof::Type),
            Check::Cast(class, e) => match body.exprs[e] {
                Expr::Null => Some(Proof::Constant),
                Expr::Var(it) => {
                    let made = self.allocated(it)?;
                    (cloned(&body.instrs[made], self.own) == Some(class)).then_some(Proof::Allocated(made))
                }
                _ => None,
            },
            Check::Store(_, value) if body.exprs[value] == Expr::Null => constant(true),
            Check::Bound(array, _) | Check::Store(array, _) => {
                let Expr::Var(array) = body.exprs[array] else { return None };
                let made = self.allocated(array)?;
                let Instr::NewArray(_, ty, len) = body.instrs[made] else { return None };
                let holds = match (check, body.exprs[len]) {
                    (Check::Bound(_, index), Expr::Int(len)) => {
                        matches!(body.exprs[index], Expr::Int(it) if (0..len).contains(&it))
                    }
                    (Check::Store(..), _) => ty.bytes() == b"[Ljava/lang/Object;",
                    _ => false,
                };
                holds.then_some(Proof::Allocated(made))
            }
        }
    }

    fn allocated(&self, var: Var) -> Option<InstrId> {
        let Place::Temp(temp) = var.place() else { return None };
        let i = self.allocated.binary_search_by_key(&temp, |it| it.0).ok()?;
        Some(self.allocated[i].1)
    }
}

/// The variables about which no fact is known, and whose value is not a constant, a new object or a copy; one bit for
/// each variable. Only the first 64 locals and the first 64 temporaries are tracked.
#[derive(Default)]
struct Fresh {
    locals: u64,
    temps: u64,
}

impl Fresh {
    /// Returns the set of the variables about which no fact is known at the entry of the method: all locals except
    /// the receiver, which is not null.
    fn at_entry(body: &Body) -> Self {
        Fresh { locals: if body.flags.is_static() { u64::MAX } else { u64::MAX << 1 }, temps: 0 }
    }

    fn bit(&mut self, var: Var) -> Option<(&mut u64, u64)> {
        let (bits, i) = match var.place() {
            Place::Local(i) => (&mut self.locals, u32::from(i)),
            Place::Temp(i) => (&mut self.temps, i),
            Place::Stack(_) => return None,
        };
        Some((bits, 1_u64.checked_shl(i)?))
    }

    fn set(&mut self, var: Var, is_fresh: bool) {
        if let Some((bits, bit)) = self.bit(var) {
            *bits = if is_fresh { *bits | bit } else { *bits & !bit };
        }
    }

    fn has(&self, var: Var) -> bool {
        match var.place() {
            Place::Local(i) => 1_u64.checked_shl(u32::from(i)).is_some_and(|it| self.locals & it != 0),
            Place::Temp(i) => 1_u64.checked_shl(i).is_some_and(|it| self.temps & it != 0),
            Place::Stack(_) => false,
        }
    }

    /// Returns whether nothing can be proved about the value of the expression `e`.
    fn is_unknown(&self, body: &Body, e: ExprId) -> bool {
        match body.exprs[e] {
            Expr::Field(..) | Expr::Static(_) | Expr::Elem(..) => true,
            Expr::Var(it) => self.has(it),
            _ => false,
        }
    }

    fn fails(&self, body: &Body, check: Check) -> bool {
        match check {
            Check::NotNull(e) | Check::NotZero(_, e) | Check::NotNegative(e) => self.is_unknown(body, e),
            Check::Cast(class, e) => class != well_known().object && self.is_unknown(body, e),
            // Facts about the index alone prove nothing.
            Check::Bound(array, _) => self.is_unknown(body, array),
            Check::Store(array, value) => self.is_unknown(body, array) && self.is_unknown(body, value),
        }
    }

    /// If the expression `e` is a variable or a cast of a variable, records that facts about this variable may be
    /// known from here on.
    fn touch(&mut self, body: &Body, mut e: ExprId) {
        loop {
            match body.exprs[e] {
                Expr::Var(it) => return self.set(it, false),
                Expr::Cast(_, inner) => e = inner,
                _ => return,
            }
        }
    }

    fn touch_tested(&mut self, body: &Body, e: ExprId) {
        match body.exprs[e] {
            Expr::InstanceOf(_, of) | Expr::Binary(_, of, _) => self.touch(body, of),
            _ => self.touch(body, e),
        }
    }

    fn assign(&mut self, body: &Body, var: Var, e: ExprId) {
        let is_fresh = match body.exprs[e] {
            Expr::Field(..) | Expr::Static(_) | Expr::Elem(..) | Expr::Binary(..) => true,
            Expr::Unary(op, _) => op != UnOp::Length,
            _ => false,
        };
        self.touch(body, e);
        self.set(var, is_fresh);
    }
}
