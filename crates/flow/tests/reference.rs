//! Compares the graphs of real methods with a reference walk over their bytecode, written as simply as possible.
//! Normal edges must be the same on both sides. Each exceptional edge (instruction, row) must be an edge of the
//! reference. If an exceptional edge of the reference is missing, the instruction cannot raise an exception that the
//! row catches, or an assertion is proved, or an earlier row catches the exception. Also compares summaries of lean
//! bodies and facts with those of full ones.

#[path = "reference/raw.rs"]
mod raw;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use bir::body::{Body, Instr, InstrId};
use bir::lower::{Lowered, Scratch, lower, lower_lean};
use classfile::bootstrap::Bootstraps;
use classfile::class::ClassFile;
use classfile::code::Code;
use flow::cfg::{Cfg, CfgOptions, EdgeKind, NodeKind, cfg};
use flow::constants::ClassCode;
use flow::facts::{MethodFacts, Wanted, method_facts};
use flow::initializers::OwnClass;
use flow::summary::summary;
use flow::throwables::BuiltIn;
use flow::thrown::Term;
use raw::{Raw, RawRow, catches, contracted, may_catch_below, raises};

/// The code of a class about which nothing is known.
fn no_code() -> &'static ClassCode {
    static NONE: LazyLock<ClassCode> = LazyLock::new(ClassCode::default);
    &NONE
}

/// Counts of the comparisons, so that a test can check that it compared enough.
#[derive(Default, Debug)]
struct Seen {
    methods: usize,
    subroutines: usize,
    not_lowered: usize,
    normal: usize,
    exceptional: usize,
    missing: usize,
    /// The number of methods whose lean body is smaller, and of methods in whose summary fewer assertions are proved.
    lean: usize,
    settled: usize,
    wrong: Vec<String>,
}

fn raw_rows(code: &Code<'_, '_>) -> Option<Vec<RawRow>> {
    code.handlers()
        .map(|it| {
            let it = it.ok()?;
            Some(RawRow {
                start: it.start.0,
                end: it.end.0,
                handler: it.handler.0,
                catch_type: it.catch_type.map(|it| it.to_string()),
            })
        })
        .collect()
}

fn check_class(bytes: &[u8], scratch: &mut Scratch, seen: &mut Seen) {
    let Ok(class) = ClassFile::parse(bytes) else { return };
    let Ok(boots) = Bootstraps::of(&class) else { return };
    let (Ok(name), Ok(super_class)) = (class.this_class(), class.super_class()) else { return };
    let fields = class.fields().filter(|it| it.flags.is_static());
    let static_fields: Vec<_> =
        fields.filter_map(|it| Some((it.name().ok()?, it.descriptor().ok()?))).collect();
    let is_interface = class.flags.is_interface();
    let own = OwnClass { name, super_class, is_interface, static_fields: &static_fields };
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else { continue };
        let Ok(lowered) = lower(&class, &boots, &method, &code, scratch) else {
            seen.not_lowered += 1;
            continue;
        };
        check_summary(
            &lowered.body,
            &lower_lean(&class, &boots, &method, &code, scratch).unwrap(),
            &own,
            seen,
        );
        let Some(rows) = raw_rows(&code) else { continue };
        match Raw::walk(code.bytes, rows) {
            Some(raw) => check_method(&raw, &lowered, &own, seen),
            None => seen.subroutines += 1,
        }
    }
}

/// Checks that the summary of a lean body equals that of the full body.
fn check_summary(body: &Body, lean: &Body, own: &OwnClass<'_>, seen: &mut Seen) {
    let all = method_facts(body, own, &|| no_code(), Wanted::All, &mut flow::facts::Scratch::default());
    let few = method_facts(lean, own, &|| no_code(), Wanted::Summary, &mut flow::facts::Scratch::default());
    let mut scratch = flow::summary::Scratch::default();
    if summary(body, &all, &mut scratch) != summary(lean, &few, &mut scratch) {
        seen.wrong.push(format!("{}: the summary of the lean body differs", body.method));
    }
    seen.lean += usize::from(lean.instrs.len() < body.instrs.len());
    seen.settled += usize::from(few.proofs.len() < all.proofs.len());
}

/// The graph and the reference graph of one method.
struct Pair<'a> {
    raw: &'a Raw,
    lowered: &'a Lowered,
    facts: MethodFacts,
    graph: Cfg,
    /// For each pc, the BIR instructions that were lowered from it.
    of_pc: BTreeMap<u32, Vec<InstrId>>,
}

fn check_method(raw: &Raw, lowered: &Lowered, own: &OwnClass<'_>, seen: &mut Seen) {
    let body = &lowered.body;
    let facts = method_facts(body, own, &|| no_code(), Wanted::All, &mut flow::facts::Scratch::default());
    let subtypes = BuiltIn { own: own.super_class.map(|it| (own.name, it)) };
    let graph = cfg(body, &facts, &subtypes, CfgOptions { keep_proved: false });
    let mut of_pc: BTreeMap<u32, Vec<InstrId>> = BTreeMap::new();
    for (id, _) in body.instrs.iter() {
        of_pc.entry(lowered.positions.pc(id).unwrap().into()).or_default().push(id);
    }
    let pair = Pair { raw, lowered, facts, graph, of_pc };
    seen.methods += 1;
    pair.check_normal(seen);
    pair.check_exceptional(seen);
}

impl Pair<'_> {
    fn pc(&self, id: InstrId) -> u32 {
        self.lowered.positions.pc(id).unwrap().into()
    }

    fn complain(&self, seen: &mut Seen, what: String) {
        seen.wrong.push(format!("{}: {what}", self.lowered.body.method));
    }

    fn check_normal(&self, seen: &mut Seen) {
        let body = &self.lowered.body;
        let next: BTreeMap<u32, BTreeSet<u32>> =
            self.raw.insns.iter().map(|it| (*it.0, it.1.next.clone())).collect();
        // A handler may also be the target of a jump; the jump skips the `catch` that binds the exception.
        let jumped_to: BTreeSet<u32> = next.values().flatten().copied().collect();
        let binds_only = |ids: &Vec<InstrId>| {
            ids.iter().all(|it| matches!(body.instrs[*it], Instr::Catch(_) | Instr::Goto(_)))
        };
        let kept = |(pc, ids): &(&u32, &Vec<InstrId>)| {
            let is_handler = self.raw.rows.iter().any(|it| it.handler == **pc);
            !(is_handler && jumped_to.contains(pc) && binds_only(ids))
        };
        let kept: BTreeSet<u32> = self.of_pc.iter().filter(kept).map(|it| *it.0).collect();
        let mut ours: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for edge in &self.graph.edges {
            let (from, to) = (self.graph.nodes[edge.from.index()], self.graph.nodes[edge.to.index()]);
            if from.kind == NodeKind::Normal && to.kind == NodeKind::Normal {
                ours.entry(self.pc(from.instr)).or_default().insert(self.pc(to.instr));
            }
        }
        let (ours, wanted) = (contracted(&ours, &kept), contracted(&next, &kept));
        seen.normal += ours.len();
        for it in ours.difference(&wanted) {
            self.complain(seen, format!("normal edge {it:?} is ours only"));
        }
        for it in wanted.difference(&ours) {
            self.complain(seen, format!("normal edge {it:?} is the reference's only"));
        }
    }

    fn check_exceptional(&self, seen: &mut Seen) {
        let mut ours = BTreeSet::new();
        for edge in &self.graph.edges {
            if let EdgeKind::Handler(row) | EdgeKind::MayHandler(row) = edge.kind {
                let from = self.graph.nodes[edge.from.index()].instr;
                ours.insert((self.pc(from), self.lowered.body.rows[row as usize].source));
            }
        }
        seen.exceptional += ours.len();
        for &(pc, row) in &ours {
            let row = &self.raw.rows[usize::from(row)];
            if !(self.raw.insns.contains_key(&pc) && row.start <= pc && pc < row.end) {
                self.complain(seen, format!("exceptional edge {pc} to {row:?} is ours only"));
            }
        }
        for &pc in self.raw.insns.keys() {
            for (i, row) in self.raw.rows.iter().enumerate() {
                if row.start <= pc && pc < row.end && !ours.contains(&(pc, i as u16)) {
                    seen.missing += 1;
                    if let Err(why) = self.excuse(pc, i) {
                        self.complain(seen, format!("exceptional edge {pc} to row {i} is missing: {why}"));
                    }
                }
            }
        }
    }

    /// Checks that there is a reason why no exception of the instruction goes to the row.
    fn excuse(&self, pc: u32, row: usize) -> Result<(), String> {
        let rows = &self.raw.rows;
        let covering = |row: &&RawRow| row.start <= pc && pc < row.end;
        let before: Vec<&RawRow> = rows[..row].iter().filter(covering).collect();
        let row = &rows[row];
        let (exact, below) = raises(self.raw.insns[&pc].opcode);
        for &class in exact {
            let taken = before.iter().any(|it| catches(it, class));
            if catches(row, class) && !taken && !self.is_excluded(pc, class) {
                return Err(format!("{class} would be caught"));
            }
        }
        for &top in below {
            let taken = before
                .iter()
                .any(|it| catches(it, top) || (row.catch_type.is_some() && it.catch_type == row.catch_type));
            let narrower = before.iter().any(|it| {
                row.catch_type
                    .as_deref()
                    .is_some_and(|row| row.strip_prefix("java/lang/").is_some_and(|row| catches(it, row)))
            });
            if may_catch_below(row, top) && !taken && !narrower && !self.is_narrowed(pc, &before, row, top) {
                return Err(format!("something below {top} would be caught"));
            }
        }
        Ok(())
    }

    /// Returns whether every check at the pc that raises the class is proved, or no check is needed.
    fn is_excluded(&self, pc: u32, class: &str) -> bool {
        let Some(instrs) = self.of_pc.get(&pc) else {
            // No BIR instruction belongs to the pc, so there is no proof either.
            return false;
        };
        let body = &self.lowered.body;
        if class == "IllegalMonitorStateException" {
            return instrs.iter().all(|id| !self.facts.locks.at.contains(id));
        }
        let opcode = self.raw.insns[&pc].opcode;
        let mut found = false;
        for &id in instrs {
            if let Instr::Assert(check) = body.instrs[id]
                && check.exception() == format!("java/lang/{class}").as_bytes()
            {
                found = true;
                if self.facts.proof(id).is_none() {
                    return false;
                }
            }
        }
        // `invokespecial` of a constructor has a receiver that is not null.
        found || (opcode == 0xb7 && class == "NullPointerException")
    }

    /// Returns whether the instruction raises only some of the subclasses of `top`, and none that the row catches.
    fn is_narrowed(&self, pc: u32, before: &[&RawRow], row: &RawRow, top: &str) -> bool {
        let body = &self.lowered.body;
        let Some(instrs) = self.of_pc.get(&pc) else {
            return matches!(self.raw.insns[&pc].opcode, 0x12..=0x14);
        };
        let own = |id: &InstrId| self.facts.runs_no_initializer(*id);
        match self.raw.insns[&pc].opcode {
            // Only NoClassDefFoundError remains of an initialiser that does not run again.
            0xb2 | 0xb3 | 0xb8 | 0xbb if top == "Error" => {
                let mut init = instrs.iter().filter(|it| matches!(body.instrs[**it], Instr::MayInit(_)));
                init.all(own) && !catches(row, "NoClassDefFoundError")
            }
            // A constant that is not dynamic raises nothing.
            0x12..=0x14 => !instrs.iter().any(|it| matches!(body.instrs[*it], Instr::ConstDynamic(..))),
            0xbf => instrs.iter().flat_map(|it| self.facts.thrown(*it)).all(|(_, term)| match term {
                Term::Exact(class) | Term::Cone(class)
                    if before.iter().any(|it| it.catch_type == Some(class.to_string())) =>
                {
                    true
                }
                Term::Exact(class) => {
                    row.catch_type.as_ref().is_some_and(|it| *it != class.to_string())
                        && class.bytes().starts_with(b"java/lang/")
                }
                Term::Cone(class) => row.catch_type.as_ref().is_some_and(|it| {
                    class.bytes().starts_with(b"java/lang/") && it.starts_with("java/lang/")
                }),
                // Other tests cover what arrives at a handler.
                Term::Caught(_) => true,
            }),
            _ => false,
        }
    }
}

fn class_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().map(|it| it.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            class_files(&path, out);
        } else if path.extension().is_some_and(|it| it == "class") {
            out.push(path);
        }
    }
}

fn check_folder(folder: &Path) -> Seen {
    let mut files = Vec::new();
    class_files(folder, &mut files);
    let mut seen = Seen::default();
    let mut scratch = Scratch::default();
    for file in files {
        check_class(&std::fs::read(file).unwrap(), &mut scratch, &mut seen);
    }
    seen
}

fn assert_right(seen: &Seen) {
    let first: Vec<_> = seen.wrong.iter().take(20).collect();
    assert!(seen.wrong.is_empty(), "{} differences, the first: {first:#?}", seen.wrong.len());
}

#[test]
fn graphs_of_the_test_data_agree_with_the_bytecode() {
    let seen = check_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data"));
    assert_right(&seen);
    assert!(seen.methods > 100 && seen.normal > 1000 && seen.exceptional > 20);
    assert!(seen.lean > 50 && seen.settled > 50);
}

#[test]
fn graphs_of_java_base_agree_with_the_bytecode() {
    let mut n_jdks = 0;
    for jdk in test_utils::jdk::all() {
        let folder = tempfile::tempdir().unwrap();
        // A part of the image: enough shapes of code within seconds.
        let sample = "regex:/java.base/java/(util|io)/.*|/java.base/sun/nio/.*";
        let done = std::process::Command::new(jdk.home.join("bin/jimage"))
            .args(["extract", "--include", sample, "--dir"])
            .arg(folder.path())
            .arg(jdk.home.join("lib/modules"))
            .status();
        if !done.is_ok_and(|it| it.success()) {
            eprintln!("skipped: no jimage at {}", jdk.home.display());
            continue;
        }
        let seen = check_folder(folder.path());
        eprintln!(
            "{}: {} methods, {} normal, {} exceptional, {} missing edges, {} with subroutines, {} not lowered, {} lean, {} settled",
            jdk.version,
            seen.methods,
            seen.normal,
            seen.exceptional,
            seen.missing,
            seen.subroutines,
            seen.not_lowered,
            seen.lean,
            seen.settled
        );
        assert_right(&seen);
        assert!(seen.methods > 8_000 && seen.exceptional > 5_000);
        assert!(seen.lean > 4_000 && seen.settled > 4_000);
        n_jdks += 1;
        if n_jdks == test_utils::tier::at_most(1) {
            break;
        }
    }
    // This reports the absence of any JDK, and fails where one is required.
    test_utils::jdk::at_least(8);
}
