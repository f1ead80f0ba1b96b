//! Random small programs for [`crate::oracle`]: classes and interfaces in two packages that the JVM loads, and
//! calls of their methods, each from a class of its own.
//!
//! Every method returns its own name, so that the result of a call shows which method ran. All classes load:
//! supertypes are of the right kind and accessible, and nothing final is overridden.

use test_utils::asm::{
    Attribute, ClassBuilder, CodeBuilder, Const, FieldDef, Insn, Member, MethodDef, opcodes as op,
};
use test_utils::rng::Rng;

const PUBLIC: u16 = 0x1;
const PRIVATE: u16 = 0x2;
const PROTECTED: u16 = 0x4;
const STATIC: u16 = 0x8;
const FINAL: u16 = 0x10;
const INTERFACE: u16 = 0x200;
const ABSTRACT: u16 = 0x400;

/// The method names; `toString` is declared in `Object`, too.
pub(crate) const METHODS: [&str; 3] = ["m", "n", "toString"];
/// The field names.
pub(crate) const FIELDS: [&str; 2] = ["f", "g"];
/// The descriptor of all methods.
pub(crate) const METHOD_TYPE: &str = "()Ljava/lang/String;";
/// The descriptor of all fields.
pub(crate) const FIELD_TYPE: &str = "Ljava/lang/String;";

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Virtual,
    Interface,
    Static,
    Special,
    GetStatic,
}

/// A call or field read. Each is in its own class.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) caller: String,
    pub(crate) how: How,
    pub(crate) owner: String,
    pub(crate) name: &'static str,
    /// Whether the constant refers to an interface.
    pub(crate) interface: bool,
    /// The class of the receiver, for instance calls.
    pub(crate) receiver: String,
}

/// A generated program and the calls in it.
pub(crate) struct Generated {
    pub(crate) classes: Vec<ClassBuilder>,
    pub(crate) calls: Vec<Call>,
}

struct Generator {
    rng: Rng,
    prefix: String,
    types: Vec<Type>,
    /// The methods that interfaces may declare as public instance methods. Where HotSpot deviates from the JVMS,
    /// classes avoid these methods: no class makes one package-private (HotSpot 17 crashes with an access to
    /// address 8 in `klassVtable::update_inherited_vtable` when others override it from another package), and a
    /// class that makes one private or static has version 52 or higher and no superclass or subclass (else HotSpot
    /// 17 and 25 miss the default).
    of_interfaces: Vec<&'static str>,
    out: Generated,
}

#[derive(Clone)]
struct Type {
    name: String,
    access: u16,
    supers: Vec<usize>,
    version: u16,
}

impl Type {
    fn is_interface(&self) -> bool {
        self.access & INTERFACE != 0
    }

    fn package(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |it| it.0)
    }
}

/// Generates the program for this seed, with `n_calls` calls.
pub(crate) fn generate(seed: u64, n_calls: u32) -> Generated {
    let out = Generated { classes: Vec::new(), calls: Vec::new() };
    let mut rng = Rng::new(seed);
    let of_interfaces = METHODS.into_iter().filter(|_| rng.chance(60)).collect();
    let mut it = Generator { rng, prefix: format!("w{seed}"), types: Vec::new(), of_interfaces, out };
    for i in 0..1 + it.rng.below(4) {
        it.interface(i);
    }
    for i in 0..2 + it.rng.below(5) {
        it.class(i);
    }
    it.seal();
    it.factories();
    for i in 0..n_calls {
        it.call(i);
    }
    it.out
}

impl Generator {
    fn package(&mut self) -> String {
        let package = self.rng.one(["p", "q"]);
        format!("{}/{package}", self.prefix)
    }

    /// Returns the earlier types that a class of this package may access.
    fn accessible(&self, package: &str, interface: bool) -> Vec<usize> {
        let fits = |it: &Type| {
            it.is_interface() == interface
                && it.access & FINAL == 0
                && (it.access & PUBLIC != 0 || it.package() == package)
        };
        (0..self.types.len()).filter(|&it| fits(&self.types[it])).collect()
    }

    fn some_interfaces(&mut self, package: &str, percent: u32) -> Vec<usize> {
        let mut out = self.accessible(package, true);
        out.retain(|_| self.rng.chance(percent));
        // The order of interfaces in the class file is arbitrary.
        if self.rng.chance(50) {
            out.reverse();
        }
        out
    }

    fn interface(&mut self, i: u32) {
        let package = self.package();
        let supers = self.some_interfaces(&package, 45);
        let access = INTERFACE | ABSTRACT | if self.rng.chance(90) { PUBLIC } else { 0 };
        let version = self.rng.one([52, 55, 61]);
        let mut it = self.builder(format!("{package}/I{i}"), access, version);
        it.interfaces = supers.iter().map(|&it| (&self.types[it].name).into()).collect();
        for name in METHODS {
            // JVMS §4.6: public or private; only javac forbids `toString` as a default method.
            let access = match self.rng.below(100) {
                0..30 if self.of_interfaces.contains(&name) => PUBLIC,
                30..55 if self.of_interfaces.contains(&name) => PUBLIC | ABSTRACT,
                55..60 => PRIVATE,
                60..65 => PUBLIC | STATIC,
                65..67 => PRIVATE | STATIC,
                _ => continue,
            };
            self.method(&mut it, access, name);
        }
        for name in FIELDS {
            if self.rng.chance(25) {
                self.field(&mut it, PUBLIC | STATIC | FINAL, name);
            }
        }
        self.add(it, access, supers, version);
    }

    fn class(&mut self, i: u32) {
        let package = self.package();
        let mut access = 0x20;
        access |= if self.rng.chance(90) { PUBLIC } else { 0 };
        access |= if self.rng.chance(30) { ABSTRACT } else { 0 };
        let parents = self.accessible(&package, false);
        let parent = if self.rng.chance(75) { self.rng.pick(&parents).copied() } else { None };
        let mut supers: Vec<usize> = parent.into_iter().collect();
        supers.extend(self.some_interfaces(&package, 35));
        let version = self.rng.one([51, 52, 55, 61]);
        let mut it = self.builder(format!("{package}/C{i}"), access, version);
        if let Some(parent) = parent {
            it.super_name = Some((&self.types[parent].name).into());
        }
        it.interfaces =
            supers[usize::from(parent.is_some())..].iter().map(|&it| (&self.types[it].name).into()).collect();
        self.constructor(&mut it);
        let mut is_last = false;
        for name in METHODS {
            if self.rng.chance(45) {
                continue;
            }
            let mut visible = self.rng.one([PUBLIC, PUBLIC, PUBLIC, PROTECTED, 0, 0, 0, PRIVATE]);
            let in_interfaces = self.of_interfaces.contains(&name);
            let may_hide = !in_interfaces || version >= 52 && parent.is_none();
            if in_interfaces && visible == 0 || visible == PRIVATE && !may_hide {
                visible = PUBLIC;
            }
            let extra = match self.rng.below(100) {
                0..12 if may_hide => STATIC,
                12..24 if visible != PRIVATE && access & ABSTRACT != 0 => ABSTRACT,
                24..26 if visible != PRIVATE => ABSTRACT,
                _ => 0,
            };
            self.method(&mut it, visible | extra, name);
            if in_interfaces && (visible == PRIVATE || extra == STATIC) {
                is_last = true;
            }
        }
        for name in FIELDS {
            if self.rng.chance(40) {
                let visible = self.rng.one([PUBLIC, PROTECTED, 0, PRIVATE]);
                let is_static = if self.rng.chance(90) { STATIC } else { 0 };
                self.field(&mut it, visible | is_static, name);
            }
        }
        // Nothing extends the class, even if its class file does not say so.
        self.add(it, access | if is_last { FINAL } else { 0 }, supers, version);
    }

    /// Seals some classes and interfaces of version 61, permitting their existing subclasses.
    fn seal(&mut self) {
        for i in 0..self.types.len() {
            let children: Vec<&Type> = self.types.iter().filter(|it| it.supers.contains(&i)).collect();
            // HotSpot requires a permitted subclass in another package to be public.
            let package = self.types[i].package();
            let fits = |it: &&Type| it.access & PUBLIC != 0 || it.package() == package;
            let all_fit = children.iter().all(fits);
            let children: Vec<_> = children.iter().map(|it| (&it.name).into()).collect();
            if all_fit && self.types[i].version == 61 && !children.is_empty() && self.rng.chance(20) {
                self.types[i].access |= FINAL;
                self.out.classes[i].attributes.push(Attribute::PermittedSubclasses(children));
            }
        }
    }

    /// Adds one class per package that creates objects of the concrete classes in it.
    fn factories(&mut self) {
        for package in ["p", "q"] {
            let package = format!("{}/{package}", self.prefix);
            let mut it = self.builder(format!("{package}/Make"), PUBLIC | 0x20, 52);
            for ty in self.types.iter().filter(|it| it.access & ABSTRACT == 0 && it.package() == package) {
                let mut code = CodeBuilder::new();
                code.ty(op::NEW, &ty.name).op(op::DUP).call(op::INVOKESPECIAL, &ty.name, "<init>", "()V");
                code.op(op::ARETURN);
                it.method(PUBLIC | STATIC, &ty.name.replace('/', "_"), "()Ljava/lang/Object;", code);
            }
            self.out.classes.push(it);
        }
    }

    fn builder(&self, name: String, access: u16, version: u16) -> ClassBuilder {
        ClassBuilder { access, version: (version, 0), ..ClassBuilder::new(name) }
    }

    fn add(&mut self, it: ClassBuilder, access: u16, supers: Vec<usize>, version: u16) {
        let name = String::from_utf16_lossy(it.name.units());
        self.types.push(Type { name, access, supers, version });
        self.out.classes.push(it);
    }

    fn constructor(&self, it: &mut ClassBuilder) {
        let above = it.super_name.as_ref().map(|it| String::from_utf16_lossy(it.units())).unwrap_or_default();
        let mut code = CodeBuilder::new();
        code.op(op::ALOAD_0).call(op::INVOKESPECIAL, &above, "<init>", "()V").op(op::RETURN);
        it.method(PUBLIC, "<init>", "()V", code);
    }

    fn method(&self, it: &mut ClassBuilder, access: u16, name: &str) {
        let owner = String::from_utf16_lossy(it.name.units());
        let mut code = CodeBuilder::new();
        code.ldc(Const::Str(format!("{owner}.{name}").into())).op(op::ARETURN);
        let code = (access & ABSTRACT == 0).then_some(code);
        let (name, descriptor) = (name.into(), METHOD_TYPE.into());
        it.methods.push(MethodDef { access, name, descriptor, code, attributes: Vec::new() });
    }

    fn field(&self, it: &mut ClassBuilder, access: u16, name: &str) {
        let owner = String::from_utf16_lossy(it.name.units());
        let value = Attribute::ConstantValue(Const::Str(format!("{owner}.{name}").into()));
        let attributes = if access & STATIC != 0 { vec![value] } else { Vec::new() };
        let (name, descriptor) = (name.into(), FIELD_TYPE.into());
        it.fields.push(FieldDef { access, name, descriptor, attributes });
    }

    /// Adds a class that makes one call: an unrelated class, a subclass or a nest mate of one of the types.
    fn call(&mut self, i: u32) {
        let package = self.package();
        let caller = format!("{package}/Call{i}");
        let version = self.rng.one([52, 55, 61]);
        let mut it = self.builder(caller.clone(), PUBLIC | 0x20, version);
        let friend = self.rng.below(self.types.len() as u32) as usize;
        match self.rng.below(10) {
            0..4 => {
                if let Some(parent) = self.rng.pick(&self.accessible(&package, false)).copied() {
                    it.super_name = Some((&self.types[parent].name).into());
                }
                let interfaces = self.some_interfaces(&package, 25);
                it.interfaces = interfaces.iter().map(|&it| (&self.types[it].name).into()).collect();
            }
            4..6 if self.types[friend].version >= 55 => {
                // The host lists the class, which has no effect if their packages differ.
                let host = &mut self.out.classes[friend];
                let listed = host.attributes.iter_mut().find_map(|it| match it {
                    Attribute::NestMembers(it) => Some(it),
                    _ => None,
                });
                match listed {
                    Some(it) => it.push((&caller).into()),
                    None => host.attributes.push(Attribute::NestMembers(vec![(&caller).into()])),
                }
                it.version = (55, 0);
                it.attributes.push(Attribute::NestHost((&self.types[friend].name).into()));
            }
            _ => {}
        }
        self.constructor(&mut it);
        let Some(call) = self.choose(&it, caller) else { return };
        self.body(&mut it, &call);
        self.out.classes.push(it);
        self.out.calls.push(call);
    }

    /// Returns the concrete classes below type `owner`, by index.
    fn receivers(&self, owner: usize) -> Vec<usize> {
        let is_below = |start: usize| {
            let mut work = vec![start];
            while let Some(it) = work.pop() {
                if it == owner {
                    return true;
                }
                work.extend(&self.types[it].supers);
            }
            false
        };
        let is_concrete = |it: usize| self.types[it].access & ABSTRACT == 0;
        (0..self.types.len()).filter(|&it| is_concrete(it) && is_below(it)).collect()
    }

    fn choose(&mut self, it: &ClassBuilder, caller: String) -> Option<Call> {
        let (name, field) = (self.rng.one(METHODS), self.rng.one(FIELDS));
        let owner = self.rng.below(self.types.len() as u32) as usize;
        let is_interface = self.types[owner].is_interface();
        let mut call = Call {
            caller: caller.clone(),
            how: How::Virtual,
            owner: self.types[owner].name.clone(),
            name,
            // Sometimes, the constant has the wrong kind.
            interface: is_interface ^ self.rng.chance(3),
            receiver: caller.clone(),
        };
        let above = it.super_name.as_ref().map(|it| String::from_utf16_lossy(it.units())).unwrap_or_default();
        match self.rng.below(100) {
            0..12 => call.how = How::Static,
            12..24 => (call.how, call.name) = (How::GetStatic, field),
            24..36 => {
                // The verifier requires the caller itself, a superclass or a direct superinterface.
                let interface = self.rng.pick(&it.interfaces).filter(|_| self.rng.chance(50));
                call.how = How::Special;
                call.interface = interface.is_some();
                call.owner = interface.map_or(above, |it| String::from_utf16_lossy(it.units()));
                let owner = self.types.iter().find(|it| it.name == call.owner);
                let grandparent = owner.and_then(|it| it.supers.first()).map(|&it| &self.types[it]);
                if let Some(it) = grandparent.filter(|it| !it.is_interface() && !call.interface)
                    && self.rng.chance(40)
                {
                    call.owner = it.name.clone();
                }
            }
            24.. if self.rng.chance(15) && above != "java/lang/Object" => {
                // The caller itself is both the receiver and the named class.
                (call.owner, call.interface) = (caller, false);
            }
            _ => {
                let mut receivers = self.receivers(owner);
                if is_interface && self.rng.chance(5) {
                    // The verifier accepts any class as an interface.
                    receivers =
                        (0..self.types.len()).filter(|&it| self.types[it].access & ABSTRACT == 0).collect();
                }
                let receiver = *self.rng.pick(&receivers)?;
                call.receiver = self.types[receiver].name.clone();
                call.how = if is_interface { How::Interface } else { How::Virtual };
                // invokeinterface accepts only one kind of constant, and so does invokevirtual.
                call.interface = is_interface;
            }
        }
        if call.how == How::Virtual {
            call.interface = false;
        }
        Some(call)
    }

    fn body(&self, it: &mut ClassBuilder, call: &Call) {
        let member = |descriptor: &str| Member {
            owner: (&call.owner).into(),
            name: call.name.into(),
            descriptor: descriptor.into(),
            interface: call.interface,
        };
        let mut code = CodeBuilder::new();
        let receive = |code: &mut CodeBuilder| {
            // Objects come from a factory, so that the caller needs no access to their class.
            let package = call.receiver.rsplit_once('/').map_or("", |it| it.0);
            let factory = format!("{package}/Make");
            if call.receiver == call.caller {
                code.ty(op::NEW, &call.receiver).op(op::DUP);
                code.call(op::INVOKESPECIAL, &call.receiver, "<init>", "()V");
            } else {
                let name = call.receiver.replace('/', "_");
                code.call(op::INVOKESTATIC, &factory, &name, "()Ljava/lang/Object;");
            }
        };
        match call.how {
            How::Static => code.push(Insn::Call(op::INVOKESTATIC, member(METHOD_TYPE))),
            How::GetStatic => code.push(Insn::Field(op::GETSTATIC, member(FIELD_TYPE))),
            How::Interface => {
                receive(&mut code);
                code.push(Insn::Call(op::INVOKEINTERFACE, member(METHOD_TYPE)))
            }
            How::Virtual => {
                receive(&mut code);
                if call.receiver != call.caller {
                    code.ty(op::CHECKCAST, &call.owner);
                }
                code.push(Insn::Call(op::INVOKEVIRTUAL, member(METHOD_TYPE)))
            }
            How::Special => {
                let mut inner = CodeBuilder::new();
                inner.op(op::ALOAD_0).push(Insn::Call(op::INVOKESPECIAL, member(METHOD_TYPE)));
                inner.op(op::ARETURN);
                it.method(PUBLIC, "special", METHOD_TYPE, inner);
                receive(&mut code);
                code.call(op::INVOKEVIRTUAL, &call.caller, "special", METHOD_TYPE)
            }
        };
        code.op(op::ARETURN);
        it.method(PUBLIC | STATIC, "run", METHOD_TYPE, code);
    }
}
