//! The classes that a body hands to other code as constants. That code may create objects of these classes by
//! reflection, or initialise the classes, although no instruction names them for that purpose.

use bir::body::{Body, Expr, ExprId, Instr};
use classfile::names::{ClassName, MethodRef, is_class_name};

/// A class that a body hands to other code: by a class constant, or by a string that has the form of a class name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Passed {
    /// The class. A class that a string names need not exist.
    pub class: ClassName,
    /// Whether the constant is an argument of `ServiceLoader.load`, which creates objects of the providers of the
    /// service, not of the class itself.
    pub is_service: bool,
}

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

/// Calls `f` with each class that the body hands to other code as a constant. A class may occur several times.
pub fn passed_classes(body: &Body, f: &mut dyn FnMut(Passed)) {
    let is_constant = |it: &Expr| match *it {
        Expr::Class(class) => class.element().is_some(),
        Expr::Str(text) => is_class_name(text.bytes()),
        _ => false,
    };
    // Most bodies have no such constant, so their instructions need no second visit.
    if !body.exprs.values().any(is_constant) {
        return;
    }
    let mut pending: Vec<ExprId> = Vec::new();
    for (_, instr) in body.instrs.iter() {
        let mut is_service = false;
        match *instr {
            Instr::Assert(_) | Instr::If(..) | Instr::MonitorEnter(_) | Instr::MonitorExit(_) => {
                body.instr_exprs(instr, |it| body.exprs[it].operands(|it| pending.push(it)));
            }
            Instr::Call(_, _, method, operands) if is_harmless(method) => {
                let operands = body.operands(operands).iter();
                operands.for_each(|&it| body.exprs[it].operands(|it| pending.push(it)));
            }
            Instr::Call(_, _, method, operands) => {
                is_service = method.class().bytes() == b"java/util/ServiceLoader";
                pending.extend(body.operands(operands));
            }
            _ => body.instr_exprs(instr, |it| pending.push(it)),
        }
        while let Some(at) = pending.pop() {
            match body.exprs[at] {
                // Code may get the class of the elements from the class of the array.
                Expr::Class(class) if class.element().is_some() => {
                    class.element().into_iter().for_each(|class| f(Passed { class, is_service }));
                }
                Expr::Str(text) if is_class_name(text.bytes()) => {
                    let internal: Vec<u8> =
                        text.bytes().iter().map(|&it| if it == b'.' { b'/' } else { it }).collect();
                    f(Passed { class: ClassName::new(&internal), is_service: false });
                }
                ref it => it.operands(|it| pending.push(it)),
            }
        }
    }
}

fn is_harmless(method: MethodRef) -> bool {
    let it = method.get();
    let names = HARMLESS.iter().find(|row| row.0 == it.class.bytes()).map_or(&[][..], |row| row.1);
    names.contains(&it.name.bytes())
}
