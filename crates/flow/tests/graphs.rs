//! Tests of control-flow graphs and facts of small bodies, compared as text.

use std::fmt::Write as _;
use std::sync::LazyLock;

use bir::body::{Body, InstrId, ordinal};
use bir::parse::parse_body;
use classfile::names::{ClassName, Descriptor, Name};
use flow::cfg::{Cfg, CfgOptions, EdgeKind, NodeId, NodeKind, cfg};
use flow::constants::ClassCode;
use flow::discharge::Proof;
use flow::facts::{MethodFacts, Scratch, Wanted, method_facts};
use flow::initializers::OwnClass;
use flow::throwables::BuiltIn;

/// The code of a class about which nothing is known.
fn no_code() -> &'static ClassCode {
    static NONE: LazyLock<ClassCode> = LazyLock::new(ClassCode::default);
    &NONE
}

/// Returns the body of `p/C.m`, and its facts as a method of a class `p/C extends p/B` with a static field `own`.
fn facts_of(code: &str) -> (Body, MethodFacts) {
    let body = parse_body(code).unwrap_or_else(|it| panic!("{it:?}"));
    let facts = method_facts(
        &body,
        &own(&[(Name::new(b"own"), Descriptor::new(b"I"))]),
        &|| no_code(),
        Wanted::All,
        &mut Scratch::default(),
    );
    (body, facts)
}

fn own(static_fields: &[(Name, Descriptor)]) -> OwnClass<'_> {
    OwnClass {
        name: ClassName::new(b"p/C"),
        super_class: Some(ClassName::new(b"p/B")),
        is_interface: false,
        static_fields,
    }
}

/// Returns the edges of a body's graph, one per line, without the edges to the next instruction.
fn edges_of(code: &str) -> String {
    let (body, facts) = facts_of(code);
    let subtypes = BuiltIn { own: Some((ClassName::new(b"p/C"), ClassName::new(b"p/B"))) };
    let graph = cfg(&body, &facts, &subtypes, CfgOptions { keep_proved: false });
    let mut out = String::new();
    for edge in &graph.edges {
        if edge.kind == EdgeKind::Normal && edge.to.0 == edge.from.0 + 1 {
            continue;
        }
        let kind = match edge.kind {
            EdgeKind::Handler(row) => format!("row {row}"),
            EdgeKind::MayHandler(row) => format!("row {row}?"),
            it => format!("{it:?}"),
        };
        let _ = write!(out, "{} -> {}  {kind}", node(&graph, edge.from), node(&graph, edge.to));
        match graph.label(&body, *edge) {
            Some(it) => _ = writeln!(out, "  {it}"),
            None => out.push('\n'),
        }
    }
    for it in &graph.entered_only_by_vm_errors {
        let _ = writeln!(out, "{} is entered by VM errors only", ordinal(*it));
    }
    out
}

fn node(graph: &Cfg, id: NodeId) -> String {
    let it = graph.nodes[id.index()];
    let at = ordinal(it.instr);
    match it.kind {
        NodeKind::Normal => at.to_string(),
        NodeKind::Exceptional(set) => format!("{at}!({set})"),
        NodeKind::Return => format!("{at} returns"),
        NodeKind::ExceptionalReturn(set) => format!("{at} lets out ({set})"),
    }
}

/// Returns the proofs of a body's assertions, each in the form `instruction: proof`.
fn proofs_of(code: &str) -> String {
    let at = |it: InstrId| ordinal(it);
    let mut out = String::new();
    for &(id, proof) in &facts_of(code).1.proofs {
        let proof = match proof {
            Proof::Allocated(it) => format!("made at {}", at(it)),
            Proof::Tested(it) => format!("tested at {}", at(it)),
            Proof::Caught(it) => format!("caught at {}", at(it)),
            it => format!("{it:?}"),
        };
        let _ = write!(out, "{}: {proof}; ", at(id));
    }
    out.trim_end_matches("; ").to_owned()
}

/// Returns the terms of all `throw` instructions of a body.
fn thrown_by(code: &str) -> String {
    let terms = facts_of(code).1.throws;
    terms.iter().map(|(id, term)| format!("{}: {term:?}", ordinal(*id))).collect::<Vec<_>>().join("; ")
}

fn numbers(list: &[InstrId]) -> Vec<u32> {
    list.iter().map(|&it| ordinal(it)).collect()
}

#[test]
fn an_exception_goes_to_the_handler_or_leaves() {
    assert_eq!(
        edges_of(
            "method static p/C.m(Ljava/lang/Object;I)V locals 2 {
               0: assert notnull a0
               1: assert notzero i1
               2: return
               3: catch %a0
               4: return
               row 0..2 catch java/lang/RuntimeException goto 3 source 0
               row 1..2 catch any goto 3 source 1
             }"
        ),
        "0 -> 0!(java/lang/NullPointerException)  Exception
1 -> 1!(java/lang/ArithmeticException)  Exception
2 -> 2 returns  Return
4 -> 4 returns  Return
0!(java/lang/NullPointerException) -> 3  row 0
1!(java/lang/ArithmeticException) -> 3  row 0
"
    );
}

#[test]
fn an_unknown_class_may_catch_and_the_rest_goes_on() {
    assert_eq!(
        edges_of(
            "method static p/C.m()V locals 1 {
               0: invokestatic p/D.n()V ()
               1: return
               2: catch a0
               3: return
               4: catch a0
               5: return
               row 0..1 catch p/E goto 2 source 0
               row 0..1 catch p/E goto 4 source 1
               row 0..1 catch java/lang/NullPointerException goto 4 source 2
             }"
        ),
        "0 -> 0!(call: java/lang/Throwable+)  Exception  p/D.n()V
0 -> 0 lets out (call: java/lang/Throwable+)  Exception  p/D.n()V
1 -> 1 returns  Return
3 -> 3 returns  Return
5 -> 5 returns  Return
0!(call: java/lang/Throwable+) -> 2  row 0?
0!(call: java/lang/Throwable+) -> 4  row 2?
"
    );
}

#[test]
fn what_a_finally_throws_again_is_what_arrived() {
    assert_eq!(
        edges_of(
            "method static p/C.m(I)V locals 2 {
               0: assert notzero i0
               1: return
               2: catch a1
               3: assert notnull a1
               4: throw a1
               5: catch %a0
               6: return
               row 0..1 catch any goto 2 source 0
               row 0..5 catch java/lang/Error goto 5 source 1
             }"
        ),
        "0 -> 0!(java/lang/ArithmeticException)  Exception
1 -> 1 returns  Return
4 -> 4 lets out (java/lang/ArithmeticException)  Exception
6 -> 6 returns  Return
0!(java/lang/ArithmeticException) -> 2  row 0
5 is entered by VM errors only
"
    );
}

#[test]
fn a_row_for_a_subclass_catches_only_the_subclass() {
    let edges = edges_of(
        "method static p/C.m(Ljava/lang/RuntimeException;)V locals 2 {
           0: throw a0
           1: catch a1
           2: throw a1
           row 0..1 catch java/lang/NullPointerException goto 1 source 0
         }",
    );
    assert!(edges.contains("0 lets out (java/lang/RuntimeException+)"), "{edges}");
    assert!(edges.contains("2 lets out (java/lang/NullPointerException+)"), "{edges}");
    assert!(!edges.contains("2 lets out (java/lang/RuntimeException+)"), "{edges}");
}

/// If too many classes arrive at one handler, they are replaced by the types of its rows, also as an open set of
/// calls.
#[test]
fn many_classes_at_a_handler_are_widened_to_its_rows() {
    const N: usize = 70;
    let cases: String = (0..N).map(|it| format!("{it}: {}, ", it + 1)).collect();
    let mut code = format!("method static p/C.m(I)V locals 2 {{\n 0: switch i0 {{ {cases}default: 1 }}\n");
    for it in 0..N {
        code += &format!(" {}: throw cast p/E{it} (::p/D.f:Ljava/lang/Object;)\n", it + 1);
    }
    let (handler, again) = (N + 1, N + 2);
    code += &format!(
        " {handler}: catch a1\n {again}: throw a1\n row 1..{handler} catch any goto {handler} source 0\n}}"
    );
    let edges = edges_of(&code);
    for set in ["java/lang/Throwable+", "call: java/lang/Throwable+"] {
        let line = format!("{again} -> {again} lets out ({set})  Exception\n");
        assert!(edges.contains(&line), "{line}{edges}");
    }
    assert!(!edges.contains(&format!("{again} lets out (p/E3+)")), "{edges}");
}

#[test]
fn edges_of_branches_and_switches_have_their_kind() {
    assert_eq!(
        edges_of(
            "method static p/C.m(I)I locals 1 {
               0: if (i0 < 3) goto 3
               1: switch i0 { 3: 3, 7: 4, default: 0 }
               2: return 0
               3: goto 2
               4: goto 3
             }"
        ),
        "0 -> 3  BranchTrue
0 -> 1  BranchFalse
1 -> 3  Case(3)
1 -> 4  Case(7)
1 -> 0  Default
2 -> 2 returns  Return
3 -> 2  Normal
4 -> 3  Normal
"
    );
}

#[test]
fn initialisers_of_the_own_class_do_not_run_again() {
    let code = "method static p/C.m()V locals 1 {
       0: mayinit p/C
       1: i0 := ::p/C.own:I
       2: mayinit p/C
       3: i0 := ::p/C.inherited:I
       4: mayinit p/B
       5: invokestatic p/B.n()V ()
       6: mayinit p/D
       7: return
     }";
    assert_eq!(numbers(&facts_of(code).1.without_initializer), [0, 4]);
    let edges = edges_of(code);
    assert!(edges.contains("0 -> 0 lets out (java/lang/NoClassDefFoundError)"), "{edges}");
    assert!(edges.contains("2 -> 2 lets out (initializer: java/lang/Error+)"), "{edges}");
    assert!(edges.contains("6 -> 6 lets out (initializer: java/lang/Error+)"), "{edges}");
    let body = parse_body(code).unwrap();
    let interface = OwnClass { is_interface: true, ..own(&[]) };
    assert!(
        method_facts(&body, &interface, &|| no_code(), Wanted::All, &mut Scratch::default())
            .without_initializer
            .is_empty()
    );
}

#[test]
fn facts_end_with_the_value() {
    assert_eq!(
        proofs_of(
            "method p/C.m(Ljava/lang/Object;Ljava/lang/Object;)V locals 3 {
               0: assert notnull a0
               1: assert notnull a1
               2: assert notnull a1
               3: a1 := a2
               4: assert notnull a1
               5: assert notnull a2
               6: l1 := 0L
               7: assert notnull a2
               8: return
             }"
        ),
        "0: This; 2: tested at 1; 5: tested at 4"
    );
    assert_eq!(
        proofs_of("method p/C.m()V locals 1 {\n 0: assert notnull a0\n 1: a0 := null\n 2: return\n }"),
        "0: This",
        "the receiver is what local 0 held at entry"
    );
}

#[test]
fn arrays_made_here_are_known() {
    assert_eq!(
        proofs_of(
            "method static p/C.m(Ljava/lang/Object;I)V locals 2 {
               0: assert notnegative 2
               1: $a0 := newarray [Ljava/lang/Object; (2)
               2: assert notnull $a0
               3: assert bound $a0[1]
               4: assert store $a0 <- a0
               5: assert bound $a0[2]
               6: $a1 := newarray [Ljava/lang/String; (1)
               7: assert store $a1 <- \"s\"
               8: assert store $a1 <- a0
               9: assert bound $a0[i1]
               10: assert bound $a0[i1]
               11: i1 := 1
               12: assert bound $a0[i1]
               13: return
             }"
        ),
        "0: Constant; 2: made at 1; 3: made at 1; 4: made at 1; 7: made at 6; 10: tested at 9; 12: made at 1"
    );
}

#[test]
fn loops_keep_the_facts_that_every_iteration_keeps() {
    assert_eq!(
        proofs_of(
            "method static p/C.m(Ljava/lang/Object;Ljava/lang/Object;)V locals 2 {
               0: assert notnull a0
               1: assert notnull a1
               2: assert notnull a0
               3: assert notnull a1
               4: a1 := ::p/D.f:Ljava/lang/Object;
               5: if (a1 != null) goto 2
               6: assert notnull a1
               7: goto 2
             }"
        ),
        "2: tested at 0; 3: EveryPath"
    );
}

#[test]
fn thrown_values_are_traced_back() {
    assert_eq!(
        thrown_by(
            "method static p/C.m(Lp/E;I)V locals 3 {
               0: if (i1 > 0) goto 4
               1: $a0 := new p/F.<init>()V ()
               2: a0 := $a0
               3: goto 6
               4: if (i1 > 1) goto 6
               5: a0 := cast java/lang/RuntimeException (::p/D.f:Ljava/lang/Object;)
               6: throw a0
               7: catch %a0
               8: a2 := %a0
               9: throw cast p/G (a2)
               row 0..1 catch any goto 7 source 0
             }"
        ),
        "6: Cone(java/lang/RuntimeException); 6: Cone(p/E); 6: Exact(p/F); 9: Caught(Idx::<Instr>(7))"
    );
}

/// `synchronized (o) { n(); }` as javac writes it.
const SYNCHRONIZED: &str = "method static p/C.m(Ljava/lang/Object;)V locals 3 {
   0: a1 := a0
   1: assert notnull a0
   2: monitorenter a0
   3: invokestatic p/D.n()V ()
   4: assert notnull a1
   5: monitorexit a1
   6: goto 12
   7: catch a2
   8: assert notnull a1
   9: monitorexit a1
   10: assert notnull a2
   11: throw a2
   12: return
   row 3..6 catch any goto 7 source 0
   row 7..10 catch any goto 7 source 1
 }";

#[test]
fn monitors_of_javac_are_balanced() {
    // A row for Throwable catches everything, too.
    for code in [SYNCHRONIZED.to_owned(), SYNCHRONIZED.replace("catch any", "catch java/lang/Throwable")] {
        let locks = facts_of(&code).1.locks;
        assert!(locks.at.is_empty() && locks.leaving.is_empty(), "{code}\n{locks:?}");
    }
}

#[test]
fn unbalanced_monitors_are_reported() {
    let no_exit = SYNCHRONIZED.replace("9: monitorexit a1", "9: assert notnull a1");
    let locks = facts_of(&no_exit).1.locks;
    assert_eq!((numbers(&locks.at), numbers(&locks.leaving)), (vec![], vec![10, 11]), "held on leaving");
    let twice = SYNCHRONIZED.replace("6: goto 12", "6: monitorexit a1");
    let locks = facts_of(&twice).1.locks;
    assert!(numbers(&locks.at).contains(&6), "{locks:?}");
    for enters in ["1: monitorenter a0\n 2: goto 3", "1: goto 3\n 2: monitorenter a0"] {
        let one_way = format!(
            "method static p/C.m(Ljava/lang/Object;I)V locals 2 {{\n 0: if (i1 > 0) goto 2\n {enters}\n 3: return\n}}"
        );
        assert_eq!(numbers(&facts_of(&one_way).1.locks.at), [3], "held on one path only: {one_way}");
    }
    let other = SYNCHRONIZED.replace("3: invokestatic p/D.n()V ()", "3: a1 := ::p/D.f:Ljava/lang/Object;");
    let locks = facts_of(&other).1.locks;
    assert!(numbers(&locks.at).contains(&5), "another value is released: {locks:?}");
    let edges = edges_of(&no_exit);
    assert!(edges.contains("11 -> 11 lets out (java/lang/IllegalMonitorStateException)"), "{edges}");
}

/// The clone of an array of references need not be of the named type, because its elements may be of an interface. The
/// class of the body is known to be none.
#[test]
fn clones_of_arrays_of_primitives_and_of_the_own_class_are_cast_surely() {
    let proofs = |array: &str| {
        proofs_of(&format!(
            "method static p/C.m({array}){array} locals 1 {{\n0: assert notnull a0\n\
             1: $a0 := invokevirtual {array}.clone()Ljava/lang/Object; (a0)\n2: assert cast {array} $a0\n\
             3: return cast {array} ($a0)\n}}\n"
        ))
    };
    assert!(proofs("[I").contains("2: "), "{}", proofs("[I"));
    assert!(!proofs("[Lp/I;").contains("2: "), "{}", proofs("[Lp/I;"));
    assert!(proofs("[Lp/C;").contains("2: made at 1"), "{}", proofs("[Lp/C;"));
    assert!(proofs("[[Lp/C;").contains("2: made at 1"), "{}", proofs("[[Lp/C;"));
}

/// As in the method `$values` that javac makes for an enum.
#[test]
fn a_value_of_the_own_class_fits_into_a_new_array_of_this_class() {
    let proofs = |array: &str, field: &str| {
        proofs_of(&format!(
            "method static p/C.m(Lp/C;)V locals 1 {{\n0: $a0 := newarray {array} (2)\n\
             1: $a1 := ::p/C.F:{field}\n2: assert store $a0 <- $a1\n3: return\n}}\n"
        ))
    };
    assert_eq!(proofs("[Lp/C;", "Lp/C;"), "2: made at 0");
    assert_eq!(proofs("[Lp/C;", "Lp/I;"), "");
    assert_eq!(proofs("[Lp/I;", "Lp/I;"), "");
    assert_eq!(proofs("[Lp/I;", "Lp/C;"), "");
    assert_eq!(proofs("[Lp/C;", "[Lp/C;"), "");
}

/// The method of an interface is not in a class of its own, so the same bodies are not proved there.
#[test]
fn an_interface_proves_nothing_about_arrays_of_itself() {
    let code = "method static p/C.m([Lp/C;)[Lp/C; locals 1 {
       0: assert notnull a0
       1: $a0 := invokevirtual [Lp/C;.clone()Ljava/lang/Object; (a0)
       2: assert cast [Lp/C; $a0
       3: return cast [Lp/C; ($a0)
     }";
    let body = parse_body(code).unwrap_or_else(|it| panic!("{it:?}"));
    for wanted in [Wanted::All, Wanted::Summary] {
        let class = OwnClass { is_interface: true, ..own(&[]) };
        let facts = method_facts(&body, &class, &|| no_code(), wanted, &mut Scratch::default());
        assert!(facts.proofs.iter().all(|it| ordinal(it.0) != 2), "{:?}", facts.proofs);
    }
}
