//! Lowering, rule by rule of `semantics.md` §2: assembler text in, BIR text out.

use bir::lower::{Scratch, lower, lower_lean};
use classfile::bootstrap::Bootstraps;
use classfile::class::ClassFile;

/// Returns the BIR of every method of the classes in `text`, or the fault of a method that cannot be lowered.
fn bir(text: &str) -> String {
    let mut out = String::new();
    for class in test_utils::asm::assemble(text).expect("the test's own text assembles") {
        let class = ClassFile::parse(&class.bytes).expect("assembled classes can be read");
        let boots = Bootstraps::of(&class).expect("assembled bootstraps can be read");
        for method in class.methods() {
            let Some(code) = method.code().expect("assembled bodies can be read") else { continue };
            match lower(&class, &boots, &method, &code, &mut Scratch::default()) {
                Ok(it) => {
                    assert!(bir::verify::verify(&it.body).is_empty(), "{}", bir::print::print(&it.body));
                    out += &bir::print::print(&it.body);
                }
                Err(it) => out += &format!("{}: {}\n", method.name().expect("named"), it.fault_text()),
            }
        }
    }
    out
}

trait FaultText {
    /// Returns the message without the offset, which depends on the constant pool.
    fn fault_text(&self) -> String;
}

impl FaultText for classfile::error::Malformed {
    fn fault_text(&self) -> String {
        let text = self.to_string();
        let at = text.find(" (at byte").unwrap_or(text.len());
        format!("{}, JVMS §{}", &text[..at], self.jvms)
    }
}

/// Returns the BIR of one static method of the class `p/A` with this header and code.
fn method(head: &str, code: &str) -> String {
    bir(&format!(".class public super p/A\n.method public static {head}\n{code}\n.end\n"))
}

mod heap_reads {
    use super::method;

    #[test]
    fn a_read_that_is_duplicated_happens_once() {
        insta::assert_snapshot!(method("m(Lp/A;)V", "aload_0\n getfield p/A.n Lp/A;\n dup\n ifnull X\n invokevirtual p/A.f()V\n return\n X: pop\n return"), @r"
        method public static p/A.m(Lp/A;)V locals 1 {
          0: assert notnull a0
          1: $a0 := a0->p/A.n:Lp/A;
          2: %a0 := $a0
          3: if ($a0 == null) goto 7
          4: assert notnull %a0
          5: invokevirtual p/A.f()V (%a0)
          6: return
          7: return
        }
        ");
    }

    #[test]
    fn two_reads_stay_two() {
        insta::assert_snapshot!(method("m(Lp/A;)V", "aload_0\n getfield p/A.n Lp/A;\n ifnull X\n aload_0\n getfield p/A.n Lp/A;\n invokevirtual p/A.f()V\n X: return"), @r"
        method public static p/A.m(Lp/A;)V locals 1 {
          0: assert notnull a0
          1: if (a0->p/A.n:Lp/A; == null) goto 6
          2: assert notnull a0
          3: $a0 := a0->p/A.n:Lp/A;
          4: assert notnull $a0
          5: invokevirtual p/A.f()V ($a0)
          6: return
        }
        ");
    }

    #[test]
    fn a_read_on_the_stack_is_saved_before_each_effect() {
        let effects = [
            "aload_0\n iconst_1\n putfield p/A.g I",
            "iconst_1\n putstatic p/A.s I",
            "aload_1\n iconst_0\n iconst_1\n iastore",
            "aload_0\n invokevirtual p/A.f()V",
            "getstatic p/A.s I\n pop",
            "aload_0\n monitorenter",
            "aload_0\n monitorexit",
            "new p/A\n pop",
            "ldc dynamic b0 c I\n pop",
            "invokedynamic b0 c()V",
        ];
        for effect in effects {
            let text = super::bir(&format!(
                ".class public super p/A\n.version 55.0\n.bootstrap b0 invokestatic p/A.bsm(I)V\n.method public static m(Lp/A;[I)I\n aload_0\n getfield p/A.f I\n {effect}\n ireturn\n.end\n"
            ));
            let save = text.find("$i0 := a0->p/A.f:I").unwrap_or_else(|| panic!("{effect}: {text}"));
            let last = text.find("return $i0").unwrap_or_else(|| panic!("{effect}: {text}"));
            assert!(save < last, "{effect}: {text}");
        }
    }

    #[test]
    fn reads_keep_their_order_under_swap_and_store() {
        insta::assert_snapshot!(method("m(Lp/A;)I", "aload_0\n getfield p/A.f I\n aload_0\n getfield p/A.g I\n swap\n isub\n ireturn"), @r"
        method public static p/A.m(Lp/A;)I locals 1 {
          0: assert notnull a0
          1: assert notnull a0
          2: $i0 := a0->p/A.f:I
          3: $i1 := a0->p/A.g:I
          4: return $i1 - $i0
        }
        ");
        insta::assert_snapshot!(method("m(Lp/A;)I", "aload_0\n getfield p/A.f I\n aload_0\n getfield p/A.g I\n istore_1\n iload_1\n isub\n ireturn"), @r"
        method public static p/A.m(Lp/A;)I locals 2 {
          0: assert notnull a0
          1: assert notnull a0
          2: $i0 := a0->p/A.f:I
          3: i1 := a0->p/A.g:I
          4: return $i0 - i1
        }
        ");
    }

    #[test]
    fn a_dropped_read_still_happens() {
        insta::assert_snapshot!(method("m(Lp/A;)V", "aload_0\n getfield p/A.f I\n pop\n return"), @r"
        method public static p/A.m(Lp/A;)V locals 1 {
          0: assert notnull a0
          1: $i0 := a0->p/A.f:I
          2: return
        }
        ");
    }

    #[test]
    fn the_initialiser_runs_before_the_arguments_are_used() {
        insta::assert_snapshot!(method("m(Lp/A;)V", "aload_0\n getfield p/A.f I\n invokestatic p/B.g(I)V\n return"), @r"
        method public static p/A.m(Lp/A;)V locals 1 {
          0: assert notnull a0
          1: $i0 := a0->p/A.f:I
          2: mayinit p/B
          3: invokestatic p/B.g(I)V ($i0)
          4: return
        }
        ");
    }
}

mod locals {
    use super::method;

    #[test]
    fn a_store_saves_the_old_value() {
        insta::assert_snapshot!(method("m(I)I", "iload_0\n iinc 0 1\n iload_0\n iadd\n ireturn"), @r"
        method public static p/A.m(I)I locals 1 {
          0: $i0 := i0
          1: i0 := i0 + 1
          2: return $i0 + i0
        }
        ");
    }

    #[test]
    fn slots_overlap() {
        // Storing an int into slot 1 destroys the long in slots 0 and 1.
        insta::assert_snapshot!(method("m(JI)J", "lload_0\n iload_2\n istore_1\n lreturn"), @r"
        method public static p/A.m(JI)J locals 3 {
          0: $l0 := l0
          1: i1 := i2
          2: return $l0
        }
        ");
        insta::assert_snapshot!(method("m(II)I", "iload_1\n lconst_1\n lstore_0\n ireturn"), @r"
        method public static p/A.m(II)I locals 2 {
          0: $i0 := i1
          1: l0 := 1L
          2: return $i0
        }
        ");
    }

    #[test]
    fn a_result_is_not_stored_over_half_of_what_the_stack_still_needs() {
        insta::assert_snapshot!(method("m(II)I", "iload_1\n invokestatic p/A.f()J\n lstore_0\n ireturn"), @r"
        method public static p/A.m(II)I locals 2 {
          0: mayinit p/A
          1: $l0 := invokestatic p/A.f()J ()
          2: $i1 := i1
          3: l0 := $l0
          4: return $i1
        }
        ");
    }

    #[test]
    fn a_result_goes_straight_into_its_local() {
        insta::assert_snapshot!(method("m()V", "invokestatic p/A.f()I\n istore_0\n return"), @r"
        method public static p/A.m()V locals 1 {
          0: mayinit p/A
          1: i0 := invokestatic p/A.f()I ()
          2: return
        }
        ");
        // The stack still holds the old value: the call must not overwrite it.
        insta::assert_snapshot!(method("m(I)I", "iload_0\n invokestatic p/A.f()I\n istore_0\n ireturn"), @r"
        method public static p/A.m(I)I locals 1 {
          0: mayinit p/A
          1: $i0 := invokestatic p/A.f()I ()
          2: $i1 := i0
          3: i0 := $i0
          4: return $i1
        }
        ");
    }
}

mod joins {
    use super::method;

    #[test]
    fn a_conditional_expression() {
        insta::assert_snapshot!(method("m(I)I", "iconst_5\n iload_0\n ifeq X\n iconst_1\n goto Y\n X: iconst_2\n Y: iadd\n ireturn"), @r"
        method public static p/A.m(I)I locals 1 {
          0: %i0 := 5
          1: if (i0 == 0) goto 4
          2: %i1 := 1
          3: goto 5
          4: %i1 := 2
          5: return %i0 + %i1
        }
        ");
    }

    #[test]
    fn a_backward_jump_with_a_value_on_the_stack() {
        insta::assert_snapshot!(method("m(I)I", "iconst_0\n X: iload_0\n iadd\n iinc 0 -1\n iload_0\n ifgt X\n ireturn"), @r"
        method public static p/A.m(I)I locals 1 {
          0: %i0 := 0
          1: $i0 := %i0 + i0
          2: i0 := i0 + -1
          3: %i0 := $i0
          4: if (i0 > 0) goto 1
          5: return %i0
        }
        ");
    }

    #[test]
    fn values_that_change_places_are_assigned_in_parallel() {
        insta::assert_snapshot!(method("m(I)I", "iconst_1\n iconst_2\n X: swap\n iinc 0 -1\n iload_0\n ifgt X\n isub\n ireturn"), @r"
        method public static p/A.m(I)I locals 1 {
          0: %i0 := 1
          1: %i1 := 2
          2: i0 := i0 + -1
          3: $i0 := %i1
          4: $i1 := %i0
          5: %i0 := $i0
          6: %i1 := $i1
          7: if (i0 > 0) goto 2
          8: return %i0 - %i1
        }
        ");
    }

    #[test]
    fn nan_keeps_its_flavour() {
        insta::assert_snapshot!(method("m(DD)I", "dload_0\n dload_2\n dcmpl\n ifge X\n iconst_1\n ireturn\n X: iconst_2\n ireturn"), @r"
        method public static p/A.m(DD)I locals 4 {
          0: if ((d0 dcmpl d2) >= 0) goto 2
          1: return 1
          2: return 2
        }
        ");
    }

    #[test]
    fn a_handler_that_is_also_jumped_to_binds_its_value_once() {
        insta::assert_snapshot!(method("m()V", "A: invokestatic p/A.f()V\n B: new java/lang/Error\n dup\n invokespecial java/lang/Error.<init>()V\n goto H\n H: astore_0\n return\n .catch any from A to B using H"), @r"
        method public static p/A.m()V locals 1 {
          0: mayinit p/A
          1: invokestatic p/A.f()V ()
          2: mayinit java/lang/Error
          3: $a0 := new java/lang/Error.<init>()V ()
          4: %a0 := $a0
          5: goto 7
          6: catch %a0
          7: a0 := %a0
          8: return
          row 0..2 catch any goto 6 source 0
        }
        ");
    }

    #[test]
    fn depths_and_kinds_must_agree() {
        insta::assert_snapshot!(method("m(I)V", "iload_0\n ifeq X\n iconst_0\n X: return"), @r"
        m: paths join with operand stacks of different depth, JVMS §4.9
        ");
        insta::assert_snapshot!(method("m(I)V", "iconst_0\n iload_0\n ifeq X\n pop\n fconst_0\n X: pop\n return"), @r"
        m: paths join with different kinds of values on the operand stack, JVMS §4.9
        ");
    }
}

mod objects {
    use super::method;

    #[test]
    fn allocation_is_folded_across_branches() {
        insta::assert_snapshot!(method("m(I)Lp/A;", "new p/A\n dup\n iload_0\n ifeq X\n iconst_1\n goto Y\n X: iconst_2\n Y: invokespecial p/A.<init>(I)V\n areturn"), @r"
        method public static p/A.m(I)Lp/A; locals 1 {
          0: mayinit p/A
          1: if (i0 == 0) goto 4
          2: %i2 := 1
          3: goto 5
          4: %i2 := 2
          5: $a0 := new p/A.<init>(I)V (%i2)
          6: return $a0
        }
        ");
    }

    #[test]
    fn two_allocations_that_join_stay_apart() {
        insta::assert_snapshot!(method("m(I)Lp/A;", "iload_0\n ifeq X\n new p/A\n dup\n iconst_1\n goto Y\n X: new p/A\n dup\n iconst_2\n Y: invokespecial p/A.<init>(I)V\n areturn"), @r"
        method public static p/A.m(I)Lp/A; locals 1 {
           0: if (i0 == 0) goto 7
           1: mayinit p/A
           2: $a0 := alloc p/A
           3: %a0 := $a0
           4: %a1 := $a0
           5: %i2 := 1
           6: goto 12
           7: mayinit p/A
           8: $a1 := alloc p/A
           9: %a0 := $a1
          10: %a1 := $a1
          11: %i2 := 2
          12: assert notnull %a1
          13: invokespecial p/A.<init>(I)V (%a1, %i2)
          14: return %a0
        }
        ");
    }

    #[test]
    fn a_stored_allocation_stays_apart() {
        insta::assert_snapshot!(method("m()Lp/A;", "new p/A\n astore_0\n aload_0\n invokespecial p/A.<init>()V\n aload_0\n areturn"), @r"
        method public static p/A.m()Lp/A; locals 1 {
          0: mayinit p/A
          1: a0 := alloc p/A
          2: assert notnull a0
          3: invokespecial p/A.<init>()V (a0)
          4: return a0
        }
        ");
    }

    #[test]
    fn an_object_that_is_never_initialised() {
        insta::assert_snapshot!(method("m()V", "new p/A\n pop\n return"), @r"
        method public static p/A.m()V locals 0 {
          0: mayinit p/A
          1: return
        }
        ");
    }

    #[test]
    fn several_of_one_class_alive() {
        insta::assert_snapshot!(method("m()Lp/A;", "new p/A\n dup\n new p/A\n dup\n aconst_null\n invokespecial p/A.<init>(Lp/A;)V\n invokespecial p/A.<init>(Lp/A;)V\n areturn"), @r"
        method public static p/A.m()Lp/A; locals 0 {
          0: mayinit p/A
          1: mayinit p/A
          2: $a0 := new p/A.<init>(Lp/A;)V (null)
          3: $a1 := new p/A.<init>(Lp/A;)V ($a0)
          4: return $a1
        }
        ");
    }
}

mod assertions {
    use super::method;

    #[test]
    fn stand_in_the_order_of_the_jvm() {
        insta::assert_snapshot!(method("m([Ljava/lang/Object;ILjava/lang/Object;)V", "aload_0\n iload_1\n aload_2\n aastore\n return"), @r"
        method public static p/A.m([Ljava/lang/Object;ILjava/lang/Object;)V locals 3 {
          0: assert notnull a0
          1: assert bound a0[i1]
          2: assert store a0 <- a2
          3: a0[i1]:ref := a2
          4: return
        }
        ");
        insta::assert_snapshot!(method("m(II)[[I", "iload_0\n iload_1\n multianewarray [[I 2\n areturn"), @r"
        method public static p/A.m(II)[[I locals 2 {
          0: assert notnegative i0
          1: assert notnegative i1
          2: $a0 := multinewarray [[I (i0, i1)
          3: return $a0
        }
        ");
        insta::assert_snapshot!(method("m(J)J", "lload_0\n ldc long 7\n ldiv\n lreturn"), @r"
        method public static p/A.m(J)J locals 2 {
          0: assert notzeroL 7L
          1: return l0 /L 7L
        }
        ");
        insta::assert_snapshot!(method("m(Ljava/lang/Object;)Lp/A;", "aload_0\n checkcast p/A\n areturn"), @r"
        method public static p/A.m(Ljava/lang/Object;)Lp/A; locals 1 {
          0: assert cast p/A a0
          1: return cast p/A (a0)
        }
        ");
    }

    #[test]
    fn come_after_the_arguments() {
        insta::assert_snapshot!(method("m(Lp/A;)V", "aload_0\n invokestatic p/A.f()I\n invokevirtual p/A.g(I)V\n return"), @r"
        method public static p/A.m(Lp/A;)V locals 1 {
          0: mayinit p/A
          1: $i0 := invokestatic p/A.f()I ()
          2: assert notnull a0
          3: invokevirtual p/A.g(I)V (a0, $i0)
          4: return
        }
        ");
    }
}

mod subroutines {
    use super::{bir, method};

    #[test]
    fn a_subroutine_is_copied_to_each_call() {
        insta::assert_snapshot!(method("m(I)I", "jsr S\n jsr S\n iload_0\n ireturn\n S: astore_1\n iinc 0 1\n ret 1"), @r"
        method public static p/A.m(I)I locals 2 {
          0: goto 3
          1: goto 5
          2: return i0
          3: i0 := i0 + 1
          4: goto 1
          5: i0 := i0 + 1
          6: goto 2
        }
        ");
    }

    #[test]
    fn a_subroutine_may_return_over_two_levels() {
        insta::assert_snapshot!(method("m(I)I", "jsr S\n iload_0\n ireturn\n S: astore_1\n jsr T\n iinc 0 10\n ret 1\n T: pop\n iinc 0 1\n ret 1"), @r"
        method public static p/A.m(I)I locals 2 {
          0: goto 2
          1: return i0
          2: goto 3
          3: i0 := i0 + 1
          4: goto 1
          unreachable 5..7
        }
        ");
    }

    #[test]
    fn over_the_cap_each_ret_goes_to_every_site() {
        // Each level calls the next twice: inlining would create 2^20 copies.
        let mut text = String::from("jsr S0\n iload_0\n ireturn\n");
        for i in 0..20 {
            text += &format!("S{i}: astore {}\n jsr S{}\n jsr S{}\n ret {}\n", i + 1, i + 1, i + 1, i + 1);
        }
        text += "S20: astore 21\n iinc 0 1\n ret 21";
        let out = method("m(I)I", &text);
        let rets: Vec<_> = out.lines().filter(|it| it.contains(": ret ")).collect();
        assert_eq!(rets.len(), 21, "{out}");
        assert!(out.lines().count() < 200, "{out}");
    }

    /// No verifier accepts a `ret` that two subroutines share, but a JVM without verification runs it.
    #[test]
    fn over_the_cap_a_ret_that_two_subroutines_share_goes_to_the_sites_of_both() {
        let mut text = String::from("jsr A\n jsr B\n jsr S0\n iload_0\n ireturn\n");
        text += "A: astore_1\n goto T\n B: astore_1\n goto T\n T: ret 1\n";
        for i in 0..20 {
            text += &format!("S{i}: astore {}\n jsr S{}\n jsr S{}\n ret {}\n", i + 2, i + 1, i + 1, i + 2);
        }
        text += "S20: astore 22\n iinc 0 1\n ret 22";
        let out = method("m(I)I", &text);
        let shared = out.lines().find(|it| it.contains(": ret i1 ")).unwrap_or_default();
        // The subroutines are called at the first two sites.
        assert!(shared.contains("{ 0: 2, 1: 4"), "{out}");
    }

    #[test]
    fn newer_classes_may_not_have_them() {
        insta::assert_snapshot!(bir(".class p/A\n.version 51.0\n.method static m()V\n jsr S\n return\n S: astore_0\n ret 0\n.end"), @r"
        m: jsr and ret are not allowed in a class file of major version 51, JVMS §4.9.1
        ");
    }
}

mod size {
    use super::method;

    #[test]
    fn doubling_stays_linear() {
        let out = method("m(I)I", &format!("iload_0\n{}ireturn", " dup\n iadd\n".repeat(200)));
        assert!(out.lines().count() < 420, "{} lines", out.lines().count());
        assert!(out.len() < 20_000, "{} bytes", out.len());
    }

    #[test]
    fn deep_expressions_are_cut() {
        let out = method("m(I)I", &format!("iload_0\n{}ireturn", " iconst_1\n iadd\n".repeat(1000)));
        let deepest = out.lines().map(|it| it.matches('(').count()).max();
        assert!(deepest <= Some(202), "{deepest:?}");
        assert_eq!(out.matches(" + 1)").count() + out.matches(" + 1\n").count(), 1000);
    }

    #[test]
    fn many_branches_over_a_deep_stack_stay_linear() {
        let code = format!(
            "{}{}{}return",
            " iload_0\n".repeat(500),
            " iload_0\n ifeq X\n".repeat(500),
            " pop\n".repeat(500)
        );
        let out = method("m(I)V", &format!("{code}\n X: {}return", "pop\n".repeat(500)));
        assert!(out.lines().count() < 1600, "{} lines", out.lines().count());
    }
}

mod reach {
    use super::method;

    #[test]
    fn unreachable_code_is_listed() {
        insta::assert_snapshot!(method("m()V", "goto X\n iconst_0\n istore_0\n X: return\n nop\n return"), @r"
        method public static p/A.m()V locals 1 {
          0: goto 1
          1: return
          unreachable 1..3
          unreachable 4..6
        }
        ");
    }

    #[test]
    fn a_handler_of_unreachable_code_is_unreachable() {
        insta::assert_snapshot!(method("m()V", "return\n A: nop\n B: return\n H: athrow\n .catch any from A to B using H"), @r"
        method public static p/A.m()V locals 0 {
          0: return
          unreachable 1..4
        }
        ");
    }

    #[test]
    fn a_rule_violation_loses_its_method() {
        let bad = [
            "iadd\n ireturn",
            "aconst_null\n ireturn",
            "iconst_0",
            "iload 9\n ireturn\n .locals 2",
            ".bytes 0xa70001ac\n .stack 2\n .locals 2",
            "lconst_0\n pop\n iconst_0\n ireturn",
            "new [I\n pop\n iconst_0\n ireturn",
            "aload_0\n ret 1",
        ];
        let all: String = bad.iter().map(|it| method("m(I)I", it)).collect();
        insta::assert_snapshot!(all, @r"
        m: an operand of the instruction is missing from the stack, JVMS §4.9
        m: an operand of the instruction is of the wrong kind, JVMS §4.9
        m: control runs off the end of the code, JVMS §4.9
        m: max_locals is too small for the local variable of the instruction: slot 9, JVMS §4.9
        m: a branch leads to a pc that is not the start of an instruction: 1, JVMS §4.9.1
        m: the stack instruction would split a long or double, JVMS §4.9
        m: new must not name an array class, JVMS §4.9
        m: a ret has no jsr to return to, JVMS §4.9
        ");
    }
}

mod lean {
    use super::*;

    /// Returns the lean BIR of the last method of the class `p/A` with these methods.
    fn lean(methods: &str) -> String {
        let text = format!(".class public super p/A\n{methods}");
        let classes = test_utils::asm::assemble(&text).expect("the test's own text assembles");
        let class = ClassFile::parse(&classes[0].bytes).expect("assembled classes can be read");
        let boots = Bootstraps::of(&class).expect("assembled bootstraps can be read");
        let method = class.methods().last().expect("a method exists");
        let code = method.code().expect("assembled bodies can be read").expect("it has code");
        let body =
            lower_lean(&class, &boots, &method, &code, &mut Scratch::default()).expect("it is lowered");
        assert!(bir::verify::verify(&body).is_empty(), "{}", bir::print::print(&body));
        bir::print::print(&body)
    }

    #[test]
    fn stores_to_tables_and_checks_of_the_receiver_are_omitted() {
        insta::assert_snapshot!(lean(".method public m()[Ljava/lang/Object;\n iconst_2\n anewarray java/lang/Object\n dup\n iconst_0\n ldc \"a\"\n aastore\n dup\n iconst_1\n iconst_1\n newarray int\n dup\n iconst_0\n bipush 7\n iastore\n aastore\n aload_0\n getfield p/A.n I\n pop\n areturn\n.end\n"), @r"
        method public p/A.m()[Ljava/lang/Object; locals 1 {
          0: $a0 := newarray [Ljava/lang/Object; (2)
          1: $a1 := newarray [I (1)
          2: $i2 := a0->p/A.n:I
          3: return $a0
        }
        ");
    }

    #[test]
    fn instructions_that_may_raise_are_kept() {
        // The index is out of bounds; `ldc class` loads a class; a string is not an Integer; the array is a
        // parameter.
        insta::assert_snapshot!(lean(".method public static m([I)V\n iconst_1\n anewarray java/lang/Object\n dup\n iconst_1\n ldc \"a\"\n aastore\n dup\n iconst_0\n ldc class p/B\n aastore\n pop\n iconst_1\n anewarray java/lang/Integer\n iconst_0\n ldc \"a\"\n aastore\n aload_0\n iconst_0\n iconst_0\n iastore\n return\n.end\n"), @r#"
        method public static p/A.m([I)V locals 1 {
           0: $a0 := newarray [Ljava/lang/Object; (1)
           1: assert notnull $a0
           2: assert bound $a0[1]
           3: assert store $a0 <- ""
           4: $a0[1]:ref := ""
           5: assert notnull $a0
           6: assert bound $a0[0]
           7: assert store $a0 <- class p/B
           8: $a0[0]:ref := class p/B
           9: $a1 := newarray [Ljava/lang/Integer; (1)
          10: assert notnull $a1
          11: assert bound $a1[0]
          12: assert store $a1 <- ""
          13: $a1[0]:ref := ""
          14: assert notnull a0
          15: assert bound a0[0]
          16: a0[0]:int := 0
          17: return
        }
        "#);
    }

    #[test]
    fn another_receiver_is_asserted() {
        insta::assert_snapshot!(lean(".method public m(Lp/A;)V\n aload_0\n getfield p/A.n I\n pop\n aload_1\n astore_0\n aload_0\n getfield p/A.n I\n pop\n return\n.end\n"), @r"
        method public p/A.m(Lp/A;)V locals 2 {
          0: assert notnull a0
          1: $i0 := a0->p/A.n:I
          2: a0 := a1
          3: assert notnull a0
          4: $i1 := a0->p/A.n:I
          5: return
        }
        ");
    }

    #[test]
    fn under_a_handler_nothing_is_omitted() {
        insta::assert_snapshot!(lean(".method public m()I\n .catch any from L to H using H\n L: aload_0\n getfield p/A.n I\n ireturn\n H: pop\n iconst_0\n ireturn\n.end\n"), @r"
        method public p/A.m()I locals 1 {
          0: assert notnull a0
          1: return a0->p/A.n:I
          2: catch %a0
          3: return 0
          row 0..2 catch any goto 2 source 0
        }
        ");
    }

    #[test]
    fn monitors_keep_the_texts_of_strings() {
        insta::assert_snapshot!(lean(".method public static m()V\n ldc \"a\"\n monitorenter\n ldc \"b\"\n monitorexit\n return\n.end\n"), @r#"
        method public static p/A.m()V locals 0 {
          0: assert notnull "a"
          1: monitorenter "a"
          2: assert notnull "b"
          3: monitorexit "b"
          4: return
        }
        "#);
    }
}
