//! Programs in which calls are narrowed to receivers that reached code creates: what is reached follows edits, and
//! with it the targets of calls.

use std::sync::Arc;

use analysis::keeper::Advance;
use ide::entries::{EntryRequest, Receivers};
use ide::pattern::MethodPattern;
use ide::{Settings, WholeOptions, WorldKind};
use test_utils::generate::Structure;
use test_utils::rng::Rng;
use test_utils::tier;

use crate::update_programs::kept::{Kept, fresh, in_world, with_roles};
use crate::update_programs::{exception, loader, stub, words};
use crate::{Editor, Words, assembled, seeds, structure_classes};

/// The number of classes with objects, and of classes with code that creates these objects.
const OBJECTS: usize = 6;
const MAKERS: usize = 4;
/// The number of exception classes.
const THROWN: usize = 6;

/// The class `p/K{i}`, whose objects are called through `p/S.v`, `p/I.v` and `ext/Base.v`.
fn object(i: usize, rng: &mut Rng) -> Vec<u8> {
    let parent = match rng.below(6) {
        0 => "ext/Base".to_owned(),
        1 => "java/lang/Object".to_owned(),
        2 | 3 if i > 0 => format!("p/K{}", rng.below(i as u32)),
        _ => "p/S".to_owned(),
    };
    let flags = ["public super", "public super", "super", "public super abstract", "public super final"];
    let flags = flags[rng.below(5) as usize];
    let interface = match rng.below(6) {
        0 => ".implements p/I\n",
        1 => ".implements ext/Far\n",
        2 => ".implements java/io/Serializable\n",
        _ => "",
    };
    let mut text = format!(
        ".class {flags} p/K{i}\n.version 52.0\n.super {parent}\n{interface}\
         .method public <init>()V\n aload_0\n invokespecial {parent}.<init>()V\n return\n.end\n"
    );
    if rng.chance(70) {
        text += &format!(".method public v()V\n{}.end\n", body(rng));
    }
    if rng.chance(15) {
        text += &format!(".method static <clinit>()V\n{}.end\n", body(rng));
    }
    if rng.chance(15) {
        text += &format!(".method protected finalize()V\n{}.end\n", body(rng));
    }
    if rng.chance(15) {
        text += &format!(
            ".method private readResolve()Ljava/lang/Object;\n {} aconst_null\n areturn\n.end\n",
            step(rng)
        );
    }
    assembled(&[&text]).remove(0)
}

/// The class `p/F{i}`, whose static methods create objects and call them.
fn maker(i: usize, rng: &mut Rng) -> Vec<u8> {
    let lookup = "Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;";
    let rest = "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;";
    let handle = match rng.below(3) {
        0 => format!("newinvokespecial p/K{}.<init>()V", rng.below(OBJECTS as u32)),
        _ => format!("invokestatic p/F{}.m{}()V", rng.below(MAKERS as u32), rng.below(4)),
    };
    let mut text = format!(
        ".class public super p/F{i}\n.version 52.0\n\
         .bootstrap b0 invokestatic java/lang/invoke/LambdaMetafactory.metafactory({lookup}{rest})Ljava/lang/invoke/CallSite; \
         methodtype ()V handle {handle} methodtype ()V\n"
    );
    for m in 0..4 {
        let body = body(rng);
        let lambda = if rng.chance(12) { " invokedynamic b0 v()Lp/I;\n pop\n" } else { "" };
        text += &format!(".method public static m{m}()V\n{lambda}{body}.end\n");
    }
    if i < 2 && rng.chance(70) {
        text += &format!(".method public static main([Ljava/lang/String;)V\n{}.end\n", body(rng));
    }
    assembled(&[&text]).remove(0)
}

/// A part of a body that leaves the stack unchanged.
fn step(rng: &mut Rng) -> String {
    let call = match rng.below(10) {
        0..=2 => format!("invokestatic p/F{}.m{}()V", rng.below(MAKERS as u32), rng.below(4)),
        3 | 4 => {
            let class = format!("p/K{}", rng.below(OBJECTS as u32));
            format!("new {class}\n dup\n invokespecial {class}.<init>()V\n pop")
        }
        5 => format!("getstatic p/T.k{0} Lp/K{0};\n invokevirtual p/K{0}.v()V", rng.below(OBJECTS as u32)),
        6 => "getstatic p/T.i Lp/I;\n invokeinterface p/I.v()V".to_owned(),
        7 => "getstatic p/T.b Lext/Base;\n invokevirtual ext/Base.v()V".to_owned(),
        8 if rng.chance(20) => "invokestatic p/N.n()Lp/S;\n pop".to_owned(),
        _ => "getstatic p/T.s Lp/S;\n invokevirtual p/S.v()V".to_owned(),
    };
    format!(" {call}\n")
}

fn body(rng: &mut Rng) -> String {
    let mut text: String = (0..rng.below(3)).map(|_| step(rng)).collect();
    let thrown = rng.below(THROWN as u32);
    text += &match rng.below(3) {
        0 => format!(" new p/E{thrown}\n dup\n invokespecial p/E{thrown}.<init>()V\n athrow\n"),
        _ => " return\n".to_owned(),
    };
    text
}

/// The classes that never change: what is called, fields for receivers, and in half of the programs a platform.
fn fixed(has_platform: bool) -> Vec<Vec<u8>> {
    let fields: String = (0..OBJECTS).map(|it| format!(".field public static k{it} Lp/K{it};\n")).collect();
    let mut acc = assembled(&[
        &format!(
            ".class public super p/T\n{fields}.field public static s Lp/S;\n.field public static i Lp/I;\n\
             .field public static b Lext/Base;\n"
        ),
        ".class public super p/S\n.method public <init>()V\n aload_0\n invokespecial java/lang/Object.<init>()V\n \
         return\n.end\n.method public v()V\n return\n.end\n",
        ".class public interface abstract p/I\n.version 52.0\n.method public abstract v()V\n.end\n",
        ".class public super p/N\n.method public static native n()Lp/S;\n.end\n",
    ]);
    if has_platform {
        let classes = ["Object", "Throwable", "Exception", "RuntimeException", "Error"];
        acc.extend(classes.map(|it| stub(&format!("java/lang/{it}"))));
        acc.extend(["ext/Base", "ext/Far", "java/io/Serializable"].map(stub));
    }
    acc
}

/// The entry points of the programs.
fn requests(pattern: &str) -> [EntryRequest; 4] {
    let patterns = vec![MethodPattern::parse(pattern).unwrap()];
    let none = EntryRequest::default;
    [
        EntryRequest { app: true, ..none() },
        EntryRequest { patterns, ..none() },
        EntryRequest { automatic: true, ..none() },
        EntryRequest { library: true, ..none() },
    ]
}

/// The number of edits by outcome.
#[derive(Default, Debug)]
struct Outcomes {
    taken: usize,
    refused: usize,
    /// The number of answers about reachability that changed.
    reached: usize,
    broken_off: usize,
}

impl Outcomes {
    /// Makes one edit, and counts its outcome.
    fn go(&mut self, editor: &mut Editor, classes: Vec<Vec<u8>>, present: Vec<usize>, what: &str) {
        let reached = |it: &Editor| {
            it.last.iter().filter(|it| it.ends_with("} true") || it.ends_with(") true")).count()
        };
        let before = reached(editor);
        match editor.go(classes, present, what) {
            true => self.taken += 1,
            false => self.refused += 1,
        }
        self.reached += usize::from(before != reached(editor));
    }
}

fn edit(seed: u64, options: WholeOptions, outcomes: &mut Outcomes) {
    let mut rng = Rng::new(seed);
    let mut classes: Vec<Vec<u8>> = (0..OBJECTS).map(|it| object(it, &mut rng)).collect();
    classes.extend((0..MAKERS).map(|it| maker(it, &mut rng)));
    let loaders = classes.len();
    let n_loaders = if options.link_errors { 2 } else { 0 };
    let words = Words { n_named: THROWN, ..words(seed) };
    classes.extend((0..n_loaders).map(|it| loader(it, &mut rng, &words)));
    let n_edited = classes.len();
    classes.extend((0..THROWN).map(|it| exception(it, it % 2, 0)));
    classes.extend(fixed(seed.is_multiple_of(2)));
    let entries = requests("p/F0.m0")[(seed / 2) as usize % 4].clone();
    let receivers = if seed % 5 == 2 { Receivers::Any } else { Receivers::Created };
    let mut editor = Editor::starting(classes, options, Some((entries, receivers)));
    if seed % 3 == 1 {
        editor = editor.broken_off(seed, seed % 2 == 1);
    }
    for n in 0..50 {
        let (mut classes, mut present) = (editor.classes.clone(), editor.present.clone());
        let mut what = format!("seed {seed}, {options:?}, edit {n}:");
        for _ in 0..1 + rng.below(3) / 2 {
            let at = rng.below(n_edited as u32) as usize;
            // The class that a pattern names is never removed.
            let stays = at == OBJECTS;
            match present.iter().position(|it| *it == at) {
                Some(place) if !stays && rng.chance(15) => {
                    present.remove(place);
                    what += &format!(" without {at};");
                }
                Some(_) => {
                    classes[at] = match at {
                        _ if at < OBJECTS => object(at, &mut rng),
                        _ if at < loaders => maker(at - OBJECTS, &mut rng),
                        _ => loader(at - loaders, &mut rng, &words),
                    };
                    what += &format!(" another {at};");
                }
                None => {
                    present.insert(rng.below(present.len() as u32 + 1) as usize, at);
                    what += &format!(" with {at};");
                }
            }
        }
        outcomes.go(&mut editor, classes, present, &what);
    }
    outcomes.broken_off += editor.interruptions.as_ref().map_or(0, |it| it.n_taken);
}

#[test]
fn edits_update_what_is_reached() {
    for world in [WorldKind::Open, WorldKind::Closed, WorldKind::Declared] {
        let mut outcomes = Outcomes::default();
        for seed in seeds(5, 24) {
            let options = WholeOptions {
                link_errors: seed % 4 == 3,
                assume_contract: seed % 5 == 4,
                ..in_world(world)
            };
            edit(seed, options, &mut outcomes);
        }
        println!("{world:?}: {outcomes:?}");
        let (taken, broken_off, reached) = tier::rounds((60, 5, 10), (400, 50, 100));
        assert!(outcomes.taken > taken && outcomes.broken_off > broken_off, "{world:?}: {outcomes:?}");
        assert!(
            outcomes.taken > 2 * outcomes.refused && outcomes.reached > reached,
            "{world:?}: {outcomes:?}"
        );
    }
}

/// Types change what they inherit and who may use them, in programs of which only a part is reached.
#[test]
fn what_is_reached_follows_the_hierarchy() {
    let platform = Structure::platform().unwrap();
    let mut outcomes = Outcomes::default();
    for seed in seeds(3, 12) {
        let mut structure = Structure::new(2000 + seed);
        let world = [WorldKind::Open, WorldKind::Closed, WorldKind::Declared][seed as usize % 3];
        let classes = structure_classes(&structure, &platform);
        let entries = requests("java/lang/Error.<init>")[if seed % 2 == 0 { 3 } else { 2 }].clone();
        let receivers = if seed % 4 < 2 { Receivers::Created } else { Receivers::Any };
        let mut editor = Editor::starting(classes, in_world(world), Some((entries, receivers)));
        let mut rng = Rng::new(seed);
        for n in 0..25 {
            for _ in 0..=rng.below(2) {
                structure.change(&mut rng);
            }
            let classes = structure_classes(&structure, &platform);
            let mut present: Vec<usize> = (0..classes.len()).collect();
            if rng.chance(50) {
                present.remove(rng.below(classes.len() as u32) as usize);
            }
            outcomes.go(&mut editor, classes, present, &format!("seed {seed}, {world:?}, edit {n}"));
        }
    }
    println!("{outcomes:?}");
    assert!(outcomes.taken > tier::rounds(25, 100), "{outcomes:?}");
}

/// A pattern for entry points selects other methods after an edit, whether calls are narrowed to reached code or not.
#[test]
fn a_pattern_follows_what_it_selects() {
    let with = |method: &str| {
        let text = format!(".class public super p/F\n.method public static {method}()V\n return\n.end\n");
        with_roles(fresh(&assembled(&[&text]), in_world(WorldKind::Open)).0)
    };
    for receivers in [Some(Receivers::Created), Some(Receivers::Any), None] {
        let [_, selected, ..] = requests("p/F.m");
        let mut kept = Kept::new(in_world(WorldKind::Open), Some((selected, Receivers::Created)));
        kept.settings = Arc::new(Settings { receivers, ..(*kept.settings).clone() });
        assert_eq!(kept.advance(&with("m"), &[0]), Advance::Rebuilt);
        for (method, is_there) in [("n", false), ("m", true), ("x", false)] {
            assert_eq!(kept.advance(&with(method), &[0]), Advance::Updated, "{method}");
            let program = kept.keeper.current().unwrap();
            assert_eq!(program.read().no_match().is_none(), is_there, "{method}, {receivers:?}");
            drop(program);
            assert_eq!(kept.has_entries(), is_there && receivers.is_some(), "{method}, {receivers:?}");
        }
    }
}
