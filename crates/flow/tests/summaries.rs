//! Tests of the sources of exceptions that are found for each instruction of small bodies.

use bir::parse::parse_body;
use flow::facts::MethodFacts;
use flow::summary::{Initialized, Source, Sources};

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
