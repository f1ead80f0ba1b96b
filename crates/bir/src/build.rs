//! Construction of bodies: collects expressions and instructions in any order, then freezes them.
//!
//! Before freezing, expressions may be shared, replaced or left unused, and jump targets are labels. In the frozen
//! body, expressions are in evaluation order, only variables, ints and null are shared, and labels are resolved to
//! instructions. Therefore bodies with equal text are equal.

use classfile::bootstrap::{Dynamic, MethodHandle};
use classfile::flags::Flags;
use classfile::names::MethodRef;
use la_arena::Arena;
use rustc_hash::FxHashMap;

use crate::body::{
    Body, Check, Expr, ExprId, Instr, InstrId, MAX_OPERANDS, Operands, Row, SwitchTable, from_index, index,
    instr_id, ordinal,
};

/// A body under construction.
pub struct Builder {
    exprs: Arena<Expr>,
    instrs: Arena<Instr>,
    operands: Vec<ExprId>,
    switches: Vec<SwitchTable>,
    dynamics: Vec<Dynamic>,
    handles: Vec<MethodHandle>,
    /// For each label, the ordinal of the instruction before which the label is placed.
    labels: Vec<u32>,
    /// The tables that the last [`Builder::freeze`] filled, kept so that their memory is reused.
    frozen: Frozen,
    /// The arenas of the body that was last passed to [`Builder::recycle`], kept so that their memory is reused.
    spare: (Arena<Expr>, Arena<Instr>),
}

/// The tables of the finished body, while [`Builder::freeze`] fills them.
#[derive(Default)]
struct Frozen {
    exprs: Arena<Expr>,
    operands: Vec<ExprId>,
    dynamics: Vec<Dynamic>,
    handles: Vec<MethodHandle>,
    switches: Vec<SwitchTable>,
}

/// The reason why a [`Builder`] cannot build a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// A table of the body is full.
    TooLarge,
    /// The label with this number is used but was never placed, or was placed after the last instruction.
    Label(u32),
}

/// The parts of a body besides instructions, expressions and exception table.
pub struct Header {
    /// The method to which the body belongs.
    pub method: MethodRef,
    /// The access flags of the method.
    pub flags: Flags,
    /// The number of local variable slots.
    pub locals: u16,
    /// The unreachable bytecode instructions, as half-open ranges of ordinals, ascending.
    pub unreachable: Box<[(u32, u32)]>,
    /// Whether the body breaks rules of the JVM's verifier, or has a subroutine that was not inlined.
    pub unverified: bool,
}

const UNPLACED: u32 = u32::MAX;

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Returns a builder of an empty body.
    pub fn new() -> Self {
        Builder {
            exprs: Arena::new(),
            instrs: Arena::new(),
            operands: Vec::new(),
            switches: Vec::new(),
            dynamics: Vec::new(),
            handles: Vec::new(),
            labels: Vec::new(),
            frozen: Frozen::default(),
            spare: Default::default(),
        }
    }

    /// Removes the content of the builder, but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.exprs.clear();
        self.instrs.clear();
        self.operands.clear();
        self.switches.clear();
        self.dynamics.clear();
        self.handles.clear();
        self.labels.clear();
    }

    /// Adds an expression and returns its id. The id may be used any number of times, because [`Builder::freeze`]
    /// copies the expression for each use.
    #[inline]
    pub fn expr(&mut self, expr: Expr) -> ExprId {
        self.exprs.alloc(expr)
    }

    /// Returns the expression with this id.
    #[inline]
    pub fn get(&self, id: ExprId) -> Expr {
        self.exprs[id]
    }

    /// Adds a method-handle constant and returns its index.
    pub fn handle(&mut self, handle: MethodHandle) -> u32 {
        self.handles.push(handle);
        (self.handles.len() - 1) as u32
    }

    /// Adds a call site or dynamic constant and returns its index.
    pub fn dynamic(&mut self, dynamic: Dynamic) -> u32 {
        self.dynamics.push(dynamic);
        (self.dynamics.len() - 1) as u32
    }

    /// Adds a switch table whose targets are labels, and returns its index.
    pub fn switch(&mut self, table: SwitchTable) -> u32 {
        self.switches.push(table);
        (self.switches.len() - 1) as u32
    }

    /// Adds a list of at most 255 operands, and returns the range that the list occupies.
    ///
    /// # Errors
    /// Fails if the list is longer, or if the body has too many operands in all.
    pub fn operands(&mut self, list: &[ExprId]) -> Result<Operands, BuildError> {
        let start = self.operands.len();
        let len = u8::try_from(list.len()).map_err(|_| BuildError::TooLarge)?;
        if start >= MAX_OPERANDS {
            return Err(BuildError::TooLarge);
        }
        self.operands.extend_from_slice(list);
        Ok(Operands::new(start, len))
    }

    /// Returns a new label, which the caller must place once.
    pub fn label(&mut self) -> InstrId {
        self.labels.push(UNPLACED);
        from_index(self.labels.len() - 1)
    }

    /// Creates `n` labels with the numbers 0 to `n - 1`, in a builder that has no labels yet.
    pub fn labels(&mut self, n: usize) {
        self.labels.resize(n, UNPLACED);
    }

    /// Places the label before the instruction that will be added next.
    pub fn place(&mut self, label: InstrId) {
        self.labels[index(label)] = self.len();
    }

    /// Adds an instruction whose targets are labels, and returns its ordinal.
    #[inline]
    pub fn push(&mut self, instr: Instr) -> u32 {
        ordinal(self.instrs.alloc(instr))
    }

    /// Returns the number of instructions added so far.
    #[inline]
    pub fn len(&self) -> u32 {
        self.instrs.len() as u32
    }

    /// Returns whether no instruction has been added yet.
    pub fn is_empty(&self) -> bool {
        self.instrs.is_empty()
    }

    /// Returns the instruction added last; `None` if there is none.
    pub fn last_mut(&mut self) -> Option<&mut Instr> {
        self.instrs.values_mut().next_back()
    }

    /// Makes the memory of a body available to the next call of [`Builder::freeze_in_place`].
    pub fn recycle(&mut self, body: Body) {
        self.spare = (body.exprs, body.instrs);
    }

    /// Like [`Builder::freeze`], for a short-lived body: the body keeps the memory in which it was built, which
    /// may be more than needed.
    ///
    /// # Errors
    /// Fails if a label that is used was never placed.
    pub fn freeze_in_place(&mut self, header: Header, rows: Vec<Row>) -> Result<Body, BuildError> {
        let (mut exprs, mut instrs) = std::mem::take(&mut self.spare);
        exprs.clear();
        instrs.clear();
        let body = self.frozen(header, rows)?;
        (self.frozen.exprs, self.instrs) = (exprs, instrs);
        Ok(body)
    }

    /// Builds the body. In `rows`, the exception table, the handlers are labels; the covered ranges are given by
    /// instructions.
    ///
    /// # Errors
    /// Fails if a label that is used was never placed.
    pub fn freeze(&mut self, header: Header, rows: Vec<Row>) -> Result<Body, BuildError> {
        let body = self.frozen(header, rows)?;
        // Copies of the exact size, because a body is long-lived.
        let (exprs, instrs) = (body.exprs.clone(), body.instrs.clone());
        (self.frozen.exprs, self.instrs) = (body.exprs, body.instrs);
        Ok(Body { exprs, instrs, ..body })
    }

    /// Builds the body in the memory of the builder, see [`Builder::freeze`].
    fn frozen(&mut self, header: Header, mut rows: Vec<Row>) -> Result<Body, BuildError> {
        for row in &mut rows {
            row.handler = self.resolve(row.handler)?;
        }
        let len = self.len();
        let mut instrs = std::mem::take(&mut self.instrs);
        let mut out = std::mem::take(&mut self.frozen);
        out.exprs.clear();
        out.operands.clear();
        let mut freezer = Freezer {
            from: self,
            len,
            out,
            dynamic_ids: FxHashMap::default(),
            handle_ids: FxHashMap::default(),
            leaves: [from_index(NO_LEAF); LEAVES],
            failed: None,
        };
        instrs.values_mut().for_each(|it| freezer.instr(it));
        if let Some(it) = freezer.failed {
            return Err(it);
        }
        let mut out = freezer.out;
        let body = Body {
            method: header.method,
            flags: header.flags,
            locals: header.locals,
            exprs: std::mem::take(&mut out.exprs),
            instrs,
            operands: out.operands.as_slice().into(),
            switches: std::mem::take(&mut out.switches).into(),
            dynamics: std::mem::take(&mut out.dynamics).into(),
            handles: std::mem::take(&mut out.handles).into(),
            rows: rows.into(),
            unreachable: header.unreachable,
            unverified: header.unverified,
        };
        self.frozen = out;
        Ok(body)
    }

    fn resolve(&self, label: InstrId) -> Result<InstrId, BuildError> {
        self.resolve_below(label, self.len())
    }

    fn resolve_below(&self, label: InstrId, len: u32) -> Result<InstrId, BuildError> {
        match self.labels.get(index(label)) {
            Some(&at) if at < len => Ok(instr_id(at)),
            _ => Err(BuildError::Label(ordinal(label))),
        }
    }
}

struct Freezer<'b> {
    from: &'b Builder,
    /// The number of instructions.
    len: u32,
    out: Frozen,
    dynamic_ids: FxHashMap<u32, u32>,
    handle_ids: FxHashMap<MethodHandle, u32>,
    /// A cache of the ids of variables and small constants, indexed by a hash of their content.
    leaves: [ExprId; LEAVES],
    /// The error of the first label that could not be resolved; `None` if all labels were resolved so far.
    failed: Option<BuildError>,
}

/// The number of entries of the cache of leaves (variables and small constants), a power of two.
const LEAVES: usize = 64;
/// The index that marks an empty cache entry. No expression has this index.
const NO_LEAF: usize = u32::MAX as usize;

/// Returns the cache index of the leaf (a variable or small constant) whose content is `bits`.
fn leaf_slot(bits: u32) -> usize {
    (bits.wrapping_mul(0x9e37_79b9) >> 26) as usize % LEAVES
}

impl Freezer<'_> {
    /// Copies the expression tree `id` to the finished body, operands before operators, and returns the id of the
    /// copy.
    ///
    /// Variables, ints and null are shared. Leaves with names are not shared: the ids of names differ from run to
    /// run, and the layout of a body must not depend on these ids.
    #[inline]
    fn expr(&mut self, id: ExprId) -> ExprId {
        let expr = self.from.get(id);
        // Most expressions are variables: testing for them first avoids an unpredictable indirect jump.
        if let Expr::Var(var) = expr {
            return self.leaf(leaf_slot(var.bits()), expr, |it| matches!(it, Expr::Var(it) if *it == var));
        }
        match expr {
            Expr::Int(n) => {
                let slot = leaf_slot(n as u32 ^ 0x9000_0000);
                self.leaf(slot, expr, |it| matches!(it, Expr::Int(it) if *it == n))
            }
            Expr::Null => self.leaf(leaf_slot(0), expr, |it| matches!(it, Expr::Null)),
            other => self.tree(other),
        }
    }

    #[inline]
    fn leaf(&mut self, slot: usize, leaf: Expr, is_it: impl Fn(&Expr) -> bool) -> ExprId {
        let known = self.leaves[slot];
        if index(known) < self.out.exprs.len() && is_it(&self.out.exprs[known]) {
            return known;
        }
        let id = self.keep(leaf);
        self.leaves[slot] = id;
        id
    }

    fn tree(&mut self, expr: Expr) -> ExprId {
        // Each arm writes its own expression: copying a value that was just assembled would stall.
        match expr {
            Expr::Unary(op, e) => {
                let e = self.expr(e);
                self.keep(Expr::Unary(op, e))
            }
            Expr::Cast(class, e) => {
                let e = self.expr(e);
                self.keep(Expr::Cast(class, e))
            }
            Expr::InstanceOf(class, e) => {
                let e = self.expr(e);
                self.keep(Expr::InstanceOf(class, e))
            }
            Expr::Field(e, field) => {
                let e = self.expr(e);
                self.keep(Expr::Field(e, field))
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.keep(Expr::Binary(op, a, b))
            }
            Expr::Elem(elem, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.keep(Expr::Elem(elem, a, b))
            }
            Expr::MethodHandle(it) => {
                let handle = self.from.handles[it as usize];
                let handles = &mut self.out.handles;
                let number = *self.handle_ids.entry(handle).or_insert_with(|| {
                    handles.push(handle);
                    (handles.len() - 1) as u32
                });
                self.keep(Expr::MethodHandle(number))
            }
            leaf => self.keep(leaf),
        }
    }

    /// Returns the instruction at which the label is placed. If the label was never placed, records the error in
    /// `failed` and returns the label unchanged.
    fn resolve(&mut self, label: InstrId) -> InstrId {
        self.from.resolve_below(label, self.len).unwrap_or_else(|it| {
            self.failed.get_or_insert(it);
            label
        })
    }

    #[inline]
    fn keep(&mut self, expr: Expr) -> ExprId {
        self.out.exprs.alloc(expr)
    }

    fn list(&mut self, it: Operands) -> Operands {
        let start = self.out.operands.len();
        for i in it.start()..it.start() + it.len() {
            let e = self.expr(self.from.operands[i]);
            self.out.operands.push(e);
        }
        Operands::new(start, it.len() as u8)
    }

    fn dynamic(&mut self, it: u32) -> u32 {
        let Freezer { from, out, dynamic_ids, .. } = self;
        *dynamic_ids.entry(it).or_insert_with(|| {
            out.dynamics.push(from.dynamics[it as usize].clone());
            (out.dynamics.len() - 1) as u32
        })
    }

    fn table(&mut self, it: u32) -> u32 {
        let from = self.from;
        let it = &from.switches[it as usize];
        let cases = it.cases.iter().map(|&(key, to)| (key, self.resolve(to))).collect();
        let default = it.default.map(|to| self.resolve(to));
        self.out.switches.push(SwitchTable { cases, default });
        (self.out.switches.len() - 1) as u32
    }

    fn check(&mut self, check: &mut Check) {
        match check {
            Check::NotNull(e) | Check::NotZero(_, e) | Check::NotNegative(e) | Check::Cast(_, e) => {
                self.set(e)
            }
            Check::Bound(a, b) | Check::Store(a, b) => {
                self.set(a);
                self.set(b);
            }
        }
    }

    /// Copies an expression to the finished body, and replaces its id by that of the copy.
    #[inline]
    fn set(&mut self, e: &mut ExprId) {
        *e = self.expr(*e);
    }

    /// Replaces the ids of expressions, labels and table entries in the instruction by those of the finished body, in
    /// evaluation order.
    fn instr(&mut self, instr: &mut Instr) {
        match instr {
            Instr::Assign(_, e)
            | Instr::SetStatic(_, e)
            | Instr::NewArray(_, _, e)
            | Instr::MonitorEnter(e)
            | Instr::MonitorExit(e)
            | Instr::Throw(e)
            | Instr::Return(Some(e)) => self.set(e),
            Instr::SetField(a, _, b) => {
                self.set(a);
                self.set(b);
            }
            Instr::SetElem(_, a, i, v) => {
                self.set(a);
                self.set(i);
                self.set(v);
            }
            Instr::Assert(check) => self.check(check),
            Instr::New(_, _, it) | Instr::MultiNewArray(_, _, it) | Instr::Call(_, _, _, it) => {
                *it = self.list(*it);
            }
            Instr::CallDynamic(_, site, it) => {
                *it = self.list(*it);
                *site = self.dynamic(*site);
            }
            Instr::ConstDynamic(_, site) => *site = self.dynamic(*site),
            Instr::Goto(to) => *to = self.resolve(*to),
            Instr::If(_, a, b, to) => {
                self.set(a);
                self.set(b);
                *to = self.resolve(*to);
            }
            Instr::Switch(e, table) | Instr::Ret(e, table) => {
                *table = self.table(*table);
                self.set(e);
            }
            Instr::Return(None) | Instr::MayInit(_) | Instr::Alloc(..) | Instr::Catch(_) => {}
        }
    }
}
