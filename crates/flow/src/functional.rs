//! What dynamic call sites and dynamic constants do, derived from their bootstrap arguments (`semantics.md` §4.4).
//!
//! The bootstrap methods of the JDK are recognised by class, name and descriptor, so the JDK need not be present. Any
//! other bootstrap method may link any method: its call site counts as a call of unknown code.

use std::sync::LazyLock;

use classfile::bootstrap::{Dynamic, HandleKind, Loadable, MethodHandle};
use classfile::descriptor::{FieldType, Kind};
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use rustc_hash::FxHashMap;

use crate::named::{named_by_handle, named_classes};
use crate::throwables::well_known;

/// A function object: the object that a `LambdaMetafactory` call site creates. Each call site defines a class of its
/// own for this object, which implements the interfaces that the call site names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    /// The functional interface that the object implements.
    pub interface: ClassName,
    /// The marker interfaces that the object implements in addition; if the call site sets the flag for
    /// serialization, `java/io/Serializable` is one of them.
    pub markers: Box<[ClassName]>,
    /// The name of the interface method that the object implements.
    pub name: Name,
    /// The descriptors with which the object implements the interface method: first the erased descriptor, then those
    /// of the bridge methods.
    pub descriptors: Box<[Descriptor]>,
    /// The method handle that the object's method invokes.
    pub handle: MethodHandle,
    /// The descriptor of the interface method with its type parameters replaced by the actual types
    /// (`instantiatedMethodType`).
    pub instantiated: Descriptor,
    /// The descriptor of the call site that creates the object; its parameters are the types of the captured values.
    pub captured: Descriptor,
}

/// An effect that linking or executing a dynamic call site or dynamic constant may have, besides producing a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// Executing the site calls this method virtually, on a value whose static type is the method's class.
    Virtual(MethodRef),
    /// Linking the site invokes this method handle. Exceptions that the handle throws become BootstrapMethodError,
    /// unless they are Errors.
    Link(MethodHandle),
    /// The site may initialise this class; exceptions of the initialisation are swallowed and do not reach the site.
    InitializeQuietly(ClassName),
    /// The site initialises this class. Exceptions of the initialisation become BootstrapMethodError, unless they are
    /// Errors.
    Initialize(ClassName),
    /// Linking the site defines and initialises a class that implements this interface, and so initialises those of
    /// the interface and its superinterfaces that declare a non-abstract instance method (JVMS §5.5).
    Implement(ClassName),
    /// The site raises BootstrapMethodError if something that the site names, such as a class or a field, does not
    /// exist.
    MayFail,
    /// The site runs this bootstrap method, whose effects are not modelled; the bootstrap method may link the site to
    /// any method.
    Unknown(MethodHandle),
}

/// A constant that linking a dynamic call site or dynamic constant resolves (JVMS §5.4.3.6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkedConstant {
    /// A method handle: the bootstrap method, or one of its arguments.
    Handle(MethodHandle),
    /// A class, an argument of the bootstrap method.
    Class(ClassName),
    /// The type of the site, or a method type that is an argument of the bootstrap method: the classes that the
    /// descriptor names are resolved.
    Type(Descriptor),
}

impl LinkedConstant {
    /// Calls `f` with each class and array type that is resolved with the constant.
    pub fn classes(&self, f: &mut dyn FnMut(ClassName)) {
        match *self {
            LinkedConstant::Handle(it) => named_by_handle(it, f),
            LinkedConstant::Class(it) => f(it),
            LinkedConstant::Type(it) => named_classes(it).for_each(f),
        }
    }
}

/// The effects of a dynamic call site or dynamic constant, and the function object that it creates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DynamicSite {
    /// The constants that linking the site resolves, without duplicates. Left out are bootstrap methods of the JDK whose
    /// effects are modelled, and types that name no classes but Object and String: resolving these cannot fail.
    pub resolves: Vec<LinkedConstant>,
    /// The bootstrap methods of the JDK that linking the site runs and whose effects are modelled, without duplicates.
    pub modelled: Vec<MethodRef>,
    /// What linking or executing the site may run or raise, besides producing a value; without duplicates.
    pub effects: Vec<Effect>,
    /// The function object that the site creates; `None` if the site is not a `LambdaMetafactory` site.
    pub function: Option<Function>,
}

/// The kinds of JDK bootstrap methods whose effects are modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Lambda,
    AltLambda,
    Concat,
    ObjectMethods,
    Switch,
    /// The bootstrap method computes a constant, runs no other code and cannot fail.
    Quiet,
    /// The bootstrap method computes a constant, and initialises the class that the constant names.
    Initializing,
    /// The bootstrap method computes a constant by invoking a method handle.
    Invoke,
}

const LOOKUP: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;";

/// The bootstrap methods whose effects are modelled: class, name, the part of the descriptor after the prefix
/// [`LOOKUP`], and kind.
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

/// The maximum depth to which dynamic constants may nest as arguments of bootstrap methods; the class-file reader has
/// the same limit.
const MAX_DEPTH: u32 = 16;

/// Derives the effects of a dynamic call site or dynamic constant from its bootstrap method and the arguments of that
/// method.
pub fn dynamic_site(it: &Dynamic) -> DynamicSite {
    let mut acc = DynamicSite::default();
    add(&mut acc, it, 0);
    acc
}

static BY_METHOD: LazyLock<FxHashMap<MethodRef, Known>> = LazyLock::new(|| {
    let of = |&(owner, name, rest, what): &(&str, &str, &str, Known)| {
        let descriptor = [LOOKUP, rest].concat();
        let owner = ClassName::new(owner.as_bytes());
        let descriptor = Descriptor::new(descriptor.as_bytes());
        (MethodRef::new(owner, Name::new(name.as_bytes()), descriptor), what)
    };
    KNOWN.iter().map(of).collect()
});

fn known(handle: MethodHandle) -> Option<Known> {
    if handle.kind != HandleKind::InvokeStatic || handle.interface {
        return None;
    }
    BY_METHOD.get(&handle.member).copied()
}

fn add(acc: &mut DynamicSite, it: &Dynamic, depth: u32) {
    if depth > MAX_DEPTH {
        return effect(acc, Effect::Unknown(it.bootstrap));
    }
    resolve(acc, LinkedConstant::Type(it.descriptor));
    match known(it.bootstrap) {
        None => resolve(acc, LinkedConstant::Handle(it.bootstrap)),
        Some(_) if acc.modelled.contains(&it.bootstrap.member) => {}
        Some(_) => acc.modelled.push(it.bootstrap.member),
    }
    for arg in it.args.iter() {
        match *arg {
            Loadable::Dynamic(ref nested) => add(acc, nested, depth + 1),
            Loadable::MethodHandle(it) => resolve(acc, LinkedConstant::Handle(it)),
            Loadable::Class(it) => resolve(acc, LinkedConstant::Class(it)),
            Loadable::MethodType(it) => resolve(acc, LinkedConstant::Type(it)),
            Loadable::Int(_)
            | Loadable::Long(_)
            | Loadable::Float(_)
            | Loadable::Double(_)
            | Loadable::Str(_) => {}
        }
    }
    let ok = match known(it.bootstrap) {
        None => None,
        Some(Known::Lambda) => function(it, false).map(|it| function_object(acc, it)),
        Some(Known::AltLambda) => function(it, true).map(|it| function_object(acc, it)),
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

/// Adds a constant to [`DynamicSite::resolves`] unless it is present or its resolution cannot fail.
fn resolve(acc: &mut DynamicSite, it: LinkedConstant) {
    let fails = match it {
        LinkedConstant::Type(it) => {
            named_classes(it).any(|it| it != well_known().object && it.bytes() != b"java/lang/String")
        }
        LinkedConstant::Handle(_) | LinkedConstant::Class(_) => true,
    };
    if fails && !acc.resolves.contains(&it) {
        acc.resolves.push(it);
    }
}

fn effect(acc: &mut DynamicSite, it: Effect) {
    if !acc.effects.contains(&it) {
        acc.effects.push(it);
    }
}

/// Records in `acc` that the site creates the function object `it`.
fn function_object(acc: &mut DynamicSite, it: Function) {
    effect(acc, Effect::Implement(it.interface));
    it.markers.iter().for_each(|&it| effect(acc, Effect::Implement(it)));
    acc.function = Some(it);
}

/// Reads the function object that a `LambdaMetafactory` site creates from the bootstrap arguments. The bootstrap
/// method is `altMetafactory` if `alternative` is set, else `metafactory`. Returns `None` if the arguments do not
/// have the documented form.
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

/// Reads the last arguments of `altMetafactory`: `flags, [count, markers...], [count, bridges...]`. Appends the
/// marker interfaces to `markers`, and the descriptors of the bridge methods to `descriptors`. Returns `None` if the
/// arguments do not have this form.
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

/// Adds the effects of a string concatenation to `acc`: a call of `toString` on each argument whose type is a
/// reference type other than String. Returns `None` if the site has no method descriptor.
fn concat(acc: &mut DynamicSite, it: &Dynamic) -> Option<()> {
    for param in it.descriptor.method_type()?.params() {
        virtual_call(acc, param, b"toString", b"()Ljava/lang/String;");
    }
    // Constants of the recipe that are not strings are converted too, but their classes belong to the platform.
    Some(())
}

/// Adds the effects of a record's generated `equals`, `hashCode` or `toString` to `acc`: a call of the method with
/// the same name on each record component whose type is a reference type other than String. Returns `None` if the
/// bootstrap arguments do not have the documented form.
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

/// Adds an effect to `acc` for each class that the labels of a `switch` name, directly or by a string inside a
/// dynamic constant. A label may name an enum constant: finding the constant initialises its class, and exceptions of
/// the initialisation are swallowed.
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

/// Returns the class to which a dynamic constant refers: its first bootstrap argument if that is a class, else the
/// type of the constant.
fn named_class(it: &Dynamic) -> Option<ClassName> {
    match it.args.first() {
        Some(Loadable::Class(class)) => Some(*class),
        _ => it.descriptor.field_type()?.class(),
    }
}

/// The exceptions that the glue method of a function object may itself raise when it casts or unboxes arguments and
/// the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct GlueRaises {
    /// Whether the glue method may raise ClassCastException.
    pub class_cast: bool,
    /// Whether the glue method may raise NullPointerException.
    pub null_pointer: bool,
}

impl Function {
    /// Returns the exceptions that the glue method of the function object may itself raise when it converts arguments
    /// and the result, before and after it invokes the handle.
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

    /// Returns the parameter types of the function object's handle, and its result type (`None` for `void`). The
    /// result type of a constructor handle is the constructed class; the first parameter of an instance-method handle
    /// is the receiver. Returns `None` if the handle refers to a field.
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

/// A parameter or result type, as far as it matters to conversions: a primitive type, or a reference type with its
/// class.
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

    /// Adds the exceptions that `MethodHandle.asType` may raise when it converts a value of the type `from` to the
    /// type `to`. References are cast, except to Object; a conversion of a reference to a primitive type unboxes the
    /// value.
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
