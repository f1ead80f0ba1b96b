//! The classes and members that a body names by constants when it uses reflection, method handles or variable handles.
//!
//! The constants are found by [`Search`]. A value that is not found adds nothing; then the result does not say that the
//! reflective call runs nothing else.

use std::sync::LazyLock;

use bir::body::{Body, Expr, ExprId, Instr, InstrId};
use classfile::bootstrap::{HandleKind, Loadable, MethodHandle};
use classfile::names::{ClassName, MethodRef, Name, is_reflective};

use crate::constants::{At, ClassCode, Found, Search, class_name, class_of_name, parameters};

/// A class or member that reflective code of a body names by constants. The parameter types of a member are
/// the text of its descriptor between the parentheses; `None` if they are not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reflected {
    /// The class is initialised.
    Class(ClassName),
    /// An object of the class is created by a constructor with these parameter types.
    Constructor(ClassName, Option<Name>),
    /// A method of the class or of its supertypes is invoked that has this name and these parameter types.
    Method(ClassName, Name, Option<Name>),
}

/// A reflective call of a body, with the classes and members that it uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReflectiveCall {
    /// The instruction that makes the call.
    pub at: InstrId,
    /// The classes and members, each once.
    pub uses: Box<[Reflected]>,
    /// Whether the call uses no others.
    pub is_all: bool,
}

/// The variable to which a variable handle (`java.lang.invoke.VarHandle`) gives access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Variable {
    /// An instance field.
    Field,
    /// A static field of this class, which an access initialises.
    Static(ClassName),
    /// An element of an array.
    Element,
    /// Some bytes of an array.
    Bytes,
}

impl Variable {
    /// Returns the classes of the exceptions that an access through a handle may raise by itself, from the documentation
    /// of `VarHandle` and of the methods that make the handles.
    pub fn raises(self) -> impl Iterator<Item = ClassName> {
        static RAISED: LazyLock<[ClassName; 8]> = LazyLock::new(|| {
            [
                // The types of the arguments or the access mode do not fit.
                "java/lang/invoke/WrongMethodTypeException",
                "java/lang/UnsupportedOperationException",
                "java/lang/ClassCastException",
                "java/lang/NullPointerException",
                "java/lang/ArrayIndexOutOfBoundsException",
                "java/lang/ArrayStoreException",
                "java/lang/IndexOutOfBoundsException",
                // The address is not aligned.
                "java/lang/IllegalStateException",
            ]
            .map(|it| ClassName::new(it.as_bytes()))
        });
        let indices: &[usize] = match self {
            Variable::Static(_) | Variable::Field => &[0, 1, 2, 3],
            Variable::Element => &[0, 1, 2, 3, 4, 5],
            Variable::Bytes => &[0, 1, 2, 3, 4, 6, 7],
        };
        indices.iter().filter_map(|&it| RAISED.get(it).copied())
    }
}

/// Returns whether methods of this class make reflective calls or access variables.
pub fn may_reflect(class: ClassName) -> bool {
    let known = &*CLASSES;
    let all = [known.class, known.handle, known.lookup, known.var_handle, known.method, known.constructor];
    all.contains(&class)
}

/// Returns the reflective calls of a body that use classes or members which constants name, ascending by instruction.
/// `class` returns the code of the body's class.
pub fn reflective_calls<'a>(body: &'a Body, class: &'a dyn Fn() -> &'a ClassCode) -> Vec<ReflectiveCall> {
    let mut search = None;
    let mut acc = Vec::new();
    for (at, instr) in body.instrs.iter() {
        let Instr::Call(_, _, method, operands) = *instr else { continue };
        let Some(site) = site(method) else { continue };
        let search = search.get_or_insert_with(|| Search::new(body, class));
        search.is_all = true;
        let mut uses: Vec<Reflected> = Vec::new();
        for it in used(search, Search::here(at), site, body.operands(operands)) {
            if !uses.contains(&it) {
                uses.push(it);
            }
        }
        if !uses.is_empty() || search.is_all {
            acc.push(ReflectiveCall { at, uses: uses.into(), is_all: search.is_all });
        }
    }
    acc
}

/// Returns the accesses of a body through variable handles that surely run no code but the initialiser of a class,
/// because all the handles come from look-ups. Each is listed with the variables that it may access, ascending by
/// instruction; an access of several kinds of variables is listed once for each. `class` returns the code of the body's
/// class.
pub fn handle_accesses<'a>(body: &'a Body, class: &'a dyn Fn() -> &'a ClassCode) -> Vec<(InstrId, Variable)> {
    let mut search = None;
    let mut acc = Vec::new();
    for (at, instr) in body.instrs.iter() {
        let Instr::Call(_, _, method, operands) = *instr else { continue };
        if !is_access(method) {
            continue;
        }
        let Some(&handle) = body.operands(operands).first() else { continue };
        let search = search.get_or_insert_with(|| Search::new(body, class));
        search.is_all = true;
        let variables = variables(search, Search::here(at), handle);
        if search.is_all {
            acc.extend(variables.into_iter().map(|it| (at, it)));
        }
    }
    acc
}

/// What a reflective call does with the class or member that its receiver or argument stands for.
#[derive(Clone, Copy)]
enum Site {
    /// Initialises the class whose name is the first argument.
    Initializes,
    /// Initialises the class that is the second operand.
    InitializesClass,
    /// Creates an object of the class that is the receiver.
    Creates,
    /// Invokes the member that is the receiver.
    Invokes,
}

/// The classes of the JDK whose methods are searched for.
struct Classes {
    class: ClassName,
    handle: ClassName,
    handles: ClassName,
    lookup: ClassName,
    var_handle: ClassName,
    constants: ClassName,
    method: ClassName,
    constructor: ClassName,
}

static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
    let class = |it: &str| ClassName::new(it.as_bytes());
    Classes {
        class: class("java/lang/Class"),
        handle: class("java/lang/invoke/MethodHandle"),
        handles: class("java/lang/invoke/MethodHandles"),
        lookup: class("java/lang/invoke/MethodHandles$Lookup"),
        var_handle: class("java/lang/invoke/VarHandle"),
        constants: class("java/lang/invoke/ConstantBootstraps"),
        method: class("java/lang/reflect/Method"),
        constructor: class("java/lang/reflect/Constructor"),
    }
});

fn site(method: MethodRef) -> Option<Site> {
    let it = method.get();
    if !is_reflective(it.class.bytes(), it.name.bytes()) {
        return None;
    }
    let by_name = it.descriptor.bytes().starts_with(b"(Ljava/lang/String;");
    match it.name.bytes() {
        b"forName" => by_name.then_some(Site::Initializes),
        b"ensureInitialized" => Some(Site::InitializesClass),
        b"newInstance" if it.class == CLASSES.class => Some(Site::Creates),
        _ => Some(Site::Invokes),
    }
}

/// Returns whether a method accesses a variable: whether it is an access mode of `VarHandle`.
fn is_access(method: MethodRef) -> bool {
    let it = method.get();
    if it.class != CLASSES.var_handle {
        return false;
    }
    let name = it.name.bytes();
    let begins = |it: &[u8]| name.starts_with(it);
    match name {
        b"get" | b"getVolatile" | b"getOpaque" | b"getAcquire" => true,
        b"set" | b"setVolatile" | b"setOpaque" | b"setRelease" => true,
        _ => begins(b"getAnd") || begins(b"compareAnd") || begins(b"weakCompareAnd"),
    }
}

/// Returns the classes and members that a reflective call uses.
fn used(search: &mut Search<'_>, at: At, site: Site, operands: &[ExprId]) -> Vec<Reflected> {
    let &[first, ref rest @ ..] = operands else { return Vec::new() };
    match site {
        Site::Initializes => {
            // What another loader finds may be another class.
            search.is_all &= rest.is_empty();
            let names = search.strings(at, first, 0);
            names.iter().filter_map(|it| class_of_name(it)).map(Reflected::Class).collect()
        }
        Site::InitializesClass => {
            let classes = rest.first().map(|&it| search.classes(at, it, 0)).unwrap_or_default();
            classes.iter().filter_map(|it| class_name(it)).map(Reflected::Class).collect()
        }
        Site::Creates => {
            let classes = search.classes(at, first, 0);
            let takes_nothing = Some(Name::new(b""));
            let classes = classes.iter().filter_map(|it| class_name(it));
            classes.map(|it| Reflected::Constructor(it, takes_nothing)).collect()
        }
        Site::Invokes => members(search, at, first, 0),
    }
}

/// Returns the members that the value of an expression stands for: an object of `java.lang.reflect`, or a method
/// handle.
fn members(search: &mut Search<'_>, at: At, e: ExprId, depth: usize) -> Vec<Reflected> {
    let known = &*CLASSES;
    let mut acc = Vec::new();
    for (at, found) in search.found(at, e, depth) {
        let (method, operands) = match found {
            Found::Call(method, operands) => (method.get(), operands),
            Found::Expr(Expr::Null) => continue,
            Found::Expr(Expr::MethodHandle(it)) => {
                let body = search.body(at);
                let handle = body.handles.get(it as usize);
                search.is_all &= handle.is_some_and(|it| it.kind != HandleKind::InvokeSpecial);
                match handle.and_then(constant_handle) {
                    Some(it) => acc.push(it),
                    None => search.is_all = false,
                }
                continue;
            }
            Found::Expr(_) | Found::New | Found::Dynamic(..) | Found::Array(..) | Found::Other => {
                search.is_all = false;
                continue;
            }
        };
        let depth = depth + 1;
        match (method.name.bytes(), operands) {
            (b"getMethod" | b"getDeclaredMethod", &[class, name, types]) if method.class == known.class => {
                let types = search.optional(|it| it.array(at, types, depth));
                acc.extend(methods(search, at, (class, name), types.as_deref(), depth));
            }
            (b"getConstructor" | b"getDeclaredConstructor", &[class, types])
                if method.class == known.class =>
            {
                let types = search.optional(|it| it.array(at, types, depth));
                acc.extend(constructors(search, at, class, types.as_deref(), depth));
            }
            (b"findVirtual" | b"findStatic" | b"findSpecial", &[_, class, name, of_type, ..])
                if method.class == known.lookup =>
            {
                search.is_all &= !is_special(method.name);
                let types = search.optional(|it| it.method_type(at, of_type, depth));
                acc.extend(methods(search, at, (class, name), types.as_deref(), depth));
            }
            (b"findConstructor", &[_, class, of_type]) if method.class == known.lookup => {
                let types = search.optional(|it| it.method_type(at, of_type, depth));
                acc.extend(constructors(search, at, class, types.as_deref(), depth));
            }
            (b"unreflect" | b"unreflectSpecial" | b"unreflectConstructor", &[_, of, ..])
                if method.class == known.lookup =>
            {
                search.is_all &= !is_special(method.name);
                acc.extend(members(search, at, of, depth));
            }
            // These make a handle that calls nothing but the first one.
            (
                b"bindTo"
                | b"asType"
                | b"asSpreader"
                | b"asCollector"
                | b"asFixedArity"
                | b"asVarargsCollector"
                | b"withVarargs",
                &[of, ..],
            ) if method.class == known.handle => acc.extend(members(search, at, of, depth)),
            // Other methods of MethodHandles make a handle that calls the first one, and perhaps others.
            (_, &[of, ..]) if method.class == known.handle || method.class == known.handles => {
                search.is_all = false;
                acc.extend(members(search, at, of, depth));
            }
            _ => search.is_all = false,
        }
    }
    search.limit(acc)
}

/// Returns whether a look-up of this name makes a handle that runs the method itself, as `super` does, not one that the
/// receiver selects.
fn is_special(name: Name) -> bool {
    matches!(name.bytes(), b"findSpecial" | b"unreflectSpecial")
}

fn constant_handle(handle: &MethodHandle) -> Option<Reflected> {
    let member = handle.member.get();
    let types = || Some(Name::new(parameters(member.descriptor.bytes())?));
    match handle.kind {
        HandleKind::GetField | HandleKind::PutField => None,
        HandleKind::GetStatic | HandleKind::PutStatic => Some(Reflected::Class(member.class)),
        HandleKind::NewInvokeSpecial => Some(Reflected::Constructor(member.class, types())),
        HandleKind::InvokeVirtual
        | HandleKind::InvokeStatic
        | HandleKind::InvokeSpecial
        | HandleKind::InvokeInterface => Some(Reflected::Method(member.class, member.name, types())),
    }
}

fn methods(
    search: &mut Search<'_>,
    at: At,
    (class, name): (ExprId, ExprId),
    types: Option<&[u8]>,
    depth: usize,
) -> Vec<Reflected> {
    let names = search.strings(at, name, depth);
    let classes = search.classes(at, class, depth);
    let mut acc = Vec::new();
    for class in classes.iter().filter_map(|it| class_name(it)) {
        acc.extend(names.iter().map(|it| Reflected::Method(class, Name::new(it), types.map(Name::new))));
    }
    acc
}

fn constructors(
    search: &mut Search<'_>,
    at: At,
    class: ExprId,
    types: Option<&[u8]>,
    depth: usize,
) -> Vec<Reflected> {
    let classes = search.classes(at, class, depth);
    let classes = classes.iter().filter_map(|it| class_name(it));
    classes.map(|it| Reflected::Constructor(it, types.map(Name::new))).collect()
}

/// Returns the variables to which a variable handle gives access that comes from look-ups.
fn variables(search: &mut Search<'_>, at: At, handle: ExprId) -> Vec<Variable> {
    let known = &*CLASSES;
    let mut acc: Vec<Variable> = Vec::new();
    for (at, found) in search.found(at, handle, 0) {
        let variable = match found {
            // The access raises NullPointerException.
            Found::Expr(Expr::Null) => continue,
            Found::Call(method, operands) => {
                let it = method.get();
                match (it.name.bytes(), operands) {
                    (b"findVarHandle", [..]) if it.class == known.lookup => Some(Variable::Field),
                    (b"findStaticVarHandle", &[_, class, ..]) if it.class == known.lookup => {
                        let classes = search.classes(at, class, 1);
                        match &classes[..] {
                            [it] => class_name(it).map(Variable::Static),
                            _ => None,
                        }
                    }
                    (b"arrayElementVarHandle", [..]) if it.class == known.handles => Some(Variable::Element),
                    // The handle of a buffer may check memory that other code has freed.
                    (b"byteArrayViewVarHandle", [..]) if it.class == known.handles => Some(Variable::Bytes),
                    _ => None,
                }
            }
            Found::Dynamic(site, []) => constant_variable(search.body(at), site),
            Found::Expr(_) | Found::New | Found::Dynamic(..) | Found::Array(..) | Found::Other => None,
        };
        match variable {
            Some(it) if !acc.contains(&it) => acc.push(it),
            Some(_) => {}
            None => search.is_all = false,
        }
    }
    acc
}

/// Returns the variable to which the handle gives access that is this dynamic constant.
fn constant_variable(body: &Body, site: u32) -> Option<Variable> {
    let site = body.dynamics.get(site as usize)?;
    let bootstrap = site.bootstrap.member.get();
    if bootstrap.class != CLASSES.constants {
        return None;
    }
    match (bootstrap.name.bytes(), site.args.first()) {
        (b"fieldVarHandle", _) => Some(Variable::Field),
        (b"staticFieldVarHandle", Some(Loadable::Class(it))) => Some(Variable::Static(*it)),
        (b"arrayVarHandle", _) => Some(Variable::Element),
        _ => None,
    }
}
