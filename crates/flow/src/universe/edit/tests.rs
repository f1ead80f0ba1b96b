//! Tests that the sets of an edited universe have the same contents as the sets of a new universe with the same
//! types.

use super::super::tests::{class, text, ty};
use super::*;
use crate::universe::SetId;
use test_utils::rng::Rng;

/// The operation that created a set. The operand of each of the first four operations is the number of a type; the
/// operands of the last three are numbers of sets that earlier operations created.
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

/// For each type, the number of its parent, and whether the type may have unknown subclasses; `None` if the type is
/// absent. Type 0 is the root.
type Types = Vec<Option<(usize, bool)>>;

fn name(i: usize) -> String {
    if i == 0 { "java/lang/Throwable".to_owned() } else { format!("T{i}") }
}

fn throwable(types: &Types, i: usize) -> Option<Throwable> {
    let (parent, extensible) = types[i]?;
    let parent = if i == 0 { String::new() } else { name(parent) };
    Some(ty(&name(i), &parent, extensible))
}

fn all_of(types: &Types) -> Vec<Throwable> {
    (0..types.len()).filter_map(|i| throwable(types, i)).collect()
}

/// Returns the direct and indirect subtypes of type `i`; each subtype comes after its own supertypes.
fn below(types: &Types, i: usize) -> Vec<usize> {
    let mut acc = vec![i];
    for (j, it) in types.iter().enumerate().skip(1).filter(|it| it.0 != i) {
        // A parent has a smaller number than its subclasses.
        if it.is_some_and(|it| acc.contains(&it.0)) {
            acc.push(j);
        }
    }
    acc.split_off(1)
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

/// Applies the operations of `history` to a new universe, and returns the set that each operation creates.
fn make_all(universe: &mut Universe, history: &[Made]) -> Vec<SetId> {
    let mut sets = Vec::new();
    for it in history {
        let set = make(universe, &sets, it);
        sets.push(set);
    }
    sets
}

/// Adds to `acc` the types that occur in operation `i` of the history or in the operations that created its operands.
fn names_of(history: &[Made], i: usize, acc: &mut Vec<usize>) {
    match history[i] {
        Made::Cone(it) | Made::Exact(it) | Made::Surely(it) | Made::May(it) => acc.push(it),
        Made::Join(a, b) | Made::Meet(a, b) | Made::Minus(a, b) => {
            names_of(history, a, acc);
            names_of(history, b, acc);
        }
    }
}

/// Returns the operations of a history that remain valid if the types in `out` are removed, and the sets that these
/// operations created. An operation remains valid if none of these types occurs in the operation or in the operations
/// that created its operands.
fn living(history: &[Made], sets: &[SetId], out: &[usize]) -> (Vec<Made>, Vec<SetId>) {
    let mut place = vec![None; history.len()];
    let (mut kept, mut kept_sets) = (Vec::new(), Vec::new());
    for i in 0..history.len() {
        let mut names = Vec::new();
        names_of(history, i, &mut names);
        if names.iter().any(|it| out.contains(it)) {
            continue;
        }
        let at =
            |it: usize| place[it].expect("the operands of an operation that remains valid must remain valid");
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

/// Changes the types of a universe from `before` to `types`: removes the types with the numbers in `out`, then adds
/// each of them that is present in `types`. Returns `false` if the universe refuses one of these edits.
fn edit(universe: &mut Universe, before: &Types, types: &Types, out: &[usize]) -> bool {
    let all_gone =
        out.iter().rev().filter(|it| before[**it].is_some()).all(|it| universe.remove(class(&name(*it))));
    all_gone && out.iter().filter_map(|&it| throwable(types, it)).all(|it| universe.add(it))
}

/// Appends at most five random operations to `history`, and the sets that these operations create to `sets`.
fn more(
    universe: &mut Universe,
    types: &Types,
    rng: &mut Rng,
    history: &mut Vec<Made>,
    sets: &mut Vec<SetId>,
) {
    for _ in 0..rng.below(6) {
        let there: Vec<usize> = (0..types.len()).filter(|&i| types[i].is_some()).collect();
        let i = there[rng.below(there.len() as u32) as usize];
        let known = history.len() as u32;
        let (a, b) = (rng.below(known) as usize, rng.below(known) as usize);
        let made = match rng.below(if known == 0 { 4 } else { 8 }) {
            0 => Made::Cone(i),
            1 => Made::Exact(i),
            2 => Made::Surely(i),
            3 => Made::May(i),
            4 => Made::Join(a, b),
            5 | 6 => Made::Meet(a, b),
            _ => Made::Minus(a, b),
        };
        sets.push(make(universe, sets, &made));
        history.push(made);
    }
}

/// Asserts that the sets of an edited universe have the same contents as the sets of two new universes, one editable
/// and one not. Returns the number of sets that contain no object although their id is not that of the empty set.
fn compare(universe: &mut Universe, types: &Types, history: &[Made], sets: &[SetId], what: &str) -> usize {
    let (mut new, mut plain) = (Universe::editable(&all_of(types)), Universe::new(&all_of(types)));
    let (fresh, plain_sets) = (make_all(&mut new, history), make_all(&mut plain, history));
    assert_eq!(universe.len(), new.len());
    let said = |it: &Universe, set: SetId| (text(it, set), it.parts_within(set), it.classes(set));
    let mut hollow = 0;
    for (i, (&ours, (&theirs, &plains))) in sets.iter().zip(fresh.iter().zip(&plain_sets)).enumerate() {
        let about = || format!("the universes differ ({what}) in set {i} of {history:?}; types {types:?}");
        assert_eq!(said(universe, ours), said(&new, theirs), "{}", about());
        assert_eq!(said(universe, ours), said(&plain, plains), "{}", about());
        assert_eq!(universe.is_nothing(ours), plains == SetId::EMPTY, "{}", about());
        hollow += usize::from(ours != SetId::EMPTY && plains == SetId::EMPTY);
        // Cached parts equal the parts computed now.
        let remembered = (universe.known_parts(ours), universe.known_parts_within(ours));
        assert_eq!(remembered, (universe.parts(ours), universe.parts_within(ours)), "{}", about());
        // Two sets are equal exactly when their ids are.
        for (&other, (&others, &others_plain)) in sets.iter().zip(fresh.iter().zip(&plain_sets)).take(i) {
            assert_eq!(other == ours, others == theirs, "{}", about());
            assert_eq!(universe.overlaps(ours, other), plain.overlaps(plains, others_plain), "{}", about());
            assert_eq!(universe.is_subset(ours, other), plain.is_subset(plains, others_plain), "{}", about());
        }
    }
    assert_eq!(said(universe, universe.all()), said(&new, new.all()));
    hollow
}

#[test]
fn edited_universes_equal_new_ones() {
    let (mut added, mut removed, mut moved, mut refused, mut apart, mut hollow) = (0, 0, 0, 0, 0, 0);
    let mut nowhere = 0;
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let n = 8 + rng.below(8) as usize;
        let closed = rng.chance(30);
        let any = |rng: &mut Rng, i: usize| (rng.below(i.max(1) as u32) as usize, !closed && rng.chance(75));
        let mut types: Types = (0..n).map(|i| Some(any(&mut rng, i))).collect();
        types[0] = Some((0, !closed));
        // Without some of the types, others have parents that are not known.
        let gaps = rng.chance(70);
        for i in 3..n {
            let parent_gone = types[i].is_some_and(|it| types[it.0].is_none());
            if rng.chance(30) || !gaps && parent_gone {
                types[i] = None;
            }
        }
        let mut universe = Universe::editable(&all_of(&types));
        let (mut history, mut sets): (Vec<Made>, Vec<SetId>) = Default::default();
        for round in 0..60 {
            more(&mut universe, &types, &mut rng, &mut history, &mut sets);
            let i = 1 + rng.below(n as u32 - 1) as usize;
            let before = types.clone();
            types[i] = if before[i].is_some() && rng.chance(70) { None } else { Some(any(&mut rng, i)) };
            let mut out = vec![i];
            out.extend(below(&before, i));
            if edit(&mut universe, &before, &types, &out) {
                *match (before[i], types[i]) {
                    (None, _) => &mut added,
                    (_, None) => &mut removed,
                    _ => &mut moved,
                } += 1;
                nowhere += usize::from(types[i].is_some_and(|it| types[it.0].is_none()));
                let total = history.len();
                (history, sets) = living(&history, &sets, &out);
                apart += total - history.len();
            } else {
                refused += 1;
                universe = Universe::editable(&all_of(&types));
                sets = make_all(&mut universe, &[]);
                history.clear();
            }
            hollow += compare(&mut universe, &types, &history, &sets, &format!("seed {seed}, round {round}"));
        }
    }
    let counts = [added, removed, moved, apart, hollow, nowhere];
    assert!(refused > 500 && counts.iter().all(|it| *it > 100), "{refused} {counts:?}");
}

#[test]
fn an_added_type_is_in_the_sets_that_had_its_parents_unknown_subclasses() {
    let mut it = Universe::editable(&[ty("T", "", true), ty("E", "T", true), ty("F", "T", true)]);
    let (e, f) = (it.cone(class("E")), it.cone(class("F")));
    let left = it.minus(it.all(), e);
    assert!(it.add(ty("N", "E", true)));
    let new = it.cone(class("N"));
    assert!(it.is_subset(new, e) && !it.overlaps(new, f) && !it.overlaps(new, left));
    assert_eq!(it.masks(Some(class("N"))).surely, new);
    let without = it.minus(e, new);
    assert_eq!(text(&it, without), "E+", "the set must still have the unknown subclasses of E");
    assert!(it.remove(class("N")));
    assert_eq!((text(&it, e), text(&it, left)), ("E+".to_owned(), "F+ T+".to_owned()));
}

#[test]
fn a_row_of_a_class_with_unknown_ancestors_may_catch_unknown_classes_but_no_known_ones() {
    let mut it = Universe::editable(&[ty("T", "", true), ty("X", "?", true)]);
    let may = it.masks(Some(class("X"))).may;
    assert!(it.add(ty("N", "T", true)));
    let (exact, cone) = (it.exact(class("N")), it.cone(class("N")));
    assert!(!it.overlaps(may, exact), "the row for X cannot catch N, whose ancestors are known");
    assert!(it.overlaps(may, cone), "the row for X may catch an unknown subclass of N");
    assert!(it.add(ty("Y", "?", true)));
    let exact = it.exact(class("Y"));
    assert!(it.overlaps(may, exact), "the row for X may catch Y, whose ancestors are unknown");
}

#[test]
fn a_set_of_types_to_come_is_empty_until_one_is_added() {
    let mut it =
        Universe::editable(&[ty("java/lang/Throwable", "", false), ty("E", "java/lang/Throwable", false)]);
    let (all, e) = (it.all(), it.masks(Some(class("E"))));
    let left = it.minus(all, e.surely);
    // What a row may still catch after another row for the same class.
    let again = it.meet(left, e.may);
    assert!(again != SetId::EMPTY && it.is_nothing(again) && !it.overlaps(again, all));
    assert!(it.is_subset(again, SetId::EMPTY));
    assert!(it.add(ty("X", "?", false)));
    assert!(!it.is_nothing(again));
    assert_eq!(text(&it, again), "X");
    assert!(it.remove(class("X")));
    assert!(it.is_nothing(again));
}

#[test]
fn types_that_existing_sets_cannot_place_are_refused() {
    let mut it = Universe::editable(&[ty("T", "", true), ty("Fin", "T", false), ty("X", "?", true)]);
    assert!(!it.add(ty("N", "Fin", true)), "adding N must be refused, because Fin has no unknown subclasses");
    assert!(it.add(ty("N", "X", true)));
    assert!(!it.remove(class("X")), "removing X must be refused, because N is below X");
    assert!(!it.add(ty("X", "T", true)), "adding X must be refused, because X is present");
    let mut it = Universe::editable(&[ty("T", "", true), ty("N", "X", true)]);
    assert!(!it.add(ty("X", "T", true)), "adding X must be refused, because its subclass N is present");
    let mut it = Universe::new(&[ty("T", "", true)]);
    assert!(
        !it.add(ty("N", "T", true)) && !it.remove(class("T")),
        "a universe that is not editable must refuse edits"
    );
}
