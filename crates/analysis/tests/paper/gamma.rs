//! Programs for these tests: the present classes, stubs for the absent classes that they name, and ghosts written
//! into class files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use analysis::paper::answers::Paper;
use analysis::paper::environment::{api_record, record};
use analysis::parts::{ClassParts, MethodCode, MethodPart, PartOptions, Scratch, StageTimes, Wanted};
use bir::body::{CallKind, Instr};
use bir::positions::Positions;
use classfile::names::ClassName;
use flow::throwables::{built_in_parent, built_ins, well_known};
use flow::thrown::Term;
use program::names::MethodName;
use test_utils::asm::{ClassBuilder, CodeBuilder, opcodes as op};
use test_utils::generate::{Mode, program};
use test_utils::ghosts::with_ghosts;
use test_utils::rng::Rng;
use test_utils::tier;

/// A class file of a program, and whether it belongs to the API.
#[derive(Clone)]
pub(crate) struct Class {
    pub(crate) bytes: Vec<u8>,
    pub(crate) api: bool,
}

/// The classes of a program.
#[derive(Clone)]
pub(crate) struct Gamma {
    pub(crate) name: String,
    pub(crate) classes: Vec<Class>,
}

/// Parses a class.
pub(crate) fn parts(bytes: &[u8]) -> (ClassParts<'_>, Vec<MethodPart>) {
    let parts = ClassParts::read(bytes).unwrap();
    let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    let methods = parts.methods(&options, &mut Scratch::default(), &mut StageTimes::default()).unwrap();
    (parts, methods)
}

impl Gamma {
    /// Builds the program of these class files, closed by stubs for everything that they name and do not contain.
    pub(crate) fn closed(name: String, classes: Vec<Vec<u8>>, rng: &mut Rng) -> Gamma {
        let stubs = Stubs::of(&classes, rng);
        let app = classes.into_iter().map(|bytes| Class { bytes, api: false });
        let api = stubs.into_iter().map(|bytes| Class { bytes, api: true });
        Gamma { name, classes: app.chain(api).collect() }
    }

    /// Returns the program in profile `paper`.
    pub(crate) fn paper(&self) -> Paper {
        let of = |it: &Class| {
            if it.api {
                return (api_record(&it.bytes).unwrap(), true);
            }
            let (parts, methods) = parts(&it.bytes);
            (record(&parts, &methods).unwrap(), false)
        };
        Paper::new(self.classes.iter().map(of).collect())
    }

    /// Returns the methods of the program that have code. They print as `p/C.m()V`.
    pub(crate) fn methods(&self) -> Vec<(MethodName, MethodCode)> {
        let mut acc = Vec::new();
        for class in self.classes.iter().filter(|it| !it.api) {
            for it in parts(&class.bytes).1 {
                let id = it.id();
                if let Some(Ok((code, _))) = it.code {
                    acc.push((id, code));
                }
            }
        }
        acc
    }

    /// Returns the program with superinterfaces dropped at random, and the number of dropped ones.
    pub(crate) fn with_fewer_interfaces(&self, rng: &mut Rng) -> (Gamma, usize) {
        let (mut acc, mut gone) = (self.clone(), 0);
        for class in acc.classes.iter_mut().filter(|it| !it.api) {
            class.bytes = with_interfaces(&class.bytes, || {
                let keep = rng.chance(60);
                gone += usize::from(!keep);
                keep
            });
        }
        (acc, gone)
    }

    /// Returns the methods of the program that have code, with the positions of their instructions.
    pub(crate) fn methods_with_positions(&self) -> Vec<(MethodName, MethodCode, Positions)> {
        let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
        let mut acc = Vec::new();
        for class in self.classes.iter().filter(|it| !it.api) {
            let parts = ClassParts::read(&class.bytes).unwrap();
            for it in parts.methods(&options, &mut Scratch::default(), &mut StageTimes::default()).unwrap() {
                let id = it.id();
                if let Some(Ok((code, positions))) = it.code {
                    acc.push((id, code, positions));
                }
            }
        }
        acc
    }

    /// Returns the program with ghosts in place of some methods, by name with the exceptions that they exclude.
    pub(crate) fn with_ghosts(&self, ghosts: &BTreeMap<String, Vec<String>>) -> Gamma {
        let mut acc = self.clone();
        for class in acc.classes.iter_mut().filter(|it| !it.api) {
            class.bytes = with_ghosts(&class.bytes, ghosts);
        }
        acc
    }
}

/// Returns the class file with only the interfaces for which `keep` returns true; unchanged if all are kept.
pub(crate) fn with_interfaces(bytes: &[u8], mut keep: impl FnMut() -> bool) -> Vec<u8> {
    let two = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    // After the constant pool follow flags, class and superclass, then the interfaces (JVMS §4.1).
    let (mut at, mut index) = (10, 1);
    while index < two(8) {
        let wide = matches!(bytes[at], 5 | 6);
        at += match bytes[at] {
            1 => 3 + two(at + 1),
            3 | 4 | 9..=12 | 17 | 18 => 5,
            5 | 6 => 9,
            15 => 4,
            _ => 3,
        };
        index += if wide { 2 } else { 1 };
    }
    let (start, end) = (at + 8, at + 8 + 2 * two(at + 6));
    let kept: Vec<u8> = bytes[start..end].chunks(2).filter(|_| keep()).flatten().copied().collect();
    let count = (kept.len() as u16 / 2).to_be_bytes();
    [&bytes[..at + 6], &count, &kept, &bytes[end..]].concat()
}

/// The folders of `test-data` that are used as programs.
pub(crate) const FOLDERS: [&str; 5] = ["hello", "programs", "calls", "observed", "bir-corners"];

/// Returns some generated programs, and those of `test-data`.
pub(crate) fn programs() -> Vec<Gamma> {
    let modes = [Mode::Plain, Mode::Subroutines, Mode::OddRows, Mode::Dynamic];
    let mut acc = generated(&modes, tier::rounds(2, 12));
    acc.extend(FOLDERS.map(|it| of_folder(it, |_| true)));
    acc
}

/// Returns `seeds` generated programs of each mode.
pub(crate) fn generated(modes: &[Mode], seeds: u64) -> Vec<Gamma> {
    let mut acc = Vec::new();
    for &mode in modes {
        for seed in 0..seeds {
            let made = program(seed, mode).unwrap();
            let classes = made.classes.into_iter().map(|it| it.bytes).collect();
            acc.push(Gamma::closed(format!("{mode:?} {seed}"), classes, &mut Rng::new(seed)));
        }
    }
    acc
}

/// Returns the program of a folder of `test-data`, with the classes that `wanted` selects.
pub(crate) fn of_folder(folder: &str, wanted: impl Fn(&[MethodPart]) -> bool) -> Gamma {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data").join(folder);
    let mut pending = vec![root];
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "class") {
                files.push(path);
            }
        }
    }
    files.sort();
    let classes =
        files.iter().map(|it| std::fs::read(it).unwrap()).filter(|it| wanted(&parts(it).1)).collect();
    Gamma::closed(folder.to_owned(), classes, &mut Rng::new(7))
}

/// Methods by name and descriptor, with whether they are static.
type Called = BTreeMap<(String, String), bool>;

/// The absent classes that a program names: by name, whether the class is an interface, and its called methods.
#[derive(Default)]
struct Stubs {
    named: BTreeMap<String, (bool, Called)>,
}

impl Stubs {
    fn of(classes: &[Vec<u8>], rng: &mut Rng) -> Vec<Vec<u8>> {
        let mut acc = Stubs::default();
        let mut own = BTreeSet::new();
        let text = |it: ClassName| it.to_string();
        built_ins().for_each(|it| acc.class(it));
        acc.class(well_known().object);
        for bytes in classes {
            let (parts, methods) = parts(bytes);
            let outline = parts.outline().unwrap();
            own.insert(text(outline.class));
            outline.super_class.into_iter().for_each(|it| acc.class(it));
            outline.interfaces.iter().for_each(|it| acc.named.entry(text(*it)).or_default().0 = true);
            let throws = outline.methods.iter().flat_map(|it| it.throws.iter());
            throws.for_each(|it| acc.class(*it));
            for it in &methods {
                if let Some(Ok((code, _))) = &it.code {
                    acc.body(&code.body, &code.facts);
                }
            }
        }
        acc.named.retain(|name, _| !own.contains(name) && !name.starts_with('['));
        let names: Vec<String> = built_ins().map(text).collect();
        acc.named.iter().map(|(name, it)| stub(name, it.0, &it.1, &names, rng)).collect()
    }

    fn class(&mut self, class: ClassName) {
        self.named.entry(class.to_string()).or_default();
    }

    fn body(&mut self, body: &bir::body::Body, facts: &flow::facts::MethodFacts) {
        body.rows.iter().filter_map(|it| it.catch_type).for_each(|it| self.class(it));
        for (_, term) in &facts.throws {
            if let Term::Exact(it) | Term::Cone(it) = *term {
                self.class(it);
            }
        }
        for instr in body.instrs.values() {
            let (kind, method) = match *instr {
                Instr::Call(_, kind, method, _) => (kind, method.get()),
                Instr::New(_, method, _) => (CallKind::Special, method.get()),
                _ => continue,
            };
            let it = self.named.entry(method.class.to_string()).or_default();
            it.0 |=
                matches!(kind, CallKind::Interface | CallKind::SpecialInterface | CallKind::StaticInterface);
            let is_static = matches!(kind, CallKind::Static | CallKind::StaticInterface);
            it.1.insert((method.name.to_string(), method.descriptor.to_string()), is_static);
        }
    }
}

/// Returns a class whose methods do nothing; some of them declare exceptions.
fn stub(name: &str, interface: bool, methods: &Called, exceptions: &[String], rng: &mut Rng) -> Vec<u8> {
    let mut class = ClassBuilder::new(name);
    let parent = built_in_parent(ClassName::new(name.as_bytes()));
    // Exceptions that the VM does not define become subclasses of Exception.
    let parent = parent.map(|it| it.to_string()).unwrap_or_else(|| {
        let throwable = name.ends_with("Exception") || name.ends_with("Error");
        if throwable { "java/lang/Exception" } else { "java/lang/Object" }.to_owned()
    });
    class.super_name = (name != "java/lang/Object").then(|| parent.as_str().into());
    if interface {
        class.version = (52, 0);
        class.access = 0x601;
        class.super_name = Some("java/lang/Object".into());
    }
    for ((method, descriptor), is_static) in methods {
        if interface && !is_static {
            class.bodiless(0x401, method, descriptor);
        } else {
            class.method(if *is_static { 0x9 } else { 0x1 }, method, descriptor, nothing(descriptor));
        }
        if rng.chance(30) && name != "java/lang/Object" {
            let it = rng.pick(exceptions).unwrap();
            let throws = test_utils::asm::Attribute::Exceptions(vec![it.as_str().into()]);
            class.methods.last_mut().unwrap().attributes.push(throws);
        }
    }
    class.finish().unwrap()
}

/// Returns a body that returns immediately.
fn nothing(descriptor: &str) -> CodeBuilder {
    let mut code = CodeBuilder::new();
    match descriptor.rsplit(')').next().unwrap().as_bytes()[0] {
        b'V' => code.op(op::RETURN),
        b'J' => code.op(op::LCONST_0).op(op::LRETURN),
        b'F' => code.op(op::FCONST_0).op(op::FRETURN),
        b'D' => code.op(op::DCONST_0).op(op::DRETURN),
        b'L' | b'[' => code.op(op::ACONST_NULL).op(op::ARETURN),
        _ => code.op(op::ICONST_0).op(op::IRETURN),
    };
    code
}
