//! Compares the assembler with the JVM and with bytes written by hand.

use test_utils::asm::{self, ClassBuilder, CodeBuilder, Const, opcodes as op};
use test_utils::jvm::{self, Arg, Case, Outcome};
use test_utils::{fixture, jdk};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

#[test]
fn a_small_class_byte_for_byte() {
    let classes = asm::assemble(".class public A\n.method static m()V\n return\n.end\n").expect("assembles");
    // Written by hand from JVMS §4.1. The constant pool: 1 "A", 2 Class, 3 "java/lang/Object", 4 Class, 5 "m", 6
    // "()V", 7 "Code".
    let expected = [
        "cafebabe00000031",
        "0008",
        "01000141",
        "070001",
        "0100106a6176612f6c616e672f4f626a656374",
        "070003",
        "0100016d",
        "010003282956",
        "010004436f6465",
        "00010002000400000000",
        "0001",
        "0008000500060001",
        "00070000000d00010000",
        "00000001b1",
        "00000000",
        "0000",
    ];
    assert_eq!(hex(&classes[0].bytes), expected.concat());
}

#[test]
fn errors_name_the_line() {
    for (text, line, message) in [
        (".method m()V", 1, "the line is before the first .class, so it belongs to no class"),
        (".class A\n.method static m()V\n frob\n.end", 3, "unknown instruction: frob"),
        (".class A\n.method static m()V\n ldc \"a\n.end", 3, "a quoted text has no closing quote"),
        (".class A\n.method static m()V\n iload\n.end", 3, "a word is missing at the end of the line"),
        (".class A\n.method static m()V\n return x\n.end", 3, "unexpected word: x"),
        (
            ".class A\n.method static m()V\n goto L\n.end",
            0,
            "class A: a label is used, but is bound nowhere in the method",
        ),
        (
            ".class A\n.method static m()V\nL: L: return\n.end",
            0,
            "class A: a label is bound twice in the method",
        ),
    ] {
        let err = asm::assemble(text).expect_err(message);
        assert_eq!((err.line, err.message.as_str()), (line, message));
    }
}

#[test]
fn far_branches_are_errors() {
    let mut code = CodeBuilder::new();
    let end = code.label();
    code.jump(op::GOTO, end);
    for _ in 0..40_000 {
        code.op(op::NOP);
    }
    code.bind(end).op(op::RETURN);
    let mut class = ClassBuilder::new("A");
    class.method(0x9, "m", "()V", code.clone());
    assert!(class.finish().is_err());
    code.insns[0] = asm::Insn::Jump(op::GOTO_W, end);
    let mut class = ClassBuilder::new("A");
    class.method(0x9, "m", "()V", code);
    assert!(class.finish().is_ok());
}

const CORNERS: &str = r#"
//- /p/C.jasm
.class public super p/C
.version 52.0
.bootstrap cat invokestatic java/lang/invoke/StringConcatFactory.makeConcatWithConstants(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;Ljava/lang/String;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite; "i=\u0001 s=\u0001"
.method public static concat(I)Ljava/lang/String;
  iload_0
  ldc "\ud800x\u0000"
  invokedynamic cat makeConcatWithConstants(ILjava/lang/String;)Ljava/lang/String;
  areturn
.end
.method public static handle()Ljava/lang/Object;
  ldc handle invokestatic p/C.concat(I)Ljava/lang/String;
  iconst_2
  invokevirtual java/lang/invoke/MethodHandle.invokeExact(I)Ljava/lang/String;
  areturn
.end
.method public static type()Ljava/lang/Object;
  ldc methodtype (IJ)V
  invokevirtual java/lang/invoke/MethodType.toString()Ljava/lang/String;
  areturn
.end
//- /p/D.jasm
.class public super p/D
.version 55.0
.bootstrap b invokestatic p/D.bsm(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;J)J long 40
.method static bsm(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;J)J
  lload_3
  ldc2_w long 2
  ladd
  lreturn
.end
.method public static m()J
  ldc2_w dynamic b x J
  lreturn
.end
//- /p/E.jasm
.class public super p/E
.field public static f F float 0x7f800001
.method public static wide(I)I
  wide iload 0
  istore 300
  iinc 300 1000
  wide iinc 300 -1
  iload 300
  ireturn
.end
.method public static sw(I)I
  iload_0
  tableswitch -1 A B default C
A: bipush 10
  ireturn
B: iload_0
  lookupswitch -5:A 0:D 7:A default C
C: iconst_m1
  ireturn
D: goto_w F
F: sipush 999
  ireturn
.end
.method public static sub(I)I
  jsr S
  jsr_w S
  iload_0
  ireturn
S: astore 9
  iinc 0 5
  wide ret 9
.end
.method public static catching(I)I
  .catch java/lang/NullPointerException from A to B using H
  .catch any from A to @12 using H
A: bipush 12
  iload_0
  idiv
  ireturn
B: nop
  iconst_0
  ireturn
H: pop
  bipush 77
  ireturn
.end
.method public static array()Ljava/lang/Object;
  iconst_2
  iconst_1
  multianewarray [[J 2
  dup
  iconst_0
  aaload
  iconst_0
  ldc2_w long 0x8000000000000000
  lastore
  areturn
.end
.method public static "odd \"name\n\u20ac"()Ljava/lang/Object;
  ldc class [Lp/E;
  areturn
.end
"#;

#[test]
fn the_jvm_runs_assembled_classes() {
    let classes = fixture::classes(CORNERS).expect("assembles");
    let Some(jdk) = jdk::at_least(11) else { return };
    let case = |class: &str, method: &str, descriptor: &str, args: &[i32]| Case {
        class: class.to_owned(),
        method: method.to_owned(),
        descriptor: descriptor.to_owned(),
        args: args.iter().map(|&it| Arg::Int(it)).collect(),
    };
    let rows = [
        (case("p/C", "concat", "(I)Ljava/lang/String;", &[3]), r#""i=3 s=\ud800x\u0000""#),
        (case("p/C", "handle", "()Ljava/lang/Object;", &[]), r#""i=2 s=\ud800x\u0000""#),
        (case("p/C", "type", "()Ljava/lang/Object;", &[]), r#""(int,long)void""#),
        (case("p/D", "m", "()J", &[]), "J 42"),
        (case("p/E", "wide", "(I)I", &[1]), "I 1000"),
        (case("p/E", "sw", "(I)I", &[-1]), "I 10"),
        (case("p/E", "sw", "(I)I", &[0]), "I 999"),
        (case("p/E", "sw", "(I)I", &[1]), "I -1"),
        (case("p/E", "sub", "(I)I", &[1]), "I 11"),
        (case("p/E", "catching", "(I)I", &[0]), "I 77"),
        (case("p/E", "catching", "(I)I", &[4]), "I 3"),
        (case("p/E", "array", "()Ljava/lang/Object;", &[]), "[[J{[J{-9223372036854775808}, [J{0}}"),
    ];
    let cases: Vec<Case> = rows.iter().map(|it| it.0.clone()).collect();
    let answers = jvm::run(&jdk, &classes, &cases).expect("harness runs");
    for ((case, expected), answer) in rows.iter().zip(&answers) {
        assert_eq!(answer.outcome, Outcome::Result((*expected).to_owned()), "{}", case.method);
    }
}

#[test]
fn a_full_pool_is_an_error() {
    let mut code = CodeBuilder::new();
    for it in 0..70_000 {
        code.ldc(Const::Int(it + 100_000)).op(op::POP);
    }
    let mut class = ClassBuilder::new("A");
    class.method(0x9, "m", "()V", code);
    assert_eq!(class.finish().expect_err("too many").message, "the constant pool is full");
}
