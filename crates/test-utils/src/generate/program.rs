//! Generates one program: its classes, the order in which methods are written, the entry methods and their arguments.

use crate::asm::{AsmError, Assembled, ClassBuilder, CodeBuilder, Const, Insn, opcodes as op};
use crate::jvm::{Arg, Case};
use crate::rng::Rng;

use super::body::{Body, Local, Style};
use super::dynamic;
use super::types::{Decl, Ref, Ty};
use super::world::{Kind, Method, World};

/// The kind of a generated program, which determines the features that its code uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bodies with all features except those that the other modes add.
    Plain,
    /// Bodies with subroutines (`jsr`, `ret`), in class versions 46 to 49.
    Subroutines,
    /// Exception tables that no compiler writes: overlapping rows, handlers that cover themselves or jump into each
    /// other.
    OddRows,
    /// Plain programs with a helper class (version 55) that uses `invokedynamic` and dynamic constants.
    Dynamic,
}

/// A generated program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The classes of the program, in a package of their own.
    pub classes: Vec<Assembled>,
    /// Calls of the methods at which runs of the program start, with their arguments.
    pub cases: Vec<Case>,
}

/// The budgets of an ordinary method and of a method at which a run starts. A budget limits the cost of a body, which
/// is roughly the number of expressions that one call executes.
const BUDGETS: (u32, u32) = (250, 2500);

/// Generates the program of this kind and seed. Equal arguments give equal programs.
pub fn program(seed: u64, mode: Mode) -> Result<Program, AsmError> {
    let mut rng = Rng::new(seed.wrapping_mul(3).wrapping_add(mode as u64));
    let letter = match mode {
        Mode::Plain => 'p',
        Mode::Subroutines => 's',
        Mode::OddRows => 'o',
        Mode::Dynamic => 'd',
    };
    let package = format!("g/{letter}{seed:x}");
    let world = World::new(&mut rng, &package, mode == Mode::Dynamic);
    let version = if mode == Mode::Subroutines { rng.one([46, 47, 48, 49, 49]) } else { 49 };
    let style = Style {
        subroutines: mode == Mode::Subroutines,
        odd_rows: mode == Mode::OddRows,
        // JVMS §5.1: `ldc` of a class exists since version 49.
        class_constants: version >= 49,
    };
    let mut writer = Writer { builders: builders(&world, version), world, rng, style };
    let helper = writer.helper();
    writer.write();
    let cases = writer.cases();
    let mut classes = Vec::new();
    for (builder, class) in writer.builders.iter().zip(&writer.world.classes) {
        classes.push(Assembled { name: class.name.clone(), bytes: builder.finish()? });
    }
    if let Some(it) = helper {
        classes.push(Assembled { name: String::from_utf16_lossy(it.name.units()), bytes: it.finish()? });
    }
    Ok(Program { classes, cases })
}

fn builders(world: &World, version: u16) -> Vec<ClassBuilder> {
    let mut out = Vec::new();
    for (idx, class) in world.classes.iter().enumerate() {
        let mut it = ClassBuilder::new(&class.name);
        it.version = (version, 0);
        it.access = if class.interface { 0x601 } else { 0x21 };
        it.super_name = Some(world.super_name(idx).into());
        it.interfaces = class.interfaces.iter().map(|&it| world.name(it).into()).collect();
        for field in world.fields.iter().filter(|it| it.owner == idx) {
            let flags = 0x1 | if field.is_static { 0x8 } else { 0 } | if field.is_final { 0x10 } else { 0 };
            it.field(flags, &field.name, &world.descriptor(field.decl));
        }
        out.push(it);
    }
    out
}

struct Writer {
    world: World,
    rng: Rng,
    style: Style,
    builders: Vec<ClassBuilder>,
}

/// The decisions about one method body that the generator makes before it writes the body.
struct Plan {
    owner: usize,
    params: Vec<Decl>,
    ret: Option<Decl>,
    is_static: bool,
    budget: u32,
    kind: Shape,
}

/// The kind of a body, which determines the code at its beginning and end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    Constructor,
    Initialiser,
    Entry,
}

impl Writer {
    fn write(&mut self) {
        let n_classes = self.world.classes.len();
        let main = n_classes - 1;
        for it in 0..2 {
            self.static_method(main, &format!("early{it}"));
        }
        for class in 0..n_classes {
            if self.world.is_open(class) {
                self.constructor(class);
            }
        }
        for it in 0..self.rng.range(2, 4) {
            self.family(it);
        }
        for class in 0..n_classes {
            if self.rng.chance(50) && self.world.is_open(class) {
                self.private_method(class);
            }
        }
        for it in 0..self.rng.range(2, 5) {
            let owner = self.rng.below(n_classes as u32) as usize;
            let owner = if self.world.is_open(owner) { owner } else { main };
            self.static_method(owner, &format!("late{it}"));
        }
        for class in 0..n_classes {
            if self.world.is_interface(class) || (self.world.is_open(class) && self.rng.chance(60)) {
                self.initialiser(class);
            }
        }
        for it in 0..2 {
            let plan = Plan {
                owner: main,
                params: ENTRY.to_vec(),
                ret: Some(self.world.decl(&mut self.rng)),
                is_static: true,
                budget: BUDGETS.1,
                kind: Shape::Entry,
            };
            self.body(&plan, &format!("run{it}"), 0x9);
        }
    }

    /// Writes the helper class, which uses `invokedynamic` and dynamic constants, and returns the interface that its
    /// lambdas implement; `None` if the program has no helper class.
    fn helper(&mut self) -> Option<ClassBuilder> {
        let owner = self.world.helper?;
        self.world.methods.extend(dynamic::methods(owner));
        let name = self.world.name(owner).to_owned();
        let builder = self.builders.get_mut(owner)?;
        Some(dynamic::write(builder, &name, &mut self.rng))
    }

    fn params(&mut self) -> Vec<Decl> {
        (0..self.rng.below(4)).map(|_| self.world.decl(&mut self.rng)).collect()
    }

    fn ret(&mut self) -> Option<Decl> {
        if self.rng.chance(20) { None } else { Some(self.world.decl(&mut self.rng)) }
    }

    /// Writes the body and adds the method to its class. Returns the cost of one call.
    fn body(&mut self, plan: &Plan, name: &str, access: u16) -> u32 {
        let descriptor = self.world.method_descriptor(&plan.params, plan.ret);
        let (code, cost) = write_body(&self.world, &mut self.rng, self.style, plan);
        if let Some(builder) = self.builders.get_mut(plan.owner) {
            builder.method(access, name, &descriptor, code);
        }
        cost
    }

    fn add_method(&mut self, plan: &Plan, name: &str, kind: Kind, cost: u32) {
        self.world.methods.push(Method {
            owner: plan.owner,
            name: name.to_owned(),
            params: plan.params.clone(),
            ret: plan.ret,
            kind,
            cost: Some(cost),
        });
    }

    fn static_method(&mut self, owner: usize, name: &str) {
        let (params, ret) = (self.params(), self.ret());
        let plan = Plan { owner, params, ret, is_static: true, budget: BUDGETS.0, kind: Shape::Plain };
        let cost = self.body(&plan, name, 0x9);
        self.add_method(&plan, name, Kind::Static, cost);
    }

    fn private_method(&mut self, owner: usize) {
        let (params, ret) = (self.params(), self.ret());
        let plan = Plan { owner, params, ret, is_static: false, budget: BUDGETS.0, kind: Shape::Plain };
        let cost = self.body(&plan, "hidden", 0x2);
        self.add_method(&plan, "hidden", Kind::Private, cost);
    }

    fn constructor(&mut self, owner: usize) {
        let params = if self.world.is_throwable(owner) || self.rng.chance(30) {
            Vec::new()
        } else {
            (0..self.rng.range(1, 2)).map(|_| self.world.decl(&mut self.rng)).collect()
        };
        let plan = Plan { owner, params, ret: None, is_static: false, budget: 60, kind: Shape::Constructor };
        let cost = self.body(&plan, "<init>", 0x1);
        self.add_method(&plan, "<init>", Kind::Constructor, cost);
    }

    fn initialiser(&mut self, owner: usize) {
        let plan = Plan {
            owner,
            params: Vec::new(),
            ret: None,
            is_static: true,
            budget: BUDGETS.0,
            kind: Shape::Initialiser,
        };
        self.body(&plan, "<clinit>", 0x8);
    }

    /// Writes an instance method of a class or interface, and its implementations in subclasses. The name is `m`
    /// followed by `number`. Generated code may call the method once all implementations are written.
    fn family(&mut self, number: i32) {
        let n_classes = self.world.classes.len() as u32;
        let declaring =
            Some(self.rng.below(n_classes - 1) as usize).filter(|&it| Some(it) != self.world.helper);
        let declaring = declaring.unwrap_or(0);
        let (name, params, ret) = (format!("m{number}"), self.params(), self.ret());
        let mut cost = 1;
        let abstract_ = self.world.is_interface(declaring);
        if abstract_ {
            let descriptor = self.world.method_descriptor(&params, ret);
            if let Some(it) = self.builders.get_mut(declaring) {
                it.bodiless(0x401, &name, &descriptor);
            }
        }
        for class in self.world.concrete(declaring) {
            // A class that implements an interface may inherit the method only if its superclass has it.
            let inherits = self.world.parent(class).is_some_and(|it| self.world.is_subclass(it, declaring));
            if inherits && self.rng.chance(40) {
                continue;
            }
            let plan = Plan {
                owner: class,
                params: params.clone(),
                ret,
                is_static: false,
                budget: BUDGETS.0,
                kind: Shape::Plain,
            };
            let access = if self.rng.chance(10) { 0x21 } else { 0x1 };
            cost = cost.max(self.body(&plan, &name, access));
        }
        let kind = if abstract_ { Kind::Interface } else { Kind::Virtual };
        let cost = Some(cost);
        self.world.methods.push(Method { owner: declaring, name, params, ret, kind, cost });
    }

    fn cases(&mut self) -> Vec<Case> {
        let main = self.world.classes.len() - 1;
        let mut out = Vec::new();
        let entries: Vec<(String, String)> = self
            .builders
            .get(main)
            .map(|it| it.methods.iter())
            .into_iter()
            .flatten()
            .map(|it| (text(it.name.units()), text(it.descriptor.units())))
            .filter(|it| it.0.starts_with("run"))
            .collect();
        for (method, descriptor) in entries {
            for _ in 0..2 {
                let rng = &mut self.rng;
                let floats = [0.0f32, -0.0, 1.5, f32::NAN, f32::INFINITY, -7.25e12];
                let args = vec![
                    Arg::Int(rng.one([0, 1, -1, 7, i32::MIN, i32::MAX])),
                    Arg::Int(rng.range(-10, 10)),
                    Arg::Long(rng.one([0, -1, 1 << 40, i64::MIN])),
                    Arg::Float(rng.one(floats).to_bits()),
                    Arg::Double(f64::from(rng.one(floats)).to_bits()),
                    if rng.chance(20) { Arg::Null } else { Arg::Str("arg\u{1}".into()) },
                ];
                let class = self.world.name(main).to_owned();
                out.push(Case { class, method: method.clone(), descriptor: descriptor.clone(), args });
            }
        }
        out
    }
}

const ENTRY: [Decl; 6] = [
    Decl::Val(Ty::Int),
    Decl::Val(Ty::Int),
    Decl::Val(Ty::Long),
    Decl::Val(Ty::Float),
    Decl::Val(Ty::Double),
    Decl::Val(Ty::Ref(Ref::Str)),
];

fn text(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

fn write_body(world: &World, rng: &mut Rng, style: Style, plan: &Plan) -> (CodeBuilder, u32) {
    // A body with shared handlers runs one additional time for each unit of fuel.
    let fuel = rng.range(2, 4);
    let times = if style.odd_rows { fuel as u32 + 1 } else { 1 };
    let mut body = Body::new(world, rng, style, plan.owner, plan.budget / times);
    body.ret = plan.ret;
    if !plan.is_static {
        body.next_slot = 1;
    }
    for param in &plan.params {
        let local = Local { slot: body.next_slot, ty: param.ty(), assignable: true };
        body.next_slot += param.ty().width();
        body.locals.push(local);
    }
    // The initialiser of the class with the entry methods should mostly succeed.
    let is_main = plan.owner + 1 == world.classes.len();
    if plan.kind == Shape::Constructor {
        call_super(&mut body);
    }
    if !plan.is_static {
        let ty = Ty::Ref(Ref::Class(plan.owner));
        let assignable = body.rng.chance(30);
        body.this = Some(plan.owner);
        body.locals.push(Local { slot: 0, ty, assignable });
    }
    if matches!(plan.kind, Shape::Initialiser | Shape::Constructor) {
        let set = |it: &mut Body<'_>| set_fields(it, plan.kind == Shape::Initialiser);
        if is_main && plan.kind == Shape::Initialiser { body.guarded(set) } else { set(&mut body) }
    }
    initial_locals(&mut body);
    body.n_base = body.locals.len();
    let fuel_slot = style.odd_rows.then(|| body.hidden_slot(Ty::Int));
    let n_statements = if plan.kind == Shape::Entry { 8 } else { 3 };
    for _ in 0..body.rng.range(1, n_statements) {
        if plan.kind != Shape::Plain && (is_main || body.rng.chance(92)) {
            body.guarded(|it| it.stmt());
        } else {
            body.stmt();
        }
    }
    if plan.kind == Shape::Entry {
        show_locals(&mut body);
    }
    if plan.kind == Shape::Initialiser && !is_main && body.rng.chance(8) {
        let number = body.rng.range(0, 9);
        body.code.int(number).call(op::INVOKESTATIC, super::body::TRACE, "boom", "(I)V");
    }
    finish(&mut body, plan);
    if let Some(slot) = fuel_slot {
        body.shared_handlers(slot);
        let set = [Insn::Number(op::BIPUSH, fuel), Insn::Local(op::ISTORE, slot, false)];
        body.prologue.extend(set);
    }
    let cost = body.cost.saturating_mul(times);
    let mut code = body.code;
    code.insns.extend(body.tail);
    // The prologue comes first, even before the call of the superclass's constructor.
    code.insns.splice(0..0, body.prologue);
    (code, cost)
}

/// Writes the `return` at the end of a body, with the returned value.
fn finish(body: &mut Body<'_>, plan: &Plan) {
    match plan.ret {
        Some(ret) => {
            if plan.kind == Shape::Entry {
                body.leaf(ret.ty());
            } else {
                body.expr(ret.ty());
            }
            body.code.op(op::IRETURN + ret.ty().family());
        }
        None => {
            body.code.op(op::RETURN);
        }
    }
}

/// Writes the constructor call of the superclass. The arguments contain branches that run while `this` is
/// uninitialised.
fn call_super(body: &mut Body<'_>) {
    let world = body.world;
    let parent = world.parent(body.owner);
    let params = parent
        .and_then(|it| world.constructor(it))
        .and_then(|it| world.methods.get(it))
        .map(|it| it.params.clone())
        .unwrap_or_default();
    body.early = true;
    body.code.op(op::ALOAD_0);
    // Keep the arguments shallow, because otherwise few objects would ever be created.
    body.depth += 2;
    body.under(1, |it| it.args(&params));
    body.depth -= 2;
    let descriptor = world.method_descriptor(&params, None);
    body.code.call(op::INVOKESPECIAL, world.super_name(body.owner), "<init>", &descriptor);
    body.early = false;
    let cost = parent
        .and_then(|it| world.constructor(it))
        .and_then(|it| world.methods.get(it))
        .and_then(|it| it.cost);
    body.spend(cost.unwrap_or(0));
}

/// Writes initial assignments to the fields of the class, so that most references are not null. Final fields are
/// always assigned.
fn set_fields(body: &mut Body<'_>, is_static: bool) {
    let (world, owner) = (body.world, body.owner);
    for field in world.fields.iter().filter(|it| it.owner == owner && it.is_static == is_static) {
        if !field.is_final && !matches!(field.decl.ty(), Ty::Ref(_)) && body.rng.chance(70) {
            continue;
        }
        if !is_static {
            body.code.op(op::ALOAD_0);
        }
        body.depth += 4;
        body.under(u32::from(!is_static), |it| it.leaf(field.decl.ty()));
        body.depth -= 4;
        if field.is_final {
            body.trace(field.decl.ty());
        }
        body.narrow(field.decl);
        let descriptor = world.descriptor(field.decl);
        let opcode = if is_static { op::PUTSTATIC } else { op::PUTFIELD };
        body.code.field(opcode, world.name(owner), &field.name, &descriptor);
    }
}

/// Creates the locals that statements use. Some of them may have slots from 300 on, which need `wide`.
fn initial_locals(body: &mut Body<'_>) {
    for it in 0..body.rng.range(2, 6) {
        if it == 2 && body.rng.chance(4) {
            body.next_slot = 300;
        }
        let ty = body.world.ty(body.rng);
        let local = body.new_local(ty);
        if body.style.fixed_slots() {
            // The prologue initialised it already.
            continue;
        }
        body.locals.pop();
        body.leaf(ty);
        body.store(ty, local.slot);
        body.locals.push(local);
    }
    if body.rng.chance(50) {
        body.code.ldc(Const::Int(body.owner as i32 + 1_000_000)).op(op::POP);
    }
}

/// Writes code that traces the values of all locals.
fn show_locals(body: &mut Body<'_>) {
    for local in body.locals.clone() {
        body.load(local.ty, local.slot);
        body.trace(local.ty);
        body.pop(local.ty);
    }
}
