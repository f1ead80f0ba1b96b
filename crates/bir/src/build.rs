//! Builds bodies: collects expressions and instructions in any order, then freezes them.
//!
//! Before freezing, expressions may be shared, replaced or forgotten, and jump targets are labels. The
//! frozen body has its expressions in the order of evaluation, trees sharing nothing but variables and
//! small constants, and its labels resolved, so that equal text means equal bodies.

use classfile::bootstrap::{Dynamic, MethodHandle};
use classfile::flags::Flags;
use classfile::names::MethodRef;
use la_arena::Arena;
use rustc_hash::FxHashMap;

use crate::body::{
    Body, Check, Expr, ExprId, Instr, InstrId, MAX_OPERANDS, Operands, Row, SwitchTable, instr_id, ordinal,
};

/// A body under construction.
pub struct Builder {
    exprs: Vec<Expr>,
    instrs: Arena<Instr>,
    operands: Vec<ExprId>,
    switches: Vec<SwitchTable>,
    dynamics: Vec<Dynamic>,
    handles: Vec<MethodHandle>,
    /// Instruction at which each label stands.
    labels: Vec<u32>,
    /// Memory for freezing.
    frozen: Frozen,
    /// Memory of a body that nobody needs any more.
    spare: (Arena<Expr>, Arena<Instr>),
}

/// Tables of the body that is being frozen.
#[derive(Default)]
struct Frozen {
    exprs: Arena<Expr>,
    operands: Vec<ExprId>,
    dynamics: Vec<Dynamic>,
    handles: Vec<MethodHandle>,
    switches: Vec<SwitchTable>,
}

/// Why a body cannot be frozen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// The tables of a body are full.
    TooLarge,
    /// A label was used and never placed, or stands behind the last instruction.
    Label(u32),
}

/// What a body consists of besides its code.
pub struct Header {
    /// The method.
    pub method: MethodRef,
    /// Its access flags.
    pub flags: Flags,
    /// Its local variable slots.
    pub locals: u16,
    /// Unreachable bytecode, see [`Body::unreachable`].
    pub unreachable: Box<[(u32, u32)]>,
    /// See [`Body::unverified`].
    pub unverified: bool,
}

const UNPLACED: u32 = u32::MAX;

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty body.
    pub fn new() -> Self {
        Builder {
            exprs: Vec::new(),
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

    /// Forgets everything but the memory it sits in.
    pub fn clear(&mut self) {
        self.exprs.clear();
        self.instrs.clear();
        self.operands.clear();
        self.switches.clear();
        self.dynamics.clear();
        self.handles.clear();
        self.labels.clear();
    }

    /// Adds an expression. It may be used any number of times; freezing copies it to each use.
    #[inline]
    pub fn expr(&mut self, expr: Expr) -> ExprId {
        self.exprs.push(expr);
        ExprId::from_raw(((self.exprs.len() - 1) as u32).into())
    }

    /// The expression with this id.
    #[inline]
    pub fn get(&self, id: ExprId) -> Expr {
        self.exprs[id.into_raw().into_u32() as usize]
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

    /// Adds a switch table, its targets being labels, and returns its index.
    pub fn switch(&mut self, table: SwitchTable) -> u32 {
        self.switches.push(table);
        (self.switches.len() - 1) as u32
    }

    /// Adds a list of at most 255 operands; more, or too many in all, are refused.
    pub fn operands(&mut self, list: &[ExprId]) -> Result<Operands, BuildError> {
        let start = self.operands.len();
        let len = u8::try_from(list.len()).map_err(|_| BuildError::TooLarge)?;
        if start >= MAX_OPERANDS {
            return Err(BuildError::TooLarge);
        }
        self.operands.extend_from_slice(list);
        Ok(Operands::new(start, len))
    }

    /// A new label, to be placed once.
    pub fn label(&mut self) -> InstrId {
        self.labels.push(UNPLACED);
        instr_id((self.labels.len() - 1) as u32)
    }

    /// Makes `n` labels, numbered from 0, in a builder that has none yet.
    pub fn labels(&mut self, n: usize) {
        self.labels.resize(n, UNPLACED);
    }

    /// Lets the label stand before the instruction that is added next.
    pub fn place(&mut self, label: InstrId) {
        self.labels[ordinal(label) as usize] = self.len();
    }

    /// Adds an instruction; its targets are labels. Returns its ordinal.
    #[inline]
    pub fn push(&mut self, instr: Instr) -> u32 {
        ordinal(self.instrs.alloc(instr))
    }

    /// Number of instructions so far.
    #[inline]
    pub fn len(&self) -> u32 {
        self.instrs.len() as u32
    }

    /// Whether there is no instruction yet.
    pub fn is_empty(&self) -> bool {
        self.instrs.is_empty()
    }

    /// The instruction added last.
    pub fn last_mut(&mut self) -> Option<&mut Instr> {
        self.instrs.values_mut().next_back()
    }

    /// Leaves the memory of a body to those that are [frozen in place](Builder::freeze_in_place).
    pub fn recycle(&mut self, body: Body) {
        self.spare = (body.exprs, body.instrs);
    }

    /// As [`Builder::freeze`], for a body that does not live long: it takes the memory that it was built in, which may be
    /// more than it needs.
    ///
    /// # Errors
    /// See [`Builder::freeze`].
    pub fn freeze_in_place(&mut self, header: Header, rows: Vec<Row>) -> Result<Body, BuildError> {
        let (mut exprs, mut instrs) = std::mem::take(&mut self.spare);
        exprs.clear();
        instrs.clear();
        let body = self.frozen(header, rows)?;
        (self.frozen.exprs, self.instrs) = (exprs, instrs);
        Ok(body)
    }

    /// Makes the body. Rows name instructions, except that their handlers are labels.
    ///
    /// # Errors
    /// When a label in use was never placed.
    pub fn freeze(&mut self, header: Header, rows: Vec<Row>) -> Result<Body, BuildError> {
        let body = self.frozen(header, rows)?;
        // Copies of the exact size: a body lives long.
        let (exprs, instrs) = (body.exprs.clone(), body.instrs.clone());
        (self.frozen.exprs, self.instrs) = (body.exprs, body.instrs);
        Ok(Body { exprs, instrs, ..body })
    }

    /// The body, in the memory that it was built in.
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
            leaves: [NO_LEAF; LEAVES],
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
        match self.labels.get(ordinal(label) as usize) {
            Some(&at) if at < len => Ok(instr_id(at)),
            _ => Err(BuildError::Label(ordinal(label))),
        }
    }
}

struct Freezer<'b> {
    from: &'b Builder,
    /// Number of instructions.
    len: u32,
    out: Frozen,
    dynamic_ids: FxHashMap<u32, u32>,
    handle_ids: FxHashMap<MethodHandle, u32>,
    /// Numbers of variables and small constants kept lately, by a hash of their content.
    leaves: [u32; LEAVES],
    /// The first label that could not be resolved.
    failed: Option<BuildError>,
}

/// How many leaves are remembered: a power of two.
const LEAVES: usize = 64;
const NO_LEAF: u32 = u32::MAX;

/// Where a leaf with this content is remembered.
fn leaf_slot(bits: u32) -> usize {
    (bits.wrapping_mul(0x9e37_79b9) >> 26) as usize % LEAVES
}

impl Freezer<'_> {
    /// Copies the tree under `id`, operands before operators.
    ///
    /// Variables, ints and null are shared. Leaves with names are not: ids of names differ from run to run, and
    /// the layout of a body must not.
    #[inline]
    fn expr(&mut self, id: ExprId) -> ExprId {
        let expr = self.from.get(id);
        // Most are variables: asked first, they cost no jump that nobody can foresee.
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
        let id = ExprId::from_raw(known.into());
        if (known as usize) < self.out.exprs.len() && is_it(&self.out.exprs[id]) {
            return id;
        }
        let id = self.keep(leaf);
        self.leaves[slot] = id.into_raw().into_u32();
        id
    }

    fn tree(&mut self, expr: Expr) -> ExprId {
        // Each arm writes its own: a copy of what was just put together would have to wait for it.
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

    /// The instruction at the label.
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

    /// Replaces an expression by its copy.
    #[inline]
    fn set(&mut self, e: &mut ExprId) {
        *e = self.expr(*e);
    }

    /// Replaces what the instruction names, in the order of evaluation.
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
