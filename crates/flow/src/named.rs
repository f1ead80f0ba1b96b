//! The classes that instructions name in other ways than by a call, a field access or the creation of an object.
//! Resolving these classes may run code, too (JVMS §5.4.3).

use bir::body::{Body, Check, Expr, Instr, Row};
use classfile::bootstrap::MethodHandle;
use classfile::descriptor::FieldType;
use classfile::names::{ClassName, Descriptor};

use crate::throwables::well_known;

/// Calls `f` with the class that an instruction itself names: the target type of a cast, or the type of an array that
/// is created. The operands of the instruction are not examined.
pub fn named_by_instr(instr: &Instr, f: &mut dyn FnMut(ClassName)) {
    match *instr {
        Instr::Assert(Check::Cast(class, _))
        | Instr::NewArray(_, class, _)
        | Instr::MultiNewArray(_, class, _) => f(class),
        _ => {}
    }
}

/// Calls `f` with the classes that an expression itself names, in `instanceof` and in constants. The operands of the
/// expression are not examined. The class of a cast expression is left out, because the assertion before the cast
/// names the same class.
pub fn named_by_expr(body: &Body, expr: &Expr, f: &mut dyn FnMut(ClassName)) {
    match *expr {
        Expr::InstanceOf(class, _) | Expr::Class(class) => f(class),
        Expr::MethodType(descriptor) => named_classes(descriptor).for_each(f),
        Expr::MethodHandle(handle) => {
            body.handles.get(handle as usize).into_iter().for_each(|&it| named_by_handle(it, f));
        }
        _ => {}
    }
}

/// Calls `f` with the classes and array types that are resolved with a method handle: the class of the member and those
/// of its descriptor (JVMS §5.4.3.5).
pub fn named_by_handle(handle: MethodHandle, f: &mut dyn FnMut(ClassName)) {
    f(handle.member.class());
    named_classes(handle.member.descriptor()).for_each(f);
}

/// Returns the classes and array types that a method or field descriptor names.
pub fn named_classes(descriptor: Descriptor) -> impl Iterator<Item = ClassName> {
    let method = descriptor.method_type().into_iter().flat_map(|it| it.params().chain(it.ret()));
    method.chain(descriptor.field_type()).filter_map(FieldType::class)
}

/// Returns whether a row of the exception table names Throwable. The JVM resolves the class that a row names when an
/// exception is thrown under the row. When a class is linked, the verifier loads the classes that its rows name, but
/// before release 17 not Throwable.
pub fn names_throwable(row: &Row) -> bool {
    row.catch_type == Some(well_known().throwable)
}
