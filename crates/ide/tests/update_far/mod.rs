//! Programs in which open exceptions arise many calls away from most methods: edits that change reasons, but no sets.

use ide::{WholeOptions, WorldKind};
use test_utils::rng::Rng;
use test_utils::tier;

use crate::update_programs::kept::in_world;
use crate::{Editor, assembled, seeds};

/// The number of classes of each kind.
const N_STATIC: u32 = 14;
const N_BASES: u32 = 3;
const N_SUBCLASSES: u32 = 5;

/// The classes that throws clauses may name.
const CLAUSES: [&str; 3] = ["java/lang/RuntimeException", "java/lang/Error", "java/lang/Exception"];

/// The classes that handlers along the chain may catch. The last entry catches all that unknown classes throw by
/// contract, except what throws clauses declare.
const CAUGHT: [&[&str]; 4] =
    [&["java/lang/RuntimeException"], &["java/lang/Error"], &["java/lang/Exception"], &UNCHECKED];

const UNCHECKED: [&str; 2] = ["java/lang/RuntimeException", "java/lang/Error"];

/// A program, given by the bodies of its classes' methods.
#[derive(Clone)]
struct Far {
    /// The bodies of the static methods, one for each class.
    bodies: Vec<String>,
    /// The classes whose methods are called virtually: the absent class that each extends, if it does, and the body
    /// of its method, if it has one.
    bases: Vec<(Option<u32>, Option<String>)>,
    /// The subclasses of `bases`: the number of the superclass, and the body of the overriding method, if there is
    /// one.
    subclasses: Vec<(u32, Option<String>)>,
}

impl Far {
    fn new(rng: &mut Rng) -> Far {
        let mut it = Far { bodies: Vec::new(), bases: Vec::new(), subclasses: Vec::new() };
        it.bodies = (0..N_STATIC).map(|i| body(i, rng)).collect();
        it.bases = (0..N_BASES).map(|_| base(rng)).collect();
        it.subclasses = (0..N_SUBCLASSES).map(|_| (rng.below(N_BASES), overriding(rng))).collect();
        it
    }

    fn edit(&mut self, rng: &mut Rng) {
        match rng.below(10) {
            0..4 => {
                let i = rng.below(N_STATIC);
                self.bodies[i as usize] = body(i, rng);
            }
            4..7 => self.bases[rng.below(N_BASES) as usize] = base(rng),
            _ => {
                let subclass = &mut self.subclasses[rng.below(N_SUBCLASSES) as usize];
                if rng.chance(30) {
                    subclass.0 = rng.below(N_BASES);
                }
                subclass.1 = overriding(rng);
            }
        }
    }

    fn classes(&self) -> Vec<Vec<u8>> {
        let bodies = self.bodies.iter().enumerate().map(|(i, body)| {
            format!(
                ".class public super p/K{i}\n.method public static k()V\n{body}.end\n\
                 .method public static s()V\n .bytes 0xff\n.end\n"
            )
        });
        let bases = self.bases.iter().enumerate().map(|(i, (absent, body))| {
            let above = absent.map_or_else(String::new, |it| format!(".super ext/Absent{it}\n"));
            format!(".class public super p/V{i}\n{above}{}", method(body))
        });
        let subclasses = self.subclasses.iter().enumerate().map(|(i, (base, body))| {
            format!(".class public super p/W{i}\n.super p/V{base}\n{}", method(body))
        });
        let texts: Vec<String> = bodies.chain(bases).chain(subclasses).collect();
        assembled(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// Random calls of a method at this place in the chain: most go a little further along the chain, a few to code that
/// cannot be read.
fn body(place: u32, rng: &mut Rng) -> String {
    let mut acc = "F: nop\n".to_owned();
    for _ in 0..1 + rng.below(2) {
        let farther = (place + 1 + rng.below(3)).min(N_STATIC - 1);
        acc += &match rng.below(20) {
            0 => format!(" invokestatic p/K{place}.s()V\n"),
            1 => format!(" invokestatic p/K{}.k()V\n", rng.below(N_STATIC)),
            2..5 => format!(" aconst_null\n invokevirtual p/V{}.v()V\n", rng.below(N_BASES)),
            _ if place + 1 >= N_STATIC => format!(" invokestatic p/K{place}.s()V\n"),
            _ => format!(" invokestatic p/K{farther}.k()V\n"),
        };
    }
    // A handler lets only a part through, so the nearest reason may belong to another part.
    acc += "T: return\n";
    if rng.chance(30) {
        acc += "H: pop\n return\n";
        let caught = rng.pick(&CAUGHT).unwrap();
        caught.iter().for_each(|it| acc += &format!(" .catch {it} from F to T using H\n"));
    }
    acc
}

fn base(rng: &mut Rng) -> (Option<u32>, Option<String>) {
    (rng.chance(60).then(|| rng.below(3)), rng.chance(50).then(|| instance_body(rng)))
}

fn method(body: &Option<String>) -> String {
    body.iter().map(|it| format!(".method public v()V\n{it}.end\n")).collect()
}

fn overriding(rng: &mut Rng) -> Option<String> {
    rng.chance(60).then(|| instance_body(rng))
}

/// Under `--assume contract`, a call of this method depends on its throws clause.
fn instance_body(rng: &mut Rng) -> String {
    let clause = rng.chance(50).then(|| format!(" .throws {}\n", rng.pick(&CLAUSES).unwrap()));
    clause.unwrap_or_default() + &body(N_STATIC / 2, rng)
}

#[test]
fn reasons_far_away_are_followed() {
    for world in [WorldKind::Open, WorldKind::Closed] {
        let (mut taken, mut n) = (0, 0);
        for seed in seeds(6, 40) {
            let mut rng = Rng::new(3000 + seed);
            let mut far = Far::new(&mut rng);
            let options = WholeOptions {
                link_errors: seed % 5 == 4,
                assume_contract: seed % 2 == 1,
                ..in_world(world)
            };
            let mut editor = Editor::new(far.classes(), options);
            let present = editor.present.clone();
            for edit in 0..tier::rounds(30, 60) {
                for _ in 0..=rng.below(2) {
                    far.edit(&mut rng);
                }
                let what = format!("seed {seed}, {world:?}, edit {edit}");
                taken += usize::from(editor.go(far.classes(), present.clone(), &what));
                n += 1;
            }
        }
        println!("{world:?}: {taken} of {n} updated in place");
        assert!(taken * 10 > n * 9, "{world:?}: {taken} of {n}");
    }
}

/// A method in the middle of a chain is open by itself before and after the edit, and throws and calls the same. But
/// the exceptions that its caller is asked about now have another origin.
#[test]
fn the_origin_in_the_middle_of_a_chain_may_change() {
    let class = |name: &str, code: &str| {
        format!(".class public super p/{name}\n.method public static m()V\n{code} return\n.end\n")
    };
    let caller = class(
        "C",
        ".catch java/lang/Error from A to B using H\nA: invokestatic p/M.m()V\nB: return\nH: pop\n",
    );
    let called = class("K", " invokestatic x/Other.o()V\n");
    let between = |code: &str| class("M", &format!(" {code}\n invokestatic p/K.m()V\n"));
    let before = assembled(&[&caller, &between("invokestatic x/Out.o()V"), &called]);
    let after = assembled(&[&caller, &between("getstatic x/Out.f I\n pop"), &called]);
    let mut editor = Editor::new(before.clone(), in_world(WorldKind::Open));
    let is_because = |said: &[String], class: &str| {
        said.iter().any(|it| it.contains("Throws") && it.contains("p/C.m") && it.contains(class))
    };
    assert!(
        is_because(&editor.kept.answers(&before), "Outside(x/Out)"),
        "{:#?}",
        editor.kept.answers(&before)
    );
    assert!(editor.go(after.clone(), vec![0, 1, 2], "with a read of a field"));
    assert!(is_because(&editor.last, "Outside(x/Other)"), "{:#?}", editor.last);
    assert!(editor.go(before, vec![0, 1, 2], "with a call again"));
}
