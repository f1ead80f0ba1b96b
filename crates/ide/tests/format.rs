//! Format checks (JVMS §4.8): class files that violate one each, made here, are refused by the JVM, and ajar says so in a
//! note; class files at the edge of a check are accepted by both.

use ide::answer::{Question, class_answer};
use test_utils::asm::Assembled;
use test_utils::jvm::{self, Case, Outcome};
use test_utils::{jdk, tier};

/// A class file `T` with one method and perhaps one more constant, each part of which can be wrong.
#[derive(Clone, Copy)]
struct Parts {
    major: u16,
    flags: u16,
    superclass: &'static str,
    interfaces: &'static [&'static str],
    /// The flags, names and descriptors of the fields.
    fields: &'static [(u16, &'static str, &'static str)],
    /// The flags, the name and the descriptor of the method besides `run`.
    method: (u16, &'static str, &'static str),
    /// The kind of the additional constant, and what it names.
    constant: Option<Constant>,
}

#[derive(Clone, Copy)]
enum Constant {
    Utf8(&'static [u8]),
    Class(&'static str),
    NameAndType(&'static str, &'static str),
    /// The tag, and the name and descriptor of the member.
    Member(u8, &'static str, &'static str),
    /// The kind of the handle, and the tag, name and descriptor of the member.
    Handle(u8, (u8, &'static str, &'static str)),
    MethodType(&'static str),
}

const GOOD: Parts = Parts {
    major: 52,
    flags: 0x21,
    superclass: "java/lang/Object",
    interfaces: &[],
    fields: &[],
    method: (9, "m", "()V"),
    constant: None,
};

/// The constants of a class file that is being written.
#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    n: u16,
}

impl Pool {
    fn add(&mut self, entry: &[u8]) -> [u8; 2] {
        self.bytes.extend(entry);
        self.n += 1;
        self.n.to_be_bytes()
    }

    fn of(&mut self, tag: u8, parts: &[[u8; 2]]) -> [u8; 2] {
        let entry = [vec![tag], parts.concat()].concat();
        self.add(&entry)
    }

    fn utf8(&mut self, text: &[u8]) -> [u8; 2] {
        let entry = [&[1], &(text.len() as u16).to_be_bytes()[..], text].concat();
        self.add(&entry)
    }

    fn class(&mut self, name: &str) -> [u8; 2] {
        let name = self.utf8(name.as_bytes());
        self.of(7, &[name])
    }

    fn pair(&mut self, name: &str, ty: &str) -> [u8; 2] {
        let parts = [self.utf8(name.as_bytes()), self.utf8(ty.as_bytes())];
        self.of(12, &parts)
    }

    fn member(&mut self, (tag, name, ty): (u8, &str, &str)) -> [u8; 2] {
        let parts = [self.class("java/lang/Runnable"), self.pair(name, ty)];
        self.of(tag, &parts)
    }

    fn constant(&mut self, it: Constant) {
        match it {
            Constant::Utf8(text) => self.utf8(text),
            Constant::Class(name) => self.class(name),
            Constant::NameAndType(name, ty) => self.pair(name, ty),
            Constant::Member(tag, name, ty) => self.member((tag, name, ty)),
            Constant::Handle(kind, member) => {
                let [high, low] = self.member(member);
                self.add(&[15, kind, high, low])
            }
            Constant::MethodType(ty) => {
                let ty = self.utf8(ty.as_bytes());
                self.of(16, &[ty])
            }
        };
    }
}

/// The bytes of the class, which has the name `name` and a method `run` unless it is an interface.
fn bytes(it: &Parts, name: &str) -> Vec<u8> {
    let mut pool = Pool::default();
    it.constant.into_iter().for_each(|it| pool.constant(it));
    let mut body = it.flags.to_be_bytes().to_vec();
    body.extend(pool.class(name));
    body.extend(if it.superclass.is_empty() { [0, 0] } else { pool.class(it.superclass) });
    body.extend((it.interfaces.len() as u16).to_be_bytes());
    it.interfaces.iter().for_each(|it| body.extend(pool.class(it)));
    body.extend((it.fields.len() as u16).to_be_bytes());
    for (flags, name, ty) in it.fields {
        body.extend(
            [flags.to_be_bytes(), pool.utf8(name.as_bytes()), pool.utf8(ty.as_bytes()), [0, 0]].concat(),
        );
    }
    let run = (it.flags & 0x200 == 0).then_some((9, "run", "()V"));
    let methods: Vec<_> = run.into_iter().chain([it.method]).collect();
    body.extend((methods.len() as u16).to_be_bytes());
    for (flags, name, ty) in methods {
        body.extend([flags.to_be_bytes(), pool.utf8(name.as_bytes()), pool.utf8(ty.as_bytes())].concat());
        if flags & 0x500 != 0 {
            body.extend([0, 0]);
            continue;
        }
        // aconst_null and areturn, iconst_0 and ireturn, or nop and return.
        let code: [u8; 2] = match ty.rsplit_once(')').map(|it| it.1) {
            Some("V") | None => [0, 0xb1],
            Some("I") => [3, 0xac],
            Some(_) => [1, 0xb0],
        };
        body.extend([0, 1]);
        body.extend(pool.utf8(b"Code"));
        body.extend([0, 0, 0, 14, 0, 2, 0, 9, 0, 0, 0, 2]);
        body.extend(code);
        body.extend([0; 4]);
    }
    body.extend([0, 0]);
    let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
    out.extend([0, 0]);
    out.extend(it.major.to_be_bytes());
    out.extend((pool.n + 1).to_be_bytes());
    [out, pool.bytes, body].concat()
}

/// Cases of class headers, fields and methods.
fn members(all: &mut Vec<(String, Parts)>) {
    let mut add = |name: String, it: Parts| all.push((name, it));
    for flags in [0x21, 0x31, 0x421, 0x431, 0x1, 0x20, 0x1021, 0x2021, 0x4021] {
        add(format!("class flags {flags:#x}"), Parts { flags, ..GOOD });
        add(format!("class flags {flags:#x} of version 48"), Parts { flags, major: 48, ..GOOD });
    }
    for superclass in ["", "[I", "java/lang/Number", "a.b"] {
        add(format!("superclass {superclass:?}"), Parts { superclass, ..GOOD });
    }
    add("a superinterface twice".into(), Parts { interfaces: &["java/lang/Cloneable"; 2], ..GOOD });
    const FIELDS: [&[(u16, &str, &str)]; 16] = [
        &[(9, "a", "I")],
        &[(9, "a", "I"), (9, "a", "J")],
        &[(9, "a", "I"), (9, "a", "I")],
        &[(11, "a", "I")],
        &[(6, "a", "I")],
        &[(0x50, "a", "I")],
        &[(0x10c0, "a", "I")],
        &[(0, "<x>", "I")],
        &[(0, "", "I")],
        &[(0, "a/b", "I")],
        &[(0, "a.b", "I")],
        &[(0, "a;", "I")],
        &[(0, "[", "I")],
        &[(0, "a", "V")],
        &[(0, "a", "La.b;")],
        &[(0, "-a b", "[[Ljava/lang/String;")],
    ];
    for fields in FIELDS {
        add(format!("fields {fields:?}"), Parts { fields, ..GOOD });
        add(format!("fields {fields:?} of version 48"), Parts { fields, major: 48, ..GOOD });
    }
    let methods = [
        (0x9, "m", "(J[I)V"),
        (0xb, "m", "()V"),
        (0x401, "m", "()V"),
        (0x411, "m", "()V"),
        (0x402, "m", "()V"),
        (0x408, "m", "()V"),
        (0x421, "m", "()V"),
        (0x501, "m", "()V"),
        (0xc01, "m", "()V"),
        (0x1c1, "m", "()V"),
        (0x1, "a.b", "()V"),
        (0x1, "<x>", "()V"),
        (0x1, "a>", "()V"),
        (0x1, "a b", "()V"),
        (0x1, "<init>", "()V"),
        (0x9, "<init>", "()V"),
        (0x11, "<init>", "()V"),
        (0x101, "<init>", "()V"),
        (0x1, "<init>", "()I"),
        (0x1041, "<init>", "()V"),
        (0x81, "<init>", "()V"),
        (0x8, "<clinit>", "()V"),
        (0x8, "<clinit>", "(I)V"),
        (0x8, "<clinit>", "()I"),
        (0x1b, "<clinit>", "()V"),
    ];
    for method in methods {
        // A concrete class may not have abstract methods, but that is not checked when it is defined.
        add(format!("method {method:x?}"), Parts { method, flags: 0x421, ..GOOD });
        for major in [48, 50, 61] {
            add(
                format!("method {method:x?} of version {major}"),
                Parts { method, flags: 0x421, major, ..GOOD },
            );
        }
    }
    let interface = Parts { flags: 0x601, method: (0x401, "m", "()V"), ..GOOD };
    for major in [48, 49, 51, 52, 61] {
        for flags in [0x401, 0x1, 0x9, 0x2, 0xa, 0x402, 0x409, 0x411, 0x421, 0x101, 0x4c1, 0x1481, 0x0, 0x3] {
            let it = Parts { method: (flags, "m", "()V"), major, ..interface };
            add(format!("interface method {flags:#x} of version {major}"), it);
        }
        for flags in [0x201, 0x601, 0x611, 0x621, 0x2601, 0x4601] {
            add(
                format!("interface flags {flags:#x} of version {major}"),
                Parts { flags, major, ..interface },
            );
        }
    }
    add("an interface below a class".into(), Parts { superclass: "java/lang/Number", ..interface });
    for flags in [0x19, 0x9, 0x1, 0x1019, 0x59, 0x99] {
        let fields: &'static [(u16, &str, &str)] = match flags {
            0x19 => &[(0x19, "a", "I")],
            0x9 => &[(0x9, "a", "I")],
            0x1 => &[(0x1, "a", "I")],
            0x1019 => &[(0x1019, "a", "I")],
            0x59 => &[(0x59, "a", "I")],
            _ => &[(0x99, "a", "I")],
        };
        add(format!("interface field {flags:#x}"), Parts { fields, ..interface });
    }
}

/// Cases of constants.
fn constants(all: &mut Vec<(String, Parts)>) {
    let mut add = |name: String, it: Parts| all.push((name, it));
    let constants = [
        ("Utf8", Constant::Utf8(b"a\x00")),
        ("Utf8, cut", Constant::Utf8(b"\xe1\x80")),
        ("Utf8, fine", Constant::Utf8(b"\xc0\x80")),
        ("Class a.b", Constant::Class("a.b")),
        ("Class La;", Constant::Class("La;")),
        ("Class a//b", Constant::Class("a//b")),
        ("Class /a", Constant::Class("/a")),
        ("Class [I", Constant::Class("[I")),
        ("Class [V", Constant::Class("[V")),
        ("Class a<b>", Constant::Class("a<b>")),
        ("pair", Constant::NameAndType("a", "I")),
        ("pair (", Constant::NameAndType("a", "(")),
        ("pair <a>", Constant::NameAndType("<a>", "()V")),
        ("pair a/b", Constant::NameAndType("a/b", "I")),
        ("pair <init>", Constant::NameAndType("<init>", "()V")),
        ("field", Constant::Member(9, "a", "I")),
        ("field ()V", Constant::Member(9, "a", "()V")),
        ("method I", Constant::Member(10, "a", "I")),
        ("method <init>", Constant::Member(10, "<init>", "()V")),
        ("method <init> I", Constant::Member(10, "<init>", "()I")),
        ("method <clinit>", Constant::Member(10, "<clinit>", "()V")),
        ("interface method", Constant::Member(11, "a", "()V")),
        ("interface <init>", Constant::Member(11, "<init>", "()V")),
        ("type", Constant::MethodType("(I)V")),
        ("type I", Constant::MethodType("I")),
    ];
    for (name, constant) in constants {
        add(format!("constant {name}"), Parts { constant: Some(constant), ..GOOD });
        add(format!("constant {name} of version 50"), Parts { constant: Some(constant), major: 50, ..GOOD });
        add(format!("constant {name} of version 48"), Parts { constant: Some(constant), major: 48, ..GOOD });
    }
    let members = [(9, "a", "I"), (10, "a", "()V"), (10, "<init>", "()V"), (11, "a", "()V")];
    for kind in 0..11 {
        for member in members {
            for major in [51, 52] {
                let constant = Some(Constant::Handle(kind, member));
                add(
                    format!("handle {kind} of {member:?}, version {major}"),
                    Parts { constant, major, ..GOOD },
                );
            }
        }
    }
}

/// Whether ajar says that a JVM refuses the class.
fn is_refused(bytes: &[u8]) -> bool {
    let question = Question { select: &|_| true, graphs: false, clock: None };
    match class_answer(bytes, &question, &mut ide::Scratch::default()) {
        Ok(it) => {
            !it.failed.is_empty() || it.note.is_some_and(|it| it.starts_with("the JVM refuses the class"))
        }
        Err(_) => true,
    }
}

/// JVMS §4.7.3: a row of an exception table covers at least one instruction. (HotSpot, too, refuses the class.)
#[test]
fn an_empty_row_of_an_exception_table_is_refused() {
    let class = |end: u8| {
        let mut it = bytes(&Parts { method: (9, "m", "()V"), ..GOOD }, "T");
        // The code of `m` is the last attribute: its empty tables become a table with one row, and none.
        let tables = it.len() - 2 - 4;
        let length = tables - 2 - 4 - 4 - 1;
        it[length] += 8;
        it.splice(tables..tables + 2, [0, 1, 0, 1, 0, end, 0, 0, 0, 0]);
        it
    };
    let run = |bytes: Vec<u8>, jdk: &jdk::Jdk| {
        let case =
            Case { class: "T".into(), method: "run".into(), descriptor: "()V".into(), args: Vec::new() };
        let classes = [Assembled { name: "T".into(), bytes }];
        jvm::run(jdk, &classes, &[case]).unwrap().remove(0).outcome
    };
    assert!(is_refused(&class(1)) && is_refused(&class(0)));
    if let Some(jdk) = jdk::at_least(17) {
        let error =
            |it| matches!(run(class(it), &jdk), Outcome::Throw(it) if it.contains("ClassFormatError"));
        assert!(error(0) && error(1) && !error(2));
    }
}

#[test]
fn the_format_checks_are_those_of_the_jvm() {
    let mut cases = Vec::new();
    members(&mut cases);
    constants(&mut cases);
    assert!(cases.len() > 250, "{}", cases.len());
    let name = |number: usize| format!("T{number}");
    let classes: Vec<Assembled> = cases
        .iter()
        .enumerate()
        .map(|(number, it)| Assembled { name: name(number), bytes: bytes(&it.1, &name(number)) })
        .collect();
    // Interfaces have no `run`; a class that is defined but lacks the method gives another error.
    let asked: Vec<Case> = (0..cases.len())
        .map(|it| Case { class: name(it), method: "run".into(), descriptor: "()V".into(), args: Vec::new() })
        .collect();
    for jdk in jdk::all().into_iter().filter(|it| it.version >= 17).take(tier::at_most(1)) {
        let answers = jvm::run(&jdk, &classes, &asked).unwrap();
        let (mut refused, mut wrong) = (0, Vec::new());
        for ((case, class), answer) in cases.iter().zip(&classes).zip(answers) {
            let want = matches!(&answer.outcome, Outcome::Throw(it) if it.contains("ClassFormatError"));
            refused += usize::from(want);
            if is_refused(&class.bytes) != want {
                wrong.push(format!("{}: the JVM says {:?}", case.0, answer.outcome));
            }
        }
        assert!(wrong.is_empty(), "JDK {}:\n{}", jdk.version, wrong.join("\n"));
        assert!(refused > 100, "{refused} refused");
    }
}
