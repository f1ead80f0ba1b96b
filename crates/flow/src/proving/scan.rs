//! A pass over the instructions before the forward pass. It finds the values of temporaries, and the variables about
//! which the forward pass must track facts.

use bir::body::{Body, CallKind, Check, Expr, ExprId, Instr, InstrId, Place, Var, instr_id, ordinal};
use bir::ops::UnOp;
use classfile::descriptor::Kind;
use classfile::names::ClassName;

use crate::reaching::overlap;

/// The origin of the value of an expression, as far as the origin is the same at every execution of the expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Origin {
    /// The value is the receiver of the method.
    This,
    /// The value is the object that this instruction allocated.
    Made(InstrId),
    /// The value is the exception that this `catch` instruction caught.
    Caught(InstrId),
    /// The value was computed by this expression, which is not a variable.
    Expr(ExprId),
    /// The value is that of this variable. No further origin is known that determines a fact about the value.
    Var(Var),
}

const NEVER: u32 = u32::MAX;
const OFTEN: u32 = u32::MAX - 1;
/// The maximum number of copies from variable to variable that are followed to find the origin of a value.
const MAX_COPIES: usize = 16;

/// The result of a pass over the instructions of a body: how the instructions assign and use variables.
pub(super) struct Scan<'a> {
    body: &'a Body,
    /// The class of the body; `None` if that is an interface.
    pub(super) own: Option<ClassName>,
    /// The variable that holds the receiver; `None` if the method is static or an instruction overwrites the
    /// variable.
    this: Option<Var>,
    /// The variable that holds the receiver at entry, if an instruction overwrites it later; else `None`.
    pub(super) first_this: Option<Var>,
    tables: &'a mut Tables,
}

/// What the pass over the instructions found about the place (local, stack slot or temporary) of each variable. The
/// memory is reused from one body to the next.
#[derive(Default)]
pub(super) struct Tables {
    /// For each temporary, the ordinal of the only instruction that assigns it; [`NEVER`] if no instruction does,
    /// [`OFTEN`] if several do.
    made: Vec<u32>,
    /// For each local variable slot, how often instructions establish, copy or use a fact about the value in the
    /// slot: 0, 1, or 2 for two or more times. The top bit is the flag [`USEFUL`].
    locals: Vec<u8>,
    /// For each slot of the operand stack, the same number and flag as in `locals`.
    stack: Vec<u8>,
    temps: Vec<u8>,
    /// The assignments of a variable to a variable in the body, as pairs of the assigned variable and the copied
    /// variable.
    copies: Vec<(Var, Var)>,
}

/// The flag of a local, stack slot or temporary in [`Tables`]: some unproved assertion uses the variable, directly or
/// through copies.
const USEFUL: u8 = 0x80;

impl<'a> Scan<'a> {
    /// Examines all instructions of `body`. The old contents of `tables` are replaced.
    pub(super) fn new(body: &'a Body, own: Option<ClassName>, tables: &'a mut Tables) -> Self {
        let this = (!body.flags.is_static()).then(|| Var::local(0, Kind::Ref));
        tables.made.clear();
        tables.locals.clear();
        tables.locals.resize(usize::from(body.locals), 0);
        tables.stack.clear();
        tables.temps.clear();
        tables.copies.clear();
        let mut acc = Scan { body, own, this, first_this: None, tables };
        for (id, instr) in body.instrs.iter() {
            match *instr {
                Instr::Assert(check) => acc.mention_check(check),
                Instr::If(_, a, b, _) => {
                    acc.mention_tested(a);
                    acc.mention_tested(b);
                }
                Instr::Assign(var, e) => {
                    if let Some(from) = acc.copied(e) {
                        acc.mention(from);
                        acc.mention(var);
                        acc.tables.copies.push((var, from));
                    } else if !body.exprs[e].reads_heap() {
                        acc.mention(var);
                    }
                    acc.assigned(id, var);
                }
                Instr::New(var, ..)
                | Instr::Alloc(var, _)
                | Instr::NewArray(var, ..)
                | Instr::MultiNewArray(var, ..)
                | Instr::Catch(var) => {
                    acc.mention(var);
                    acc.assigned(id, var);
                }
                ref instr => {
                    if let Some(var) = instr.assigned() {
                        acc.assigned(id, var);
                    }
                }
            }
        }
        acc
    }

    fn assigned(&mut self, id: InstrId, var: Var) {
        match var.place() {
            Place::Temp(i) => {
                let i = i as usize;
                let made = &mut self.tables.made;
                if i >= made.len() {
                    made.resize(i + 1, NEVER);
                }
                made[i] = if made[i] == NEVER { ordinal(id) } else { OFTEN };
            }
            Place::Local(_) if self.this.is_some_and(|this| overlap(var, this)) => {
                self.first_this = self.this.take();
                self.first_this.into_iter().for_each(|it| self.mention(it));
            }
            _ => {}
        }
    }

    fn mention(&mut self, var: Var) {
        let it = self.place(var);
        if *it & !USEFUL < 2 {
            *it += 1;
        }
    }

    fn place(&mut self, var: Var) -> &mut u8 {
        let (list, i) = match var.place() {
            Place::Local(i) => (&mut self.tables.locals, usize::from(i)),
            Place::Stack(i) => (&mut self.tables.stack, usize::from(i)),
            Place::Temp(i) => (&mut self.tables.temps, i as usize),
        };
        if i >= list.len() {
            list.resize(i + 1, 0);
        }
        &mut list[i]
    }

    /// Marks a variable as used by an assertion that is not yet proved. Returns whether an instruction other than
    /// this assertion may yield facts about the variable.
    pub(super) fn use_in_open(&mut self, var: Var) -> bool {
        let it = self.place(var);
        *it |= USEFUL;
        *it & !USEFUL >= 2
    }

    /// Extends the marks that [`Scan::use_in_open`] sets: also marks the variables that are copied to or from a
    /// marked variable, because facts about one of the two may hold for the value of the other.
    pub(super) fn spread_use(&mut self) {
        let copies = std::mem::take(&mut self.tables.copies);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &(to, from) in copies.iter().rev() {
                if (*self.place(to) ^ *self.place(from)) & USEFUL != 0 {
                    *self.place(to) |= USEFUL;
                    *self.place(from) |= USEFUL;
                    changed = true;
                }
            }
        }
        self.tables.copies = copies;
    }

    fn mention_value(&mut self, e: ExprId) {
        if let Some(var) = self.copied(e) {
            self.mention(var);
        }
    }

    fn mention_check(&mut self, check: Check) {
        match check {
            Check::NotNull(e) | Check::NotZero(_, e) | Check::NotNegative(e) | Check::Cast(_, e) => {
                self.mention_value(e);
            }
            Check::Bound(a, b) | Check::Store(a, b) => {
                self.mention_value(a);
                self.mention_value(b);
            }
        }
    }

    fn mention_tested(&mut self, e: ExprId) {
        match self.body.exprs[e] {
            Expr::Var(var) => self.mention(var),
            Expr::InstanceOf(_, e) | Expr::Cast(_, e) => self.mention_value(e),
            Expr::Binary(_, a, _) => self.mention_value(a),
            _ => {}
        }
    }

    /// Returns whether the forward pass must track facts about the variable. That is so if an unproved assertion uses
    /// the variable, directly or through copies, and an instruction other than this assertion may yield a fact about
    /// the variable.
    pub(super) fn is_followed(&self, var: Var) -> bool {
        let n = match var.place() {
            Place::Local(i) => self.tables.locals.get(usize::from(i)),
            Place::Stack(i) => self.tables.stack.get(usize::from(i)),
            Place::Temp(i) => self.tables.temps.get(i as usize),
        };
        n.is_some_and(|&it| it >= USEFUL | 2)
    }

    /// Returns the variable of which the expression `e` is a copy, possibly with casts; `None` if `e` is not a copy
    /// of a variable.
    pub(super) fn copied(&self, mut e: ExprId) -> Option<Var> {
        loop {
            match self.body.exprs[e] {
                Expr::Var(var) => return Some(var),
                Expr::Cast(_, inner) => e = inner,
                _ => return None,
            }
        }
    }

    /// Returns the origin of the value of the expression `e`. Calls `cast` with the class of each cast between the
    /// origin and the expression.
    ///
    /// If the origin is a variable, the result is the variable that `e` itself names. It is not a variable whose
    /// value was copied into that one earlier, because such a variable may have a new value by now.
    pub(super) fn origin(&self, mut e: ExprId, mut cast: impl FnMut(ClassName)) -> Origin {
        let mut named = None;
        for _ in 0..MAX_COPIES {
            let var = loop {
                match self.body.exprs[e] {
                    Expr::Var(var) => break var,
                    Expr::Cast(class, inner) => {
                        cast(class);
                        e = inner;
                    }
                    // For a value that is not a constant, the facts about the variable tell more than the
                    // expression.
                    it if !tells_enough(&it) && named.is_some() => {
                        return named.map_or(Origin::Expr(e), Origin::Var);
                    }
                    _ => return Origin::Expr(e),
                }
            };
            let named = *named.get_or_insert(var);
            if Some(var) == self.this {
                return Origin::This;
            }
            let Some(id) = self.only_assignment(var) else { return Origin::Var(named) };
            match self.body.instrs[id] {
                Instr::Assign(_, from) => e = from,
                Instr::Catch(_) => return Origin::Caught(id),
                ref instr if is_new(instr, self.own) => return Origin::Made(id),
                _ => return Origin::Var(named),
            }
        }
        named.map_or(Origin::Expr(e), Origin::Var)
    }

    /// Returns the type of the field from which the value of the expression `e` was read, if the value comes from one
    /// field and the type is a class.
    pub(super) fn type_of_field(&self, mut e: ExprId) -> Option<ClassName> {
        for _ in 0..MAX_COPIES {
            match self.body.exprs[e] {
                Expr::Static(field) | Expr::Field(_, field) => {
                    let class = field.get().descriptor.bytes().strip_prefix(b"L")?.strip_suffix(b";")?;
                    return Some(ClassName::new(class));
                }
                Expr::Var(var) => match self.body.instrs[self.only_assignment(var)?] {
                    Instr::Assign(_, from) => e = from,
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }

    /// Returns the only instruction that assigns the variable; `None` if the variable is not a temporary, or if no
    /// instruction or several instructions assign it.
    fn only_assignment(&self, var: Var) -> Option<InstrId> {
        let Place::Temp(i) = var.place() else { return None };
        let id = *self.tables.made.get(i as usize)?;
        // The kind is part of the variable's identity; a body that confuses kinds gets no facts.
        let id = (id < OFTEN).then(|| instr_id(id))?;
        (self.body.instrs[id].assigned() == Some(var)).then_some(id)
    }
}

/// Returns whether the instruction creates an object or an array. The clone of an array is a new array, too. For `own`
/// see [`cloned`].
pub(super) fn is_new(instr: &Instr, own: Option<ClassName>) -> bool {
    matches!(instr, Instr::New(..) | Instr::Alloc(..) | Instr::NewArray(..) | Instr::MultiNewArray(..))
        || cloned(instr, own).is_some()
}

/// Returns the type of the array that the instruction clones, if the elements are primitive or of `own`, the class of the
/// body unless that is an interface; else `None`. Another array may be no array of the type that the instruction names:
/// the verifier takes interfaces for Object, also as element types (JVMS §4.10.1.2), and a body does not tell which other
/// classes are interfaces.
pub(super) fn cloned(instr: &Instr, own: Option<ClassName>) -> Option<ClassName> {
    match *instr {
        Instr::Call(_, CallKind::Virtual, method, _) => {
            let it = method.get();
            let clones = it.name.bytes() == b"clone" && it.descriptor.bytes() == b"()Ljava/lang/Object;";
            let is_sure = it.class.is_array() && it.class.element().is_none_or(|it| Some(it) == own);
            (clones && is_sure).then_some(it.class)
        }
        _ => None,
    }
}

/// Returns whether the expression alone determines all facts that can be proved about its value.
fn tells_enough(e: &Expr) -> bool {
    match e {
        Expr::Int(_)
        | Expr::Long(_)
        | Expr::Null
        | Expr::Str(_)
        | Expr::Class(_)
        | Expr::MethodType(_)
        | Expr::MethodHandle(_)
        | Expr::Unary(UnOp::Length, _) => true,
        Expr::Float(_)
        | Expr::Double(_)
        | Expr::Var(_)
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Cast(..)
        | Expr::InstanceOf(..)
        | Expr::Field(..)
        | Expr::Static(_)
        | Expr::Elem(..) => false,
    }
}
