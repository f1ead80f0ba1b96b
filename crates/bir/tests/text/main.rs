//! BIR text: printing and parsing is the identity, also for odd names and numbers; no text makes the parser panic.

mod random;

use bir::body::{Expr, Instr};
use bir::ops::{Kind, UnOp};
use bir::parse::{parse, parse_body};
use bir::print::{self, print};
use bir::verify::verify;
use test_utils::rng::Rng;
use test_utils::tier;

#[test]
fn printed_bodies_are_read_back() {
    for seed in 0..tier::rounds(1000, 4000) {
        let body = random::body(&mut Rng::new(seed));
        assert_eq!(verify(&body), Vec::<String>::new(), "seed {seed}\n{}", print(&body));
        let text = print(&body);
        match parse_body(&text) {
            Ok(it) => assert!(it == body, "seed {seed}\n{text}\n{}", print(&it)),
            Err(err) => panic!("seed {seed}: {err}\n{text}"),
        }
    }
}

#[test]
fn several_methods_make_one_text() {
    let bodies: Vec<_> = (0..50).map(|seed| random::body(&mut Rng::new(seed))).collect();
    let text: String = bodies.iter().map(print).collect();
    assert!(parse(&text).expect("parses") == bodies);
}

/// Nearly valid texts reach deeper into the parser than noise. Whatever parses must also print and parse again.
#[test]
fn mutated_texts_do_not_panic() {
    let (mut parsed, mut refused) = (0, 0);
    for seed in 0..tier::rounds(5000, 20_000) {
        let mut rng = Rng::new(seed);
        let mut text = print(&random::body(&mut Rng::new(seed % 200))).into_bytes();
        for _ in 0..1 + rng.below(3) {
            mutate(&mut rng, &mut text);
        }
        let text = String::from_utf8_lossy(&text);
        match parse(&text) {
            Ok(bodies) => {
                parsed += 1;
                for body in bodies {
                    verify(&body);
                    let again =
                        parse_body(&print(&body)).unwrap_or_else(|err| panic!("{err}\n{}", print(&body)));
                    assert!(again == body, "seed {seed}\n{}", print(&body));
                }
            }
            Err(err) => {
                refused += 1;
                let lines = text.lines().count() as u32 + 1;
                assert!((1..=lines).contains(&err.line) && err.column > 0, "{err}");
            }
        }
    }
    let least = tier::rounds(250, 1000);
    assert!(parsed > least && refused > least, "{parsed} parsed, {refused} refused");
}

fn mutate(rng: &mut Rng, text: &mut Vec<u8>) {
    const WORDS: [&[u8]; 24] = [
        b"(",
        b")",
        b"[",
        b"]",
        b":",
        b"->",
        b"\"",
        b"\\",
        b"\n",
        b"}",
        b"{",
        b"#9",
        b"4294967296",
        b"-",
        b"a0",
        b"$i1",
        b" goto ",
        b"return",
        b"neg(",
        b"dynamic ",
        b"//",
        b"\xc3\xa9",
        b"any",
        b"0",
    ];
    let at = rng.below(text.len() as u32) as usize;
    let end = (at + rng.below(12) as usize).min(text.len());
    match rng.below(4) {
        0 => drop(text.drain(at..end)),
        1 => {
            let piece = text[at..end].to_vec();
            text.splice(at..at, piece);
        }
        2 => drop(text.splice(at..end.min(at + 1), rng.one(WORDS).iter().copied())),
        _ => text.truncate(at),
    }
}

#[test]
fn hostile_nesting_is_refused() {
    let method = |e: &str| format!("method p/C.m()I locals 1 {{\n  0: return {e}\n}}\n");
    for open in ["(", "neg(", "cast p/C (", "a0[", "-"] {
        assert!(parse(&method(&open.repeat(200_000))).is_err(), "{open}");
    }
    // Fields nest without parentheses.
    assert!(parse(&method(&format!("a0{}", "->p/C.f:I".repeat(200_000)))).is_err());
    let deep = |n: usize| method(&format!("{}i0{}", "neg(".repeat(n), ")".repeat(n)));
    let mut body = parse_body(&deep(256)).expect("the limit is within");
    assert_eq!(verify(&body), Vec::<String>::new());
    // The verifier enforces the limit, too.
    let Some(Instr::Return(Some(value))) = body.instrs.values_mut().next() else { panic!("{body:?}") };
    *value = body.exprs.alloc(Expr::Unary(UnOp::Neg(Kind::Int), *value));
    assert_eq!(verify(&body), ["p/C.m()I: at 0: an expression is deeper than BIR text allows"]);
    let err = parse(&deep(257)).expect_err("over the limit");
    assert_eq!(err.expected, "an expression no deeper than 256");
}

#[test]
fn errors_contain_position_and_expectation() {
    let cases = [
        "method p/C.m()V locals 0 {\n  0: if (i0 ~ 1) goto 0\n}\n",
        "method p/C.m()V locals 0 {\n  0: goto 7\n}\n",
        "method p/C.m()V locals 0 {\n  1: return\n}\n",
        "method p/C.m()V locals 0 {\n  0: return \"\\ud8\"\n}\n",
        "method p/C.m()V locals 0 {\n  0: throw é\n}\n",
        "method p/C.m()V locals 0 {\n  0: $i1 := 99999999999\n}\n",
        "method p/C.m locals 0 {\n}\n",
        "method p/C.m()V locals 0 {\n  0: return",
        "method p/C.m()V locals 0 {\n  0: a0[1] := 2\n}\n",
        "hello",
    ];
    let errors: Vec<String> = cases.iter().map(|it| parse(it).expect_err(it).to_string()).collect();
    insta::assert_snapshot!(errors.join("\n"), @r#"
    2:13: expected a comparison (== != < >= > <=), found "~ 1) goto 0"
    2:11: expected the label of an instruction of this method, found "7"
    2:3: expected `0:` and an instruction, `row`, `unreachable` or `}`, found "1: return"
    2:16: expected 4 hexadecimal digits, found "d8\""
    2:12: expected an expression, found "é"
    2:13: expected a number that fits its type, found "99999999999"
    1:13: expected a method descriptor, found " locals 0 {"
    2:12: expected `1:` and an instruction, `row`, `unreachable` or `}`, found the end of the line
    2:11: expected `:` and an element type, found " := 2"
    1:1: expected `method`, found "hello"
    "#);
}

#[test]
fn everything_has_a_text() {
    let text = r#"
    method public static p/C.m(I)I locals 9 unverified {  // comments are dropped
      dynamic 0 = apply(I)Lp/F; by invokeStatic p/B.bsm(I)V [1, -2L, 1.5f, NaNd, "s", class [I, methodtype (I)V, handle getField p/C.f:I, dynamic (c:J by invokeStatic p/I.b()J itf [])]
      dynamic 1 = k:I by invokeStatic p/B.bsm(I)I []
      0: mayinit "p/we ird"
      1: $a0 := new p/C.<init>(I)V (i0 + 1)
      2: $a1 := alloc p/C
      3: $a2 := newarray [I (i0)
      4: $a3 := multinewarray [[I (i0, 2)
      5: assert notnull $a0
      6: assert bound $a2[(i0 << 2)]
      7: assert store a1 <- $a0
      8: assert notzero i0
      9: assert notzeroL l1
     10: assert notnegative neg(i0)
     11: assert cast p/C $a0
     12: $a0->p/C.f:J := ::p/C.g:J *L 2L
     13: ::p/C.g:J := (l1 +L i2l(i0)) >>>L 3
     14: $a2[0]:int := length((a3->p/C.a:[I)) - a3->p/D.d:Lp/D;->p/D.e:I
     15: $a4 := cast p/C (a5[i0]:ref)
     16: $i5 := instanceof p/C (null)
     17: $i6 := floatbits(0x7fc00001) fcmpg -0.0f
     18: $d7 := 1e300d %D -Infinityd
     19: $i8 := invokevirtual p/C.v(J)I ($a0, 5L)
     20: invokespecial-interface p/I.s()V (a0)
     21: invokestatic p/C.t(Ljava/lang/String;)V ("q\"\\\n\ud800\u202e é")
     22: $a9 := invokedynamic #0 (1)
     23: $i10 := constdynamic #1
     24: monitorenter a0
     25: monitorexit a0
     26: if (class p/C != methodtype ()V) goto 30
     27: if ((i0 & 1) < 1) goto 30
     28: switch i0 { -2147483648: 0, 5: 30, default: 26 }
     29: return $i5
     30: throw $a0
     31: catch %a0
     32: l1 := 0L
     33: ret i0 { 0: 0, 1: 32 }
     row 0..30 catch p/E goto 31 source 0
     row 3..3 catch any goto 31 source 1
     row 0..34 catch "any" goto 31 source 1
     unreachable 5..7
    }"#;
    let body = parse_body(text).expect("parses");
    insta::assert_snapshot!(print(&body), @r#"
    method public static p/C.m(I)I locals 9 unverified {
      dynamic 0 = apply(I)Lp/F; by invokeStatic p/B.bsm(I)V [1, -2L, 1.5f, NaNd, "s", class [I, methodtype (I)V, handle getField p/C.f:I, dynamic (c:J by invokeStatic p/I.b()J itf [])]
      dynamic 1 = k:I by invokeStatic p/B.bsm(I)I []
       0: mayinit "p/we ird"
       1: $a0 := new p/C.<init>(I)V (i0 + 1)
       2: $a1 := alloc p/C
       3: $a2 := newarray [I (i0)
       4: $a3 := multinewarray [[I (i0, 2)
       5: assert notnull $a0
       6: assert bound $a2[i0 << 2]
       7: assert store a1 <- $a0
       8: assert notzero i0
       9: assert notzeroL l1
      10: assert notnegative neg(i0)
      11: assert cast p/C $a0
      12: $a0->p/C.f:J := ::p/C.g:J *L 2L
      13: ::p/C.g:J := (l1 +L i2l(i0)) >>>L 3
      14: $a2[0]:int := length(a3->p/C.a:[I) - a3->p/D.d:Lp/D;->p/D.e:I
      15: $a4 := cast p/C (a5[i0]:ref)
      16: $i5 := instanceof p/C (null)
      17: $i6 := floatbits(0x7fc00001) fcmpg -0.0f
      18: $d7 := 1e300d %D -Infinityd
      19: $i8 := invokevirtual p/C.v(J)I ($a0, 5L)
      20: invokespecial-interface p/I.s()V (a0)
      21: invokestatic p/C.t(Ljava/lang/String;)V ("q\"\\\n\ud800\u202e é")
      22: $a9 := invokedynamic #0 (1)
      23: $i10 := constdynamic #1
      24: monitorenter a0
      25: monitorexit a0
      26: if (class p/C != methodtype ()V) goto 30
      27: if ((i0 & 1) < 1) goto 30
      28: switch i0 { -2147483648: 0, 5: 30, default: 26 }
      29: return $i5
      30: throw $a0
      31: catch %a0
      32: l1 := 0L
      33: ret i0 { 0: 0, 1: 32 }
      row 0..30 catch p/E goto 31 source 0
      row 3..3 catch any goto 31 source 1
      row 0..34 catch "any" goto 31 source 1
      unreachable 5..7
    }
    "#);
    assert_eq!(verify(&body), Vec::<String>::new());
}

#[test]
fn comments_stand_in_a_column() {
    let body = parse_body("method p/C.m()V locals 1 {\n0: a0 := null\n1: return\n}").expect("parses");
    let mut out = String::new();
    let mut comment = |id, out: &mut String| {
        if bir::body::ordinal(id) == 0 {
            out.push_str("pc 5, line\n7");
        }
    };
    print::write(&mut out, &body, Some(&mut comment)).expect("strings take all");
    insta::assert_snapshot!(out, @r#"
    method p/C.m()V locals 1 {
      0: a0 := null                                 // pc 5, line 7
      1: return
    }
    "#);
}

#[test]
fn the_verifier_reports_faults() {
    let wrong = |lines: &str| {
        let text = format!("method p/C.m()V locals 1 {{\n{lines}\n}}\n");
        let body = parse_body(&text).unwrap_or_else(|err| panic!("{err}\n{text}"));
        format!("{}\n{}\n", lines.trim(), verify(&body).join("\n"))
    };
    let cases = [
        "0: i0 := 1",
        "0: l0 := 1L\n1: return",
        "0: $i1 := 1\n1: $i1 := 2\n2: return",
        "0: $i1 := $i2\n1: return",
        "0: $i1 := 1L + 2\n1: return",
        "0: assert notnull ::p/C.f:Lp/C;\n1: return",
        "0: return 5",
        "0: goto 1\n1: catch %a0\n2: return",
        "0: invokevirtual p/C.m(I)V (a0)\n1: return",
        "0: $l1 := invokestatic p/C.m()I ()\n1: return",
        "0: if (null < null) goto 0\n1: return",
        "0: switch 5 { 2: 0, 1: 0, default: 0 }",
        "0: switch 5 { 2: 0 }",
        "0: return\n1: return\nrow 0..1 catch any goto 1 source 0",
        "0: $f1 := 1.0f &F 2.0f\n1: return",
        "0: $a1 := newarray p/C (5)\n1: return",
    ];
    insta::assert_snapshot!(cases.map(wrong).concat(), @r#"
    0: i0 := 1
    p/C.m()V: at 0: control runs off the end of the body
    0: l0 := 1L
    1: return
    p/C.m()V: at 0: l0 does not fit: the number of local variable slots is 1
    0: $i1 := 1
    1: $i1 := 2
    2: return
    p/C.m()V: at 1: $i1 is assigned by instruction 0 already; a temporary is assigned only once
    0: $i1 := $i2
    1: return
    p/C.m()V: at 0: $i2 is not assigned
    0: $i1 := 1L + 2
    1: return
    p/C.m()V: at 0: the expression 1L is a long, but an int is expected
    0: assert notnull ::p/C.f:Lp/C;
    1: return
    p/C.m()V: at 0: an assertion reads the heap
    0: return 5
    p/C.m()V: at 0: the method returns an int, but nothing is expected
    0: goto 1
    1: catch %a0
    2: return
    p/C.m()V: at 0: control reaches the catch at 1 without an exception
    p/C.m()V: at 1: no row leads to this catch
    0: invokevirtual p/C.m(I)V (a0)
    1: return
    p/C.m()V: at 0: the call has 1 operands instead of 2
    0: $l1 := invokestatic p/C.m()I ()
    1: return
    p/C.m()V: at 0: $l1 cannot hold an int
    0: if (null < null) goto 0
    1: return
    p/C.m()V: at 0: a branch cannot compare operands of these kinds
    0: switch 5 { 2: 0, 1: 0, default: 0 }
    p/C.m()V: at 0: the keys of the switch table are not ascending
    0: switch 5 { 2: 0 }
    p/C.m()V: at 0: the table of a switch has no default target, or that of a ret has one
    0: return
    1: return
    row 0..1 catch any goto 1 source 0
    p/C.m()V: at 1: a handler does not begin with catch
    0: $f1 := 1.0f &F 2.0f
    1: return
    p/C.m()V: at 0: the operator does not exist for operands of this kind
    0: $a1 := newarray p/C (5)
    1: return
    p/C.m()V: at 0: the class of newarray is not an array
    "#);
}
