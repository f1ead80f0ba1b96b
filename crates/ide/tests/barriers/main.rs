//! How far an edit spreads: for each kind of edit, the exact list of queries that run when all classes of the
//! application are asked about again. After each edit, the answers must equal those of a new host (`shop`).

mod history;
mod shop;

use ide::{Counts, Role, WorldKind};
use shop::{Archive, Shop};
use test_utils::ghosts::with_ghosts;

/// The application: `A` calls `B`, which catches nothing; `D` calls the library; `J` and `S` are jobs, which `K`
/// runs.
const APP: &str = r"
.class public final p/A
.method public static a()V
  invokestatic p/B.b()V
  return
.end

.class public final p/B
.version 52.0
.method public static b()V
  .line 3
  iconst_1
  pop
  return
.end

.class public final p/D
.method public static d()V
  invokestatic lib/L.l()V
  return
.end

.class public p/J
.implements lib/Job
.method public run()V
  return
.end

.class public p/S
.super p/J

.class public final p/K
.method public static k(Llib/Job;)V
  .catch java/lang/NullPointerException from F to T using H
F: aload_0
  invokeinterface lib/Job.run()V
T: return
H: pop
  return
.end
";

/// The library also has a class `B`, which the application's `B` shadows.
const LIB: &str = r"
.class public final lib/L
.method public static l()V
  invokestatic jdk/S.s()V
  return
.end

.class public interface abstract lib/Job
.method public abstract run()V
.end

.class public final p/B
.version 52.0
.method public static b()V
  iconst_1
  iconst_0
  irem
  pop
  return
.end
";

const JDK: &str = r"
.class public java/lang/Object
.super none
.method public <init>()V
  return
.end

.class public final jdk/S
.method public static s()V
  return
.end
";

/// Code that throws a `NullPointerException`.
const THROWS: &str = "aconst_null\n athrow";

fn shop() -> Shop {
    let mut shop = Shop::new(vec![
        Archive::new("app", Role::App, APP),
        Archive::new("lib", Role::Lib, LIB),
        Archive::new("jdk", Role::Jdk, JDK),
    ]);
    shop.ran();
    shop
}

/// The class `B` with this code.
fn b(code: &str) -> String {
    format!(".class public final p/B\n.version 52.0\n.method public static b()V\n {code}\n.end")
}

/// Creates the shop and edits `B` once by moving a line. From then on, `B` has an input of low durability.
fn shop_with_edited() -> Shop {
    let mut shop = shop();
    shop.archive("app").put(&b(".line 9\n iconst_1\n pop\n return"));
    shop.ran();
    shop
}

/// The number of times the program was rebuilt, and the number of updates in place.
fn of(shop: &Shop) -> (u64, u64) {
    let Counts { rebuilt, updated, .. } = shop.host.counts();
    (rebuilt, updated)
}

#[test]
fn equal_bytes_run_no_query() {
    let mut shop = shop();
    insta::assert_snapshot!(shop.ran(), @"");
    assert_eq!(shop.checked(), "", "no input was set");
}

#[test]
fn a_first_edit_runs_only_queries_about_the_class() {
    let mut shop = shop();
    let before = shop.archive("app").classes.iter().find(|it| it.0 == "B").unwrap().1.clone();
    shop.archive("app").put(&b(".line 9\n iconst_1\n pop\n return"));
    // The class has another input now, but the program is the same.
    insta::assert_snapshot!(shop.ran(), @"calls(B) container_records(app) facts(B) graphs(B) parsed(B) positions(B) record(B) throws(B)");
    // When the old content returns, all its memoized values are valid.
    shop.archive("app").put_bytes("B", before);
    insta::assert_snapshot!(shop.ran(), @"container_records(app)");
    // The same holds for the memoized values of the edited class.
    shop.archive("app").put(&b(".line 9\n iconst_1\n pop\n return"));
    insta::assert_snapshot!(shop.ran(), @"container_records(app)");
    assert_eq!(of(&shop), (1, 0));
}

/// The classes that are validated after an edit that moves `B` to this line.
fn looked_at(shop: &mut Shop, line: u32) -> Vec<String> {
    shop.archive("app").put(&b(&format!(".line {line}\n iconst_1\n pop\n return")));
    shop.ran();
    let checked = shop.checked();
    checked.split(' ').filter(|it| it.starts_with("parsed(")).map(str::to_owned).collect()
}

#[test]
fn classes_that_were_never_edited_are_not_validated() {
    let mut shop = shop_with_edited();
    assert_eq!(looked_at(&mut shop, 4), [""; 0]);
    // A class that was edited once is validated after each edit.
    let a =
        ".class public final p/A\n.method public static a()V\n nop\n invokestatic p/B.b()V\n return\n.end";
    shop.archive("app").put(a);
    shop.ran();
    assert_eq!(looked_at(&mut shop, 5), ["parsed(A)"]);
}

#[test]
fn editing_a_body_stops_at_the_summary() {
    let mut shop = shop_with_edited();
    // The edit adds a loop, which has no effect outside the method.
    let code = "iconst_2\n istore_0\nL: iinc 0 -1\n iload_0\n ifgt L\n return";
    shop.archive("app").put(&b(code));
    insta::assert_snapshot!(shop.ran(), @"calls(B) facts(B) graphs(B) parsed(B) positions(B) record(B)");
    assert_eq!(of(&shop), (1, 0));
}

#[test]
fn a_tier_that_did_not_change_is_one_look() {
    let mut shop = shop();
    shop.archive("app").put(&b(THROWS));
    shop.ran();
    let checked = shop.checked();
    // All that was asked about is validated. Of the library and the JDK, only the list of records is, and no class.
    assert!(checked.contains("facts(A)"), "{checked}");
    let others: Vec<&str> =
        checked.split(' ').filter(|it| it.contains("lib") || it.contains("jdk")).collect();
    assert_eq!(others, ["container_records(jdk)", "container_records(lib)"]);
}

#[test]
fn an_edit_looks_at_no_other_class() {
    let mut shop = shop_with_edited();
    let records = |shop: &mut Shop| {
        shop.solve();
        let checked = shop.checked();
        checked.split(' ').filter(|it| it.contains("record")).collect::<Vec<_>>().join(" ")
    };
    // The records of all classes that were never edited are one value for each container.
    shop.archive("app").put(&b(THROWS));
    insta::assert_snapshot!(records(&mut shop), @"base_records(app) container_records(jdk) container_records(lib)");
    // Adding or removing a class does not change that value.
    shop.archive("app").put(".class public final p/E\n.method public static e()V\n return\n.end");
    insta::assert_snapshot!(records(&mut shop), @"base_records(app) container_records(jdk) container_records(lib) record(B)");
    shop.archive("app").remove("D");
    insta::assert_snapshot!(records(&mut shop), @"base_records(app) container_records(jdk) container_records(lib) record(B) record(E)");
    shop.ran();
}

#[test]
fn moving_lines_changes_only_positions() {
    let mut shop = shop_with_edited();
    shop.archive("app").put(&b(".line 4\n iconst_1\n pop\n return"));
    insta::assert_snapshot!(shop.ran(), @"facts(B) parsed(B) positions(B) record(B)");
}

#[test]
fn a_new_throw_is_taken_in() {
    let mut shop = shop();
    assert_eq!(shop.known("app", "A"), [""; 0]);
    shop.archive("app").put(&b(THROWS));
    // The class and its callers are recomputed.
    insta::assert_snapshot!(shop.ran(), @"calls(B) container_records(app) facts(B) graphs(A) graphs(B) parsed(B) positions(B) propagated \
         record(B) throws(A) throws(B)");
    assert_eq!(of(&shop), (1, 1));
    assert_eq!(shop.known("app", "A"), ["NullPointerException"]);
}

#[test]
fn an_edit_asks_again_only_where_it_is_seen() {
    let mut shop = shop();
    shop.archive("app").put(&b(THROWS));
    let ran = shop.ran();
    // The solution is one value. For each class, a cheap query looks up since when its answers are valid.
    let of_all = |query: &str| ["A", "B", "D", "J", "K", "S"].map(|it| format!("{query}({it})")).join(" ");
    let all = ["calls_since", "graphs_since", "throws_since"].map(of_all).join(" ");
    assert_eq!(shop.looked_up(), all);
    // `A` calls `B`, and the target of that call is unchanged, so `calls(A)` does not run.
    let asked: Vec<&str> = ran.split(' ').filter(|it| !it.contains("(B)")).collect();
    assert_eq!(asked, ["container_records(app)", "graphs(A)", "propagated", "throws(A)"]);
}

#[test]
fn keep_current_changes_no_answer() {
    let mut shop = shop();
    shop.host.keep_current(&mut || false);
    insta::assert_snapshot!(shop.ran(), @"");
    shop.archive("app").put(&b(THROWS));
    shop.ran();
    shop.host.keep_current(&mut || false);
    insta::assert_snapshot!(shop.ran(), @"");
    assert_eq!(of(&shop), (1, 1));
    assert_eq!(shop.known("app", "A"), ["NullPointerException"]);
}

#[test]
fn a_private_method() {
    let mut shop = shop();
    shop.archive("app").put(&format!("{}\n.method private static x()V\n return\n.end", b("return")));
    // The private method is not visible outside, but callers of the class are recomputed because their calls may now
    // resolve differently.
    insta::assert_snapshot!(shop.ran(), @"calls(A) calls(B) container_records(app) facts(B) graphs(A) graphs(B) parsed(B) positions(B) \
         propagated record(B) throws(A) throws(B)");
    assert_eq!(of(&shop), (1, 1));
}

#[test]
fn a_method_reference_in_a_body() {
    let mut shop = shop();
    assert_eq!(shop.known("app", "K"), [""; 0]);
    let lookup = "Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;";
    let rest = "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;";
    let reference = format!(
        ".class public final p/D\n.version 52.0
         .bootstrap b0 invokestatic java/lang/invoke/LambdaMetafactory.metafactory({lookup}{rest})Ljava/lang/invoke/CallSite; \
         methodtype ()V handle invokestatic lib/L.l()V methodtype ()V
         .method public static d()V
           invokedynamic b0 run()Llib/Job;
           pop
           invokestatic lib/L.l()V
           return
         .end"
    );
    shop.archive("jdk").put(".class public final jdk/S\n.method public static s()V\n iconst_1\n iconst_0\n idiv\n pop\n return\n.end");
    shop.ran();
    assert_eq!(shop.known("app", "D"), ["ArithmeticException"]);
    assert_eq!(shop.known("app", "K"), [""; 0]);
    shop.archive("app").put(&reference);
    // No outline changed, but the calls in `K` have one more receiver.
    insta::assert_snapshot!(shop.ran(), @"calls(D) calls(K) container_records(app) facts(D) graphs(D) graphs(K) parsed(D) positions(D) \
         propagated record(D) throws(D) throws(K)");
    assert_eq!(shop.known("app", "K"), ["ArithmeticException"]);
    assert_eq!(of(&shop), (1, 2));
}

#[test]
fn an_override() {
    let mut shop = shop();
    shop.archive("app").put(
        ".class public p/S\n.super p/J\n.method public run()V\n iconst_1\n iconst_0\n idiv\n pop\n return\n.end",
    );
    insta::assert_snapshot!(shop.ran(), @"calls(K) calls(S) container_records(app) facts(S) graphs(K) graphs(S) parsed(S) positions(S) \
         propagated record(S) throws(K) throws(S)");
    assert_eq!(shop.known("app", "K"), ["ArithmeticException"]);
    assert_eq!(of(&shop), (1, 1));
}

#[test]
fn an_exception_class() {
    let mut shop = shop();
    shop.archive("app").put(
        ".class public final p/A
         .method public static a(Lp/E;)V
           .catch java/lang/RuntimeException from F to T using H
         F: aload_0
           athrow
         T: nop
         H: pop
           return
         .end",
    );
    shop.ran();
    shop.archive("app").put(".class public p/E\n.super java/lang/RuntimeException");
    // The facts of `A` hold only names. What the types behind them are is a question to the solution alone.
    insta::assert_snapshot!(shop.ran(), @"calls(A) calls(B) calls(D) calls(E) calls(J) calls(K) calls(S) container_records(app) facts(E) \
         graphs(A) graphs(B) graphs(D) graphs(E) graphs(J) graphs(K) graphs(S) parsed(E) positions(E) \
         propagated record(E) throws(A) throws(B) throws(D) throws(E) throws(J) throws(K) throws(S)");
    // The sets have a place for the type, first as a name, then as a class. Both edits update the program in place.
    assert_eq!(of(&shop), (1, 2));
}

#[test]
fn adding_replacing_and_removing_a_class() {
    let mut shop = shop();
    let x = |code: &str| format!(".class public final p/X\n.method public static x()V\n {code}\n.end");
    shop.archive("app").put(&x("return"));
    insta::assert_snapshot!(shop.ran(), @"calls(X) container_records(app) facts(X) graphs(X) parsed(X) positions(X) propagated record(X) \
         throws(X)");
    // The same file now holds another class.
    let y = x("return").replace("p/X", "p/Y");
    let bytes = Archive::new("other", Role::App, &y).classes.remove(0).1;
    shop.archive("app").put_bytes("X", bytes);
    insta::assert_snapshot!(shop.ran(), @"calls(X) container_records(app) facts(X) graphs(X) parsed(X) positions(X) propagated record(X) \
         throws(X)");
    shop.archive("app").remove("X");
    // The memoized values of the removed class are not validated.
    insta::assert_snapshot!(shop.ran(), @"container_records(app) propagated");
    assert_eq!(of(&shop), (1, 3));
}

#[test]
fn a_free_input_is_reused() {
    let mut shop = shop();
    let bytes = shop.archive("app").classes.iter().find(|it| it.0 == "S").unwrap().1.clone();
    shop.archive("app").remove("S");
    shop.ran();
    // A new file has the content of the removed class. No query runs for it only if it gets the free input that still
    // has the memoized values. The base is rebuilt to list that input.
    shop.archive("app").put_bytes("T", bytes);
    insta::assert_snapshot!(shop.ran(), @"base_records(app) calls(T) container_records(app) graphs(T) propagated throws(T)");
    // Two classes are removed and two others added, one of them with known content. It must get the input with that
    // content in whatever order they arrive.
    let bytes = shop.archive("app").classes.iter().find(|it| it.0 == "D").unwrap().1.clone();
    shop.archive("app").remove("T");
    shop.archive("app").remove("D");
    shop.ran();
    shop.archive("app").put_bytes("E", bytes);
    shop.archive("app").put(".class public p/U\n.super p/J");
    insta::assert_snapshot!(shop.ran(), @"base_records(app) calls(E) calls(U) container_records(app) facts(U) graphs(E) graphs(U) parsed(U) positions(U) \
         propagated record(U) throws(E) throws(U)");
    assert_eq!(of(&shop), (1, 4));
}

#[test]
fn a_shadowed_class() {
    let mut shop = shop();
    shop.archive("app").put(&b(THROWS));
    shop.ran();
    shop.archive("lib").put(&b("return"));
    // The application's class shadows the new one and hides its code, so the solution stays the same value.
    insta::assert_snapshot!(shop.ran(), @"container_records(lib) parsed(lib!B) propagated record(lib!B)");
    assert_eq!(of(&shop), (1, 1));
    // The shadowed class shares only its name with the other one.
    assert_eq!(shop.known("app", "B"), ["NullPointerException"]);
    assert_eq!(shop.known("lib", "B"), [""; 0]);
    // The same library as another container has other inputs, so all of it is read, and its `B` is shadowed as
    // before.
    shop.archive("lib").name = "other";
    insta::assert_snapshot!(shop.ran(), @"base_records(other) calls(A) calls(B) calls(D) calls(J) calls(K) calls(S) container_records(other) \
         graphs(A) graphs(B) graphs(D) graphs(J) graphs(K) graphs(S) parsed(other!B) parsed(other!Job) \
         parsed(other!L) propagated record(other!B) record(other!Job) record(other!L) throws(A) \
         throws(B) throws(D) throws(J) throws(K) throws(S)");
    assert_eq!(shop.known("other", "B"), [""; 0]);
    assert_eq!(of(&shop), (1, 2));
}

#[test]
fn uncovering_a_shadowed_class() {
    let mut shop = shop();
    assert_eq!(shop.known("app", "A"), [""; 0]);
    shop.archive("app").remove("B");
    // The library's class has been read already.
    insta::assert_snapshot!(shop.ran(), @"calls(A) calls(D) calls(J) calls(K) calls(S) container_records(app) graphs(A) graphs(D) \
         graphs(J) graphs(K) graphs(S) propagated throws(A) throws(D) throws(J) throws(K) throws(S)");
    assert_eq!(shop.known("lib", "B"), ["ArithmeticException"]);
    assert_eq!(shop.known("app", "A"), ["ArithmeticException"]);
    assert_eq!(of(&shop), (1, 1));
}

#[test]
fn two_equal_definitions_of_a_class() {
    let mut shop = shop();
    let twice = Archive::new("other", Role::Lib, &b(THROWS));
    shop.archives.push(twice);
    shop.archive("lib").put(&b(THROWS));
    shop.archive("app").remove("B");
    shop.ran();
    assert_eq!(shop.known("other", "B"), [""; 0]);
    shop.archive("lib").remove("B");
    // The program is the same, but another file defines its class `B`.
    insta::assert_snapshot!(shop.ran(), @"calls(A) calls(D) calls(J) calls(K) calls(S) container_records(lib) graphs(A) graphs(D) \
         graphs(J) graphs(K) graphs(S) propagated throws(A) throws(D) throws(J) throws(K) throws(S)");
    assert_eq!(shop.known("other", "B"), ["NullPointerException"]);
}

#[test]
fn adding_and_removing_the_last_jar() {
    let mut shop = shop();
    let d = ".class public final p/D\n.method public static d()V\n invokestatic q/Z.z()V\n return\n.end";
    shop.archive("app").put(d);
    // If no class has two definitions, only the containers that differ are compared.
    shop.archive("lib").remove("B");
    shop.ran();
    assert_eq!(shop.known("app", "D"), [""; 0]);
    let z = format!(".class public final q/Z\n.method public static z()V\n {THROWS}\n.end");
    shop.archives.push(Archive::new("other", Role::Lib, &z));
    shop.ran();
    assert_eq!(shop.known("app", "D"), ["NullPointerException"]);
    shop.archives.pop();
    shop.ran();
    assert_eq!(shop.known("app", "D"), [""; 0]);
    assert_eq!(of(&shop), (1, 3));
}

#[test]
fn a_class_that_becomes_a_ghost() {
    let mut shop = shop_with_edited();
    let with_body = shop.archive("app").classes.iter().find(|it| it.0 == "B").unwrap().1.clone();
    let ghost = with_ghosts(&with_body, &[("p/B.b()V".to_owned(), Vec::new())].into());
    shop.archive("app").put_bytes("B", ghost);
    // The code of the class is unchanged, but as a ghost it ranks after the library's definition.
    insta::assert_snapshot!(shop.ran(), @"calls(A) calls(B) calls(D) calls(J) calls(K) calls(S) container_records(app) graphs(A) \
         graphs(B) graphs(D) graphs(J) graphs(K) graphs(S) parsed(B) propagated record(B) throws(A) \
         throws(B) throws(D) throws(J) throws(K) throws(S)");
    assert_eq!(shop.known("app", "A"), ["ArithmeticException"]);
    assert_eq!(shop.known("app", "B"), [""; 0]);
}

#[test]
fn swapping_a_jar() {
    let mut shop = shop();
    // All classes of the jar are set again, but only one of them changed.
    *shop.archive("lib") = Archive::new("lib", Role::Lib, LIB);
    shop.archive("lib")
        .put(".class public final lib/L\n.method public static l()V\n aconst_null\n athrow\n.end");
    insta::assert_snapshot!(shop.ran(), @"container_records(lib) graphs(D) parsed(lib!L) propagated record(lib!L) throws(D)");
    assert_eq!(of(&shop), (1, 1));
    assert_eq!(shop.known("app", "D"), ["NullPointerException"]);
    // Remove the jar and add it again: nothing in it is read again, because each class gets the input that it had.
    let lib = shop.archives.remove(1);
    insta::assert_snapshot!(shop.ran(), @"calls(A) calls(B) calls(D) calls(J) calls(K) calls(S) graphs(A) graphs(B) graphs(D) graphs(J) \
         graphs(K) graphs(S) propagated throws(A) throws(B) throws(D) throws(J) throws(K) throws(S)");
    shop.archives.insert(1, lib);
    insta::assert_snapshot!(shop.ran(), @"calls(A) calls(B) calls(D) calls(J) calls(K) calls(S) graphs(A) graphs(B) graphs(D) graphs(J) \
         graphs(K) graphs(S) propagated throws(A) throws(B) throws(D) throws(J) throws(K) throws(S)");
    assert_eq!(of(&shop), (1, 3));
}

#[test]
fn switching_the_jdk() {
    let mut shop = shop();
    let mut newer = Archive::new("newer", Role::Jdk, JDK);
    newer.put(".class public final jdk/S\n.method public static s()V\n aconst_null\n athrow\n.end");
    let old = std::mem::replace(shop.archive("jdk"), newer);
    // The whole new JDK is read, and nothing else.
    insta::assert_snapshot!(shop.ran(), @"base_records(newer) container_records(newer) graphs(D) parsed(newer!Object) parsed(newer!S) propagated \
         record(newer!Object) record(newer!S) throws(D)");
    assert_eq!(shop.known("app", "D"), ["NullPointerException"]);
    *shop.archive("newer") = old;
    insta::assert_snapshot!(shop.ran(), @"graphs(D) propagated throws(D)");
    assert_eq!(shop.known("app", "D"), [""; 0]);
    assert_eq!(of(&shop), (1, 2));
}

#[test]
fn settings_and_roles() {
    let mut shop = shop();
    for world in [WorldKind::Closed, WorldKind::Declared, WorldKind::Open] {
        shop.settings.options.world = world;
        assert_eq!(
            shop.ran(),
            "calls(A) calls(B) calls(D) calls(J) calls(K) calls(S) graphs(A) graphs(B) graphs(D) graphs(J) \
         graphs(K) graphs(S) propagated throws(A) throws(B) throws(D) throws(J) throws(K) throws(S)"
        );
    }
    shop.archive("lib").role = Role::App;
    assert_eq!(
        shop.ran(),
        "calls(D) calls(J) calls(K) calls(S) graphs(D) graphs(J) graphs(K) graphs(S) propagated \
         throws(D) throws(J) throws(K) throws(S)"
    );
    assert_eq!(of(&shop), (4, 1));
}
