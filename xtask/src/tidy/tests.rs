//! Tests of the checks: each check reports a small bad checkout, and accepts a similar good one. The last test runs
//! `tidy` on this checkout.

use std::path::Path;

use super::{Checkout, Tree, check};

const HOUSE: &str = r#"
[arrows]
low = []
high = ["low"]
driver = ["low"]
[dev]
rooms = ["low"]
[packages]
salsa = ["high"]
rustc-hash = ["*"]
[test-packages]
anywhere = ["insta"]
[[effects]]
name = "files"
mentions = ["std::fs", "std::thread"]
macros = ["println"]
methods = ["read_dir"]
rooms = ["driver"]
[[effects]]
name = "round the queries"
mentions = ["low::whole", "low::answer::one"]
methods = ["keeper"]
rooms = []
why = "one way"
instead = "ask the session"
[queries]
class-keys = ["ClassFile"]
whole = []
[unsafe]
modules = ["crates/driver/src/image_map"]
[limits]
file = 20
function = 5
methods = 3
impl-files = 1
file-dependencies = 1
"ARCHITECTURE.md" = 9
"README.md" = 3
"#;

const MANIFEST: &str = "[dependencies]\n[lints]\nworkspace = true\n";

/// Replaces or adds these files (path and text) in a small checkout without violations. Returns the violations that
/// tidy then reports, one per line.
fn tidy(changes: &[(&str, &str)]) -> String {
    let mut files = vec![
        ("xtask/arrows.toml", HOUSE),
        ("crates/low/Cargo.toml", MANIFEST),
        ("crates/low/src/lib.rs", "//! Low."),
        ("crates/high/Cargo.toml", "[dependencies]\nlow.workspace = true\n[lints]\nworkspace = true\n"),
        ("crates/high/src/lib.rs", "//! High."),
        ("crates/driver/Cargo.toml", MANIFEST),
        ("crates/driver/src/lib.rs", "//! Driver."),
        ("ARCHITECTURE.md", "### low\nx\n### `high`\nx\n### driver\n"),
        ("README.md", "Hello"),
        ("LICENSE-MIT", ""),
        ("LICENSE-APACHE", ""),
    ];
    for change in changes {
        files.retain(|file| file.0 != change.0);
        files.push(*change);
    }
    files.retain(|file| file.1 != "(gone)");
    let checkout = Checkout::new(Tree::from_texts(&files)).unwrap();
    let lines =
        check(&checkout).into_iter().map(|it| format!("{}:{} {} {}", it.file, it.line, it.check, it.what));
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn expect(changes: &[(&str, &str)], expected: &str) {
    assert_eq!(tidy(changes), expected);
}

#[test]
fn a_good_checkout_is_tidy() {
    expect(&[], "");
}

#[test]
fn an_arrow_up_is_refused_but_for_tests() {
    expect(
        &[("crates/low/Cargo.toml", "[lints]\nworkspace = true\n[dependencies]\nhigh.workspace = true\n")],
        "crates/low/Cargo.toml:4 arrows the arrow low -> high is not allowed",
    );
    expect(
        &[(
            "crates/low/Cargo.toml",
            "[lints]\nworkspace = true\n[dev-dependencies]\nhigh = { path = '../high' }\n",
        )],
        "crates/low/Cargo.toml:4 arrows the arrow low -> high is not allowed",
    );
    expect(
        &[(
            "crates/driver/Cargo.toml",
            "[dev-dependencies]\nlow.workspace = true\n[lints]\nworkspace = true\n",
        )],
        "",
    );
}

#[test]
fn a_package_appears_only_where_it_may() {
    let manifest = |section: &str, package: &str| {
        format!("[{section}]\n{package}\nrustc-hash = '2'\n[lints]\nworkspace = true\n")
    };
    expect(
        &[("crates/low/Cargo.toml", &manifest("dependencies", "salsa.workspace = true"))],
        "crates/low/Cargo.toml:2 arrows the package salsa may not appear in low",
    );
    expect(
        &[("crates/low/Cargo.toml", &manifest("target.'cfg(unix)'.dependencies", "salsa = '0.28'"))],
        "crates/low/Cargo.toml:2 arrows the package salsa may not appear in low",
    );
    expect(
        &[("crates/low/Cargo.toml", &manifest("dependencies", "s = { package = 'salsa', version = '0' }"))],
        "crates/low/Cargo.toml:2 arrows the package salsa may not appear in low",
    );
    expect(
        &[("crates/low/Cargo.toml", &manifest("dependencies", "insta = '1'"))],
        "crates/low/Cargo.toml:2 arrows the package insta may not appear in low",
    );
    expect(&[("crates/low/Cargo.toml", &manifest("dev-dependencies", "insta = '1'"))], "");
}

#[test]
fn rooms_are_folders_and_arrows_point_down() {
    let house = HOUSE.replace("low = []", "low = ['high']\ncellar = []");
    expect(
        &[("xtask/arrows.toml", &house)],
        "xtask/arrows.toml:1 arrows the arrows form a cycle: high -> low -> high\n\
         xtask/arrows.toml:1 arrows the room cellar has no folder",
    );
    expect(
        &[
            ("crates/shed/Cargo.toml", MANIFEST),
            ("ARCHITECTURE.md", "### low\n### high\n### driver\n### shed\n"),
        ],
        "xtask/arrows.toml:1 arrows the folder of shed is not listed as a room",
    );
}

#[test]
fn rooms_take_the_lints() {
    expect(
        &[("crates/low/Cargo.toml", "[dependencies]\n")],
        "crates/low/Cargo.toml:1 lints the manifest does not inherit the lints of the workspace",
    );
    let own = "[lints.rust]\nmissing_docs = 'deny'\nunsafe_code = 'deny'\n";
    expect(&[("crates/driver/Cargo.toml", own)], "");
    expect(
        &[("crates/low/Cargo.toml", own)],
        "crates/low/Cargo.toml:1 lints the manifest does not inherit the lints of the workspace",
    );
    expect(
        &[("crates/driver/Cargo.toml", "[lints.rust]\nmissing_docs = 'deny'\nunsafe_code = 'allow'\n")],
        "crates/driver/Cargo.toml:1 lints the manifest does not inherit the lints of the workspace",
    );
}

#[test]
fn files_parse_and_are_reached() {
    expect(
        &[("crates/low/src/a.rs", "//! A.")],
        "crates/low/src/a.rs:1 reached no `mod` line reaches this file",
    );
    expect(
        &[("crates/low/src/lib.rs", "//! Low.\nfn f( {}\n")],
        "crates/low/src/lib.rs:2 parses the file cannot be parsed: cannot parse string into token stream",
    );
}

const LOW_AB: (&str, &str) = ("crates/low/src/lib.rs", "//! Low.\nmod a;\nmod b;\nmod c;");

#[test]
fn modules_form_no_cycle() {
    let a = ("crates/low/src/a.rs", "//! A.\nuse crate::{b::{self, B}, Other};\n");
    let c = ("crates/low/src/c.rs", "//! C.\nfn f() { println(format!(\"{}\", crate::a::x())) }\n");
    expect(
        &[LOW_AB, a, ("crates/low/src/b.rs", "//! B.\nfn f() -> super::c::C {}\n"), c],
        "crates/low/src/a.rs:2 module-cycle modules below `crate` form a cycle: a -> b -> c -> a",
    );
    // A test may look up, and so may a string or a child at its parent.
    let b = "//! B.\nmod d;\n#[cfg(test)]\nmod tests { use crate::a::A; }\nconst S: &str = \"crate::a\";\n";
    let d = ("crates/low/src/b/d.rs", "//! D.\nuse super::B;\nuse crate::b::X;\n");
    expect(&[LOW_AB, a, ("crates/low/src/b.rs", b), d, c], "");
}

#[test]
fn inner_modules_form_no_cycle() {
    let b = ("crates/low/src/b.rs", "//! B.\nmod d;\nmod e { use super::d::D; }\n");
    let d = ("crates/low/src/b/d.rs", "//! D.\nuse super::e::E;\n");
    let [a, c] = [("crates/low/src/a.rs", "//! A."), ("crates/low/src/c.rs", "//! C.")];
    expect(
        &[LOW_AB, a, b, c, d],
        "crates/low/src/b/d.rs:2 module-cycle modules below `b` form a cycle: d -> e -> d",
    );
}

/// `low` with the modules `a`, `b` and `c`, the file of `a` and the file of `b`.
fn low(a: &str, b: &str) -> String {
    let (a, b) = (format!("//! A.\n{a}\n"), format!("//! B.\n{b}\n"));
    tidy(&[
        LOW_AB,
        ("crates/low/src/a.rs", &a),
        ("crates/low/src/b.rs", &b),
        ("crates/low/src/c.rs", "//! C.\n"),
    ])
}

#[test]
fn method_calls_form_no_cycle() {
    let cycle = |call: &str| {
        format!(
            "crates/low/src/a.rs:3 module-cycle modules below `crate` form a cycle: a -> b -> a \
             (crates/low/src/a.rs:3 calls `{call}`)"
        )
    };
    let b = "use crate::a::A;\npub struct B { d: D }\nimpl B { pub fn above(self) -> D { self.d } }\n\
             pub struct D;\nimpl D { fn deep(&self) {} }";
    let a = |body: &str| format!("pub struct A;\nfn f<T>(x: A, it: T, list: Vec<A>) {{ {body} }}");
    for (body, call) in [
        ("it.above()", "B::above"),
        ("assert!(it.above(), \"x\")", "B::above"),
        ("matches!(it.above(), None if true)", "B::above"),
        ("list.iter().map(|it| it.above())", "B::above"),
        ("list.iter().map(B::above)", "B::above"),
        ("let it = B::above(it); it.deep()", "B::above"),
    ] {
        assert_eq!(low(&a(body), b), cycle(call), "{body}");
    }
    // The receiver has another type, or any type could be meant.
    for body in ["list.above()", "let it = vec![x]; it.abov()", "it.get()", "x.above()", "it.above"] {
        assert_eq!(low(&a(body), &format!("{b}\nimpl B {{ fn get(&self) {{}} }}")), "", "{body}");
    }
    let twice = format!("{b}\nstruct E;\nimpl E {{ fn above(&self) {{}} }}");
    assert_eq!(low(&a("it.above()"), &twice), "");
    // Of a type that is known even a name that others have counts.
    let field = "pub struct A { b: B }\nimpl A { fn f(&self) { self.b.above() } }";
    assert_eq!(low(field, &twice), cycle("B::above"));
    // A method that a trait of elsewhere gives has no one definition.
    let foreign = format!("{b}\nimpl std::fmt::Shown for B {{ fn above(&self) {{}} }}");
    assert_eq!(low(&a("it.above()"), &foreign), "");
    let by_macro = format!("{b}\nimpl B {{ flags! {{ above: 1 }} }}\nmethods!(above);");
    assert_eq!(low(&a("it.above()"), &by_macro), "");
    // The type is one of another crate with the same name.
    let imported = "use other::B;\npub struct A;\nfn f(b: B) { b.above(); B::above(b) }";
    assert_eq!(low(imported, &twice), "");
    // Or one of the file itself.
    let own = "pub struct A;\nstruct B;\nimpl B { fn above(self) {} }\nfn f(b: B) { b.above() }";
    assert_eq!(low(own, b), "");
    // Of two types with one name the imported one is meant.
    let two = "use super::b::B;\npub struct A;\nfn f(b: B) { b.above() }";
    let c = ("crates/low/src/c.rs", "//! C.\nstruct B;\nimpl B { fn above(self) {} }");
    let files = [
        LOW_AB,
        ("crates/low/src/a.rs", &*format!("//! A.\n{two}\n")),
        ("crates/low/src/b.rs", &*format!("//! B.\n{b}\n")),
        c,
    ];
    assert!(tidy(&files).contains("a -> b -> a"));
    // What rooms below define may be meant as well.
    let high_a = "//! A.\nstruct A;\nfn f<T>(x: T) { x.above() }\n";
    let high_b = "//! B.\nuse crate::a::A;\nimpl A { fn above(&self) {} }\n";
    let high: [(&str, &str); 3] = [
        ("crates/high/src/lib.rs", "//! High.\nmod a;\nmod b;"),
        ("crates/high/src/a.rs", high_a),
        ("crates/high/src/b.rs", high_b),
    ];
    assert!(tidy(&high).contains("module-cycle"));
    let below = ("crates/low/src/lib.rs", "//! Low.\nstruct L;\nimpl L { pub fn above(&self) {} }");
    expect(&[high[0], high[1], high[2], below], "");
}

#[test]
fn files_and_their_parents_call_one_way() {
    let lib = |body: &str| {
        format!("//! Low.\nmod a;\npub struct L(u8);\nimpl L {{\npub fn f(&self) {{ {body} }}\n}}\n")
    };
    let a = |body: &str| {
        format!("//! A.\nuse crate::L;\npub struct A;\nimpl A {{ pub fn g(&self, l: &L) {{ {body} }} }}\n")
    };
    let said =
        |l: &str, a_: &str| tidy(&[("crates/low/src/lib.rs", &lib(l)), ("crates/low/src/a.rs", &a(a_))]);
    assert_eq!(
        said("a::A.g(self)", "l.f()"),
        "crates/low/src/a.rs:4 call-cycle this file calls `L::f` of crates/low/src/lib.rs, which calls `A::g` of this file (line 5)"
    );
    assert_eq!(said("h()", "l.f()"), "");
    assert_eq!(said("self.0", "l.f()"), "");
    assert_eq!(said("h(a::A.g(self))", "l.0"), "");
    // Constructors are a use of the type, not of what its methods do.
    let constructor = lib("a::A.g(self)").replace("impl L {", "impl L {\nfn new() -> L { L(h()) }");
    assert_eq!(tidy(&[("crates/low/src/lib.rs", &constructor), ("crates/low/src/a.rs", &a("L::new()"))]), "");
}

#[test]
fn types_have_few_methods_in_few_files() {
    let a = "pub struct A;\nimpl A { fn a(&self) {} fn b(&self) {} fn c(&self) {} }\n#[cfg(test)]\nimpl A { fn d(&self) {} }";
    assert_eq!(low(a, ""), "");
    let b = "use crate::a::A;\nimpl A { fn e(&self) {} }";
    assert_eq!(
        low(a, b),
        "crates/low/src/a.rs:3 type-size `A` has 4 methods, 3 allowed\n\
         crates/low/src/a.rs:3 type-size the methods of `A` are in 2 files, 1 allowed: \
         crates/low/src/a.rs (3), crates/low/src/b.rs (1)"
    );
    assert_eq!(low(a, "struct A;\nimpl A { fn e(&self) {} }"), "");
    assert_eq!(low(a, "use crate::a::A;\nimpl Clone for A { fn clone(&self) -> A {} }"), "");
}

#[test]
fn recursive_rooms_may_have_large_types_and_cycles_of_calls() {
    let a = "use crate::b::B;\npub struct A;\nimpl A { fn a(&self) {} fn b(&self) {} fn c(&self, it: B) { it.e() } }";
    let b = "pub struct B;\nimpl B { fn e(&self) {} }\nimpl crate::a::A { fn f(&self) {} fn g(self) { self.a() } }";
    let said = |b: &str, reason: &str| {
        let house = format!("{HOUSE}[recursive]\nlow = '{reason}'\n");
        let (a, b) = (format!("//! A.\n{a}\n"), format!("//! B.\n{b}\n"));
        tidy(&[
            LOW_AB,
            ("crates/low/src/a.rs", &a),
            ("crates/low/src/b.rs", &b),
            ("crates/low/src/c.rs", "//! C.\n"),
            ("xtask/arrows.toml", &house),
        ])
    };
    assert_eq!(said("pub struct B;", "a grammar"), "");
    let cycle = "crates/low/src/a.rs:2 module-cycle modules below `crate` form a cycle: a -> b -> a";
    // Cycles of paths count, and a reason is needed.
    assert_eq!(said(b, "a grammar"), cycle);
    assert!(said(b, " ").contains("type-size `A` has 5 methods, 3 allowed"));
    // Without the path, only calls form the cycle.
    let b = "pub struct B;\nimpl B { fn e(&self) {} }\nimpl A { fn f(&self) {} fn g(self) { self.a() } }";
    assert_eq!(said(b, "a grammar"), "");
    assert!(said(b, "").contains("module-cycle"));
}

#[test]
fn files_depend_on_few_others() {
    let a = "use crate::c::C;\nfn f() { super::b::g() }";
    assert_eq!(low(a, ""), "");
    let house = format!("{HOUSE}[few-dependencies]\nrooms = ['low']\n");
    let files = |a: &str| {
        let a = format!("//! A.\n{a}\n");
        let [b, c] = [
            ("crates/low/src/b.rs", "//! B."),
            ("crates/low/src/c.rs", "//! C.\nimpl C { fn only(&self) {} }"),
        ];
        tidy(&[LOW_AB, ("crates/low/src/a.rs", &a), b, c, ("xtask/arrows.toml", &house)])
    };
    let said = "crates/low/src/a.rs:1 file-dependencies the file depends on 2 other files, 1 allowed: \
                crates/low/src/b.rs, crates/low/src/c.rs";
    assert_eq!(files(a), said);
    assert_eq!(files("fn f<T>(x: T) { super::b::g(x.only()) }"), said);
    assert_eq!(files("use crate::c::C;"), "");
}

#[test]
fn public_items_have_a_product_caller() {
    let house = format!("{}[public]\n", HOUSE.replace("[dev]\nrooms = [\"low\"]", "[dev]\nrooms = []"));
    let said = |low: &str, high: &str, public: &str| {
        let (low, high) = (format!("//! Low.\n{low}\n"), format!("//! High.\n{high}\n"));
        let house = format!("{house}{public}");
        tidy(&[
            ("crates/low/src/lib.rs", &low),
            ("crates/high/src/lib.rs", &high),
            ("xtask/arrows.toml", &house),
        ])
    };
    let unused = |item: &str| {
        format!("crates/low/src/lib.rs:2 unused-public no product code uses the public item `low::{item}`")
    };
    let no_exception = |item: &str| {
        format!("xtask/arrows.toml:1 unused-public the exception for `low::{item}` has no reason or no use")
    };
    let f = "pub fn f() { f() }";
    for high in [
        "",
        "pub use low::f;",
        "use low::f;",
        "fn g() { let f = 1; x.f; x.f(); A::f(); f::g(); }",
        "/// [`f`]\nfn g() {}",
        "#[cfg(test)]\nmod t { fn g() { low::f() } }",
        "struct A;\nimpl A { #[cfg(test)]\nfn g() { low::f() } }",
        "struct A { f: u8 }",
    ] {
        assert_eq!(said(f, high, ""), unused("f"), "{high}");
    }
    for high in [
        "fn g() { low::f() }",
        "use low::f;\nfn g() { f() }",
        "use low::f;\nfn g() { map(f) }",
        "use low::f as h;",
        "fn g() { assert!(f::<u8>()) }",
        "#[serde(default = \"low::f\")]\nstruct A;",
    ] {
        assert_eq!(said(f, high, ""), "", "{high}");
    }
    assert_eq!(said("pub(crate) fn f() {}\nfn g() {}", "", ""), "");
    assert_eq!(said("pub fn g() { f() }\npub fn f() {}", "", "").lines().count(), 2);
    assert_eq!(tidy(&[("crates/low/tests/t.rs", "//! T.\npub fn f() {}")]), "");
    // `low` is a room for tests in the other house.
    expect(&[("crates/low/src/lib.rs", &format!("//! Low.\n{f}\n"))], "");

    let ty = "pub struct A;\nimpl A { fn a(self) -> A {} }\nimpl Clone for A { fn clone(&self) -> A {} }";
    assert_eq!(said(ty, "use low::A;", ""), unused("A"));
    assert_eq!(said(ty, "fn g(it: low::A) {}", ""), "");
    assert_eq!(said("pub enum A { B }", "use low::A::*;", ""), "");
    assert_eq!(said("pub trait A { fn a(&self) {} }", "use low::A;", ""), "");
    assert_eq!(said("pub trait A { fn a(&self) {} }\nimpl A for u8 {}", "", ""), unused("A"));
    let method = "struct A; impl A { pub fn f(&self) {} }";
    for high in ["", "fn g() { f() }", "fn g() { x.f }", "fn g() { low::f() }"] {
        assert_eq!(said(method, high, ""), unused("A::f"), "{high}");
    }
    for high in ["fn g() { x.f() }", "fn g() { map(A::f) }"] {
        assert_eq!(said(method, high, ""), "", "{high}");
    }

    assert_eq!(said(f, "", "'low::f' = 'the fuzz target'\n"), "");
    assert_eq!(said(f, "fn g() { low::f() }", "'low::f' = 'the fuzz target'\n"), no_exception("f"));
    let without_reason = said(f, "", "'low::f' = ' '\n");
    assert_eq!(without_reason, format!("{}\n{}", unused("f"), no_exception("f")));
}

#[test]
fn effects_stay_where_they_may() {
    for (code, what) in [
        ("use std::{fmt, fs};", "std::fs"),
        ("use std::fs::{File, self as f};", "std::fs::File"),
        ("fn f() { std::thread::spawn(|| ()); }", "std::thread::spawn"),
        ("fn f() { println!(\"x\"); }", "println!"),
        ("fn f() { x(p.read_dir()) }", ".read_dir()"),
    ] {
        let text = format!("//! Low.\n{code}\n");
        let said = tidy(&[("crates/low/src/lib.rs", &text)]);
        assert!(
            said.starts_with(&format!(
                "crates/low/src/lib.rs:2 effects `{what}` may not be used in low (files)"
            )),
            "{said}"
        );
        expect(&[("crates/driver/src/lib.rs", &text)], "");
        expect(&[("crates/low/tests/t.rs", &text)], "");
        let inner = format!("//! Low.\n#[cfg(test)]\nmod tests {{\n{code}\n}}\n");
        expect(&[("crates/low/src/lib.rs", &inner)], "");
    }
    expect(&[("crates/low/src/lib.rs", "//! Low.\nuse std::fsx;\nfn read_dir() {}\n")], "");
}

#[test]
fn effects_stay_in_the_files_that_may() {
    let house = HOUSE.replace("rooms = []", "rooms = []\nfiles = ['crates/driver/src/lib.rs']");
    for (code, what) in [
        ("use low::{answer, whole::read};", "low::whole::read"),
        ("use low::*;", "low::*"),
        ("use low::answer::one;", "low::answer::one"),
        ("fn f() { low::whole::read(x.keepers()) }", "low::whole::read"),
        ("fn f() { db.keeper().x }", ".keeper()"),
    ] {
        let text = format!("//! X.\n{code}\n");
        expect(
            &[("crates/high/src/lib.rs", &text)],
            &format!("crates/high/src/lib.rs:2 effects `{what}` may not be used in high (round the queries)"),
        );
        expect(&[("crates/driver/src/lib.rs", &text), ("xtask/arrows.toml", &house)], "");
        expect(&[("crates/high/tests/t.rs", &text)], "");
    }
    let near = "//! High.\nuse low::answer::{One, ones};\nuse low::wholes::*;\n";
    expect(&[("crates/high/src/lib.rs", near)], "");
    expect(
        &[("xtask/arrows.toml", &house)],
        "xtask/arrows.toml:1 effects crates/driver/src/lib.rs is exempt, but needs no exemption (round the queries)",
    );
}

#[test]
fn test_modules_in_files_of_their_own_are_tests() {
    let lib = ("crates/low/src/lib.rs", "//! Low.\n#[cfg(test)]\nmod tests;");
    let deep = ("crates/low/src/tests/deep.rs", "//! Deep.\nuse std::fs;");
    expect(&[lib, ("crates/low/src/tests.rs", "//! Tests.\nmod deep;"), deep], "");
}

#[test]
fn unsafe_code_has_one_place() {
    let code = "//! X.\nfn f() {\n    // SAFETY: because\n    // it is so.\n    unsafe { g() }\n}\n";
    expect(&[("crates/low/src/lib.rs", code)], "crates/low/src/lib.rs:5 unsafe unsafe code");
    let lib = ("crates/driver/src/lib.rs", "//! X.\nmod image_map;");
    expect(&[lib, ("crates/driver/src/image_map.rs", code)], "");
    expect(
        &[lib, ("crates/driver/src/image_map.rs", &code.replace("SAFETY", "NOTE"))],
        "crates/driver/src/image_map.rs:5 unsafe the unsafe code has no comment that explains why it is sound",
    );
}

#[test]
fn files_open_with_their_doc() {
    let bare = "// X.\n//! Low.\n";
    expect(
        &[("crates/low/src/lib.rs", "fn f() {}")],
        "crates/low/src/lib.rs:1 module-docs the file does not begin with `//!`",
    );
    expect(
        &[("crates/low/tests/t.rs", bare.trim_end_matches("//! Low.\n"))],
        "crates/low/tests/t.rs:1 module-docs the file does not begin with `//!`",
    );
    expect(
        &[("crates/low/src/lib.rs", "//!\n")],
        "crates/low/src/lib.rs:1 module-docs the file does not begin with `//!`",
    );
}

#[test]
fn citations_lead_somewhere() {
    let page = "# Page\n## 3. Sets\n1. One\n7. **Seven**\n## Ground rules\n2. Two\n";
    let said = |comment: &str| {
        let lib = format!("//! Low.\n{comment}\nfn f() {{}}\n");
        tidy(&[("crates/low/src/lib.rs", &lib), ("docs/page.md", page), ("test-data/x/facts.txt", "")])
    };
    for good in [
        "// `page.md` §3",
        "// See `docs/page.md`, §3.7 and §3.1.",
        "// (`page.md`\n// §3.7)",
        "/// `page.md`, rule 2: it is so.",
        "/// `page.md`, \"Ground rules\", says so.",
        "// README.md and [`ARCHITECTURE.md`](ARCHITECTURE.md).",
        "// `facts.txt` and `test-data/x/facts.txt`; JVMS §9.9; `page.md` (JVMS §4).",
        "const S: &str = \"none.md conflex.txt\";",
        "// See https://example.org/x.md.",
    ] {
        assert_eq!(said(good), "", "{good}");
    }
    let at =
        |line: usize, what: &str| format!("crates/low/src/lib.rs:{line} citations the text cites {what}");
    let none = |what: &str| format!("{what} of `page.md`, which does not exist there");
    for (bad, line, what) in [
        ("// `none.md` §3", 2, "`none.md`, which is not in the repository".to_string()),
        (
            concat!("fn g() {}", " ", "// ../design/page.md"),
            2,
            "`../design/page.md`, which is not in the repository".to_string(),
        ),
        ("// as\n// `conflex.txt` Fig. 4", 3, "`conflex.txt`, which is not in the repository".to_string()),
        ("// `page.md` §3 and §4", 2, none("§4")),
        ("// `page.md`\n// §3.2", 2, none("§3.2")),
        ("// `page.md`, rule 7", 2, none("rule 7")),
        ("// `page.md`, \"Air\"", 2, none("\"Air\"")),
    ] {
        assert_eq!(said(bad), at(line, &what), "{bad}");
    }
    expect(
        &[("README.md", "See `none.md`.\n")],
        "README.md:1 citations the text cites `none.md`, which is not in the repository",
    );
    let beside = [("crates/low/src/lib.rs", "//! Low.\n// `notes.md`"), ("crates/low/src/notes.md", "")];
    expect(&beside, "");
}

#[test]
fn phrases_are_avoided() {
    let house = format!("{HOUSE}[phrases]\n'hangs on' = '\"depends on\"'\n'as [`' = 'it'\n'on' = 'about'\n");
    let said = |file: &str, text: &str| tidy(&[(file, text), ("xtask/arrows.toml", &house)]);
    let lib = "crates/low/src/lib.rs";
    for (text, line) in [
        ("//! Hangs on it.\n", 1),
        ("//! Low.\n/// It hangs\n/// on it.\nfn f() {}\n", 2),
        ("//! Low.\nfn f() {} // (hangs on)\n", 2),
        ("//! Low.\nfn f() {\n    print(\"x hangs on y\");\n}\n", 3),
        ("//! Low.\n//! As [`f`].\n", 2),
    ] {
        let phrase = if text.contains("As") { "as [`" } else { "hangs on" };
        assert_eq!(
            said(lib, text),
            format!("{lib}:{line} phrases the text has the forbidden phrase \"{phrase}\""),
            "{text}"
        );
    }
    for text in [
        "//! Changs to.\n",
        "//! Hangs one.\n",
        "//! Hangs.\nfn hangs() { on() }\n// Once.\n",
        "//! Low.\n#[cfg(test)]\nmod tests { const S: &str = \"hangs on\"; }\n",
        "//! It is as\n//! `f`.\n",
    ] {
        assert_eq!(said(lib, text), "", "{text}");
    }
    assert_eq!(
        said("docs/page.md", "It hangs\non it.\n"),
        "docs/page.md:1 phrases the text has the forbidden phrase \"hangs on\""
    );
    assert_eq!(said("test-data/A.java", "// hangs on\n"), "");
    expect(&[(lib, "//! Hangs on it.\n")], "");
}

#[test]
fn queries_say_how_they_behave() {
    let good = "//! High.\n/// What.\n/// **Reads:** x. **Stays when:** y. **Cost:** z.\n/// **Approximates:** nothing.\n\
        /// **Test:** `edits_stop`.\n#[salsa::tracked]\nfn query(db: &dyn Db, it: input::ClassFile) {}\n#[cfg(test)]\nmod tests { #[test] fn edits_stop() {} }\n";
    expect(&[("crates/high/src/lib.rs", good)], "");
    let no_test = "crates/high/src/lib.rs:7 query-headings the query `query` names the test `edits_stop`, which does not exist";
    expect(&[("crates/high/src/lib.rs", &good.replace("#[test]", ""))], no_test);
    // In a crate of tests any file may name the query, and so may those of one of several tests.
    let elsewhere = good.replace("#[cfg(test)]\nmod tests { #[test] fn edits_stop() {} }\n", "");
    let main = (
        "crates/low/tests/t/main.rs",
        "//! T.\nmod edits;\nmod shop;\nmod tests { #[test] fn edits_stop() {} }",
    );
    let shop = ("crates/low/tests/t/shop.rs", "//! S.\nfn run() { query(1) }");
    let edits = ("crates/low/tests/t/edits.rs", "//! E.");
    let both = elsewhere.replace("`edits_stop`", "`edits_stop` (in `low`), `edits_go_on`");
    let go_on = ("crates/low/tests/t.rs", "//! T.\nmod tests { #[test] fn edits_go_on() { queries() } }");
    expect(&[("crates/high/src/lib.rs", &elsewhere), main, shop, edits], "");
    expect(&[("crates/high/src/lib.rs", &both), main, shop, edits, go_on], "");
    expect(
        &[("crates/high/src/lib.rs", &both), main, shop, edits],
        &no_test.replace("edits_stop", "edits_go_on"),
    );
    let not_about = |tests: &str| {
        format!(
            "crates/high/src/lib.rs:7 query-headings the query `query` names tests, but no file of {tests} mentions the query"
        )
    };
    let other = ("crates/low/tests/t/shop.rs", "//! S.\nfn run() { queries(1) }");
    expect(&[("crates/high/src/lib.rs", &elsewhere), main, other, edits], &not_about("`edits_stop`"));
    expect(
        &[("crates/high/src/lib.rs", &both), main, other, edits, go_on],
        &not_about("`edits_stop`, `edits_go_on`"),
    );
    expect(
        &[("crates/high/src/lib.rs", &good.replace("**Cost:** z.", ""))],
        "crates/high/src/lib.rs:7 query-headings the query `query` has no **Cost:**",
    );
    expect(
        &[("crates/high/src/lib.rs", &good.replace("**Reads:** x.", "**Reads:**"))],
        "crates/high/src/lib.rs:7 query-headings the query `query` has no text after **Reads:**",
    );
    expect(
        &[("crates/high/src/lib.rs", &good.replace("fn edits_stop", "fn edits_go"))],
        "crates/high/src/lib.rs:7 query-headings the query `query` names the test `edits_stop`, which does not exist",
    );
    let method = "//! High.\nstruct ClassFile;\n#[salsa::tracked]\nimpl ClassFile {\n    #[salsa::tracked]\n    fn q(self) {}\n}\n";
    assert_eq!(tidy(&[("crates/high/src/lib.rs", method)]).lines().count(), 5);
}

#[test]
fn queries_are_about_one_class() {
    let lib = |keys: &str| {
        format!(
            "//! High.\n/// What.\n/// **Reads:** x. **Stays when:** y. **Cost:** z.\n\
             /// **Approximates:** nothing. **Test:** `query_stays`.\n#[salsa::tracked]\nfn query(db: &dyn Db, {keys}) {{}}\n\
             #[test] fn query_stays() {{}}"
        )
    };
    let house = HOUSE.replace("whole = []", "whole = ['query']");
    for (keys, key) in [
        ("it: World", "World"),
        ("it: crate::input::Container", "Container"),
        ("class: ClassFile, it: World", "ClassFile, World"),
        ("it: Vec<ClassFile>", "Vec < ClassFile >"),
        ("", ""),
    ] {
        let text = lib(keys);
        expect(
            &[("crates/high/src/lib.rs", &text)],
            &format!(
                "crates/high/src/lib.rs:6 query-keys the query `query({key})` is about more than one class"
            ),
        );
        expect(&[("crates/high/src/lib.rs", &text), ("xtask/arrows.toml", &house)], "");
        expect(&[("crates/high/tests/t.rs", &text)], "");
    }
    expect(&[("crates/high/src/lib.rs", &lib("a: ClassFile, b: input::ClassFile"))], "");
    // An interned key has a lifetime.
    expect(&[("crates/high/src/lib.rs", &lib("a: keys::ClassFile<'db>"))], "");
    for text in ["//! High.\nfn query(db: &dyn Db, it: World) {}\n", &lib("it: ClassFile")] {
        expect(
            &[("crates/high/src/lib.rs", text), ("xtask/arrows.toml", &house)],
            "xtask/arrows.toml:1 query-keys no query `query` is about more than one class",
        );
    }
}

#[test]
fn sizes_are_capped() {
    let long_file = format!("//! Low.\n{}", "\n".repeat(20));
    expect(
        &[("crates/low/src/lib.rs", &long_file)],
        "crates/low/src/lib.rs:21 file-size the file has 21 lines, 20 are allowed",
    );
    let long = "//! Low.\nfn f() {\n    match x {\n\n\n\n    }\n}\n";
    let said = "crates/low/src/lib.rs:2 function-size `f` has 7 lines, 5 are allowed";
    expect(&[("crates/low/src/lib.rs", long)], said);
    expect(
        &[("crates/low/src/lib.rs", &long.replace("fn f", "// long match: opcodes\n#[inline]\nfn f"))],
        "",
    );
    expect(
        &[("crates/low/src/lib.rs", &long.replace("    match", "    // long match: opcodes\n    match"))],
        "",
    );
    let without_reason = long.replace("fn f", "// long match:\nfn f");
    expect(&[("crates/low/src/lib.rs", &without_reason)], &said.replace("rs:2", "rs:3"));
    let method = format!("//! Low.\nimpl S {{\n{}}}\n", long.trim_start_matches("//! Low.\n"));
    expect(&[("crates/low/src/lib.rs", &method)], &said.replace("rs:2", "rs:3"));
}

#[test]
fn the_allow_list_has_reasons_and_uses() {
    let long_file = format!("//! Low.\n{}", "\n".repeat(20));
    let allow = |reason: &str| {
        format!(
            "{HOUSE}[[allow]]\ncheck = 'file-size'\nfile = 'crates/low/src/lib.rs'\nreason = '{reason}'\n"
        )
    };
    let useless = "xtask/arrows.toml:1 allow-list the exception of crates/low/src/lib.rs from `file-size` has no reason or no use";
    expect(&[("crates/low/src/lib.rs", &long_file), ("xtask/arrows.toml", &allow("a table"))], "");
    expect(&[("xtask/arrows.toml", &allow("a table"))], useless);
    let said = tidy(&[("crates/low/src/lib.rs", &long_file), ("xtask/arrows.toml", &allow(" "))]);
    assert_eq!(
        said,
        format!("crates/low/src/lib.rs:21 file-size the file has 21 lines, 20 are allowed\n{useless}")
    );
}

#[test]
fn unfinished_work_has_an_issue_and_a_reason() {
    let lib = |comment: &str| format!("//! Low.\n{comment}\nfn f() {{}}\n");
    for comment in
        ["// TODO: later", "/// XXX", "// FIXME: no", "// FIXME(#): why", "// FIXME(#3):", "/* HACK */"]
    {
        let said = tidy(&[("crates/low/src/lib.rs", &lib(comment))]);
        assert!(said.starts_with("crates/low/src/lib.rs:2 fixme `"), "{comment}: {said}");
    }
    for comment in [
        "// FIXME(#3): why",
        "const S: &str = \"TODO\";",
        "const C: [&str; 1] = [\"/* FIXME */\"];",
        "// TODOS",
    ] {
        expect(&[("crates/low/src/lib.rs", &lib(comment))], "");
    }
    expect(
        &[("xtask/bench/X.java", "// FIXME\n")],
        "xtask/bench/X.java:1 fixme `FIXME` is not followed by an issue and a reason",
    );
}

#[test]
fn no_test_is_ignored() {
    for attribute in ["#[ignore]", "#[ignore = \"slow\"]", "#[cfg_attr(miri, ignore)]"] {
        let text = format!("//! Low.\nmod m {{\n#[test]\n{attribute}\nfn f() {{}}\n}}\n");
        expect(
            &[("crates/low/src/lib.rs", &text)],
            "crates/low/src/lib.rs:4 ignored-test the test is ignored",
        );
    }
    expect(&[("crates/low/src/lib.rs", "//! Low.\nfn f() { ignore(x[ignore]); }\n")], "");
}

#[test]
fn one_file_reads_the_tier_of_the_tests() {
    let text = format!("//! Low.\nfn f() -> bool {{\nstd::env::var(\"{}_TESTS\").is_ok()\n}}\n", "AJAR");
    let said = tidy(&[("crates/driver/src/lib.rs", &text)]);
    assert!(said.starts_with("crates/driver/src/lib.rs:3 tier the file names"), "{said}");
    let note = format!("{}_TESTS=full", "AJAR");
    expect(&[("README.md", &note)], "");
}

#[test]
fn no_file_names_a_machine() {
    let text = format!("Hello\nsee {}{}x", "/work", "/");
    let said = tidy(&[("README.md", &text)]);
    assert!(said.starts_with("README.md:2 machine-path the file names"), "{said}");
}

#[test]
fn architecture_names_exactly_the_rooms() {
    expect(
        &[("ARCHITECTURE.md", "### low\n### high\n### low\n### attic\n")],
        "ARCHITECTURE.md:1 architecture the room `driver` has no section\n\
         ARCHITECTURE.md:3 architecture `low` has two sections\n\
         ARCHITECTURE.md:4 architecture `attic` is not a room",
    );
}

#[test]
fn papers_are_short() {
    expect(&[("README.md", "1\n2\n3\n4\n")], "README.md:1 paper-length the page has 4 lines, 3 are allowed");
    expect(&[("README.md", "(gone)")], "README.md:1 paper-length the file is missing");
    let long = format!("### low\n### high\n### driver\n{}", "x\n".repeat(9));
    expect(
        &[("ARCHITECTURE.md", &long)],
        "ARCHITECTURE.md:1 paper-length the page has 12 lines, 9 are allowed",
    );
}

#[test]
fn papers_name_what_is_there() {
    expect(
        &[("README.md", "See `crates/low/src`, crates/low/src/lib.rs.\nRun x test-data/hello.\n")],
        "README.md:2 paper-paths the page names test-data/hello, which does not exist",
    );
    expect(&[("README.md", "Run x test-data/hello.\n"), ("test-data/hello/H.class", "")], "");
    expect(
        &[("docs/page.md", "See `crates/low/tests/t.rs`.\n")],
        "docs/page.md:1 paper-paths the page names crates/low/tests/t.rs, which does not exist",
    );
}

#[test]
fn papers_name_modules_that_are_there() {
    let said = |page: &str| {
        let b = ("crates/low/src/b.rs", "//! B.\nmod d;\nmod e { fn f() {} }\n");
        let [a, c] = [("crates/low/src/a.rs", "//! A."), ("crates/low/src/c.rs", "//! C.\nfn function() {}")];
        tidy(&[LOW_AB, a, b, c, ("crates/low/src/b/d.rs", "//! D."), ("docs/page.md", page)])
    };
    for good in [
        "`low::a`",
        "`low::b::d`",
        "`b::d`",
        "`b::e`",
        "`low::b::d::function`",
        "`low::function`",
        "`b::Type::function`",
        "`std::fs`",
        "low::z::y",
    ] {
        assert_eq!(said(good), "", "{good}");
    }
    for bad in ["`low::z`", "`low::z::y`", "`b::z`", "`low::b::z::y`", "`b::a`"] {
        let what = format!("docs/page.md:1 paper-modules the page names {bad}, which is not a module");
        assert_eq!(said(bad), what);
    }
}

#[test]
fn licences_exist() {
    expect(&[("LICENSE-MIT", "(gone)")], "LICENSE-MIT:1 licences the file is missing");
}

#[test]
fn schemas_are_json() {
    expect(&[("crates/export/schemas/cfg.json", "{\"a\": 1}"), ("crates/export/Cargo.toml", "(gone)")], "");
    let said = tidy(&[("crates/export/schemas/cfg.json", "{\n\"a\": }")]);
    assert!(said.starts_with("crates/export/schemas/cfg.json:2 schemas the file is not JSON"), "{said}");
}

#[test]
fn snapshots_have_owners() {
    let snap = "---\nsource: crates/low/tests/t.rs\nexpression: x\n---\ny\n";
    expect(&[("crates/low/tests/snapshots/t__x.snap", snap), ("crates/low/tests/t.rs", "//! T.")], "");
    expect(
        &[("crates/low/tests/snapshots/t__x.snap", snap)],
        "crates/low/tests/snapshots/t__x.snap:1 snapshots the snapshot has no test: its source crates/low/tests/t.rs does not exist",
    );
    expect(
        &[("crates/low/tests/snapshots/t__x.snap", "y")],
        "crates/low/tests/snapshots/t__x.snap:1 snapshots the snapshot has no test: it names no source file",
    );
    expect(&[("a.snap.new", "")], "a.snap.new:1 snapshots the snapshot was not accepted");
}

#[test]
fn this_checkout_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let checkout = Checkout::new(Tree::read(root).unwrap()).unwrap();
    let violations: Vec<String> = check(&checkout).iter().map(ToString::to_string).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}
