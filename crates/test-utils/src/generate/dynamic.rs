//! A helper class whose methods use `invokedynamic` and dynamic constants.
//!
//! Classes that use `invokedynamic` need version 51 (55 for dynamic constants), and from version 51 on, methods with
//! branches need a `StackMapTable`. The methods of the helper class therefore have no branches; the programs call
//! them like any others.

use crate::asm::{Bootstrap, ClassBuilder, CodeBuilder, Const, Insn, Member, MethodDef, opcodes as op};
use crate::rng::Rng;

use super::body::TRACE;
use super::types::{Decl, Ref, Ty};
use super::world::{Kind, Method};

const LOOKUP: &str = "Ljava/lang/invoke/MethodHandles$Lookup;";
const TYPE: &str = "Ljava/lang/invoke/MethodType;";
const SITE: &str = "Ljava/lang/invoke/CallSite;";
const STRING: Decl = Decl::Val(Ty::Ref(Ref::Str));
const INT: Decl = Decl::Val(Ty::Int);

/// The methods of the helper class, the class of a program that uses `invokedynamic` and dynamic constants. `owner`
/// is the index of the helper class in the program.
pub(super) fn methods(owner: usize) -> Vec<Method> {
    let method = |name: &str, params: &[Decl], ret: Decl| Method {
        owner,
        name: name.to_owned(),
        params: params.to_vec(),
        ret: Some(ret),
        kind: Kind::Static,
        cost: Some(8),
    };
    vec![
        method("join", &[INT, STRING, Decl::Val(Ty::Long)], INT),
        method("apply", &[INT, Decl::Val(Ty::Long)], Decl::Val(Ty::Long)),
        method("bound", &[STRING, INT], INT),
        method("constant", &[INT], INT),
    ]
}

/// Writes the helper class, which uses `invokedynamic` and dynamic constants, and returns the interface that its
/// lambdas implement.
pub(super) fn write(class: &mut ClassBuilder, name: &str, rng: &mut Rng) -> ClassBuilder {
    class.version = (55, 0);
    bootstraps(class, name);
    join(class);
    apply(class, name);
    bound(class, name);
    constant(class, name, rng);
    interface(name)
}

/// The interface that the lambdas of the helper class implement: one method, `long op(int, long)`.
fn interface(name: &str) -> ClassBuilder {
    let mut out = ClassBuilder::new(format!("{name}$Op"));
    out.access = 0x601;
    out.bodiless(0x401, "op", "(IJ)J");
    out
}

fn handle(owner: &str, name: &str, descriptor: &str) -> Member {
    Member { owner: owner.into(), name: name.into(), descriptor: descriptor.into(), interface: false }
}

fn bootstraps(class: &mut ClassBuilder, name: &str) {
    let concat = format!("({LOOKUP}Ljava/lang/String;{TYPE}Ljava/lang/String;[Ljava/lang/Object;){SITE}");
    let concat = handle("java/lang/invoke/StringConcatFactory", "makeConcatWithConstants", &concat);
    let recipe = "<\u{1}|\u{2}|\u{1}>\u{1}";
    let args = vec![Const::Str(recipe.into()), Const::Str("mid".into())];
    class.bootstraps.push(Bootstrap { kind: 6, member: concat, args });
    let meta = format!("({LOOKUP}Ljava/lang/String;{TYPE}{TYPE}Ljava/lang/invoke/MethodHandle;{TYPE}){SITE}");
    let meta = handle("java/lang/invoke/LambdaMetafactory", "metafactory", &meta);
    for (body, ty) in [("body", "(IJ)J"), ("body", "(Ljava/lang/String;IJ)J")] {
        let args = vec![
            Const::MethodType("(IJ)J".into()),
            Const::Handle(6, handle(name, body, ty)),
            Const::MethodType("(IJ)J".into()),
        ];
        class.bootstraps.push(Bootstrap { kind: 6, member: meta.clone(), args });
    }
    let own = format!("({LOOKUP}Ljava/lang/String;Ljava/lang/Class;I)I");
    let args = vec![Const::Int(17)];
    class.bootstraps.push(Bootstrap { kind: 6, member: handle(name, "bootstrap", &own), args });
}

fn add(class: &mut ClassBuilder, name: &str, descriptor: &str, code: CodeBuilder) {
    let (name, descriptor) = (name.into(), descriptor.into());
    class.methods.push(MethodDef { access: 0x9, name, descriptor, code: Some(code), attributes: Vec::new() });
}

/// Writes a method that concatenates strings. Its trace shows the order in which the parts are evaluated.
fn join(class: &mut ClassBuilder) {
    let mut code = CodeBuilder::new();
    code.op(op::ILOAD_0).call(op::INVOKESTATIC, TRACE, "t", "(I)I").op(op::ALOAD_1).op(op::LLOAD_2);
    let ty = "(ILjava/lang/String;J)Ljava/lang/String;";
    code.push(Insn::Dynamic(0, "makeConcatWithConstants".into(), ty.into()));
    code.op(op::DUP).call(op::INVOKESTATIC, TRACE, "say", "(Ljava/lang/String;)V");
    code.call(op::INVOKEVIRTUAL, "java/lang/String", "length", "()I").op(op::IRETURN);
    add(class, "join", "(ILjava/lang/String;J)I", code);
}

/// Writes a method that creates a lambda without captured values and calls it immediately.
fn apply(class: &mut ClassBuilder, name: &str) {
    let interface = format!("{name}$Op");
    let mut code = CodeBuilder::new();
    code.push(Insn::Dynamic(1, "op".into(), format!("()L{interface};").into()));
    code.op(op::ILOAD_0).op(op::LLOAD_1).call(op::INVOKEINTERFACE, &interface, "op", "(IJ)J");
    code.op(op::LRETURN);
    add(class, "apply", "(IJ)J", code);
    let mut code = CodeBuilder::new();
    // Divide by the int, so that an exception can pass through the lambda.
    code.op(op::LLOAD_1).call(op::INVOKESTATIC, TRACE, "t", "(J)J").op(op::ILOAD_0).op(op::I2L);
    code.op(op::LDIV).op(op::LRETURN);
    add(class, "body", "(IJ)J", code);
}

/// Writes a method that creates a lambda with a captured string and calls it.
fn bound(class: &mut ClassBuilder, name: &str) {
    let interface = format!("{name}$Op");
    let mut code = CodeBuilder::new();
    code.op(op::ALOAD_0);
    code.push(Insn::Dynamic(2, "op".into(), format!("(Ljava/lang/String;)L{interface};").into()));
    code.op(op::ILOAD_1).op(op::LCONST_1).call(op::INVOKEINTERFACE, &interface, "op", "(IJ)J");
    code.op(op::L2I).op(op::IRETURN);
    add(class, "bound", "(Ljava/lang/String;I)I", code);
    let mut code = CodeBuilder::new();
    code.op(op::ALOAD_0).call(op::INVOKESTATIC, TRACE, "say", "(Ljava/lang/String;)V");
    code.op(op::ALOAD_0).call(op::INVOKEVIRTUAL, "java/lang/String", "length", "()I").op(op::I2L);
    code.op(op::LLOAD_2).op(op::LADD).op(op::ILOAD_1).op(op::LSHL).op(op::LRETURN);
    add(class, "body", "(Ljava/lang/String;IJ)J", code);
}

/// Writes a method that loads a dynamic constant. The trace shows that the bootstrap method of the constant runs only
/// once.
fn constant(class: &mut ClassBuilder, name: &str, rng: &mut Rng) {
    let mut code = CodeBuilder::new();
    let own = format!("({LOOKUP}Ljava/lang/String;Ljava/lang/Class;I)I");
    code.op(op::ALOAD_1).call(op::INVOKESTATIC, TRACE, "say", "(Ljava/lang/String;)V");
    code.op(op::ILOAD_3).field(op::PUTSTATIC, name, "seen", "I");
    code.op(op::ILOAD_3).int(rng.range(-9, 9)).op(op::IMUL).op(op::IRETURN);
    add(class, "bootstrap", &own, code);
    let mut code = CodeBuilder::new();
    // Read a static field before the constant: the constant's bootstrap method writes the field.
    code.field(op::GETSTATIC, name, "seen", "I").op(op::ILOAD_0).op(op::IADD);
    code.ldc(Const::Dynamic(3, "lucky".into(), "I".into())).op(op::DUP);
    code.field(op::PUTSTATIC, name, "seen", "I").op(op::IADD).op(op::IRETURN);
    add(class, "constant", "(I)I", code);
    class.field(0x9, "seen", "I");
}
