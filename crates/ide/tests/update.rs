//! A program that is updated in place gives the same answers as one built from scratch: which exceptions methods
//! throw and why, where their calls go, and their graphs.

mod update_far;
mod update_linked;
mod update_programs;
mod update_reached;

use std::collections::BTreeMap;

use analysis::keeper::Advance;
use ide::answer::{ClassAnswer, Question, class_answer};
use ide::whole::{ClassRecord, read_class};
use ide::{Role, Scratch, WholeOptions, WorldKind};
use test_utils::asm::Assembled;
use test_utils::generate::{Mode, Structure, program};
use test_utils::ghosts::with_ghosts;
use test_utils::rng::Rng;
use test_utils::tier;

use update_programs::kept::{Kept, Search, answers, fresh, fresh_from, in_world, with_roles};
use update_programs::{EXCEPTIONS, LOST, Words, exception, loader, maker, stub, thrower, words};

/// A program that edits update. After each edit, its answers must equal those of a program built from scratch.
struct Editor {
    classes: Vec<Vec<u8>>,
    /// The numbers of the classes that are part of the program.
    present: Vec<usize>,
    kept: Kept,
    options: WholeOptions,
    /// The entry points, if calls are narrowed to receivers that reached code creates.
    search: Option<Search>,
    /// The answers after the last edit.
    last: Vec<String>,
    /// The number of methods that became ghosts or ceased to be ghosts with an update in place.
    n_ghosts: usize,
    /// If given, advances are cancelled at random.
    interruptions: Option<Interruptions>,
}

/// The records of a program, each with a number that stays the same.
type Visited = (Vec<(ClassRecord, Role)>, Vec<usize>);

/// Cancels advances at random.
struct Interruptions {
    rng: Rng,
    /// The same program without cancelled advances. None if cancelled advances may go to other programs too.
    twin: Option<Kept>,
    /// The last few programs that the keeper advanced to.
    visited: Vec<Visited>,
    /// The number of cancelled advances.
    n: usize,
    /// The number of advances that updated the program in place after having been cancelled.
    n_taken: usize,
}

impl Interruptions {
    /// Advances to these records, after having been cancelled a few times.
    fn advance(&mut self, kept: &Kept, records: &[(ClassRecord, Role)], numbers: &[usize]) -> Advance {
        let rng = &mut self.rng;
        let mut broken_off = 0;
        let how = loop {
            let most = [3, 12, 100][rng.below(3) as usize];
            let n_polls = 1 + rng.below(most);
            if self.twin.is_none() && rng.chance(50) && !self.visited.is_empty() {
                let (records, numbers) = &self.visited[rng.below(self.visited.len() as u32) as usize];
                broken_off += usize::from(kept.advance_until(records, numbers, n_polls).is_none());
            } else if broken_off > 6 || rng.chance(20) {
                break kept.advance(records, numbers);
            } else if let Some(it) = kept.advance_until(records, numbers, n_polls) {
                break it;
            } else {
                broken_off += 1;
            }
            if rng.chance(10) {
                let mut left = n_polls;
                let mut cancelled = || {
                    left -= 1;
                    left == 0
                };
                let _ = kept.keeper.keep_current(&mut cancelled);
            }
        };
        if let Some(twin) = &self.twin {
            assert_eq!(how, twin.advance(records, numbers), "it continues where it was cancelled");
        }
        self.n += broken_off;
        self.n_taken += usize::from(broken_off > 0 && how == Advance::Updated);
        self.visited.push((records.to_vec(), numbers.to_vec()));
        if self.visited.len() > 3 {
            self.visited.remove(0);
        }
        how
    }
}

impl Editor {
    fn new(classes: Vec<Vec<u8>>, options: WholeOptions) -> Editor {
        Editor::starting(classes, options, None)
    }

    /// Creates an editor for a program in which calls are narrowed to receivers that code creates which is reached
    /// from these entry points.
    fn starting(classes: Vec<Vec<u8>>, options: WholeOptions, search: Option<Search>) -> Editor {
        let present: Vec<usize> = (0..classes.len()).collect();
        let kept = Kept::new(options, search.clone());
        kept.advance(&with_roles(fresh(&classes, options).0), &present);
        let (last, interruptions) = (Vec::new(), None);
        Editor { present, classes, kept, options, search, last, n_ghosts: 0, interruptions }
    }

    /// Creates an editor whose advances are cancelled at random. With `astray`, cancelled advances may go to any
    /// program.
    fn interrupted(classes: Vec<Vec<u8>>, options: WholeOptions, (seed, astray): (u64, bool)) -> Editor {
        Editor::new(classes, options).broken_off(seed, astray)
    }

    /// Cancels the advances of this editor; see [`Editor::interrupted`].
    fn broken_off(self, seed: u64, astray: bool) -> Editor {
        let again = || Editor::starting(self.classes.clone(), self.options, self.search.clone());
        let twin = (!astray).then(|| again().kept);
        let rng = Rng::new(seed ^ 0x5eed);
        let interruptions = Interruptions { rng, twin, visited: Vec::new(), n: 0, n_taken: 0 };
        Editor { interruptions: Some(interruptions), ..self }
    }

    fn present(&self) -> Vec<Vec<u8>> {
        self.present.iter().map(|&it| self.classes[it].clone()).collect()
    }

    /// Advances to these classes and compares the answers. Returns whether the program was updated in place.
    fn go(&mut self, classes: Vec<Vec<u8>>, present: Vec<usize>, what: &str) -> bool {
        (self.classes, self.present) = (classes, present);
        let (records, scratch) = fresh_from(&self.present(), self.options, self.search.as_ref());
        let records = with_roles(records);
        let how = match &mut self.interruptions {
            Some(it) => it.advance(&self.kept, &records, &self.present),
            None => self.kept.advance(&records, &self.present),
        };
        let taken = how != Advance::Rebuilt;
        assert_eq!(self.kept.passed_over(), scratch.passed_over(), "{what}");
        assert_eq!(self.kept.has_entries(), scratch.has_entries(), "{what}");
        let mut classes = self.present();
        for &(at, _) in scratch.passed_over().iter().rev() {
            classes.remove(at);
        }
        let said = self.kept.answers(&classes);
        for (now, other) in said.iter().zip(answers(&scratch, &classes)) {
            assert!(*now == other, "{what}: {}", first_difference(now, &other));
        }
        for it in self.last.iter().filter(|_| taken) {
            if let Some(name) = it.strip_suffix(" false").or_else(|| it.strip_suffix(" true")) {
                let other = format!("{name} {}", it.ends_with(" false"));
                self.n_ghosts += usize::from(said.contains(&other));
            }
        }
        self.last = said;
        assert_eq!(format!("{:?}", self.kept.missing()), format!("{:?}", scratch.missing()), "{what}");
        taken
    }
}

fn first_difference(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let around = |it: &str| {
        let bytes = &it.as_bytes()[at.saturating_sub(200)..(at + 200).min(it.len())];
        String::from_utf8_lossy(bytes).into_owned()
    };
    format!("\n{}\n{}", around(a), around(b))
}

/// Whether the bytes can be read as a class of the same name as before.
fn is_same_class(bytes: &[u8], before: &[u8]) -> bool {
    let name = |it: &[u8]| read_class(it, &mut Scratch::default()).ok().map(|it| it.class());
    name(bytes).is_some() && name(bytes) == name(before)
}

/// Some methods of a class, each with the exceptions that it promises never to throw when it is a ghost.
fn some_methods(class: &[u8], rng: &mut Rng) -> BTreeMap<String, Vec<String>> {
    let question = Question { select: &|_| true, graphs: false, clock: None };
    let ClassAnswer { methods, .. } = class_answer(class, &question, &mut Scratch::default()).unwrap();
    let mut never = || ["any", "RuntimeException", "java.lang.Error"][rng.below(3) as usize].to_owned();
    let all = methods.iter().map(|it| (it.method.to_string(), vec![never()]));
    all.collect::<Vec<_>>().into_iter().filter(|_| rng.chance(30)).collect()
}

#[test]
fn changed_classes_update_the_program() {
    let (mut taken, mut refused, mut moved) = (0, 0, 0);
    for seed in seeds(8, 30) {
        let mode = [Mode::Plain, Mode::OddRows, Mode::Dynamic][seed as usize % 3];
        let mut classes: Vec<Vec<u8>> =
            program(seed, mode).unwrap().classes.into_iter().map(|it| it.bytes).collect();
        let worlds = [WorldKind::Open, WorldKind::Closed, WorldKind::Declared];
        let world = worlds[seed as usize / 3 % worlds.len()];
        let n_edited = classes.len();
        // In some of the programs, no absent class is named before the first edit.
        if world == WorldKind::Declared && seed % 2 == 0 {
            let stubs = stubs(&classes);
            classes.extend(stubs);
        }
        let options = WholeOptions {
            assume_contract: seed % 5 == 0,
            link_errors: seed % 4 == 0,
            async_errors: seed % 7 == 0,
            system_assertions: false,
            ..in_world(world)
        };
        let mut editor = match seed % 4 {
            3 => Editor::interrupted(classes.clone(), options, (seed, seed % 8 == 3)),
            _ => Editor::new(classes.clone(), options),
        };
        let original = classes;
        let mut rng = Rng::new(seed);
        for n in 0..tier::rounds(15, 60) {
            let (mut classes, mut present) = (editor.classes.clone(), editor.present.clone());
            let mut what = format!("seed {seed}, edit {n}:");
            let mut moves = false;
            // Sometimes make several edits in one step.
            for _ in 0..=rng.range(0, 3) / 3 {
                let at = rng.range(0, n_edited as i32 - 1) as usize;
                match (rng.range(0, 3), present.iter().position(|it| *it == at)) {
                    (0, Some(place)) => {
                        present.remove(place);
                        moves = true;
                        what += &format!(" without {at};");
                    }
                    (_, None) => {
                        let place = rng.range(0, present.len() as i32) as usize;
                        present.insert(place, at);
                        moves = true;
                        what += &format!(" with {at};");
                    }
                    (2, Some(_)) if rng.chance(30) => {
                        let bytes = &original[at];
                        classes[at] = with_ghosts(bytes, &some_methods(bytes, &mut rng));
                        what += &format!(" ghosts in {at};");
                    }
                    (1, Some(_)) if classes[at] != original[at] => {
                        classes[at].clone_from(&original[at]);
                        what += &format!(" {at} as it was;");
                    }
                    (_, Some(_)) => {
                        let i = rng.range(10, classes[at].len() as i32 - 1) as usize;
                        let mut bytes = classes[at].clone();
                        bytes[i] ^= 1 << rng.range(0, 4);
                        if is_same_class(&bytes, &classes[at]) {
                            classes[at] = bytes;
                            what += &format!(" byte {i} of {at};");
                        }
                    }
                }
            }
            if editor.go(classes, present, &what) {
                taken += 1;
                moved += usize::from(moves);
            } else {
                refused += 1;
            }
        }
    }
    println!("{taken} updated in place, {moved} of them with added or removed classes; {refused} rebuilt");
    assert!(taken > 60 && moved > 30 && refused > tier::rounds(10, 20), "{taken} {moved} {refused}");
}

/// The class files of a program and of its platform. In a closed world, every call would be open without the
/// platform.
fn structure_classes(structure: &Structure, platform: &[Assembled]) -> Vec<Vec<u8>> {
    structure.classes().unwrap().iter().chain(platform).map(|it| it.bytes.clone()).collect()
}

/// Edits change what types inherit, who may use them, and who initialises them.
#[test]
fn changed_structures_update_the_program() {
    let platform = Structure::platform().unwrap();
    let (mut taken, mut moved, mut refused) = (0, 0, 0);
    let seeds = seeds(3, 20);
    for seed in seeds.clone() {
        let mut structure = Structure::new(1000 + seed);
        let world = [WorldKind::Open, WorldKind::Closed, WorldKind::Declared][seed as usize % 3];
        let mut editor = Editor::new(structure_classes(&structure, &platform), in_world(world));
        let mut rng = Rng::new(seed);
        for n in 0..30 {
            for _ in 0..=rng.below(2) {
                structure.change(&mut rng);
            }
            let classes = structure_classes(&structure, &platform);
            // One more initialiser gives one more exception. The order of the classes stays, so the numbers of later
            // ones change.
            let mut present: Vec<usize> = (0..classes.len()).collect();
            let without = rng.chance(50).then(|| rng.below(classes.len() as u32) as usize);
            if let Some(it) = without {
                present.remove(it);
            }
            if editor.go(classes, present, &format!("seed {seed}, {world:?}, edit {n}, without {without:?}"))
            {
                taken += 1;
                moved += usize::from(without.is_some());
            } else {
                refused += 1;
            }
        }
    }
    println!("{taken} updated in place, {moved} of them with added or removed classes; {refused} rebuilt");
    let n_seeds = seeds.count();
    assert!(taken > 10 * n_seeds && moved > 5 * n_seeds, "{taken} {moved} {refused}");
}

/// The meaning of a call of `super` depends on the caller's class, and access depends on the nest of that class.
#[test]
fn a_host_that_changes_keeps_calls_of_its_members() {
    let interface =
        ".class public interface abstract p/I\n.version 61.0\n.method public m()V\n return\n.end\n";
    let member = ".class public super p/C\n.version 61.0\n.implements p/I\n.nesthost p/H\n\
        .method public m()V\n aload_0\n invokespecial interface p/I.m()V\n return\n.end\n";
    let host = ".class public super p/H\n.version 61.0\n.nestmember p/C\n";
    let before = assembled(&[interface, member, host]);
    let after = assembled(&[interface, member, &format!("{host}.field f I\n")]);
    let mut editor = Editor::new(before, in_world(WorldKind::Closed));
    assert!(editor.go(after.clone(), vec![0, 1, 2], "the host"));
    let said = editor.kept.answers(&after);
    assert!(said.iter().any(|it| it.contains("targets: [p/I.m()V]")), "{said:#?}");
}

/// A ghost needs nothing that its code in the class file names, because that is not the ghost's own code.
#[test]
fn ghosts_need_nothing_that_their_code_names() {
    let interface =
        ".class public interface abstract p/I\n.version 61.0\n.method public m()V\n return\n.end\n";
    let class = ".class public super p/C\n.version 61.0\n.implements p/I\n\
        .method public m()V\n aload_0\n invokespecial interface p/I.m()V\n return\n.end\n";
    let mut classes = assembled(&[interface, class]);
    let ghosts = [("p/C.m()V".to_owned(), Vec::new())].into();
    classes[1] = with_ghosts(&classes[1], &ghosts);
    let missing = fresh(&classes, in_world(WorldKind::Closed)).1.missing();
    assert!(missing.iter().all(|it| it.class.to_string() != "p/I"), "{missing:?}");
}

#[test]
fn edits_can_be_undone() {
    let mut classes: Vec<Vec<u8>> =
        program(7, Mode::Plain).unwrap().classes.into_iter().map(|it| it.bytes).collect();
    let numbers: Vec<usize> = (0..classes.len()).collect();
    let original = with_roles(fresh(&classes, in_world(WorldKind::Open)).0);
    let mut kept = Kept::new(in_world(WorldKind::Open), None);
    kept.advance(&original, &numbers);
    let before = kept.answers(&classes);
    let (mut n, mut other) = (0, 0);
    for at in 0..classes.len() {
        for i in (10..classes[at].len()).step_by(tier::rounds(44, 11)) {
            classes[at][i] ^= 1;
            let record = read_class(&classes[at], &mut Scratch::default());
            classes[at][i] ^= 1;
            let is_edit = |it: &ClassRecord| *it != original[at].0 && it.class() == original[at].0.class();
            let Some(record) = record.ok().filter(is_edit) else { continue };
            let mut records = original.clone();
            records[at].0 = record;
            let sets = kept.keeper.counts().changed_sets;
            let is_taken = kept.advance(&records, &numbers) == Advance::Updated;
            other += u64::from(kept.keeper.counts().changed_sets > sets);
            let back = kept.advance(&original, &numbers);
            n += usize::from(is_taken);
            assert!(!is_taken || back == Advance::Updated, "class {at}, byte {i}");
            if n % 4 == 0 {
                assert_eq!(kept.answers(&classes), before, "class {at}, byte {i}");
            }
        }
    }
    assert!(n > 10 && other > 0, "{n} {other}");
    assert_eq!(kept.answers(&classes), before);
}

/// The answers about a call of `p/I.m` with the targets `A.m` and `B.m`, after `A` was removed and added again behind
/// `B`. `method` is the code of both targets, with `SELF` for the class name.
fn says_of_two_ways(method: &str) -> Vec<String> {
    let below =
        |name: &str| format!(".class public super p/{name}\n.super p/I\n{}", method.replace("SELF", name));
    let caller = ".class public super p/C\n.method public static c(Lp/I;)V\n aload_0\n invokevirtual p/I.m()V\n return\n.end\n";
    let called = ".class public super p/I\n.method public m()V\n return\n.end\n";
    let classes = assembled(&[called, caller, &below("A"), &below("B")]);
    // In the closed world nothing else is open.
    let mut editor = Editor::new(classes.clone(), in_world(WorldKind::Closed));
    let before = editor.kept.answers(&classes);
    for (present, what) in [(vec![0, 1, 3], "without A"), (vec![0, 1, 3, 2], "with A after B")] {
        assert!(editor.go(classes.clone(), present, what), "{what}: updated in place");
    }
    assert_eq!(editor.kept.answers(&classes), before);
    before
}

/// If the code of both targets cannot be read, the reason for the open call is the first of them by text, whichever
/// was added later.
#[test]
fn equally_short_ways_do_not_depend_on_history() {
    let says = says_of_two_ways(".method public m()V\n .bytes 0xff\n.end\n");
    assert!(says.iter().any(|it| it.contains("p/A.m") && it.contains("MissingCode")), "{says:#?}");
}

/// If the unreadable code is one call further away, the reason is chosen in the same way.
#[test]
fn equally_short_ways_do_not_depend_on_history_one_call_further() {
    let says = says_of_two_ways(
        ".method public m()V\n invokestatic p/SELF.s()V\n return\n.end\n\
         .method public static s()V\n .bytes 0xff\n.end\n",
    );
    let is_first = |it: &&String| it.contains("p/C.c") && it.contains("p/A.s") && !it.contains("p/B.s");
    assert!(says.iter().any(|it| is_first(&it)), "{says:#?}");
}

/// Covers lambdas, proxies, nests, handles and serialization, as javac compiles them.
#[test]
fn compiled_classes_are_removed_and_added_back() {
    let with = |link_errors, world| WholeOptions { link_errors, ..in_world(world) };
    let all_options =
        [with(true, WorldKind::Open), with(false, WorldKind::Closed), with(true, WorldKind::Declared)];
    let folders = all_options.iter().flat_map(|it| [("calls", *it), ("observed", *it)]);
    for (name, options) in folders {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data").join(name);
        let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
        let mut files: Vec<_> = files.filter(|it| it.extension().is_some_and(|it| it == "class")).collect();
        files.sort();
        let classes: Vec<Vec<u8>> = files.iter().map(|it| std::fs::read(it).unwrap()).collect();
        let mut editor = Editor::new(classes.clone(), options);
        let all = editor.present.clone();
        let mut taken = 0;
        let step = tier::rounds(16, 1);
        for (at, file) in files.iter().enumerate().step_by(step) {
            let without: Vec<usize> = all.iter().copied().filter(|it| *it != at).collect();
            for (present, how) in [(without, "without"), (all.clone(), "with")] {
                let what = format!("{options:?}, {how} {}", file.display());
                taken += usize::from(editor.go(classes.clone(), present, &what));
            }
        }
        let n_gone = classes.len().div_ceil(step);
        assert!(taken > n_gone, "{name}, {options:?}: {taken} of {}", 2 * n_gone);
    }
}

/// The number of edits by outcome.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    /// Updates in place in which types were removed or added.
    moved: usize,
    /// Updates in place in which types changed, but none was removed or added.
    changed: usize,
    /// Updates in place in which only code changed.
    code: usize,
    /// Edits for which the program was rebuilt.
    refused: usize,
    /// The number of methods that became ghosts or ceased to be ghosts, as in [`Editor::n_ghosts`].
    ghosts: usize,
    /// The counts of cancelled advances, as in [`Interruptions`].
    broken_off: usize,
    taken_after: usize,
}

/// Edits a random program of throwable types and of code that throws and catches them. `fixed` are additional
/// classes.
fn edit_exceptions(
    seed: u64,
    options: WholeOptions,
    fixed: &[Vec<u8>],
    words: &Words<'_>,
    counts: &mut Counts,
) {
    edit_exceptions_of(Editor::new, seed, options, fixed, words, counts);
}

/// Like [`edit_exceptions`], with an editor created by `editor`.
fn edit_exceptions_of(
    editor: impl FnOnce(Vec<Vec<u8>>, WholeOptions) -> Editor,
    seed: u64,
    options: WholeOptions,
    fixed: &[Vec<u8>],
    words: &Words<'_>,
    counts: &mut Counts,
) {
    let mut rng = Rng::new(seed);
    let parents: Vec<usize> = (0..EXCEPTIONS).map(|i| rng.below(i as u32 + 2) as usize).collect();
    let mut classes: Vec<Vec<u8>> = (0..EXCEPTIONS).map(|i| exception(i, parents[i], 0)).collect();
    classes.extend((0..4).map(|i| thrower(i, &mut rng, words)));
    classes.extend(fixed.iter().cloned());
    let second = classes.len();
    if words.has_ghosts {
        // More classes with the same names.
        classes.extend((0..4).map(|i| thrower(i, &mut rng, words)));
    }
    let loaders = classes.len();
    if words.has_loaders {
        classes.extend((0..2).map(|i| loader(i, &mut rng, words)));
    }
    let mut editor = editor(classes, options);
    for n in 0..tier::rounds(30, 60) {
        let (mut classes, mut present) = (editor.classes.clone(), editor.present.clone());
        let mut what = format!("seed {seed}, {options:?}, edit {n}:");
        let (mut moves, mut changes) = (false, false);
        for _ in 0..1 + rng.below(3) / 2 {
            let at = rng.below(EXCEPTIONS as u32) as usize;
            match present.iter().position(|it| *it == at) {
                _ if words.has_ghosts && rng.chance(25) => {
                    let at = second + rng.below(4) as usize;
                    match present.iter().position(|it| *it == at) {
                        Some(place) => _ = present.remove(place),
                        None => present.insert(rng.below(present.len() as u32 + 1) as usize, at),
                    }
                    what += &format!(" {at} comes or goes;");
                }
                _ if words.has_loaders && rng.chance(25) => {
                    let i = rng.below(2) as usize;
                    match present.iter().position(|it| *it == loaders + i) {
                        Some(place) if rng.chance(50) => _ = present.remove(place),
                        Some(_) => classes[loaders + i] = loader(i, &mut rng, words),
                        None => present.push(loaders + i),
                    }
                    what += &format!(" loader {i};");
                }
                _ if rng.chance(25) => {
                    let i = EXCEPTIONS + rng.below(4) as usize;
                    classes[i] = thrower(i - EXCEPTIONS, &mut rng, words);
                    what += &format!(" code {i};");
                }
                Some(_) if rng.chance(40) => {
                    // In half of the programs, all types are known as long as all are present.
                    let n_variants = if words.lost == LOST { 6 } else { 5 };
                    let variant = [0, 1, 2, 3, 5, 4][rng.below(n_variants) as usize];
                    classes[at] = exception(at, parents[at], variant);
                    what += &format!(" variant {variant} of {at};");
                    changes = true;
                }
                Some(place) => {
                    present.remove(place);
                    what += &format!(" without {at};");
                    moves = true;
                }
                None => {
                    present.push(at);
                    what += &format!(" with {at};");
                    moves = true;
                }
            }
        }
        match editor.go(classes, present, &what) {
            true if moves => counts.moved += 1,
            true if changes => counts.changed += 1,
            true => counts.code += 1,
            false => counts.refused += 1,
        }
    }
    counts.ghosts += editor.n_ghosts;
    if let Some(it) = &editor.interruptions {
        counts.broken_off += it.n;
        counts.taken_after += it.n_taken;
    }
}

/// The seeds for the fast and the full tier; the variable `AJAR_EDIT_SEEDS` sets another number for both.
fn seeds(fast: u64, full: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("AJAR_EDIT_SEEDS").ok().and_then(|it| it.parse().ok());
    0..asked.unwrap_or(tier::rounds(fast, full))
}

#[test]
fn exception_classes_update_the_program() {
    for world in [WorldKind::Open, WorldKind::Closed] {
        let mut counts = Counts::default();
        for seed in seeds(4, 30) {
            edit_exceptions(seed, in_world(world), &[], &words(seed), &mut counts);
        }
        println!("{world:?}: {counts:?}");
        assert!(
            counts.moved.min(counts.changed).min(counts.code) > tier::rounds(8, 100),
            "{world:?}: {counts:?}"
        );
    }
}

/// A cancelled advance continues where it stopped, even if the program changed in the meantime.
#[test]
fn cancelled_advances_continue() {
    for (world, astray) in [
        (WorldKind::Open, false),
        (WorldKind::Open, true),
        (WorldKind::Closed, false),
        (WorldKind::Closed, true),
        (WorldKind::Declared, false),
    ] {
        let mut counts = Counts::default();
        for seed in seeds(3, 15) {
            let options = WholeOptions { link_errors: seed % 3 == 0, ..in_world(world) };
            let words = Words {
                has_ghosts: seed % 4 == 1,
                has_unseen: seed % 4 == 2,
                has_loaders: seed % 3 == 0,
                ..words(seed)
            };
            let editor = |classes, options| Editor::interrupted(classes, options, (seed, astray));
            edit_exceptions_of(editor, seed, options, &[], &words, &mut counts);
        }
        println!("{world:?}, astray: {astray}: {counts:?}");
        let enough = counts.broken_off > tier::rounds(25, 400) && counts.taken_after > tier::rounds(10, 150);
        assert!(enough, "{world:?}, {astray}: {counts:?}");
    }
}

/// In the `declared` world, unknown classes may exist only if the program names an absent class.
#[test]
fn exception_classes_update_the_declared_world() {
    let options = in_world(WorldKind::Declared);
    let platform = ["Object", "Throwable", "Exception", "RuntimeException", "Error"];
    let platform: Vec<Vec<u8>> = platform.iter().map(|it| stub(&format!("java/lang/{it}"))).collect();
    let (mut with_absent, mut without) = (Counts::default(), Counts::default());
    for seed in seeds(4, 30) {
        edit_exceptions(seed, options, &[], &words(seed), &mut with_absent);
        let all_there = Words { n_named: 2, lost: "java/lang/Error", callee: "p/C1.m1", ..words(seed) };
        edit_exceptions(seed, options, &platform, &all_there, &mut without);
    }
    println!("{with_absent:?}, where nothing else is absent {without:?}");
    let least = tier::rounds(8, 100);
    assert!(with_absent.moved.min(with_absent.changed).min(with_absent.code) > least, "{with_absent:?}");
    assert!(without.moved.min(without.changed).min(without.code) > least, "{without:?}");
    assert!(without.refused > least, "absent classes are sometimes named and sometimes not: {without:?}");
}

/// Ghosts are whole classes or methods of which only a promise is known. Some have the name of a class with code.
#[test]
fn ghosts_update_the_program() {
    for world in [WorldKind::Open, WorldKind::Closed, WorldKind::Declared] {
        let mut counts = Counts::default();
        for seed in seeds(4, 20) {
            let words = Words { has_ghosts: true, ..words(seed) };
            edit_exceptions(seed, in_world(world), &[], &words, &mut counts);
        }
        println!("{world:?}: {counts:?}");
        assert!(
            counts.moved.min(counts.changed).min(counts.code) > tier::rounds(8, 100),
            "{world:?}: {counts:?}"
        );
        assert!(counts.ghosts > tier::rounds(20, 100), "{world:?}: {counts:?}");
    }
}

/// Resolving a class asks the loaders that the program currently has, and linking a class resolves the classes that
/// its handlers name.
#[test]
fn loaders_update_the_program() {
    // The platform's own objects are no loaders of the program. A native method of the platform also asks loaders.
    let fixed = assembled(&[
        ".class public super abstract java/lang/ClassLoader\n.method public <init>()V\n return\n.end\n\
         .method public loadClass(Ljava/lang/String;)Ljava/lang/Class;\n aconst_null\n areturn\n.end\n",
        ".class public super java/lang/Class\n\
         .method public static native getDeclaredClasses0()[Ljava/lang/Class;\n.end\n",
        ".class public super p/D\n.method public static d()V\n .throws java/lang/ClassNotFoundException\n\
         invokestatic java/lang/Class.getDeclaredClasses0()[Ljava/lang/Class;\n pop\n return\n.end\n",
    ]);
    for world in [WorldKind::Open, WorldKind::Closed, WorldKind::Declared] {
        let options = WholeOptions { link_errors: true, ..in_world(world) };
        let mut counts = Counts::default();
        for seed in seeds(3, 20) {
            let words = Words { has_loaders: true, has_ghosts: seed % 4 == 0, ..words(seed) };
            edit_exceptions(seed, options, &fixed, &words, &mut counts);
        }
        println!("{world:?}: {counts:?}");
        assert!(
            counts.moved.min(counts.changed).min(counts.code) > tier::rounds(8, 100),
            "{world:?}: {counts:?}"
        );
    }
}

/// Native methods of the platform ask loaders just as the program's code does. At first there is no loader here.
#[test]
fn a_first_loader_is_asked_by_the_platform() {
    let loader = ".class public super p/L\n.super java/lang/ClassLoader\n\
        .method public <init>()V\n aload_0\n invokespecial java/lang/ClassLoader.<init>()V\n return\n.end\n\
        .method public loadClass(Ljava/lang/String;)Ljava/lang/Class;\n aconst_null\n athrow\n.end\n";
    let classes = assembled(&[
        ".class public super abstract java/lang/ClassLoader\n.method public <init>()V\n return\n.end\n\
         .method public loadClass(Ljava/lang/String;)Ljava/lang/Class;\n aconst_null\n areturn\n.end\n",
        ".class public super java/lang/Class\n\
         .method public static native getDeclaredClasses0()[Ljava/lang/Class;\n.end\n\
         .method public static all()V\n invokestatic java/lang/Class.getDeclaredClasses0()[Ljava/lang/Class;\n \
         pop\n return\n.end\n",
        loader,
    ]);
    let options = WholeOptions { link_errors: true, ..in_world(WorldKind::Closed) };
    let mut editor = Editor::new(classes[..2].to_vec(), options);
    assert!(editor.go(classes.clone(), vec![0, 1, 2], "with a loader"));
    let is_asked = |it: &String| {
        it.contains("Throws { method: java/lang/Class.all()V")
            && it.contains("java/lang/NullPointerException")
    };
    assert!(editor.last.iter().any(is_asked), "{:#?}", editor.last);
    assert!(editor.go(classes, vec![0, 1], "without it"));
    assert!(!editor.last.iter().any(is_asked), "{:#?}", editor.last);
}

/// Under `--assume contract`, throws clauses limit what unseen code throws, wherever it is called.
#[test]
fn changed_throws_clauses_count_under_contract() {
    let fixed = assembled(&[
        ".class public super abstract java/lang/ClassLoader\n.method public <init>()V\n return\n.end\n\
         .method public loadClass(Ljava/lang/String;)Ljava/lang/Class;\n .throws p/E0\n\
         aconst_null\n areturn\n.end\n",
        ".class public super p/D\n.method public static native d()V\n.throws java/lang/ClassNotFoundException\n.end\n",
    ]);
    for (world, link_errors) in [
        (WorldKind::Open, false),
        (WorldKind::Open, true),
        (WorldKind::Closed, false),
        (WorldKind::Declared, true),
    ] {
        let options = WholeOptions { assume_contract: true, link_errors, ..in_world(world) };
        let mut counts = Counts::default();
        for seed in seeds(3, 12) {
            let words = Words {
                has_unseen: true,
                has_loaders: link_errors,
                has_ghosts: seed % 3 == 0,
                ..words(seed)
            };
            let fixed = if link_errors { &fixed[..] } else { &[] };
            edit_exceptions(seed, options, fixed, &words, &mut counts);
        }
        println!("{options:?}: {counts:?}");
        assert!(
            counts.moved.min(counts.changed).min(counts.code) > tier::rounds(8, 50),
            "{options:?}: {counts:?}"
        );
    }
}

/// Linking a class resolves the classes that its handlers name, for the verifier.
#[test]
fn initialisers_follow_the_classes_that_handlers_name() {
    let caught = ".class public super p/A\n";
    let called = |caught: &str| {
        format!(
            ".class public super p/B\n.method public static b()V\n A: invokestatic p/B.b()V\n B: return\n H: pop\n return\n\
             .catch {caught} from A to B using H\n.end\n"
        )
    };
    let caller =
        ".class public super p/C\n.method public static c()V\n invokestatic p/B.b()V\n return\n.end\n";
    let with = |class: &str| assembled(&[caller, &called(class), caught]);
    let options = WholeOptions { link_errors: true, ..in_world(WorldKind::Closed) };
    let mut editor = Editor::new(with("p/A"), options);
    let steps = [
        ("another class, which is absent", "ext/A", vec![0, 1, 2], true),
        ("the first one again", "p/A", vec![0, 1, 2], false),
        ("it goes", "p/A", vec![0, 1], true),
        ("it comes", "p/A", vec![0, 1, 2], false),
    ];
    for (what, class, present, fails) in steps {
        assert!(editor.go(with(class), present, what), "{what}");
        let of_caller = editor.last.iter().find(|it| it.contains("p/C.c") && it.contains("known: ")).unwrap();
        assert_eq!(of_caller.contains("NoClassDefFoundError"), fails, "{what}: {of_caller}");
    }
}

/// In the `declared` world, a call is open exactly if an absent class is named. An edit updates the program in place
/// exactly if that does not change.
#[test]
fn the_first_and_the_last_absent_name_open_and_close_the_declared_world() {
    let called = ".class public super p/A\n.method public <init>()V\n return\n.end\n.method public m()V\n return\n.end\n";
    let caller = ".class public super p/C\n.method public static c(Lp/A;)V\n aload_0\n invokevirtual p/A.m()V\n return\n.end\n";
    let user = |class: &str| {
        format!(
            ".class public super p/D\n.method public static d()V\n invokestatic {class}.f()V\n return\n.end\n"
        )
    };
    let object = stub("java/lang/Object");
    let with = |user: String, others: &[&str]| {
        let mut acc = assembled(&[called, caller, &user]);
        acc.push(object.clone());
        acc.extend(assembled(others));
        acc
    };
    let below = ".class public super p/B\n.super ext/Above\n";
    let mut editor = Editor::new(with(user("p/A"), &[below]), in_world(WorldKind::Declared));
    let (all, without) = (vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3]);
    let steps = [
        ("no absent class", "p/A", &without, false),
        ("still none", "p/C", &without, true),
        ("the first absent name, in code", "ext/X", &without, false),
        ("another one", "ext/Y", &without, true),
        ("one of a supertype besides", "ext/Y", &all, true),
        ("that one alone", "p/A", &all, true),
        ("none at all", "p/A", &without, false),
        ("that one again", "p/A", &all, false),
        ("both", "ext/X", &all, true),
        ("that in code alone", "ext/X", &without, true),
        ("none in the end", "p/C", &without, false),
    ];
    for (what, name, present, is_taken_in) in steps {
        let classes = with(user(name), &[below]);
        assert_eq!(editor.go(classes.clone(), present.clone(), what), is_taken_in, "{what}");
        let is_open = editor.kept.answers(&classes).iter().any(|it| it.contains("Overridable"));
        let has_absent = name.starts_with("ext/") || present.len() == all.len();
        assert_eq!(is_open, has_absent, "{what}");
    }
}

/// Stubs for all absent classes that these classes name.
fn stubs(classes: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut all = classes.to_vec();
    loop {
        let missing = fresh(&all, in_world(WorldKind::Closed)).1.missing();
        if missing.is_empty() {
            return all.split_off(classes.len());
        }
        all.extend(missing.iter().map(|it| stub(&it.class.to_string())));
    }
}

/// Many classes change in one edit, as when a library is added or replaced.
#[test]
fn many_classes_are_added_and_removed_in_one_edit() {
    let (mut taken, mut refused) = (0, 0);
    for seed in seeds(3, 6) {
        let mut rng = Rng::new(seed);
        let mut classes: Vec<Vec<u8>> = (0..EXCEPTIONS)
            .map(|i| exception(i, rng.below(i as u32 + 2) as usize, 4 * rng.below(2) as usize))
            .collect();
        let words = Words { n_named: EXCEPTIONS, ..words(0) };
        classes.extend((0..4).map(|i| thrower(i, &mut rng, &words)));
        for mode in [Mode::Plain, Mode::OddRows, Mode::Dynamic] {
            let programs = (3 * seed..3 * seed + 3).map(|it| program(it, mode).unwrap());
            classes.extend(programs.flat_map(|it| it.classes).map(|it| it.bytes));
        }
        let world = if seed % 3 == 2 { WorldKind::Closed } else { WorldKind::Open };
        let mut editor = match seed % 2 {
            0 => Editor::interrupted(classes.clone(), in_world(world), (seed, false)),
            _ => Editor::new(classes.clone(), in_world(world)),
        };
        for n in 0..tier::rounds(4, 12) {
            let stays = rng.below(100);
            let present: Vec<usize> = (0..classes.len()).filter(|_| rng.below(100) <= stays).collect();
            match editor.go(classes.clone(), present, &format!("seed {seed}, edit {n}")) {
                true => taken += 1,
                false => refused += 1,
            }
        }
    }
    println!("{taken} updated in place; {refused} rebuilt");
    assert!(taken > 2 * refused, "{taken} {refused}");
}

fn assembled(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|it| test_utils::asm::assemble(it).unwrap().remove(0).bytes).collect()
}

/// A row that catches all exceptions of a class leaves nothing for a later row of the same class, not even future
/// types.
#[test]
fn future_types_alone_do_not_reach_a_handler() {
    let classes = assembled(&[".class public super p/C\n.method public static m()V\n\
         A: invokestatic ext/Absent.f()V\n B: return\n H: pop\n return\n I: athrow\n\
         .catch java/lang/RuntimeException from A to B using H\n\
         .catch java/lang/RuntimeException from A to B using I\n.end\n"]);
    let whole = fresh(&classes, in_world(WorldKind::Open)).1;
    let said = answers(&whole, &classes);
    assert!(
        said[1].contains("except: [Part { class: java/lang/RuntimeException, cone: true }]"),
        "{}",
        said[1]
    );
}

/// The exceptions of a proxy's method depend on its throws clause, and on what the classes in that clause are.
#[test]
fn proxies_follow_what_their_methods_declare() {
    let classes = assembled(&[
        ".class public super p/E\n.super java/lang/Exception\n\
         .method public <init>()V\n aload_0\n invokespecial java/lang/Exception.<init>()V\n return\n.end\n",
        ".class public super p/H\n.implements java/lang/reflect/InvocationHandler\n\
         .method public invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;\n\
         new p/E\n dup\n invokespecial p/E.<init>()V\n athrow\n.end\n",
        ".class public interface abstract p/I\n.method public abstract m()V\n.throws p/E\n.end\n",
        ".class public super p/C\n.method public static c(Lp/I;)V\n\
         aconst_null\n aconst_null\n aconst_null\n\
         invokestatic java/lang/reflect/Proxy.newProxyInstance(Ljava/lang/ClassLoader;[Ljava/lang/Class;\
         Ljava/lang/reflect/InvocationHandler;)Ljava/lang/Object;\n pop\n\
         aload_0\n invokeinterface p/I.m()V\n return\n.end\n",
        ".class public super java/lang/reflect/UndeclaredThrowableException\n.super java/lang/RuntimeException\n",
        ".class public interface abstract java/lang/reflect/InvocationHandler\n.method public abstract \
         invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;\n.end\n",
    ]);
    let mut editor = Editor::new(classes.clone(), in_world(WorldKind::Closed));
    let before = editor.kept.answers(&classes);
    let said = |it: &&String| it.contains("p/C.c") && it.contains("known: [");
    let said = before.iter().find(said).unwrap();
    assert!(said.contains("class: p/E") && !said.contains("class: java/lang/Throwable"), "{said}");
    for (present, what) in [(vec![1, 2, 3, 4, 5], "without E"), (vec![1, 2, 3, 4, 5, 0], "with E")] {
        assert!(editor.go(classes.clone(), present, what), "{what}: updated in place");
    }
    assert_eq!(editor.kept.answers(&classes), before);
}

/// In a world without unknown classes, interface calls go to proxies, and anywhere through objects around method
/// handles, as long as some code creates these.
#[test]
fn calls_follow_objects_created_at_run_time() {
    let mut classes = assembled(&[
        ".class public super p/E\n.super java/lang/Exception\n\
         .method public <init>()V\n aload_0\n invokespecial java/lang/Exception.<init>()V\n return\n.end\n",
        ".class public super p/H\n.implements java/lang/reflect/InvocationHandler\n\
         .method public <init>()V\n return\n.end\n\
         .method public invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;\n\
         new p/E\n dup\n invokespecial p/E.<init>()V\n athrow\n.end\n",
        ".class public interface abstract p/I\n.method public abstract m()V\n.throws p/E\n.end\n\
         .method public abstract n()I\n.end\n",
        ".class public interface abstract p/J\n.method public abstract m()V\n.end\n",
        ".class public super p/C\n.method public static c(Lp/I;)V\n\
         aload_0\n invokeinterface p/I.m()V\n return\n.end\n\
         .method public static d(Lp/J;)V\n aload_0\n invokeinterface p/J.m()V\n return\n.end\n\
         .method public static e(Lp/I;)I\n aload_0\n invokeinterface p/I.n()I\n ireturn\n.end\n",
        ".class public interface abstract java/lang/reflect/InvocationHandler\n.method public abstract \
         invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;\n.end\n",
    ]);
    classes.push(maker(true, true));
    let stubs = stubs(&classes);
    let at = classes.len() - 1;
    classes.extend(stubs);
    for world in [WorldKind::Closed, WorldKind::Declared] {
        let mut editor = Editor::new(classes.clone(), in_world(world));
        let mut rng = Rng::new(1);
        let (mut flips, mut made) = (0, (true, true));
        let mut said: Vec<(bool, bool)> = Vec::new();
        for n in 0..40 {
            let (mut classes, mut present) = (editor.classes.clone(), editor.present.clone());
            let gone = rng.below(4) as usize;
            match present.iter().position(|it| *it == gone) {
                // The called interface would become an absent name, which opens the declared world.
                Some(place) if rng.chance(30) && world == WorldKind::Closed => _ = present.remove(place),
                Some(_) => {}
                None => present.push(gone),
            }
            let before = std::mem::replace(&mut made, (rng.chance(50), rng.chance(50)));
            classes[at] = maker(made.0, made.1);
            assert!(editor.go(classes, present, &format!("{world:?}, edit {n}")), "{world:?}, edit {n}");
            flips += usize::from(before != made);
            let calls = |what: &str| editor.last.iter().any(|it| it.contains(what));
            said.push((calls("targets: [p/H.invoke"), calls("SignaturePolymorphic")));
        }
        println!("{world:?}: {flips} flips");
        assert!(flips > 15, "{world:?}: {flips}");
        for kinds in [(true, false), (false, true), (false, false), (true, true)] {
            assert!(said.contains(&kinds), "{world:?}: {said:?}");
        }
    }
}

/// All classes are subclasses of Object, even if Object itself is absent.
#[test]
fn a_new_call_of_an_object_method_has_all_overriding_targets() {
    let caller = |call: &str| {
        format!(
            ".class public super p/C\n.method public static c(Lp/A;)V\n aload_0\n {call}\n pop\n return\n.end\n"
        )
    };
    let called = ".class public super p/A\n.method public toString()Ljava/lang/String;\n aconst_null\n areturn\n.end\n";
    let before = assembled(&[called, &caller("nop")]);
    let after = assembled(&[called, &caller("invokevirtual java/lang/Object.toString()Ljava/lang/String;")]);
    for world in [WorldKind::Open, WorldKind::Closed] {
        let mut editor = Editor::new(before.clone(), in_world(world));
        assert!(editor.go(after.clone(), vec![0, 1], "a call of Object"), "{world:?}: updated in place");
        let said = editor.kept.answers(&after);
        assert!(said.iter().any(|it| it.contains("targets: [p/A.toString")), "{said:#?}");
    }
}
