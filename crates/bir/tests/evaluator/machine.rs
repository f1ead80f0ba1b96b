//! The evaluator: calls, class initialisation, and each instruction as its page in `bir::body` says.
//!
//! It trusts nothing: where an assertion should have excluded what it finds (null, an index out of bounds, a
//! zero divisor, a class not initialised, a variable without value) it gives up with a message.

use std::rc::Rc;

use bir::body::{Body, CallKind, Check, Expr, ExprId, Instr, Operands, SwitchTable, Var, instr_id, ordinal};
use bir::ops::{Elem, UnOp};
use bir::parse::parse_body;
use classfile::descriptor::FieldType;
use classfile::names::{ClassName, MemberRef};
use rustc_hash::FxHashMap;

use crate::frame::Frame;
use crate::library;
use crate::numeric;
use crate::state::{State, Step, Stop, abort};
use crate::value::{NULL, ObjId, Payload, Value};
use crate::world::{Code, Constant, Method, World};

const NULL_POINTER: &[u8] = b"java/lang/NullPointerException";
const ILLEGAL_MONITOR: &[u8] = b"java/lang/IllegalMonitorStateException";

/// Calls within calls; deeper ones overflow the stack.
const MAX_CALLS: u32 = 1500;
/// Elements of one array; more are out of memory.
const MAX_ARRAY: usize = 1 << 24;

pub(crate) struct Machine<'w> {
    pub(crate) state: State<'w>,
    statics: FxHashMap<MemberRef, Value>,
    inits: FxHashMap<ClassName, Init>,
    bodies: FxHashMap<MemberRef, Rc<Body>>,
    /// Instructions that may still run.
    budget: u64,
    calls: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Init {
    Running,
    Done,
    Failed,
}

/// Where control goes behind an instruction.
enum Next {
    On,
    To(u32),
    Return(Option<Value>),
}

impl<'w> Machine<'w> {
    pub(crate) fn new(world: &'w World, budget: u64) -> Self {
        Machine {
            state: State::new(world),
            statics: FxHashMap::default(),
            inits: FxHashMap::default(),
            bodies: FxHashMap::default(),
            budget,
            calls: 0,
        }
    }

    fn world(&self) -> &'w World {
        self.state.world
    }

    /// Initialises the class of a static method and calls it, as `Method.invoke` does.
    pub(crate) fn call_static(&mut self, method: MemberRef, args: Vec<Value>) -> Step<Option<Value>> {
        self.initialise(method.class())?;
        self.invoke(method, args)
    }

    fn raise<T>(&mut self, class: &[u8]) -> Step<T> {
        self.state.raise(class)
    }

    // Classes.

    /// JVMS §5.5, for one thread.
    fn initialise(&mut self, name: ClassName) -> Step<()> {
        match self.inits.get(&name) {
            Some(Init::Running | Init::Done) => return Ok(()),
            Some(Init::Failed) => return self.raise(b"java/lang/NoClassDefFoundError"),
            None => {}
        }
        let Some(class) = self.world().get(name) else {
            return self.raise(b"java/lang/NoClassDefFoundError");
        };
        self.inits.insert(name, Init::Running);
        for it in class.fields.iter().filter(|it| it.flags.is_static()) {
            let value = match it.constant {
                None => Value::zero(it.descriptor.bytes()),
                Some(Constant::Int(it)) => Value::Int(it),
                Some(Constant::Long(it)) => Value::Long(it),
                Some(Constant::Float(it)) => Value::Float(f32::from_bits(it)),
                Some(Constant::Double(it)) => Value::Double(f64::from_bits(it)),
                Some(Constant::Str(it)) => self.state.string(it),
            };
            self.statics.insert(MemberRef::new(name, it.name, it.descriptor), value);
        }
        let done = self.initialise_above(name).and_then(|()| self.run_initialiser(name));
        self.inits.insert(name, if done.is_ok() { Init::Done } else { Init::Failed });
        done
    }

    /// Superclass and superinterfaces; what they throw passes as it is.
    fn initialise_above(&mut self, name: ClassName) -> Step<()> {
        let Some(class) = self.world().get(name) else { return Ok(()) };
        if class.flags.is_interface() {
            return Ok(());
        }
        if let Some(it) = class.super_class {
            self.initialise(it)?;
        }
        for &it in &class.interfaces {
            self.initialise_interfaces(it)?;
        }
        Ok(())
    }

    /// Interfaces are initialised before a class only where they declare instance methods with bodies.
    fn initialise_interfaces(&mut self, name: ClassName) -> Step<()> {
        let Some(class) = self.world().get(name) else { return Ok(()) };
        for &it in &class.interfaces {
            self.initialise_interfaces(it)?;
        }
        let has_default = class
            .methods
            .values()
            .any(|it| !it.flags.is_static() && !it.flags.is_abstract() && matches!(it.code, Code::Text(_)));
        if has_default { self.initialise(name) } else { Ok(()) }
    }

    fn run_initialiser(&mut self, name: ClassName) -> Step<()> {
        let clinit = MemberRef::new(
            name,
            classfile::names::Name::new(b"<clinit>"),
            classfile::names::Descriptor::new(b"()V"),
        );
        let key = (clinit.name(), clinit.descriptor());
        if !self.world().get(name).is_some_and(|it| it.methods.contains_key(&key)) {
            return Ok(());
        }
        match self.invoke(clinit, Vec::new()) {
            Ok(_) => Ok(()),
            Err(Stop::Throw(id)) if !self.state.is_instance(id, ClassName::new(b"java/lang/Error")) => {
                let class = ClassName::new(b"java/lang/ExceptionInInitializerError");
                let error = self.state.heap.add(class, Payload::None);
                self.state.heap.get_mut(error).cause = Some(id);
                Err(Stop::Throw(error))
            }
            Err(stop) => Err(stop),
        }
    }

    /// The class whose initialiser a `mayinit` runs: the class itself for `new`, for static members the class
    /// that declares what is named (`bir` knows no other class). Which it is, the use behind the `mayinit` says.
    fn to_initialise(&self, body: &Body, at: u32, class: ClassName) -> ClassName {
        for number in at + 1..body.instrs.len() as u32 {
            let instr = &body.instrs[instr_id(number)];
            let mut found = None;
            body.instr_exprs(instr, |e| self.static_use(body, e, class, &mut found));
            match *instr {
                Instr::SetStatic(field, _) if field.class() == class => {
                    found = found.or(Some(self.declaring_field(field)));
                }
                Instr::Call(_, CallKind::Static | CallKind::StaticInterface, method, _)
                    if method.class() == class =>
                {
                    found = found.or(Some(self.world().method(method).map_or(class, |it| it.0.class())));
                }
                _ => {}
            }
            if let Some(it) = found {
                return it;
            }
            let stops = match *instr {
                Instr::New(_, method, _) => method.class() == class,
                Instr::Alloc(_, it) | Instr::MayInit(it) => it == class,
                Instr::If(..) => true,
                _ => !instr.falls_through(),
            };
            if stops {
                break;
            }
        }
        class
    }

    fn static_use(&self, body: &Body, e: ExprId, class: ClassName, found: &mut Option<ClassName>) {
        let expr = body.exprs[e];
        if let Expr::Static(field) = expr
            && field.class() == class
            && found.is_none()
        {
            *found = Some(self.declaring_field(field));
        }
        expr.operands(|e| self.static_use(body, e, class, found));
    }

    fn declaring_field(&self, field: MemberRef) -> ClassName {
        let it = field.get();
        self.world().field(it.class, it.name, it.descriptor).map_or(it.class, |it| it.0.class())
    }

    /// That a `mayinit` came before, where one must.
    fn demand_initialised(&self, class: ClassName) -> Step<()> {
        match self.inits.get(&class) {
            None if self.world().get(class).is_some() => abort(format!("{class} is used before mayinit")),
            _ => Ok(()),
        }
    }

    // Calls.

    /// Runs the method that this class declares.
    pub(crate) fn invoke(&mut self, method: MemberRef, args: Vec<Value>) -> Step<Option<Value>> {
        let key = (method.name(), method.descriptor());
        let Some(found) = self.world().get(method.class()).and_then(|it| it.methods.get(&key)) else {
            return self.raise(b"java/lang/NoSuchMethodError");
        };
        if self.calls >= MAX_CALLS {
            return self.raise(b"java/lang/StackOverflowError");
        }
        self.calls += 1;
        let out = match &found.code {
            Code::Abstract => self.raise(b"java/lang/AbstractMethodError"),
            Code::Library => {
                let args = self.with_texts(method, args)?;
                library::call(&mut self.state, method, &args)
            }
            Code::Text(text) => match self.body(method, text) {
                Ok(body) => self.run(&body, found, args),
                Err(err) => abort(err),
            },
        };
        self.calls -= 1;
        out
    }

    /// Where the library converts an object to text, `toString` of a class of the program comes first.
    fn with_texts(&mut self, method: MemberRef, mut args: Vec<Value>) -> Step<Vec<Value>> {
        let converts = matches!(
            (method.name().bytes(), method.descriptor().bytes()),
            (
                b"append" | b"valueOf",
                [b'(', b'L', b'j', b'a', b'v', b'a', b'/', b'l', b'a', b'n', b'g', b'/', b'O', ..]
            )
        );
        if converts
            && let Some(last) = args.last_mut()
            && let Value::Ref(Some(id)) = *last
            && matches!(self.state.heap.get(id).payload, Payload::None)
        {
            let text = MemberRef::new(
                ClassName::new(b"java/lang/Object"),
                classfile::names::Name::new(b"toString"),
                classfile::names::Descriptor::new(b"()Ljava/lang/String;"),
            );
            *last = self.call(CallKind::Virtual, text, vec![*last], None)?.unwrap_or(NULL);
        }
        Ok(args)
    }

    fn body(&mut self, method: MemberRef, text: &str) -> Result<Rc<Body>, String> {
        if let Some(it) = self.bodies.get(&method) {
            return Ok(Rc::clone(it));
        }
        let body = parse_body(text).map_err(|err| format!("{method}: {err}"))?;
        Ok(Rc::clone(self.bodies.entry(method).or_insert(Rc::new(body))))
    }

    fn run(&mut self, body: &Body, method: &Method, args: Vec<Value>) -> Step<Option<Value>> {
        let mut frame = Frame::default();
        let locked = if !method.flags.is_synchronized() {
            None
        } else if method.flags.is_static() {
            Some(self.state.class_object(body.method.class()))
        } else {
            match args.first() {
                Some(Value::Ref(it)) => *it,
                _ => None,
            }
        };
        let mut slot = 0;
        for it in args {
            frame.store(Var::local(slot, it.kind()), it).map_err(Stop::Abort)?;
            slot += it.kind().words();
        }
        if let Some(id) = locked {
            self.state.heap.get_mut(id).locks += 1;
        }
        let out = self.instructions(body, &mut frame);
        // Whatever is still held is given back, and the exception says so (JVMS §2.11.10).
        let held = std::mem::take(&mut frame.monitors);
        for &id in held.iter().chain(&locked) {
            self.state.heap.get_mut(id).locks -= 1;
        }
        if held.is_empty() || matches!(out, Err(Stop::Abort(_))) { out } else { self.raise(ILLEGAL_MONITOR) }
    }

    fn instructions(&mut self, body: &Body, frame: &mut Frame) -> Step<Option<Value>> {
        let mut at = 0;
        // The exception on its way to a `catch`.
        let mut caught = None;
        loop {
            if self.budget == 0 {
                return abort("the program runs too long");
            }
            self.budget -= 1;
            if at as usize >= body.instrs.len() {
                return abort(format!("{}: control runs off the end", body.method));
            }
            let instr = &body.instrs[instr_id(at)];
            let next = match instr {
                Instr::Catch(var) => match Option::take(&mut caught) {
                    Some(id) => {
                        frame.drop_stack();
                        frame.store(*var, Value::Ref(Some(id))).map(|()| Next::On).map_err(Stop::Abort)
                    }
                    None => abort("catch without exception"),
                },
                _ => self.instr(body, frame, at, instr),
            };
            match next {
                Ok(Next::On) => at += 1,
                Ok(Next::To(to)) => at = to,
                Ok(Next::Return(it)) => return Ok(it),
                Err(Stop::Abort(why)) if why.contains("\n  in ") => return Err(Stop::Abort(why)),
                Err(Stop::Abort(why)) => {
                    let text = bir::print::instr(body, instr_id(at));
                    return abort(format!(
                        "{why}\n  in {} at {at}: {text}\n{}",
                        body.method,
                        bir::print::print(body)
                    ));
                }
                Err(Stop::Throw(id)) => {
                    let row = body.rows.iter().find(|row| {
                        row.covers(instr_id(at))
                            && row.catch_type.is_none_or(|it| self.state.is_instance(id, it))
                    });
                    let Some(row) = row else { return Err(Stop::Throw(id)) };
                    caught = Some(id);
                    at = ordinal(row.handler);
                }
            }
        }
    }

    /// Selects and runs the callee; `caller` is the class of the calling method.
    fn call(
        &mut self,
        kind: CallKind,
        named: MemberRef,
        args: Vec<Value>,
        caller: Option<ClassName>,
    ) -> Step<Option<Value>> {
        let world = self.world();
        let receiver = match (kind.has_receiver(), args.first()) {
            (false, _) => None,
            (true, Some(&Value::Ref(Some(id)))) => Some(id),
            _ => return abort(format!("a call on null without assertion: {named}")),
        };
        if let Some(id) = receiver
            && let Some(out) = self.call_special_object(named, id, &args)
        {
            return out;
        }
        let Some((resolved, method)) = world.method(named) else {
            return self.raise(b"java/lang/NoSuchMethodError");
        };
        let static_ = !kind.has_receiver();
        if method.flags.is_static() != static_ {
            return self.raise(b"java/lang/IncompatibleClassChangeError");
        }
        let target = match (kind, receiver) {
            (CallKind::Virtual | CallKind::Interface, Some(id)) => {
                let class = self.state.heap.get(id).class;
                world.select(class, resolved, method.flags)
            }
            (CallKind::Special | CallKind::SpecialInterface, _) => {
                let above = caller.and_then(|it| world.get(it)).and_then(|it| it.super_class);
                let is_super = caller.is_some_and(|it| {
                    it != resolved.class()
                        && world.chain(it).any(|it| it.name == resolved.class())
                        && !method.flags.is_private()
                        && named.name().bytes() != b"<init>"
                });
                match above {
                    Some(it) if is_super => {
                        world.method(MemberRef::new(it, named.name(), named.descriptor()))
                    }
                    _ => Some((resolved, method)),
                }
            }
            _ => {
                self.demand_initialised(resolved.class())?;
                Some((resolved, method))
            }
        };
        match target {
            Some((target, _)) => self.invoke(target, args),
            None => self.raise(b"java/lang/AbstractMethodError"),
        }
    }

    /// Calls that arrays and lambdas answer themselves.
    fn call_special_object(
        &mut self,
        named: MemberRef,
        id: ObjId,
        args: &[Value],
    ) -> Option<Step<Option<Value>>> {
        let object = self.state.heap.get(id);
        match &object.payload {
            Payload::Array(it) if named.name().bytes() == b"clone" => {
                let (class, copy) = (object.class, it.clone());
                let copy = self.state.heap.add(class, Payload::Array(copy));
                Some(Ok(Some(Value::Ref(Some(copy)))))
            }
            Payload::Lambda(it) if it.name == named.name() => {
                let it = it.clone();
                let rest = args.get(1..).unwrap_or_default();
                let args = it.captured.iter().chain(rest).copied().collect();
                Some(self.call_handle(it.target, args))
            }
            _ => None,
        }
    }

    fn call_handle(
        &mut self,
        handle: classfile::bootstrap::MethodHandle,
        args: Vec<Value>,
    ) -> Step<Option<Value>> {
        use classfile::bootstrap::HandleKind::{
            InvokeInterface, InvokeSpecial, InvokeStatic, InvokeVirtual, NewInvokeSpecial,
        };
        let kind = match handle.kind {
            InvokeStatic => {
                let declaring =
                    self.world().method(handle.member).map_or(handle.member.class(), |it| it.0.class());
                self.initialise(declaring)?;
                CallKind::Static
            }
            InvokeVirtual => CallKind::Virtual,
            InvokeInterface => CallKind::Interface,
            InvokeSpecial => CallKind::Special,
            NewInvokeSpecial => {
                self.initialise(handle.member.class())?;
                let id = self.allocate(handle.member.class())?;
                let args = [Value::Ref(Some(id))].into_iter().chain(args).collect();
                self.call(CallKind::Special, handle.member, args, None)?;
                return Ok(Some(Value::Ref(Some(id))));
            }
            _ => return abort("a handle of a field"),
        };
        if kind.has_receiver() && matches!(args.first(), Some(Value::Ref(None))) {
            return self.raise(NULL_POINTER);
        }
        self.call(kind, handle.member, args, None)
    }

    // Instructions.

    // long match: one arm an instruction
    fn instr(&mut self, body: &Body, frame: &mut Frame, at: u32, instr: &Instr) -> Step<Next> {
        match *instr {
            Instr::Assign(var, e) => {
                let value = self.eval(body, frame, e)?;
                return assign(frame, var, value);
            }
            Instr::SetField(e, field, value) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else {
                    return abort("a field of null is set");
                };
                let value = self.eval(body, frame, value)?;
                let key = self.instance_field(field, id)?;
                let value = value.narrowed(field.descriptor().bytes());
                self.state.heap.get_mut(id).fields.insert(key, value);
            }
            Instr::SetStatic(field, value) => {
                let value = self.eval(body, frame, value)?;
                let key = self.static_field(field)?;
                self.statics.insert(key, value.narrowed(field.descriptor().bytes()));
            }
            Instr::SetElem(elem, array, index, value) => {
                let array = self.eval(body, frame, array)?;
                let index = self.eval(body, frame, index)?;
                let value = self.eval(body, frame, value)?;
                self.set_element(elem, array, index, value)?;
            }
            Instr::MayInit(class) => {
                let class = self.to_initialise(body, at, class);
                self.initialise(class)?;
            }
            Instr::Assert(check) => self.check(body, frame, check)?,
            Instr::New(var, method, args) => {
                self.demand_initialised(method.class())?;
                let args = self.args(body, frame, args)?;
                let id = self.allocate(method.class())?;
                let args = [Value::Ref(Some(id))].into_iter().chain(args).collect();
                self.call(CallKind::Special, method, args, Some(body.method.class()))?;
                return assign(frame, var, Value::Ref(Some(id)));
            }
            Instr::Alloc(var, class) => {
                self.demand_initialised(class)?;
                let id = self.allocate(class)?;
                return assign(frame, var, Value::Ref(Some(id)));
            }
            Instr::NewArray(var, class, length) => {
                let length = self.eval(body, frame, length)?;
                let array = self.array(class, &[length])?;
                return assign(frame, var, array);
            }
            Instr::MultiNewArray(var, class, lengths) => {
                let lengths = self.args(body, frame, lengths)?;
                let array = self.array(class, &lengths)?;
                return assign(frame, var, array);
            }
            Instr::Call(var, kind, method, args) => {
                let args = self.args(body, frame, args)?;
                let result = self.call(kind, method, args, Some(body.method.class()))?;
                if let Some(var) = var {
                    let Some(value) = result else { return abort("a call gives nothing") };
                    return assign(frame, var, value);
                }
            }
            Instr::CallDynamic(var, site, args) => {
                let args = self.args(body, frame, args)?;
                let value = self.call_site(body, site, args)?;
                if let Some(var) = var {
                    return assign(frame, var, value);
                }
            }
            Instr::ConstDynamic(..) => return abort("dynamic constants are not evaluated"),
            Instr::MonitorEnter(e) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else {
                    return abort("monitorenter on null");
                };
                self.state.heap.get_mut(id).locks += 1;
                frame.monitors.push(id);
            }
            Instr::MonitorExit(e) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else {
                    return abort("monitorexit on null");
                };
                let Some(i) = frame.monitors.iter().rposition(|it| *it == id) else {
                    return self.raise(ILLEGAL_MONITOR);
                };
                frame.monitors.remove(i);
                self.state.heap.get_mut(id).locks -= 1;
            }
            Instr::Throw(e) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else { return abort("null is thrown") };
                return Err(Stop::Throw(id));
            }
            Instr::Return(None) => return Ok(Next::Return(None)),
            Instr::Return(Some(e)) => {
                let value = self.eval(body, frame, e)?;
                let text = body.method.descriptor().bytes();
                let ret = text.iter().position(|&b| b == b')').map_or(&b""[..], |i| &text[i + 1..]);
                return Ok(Next::Return(Some(value.narrowed(ret))));
            }
            Instr::Goto(to) => return Ok(Next::To(ordinal(to))),
            Instr::If(cond, a, b, to) => {
                let a = self.eval(body, frame, a)?;
                let b = self.eval(body, frame, b)?;
                if numeric::holds(cond, a, b).map_err(Stop::Abort)? {
                    return Ok(Next::To(ordinal(to)));
                }
            }
            Instr::Switch(e, table) | Instr::Ret(e, table) => {
                let Value::Int(key) = self.eval(body, frame, e)? else { return abort("switch on no int") };
                return jump(&body.switches[table as usize], key);
            }
            Instr::Catch(_) => return abort("catch without exception"),
        }
        Ok(Next::On)
    }

    fn args(&mut self, body: &Body, frame: &Frame, list: Operands) -> Step<Vec<Value>> {
        body.operands(list).iter().map(|&e| self.eval(body, frame, e)).collect()
    }

    fn check(&mut self, body: &Body, frame: &Frame, check: Check) -> Step<()> {
        let holds = match check {
            Check::NotNull(e) => matches!(self.eval(body, frame, e)?, Value::Ref(Some(_))),
            Check::Bound(array, index) => {
                let array = self.eval(body, frame, array)?;
                let index = self.eval(body, frame, index)?;
                let Value::Ref(Some(id)) = array else { return abort("bound of null") };
                let Some(elements) = self.state.heap.array(id) else { return abort("bound of no array") };
                matches!(index, Value::Int(it) if usize::try_from(it).is_ok_and(|it| it < elements.len()))
            }
            Check::Store(array, value) => {
                let array = self.eval(body, frame, array)?;
                let value = self.eval(body, frame, value)?;
                let Value::Ref(Some(array)) = array else { return abort("store into null") };
                self.fits(array, value)?
            }
            Check::NotZero(_, e) => !matches!(self.eval(body, frame, e)?, Value::Int(0) | Value::Long(0)),
            Check::NotNegative(e) => matches!(self.eval(body, frame, e)?, Value::Int(0..)),
            Check::Cast(class, e) => {
                let value = self.eval(body, frame, e)?;
                self.casts(class, value)?
            }
        };
        if holds { Ok(()) } else { self.raise(check.exception()) }
    }

    /// Whether the value may be an element of the array of references.
    fn fits(&self, array: ObjId, value: Value) -> Step<bool> {
        match (FieldType(&self.state.heap.get(array).class.bytes()[1..]).class(), value) {
            (Some(_), Value::Ref(None)) => Ok(true),
            (Some(elem), Value::Ref(Some(id))) => Ok(self.state.is_instance(id, elem)),
            _ => abort("a reference is stored into an array of numbers"),
        }
    }

    fn casts(&mut self, class: ClassName, value: Value) -> Step<bool> {
        match value {
            Value::Ref(None) => Ok(true),
            Value::Ref(Some(id)) => {
                if !class.is_array() && self.world().get(class).is_none() {
                    return self.raise(b"java/lang/NoClassDefFoundError");
                }
                Ok(self.state.is_instance(id, class))
            }
            _ => abort("cast of no reference"),
        }
    }

    fn allocate(&mut self, class: ClassName) -> Step<ObjId> {
        let world = self.world();
        let Some(of) = world.get(class) else { return self.raise(b"java/lang/NoClassDefFoundError") };
        if of.flags.is_abstract() || of.flags.is_interface() {
            return self.raise(b"java/lang/InstantiationError");
        }
        let id = self.state.heap.add(class, Payload::None);
        for at in world.chain(class) {
            for it in at.fields.iter().filter(|it| !it.flags.is_static()) {
                let key = MemberRef::new(at.name, it.name, it.descriptor);
                self.state.heap.get_mut(id).fields.insert(key, Value::zero(it.descriptor.bytes()));
            }
        }
        Ok(id)
    }

    fn array(&mut self, class: ClassName, lengths: &[Value]) -> Step<Value> {
        let (Some(&Value::Int(length)), Some(elem)) = (lengths.first(), class.bytes().strip_prefix(b"["))
        else {
            return abort("an array without length or type");
        };
        let Ok(length) = usize::try_from(length) else { return abort("a negative length without assertion") };
        if length > MAX_ARRAY {
            return abort("an array too large to evaluate");
        }
        let mut elements = vec![Value::zero(elem); length];
        if lengths.len() > 1 {
            for it in &mut elements {
                *it = self.array(ClassName::new(elem), &lengths[1..])?;
            }
        }
        Ok(Value::Ref(Some(self.state.heap.add(class, Payload::Array(elements)))))
    }

    fn set_element(&mut self, elem: Elem, array: Value, index: Value, value: Value) -> Step<()> {
        let (Value::Ref(Some(id)), Value::Int(index)) = (array, index) else {
            return abort("an element of null");
        };
        if elem == Elem::Ref && !self.fits(id, value)? {
            return abort("an element is stored that does not fit, without assertion");
        }
        let object = self.state.heap.get_mut(id);
        let class = object.class.bytes();
        let value = value.narrowed(&class[1..]);
        if !has_elem(class, elem) {
            return abort(format!("{elem:?} of {}", object.class));
        }
        match &mut object.payload {
            Payload::Array(elements) => match usize::try_from(index).ok().and_then(|it| elements.get_mut(it))
            {
                Some(it) => {
                    *it = value;
                    Ok(())
                }
                None => abort("an element out of bounds is set"),
            },
            _ => abort("an element of no array"),
        }
    }

    fn static_field(&mut self, field: MemberRef) -> Step<MemberRef> {
        let it = field.get();
        match self.world().field(it.class, it.name, it.descriptor) {
            Some((found, flags)) if flags.is_static() => {
                self.demand_initialised(found.class())?;
                Ok(found)
            }
            Some(_) => self.raise(b"java/lang/IncompatibleClassChangeError"),
            None => self.raise(b"java/lang/NoSuchFieldError"),
        }
    }

    fn instance_field(&mut self, field: MemberRef, id: ObjId) -> Step<MemberRef> {
        let it = field.get();
        match self.world().field(it.class, it.name, it.descriptor) {
            Some((found, flags)) if !flags.is_static() => {
                if self.state.heap.get(id).fields.contains_key(&found) {
                    Ok(found)
                } else {
                    abort(format!("{} has no field {field}", self.state.heap.get(id).class))
                }
            }
            Some(_) => self.raise(b"java/lang/IncompatibleClassChangeError"),
            None => self.raise(b"java/lang/NoSuchFieldError"),
        }
    }

    // Expressions.

    fn eval(&mut self, body: &Body, frame: &Frame, e: ExprId) -> Step<Value> {
        Ok(match body.exprs[e] {
            Expr::Int(it) => Value::Int(it),
            Expr::Long(it) => Value::Long(u64::from(it) as i64),
            Expr::Float(it) => Value::Float(f32::from_bits(it)),
            Expr::Double(it) => Value::Double(f64::from_bits(it.into())),
            Expr::Null => NULL,
            Expr::Str(it) => self.state.string(it),
            Expr::Class(it) => Value::Ref(Some(self.state.class_object(it))),
            Expr::MethodType(_) | Expr::MethodHandle(_) => return abort("method handles are not evaluated"),
            Expr::Var(var) => frame.load(var).map_err(Stop::Abort)?,
            Expr::Unary(UnOp::Length, e) => match self.eval(body, frame, e)? {
                Value::Ref(Some(id)) => match self.state.heap.array(id) {
                    Some(it) => Value::Int(it.len() as i32),
                    None => return abort("length of no array"),
                },
                _ => return abort("length of null"),
            },
            Expr::Unary(op, e) => {
                let value = self.eval(body, frame, e)?;
                numeric::unary(op, value).map_err(Stop::Abort)?
            }
            Expr::Binary(op, a, b) => {
                let a = self.eval(body, frame, a)?;
                let b = self.eval(body, frame, b)?;
                numeric::binary(op, a, b).map_err(Stop::Abort)?
            }
            Expr::Cast(class, e) => {
                let value = self.eval(body, frame, e)?;
                if !self.casts(class, value)? {
                    return abort("a cast that fails without assertion");
                }
                value
            }
            Expr::InstanceOf(class, e) => match self.eval(body, frame, e)? {
                Value::Ref(None) => Value::Int(0),
                value => Value::Int(self.casts(class, value)?.into()),
            },
            Expr::Field(e, field) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else {
                    return abort("a field of null is read");
                };
                let key = self.instance_field(field, id)?;
                self.state.heap.get(id).fields[&key]
            }
            Expr::Static(field) => {
                let key = self.static_field(field)?;
                match self.statics.get(&key) {
                    Some(it) => *it,
                    None => return abort(format!("{field} has no value")),
                }
            }
            Expr::Elem(elem, array, index) => {
                let array = self.eval(body, frame, array)?;
                let index = self.eval(body, frame, index)?;
                let (Value::Ref(Some(id)), Value::Int(index)) = (array, index) else {
                    return abort("an element of null is read");
                };
                let class = self.state.heap.get(id).class;
                if !has_elem(class.bytes(), elem) {
                    return abort(format!("{elem:?} of {class}"));
                }
                match self.state.heap.array(id).and_then(|it| it.get(usize::try_from(index).ok()?)) {
                    Some(it) => *it,
                    None => return abort("an element out of bounds is read"),
                }
            }
        })
    }

    // Call sites.

    /// The bootstrap methods of the JDK that compilers use most; others are not evaluated.
    fn call_site(&mut self, body: &Body, site: u32, args: Vec<Value>) -> Step<Value> {
        use classfile::bootstrap::Loadable;
        let site = &body.dynamics[site as usize];
        let bootstrap = site.bootstrap.member.get();
        match (bootstrap.class.bytes(), bootstrap.name.bytes(), &site.args[..]) {
            (
                b"java/lang/invoke/LambdaMetafactory",
                b"metafactory",
                [_, Loadable::MethodHandle(target), _],
            ) => {
                let interface = site.descriptor.method_type().and_then(|it| it.ret()?.class());
                let Some(interface) = interface else { return abort("a lambda without interface") };
                let lambda =
                    crate::value::Lambda { name: site.name, interface, target: *target, captured: args };
                let class = ClassName::new(b"java/lang/Object");
                Ok(Value::Ref(Some(self.state.heap.add(class, Payload::Lambda(Box::new(lambda))))))
            }
            (
                b"java/lang/invoke/StringConcatFactory",
                b"makeConcatWithConstants",
                [Loadable::Str(recipe), consts @ ..],
            ) => self.concat(site.descriptor, *recipe, consts, &args),
            _ => abort(format!("the bootstrap method {} is not evaluated", site.bootstrap.member)),
        }
    }

    fn concat(
        &mut self,
        descriptor: classfile::names::Descriptor,
        recipe: classfile::names::Name,
        consts: &[classfile::bootstrap::Loadable],
        args: &[Value],
    ) -> Step<Value> {
        let types: Vec<FieldType<'_>> =
            descriptor.method_type().map(|it| it.params().collect()).unwrap_or_default();
        let mut args = args.iter().zip(types);
        let mut consts = consts.iter();
        let mut out = Vec::new();
        for unit in classfile::mutf8::units(recipe.bytes()) {
            let value = match unit {
                1 => {
                    let Some((&value, ty)) = args.next() else { return abort("too few operands to join") };
                    let kind = if ty.class().is_some() {
                        "Ljava/lang/Object;"
                    } else {
                        std::str::from_utf8(ty.0).unwrap_or("I")
                    };
                    let valueof = MemberRef::new(
                        ClassName::new(b"java/lang/String"),
                        classfile::names::Name::new(b"valueOf"),
                        classfile::names::Descriptor::new(
                            format!(
                                "({})Ljava/lang/String;",
                                match kind {
                                    "B" | "S" => "I",
                                    it => it,
                                }
                            )
                            .as_bytes(),
                        ),
                    );
                    self.invoke(valueof, vec![value])?
                }
                2 => match consts.next() {
                    Some(classfile::bootstrap::Loadable::Str(it)) => Some(self.state.string(*it)),
                    _ => return abort("a constant to join that is no string"),
                },
                _ => {
                    out.push(unit);
                    continue;
                }
            };
            if let Some(Value::Ref(Some(id))) = value {
                out.extend(self.state.heap.text(id).unwrap_or_default());
            }
        }
        Ok(self.state.new_text(out))
    }
}

fn assign(frame: &mut Frame, var: Var, value: Value) -> Step<Next> {
    frame.store(var, value).map_err(Stop::Abort)?;
    Ok(Next::On)
}

fn jump(table: &SwitchTable, key: i32) -> Step<Next> {
    let found = table.cases.iter().find(|it| it.0 == key).map(|it| it.1).or(table.default);
    match found {
        Some(to) => Ok(Next::To(ordinal(to))),
        None => abort("ret to nowhere"),
    }
}

/// Whether an array of this class has such elements.
fn has_elem(class: &[u8], elem: Elem) -> bool {
    match class.get(1) {
        Some(b'Z' | b'B') => elem == Elem::Byte,
        Some(b'C') => elem == Elem::Char,
        Some(b'S') => elem == Elem::Short,
        Some(b'I') => elem == Elem::Int,
        Some(b'J') => elem == Elem::Long,
        Some(b'F') => elem == Elem::Float,
        Some(b'D') => elem == Elem::Double,
        _ => elem == Elem::Ref,
    }
}
