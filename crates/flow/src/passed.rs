//! The classes that a body gives to other code as class objects. That code may create objects of these classes by
//! reflection, or initialise the classes, although no instruction names them for that purpose.

use std::sync::LazyLock;

use bir::body::{Body, Expr, ExprId, Instr};
use classfile::names::{ClassName, MethodRef, is_class_name};

use crate::named::named_classes;

/// A class that a body gives to other code as a class object, and how that code gets the class object. A class that a
/// string names need not exist.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Passed {
    /// The body hands on a constant: the class, an array class with elements of the class, or a string that has the form of
    /// the name of the class.
    Constant(ClassName),
    /// The constant is an argument of `ServiceLoader.load`, which creates objects of the providers of the service, not of
    /// the class itself.
    Service(ClassName),
    /// The body calls `ServiceLoader.load` for a service that is no constant at the call.
    UnknownService,
    /// The body makes an array with elements of the class, and code can ask the class of the array for it.
    Elements(ClassName),
    /// The body makes a method type (`java.lang.invoke.MethodType`) with the class, and code can ask the method type for it.
    MethodType(ClassName),
}

struct Classes {
    method_type: ClassName,
    service_loader: ClassName,
}

static CLASSES: LazyLock<Classes> = LazyLock::new(|| Classes {
    method_type: ClassName::new(b"java/lang/invoke/MethodType"),
    service_loader: ClassName::new(b"java/util/ServiceLoader"),
});

/// Methods that take class constants as receivers or arguments, and neither create objects of these classes, nor
/// initialise them, nor hand the constants on: a class of the platform and the names of its methods.
const HARMLESS: [(&[u8], &[&[u8]]); 12] = [
    (
        b"java/lang/Class",
        &[
            b"cast",
            b"desiredAssertionStatus",
            b"equals",
            b"getCanonicalName",
            b"getClassLoader",
            b"getModifiers",
            b"getModule",
            b"getName",
            b"getPackage",
            b"getPackageName",
            b"getProtectionDomain",
            b"getResource",
            b"getResourceAsStream",
            b"getSimpleName",
            b"getTypeName",
            b"hashCode",
            b"isAssignableFrom",
            b"isInstance",
            b"toString",
        ],
    ),
    (b"java/lang/invoke/MethodHandles", &[b"arrayElementVarHandle"]),
    (b"java/lang/invoke/MethodHandles$Lookup", &[b"findSpecial", b"findVarHandle", b"findVirtual"]),
    (b"java/lang/invoke/MethodType", &[b"appendParameterTypes", b"changeReturnType", b"methodType"]),
    (b"java/lang/reflect/Array", &[b"newInstance"]),
    (b"java/util/Arrays", &[b"copyOf", b"copyOfRange"]),
    (b"java/util/concurrent/atomic/AtomicIntegerFieldUpdater", &[b"newUpdater"]),
    (b"java/util/concurrent/atomic/AtomicLongFieldUpdater", &[b"newUpdater"]),
    (b"java/util/concurrent/atomic/AtomicReferenceFieldUpdater", &[b"newUpdater"]),
    (b"jdk/internal/misc/Unsafe", &[b"arrayBaseOffset", b"arrayIndexScale", b"objectFieldOffset"]),
    (b"jdk/internal/reflect/Reflection", &[b"registerFieldsToFilter", b"registerMethodsToFilter"]),
    (b"sun/misc/Unsafe", &[b"arrayBaseOffset", b"arrayIndexScale", b"objectFieldOffset"]),
];

/// Calls `f` with each class that the body gives to other code. A class may occur several times.
pub fn passed_classes(body: &Body, f: &mut dyn FnMut(Passed)) {
    let is_constant = |it: &Expr| match *it {
        Expr::Class(class) => class.element().is_some(),
        Expr::MethodType(_) => true,
        Expr::Str(text) => is_class_name(text.bytes()),
        _ => false,
    };
    // Most bodies have no such constant, so their expressions need no second visit.
    let has_constants = body.exprs.values().any(is_constant);
    let mut pending: Vec<ExprId> = Vec::new();
    for (_, instr) in body.instrs.iter() {
        made_or_loaded(body, instr, f);
        if !has_constants {
            continue;
        }
        let mut as_passed: fn(ClassName) -> Passed = Passed::Constant;
        match *instr {
            Instr::Assert(_) | Instr::If(..) | Instr::MonitorEnter(_) | Instr::MonitorExit(_) => {
                body.instr_exprs(instr, |it| body.exprs[it].operands(|it| pending.push(it)));
            }
            Instr::Call(_, _, method, operands) if is_harmless(method) => {
                let operands = body.operands(operands).iter();
                if method.class() == CLASSES.method_type {
                    let classes = operands.clone().filter_map(|&it| constant(&body.exprs[it]));
                    classes.for_each(|it| f(Passed::MethodType(it)));
                }
                operands.for_each(|&it| body.exprs[it].operands(|it| pending.push(it)));
            }
            Instr::Call(_, _, method, operands) => {
                if method.class() == CLASSES.service_loader {
                    as_passed = Passed::Service;
                }
                pending.extend(body.operands(operands));
            }
            _ => body.instr_exprs(instr, |it| pending.push(it)),
        }
        while let Some(at) = pending.pop() {
            match body.exprs[at] {
                // Code may get the class of the elements from the class of the array.
                ref it @ Expr::Class(_) => constant(it).into_iter().for_each(|it| f(as_passed(it))),
                Expr::MethodType(it) => {
                    named_classes(it).filter_map(ClassName::element).for_each(|it| f(Passed::MethodType(it)));
                }
                Expr::Str(text) if is_class_name(text.bytes()) => {
                    let internal: Vec<u8> =
                        text.bytes().iter().map(|&it| if it == b'.' { b'/' } else { it }).collect();
                    f(Passed::Constant(ClassName::new(&internal)));
                }
                ref it => it.operands(|it| pending.push(it)),
            }
        }
    }
}
/// Calls `f` with the class of the elements if the instruction makes an array, and with [`Passed::UnknownService`] if it
/// loads a service that is no constant.
fn made_or_loaded(body: &Body, instr: &Instr, f: &mut dyn FnMut(Passed)) {
    match *instr {
        Instr::NewArray(_, class, _) | Instr::MultiNewArray(_, class, _) => {
            class.element().into_iter().for_each(|it| f(Passed::Elements(it)));
        }
        Instr::Call(_, _, method, operands) if method.class() == CLASSES.service_loader => {
            let is_constant = |it: &ExprId| constant(&body.exprs[*it]).is_some();
            let loads = method.get().name.bytes().starts_with(b"load");
            if loads && !body.operands(operands).iter().any(is_constant) {
                f(Passed::UnknownService);
            }
        }
        _ => {}
    }
}

/// Returns the class of a class constant, or the class of the elements if it is an array class.
fn constant(e: &Expr) -> Option<ClassName> {
    match *e {
        Expr::Class(class) => class.element(),
        _ => None,
    }
}

fn is_harmless(method: MethodRef) -> bool {
    let it = method.get();
    let names = HARMLESS.iter().find(|row| row.0 == it.class.bytes()).map_or(&[][..], |row| row.1);
    names.contains(&it.name.bytes())
}
