//! The BIR verifier: checks the invariants that every pass may rely on, like Cranelift's verifier for CLIF.
//!
//! The BIR verifier is not a bytecode verifier: of types, it checks only the kinds of values. Tests and debug builds
//! verify the results of lowering. The verifier must not panic on any body.

use rustc_hash::FxHashMap;

use crate::body::{
    Body, Check, Expr, ExprId, Instr, InstrId, Operands, Place, Var, index, instr_id, ordinal,
};
use crate::ops::{BinOp, BinaryOp, Cond, Kind, UnOp};
use crate::parse::expr::MAX_DEPTH;
use crate::print;

/// Returns a description of each violation of well-formedness; empty if the body is well formed.
pub fn verify(body: &Body) -> Vec<String> {
    let mut v = Verifier {
        body,
        at: 0,
        problems: Vec::new(),
        next_expr: 0,
        next_operand: 0,
        next_switch: 0,
        next_dynamic: 0,
        next_handle: 0,
        temps: FxHashMap::default(),
    };
    v.temporaries();
    for (id, instr) in body.instrs.iter() {
        v.at = ordinal(id);
        v.instr(instr);
    }
    v.tables();
    v.flow();
    v.rows();
    v.problems
}

/// Panics on an ill-formed body, so that a debug build stops at the pass that created it.
///
/// # Panics
/// Panics with the text of the body if it is ill-formed.
pub fn check(body: &Body) {
    let problems = verify(body);
    assert!(problems.is_empty(), "{}\n{}", problems.join("\n"), print::print(body));
}

struct Verifier<'b> {
    body: &'b Body,
    /// The ordinal of the instruction being checked.
    at: u32,
    problems: Vec<String>,
    // The expected next new index of each table: tables are in order of use, and trees share only leaves.
    next_expr: usize,
    next_operand: usize,
    next_switch: u32,
    next_dynamic: u32,
    next_handle: u32,
    /// For each temporary, the ordinal of the instruction that assigns it, and its kind.
    temps: FxHashMap<u32, (u32, Kind)>,
}

impl Verifier<'_> {
    fn problem(&mut self, text: impl std::fmt::Display) {
        // More lines would not help with a body that is wrong everywhere.
        if self.problems.len() < 100 {
            self.problems.push(format!("{}: at {}: {text}", self.body.method, self.at));
        }
    }

    fn demand(&mut self, holds: bool, text: &str) {
        if !holds {
            self.problem(text);
        }
    }

    fn temporaries(&mut self) {
        for (id, instr) in self.body.instrs.iter() {
            self.at = ordinal(id);
            let Some(var) = instr.assigned() else { continue };
            if let Place::Temp(number) = var.place()
                && let Some(before) = self.temps.insert(number, (self.at, var.kind()))
            {
                self.problem(format_args!(
                    "{var} is assigned by instruction {} already; a temporary is assigned only once",
                    before.0
                ));
            }
        }
    }

    fn var(&mut self, var: Var) {
        match var.place() {
            Place::Local(slot) => {
                let fits = u32::from(slot) + u32::from(var.kind().words()) <= u32::from(self.body.locals);
                if !fits {
                    self.problem(format_args!(
                        "{var} does not fit: the number of local variable slots is {}",
                        self.body.locals
                    ));
                }
            }
            Place::Temp(number) => match self.temps.get(&number) {
                Some(&(_, kind)) if kind == var.kind() => {}
                _ => self.problem(format_args!("{var} is not assigned")),
            },
            Place::Stack(_) => {}
        }
    }

    fn assigned(&mut self, var: Var, kind: Option<Kind>) {
        self.var(var);
        if kind != Some(var.kind()) {
            self.problem(format_args!("{var} cannot hold {}", what(kind)));
        }
    }

    /// Checks an expression tree whose value must be of kind `want`; returns the depth of the tree.
    fn expr(&mut self, id: ExprId, want: Kind) -> usize {
        let number = index(id);
        if number >= self.body.exprs.len() {
            self.problem(format_args!("the instruction uses expression {number}, which does not exist"));
            return 0;
        }
        let expr = self.body.exprs[id];
        // Operands precede their operator, so recursion ends, and each node is visited once unless it is a shared
        // leaf.
        let mut ordered = true;
        expr.operands(|it| ordered &= index(it) < number);
        let shared = number < self.next_expr && expr.is_shareable();
        if !ordered || number < self.next_expr && !shared {
            self.problem(format_args!("expression {number} is used twice, or precedes one of its operands"));
            return 0;
        }
        let depth = self.operands(expr);
        if number != self.next_expr && !shared {
            let next = self.next_expr;
            self.problem(format_args!(
                "expressions are not in the order of use: expression {number} is used where {next} is expected"
            ));
        }
        self.next_expr = self.next_expr.max(number + 1);
        if expr.kind() != want {
            self.problem(format_args!(
                "the expression {} is {}, but {} is expected",
                print::expr(self.body, id),
                what(Some(expr.kind())),
                what(Some(want))
            ));
        }
        if depth == MAX_DEPTH + 1 {
            self.problem("an expression is deeper than BIR text allows");
        }
        depth
    }

    /// Checks the operands of `expr`, left to right, and the tables that it refers to; returns the depth of the tree.
    fn operands(&mut self, expr: Expr) -> usize {
        match expr {
            Expr::Var(var) => {
                self.var(var);
                0
            }
            Expr::MethodType(it) => {
                self.demand(
                    it.method_type().is_some(),
                    "the descriptor of a method-type constant is not a method descriptor",
                );
                0
            }
            Expr::MethodHandle(it) => {
                self.demand(
                    (it as usize) < self.body.handles.len(),
                    "an expression refers to a method handle that does not exist",
                );
                self.demand(it <= self.next_handle, "method handles are not in the order of use");
                self.next_handle = self.next_handle.max(it + 1);
                0
            }
            Expr::Unary(op, e) => {
                self.demand(!matches!(op, UnOp::Neg(Kind::Ref)), "a reference is negated");
                self.expr(e, op.kinds().0) + 1
            }
            Expr::Binary(op, a, b) => {
                self.demand(has_kind(op), "the operator does not exist for operands of this kind");
                let (left, right, _) = op.kinds();
                self.expr(a, left).max(self.expr(b, right)) + 1
            }
            Expr::Cast(_, e) | Expr::InstanceOf(_, e) => self.expr(e, Kind::Ref) + 1,
            Expr::Field(e, field) => {
                self.demand(
                    field.descriptor().field_type().is_some(),
                    "the descriptor of a field is not a field descriptor",
                );
                self.expr(e, Kind::Ref) + 1
            }
            Expr::Static(field) => {
                self.demand(
                    field.descriptor().field_type().is_some(),
                    "the descriptor of a field is not a field descriptor",
                );
                0
            }
            Expr::Elem(_, a, b) => self.expr(a, Kind::Ref).max(self.expr(b, Kind::Int)) + 1,
            _ => 0,
        }
    }

    fn field_value(&mut self, descriptor: classfile::names::Descriptor, value: ExprId) {
        match descriptor.field_type() {
            Some(it) => {
                self.expr(value, it.kind());
            }
            None => self.problem("the descriptor of a field is not a field descriptor"),
        }
    }

    /// Returns the operands in the range `it`, and checks that the range begins where the previous one ended.
    fn list(&mut self, it: Operands) -> Vec<ExprId> {
        if it.start() != self.next_operand || it.start() + it.len() > self.body.operands.len() {
            self.problem("the operand list does not begin at the end of the previous list, or is too long");
        }
        self.next_operand = it.start() + it.len();
        self.body.operands(it).to_vec()
    }

    /// Checks the operands of a call against its descriptor; returns the kind of the result.
    fn call(
        &mut self,
        descriptor: classfile::names::Descriptor,
        receiver: bool,
        it: Operands,
    ) -> Option<Kind> {
        let list = self.list(it);
        let Some(ty) = descriptor.method_type() else {
            self.problem("the descriptor of the called method is not a method descriptor");
            return None;
        };
        let kinds = receiver.then_some(Kind::Ref).into_iter().chain(ty.params().map(|it| it.kind()));
        let n = kinds.clone().count();
        if n != list.len() {
            self.problem(format_args!("the call has {} operands instead of {n}", list.len()));
        }
        for (e, kind) in list.into_iter().zip(kinds) {
            self.expr(e, kind);
        }
        ty.ret().map(|it| it.kind())
    }

    fn result(&mut self, var: Option<Var>, kind: Option<Kind>) {
        if let Some(var) = var {
            self.assigned(var, kind);
        }
    }

    // long match: one arm per instruction
    fn instr(&mut self, instr: &Instr) {
        match *instr {
            Instr::Assign(var, e) => {
                self.assigned(var, Some(var.kind()));
                self.expr(e, var.kind());
            }
            Instr::SetField(e, field, value) => {
                self.expr(e, Kind::Ref);
                self.field_value(field.descriptor(), value);
            }
            Instr::SetStatic(field, value) => self.field_value(field.descriptor(), value),
            Instr::SetElem(elem, array, index, value) => {
                self.expr(array, Kind::Ref);
                self.expr(index, Kind::Int);
                self.expr(value, elem.kind());
            }
            Instr::MayInit(_) | Instr::Goto(_) => {}
            Instr::Assert(check) => self.check(check),
            Instr::New(var, method, args) => {
                let it = method.get();
                self.demand(it.name.bytes() == b"<init>", "new names a method that is no constructor");
                let result = self.call(it.descriptor, false, args);
                self.demand(result.is_none(), "the constructor that new calls has a result");
                self.assigned(var, Some(Kind::Ref));
            }
            Instr::Alloc(var, _) => self.assigned(var, Some(Kind::Ref)),
            Instr::NewArray(var, class, length) => {
                self.demand(class.is_array(), "the class of newarray is not an array");
                self.expr(length, Kind::Int);
                self.assigned(var, Some(Kind::Ref));
            }
            Instr::MultiNewArray(var, class, lengths) => {
                let dims = class.bytes().iter().take_while(|b| **b == b'[').count();
                let list = self.list(lengths);
                self.demand(
                    (1..=dims).contains(&list.len()),
                    "multinewarray has no lengths, or more lengths than its type has dimensions",
                );
                for e in list {
                    self.expr(e, Kind::Int);
                }
                self.assigned(var, Some(Kind::Ref));
            }
            Instr::Call(var, kind, method, args) => {
                let result = self.call(method.descriptor(), kind.has_receiver(), args);
                self.result(var, result);
            }
            Instr::CallDynamic(var, site, args) => {
                if let Some(descriptor) = self.dynamic(site) {
                    let result = self.call(descriptor, false, args);
                    self.result(var, result);
                }
            }
            Instr::ConstDynamic(var, site) => {
                if let Some(descriptor) = self.dynamic(site) {
                    let kind = descriptor.field_type().map(|it| it.kind());
                    self.assigned(var, kind);
                }
            }
            Instr::MonitorEnter(e) | Instr::MonitorExit(e) | Instr::Throw(e) => {
                self.expr(e, Kind::Ref);
            }
            Instr::Return(value) => self.returned(value),
            Instr::If(cond, a, b, _) => {
                let kind = self.kind_of(a);
                self.expr(a, kind);
                self.expr(b, kind);
                let fine = match kind {
                    Kind::Int => true,
                    Kind::Ref => matches!(cond, Cond::Eq | Cond::Ne),
                    _ => false,
                };
                self.demand(fine, "a branch cannot compare operands of these kinds");
            }
            Instr::Switch(e, table) => {
                self.expr(e, Kind::Int);
                self.table(table, true);
            }
            Instr::Ret(e, table) => {
                self.expr(e, Kind::Int);
                self.table(table, false);
            }
            Instr::Catch(var) => self.assigned(var, Some(Kind::Ref)),
        }
    }

    /// Returns the kind of an expression, or int if there is no such expression.
    fn kind_of(&self, id: ExprId) -> Kind {
        let there = index(id) < self.body.exprs.len();
        if there { self.body.exprs[id].kind() } else { Kind::Int }
    }

    fn returned(&mut self, value: Option<ExprId>) {
        let ty = self.body.method.descriptor().method_type();
        let want = ty.and_then(|it| it.ret()).map(|it| it.kind());
        let found = value.map(|it| self.kind_of(it));
        if let (Some(e), Some(kind)) = (value, found) {
            self.expr(e, kind);
        }
        if want != found && !self.body.unverified {
            self.problem(format_args!("the method returns {}, but {} is expected", what(found), what(want)));
        }
    }

    fn check(&mut self, check: Check) {
        let first = self.next_expr;
        match check {
            Check::NotNull(e) | Check::Cast(_, e) => {
                self.expr(e, Kind::Ref);
            }
            Check::Bound(a, i) => {
                self.expr(a, Kind::Ref);
                self.expr(i, Kind::Int);
            }
            Check::Store(a, v) => {
                self.expr(a, Kind::Ref);
                self.expr(v, Kind::Ref);
            }
            Check::NotZero(kind, e) => {
                self.demand(
                    matches!(kind, Kind::Int | Kind::Long),
                    "the kind of notzero is neither int nor long",
                );
                self.expr(e, kind);
            }
            Check::NotNegative(e) => {
                self.expr(e, Kind::Int);
            }
        }
        let reads = self.body.exprs.iter().skip(first).take(self.next_expr - first);
        let reads = reads.filter(|it| it.1.reads_heap()).count();
        self.demand(reads == 0, "an assertion reads the heap");
    }

    fn dynamic(&mut self, site: u32) -> Option<classfile::names::Descriptor> {
        self.demand(site <= self.next_dynamic, "dynamic constants are not in the order of use");
        self.next_dynamic = self.next_dynamic.max(site.saturating_add(1));
        let found = self.body.dynamics.get(site as usize).map(|it| it.descriptor);
        self.demand(
            found.is_some(),
            "the instruction refers to a dynamic constant or call site that does not exist",
        );
        found
    }

    fn table(&mut self, table: u32, has_default: bool) {
        self.demand(table == self.next_switch, "switch tables are not in the order of use");
        self.next_switch = table.saturating_add(1);
        let Some(it) = self.body.switches.get(table as usize) else {
            self.problem("the instruction refers to a switch table that does not exist");
            return;
        };
        self.demand(
            it.cases.windows(2).all(|w| w[0].0 < w[1].0),
            "the keys of the switch table are not ascending",
        );
        self.demand(
            it.default.is_some() == has_default,
            "the table of a switch has no default target, or that of a ret has one",
        );
        self.demand(has_default || !it.cases.is_empty(), "the table of a ret has no targets");
    }

    /// Checks that every expression and every entry of the tables is used.
    fn tables(&mut self) {
        let body = self.body;
        self.at = body.instrs.len() as u32;
        self.demand(!body.instrs.is_empty(), "there is no instruction");
        self.demand(self.next_expr == body.exprs.len(), "an expression is not used");
        self.demand(self.next_operand == body.operands.len(), "an operand list is not used");
        self.demand(self.next_switch as usize == body.switches.len(), "a switch table is not used");
        self.demand(self.next_dynamic as usize == body.dynamics.len(), "a dynamic constant is not used");
        self.demand(self.next_handle as usize == body.handles.len(), "a method handle is not used");
        let ascending = body.unreachable.iter().all(|it| it.0 < it.1)
            && body.unreachable.windows(2).all(|w| w[0].1 < w[1].0);
        self.demand(ascending, "the unreachable ranges are not ascending, or two of them touch");
    }

    /// Returns the instruction with this id; `None` if there is no such instruction.
    fn target(&self, id: InstrId) -> Option<Instr> {
        (index(id) < self.body.instrs.len()).then(|| self.body.instrs[id])
    }

    fn flow(&mut self) {
        let body = self.body;
        let n = body.instrs.len() as u32;
        if let Some(Instr::Catch(_)) = self.target(instr_id(0)) {
            self.at = 0;
            self.problem(
                "the first instruction is a catch, but control enters the body there without an exception",
            );
        }
        for (id, instr) in body.instrs.iter() {
            self.at = ordinal(id);
            let mut targets = Vec::new();
            body.jumps(instr, |it| targets.push(it));
            if instr.falls_through() {
                targets.push(instr_id(self.at + 1));
            }
            for to in targets {
                match self.target(to) {
                    None if ordinal(to) == n => self.problem("control runs off the end of the body"),
                    None => self.problem(format_args!(
                        "the instruction jumps to the label {}, which does not exist",
                        ordinal(to)
                    )),
                    Some(Instr::Catch(_)) => {
                        self.problem(format_args!(
                            "control reaches the catch at {} without an exception",
                            ordinal(to)
                        ));
                    }
                    Some(_) => {}
                }
            }
        }
    }

    fn rows(&mut self) {
        let body = self.body;
        let mut handlers = vec![false; body.instrs.len()];
        for row in &body.rows {
            self.at = ordinal(row.handler);
            let fine = ordinal(row.start) <= row.end && row.end as usize <= body.instrs.len();
            self.demand(fine, "a row covers instructions that do not exist");
            match self.target(row.handler) {
                Some(Instr::Catch(_)) => handlers[index(row.handler)] = true,
                _ => self.problem("a handler does not begin with catch"),
            }
        }
        let ordered = body.rows.windows(2).all(|w| w[0].source <= w[1].source);
        self.demand(ordered, "rows are not in the order of the exception table");
        for (id, instr) in body.instrs.iter() {
            self.at = ordinal(id);
            let fine = !matches!(instr, Instr::Catch(_)) || handlers[index(id)];
            self.demand(fine, "no row leads to this catch");
        }
    }
}

fn has_kind(op: BinaryOp) -> bool {
    use BinOp::{And, Or, Shl, Shr, Ushr, Xor};
    match op {
        BinaryOp::Arith(And | Or | Xor | Shl | Shr | Ushr, kind) => matches!(kind, Kind::Int | Kind::Long),
        BinaryOp::Arith(_, kind) => kind != Kind::Ref,
        BinaryOp::Compare(_) => true,
    }
}

fn what(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Int) => "an int",
        Some(Kind::Long) => "a long",
        Some(Kind::Float) => "a float",
        Some(Kind::Double) => "a double",
        Some(Kind::Ref) => "a reference",
        None => "nothing",
    }
}
