//! Sets of types that came and went say what those of a universe from nothing say.

use super::super::tests::{class, text, ty};
use super::*;
use test_utils::rng::Rng;

/// How a set was made, of types by number.
#[derive(Clone, Debug)]
enum Made {
    Cone(usize),
    Exact(usize),
    Surely(usize),
    May(usize),
    Join(usize, usize),
    Meet(usize, usize),
    Minus(usize, usize),
}

fn name(i: usize) -> String {
    format!("T{i}")
}

fn throwable(types: &[Option<(usize, bool)>], i: usize) -> Option<Throwable> {
    let (parent, extensible) = types[i]?;
    let parent = if i == 0 { String::new() } else { name(parent) };
    Some(ty(&name(i), &parent, extensible))
}

fn from_nothing(types: &[Option<(usize, bool)>]) -> Universe {
    let all: Vec<Throwable> = (0..types.len()).filter_map(|i| throwable(types, i)).collect();
    Universe::new(&all)
}

fn make(universe: &mut Universe, sets: &[SetId], made: &Made) -> SetId {
    let name = |i: usize| class(&name(i));
    match *made {
        Made::Cone(i) => universe.cone(name(i)),
        Made::Exact(i) => universe.exact(name(i)),
        Made::Surely(i) => universe.masks(Some(name(i))).surely,
        Made::May(i) => universe.masks(Some(name(i))).may,
        Made::Join(a, b) => universe.join(sets[a], sets[b]),
        Made::Meet(a, b) => universe.meet(sets[a], sets[b]),
        Made::Minus(a, b) => universe.minus(sets[a], sets[b]),
    }
}

/// All sets of a history, from nothing.
fn make_all(universe: &mut Universe, history: &[Made]) -> Vec<SetId> {
    let mut sets = Vec::new();
    for it in history {
        let set = make(universe, &sets, it);
        sets.push(set);
    }
    sets
}

/// The types that a set is made of.
fn names_of(history: &[Made], i: usize, acc: &mut Vec<usize>) {
    match history[i] {
        Made::Cone(it) | Made::Exact(it) | Made::Surely(it) | Made::May(it) => acc.push(it),
        Made::Join(a, b) | Made::Meet(a, b) | Made::Minus(a, b) => {
            names_of(history, a, acc);
            names_of(history, b, acc);
        }
    }
}

/// What is kept of a history: sets that name no type that is gone. Their operands are among them.
fn living(history: &[Made], sets: &[SetId], types: &[Option<(usize, bool)>]) -> (Vec<Made>, Vec<SetId>) {
    let mut place = vec![None; history.len()];
    let (mut kept, mut kept_sets) = (Vec::new(), Vec::new());
    for i in 0..history.len() {
        let mut names = Vec::new();
        names_of(history, i, &mut names);
        if names.iter().any(|it| types[*it].is_none()) {
            continue;
        }
        let at = |it: usize| place[it].expect("operands name no more than what is made of them");
        let moved = match history[i] {
            Made::Join(a, b) => Made::Join(at(a), at(b)),
            Made::Meet(a, b) => Made::Meet(at(a), at(b)),
            Made::Minus(a, b) => Made::Minus(at(a), at(b)),
            ref it => it.clone(),
        };
        place[i] = Some(kept.len());
        kept.push(moved);
        kept_sets.push(sets[i]);
    }
    (kept, kept_sets)
}

#[test]
fn edited_universes_say_what_new_ones_say() {
    let (mut added, mut removed, mut refused, mut apart) = (0, 0, 0, 0);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let n = 8 + rng.below(8) as usize;
        let mut types: Vec<Option<(usize, bool)>> =
            (0..n).map(|i| Some((rng.below(i.max(1) as u32) as usize, i == 0 || rng.chance(75)))).collect();
        // Types whose parents are not known, in some worlds.
        let unknown = rng.chance(30);
        let parent_gone = |types: &[Option<(usize, bool)>], i: usize| {
            types[i].is_some_and(|it| i > 0 && types.get(it.0).is_none_or(|it| it.is_none()))
        };
        for it in types.iter_mut().skip(3) {
            if rng.chance(30) {
                *it = None;
            }
        }
        if !unknown {
            for i in 1..n {
                if parent_gone(&types, i) {
                    types[i] = None;
                }
            }
        }
        let mut universe = from_nothing(&types);
        let mut history: Vec<Made> = Vec::new();
        let mut sets: Vec<SetId> = Vec::new();
        for _ in 0..60 {
            for _ in 0..rng.below(6) {
                let there: Vec<usize> = (0..n).filter(|&i| types[i].is_some()).collect();
                let i = there[rng.below(there.len() as u32) as usize];
                let known = history.len() as u32;
                let (a, b) = (rng.below(known) as usize, rng.below(known) as usize);
                let made = match rng.below(if known == 0 { 4 } else { 8 }) {
                    0 => Made::Cone(i),
                    1 => Made::Exact(i),
                    2 => Made::Surely(i),
                    3 => Made::May(i),
                    4 | 5 => Made::Join(a, b),
                    6 => Made::Meet(a, b),
                    _ => Made::Minus(a, b),
                };
                sets.push(make(&mut universe, &sets, &made));
                history.push(made);
            }
            let i = 1 + rng.below(n as u32 - 1) as usize;
            let before = types.clone();
            if types[i].is_some() {
                types[i] = None;
                if universe.remove(class(&name(i))) {
                    removed += 1;
                    let total = history.len();
                    (history, sets) = living(&history, &sets, &types);
                    apart += total - history.len();
                } else {
                    refused += 1;
                    types = before;
                }
            } else {
                types[i] = Some((rng.below(i as u32) as usize, rng.chance(75)));
                let it = throwable(&types, i).expect("it is there");
                if universe.add(it) {
                    added += 1;
                } else {
                    refused += 1;
                    types = before;
                }
            }
            let mut new = from_nothing(&types);
            let fresh = make_all(&mut new, &history);
            assert_eq!(universe.len(), new.len());
            for (i, (&ours, &theirs)) in sets.iter().zip(&fresh).enumerate() {
                let said = (text(&universe, ours), universe.parts_within(ours), universe.classes(ours));
                let wanted = (text(&new, theirs), new.parts_within(theirs), new.classes(theirs));
                assert_eq!(said, wanted, "seed {seed}, set {i} of {history:?}, types {types:?}");
                // What is remembered of a set is what there is to say now.
                let remembered = (universe.known_parts(ours), universe.known_parts_within(ours));
                assert_eq!(remembered, (universe.parts(ours), universe.parts_within(ours)), "seed {seed}");
                // Equal sets have equal ids, and only those.
                for (&other, &others) in sets.iter().zip(&fresh).take(i) {
                    assert_eq!(other == ours, others == theirs, "seed {seed}");
                }
            }
            let (all, wanted) = (universe.all(), new.all());
            assert_eq!(text(&universe, all), text(&new, wanted));
        }
    }
    assert!(
        added > 1000 && removed > 1000 && refused > 500 && apart > 1000,
        "{added} {removed} {refused} {apart}"
    );
}

#[test]
fn a_type_that_comes_is_part_of_what_its_unknown_kin_was_part_of() {
    let mut it = Universe::new(&[ty("T", "", true), ty("E", "T", true), ty("F", "T", true)]);
    let (e, f) = (it.cone(class("E")), it.cone(class("F")));
    let left = it.minus(it.all(), e);
    assert!(it.add(ty("N", "E", true)));
    let new = it.cone(class("N"));
    assert!(it.is_subset(new, e) && !it.overlaps(new, f) && !it.overlaps(new, left));
    assert_eq!(it.masks(Some(class("N"))).surely, new);
    let without = it.minus(e, new);
    assert_eq!(text(&it, without), "E+", "an unknown subclass of E stands for itself");
    assert!(it.remove(class("N")));
    assert_eq!((text(&it, e), text(&it, left)), ("E+".to_owned(), "F+ T+".to_owned()));
}

#[test]
fn where_sets_cannot_tell_nothing_is_added() {
    let mut it = Universe::new(&[ty("T", "", true), ty("Fin", "T", false), ty("X", "?", true)]);
    assert!(!it.add(ty("N", "Fin", true)), "nobody thought of a subclass");
    assert!(!it.add(ty("N", "T", true)), "a row for X may catch an unknown subclass of T, but not N");
    assert!(it.add(ty("N", "X", true)), "of that nothing is known either");
    assert!(!it.remove(class("X")), "N is below it");
}
