//! What dynamic call sites and constants do, derived from their bootstrap arguments (`semantics.md` §4.4).
//!
//! The platform's bootstrap methods are recognised by owner, name and descriptor, so no JDK need be present. Any
//! other bootstrap method is code that may link anything: its site counts as a call of unknown code.

use std::sync::LazyLock;

use classfile::bootstrap::{Dynamic, HandleKind, Loadable, MethodHandle};
use classfile::descriptor::{FieldType, Kind};
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use rustc_hash::FxHashMap;

use crate::throwables::well_known;

/// An object that a `LambdaMetafactory` site makes: a receiver of a class of its own, which implements the site's
/// interfaces.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    /// The functional interface.
    pub interface: ClassName,
    /// The marker interfaces; `java/io/Serializable` is among them if the site asks for serialization.
    pub markers: Box<[ClassName]>,
    /// The name of the method that the object implements.
    pub name: Name,
    /// The descriptors of that method: the erased one of the interface, then its bridges.
    pub descriptors: Box<[Descriptor]>,
    /// The handle that the method invokes.
    pub handle: MethodHandle,
    /// The method's type as the site instantiates it.
    pub instantiated: Descriptor,
    /// The types of the captured values: they are the parameters of the site's descriptor.
    pub captured: Descriptor,
}

/// What linking or running a dynamic site may do besides making a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// Calls the method virtually on a value whose static type is the class named.
    Virtual(MethodRef),
    /// Invokes the handle; its exceptions become BootstrapMethodError unless they are Errors.
    Link(MethodHandle),
    /// May initialise the class; exceptions are swallowed.
    InitializeQuietly(ClassName),
    /// Initialises the class; exceptions become BootstrapMethodError unless they are Errors.
    Initialize(ClassName),
    /// Raises BootstrapMethodError itself if something that it names does not exist.
    MayFail,
    /// The bootstrap method is not modelled: it runs, and may link any method.
    Unknown(MethodHandle),
}

/// What is known of a dynamic site or constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DynamicSite {
    /// What the site may run or raise, each effect once.
    pub effects: Vec<Effect>,
    /// The function object that the site makes, if it makes one.
    pub function: Option<Function>,
}

/// The kinds of bootstrap methods of the platform that are modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Lambda,
    AltLambda,
    Concat,
    ObjectMethods,
    Switch,
    /// A constant that runs nothing and cannot fail.
    Quiet,
    /// A constant that initialises the class it names.
    Initializing,
    /// A constant computed by invoking a handle.
    Invoke,
}

const LOOKUP: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;";

/// The modelled bootstrap methods: owner, name, the descriptor after the prefix [`LOOKUP`], and the kind.
const KNOWN: &[(&str, &str, &str, Known)] = &[
    (
        "java/lang/invoke/LambdaMetafactory",
        "metafactory",
        "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;",
        Known::Lambda,
    ),
    (
        "java/lang/invoke/LambdaMetafactory",
        "altMetafactory",
        "Ljava/lang/invoke/MethodType;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;",
        Known::AltLambda,
    ),
    (
        "java/lang/invoke/StringConcatFactory",
        "makeConcat",
        "Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;",
        Known::Concat,
    ),
    (
        "java/lang/invoke/StringConcatFactory",
        "makeConcatWithConstants",
        "Ljava/lang/invoke/MethodType;Ljava/lang/String;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;",
        Known::Concat,
    ),
    (
        "java/lang/runtime/ObjectMethods",
        "bootstrap",
        "Ljava/lang/invoke/TypeDescriptor;Ljava/lang/Class;Ljava/lang/String;[Ljava/lang/invoke/MethodHandle;)Ljava/lang/Object;",
        Known::ObjectMethods,
    ),
    (
        "java/lang/runtime/SwitchBootstraps",
        "typeSwitch",
        "Ljava/lang/invoke/MethodType;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;",
        Known::Switch,
    ),
    (
        "java/lang/runtime/SwitchBootstraps",
        "enumSwitch",
        "Ljava/lang/invoke/MethodType;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;",
        Known::Switch,
    ),
    (CONSTANTS, "nullConstant", "Ljava/lang/Class;)Ljava/lang/Object;", Known::Quiet),
    (CONSTANTS, "primitiveClass", "Ljava/lang/Class;)Ljava/lang/Class;", Known::Quiet),
    (CONSTANTS, "enumConstant", "Ljava/lang/Class;)Ljava/lang/Enum;", Known::Initializing),
    (
        CONSTANTS,
        "getStaticFinal",
        "Ljava/lang/Class;Ljava/lang/Class;)Ljava/lang/Object;",
        Known::Initializing,
    ),
    (CONSTANTS, "getStaticFinal", "Ljava/lang/Class;)Ljava/lang/Object;", Known::Initializing),
    (
        CONSTANTS,
        "invoke",
        "Ljava/lang/Class;Ljava/lang/invoke/MethodHandle;[Ljava/lang/Object;)Ljava/lang/Object;",
        Known::Invoke,
    ),
    (
        CONSTANTS,
        "fieldVarHandle",
        "Ljava/lang/Class;Ljava/lang/Class;Ljava/lang/Class;)Ljava/lang/invoke/VarHandle;",
        Known::Initializing,
    ),
    (
        CONSTANTS,
        "staticFieldVarHandle",
        "Ljava/lang/Class;Ljava/lang/Class;Ljava/lang/Class;)Ljava/lang/invoke/VarHandle;",
        Known::Initializing,
    ),
    (
        CONSTANTS,
        "arrayVarHandle",
        "Ljava/lang/Class;Ljava/lang/Class;)Ljava/lang/invoke/VarHandle;",
        Known::Initializing,
    ),
    (CONSTANTS, "explicitCast", "Ljava/lang/Class;Ljava/lang/Object;)Ljava/lang/Object;", Known::Invoke),
];
const CONSTANTS: &str = "java/lang/invoke/ConstantBootstraps";

/// How deep dynamic constants may nest as arguments; the reader of class files allows no more either.
const MAX_DEPTH: u32 = 16;

/// Derives what a dynamic site or constant does.
pub fn dynamic_site(it: &Dynamic) -> DynamicSite {
    let mut acc = DynamicSite::default();
    add(&mut acc, it, 0);
    acc
}

fn known(handle: MethodHandle) -> Option<Known> {
    static TABLE: LazyLock<FxHashMap<MethodRef, Known>> = LazyLock::new(|| {
        let of = |&(owner, name, rest, what): &(&str, &str, &str, Known)| {
            let descriptor = [LOOKUP, rest].concat();
            let owner = ClassName::new(owner.as_bytes());
            let descriptor = Descriptor::new(descriptor.as_bytes());
            (MethodRef::new(owner, Name::new(name.as_bytes()), descriptor), what)
        };
        KNOWN.iter().map(of).collect()
    });
    if handle.kind != HandleKind::InvokeStatic || handle.interface {
        return None;
    }
    TABLE.get(&handle.member).copied()
}

fn add(acc: &mut DynamicSite, it: &Dynamic, depth: u32) {
    if depth > MAX_DEPTH {
        return effect(acc, Effect::Unknown(it.bootstrap));
    }
    for arg in it.args.iter() {
        if let Loadable::Dynamic(nested) = arg {
            add(acc, nested, depth + 1);
        }
    }
    let ok = match known(it.bootstrap) {
        None => None,
        Some(Known::Lambda) => function(it, false).map(|it| acc.function = Some(it)),
        Some(Known::AltLambda) => function(it, true).map(|it| acc.function = Some(it)),
        Some(Known::Concat) => concat(acc, it),
        Some(Known::ObjectMethods) => object_methods(acc, it),
        Some(Known::Switch) => {
            labels(acc, &it.args, 0);
            Some(())
        }
        Some(Known::Quiet) => Some(()),
        Some(Known::Initializing) => {
            if let Some(class) = named_class(it) {
                effect(acc, Effect::Initialize(class));
            }
            effect(acc, Effect::MayFail);
            Some(())
        }
        Some(Known::Invoke) => {
            if let Some(Loadable::MethodHandle(handle)) = it.args.first() {
                effect(acc, Effect::Link(*handle));
            }
            effect(acc, Effect::MayFail);
            Some(())
        }
    };
    if ok.is_none() {
        effect(acc, Effect::Unknown(it.bootstrap));
    }
}

fn effect(acc: &mut DynamicSite, it: Effect) {
    if !acc.effects.contains(&it) {
        acc.effects.push(it);
    }
}

/// Reads the arguments of the two methods of `LambdaMetafactory`, in the order of its documentation; `None` if they
/// do not have that form.
fn function(it: &Dynamic, alternative: bool) -> Option<Function> {
    let [
        Loadable::MethodType(erased),
        Loadable::MethodHandle(handle),
        Loadable::MethodType(instantiated),
        rest @ ..,
    ] = &*it.args
    else {
        return None;
    };
    let interface = it.descriptor.method_type()?.ret()?.class()?;
    let mut descriptors = vec![*erased];
    let mut markers = Vec::new();
    if alternative {
        alternatives(rest, &mut markers, &mut descriptors)?;
    } else if !rest.is_empty() {
        return None;
    }
    Some(Function {
        interface,
        markers: markers.into(),
        name: it.name,
        descriptors: descriptors.into(),
        handle: *handle,
        instantiated: *instantiated,
        captured: it.descriptor,
    })
}

/// Reads the arguments `flags, [count, markers...], [count, bridges...]`.
fn alternatives(
    args: &[Loadable],
    markers: &mut Vec<ClassName>,
    descriptors: &mut Vec<Descriptor>,
) -> Option<()> {
    const SERIALIZABLE: i32 = 1;
    const MARKERS: i32 = 2;
    const BRIDGES: i32 = 4;
    let mut args = args.iter();
    let &Loadable::Int(flags) = args.next()? else { return None };
    if flags & MARKERS != 0 {
        let &Loadable::Int(count) = args.next()? else { return None };
        for _ in 0..count {
            let &Loadable::Class(it) = args.next()? else { return None };
            markers.push(it);
        }
    }
    if flags & BRIDGES != 0 {
        let &Loadable::Int(count) = args.next()? else { return None };
        for _ in 0..count {
            let &Loadable::MethodType(it) = args.next()? else { return None };
            if !descriptors.contains(&it) {
                descriptors.push(it);
            }
        }
    }
    let serializable = ClassName::new(b"java/io/Serializable");
    if flags & SERIALIZABLE != 0 && !markers.contains(&serializable) {
        markers.push(serializable);
    }
    Some(())
}

/// Adds a call of `toString` on each argument that is a reference; strings need no call.
fn concat(acc: &mut DynamicSite, it: &Dynamic) -> Option<()> {
    for param in it.descriptor.method_type()?.params() {
        virtual_call(acc, param, b"toString", b"()Ljava/lang/String;");
    }
    // Constants of the recipe that are not strings are converted too, but their classes belong to the platform.
    Some(())
}

/// Adds a call of `equals`, `hashCode` or `toString` on each component of a record.
fn object_methods(acc: &mut DynamicSite, it: &Dynamic) -> Option<()> {
    let (name, descriptor): (&[u8], &[u8]) = match it.name.bytes() {
        b"equals" => (b"equals", b"(Ljava/lang/Object;)Z"),
        b"hashCode" => (b"hashCode", b"()I"),
        b"toString" => (b"toString", b"()Ljava/lang/String;"),
        _ => return None,
    };
    for getter in it.args.get(2..)? {
        let Loadable::MethodHandle(getter) = getter else { return None };
        if getter.kind != HandleKind::GetField {
            return None;
        }
        virtual_call(acc, getter.member.descriptor().field_type()?, name, descriptor);
    }
    Some(())
}

fn virtual_call(acc: &mut DynamicSite, of: FieldType<'_>, name: &[u8], descriptor: &[u8]) {
    let Some(class) = of.class() else { return };
    if class == well_known().string {
        return;
    }
    // An array has the methods of Object.
    let class = if class.is_array() { well_known().object } else { class };
    let method = MethodRef::new(class, Name::new(name), Descriptor::new(descriptor));
    effect(acc, Effect::Virtual(method));
}

/// Adds the classes that the labels of a switch name, also by a string inside a constant: finding the constant of an
/// enum initialises its class, and exceptions are swallowed.
fn labels(acc: &mut DynamicSite, args: &[Loadable], depth: u32) {
    for arg in args {
        match arg {
            Loadable::Class(class) => effect(acc, Effect::InitializeQuietly(*class)),
            Loadable::Str(text) if depth > 0 => {
                let name: Vec<u8> = text.bytes().iter().map(|&b| if b == b'.' { b'/' } else { b }).collect();
                effect(acc, Effect::InitializeQuietly(ClassName::new(&name)));
            }
            Loadable::Dynamic(nested) if depth < MAX_DEPTH => labels(acc, &nested.args, depth + 1),
            _ => {}
        }
    }
}

/// The class that a constant reads or names: its first argument if that is a class, else its type.
fn named_class(it: &Dynamic) -> Option<ClassName> {
    match it.args.first() {
        Some(Loadable::Class(class)) => Some(*class),
        _ => it.descriptor.field_type()?.class(),
    }
}

/// Which exceptions the adapter code of a function object raises itself: casts and unboxing of arguments and result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct GlueRaises {
    /// Whether it may raise ClassCastException.
    pub class_cast: bool,
    /// Whether it may raise NullPointerException.
    pub null_pointer: bool,
}

impl Function {
    /// Returns what the adapter code of the object's methods may raise before and after it invokes the handle.
    pub fn glue_raises(&self) -> GlueRaises {
        let mut acc = GlueRaises::default();
        let Some(instantiated) = self.instantiated.method_type() else { return GlueRaises::ANY };
        let given: Vec<Shape> = instantiated.params().map(Shape::of).collect();
        for erased in &self.descriptors {
            let Some(erased) = erased.method_type() else { return GlueRaises::ANY };
            for (from, &to) in erased.params().map(Shape::of).zip(&given) {
                acc.convert(from, to);
            }
        }
        let Some((wanted, made)) = self.handle_type() else { return GlueRaises::ANY };
        let captured = self.captured.method_type().map_or(0, |it| it.params().count());
        for (&from, &to) in given.iter().zip(wanted.iter().skip(captured)) {
            acc.convert(from, to);
        }
        if let (Some(from), Some(to)) = (made, instantiated.ret()) {
            acc.convert(from, Shape::of(to));
        }
        acc
    }

    /// The parameters and the result of the handle: a constructor returns its class, and a receiver is the first
    /// parameter. `None` for handles of fields.
    fn handle_type(&self) -> Option<(Vec<Shape>, Option<Shape>)> {
        let member = self.handle.member.get();
        let ty = member.descriptor.method_type()?;
        let class = Shape::Class(Some(member.class));
        let params = ty.params().map(Shape::of);
        let ret = ty.ret().map(Shape::of);
        match self.handle.kind {
            HandleKind::InvokeStatic => Some((params.collect(), ret)),
            HandleKind::NewInvokeSpecial => Some((params.collect(), Some(class))),
            HandleKind::InvokeVirtual | HandleKind::InvokeInterface | HandleKind::InvokeSpecial => {
                Some((std::iter::once(class).chain(params).collect(), ret))
            }
            _ => None,
        }
    }
}

/// A type as far as conversions distinguish types: primitive, or a class.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Primitive,
    Class(Option<ClassName>),
}

impl Shape {
    fn of(it: FieldType<'_>) -> Shape {
        if it.kind() == Kind::Ref { Shape::Class(it.class()) } else { Shape::Primitive }
    }
}

impl GlueRaises {
    const ANY: GlueRaises = GlueRaises { class_cast: true, null_pointer: true };

    /// Adds what a conversion of `MethodHandle.asType` may raise: between references a cast, which is not needed for
    /// a widening to Object; to a primitive, unboxing.
    fn convert(&mut self, from: Shape, to: Shape) {
        match (from, to) {
            (Shape::Class(from), Shape::Class(to)) => {
                self.class_cast |= from != to && to != Some(well_known().object);
            }
            (Shape::Class(from), Shape::Primitive) => {
                self.null_pointer = true;
                self.class_cast |= !from.is_some_and(is_wrapper);
            }
            // Boxing and widening raise nothing.
            (Shape::Primitive, _) => {}
        }
    }
}

fn is_wrapper(it: ClassName) -> bool {
    const WRAPPERS: [&[u8]; 8] = [
        b"java/lang/Boolean",
        b"java/lang/Byte",
        b"java/lang/Character",
        b"java/lang/Short",
        b"java/lang/Integer",
        b"java/lang/Long",
        b"java/lang/Float",
        b"java/lang/Double",
    ];
    WRAPPERS.contains(&it.bytes())
}
