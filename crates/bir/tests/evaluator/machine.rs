//! The evaluator: calls and class initialisation, either of BIR or of the bytecode itself.

use std::rc::Rc;

use bir::body::{Body, CallKind};
use bir::parse::parse_body;
use classfile::bootstrap::Dynamic;
use classfile::names::{ClassName, Descriptor, MemberRef, Name};
use rustc_hash::FxHashMap;

use crate::library;
use crate::raw::Raw;
use crate::state::{State, Step, Stop, abort};
use crate::value::{NULL, ObjId, Payload, Value};
use crate::world::{Code, Constant, Method, World};

const ILLEGAL_MONITOR: &[u8] = b"java/lang/IllegalMonitorStateException";

/// The maximum call depth; deeper calls overflow the stack.
const MAX_CALLS: u32 = 1500;
/// The maximum number of logged events.
const MAX_LOG: usize = 1 << 20;

/// The code that is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    Bir,
    Bytecode,
}

/// A heap read or an effect, in program order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A read of the declared field.
    Read(MemberRef),
    Write(MemberRef),
    /// A read of the element with this index.
    ReadElement(i32),
    WriteElement(i32),
    Initialise(ClassName),
    /// The start of a method.
    Call(MemberRef),
    Enter,
    Exit,
    /// The failure of an instruction's check, which discards the operand stack.
    Raise,
}

pub(crate) struct Machine<'w> {
    pub(crate) state: State<'w>,
    engine: Engine,
    pub(crate) events: Vec<Event>,
    pub(crate) statics: FxHashMap<MemberRef, Value>,
    /// The dynamic constants by the class that contains them; `Err` holds the error of their evaluation.
    pub(crate) constants: FxHashMap<(ClassName, Dynamic), Result<Value, ObjId>>,
    inits: FxHashMap<ClassName, Init>,
    bodies: FxHashMap<MemberRef, Rc<Body>>,
    /// The number of instructions that may still run.
    budget: u64,
    calls: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Init {
    Running,
    Done,
    Failed,
}

impl<'w> Machine<'w> {
    pub(crate) fn new(world: &'w World, engine: Engine, budget: u64) -> Self {
        Machine {
            state: State::new(world),
            engine,
            events: Vec::new(),
            constants: FxHashMap::default(),
            statics: FxHashMap::default(),
            inits: FxHashMap::default(),
            bodies: FxHashMap::default(),
            budget,
            calls: 0,
        }
    }

    pub(crate) fn world(&self) -> &'w World {
        self.state.world
    }

    /// Counts one instruction.
    pub(crate) fn spend(&mut self) -> Step<()> {
        if self.budget == 0 {
            return abort("the program runs too long");
        }
        self.budget -= 1;
        Ok(())
    }

    pub(crate) fn log(&mut self, it: Event) {
        if self.events.len() < MAX_LOG {
            self.events.push(it);
        }
    }

    pub(crate) fn is_touched(&self, class: ClassName) -> bool {
        self.inits.contains_key(&class)
    }

    /// Initialises the class of a static method and calls it, like `Method.invoke`.
    pub(crate) fn call_static(&mut self, method: MemberRef, args: Vec<Value>) -> Step<Option<Value>> {
        self.initialise(method.class())?;
        self.invoke(method, args)
    }

    pub(crate) fn raise<T>(&mut self, class: &[u8]) -> Step<T> {
        self.log(Event::Raise);
        self.state.raise(class)
    }

    /// Initialises a class (JVMS §5.5), for a single thread.
    pub(crate) fn initialise(&mut self, name: ClassName) -> Step<()> {
        match self.inits.get(&name) {
            Some(Init::Running | Init::Done) => return Ok(()),
            Some(Init::Failed) => return self.raise(b"java/lang/NoClassDefFoundError"),
            None => {}
        }
        let Some(class) = self.world().get(name) else {
            return self.raise(b"java/lang/NoClassDefFoundError");
        };
        self.inits.insert(name, Init::Running);
        self.log(Event::Initialise(name));
        for it in class.fields.iter().filter(|it| it.flags.is_static()) {
            let value = match it.constant {
                None => Value::zero(it.descriptor.bytes()),
                Some(Constant::Int(it)) => Value::Int(it),
                Some(Constant::Long(it)) => Value::Long(it),
                Some(Constant::Float(it)) => Value::Float(f32::from_bits(it)),
                Some(Constant::Double(it)) => Value::Double(f64::from_bits(it)),
                Some(Constant::Str(it)) => self.state.string(it),
                Some(Constant::Object(it)) => Value::Ref(Some(self.state.heap.add(it, Payload::None))),
            };
            self.statics.insert(MemberRef::new(name, it.name, it.descriptor), value);
        }
        let done = self.initialise_above(name).and_then(|()| self.run_initialiser(name));
        self.inits.insert(name, if done.is_ok() { Init::Done } else { Init::Failed });
        done
    }

    /// Initialises superclass and superinterfaces; their exceptions are passed on unchanged.
    pub(crate) fn initialise_above(&mut self, name: ClassName) -> Step<()> {
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

    /// Initialises superinterfaces, which happens before a class only if they declare instance methods with bodies.
    pub(crate) fn initialise_interfaces(&mut self, name: ClassName) -> Step<()> {
        let Some(class) = self.world().get(name) else { return Ok(()) };
        for &it in &class.interfaces {
            self.initialise_interfaces(it)?;
        }
        let has_default = class
            .methods
            .values()
            .any(|it| !it.flags.is_static() && !it.flags.is_abstract() && matches!(it.code, Code::Text(..)));
        if has_default { self.initialise(name) } else { Ok(()) }
    }

    pub(crate) fn run_initialiser(&mut self, name: ClassName) -> Step<()> {
        let clinit = MemberRef::new(name, Name::new(b"<clinit>"), Descriptor::new(b"()V"));
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
        self.log(Event::Call(method));
        let out = match &found.code {
            Code::Abstract => self.raise(b"java/lang/AbstractMethodError"),
            Code::Library => match self.callback(method, &args) {
                Some(out) => out,
                None => {
                    let args = self.with_texts(method, args)?;
                    library::call(&mut self.state, method, &args)
                }
            },
            Code::Text(text, raw) => self.run(method, found, text, raw, args),
        };
        self.calls -= 1;
        out
    }

    /// Calls `toString` of program classes before the library converts an object to text.
    pub(crate) fn with_texts(&mut self, method: MemberRef, mut args: Vec<Value>) -> Step<Vec<Value>> {
        let converts = matches!(
            (method.name().bytes(), method.descriptor().bytes()),
            (
                b"append" | b"valueOf" | b"print" | b"println",
                [b'(', b'L', b'j', b'a', b'v', b'a', b'/', b'l', b'a', b'n', b'g', b'/', b'O', ..]
            )
        );
        if converts
            && let Some(last) = args.last_mut()
            && let Value::Ref(Some(id)) = *last
            && !matches!(self.state.heap.get(id).payload, Payload::Text(_) | Payload::Boxed(_))
        {
            let text = MemberRef::new(
                ClassName::new(b"java/lang/Object"),
                Name::new(b"toString"),
                Descriptor::new(b"()Ljava/lang/String;"),
            );
            *last = self.call(CallKind::Virtual, text, vec![*last], None)?.unwrap_or(NULL);
        }
        Ok(args)
    }

    pub(crate) fn body(&mut self, method: MemberRef, text: &str) -> Result<Rc<Body>, String> {
        if let Some(it) = self.bodies.get(&method) {
            return Ok(Rc::clone(it));
        }
        let body = parse_body(text).map_err(|err| format!("{method}: {err}"))?;
        Ok(Rc::clone(self.bodies.entry(method).or_insert(Rc::new(body))))
    }

    /// Runs a method with code, under its lock if it is synchronized.
    fn run(
        &mut self,
        method: MemberRef,
        found: &Method,
        text: &str,
        raw: &Raw,
        args: Vec<Value>,
    ) -> Step<Option<Value>> {
        let locked = if !found.flags.is_synchronized() {
            None
        } else if found.flags.is_static() {
            Some(self.state.class_object(method.class()))
        } else {
            match args.first() {
                Some(Value::Ref(it)) => *it,
                _ => None,
            }
        };
        if let Some(id) = locked {
            self.state.heap.get_mut(id).locks += 1;
        }
        let (out, held) = match self.engine {
            Engine::Bytecode => self.bytecode(method, raw, args),
            Engine::Bir => match self.body(method, text) {
                Ok(body) => self.bir(&body, args),
                Err(err) => (abort(err), Vec::new()),
            },
        };
        // Monitors that are still held are released, and the exception reports it (JVMS §2.11.10).
        for &id in held.iter().chain(&locked) {
            self.state.heap.get_mut(id).locks -= 1;
        }
        if held.is_empty() || matches!(out, Err(Stop::Abort(_))) { out } else { self.raise(ILLEGAL_MONITOR) }
    }

    /// Selects and runs the callee; `caller` is the class of the calling method.
    pub(crate) fn call(
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
                let object = self.state.heap.get(id);
                let class = match &object.payload {
                    Payload::Lambda(it) => it.interface,
                    _ => object.class,
                };
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

    /// Handles calls on arrays and lambdas.
    pub(crate) fn call_special_object(
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
}
