//! Bodies and attributes designed to be expensive: each is structurally legal, or nearly, and tries to make a small
//! input cost much memory or many steps.

use test_utils::asm::opcodes as op;
use test_utils::asm::{Attribute, Bootstrap, ClassBuilder, CodeBuilder, Const, Insn, Member, Pos, Row};

/// Returns all of them by name.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("rows over everything", rows_over(true)),
        ("rows over nothing that runs", rows_over(false)),
        ("rows over everything beside subroutines", rows_and_jsr(20)),
        ("rows in the contexts of many calls", rows_and_jsr(10_000)),
        ("subroutines that double", doubling_jsr(16)),
        ("subroutines that call themselves", recursive_jsr()),
        ("each ret to each jsr", rets_times_sites()),
        ("return addresses in all locals", addresses_in_locals()),
        ("a deep stack under many branches", deep_stack_branches()),
        ("a deep stack under branches to one place", deep_stack_one_target()),
        ("a deep stack under a switch", deep_stack_switch()),
        ("a deep stack under stores", deep_stack_stores()),
        ("a deep stack of one local", deep_stack_of_local()),
        ("a deep stack that reads the heap", deep_heap_stack()),
        ("dup and add", dup_doubling(op::ICONST_1, op::DUP, op::IADD)),
        ("dup2 and add", dup_doubling(op::LCONST_1, op::DUP2, op::LADD)),
        ("a long sum", long_sum()),
        ("all locals", all_locals()),
        ("many new objects", many_new()),
        ("new objects under branches", new_under_branches()),
        ("a switch of 16,000 cases", big_switch()),
        ("many small methods", small_methods()),
        ("annotations that nest", nested_annotations()),
        ("annotations of one byte", wide_annotations()),
        ("dynamic constants in a circle", condy(&[vec![0]])),
        ("dynamic constants that double", condy(&doubling_args(60))),
        ("call sites with many arguments", sites_times_args()),
        ("line tables", line_tables()),
    ]
}

/// Those whose methods are refused, because they exceed some limit.
pub(crate) const REFUSED: [&str; 10] = [
    "subroutines that call themselves",
    "each ret to each jsr",
    "return addresses in all locals",
    "a deep stack under many branches",
    "a deep stack under branches to one place",
    "a deep stack under a switch",
    "new objects under branches",
    "dynamic constants in a circle",
    "dynamic constants that double",
    "call sites with many arguments",
];

/// The maximum number of bytes of code of a test.
const LIMIT: usize = 65_000;

fn class(version: u16, code: CodeBuilder) -> Vec<u8> {
    let mut class = ClassBuilder::new("p/Worst");
    class.version = (version, 0);
    class.method(0x9, "m", "(I)V", code);
    class.finish().unwrap_or_else(|it| panic!("{it}"))
}

/// 65,535 rows with a thousand handlers, and thousands of blocks, all of them covered or none.
fn rows_over(everything: bool) -> Vec<u8> {
    let mut code = CodeBuilder::new();
    for _ in 0..12_000 {
        let next = code.label();
        code.op(op::ILOAD_0).jump(op::IFEQ, next).bind(next);
    }
    code.op(op::RETURN);
    let mut handlers = Vec::new();
    for _ in 0..1000 {
        handlers.push(code.here());
        code.op(op::POP).op(op::RETURN);
    }
    // Unreachable code.
    let dead = code.here();
    code.op(op::NOP).op(op::RETURN);
    let end = code.here();
    for i in 0..65_535_usize {
        let start = if everything { Pos::Raw(0) } else { dead.into() };
        code.rows.push(Row { start, end: end.into(), handler: handlers[i % 1000].into(), class: None });
    }
    class(49, code)
}

/// 65,535 rows over a subroutine with this number of calls.
fn rows_and_jsr(calls: usize) -> Vec<u8> {
    let mut code = CodeBuilder::new();
    let (sub, handler) = (code.label(), code.label());
    for _ in 0..calls {
        code.jump(op::JSR, sub);
    }
    code.op(op::RETURN).bind(sub).local(op::ASTORE, 1);
    let start = code.here();
    code.op(op::NOP).local(op::RET, 1);
    let end = code.here();
    code.bind(handler).op(op::POP).op(op::RETURN);
    for _ in 0..65_535 {
        code.catch(start, end, handler, None);
    }
    class(49, code)
}

/// Subroutines that each call the next one twice, so that the last one runs in 2^n contexts.
fn doubling_jsr(n: usize) -> Vec<u8> {
    let mut code = CodeBuilder::new();
    let subs: Vec<_> = (0..n).map(|_| code.label()).collect();
    code.jump(op::JSR, subs[0]).op(op::RETURN);
    for i in 0..n {
        code.bind(subs[i]).local(op::ASTORE, i as u16 + 1);
        if let Some(&next) = subs.get(i + 1) {
            code.jump(op::JSR, next).jump(op::JSR, next);
        }
        code.local(op::RET, i as u16 + 1);
    }
    class(49, code)
}

fn recursive_jsr() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    let sub = code.label();
    code.bind(sub).jump(op::JSR, sub).op(op::RETURN);
    class(49, code)
}

/// Subroutines that cannot be inlined, because the number of calls doubles; every `ret` may return to every `jsr`.
fn rets_times_sites() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    let (sub, end) = (code.label(), code.label());
    for _ in 0..9_000 {
        code.jump(op::JSR, sub);
    }
    code.jump(op::GOTO, end).bind(sub).local(op::ASTORE, 1);
    for _ in 0..5_000 {
        let next = code.label();
        code.op(op::ILOAD_0).jump(op::IFEQ, next).local(op::RET, 1).bind(next);
    }
    code.local(op::RET, 1).bind(end).op(op::RETURN);
    class(49, code)
}

/// Thousands of return addresses are live across branches and handlers.
fn addresses_in_locals() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    let start = code.here();
    for slot in 0..4_500 {
        let next = code.label();
        code.jump(op::JSR, next).bind(next).local(op::ASTORE, slot + 1);
    }
    for _ in 0..8_000 {
        let next = code.label();
        code.op(op::ILOAD_0).jump(op::IFEQ, next).bind(next);
    }
    code.op(op::RETURN);
    let end = code.here();
    code.op(op::POP).op(op::RETURN);
    code.catch(start, end, end, None);
    class(49, code)
}

/// Makes the stack as deep as half of the code can.
fn deep(code: &mut CodeBuilder, opcode: u8) {
    for _ in 0..LIMIT / 2 {
        code.op(opcode);
    }
}

fn deep_stack_branches() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    deep(&mut code, op::ICONST_0);
    for _ in 0..8_000 {
        let next = code.label();
        code.op(op::ILOAD_0).jump(op::IFEQ, next).bind(next);
    }
    code.op(op::RETURN);
    class(49, code)
}

fn deep_stack_one_target() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    deep(&mut code, op::ICONST_0);
    let again = code.here();
    for _ in 0..6_000 {
        code.op(op::SWAP).op(op::ILOAD_0).jump(op::IFEQ, again);
    }
    code.op(op::RETURN);
    class(49, code)
}

fn deep_stack_switch() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    deep(&mut code, op::ICONST_0);
    let targets: Vec<_> = (0..6_000).map(|_| code.label()).collect();
    code.op(op::ILOAD_0).push(Insn::Table(0, targets.clone(), targets[0]));
    for it in targets {
        code.bind(it).op(op::NOP);
    }
    code.op(op::RETURN);
    class(49, code)
}

/// Every store searches the stack for its local.
fn deep_stack_stores() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    deep(&mut code, op::ICONST_0);
    for _ in 0..10_000 {
        code.push(Insn::Iinc(0, 1, false));
    }
    code.op(op::RETURN);
    class(49, code)
}

/// Every store changes a value on the stack.
fn deep_stack_of_local() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    for _ in 0..12_000 {
        code.op(op::ILOAD_0).op(op::ILOAD_0).push(Insn::Iinc(0, 1, false));
    }
    code.op(op::RETURN);
    class(49, code)
}

/// Every effect searches the stack for heap reads.
fn deep_heap_stack() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    for _ in 0..9_000 {
        code.field(op::GETSTATIC, "p/Worst", "f", "I").op(op::DUP).field(op::PUTSTATIC, "p/Worst", "f", "I");
    }
    code.op(op::RETURN);
    class(49, code)
}

fn dup_doubling(start: u8, dup: u8, add: u8) -> Vec<u8> {
    let mut code = CodeBuilder::new();
    code.op(start);
    for _ in 0..LIMIT / 2 {
        code.op(dup).op(add);
    }
    code.op(op::RETURN);
    class(49, code)
}

fn long_sum() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    code.op(op::ILOAD_0);
    for _ in 0..LIMIT / 2 {
        code.op(op::ILOAD_0).op(op::IADD);
    }
    code.op(op::RETURN);
    class(49, code)
}

fn all_locals() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    for slot in (0..65_535).step_by(8) {
        code.op(op::ICONST_0).local(op::ISTORE, slot);
    }
    code.op(op::RETURN);
    code.max_locals = Some(65_535);
    class(49, code)
}

/// All objects stay on the stack, uninitialised.
fn many_new() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    for _ in 0..16_000 {
        code.ty(op::NEW, "p/C");
    }
    code.op(op::RETURN);
    class(49, code)
}

/// Each iteration of the loop leaves one object, created at one of many places.
fn new_under_branches() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    for _ in 0..5_000 {
        let (other, join) = (code.label(), code.label());
        code.op(op::ILOAD_0).jump(op::IFEQ, other).ty(op::NEW, "p/C").jump(op::GOTO, join).bind(other);
        code.op(op::ACONST_NULL).bind(join);
    }
    code.op(op::RETURN);
    class(49, code)
}

fn big_switch() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    let targets: Vec<_> = (0..12_000).map(|_| code.label()).collect();
    code.op(op::ILOAD_0).push(Insn::Table(-5, targets.clone(), targets[0]));
    for it in targets {
        code.bind(it).op(op::NOP);
    }
    code.op(op::RETURN);
    class(49, code)
}

fn small_methods() -> Vec<u8> {
    let mut class = ClassBuilder::new("p/Worst");
    for _ in 0..65_535 {
        let mut code = CodeBuilder::new();
        code.op(op::RETURN);
        class.method(0x9, "m", "()V", code);
    }
    class.finish().unwrap_or_else(|it| panic!("{it}"))
}

/// Returns a class with one attribute `RuntimeVisibleAnnotations`: an annotation whose only element is `value`. All
/// names in it are constant 1, whatever that is.
fn annotated(count: u16, value: &[u8]) -> Vec<u8> {
    let mut class = ClassBuilder::new("p/Worst");
    let mut content = count.to_be_bytes().to_vec();
    content.extend([0, 1, 0, 1, 0, 1]);
    content.extend(value);
    class.attributes.push(Attribute::Raw("RuntimeVisibleAnnotations".into(), content));
    class.finish().unwrap_or_else(|it| panic!("{it}"))
}

fn nested_annotations() -> Vec<u8> {
    let mut value = [b'@', 0, 1, 0, 1, 0, 1].repeat(20_000);
    value.extend([b'[', 0, 1].repeat(20_000));
    annotated(1, &value)
}

/// The value with the most elements for its size: an array of empty arrays.
fn wide_annotations() -> Vec<u8> {
    let mut value = vec![b'[', 0xff, 0xff];
    value.extend([b'[', 0, 0].repeat(65_535));
    annotated(1, &value)
}

/// A method that loads the first of several dynamic constants. `args` lists the arguments of each, as indices of
/// dynamic constants.
fn condy(args: &[Vec<usize>]) -> Vec<u8> {
    let mut class = ClassBuilder::new("p/Worst");
    class.version = (61, 0);
    let constant = |it: usize| Const::Dynamic(it as u16, format!("c{it}").into(), "I".into());
    for list in args {
        class.bootstraps.push(Bootstrap {
            kind: 6,
            member: member("b"),
            args: list.iter().map(|&it| constant(it)).collect(),
        });
    }
    let mut code = CodeBuilder::new();
    code.ldc(constant(0)).op(op::POP).op(op::RETURN);
    class.method(0x9, "m", "()V", code);
    class.finish().unwrap_or_else(|it| panic!("{it}"))
}

fn doubling_args(n: usize) -> Vec<Vec<usize>> {
    (0..n).map(|it| if it + 1 < n { vec![it + 1; 2] } else { Vec::new() }).collect()
}

fn member(name: &str) -> Member {
    let descriptor = "([Ljava/lang/Object;)Ljava/lang/Object;";
    Member { owner: "p/Worst".into(), name: name.into(), descriptor: descriptor.into(), interface: false }
}

/// 10,000 call sites of one bootstrap method that has 60,000 arguments.
fn sites_times_args() -> Vec<u8> {
    let mut class = ClassBuilder::new("p/Worst");
    class.version = (61, 0);
    class.bootstraps.push(Bootstrap { kind: 6, member: member("b"), args: vec![Const::Int(1); 60_000] });
    let mut code = CodeBuilder::new();
    for i in 0..10_000 {
        code.push(Insn::Dynamic(0, format!("s{i}").into(), "()V".into()));
    }
    code.op(op::RETURN);
    class.method(0x9, "m", "()V", code);
    class.finish().unwrap_or_else(|it| panic!("{it}"))
}

/// Many line tables, out of order.
fn line_tables() -> Vec<u8> {
    let mut code = CodeBuilder::new();
    code.op(op::NOP).op(op::RETURN);
    for table in 0..20_u16 {
        let mut content = 5000_u16.to_be_bytes().to_vec();
        for row in 0..5000_u16 {
            content.extend((row % 2).to_be_bytes());
            content.extend((row ^ table).to_be_bytes());
        }
        code.attributes.push(Attribute::Raw("LineNumberTable".into(), content));
    }
    class(49, code)
}
