//! What the rest of a program needs to know of one body: what the body raises, what it calls, and which rows of its
//! exception table cover these instructions. A summary consists of names and has no exception sets, so it does not
//! change when classes are added to the program.
//!
//! Each *item* is a source of exceptions, together with its *context*: the rows that cover the source, in order. A
//! handler that throws its exception again is a source, too: of the exceptions that arrived at the handler
//! (`semantics.md` §3.2).

use bir::body::{Body, CallKind, Expr, ExprId, Instr, InstrId, Row, Var, ordinal};
use classfile::bootstrap::MethodHandle;
use classfile::descriptor::Kind;
use classfile::names::{ClassName, FieldRef, MethodRef};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::coverage::Coverage;
use crate::exceptions::raised;
use crate::facts::{MethodFacts, contains};
use crate::named::{named_by_expr, named_by_handle, named_by_instr, names_throwable};
use crate::operands::{Definitions, Operand, Operands};
use crate::passed::{Passed, passed_classes};
use crate::reaching::Reaching;
use crate::reflected::{Reflected, Variable};
use crate::throwables::well_known;
use crate::thrown::{Term, class_of};

/// The summary of one method body: all that the rest of a program needs to know of it. It has the body's sources of
/// exceptions, and the classes and fields that the body names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The distinct lists of exception-table rows that cover the sources in `items`. The first list is empty; it is
    /// for sources that no row covers.
    pub contexts: Box<[Context]>,
    /// The sources of exceptions without duplicates, each with the rows that cover it: first those that may occur at
    /// any time, in the order of the body, then those that occur only while assertions are enabled.
    pub items: Box<[PlacedSource]>,
    /// The distinct lists of known operands. The first list is empty.
    pub operands: Box<[Operands]>,
    /// The parameters on whose values the exceptions of the method may depend, because the method passes them on, calls
    /// methods on them or throws them: bit `i` stands for parameter `i`, the receiver being parameter 0. Parameters after
    /// the 64th count as unused.
    pub used_parameters: u64,
    /// The number of sources at the end of `items` that occur only while assertions are enabled.
    pub n_asserting: u32,
    /// The first instructions of the handlers that throw the caught exception again, ascending.
    pub rethrowing: Box<[InstrId]>,
    /// The fields that the body accesses. A field that is both read and written is listed for each kind of access,
    /// once. The rows that cover an access are not recorded: BIR may read a field at a later instruction than the
    /// bytecode does, so the link errors of an access are assumed to occur anywhere in the method.
    pub fields: Box<[(FieldRef, Access)]>,
    /// The classes that casts, `instanceof`, arrays and constants name, each once; also Throwable if a row of the
    /// exception table names it. The rows that cover these instructions are not recorded, because link errors are
    /// assumed to occur anywhere in the method.
    pub named: Box<[ClassName]>,
    /// The method handles that the body has as constants, each once. The classes that they name are not in `named`.
    pub handles: Box<[MethodHandle]>,
    /// The rows that are in none of `contexts`, because no source is under them; each row is listed once. Such rows may
    /// still catch link errors of accesses to fields, classes and method handles.
    pub bare: Box<[CatchRow]>,
    /// The classes that the body hands to other code as constants, each once. That code may create their objects.
    pub passed: Box<[Passed]>,
    /// The classes and members that the body names by constants when it uses reflection, each once.
    pub reflected: Box<[Reflected]>,
}

/// The rows of the exception table that cover an instruction. Rows after one that catches everything are left out.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Context {
    /// The rows, in the order of the exception table.
    pub rows: Box<[CatchRow]>,
}

/// A row of the exception table, reduced to the class it catches and whether its handler throws the exception again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CatchRow {
    /// The class that the row catches; `None` if the row catches everything.
    pub class: Option<ClassName>,
    /// The index of the row's handler in [`Summary::rethrowing`]; `None` if the handler does not throw the caught
    /// exception again.
    pub rethrows: Option<u32>,
}

/// A source of exceptions, with the rows of the exception table that cover it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PlacedSource {
    /// The source of exceptions.
    pub source: Source,
    /// The index in [`Summary::contexts`] of the rows that cover the source.
    pub context: u32,
    /// If the source is a call or a throw, the index in [`Summary::operands`] of its known operands; otherwise 0.
    pub operands: u32,
}

/// An action of a method body that may raise exceptions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// The instruction raises an object of exactly this class.
    Exact(ClassName),
    /// The instruction raises an object of this class or of a subclass.
    Cone(ClassName),
    /// The instruction throws again an exception that a handler caught; the number is the handler's index in
    /// [`Summary::rethrowing`].
    Caught(u32),
    /// A call of a method, or a call of a constructor on an object that was created by an earlier instruction.
    Call(CallKind, MethodRef),
    /// An access through a variable handle, by a call of this method of `VarHandle`. The VM performs it and runs no other
    /// code.
    Access(MethodRef),
    /// A call on `this`, the object on which the method that contains the call was called.
    CallOnThis(CallKind, MethodRef),
    /// A call of a constructor on a new object of exactly the constructor's class.
    Construct(MethodRef),
    /// The class initialisation that a `mayinit` instruction may run.
    Initialize(Initialized),
    /// The `invokedynamic` call site with this index in [`Body::dynamics`].
    CallDynamic(u32),
    /// The dynamic constant with this index in [`Body::dynamics`].
    ConstDynamic(u32),
    /// The instruction `new` of this class, which comes before the arguments of the constructor are evaluated. It fails if
    /// the class has become abstract or an interface since the body was compiled.
    Object(ClassName),
    /// An `invokeinterface` on this receiver, whose class is not the interface that the instruction names.
    Receiver(Receiver),
}

/// The receiver of an `invokeinterface` instruction, as far as the class file tells what it is. The verifier accepts any
/// object as a receiver, and the instruction fails if the object does not implement the interface (JVMS
/// §6.5.invokeinterface).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Receiver {
    /// The class of the receiver.
    pub class: ClassName,
    /// Whether the receiver is an object of exactly this class; otherwise, it may be of a subclass.
    pub exact: bool,
    /// The interface that the instruction names.
    pub interface: ClassName,
}

/// The kind of instruction that accesses a field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The access instructions: `getfield` etc.
pub enum Access {
    Get,
    Put,
    GetStatic,
    PutStatic,
}

/// The class that a `mayinit` instruction may initialise, given by the access that requires the initialisation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Initialized {
    /// This class is initialised, because an object of the class is created.
    Class(ClassName),
    /// The class that declares this static field is initialised, because the field is accessed.
    OwnerOfField(FieldRef),
    /// The class that declares this static method is initialised, because the method is called. The flag is `true` if
    /// the constant pool names the method by a `CONSTANT_InterfaceMethodref`.
    OwnerOfMethod(MethodRef, bool),
    /// This class or one of its supertypes is initialised. Any of them is possible, because it is not known which
    /// member is accessed.
    ClassOrAbove(ClassName),
    /// A class that implements this interface is initialised, and with it those of this interface and its
    /// superinterfaces that declare a non-abstract instance method.
    Implemented(ClassName),
}

impl Summary {
    /// Returns the sources of exceptions, each with the rows that cover it. `asserts` tells whether assertions are
    /// enabled; if not, the sources that occur only in the code of assertions are left out.
    pub fn items(&self, asserts: bool) -> &[PlacedSource] {
        let n_left_out = if asserts { 0 } else { self.n_asserting as usize };
        &self.items[..self.items.len().saturating_sub(n_left_out)]
    }

    /// Returns what is known of the operands of a source of `items`.
    pub fn operands_of(&self, item: &PlacedSource) -> &[(u8, Operand)] {
        self.operands.get(item.operands as usize).map_or(&[], |it| it)
    }

    /// Calls `f` with each class of `named`, and with each class and array type that a handle of `handles` names; some
    /// may occur more than once.
    pub fn constant_classes(&self, f: &mut dyn FnMut(ClassName)) {
        self.named.iter().for_each(|&it| f(it));
        self.handles.iter().for_each(|&it| named_by_handle(it, f));
    }
}

impl Initialized {
    /// Returns the class of which the access creates an object; `None` if it creates none. A `mayinit` whose access is
    /// not known belongs to an object that is dropped before a constructor call: no other access is ever left out.
    fn created(self) -> Option<ClassName> {
        match self {
            Initialized::Class(it) | Initialized::ClassOrAbove(it) => Some(it),
            Initialized::OwnerOfField(_) | Initialized::OwnerOfMethod(..) | Initialized::Implemented(_) => {
                None
            }
        }
    }
}

impl Source {
    /// Returns whether the source depends on the operands of its instruction: whether it is a call or a throw.
    pub fn has_operands(self) -> bool {
        match self {
            Source::Call(..) | Source::CallOnThis(..) | Source::Construct(_) | Source::Cone(_) => true,
            Source::Exact(_)
            | Source::Caught(_)
            | Source::Initialize(_)
            | Source::Access(_)
            | Source::CallDynamic(_)
            | Source::ConstDynamic(_)
            | Source::Object(_)
            | Source::Receiver(_) => false,
        }
    }

    /// Returns the class of the object that a preceding [`Source::Object`] created, if the source occurs only after it
    /// has succeeded; otherwise `None`.
    pub fn created(self) -> Option<ClassName> {
        match self {
            Source::Initialize(what) => what.created(),
            Source::Construct(method) => Some(method.class()),
            Source::Exact(_)
            | Source::Cone(_)
            | Source::Caught(_)
            | Source::Call(..)
            | Source::Access(_)
            | Source::CallOnThis(..)
            | Source::CallDynamic(_)
            | Source::ConstDynamic(_)
            | Source::Object(_)
            | Source::Receiver(_) => None,
        }
    }
}

/// Working memory that is reused from one body to the next.
#[derive(Default)]
pub struct Scratch {
    sources: Vec<Source>,
    items: Vec<PlacedSource>,
    asserting: Vec<PlacedSource>,
    seen: FxHashSet<PlacedSource>,
    fields: Vec<(FieldRef, Access)>,
    fields_seen: FxHashSet<(FieldRef, Access)>,
    named: Vec<ClassName>,
    named_seen: FxHashSet<ClassName>,
    handles: Vec<MethodHandle>,
    passed: Vec<Passed>,
    passed_seen: FxHashSet<Passed>,
}

/// The maximum capacity, in entries, of the hash sets that [`Scratch`] reuses. Emptying a hash set takes time
/// proportional to its capacity, so larger hash sets, which a huge body leaves behind, are dropped.
const MAX_KEPT: usize = 1 << 10;

impl Scratch {
    fn clear(&mut self) {
        self.items.clear();
        self.asserting.clear();
        self.fields.clear();
        self.named.clear();
        self.handles.clear();
        self.passed.clear();
        let others = [self.fields_seen.capacity(), self.named_seen.capacity(), self.passed_seen.capacity()];
        let largest = others.into_iter().fold(self.seen.capacity(), usize::max);
        if largest > MAX_KEPT {
            (self.seen, self.fields_seen, self.named_seen, self.passed_seen) = Default::default();
        }
        self.seen.clear();
        self.fields_seen.clear();
        self.named_seen.clear();
        self.passed_seen.clear();
    }
}

/// Computes the summary of a body from the body and its facts. `scratch` is working memory that is reused from one
/// body to the next.
pub fn summary(body: &Body, facts: &MethodFacts, scratch: &mut Scratch) -> Summary {
    scratch.clear();
    let mut sources = std::mem::take(&mut scratch.sources);
    let mut acc = Summarizer::new(facts, scratch);
    if body.rows.iter().any(names_throwable) {
        acc.named(well_known().throwable);
    }
    let mut walk = Sources::new(body, facts);
    let mut coverage = Coverage::new(body);
    for (id, instr) in body.instrs.iter() {
        match *instr {
            Instr::SetField(_, field, _) => acc.field(field, Access::Put),
            Instr::SetStatic(field, _) => acc.field(field, Access::PutStatic),
            _ => {}
        }
        sources.clear();
        walk.at(id, |it| sources.push(it));
        named_by_instr(instr, &mut |it| acc.named(it));
        if sources.is_empty() {
            continue;
        }
        let context = match coverage.at(ordinal(id)) {
            [] => 0,
            rows => acc.context(body, rows),
        };
        acc.asserts = contains(&facts.asserting, id);
        let operands = acc.operands(walk.operands(id));
        for &it in &sources {
            acc.add(it, context, if it.has_operands() { operands } else { 0 });
        }
        if contains(&facts.locks.leaving, id) && !acc.catches_all(context) {
            // The JVM checks the monitors when no handler is left.
            acc.add(Source::Exact(well_known().monitor_state), 0, 0);
        }
    }
    // Every expression of a body is used by some instruction.
    for expr in body.exprs.values() {
        match *expr {
            Expr::Field(_, field) => acc.field(field, Access::Get),
            Expr::Static(field) => acc.field(field, Access::GetStatic),
            Expr::MethodHandle(handle) => {
                body.handles.get(handle as usize).into_iter().for_each(|&it| acc.handle(it));
            }
            ref it => named_by_expr(body, it, &mut |it| acc.named(it)),
        }
    }
    passed_classes(body, &mut |it| acc.passed(it));
    let mut named: Vec<Reflected> = Vec::new();
    for &it in facts.reflective.iter().flat_map(|it| &it.uses) {
        if !named.contains(&it) {
            named.push(it);
        }
    }
    let bare = acc.bare_rows(body);
    let summary = Summary { reflected: named.into(), ..acc.finish(bare) };
    scratch.sources = sources;
    summary
}

/// A summary under construction.
struct Summarizer<'s> {
    contexts: Vec<Context>,
    operands: Vec<Operands>,
    operands_seen: FxHashMap<Operands, u32>,
    used_parameters: u64,
    by_rows: FxHashMap<Box<[u32]>, u32>,
    /// The exception-table rows that were last searched in `contexts`, as indices into the exception table, and the
    /// index of their entry in `contexts`. The next instruction usually has the same rows, so this saves most
    /// lookups.
    last: (Box<[u32]>, u32),
    rethrowing: Vec<InstrId>,
    /// Whether the present instruction runs only while assertions are enabled.
    asserts: bool,
    scratch: &'s mut Scratch,
}

impl<'s> Summarizer<'s> {
    fn new(facts: &MethodFacts, scratch: &'s mut Scratch) -> Self {
        let rethrowing = rethrowing(facts);
        Summarizer {
            contexts: vec![Context::default()],
            operands: vec![Operands::default()],
            operands_seen: FxHashMap::default(),
            used_parameters: 0,
            by_rows: FxHashMap::default(),
            last: (Box::default(), 0),
            rethrowing,
            asserts: false,
            scratch,
        }
    }

    fn context(&mut self, body: &Body, rows: &[u32]) -> u32 {
        if *self.last.0 == *rows {
            return self.last.1;
        }
        let context = match self.by_rows.get(rows) {
            Some(&it) => it,
            None if rows.is_empty() => 0,
            None => {
                let context = self.new_context(body, rows);
                let known = self.contexts.iter().position(|it| *it == context);
                let id = known.unwrap_or_else(|| {
                    self.contexts.push(context);
                    self.contexts.len() - 1
                }) as u32;
                self.by_rows.insert(rows.into(), id);
                id
            }
        };
        self.last = (rows.into(), context);
        context
    }

    fn new_context(&self, body: &Body, rows: &[u32]) -> Context {
        let mut acc: Vec<CatchRow> = Vec::with_capacity(rows.len());
        for &row in rows {
            let row = self.catch_row(&body.rows[row as usize]);
            acc.push(row);
            if row.class.is_none() {
                break;
            }
        }
        Context { rows: acc.into() }
    }

    fn catch_row(&self, row: &Row) -> CatchRow {
        let class = row.catch_type.filter(|&it| it != well_known().throwable);
        CatchRow { class, rethrows: handler_number(&self.rethrowing, row.handler) }
    }

    fn bare_rows(&self, body: &Body) -> Vec<CatchRow> {
        let mut seen: FxHashSet<CatchRow> =
            self.contexts.iter().flat_map(|it| it.rows.iter().copied()).collect();
        let rows = body.rows.iter().map(|it| self.catch_row(it));
        rows.filter(|&it| seen.insert(it)).collect()
    }

    fn catches_all(&self, context: u32) -> bool {
        self.contexts[context as usize].rows.last().is_some_and(|it| it.class.is_none())
    }

    /// Returns the index in [`Summary::operands`] of the known operands of an instruction.
    fn operands(&mut self, it: Operands) -> u32 {
        for &(_, operand) in &it {
            if let Operand::Parameter(it) = operand {
                self.uses(it);
            }
        }
        if it.is_empty() {
            return 0;
        }
        let next = self.operands.len() as u32;
        let index = *self.operands_seen.entry(it.clone()).or_insert(next);
        if index == next {
            self.operands.push(it);
        }
        index
    }

    fn uses(&mut self, parameter: u8) {
        self.used_parameters |= 1u64.checked_shl(u32::from(parameter)).unwrap_or(0);
    }

    fn add(&mut self, source: Source, context: u32, operands: u32) {
        let item = PlacedSource { source, context, operands };
        if matches!(source, Source::CallOnThis(..)) {
            self.uses(0);
        }
        if self.asserts {
            self.scratch.asserting.push(item);
        } else if self.scratch.seen.insert(item) {
            self.scratch.items.push(item);
        }
    }

    fn field(&mut self, field: FieldRef, access: Access) {
        if self.scratch.fields_seen.insert((field, access)) {
            self.scratch.fields.push((field, access));
        }
    }

    fn named(&mut self, class: ClassName) {
        if self.scratch.named_seen.insert(class) {
            self.scratch.named.push(class);
        }
    }

    fn handle(&mut self, handle: MethodHandle) {
        // A body has few such constants: javac emits none.
        if !self.scratch.handles.contains(&handle) {
            self.scratch.handles.push(handle);
        }
    }

    fn passed(&mut self, it: Passed) {
        if self.scratch.passed_seen.insert(it) {
            self.scratch.passed.push(it);
        }
    }

    fn finish(self, bare: Vec<CatchRow>) -> Summary {
        let Scratch { items, asserting, seen, .. } = self.scratch;
        let n_always = items.len();
        items.extend(asserting.iter().filter(|it| seen.insert(**it)));
        Summary {
            contexts: self.contexts.into(),
            operands: self.operands.into(),
            used_parameters: self.used_parameters,
            n_asserting: (items.len() - n_always) as u32,
            items: items.as_slice().into(),
            rethrowing: self.rethrowing.into(),
            fields: self.scratch.fields.as_slice().into(),
            named: self.scratch.named.as_slice().into(),
            handles: self.scratch.handles.as_slice().into(),
            bare: bare.into(),
            passed: self.scratch.passed.as_slice().into(),
            reflected: Box::default(),
        }
    }
}

/// Finds the sources of exceptions of each instruction of a body. The instructions are visited in order.
pub struct Sources<'a> {
    body: &'a Body,
    facts: &'a MethodFacts,
    /// The `mayinit` instructions in ascending order, each with the class that it initialises.
    accesses: Vec<(InstrId, Initialized)>,
    next_access: usize,
    next_proof: usize,
    /// The first instructions of the handlers that throw the caught exception again; [`Source::Caught`] holds an
    /// index into this list.
    handlers: Vec<InstrId>,
    /// Whether local 0 holds `this` at every instruction of the body; `None` until this has been computed.
    keeps_this: Option<bool>,
    /// The search for the receivers of interface calls, and an upper bound of the instructions that it has examined.
    reaching: Reaching<'a>,
    spent: usize,
    definitions: Definitions<'a>,
    /// The instructions that do not run, ascending.
    skipped: &'a [InstrId],
}

/// The maximum of [`Sources::spent`]. Beyond it, receivers of interface calls are not searched, so that a body with very
/// many such calls costs little; it then lacks errors of receivers that do not implement the interface.
const MAX_SPENT: usize = 1 << 22;

impl<'a> Sources<'a> {
    /// Creates the state for a visit of the instructions of `body` from the first on. `facts` must be the facts of
    /// `body`.
    pub fn new(body: &'a Body, facts: &'a MethodFacts) -> Self {
        Sources {
            body,
            facts,
            accesses: accesses(body),
            next_access: 0,
            next_proof: 0,
            handlers: rethrowing(facts),
            keeps_this: None,
            reaching: Reaching::new(body),
            spent: 0,
            definitions: Definitions::new(body),
            skipped: &[],
        }
    }

    /// Leaves out the sources of the instructions that run only while assertions are enabled.
    pub fn without_assertions(mut self) -> Self {
        self.skipped = &self.facts.asserting;
        self
    }

    /// Calls `f` with the sources of exceptions of the instruction `id`, in the order in which the JVM checks for
    /// them. Consecutive calls of this function must pass ascending instructions.
    #[inline]
    pub fn at(&mut self, id: InstrId, mut f: impl FnMut(Source)) {
        let body = self.body;
        if contains(self.skipped, id) {
            return;
        }
        match body.instrs[id] {
            Instr::Assert(check) => {
                if !self.is_proved(id) {
                    f(Source::Exact(well_known().raised_by(check)));
                }
            }
            // What an initialisation may throw depends on the whole program, even where the method's class tells
            // that no initialiser runs.
            Instr::MayInit(_) => {
                for &(_, what) in self.initialized(id) {
                    // The JVM checks the class before it initialises it.
                    what.created().into_iter().for_each(|it| f(Source::Object(it)));
                    f(Source::Initialize(what));
                }
            }
            Instr::New(_, constructor, _) => f(Source::Construct(constructor)),
            Instr::Call(_, kind, method, operands) => {
                let receiver = body.operands(operands).first().filter(|_| kind.has_receiver());
                if kind == CallKind::Interface
                    && let Some(&receiver) = receiver
                {
                    self.receivers(id, receiver, method.class(), &mut f);
                }
                let accesses = self.facts.accessed(id);
                if !accesses.is_empty() {
                    accesses.iter().for_each(|it| accessed(it.1, &mut f));
                    return f(Source::Access(method));
                }
                let this = Expr::Var(Var::local(0, Kind::Ref));
                let on_this = receiver.is_some_and(|&it| body.exprs[it] == this) && self.keeps_this();
                f(if on_this { Source::CallOnThis(kind, method) } else { Source::Call(kind, method) });
            }
            Instr::CallDynamic(_, site, _) => f(Source::CallDynamic(site)),
            Instr::ConstDynamic(_, site) => f(Source::ConstDynamic(site)),
            Instr::Throw(_) => {
                for (_, term) in self.facts.thrown(id) {
                    match *term {
                        Term::Exact(class) => f(Source::Exact(class)),
                        Term::Cone(class) => f(Source::Cone(class)),
                        Term::Caught(handler) => {
                            if let Some(number) = handler_number(&self.handlers, handler) {
                                f(Source::Caught(number));
                            }
                        }
                    }
                }
            }
            _ => raised(body, self.facts, id, false, |set| {
                if set.open.is_none() {
                    f(if set.exact { Source::Exact(set.class) } else { Source::Cone(set.class) });
                }
            }),
        }
    }

    /// Returns what is known of the operands of an instruction.
    pub fn operands(&mut self, id: InstrId) -> Operands {
        self.definitions.operands(id)
    }

    /// Calls `f` with the classes that the receiver of an `invokeinterface` instruction may have, other than the interface
    /// itself.
    fn receivers(&mut self, id: InstrId, receiver: ExprId, interface: ClassName, f: &mut impl FnMut(Source)) {
        let body = self.body;
        self.spent += body.instrs.len();
        if self.spent > MAX_SPENT {
            return;
        }
        let mut found: Vec<Receiver> = Vec::new();
        self.reaching.sources(id, receiver, |source, narrow| {
            // A cast has checked the value.
            if narrow.is_none()
                && let Some((class, exact)) = class_of(body, source)
                && class != interface
                && !class.is_array()
            {
                let it = Receiver { class, exact, interface };
                if !found.contains(&it) {
                    found.push(it);
                }
            }
        });
        found.into_iter().for_each(|it| f(Source::Receiver(it)));
    }

    fn keeps_this(&mut self) -> bool {
        let body = self.body;
        let this = Some(Var::local(0, Kind::Ref));
        let keeps = || !body.flags.is_static() && body.instrs.values().all(|it| it.assigned() != this);
        *self.keeps_this.get_or_insert_with(keeps)
    }

    fn is_proved(&mut self, id: InstrId) -> bool {
        let proofs = &self.facts.proofs;
        while proofs.get(self.next_proof).is_some_and(|it| ordinal(it.0) < ordinal(id)) {
            self.next_proof += 1;
        }
        proofs.get(self.next_proof).is_some_and(|it| it.0 == id)
    }

    fn initialized(&mut self, id: InstrId) -> &[(InstrId, Initialized)] {
        while self.accesses.get(self.next_access).is_some_and(|it| ordinal(it.0) < ordinal(id)) {
            self.next_access += 1;
        }
        let rest = self.accesses.get(self.next_access..).unwrap_or_default();
        let len = rest.iter().take_while(|it| it.0 == id).count();
        &rest[..len]
    }
}

/// Calls `f` with what an access through a variable handle may raise or initialise.
fn accessed(variable: Variable, f: &mut impl FnMut(Source)) {
    match variable {
        Variable::Static(class) => f(Source::Initialize(Initialized::ClassOrAbove(class))),
        Variable::Field | Variable::Element | Variable::Bytes => {}
    }
    variable.raises().for_each(|it| f(Source::Exact(it)));
}

/// Returns the first instructions of the handlers that throw the caught exception again, ascending.
fn rethrowing(facts: &MethodFacts) -> Vec<InstrId> {
    let caught = facts.throws.iter().filter_map(|it| match it.1 {
        Term::Caught(handler) => Some(handler),
        _ => None,
    });
    let mut acc: Vec<InstrId> = caught.collect();
    acc.sort_unstable_by_key(|&it| ordinal(it));
    acc.dedup();
    acc
}

fn handler_number(handlers: &[InstrId], handler: InstrId) -> Option<u32> {
    handlers.binary_search_by_key(&ordinal(handler), |&it| ordinal(it)).ok().map(|it| it as u32)
}

/// Returns the `mayinit` instructions in ascending order, each with the class that it initialises.
///
/// Each access to a class has a `mayinit` of its own: the nearest `mayinit` of this class before the access that does
/// not belong to an earlier access. A static read or call comes before the next jump or `mayinit`, because jumps and
/// `mayinit` save the operand stack. So other `mayinit` instructions can be between an access and its `mayinit` only
/// if the access creates an object, and such pairs of `mayinit` and access are nested.
fn accesses(body: &Body) -> Vec<(InstrId, Initialized)> {
    let mut acc = Accesses::default();
    let mut pending = Vec::new();
    for (id, instr) in body.instrs.iter() {
        match *instr {
            Instr::MayInit(class) => {
                acc.begin(class, id);
                continue;
            }
            _ if acc.pending.is_empty() => continue,
            _ => {}
        }
        // Operands come before the instruction itself: in `new C(C.f)` the read is nearer to its `mayinit`.
        body.instr_exprs(instr, |e| pending.push(e));
        while let Some(e) = pending.pop() {
            if let Expr::Static(field) = body.exprs[e] {
                acc.found(field.class(), Initialized::OwnerOfField(field));
            }
            body.exprs[e].operands(|it| pending.push(it));
        }
        match *instr {
            Instr::New(_, constructor, _) => {
                let class = constructor.class();
                acc.found(class, Initialized::Class(class));
            }
            Instr::Alloc(_, class) => acc.found(class, Initialized::Class(class)),
            Instr::Call(_, kind @ (CallKind::Static | CallKind::StaticInterface), method, _) => {
                let interface = kind == CallKind::StaticInterface;
                acc.found(method.class(), Initialized::OwnerOfMethod(method, interface));
            }
            Instr::SetStatic(field, _) => acc.found(field.class(), Initialized::OwnerOfField(field)),
            _ => {}
        }
    }
    acc.finish()
}

/// The `mayinit` instructions found so far in a body, and the accesses to which they belong.
#[derive(Default)]
struct Accesses {
    all: Vec<(InstrId, ClassName)>,
    /// The `mayinit` instructions, as indices into `all`, for which the access that requires the initialisation was
    /// not found yet. There are never more than a few.
    pending: Vec<usize>,
    found: Vec<(usize, Initialized)>,
}

impl Accesses {
    fn begin(&mut self, class: ClassName, id: InstrId) {
        self.pending.push(self.all.len());
        self.all.push((id, class));
    }

    fn found(&mut self, class: ClassName, what: Initialized) {
        if let Some(i) = self.pending.iter().rposition(|&it| self.all[it].1 == class) {
            let at = self.pending.remove(i);
            self.found.push((at, what));
        }
    }

    fn finish(mut self) -> Vec<(InstrId, Initialized)> {
        self.found.sort_by_key(|it| it.0);
        let mut found = self.found.into_iter().peekable();
        let mut acc = Vec::with_capacity(self.all.len());
        for (i, (id, class)) in self.all.into_iter().enumerate() {
            let start = acc.len();
            while let Some((_, what)) = found.next_if(|it| it.0 == i) {
                acc.push((id, what));
            }
            if acc.len() == start {
                acc.push((id, Initialized::ClassOrAbove(class)));
            }
        }
        acc
    }
}
