//! Tests of the sources of exceptions that are found for each instruction of small bodies.

use bir::parse::parse_body;
use classfile::names::ClassName;
use flow::facts::MethodFacts;
use flow::operands::Operand;
use flow::summary::{Initialized, Scratch, Source, Sources, summary};

/// Returns the class initialisations of a body, each with the number of its instruction.
fn initialized(code: &str) -> Vec<(usize, String)> {
    let body = parse_body(code).unwrap_or_else(|it| panic!("{it:?}"));
    let facts = MethodFacts::default();
    let mut walk = Sources::new(&body, &facts);
    let mut acc = Vec::new();
    for (number, (id, _)) in body.instrs.iter().enumerate() {
        walk.at(id, |it| {
            let Source::Initialize(it) = it else { return };
            acc.push(match it {
                Initialized::Class(it) => (number, format!("class {it}")),
                Initialized::OwnerOfField(it) => (number, format!("owner of {it}")),
                Initialized::OwnerOfMethod(it, _) => (number, format!("owner of {it}")),
                Initialized::ClassOrAbove(it) => (number, format!("{it} or above")),
                Initialized::Implemented(it) => (number, format!("interfaces of {it}")),
            });
        });
    }
    acc
}

fn list(text: &[(usize, &str)]) -> Vec<(usize, String)> {
    text.iter().map(|it| (it.0, it.1.to_owned())).collect()
}

#[test]
fn nested_accesses_of_one_class_keep_their_places() {
    // return new A(new A(A.f)): A.f may be declared above A, and then initialises another class.
    let code = "method static p/B.m()Ljava/lang/Object; locals 0 {
       0: mayinit p/A
       1: mayinit p/A
       2: mayinit p/A
       3: $a0 := new p/A.<init>(I)V (::p/A.f:I)
       4: $a1 := new p/A.<init>(Lp/A;)V ($a0)
       5: return $a1
     }";
    assert_eq!(initialized(code), list(&[(0, "class p/A"), (1, "class p/A"), (2, "owner of p/A.f:I")]));
}

#[test]
fn an_access_that_is_not_found_could_be_any() {
    let code = "method static p/B.m()V locals 0 {
       0: mayinit p/A
       1: mayinit p/A
       2: invokestatic p/A.n()V ()
       3: return
     }";
    assert_eq!(initialized(code), list(&[(0, "p/A or above"), (1, "owner of p/A.n()V")]));
}

/// Returns what is known of the operands of the instructions of a body, each with the number of its instruction.
fn operands(code: &str) -> Vec<(usize, String)> {
    let body = parse_body(code).unwrap_or_else(|it| panic!("{it:?}"));
    let facts = MethodFacts::default();
    let mut walk = Sources::new(&body, &facts);
    let mut acc = Vec::new();
    for (number, (id, _)) in body.instrs.iter().enumerate() {
        let text = |it: &(u8, Operand)| match it.1 {
            Operand::Made(class) => format!("{}: made {class}", it.0),
            Operand::Final(class) => format!("{}: final {class}", it.0),
            Operand::Function(site) => format!("{}: function {site}", it.0),
            Operand::Parameter(parameter) => format!("{}: parameter {parameter}", it.0),
        };
        acc.extend(walk.operands(id).iter().map(|it| (number, text(it))));
    }
    acc
}

#[test]
fn operands_are_known_by_their_only_definition() {
    // The long takes two slots, so the second parameter is in slot 2.
    let code = "method static p/B.m(JLp/I;)V locals 5 {
       0: mayinit p/A
       1: $a0 := new p/A.<init>()V ()
       2: a3 := $a0
       3: invokestatic p/B.n(Lp/I;Lp/I;)V (a3, a2)
       4: return
     }";
    assert_eq!(operands(code), list(&[(3, "0: made p/A"), (3, "1: parameter 1")]));
}

#[test]
fn operands_with_several_definitions_are_unknown() {
    let code = "method static p/B.m(Lp/I;Lp/I;J)V locals 6 {
       0: mayinit p/A
       1: $a0 := new p/A.<init>()V ()
       2: a1 := $a0
       3: a4 := $a0
       4: a4 := a0
       5: a5 := $a0
       6: l4 := l2
       7: invokestatic p/B.n(Lp/I;Lp/I;Lp/I;Lp/I;)V (a0, a1, a4, a5)
       8: return
     }";
    // The store of a long into slot 4 also changes slot 5.
    assert_eq!(operands(code), list(&[(7, "0: parameter 0")]));
}

/// Graphs read the operands of each instruction from the body, and the rest of the program reads them from the summary. So
/// a summary keeps them all.
#[test]
fn a_summary_keeps_the_operands_of_every_call() {
    let mut code = "method static p/B.m()V locals 0 {\n".to_owned();
    for i in 0..1000 {
        let at = 3 * i;
        code += &format!(
            "{at}: mayinit p/A{i}\n{}: $a{i} := new p/A{i}.<init>()V ()\n{}: invokestatic p/B.n(Lp/I;)V ($a{i})\n",
            at + 1,
            at + 2
        );
    }
    code += "3000: return\n}";
    let body = parse_body(&code).unwrap_or_else(|it| panic!("{it:?}"));
    let summary = summary(&body, &MethodFacts::default(), &mut Scratch::default());
    let calls: Vec<_> = summary.items.iter().filter(|it| matches!(it.source, Source::Call(..))).collect();
    assert_eq!(calls.len(), 1000);
    for (i, it) in calls.into_iter().enumerate() {
        let made = ClassName::new(format!("p/A{i}").as_bytes());
        assert_eq!(summary.operands_of(it), [(0, Operand::Made(made))]);
    }
}
