//! Differences of answers: applied to the old facts, they give the new facts, and code that only moves gives none.

use std::sync::Arc;

use ide::answer::{ClassAnswer, Question, class_answer};
use ide::difference::{Changed, Fact, MethodAnswer, MethodState, Reaches, difference};
use ide::whole::{Whole, read_class};
use ide::{Human, Role, Scratch, WholeOptions, WorldKind};
use test_utils::asm::assemble;

const BEFORE: &str = r"
.class public final p/C
.super java/lang/Object
.method public static m(I)I
  iload_0
  ifeq L
  iconst_1
  invokestatic q/D.a(I)V
L: iconst_1
  iload_0
  idiv
  ireturn
.end
.method public static gone()V
  return
.end
";
/// There is more code before the call, another call after it, and the division cannot fail.
const AFTER: &str = r"
.class public final p/C
.super java/lang/Object
.method public static m(I)I
  aconst_null
  astore_1
  iload_0
  ifeq L
  iconst_1
  invokestatic q/D.a(I)V
  iconst_2
  invokestatic q/D.b(I)V
L: iconst_1
  iconst_2
  idiv
  ireturn
.end
.method public static come()V
  return
.end
";

fn class(source: &str) -> Vec<u8> {
    assemble(source).unwrap().remove(0).bytes
}

fn states(bytes: &[u8], ask: fn(&Whole, &ClassAnswer) -> Vec<MethodAnswer>) -> Vec<MethodState> {
    let record = read_class(bytes, &mut Scratch::default()).unwrap();
    let options = WholeOptions {
        world: WorldKind::Open,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let whole = Whole::new(vec![(record, Role::App)], options);
    let question = Question { select: &|_| true, graphs: false, clock: None };
    let class = class_answer(bytes, &question, &mut Scratch::default()).unwrap();
    let answers = ask(&whole, &class);
    let methods = class.methods.iter().zip(answers);
    methods
        .map(|(it, answer)| MethodState {
            method: it.method,
            code: Some((Arc::clone(&it.code), Arc::clone(&it.positions))),
            answer,
        })
        .collect()
}

fn calls(whole: &Whole, class: &ClassAnswer) -> Vec<MethodAnswer> {
    class.methods.iter().map(|it| MethodAnswer::Calls(whole.calls(it.method, &it.code))).collect()
}

fn throws(whole: &Whole, class: &ClassAnswer) -> Vec<MethodAnswer> {
    let mut work = whole.work();
    let methods = class.methods.iter();
    methods.filter_map(|it| Some(MethodAnswer::Throws(whole.throws(&mut work, it.method)?))).collect()
}

fn graphs(whole: &Whole, class: &ClassAnswer) -> Vec<MethodAnswer> {
    let mut work = whole.work();
    let graph = |it: &ide::answer::MethodAnswer| whole.graph(&mut work, it.method, &it.code, true);
    class.methods.iter().map(graph).map(|it| MethodAnswer::Graph(std::sync::Arc::new(it))).collect()
}

fn lines(changes: &[Changed]) -> Vec<String> {
    let line = |it: &Changed| {
        let sign = if it.added { '+' } else { '-' };
        let method = it.method.map(|it| Human(it).to_string()).unwrap_or_default();
        let fact = match &it.fact {
            Fact::Method => "method".to_owned(),
            Fact::Call { to: Reaches::Target(to), .. } => format!("to {}", Human(*to)),
            Fact::Call { declared, to, .. } => {
                format!("{} {to:?}", declared.map(|it| Human(it).to_string()).unwrap_or_default())
            }
            Fact::LetsOut(part) => String::from_utf8_lossy(part.class.bytes()).into_owned(),
            Fact::Edge { from, to, kind, .. } => format!("{} => {} {kind:?}", from.instr, to.instr),
            other => format!("{other:?}"),
        };
        format!("{sign} {method} {:?} {fact}", it.pc)
    };
    changes.iter().map(line).collect()
}

#[test]
fn added_and_removed_calls() {
    let (old, new) = (states(&class(BEFORE), calls), states(&class(AFTER), calls));
    assert_eq!(difference(&old, &old), []);
    assert_eq!(
        lines(&difference(&old, &new)),
        [
            "+ p.C.m(int) Some(7)  Open(Initializer(q/D))",
            "+ p.C.m(int) Some(11) q.D.b(int) Open(Outside(q/D))",
            "+ p.C.come() None method",
            "- p.C.gone() None method",
        ]
    );
}

#[test]
fn added_and_removed_exceptions() {
    let (old, new) = (states(&class(BEFORE), throws), states(&class(AFTER), throws));
    let changes = difference(&old, &new);
    let first = &lines(&changes)[0];
    assert_eq!(first, "- p.C.m(int) None java/lang/ArithmeticException");
    assert_eq!(changes.iter().filter(|it| it.fact != Fact::Method).count(), 1, "{changes:?}");
}

#[test]
fn instructions_are_aligned_before_graphs_are_compared() {
    let (old, new) = (states(&class(BEFORE), graphs), states(&class(AFTER), graphs));
    let lines: Vec<String> =
        lines(&difference(&old, &new)).into_iter().filter(|it| it.contains("p.C.m(")).collect();
    assert_eq!(
        lines,
        [
            "- p.C.m(int) Some(1) if (i0 == 0) goto 3 => assert notzero i0 BranchTrue",
            "- p.C.m(int) Some(5) invokestatic q/D.a(I)V (1) => assert notzero i0 Normal",
            "- p.C.m(int) Some(10) assert notzero i0 => return 1 / i0 Normal",
            "- p.C.m(int) Some(10) assert notzero i0 => assert notzero i0 Exception",
            "- p.C.m(int) Some(11) return 1 / i0 => return 1 / i0 Return",
            "+ p.C.m(int) Some(1) a1 := null => if (i0 == 0) goto 6 Normal",
            "+ p.C.m(int) Some(3) if (i0 == 0) goto 6 => assert notzero 2 BranchTrue",
            "+ p.C.m(int) Some(7) invokestatic q/D.a(I)V (1) => mayinit q/D Normal",
            "+ p.C.m(int) Some(11) mayinit q/D => invokestatic q/D.b(I)V (2) Normal",
            "+ p.C.m(int) Some(11) mayinit q/D => mayinit q/D Exception",
            "+ p.C.m(int) Some(11) invokestatic q/D.b(I)V (2) => assert notzero 2 Normal",
            "+ p.C.m(int) Some(11) invokestatic q/D.b(I)V (2) => invokestatic q/D.b(I)V (2) Exception",
            "+ p.C.m(int) Some(16) assert notzero 2 => return 1 / 2 Normal",
            "+ p.C.m(int) Some(17) return 1 / 2 => return 1 / 2 Return",
        ]
    );
}
