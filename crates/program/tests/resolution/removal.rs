//! Removing a class from a program may turn answers into unknown, but never change them (`semantics.md` §1,
//! *Completion*).

use std::collections::BTreeMap;

use classfile::names::{ClassName, Descriptor, Name};
use program::hierarchy::{Below, Hierarchy};
use program::members::access::{are_nestmates, may_access_class, may_access_method};
use program::members::resolve::{resolve_field, resolve_method};
use program::members::select::{select, select_interface, special_target};
use program::members::{MethodId, ResolvedField, ResolvedMethod, Selected};

use crate::generate::{FIELD_TYPE, FIELDS, METHOD_TYPE, METHODS, generate};
use crate::oracle::{outlines, seeds};
use crate::world::{World, method};

/// The answer to each question, keyed by the text of the question; `None` means unknown.
type Answers = BTreeMap<String, Option<String>>;

fn below(it: Below) -> Option<String> {
    (it != Below::Unknown).then(|| format!("{it:?}"))
}

fn resolved(h: &Hierarchy, it: ResolvedMethod) -> Option<String> {
    match it {
        ResolvedMethod::Method(it) | ResolvedMethod::SignaturePolymorphic(it) => Some(method(h, it)),
        ResolvedMethod::Error(it) => Some(it.exception().to_owned()),
        ResolvedMethod::Unknown { .. } => None,
    }
}

fn selected(h: &Hierarchy, it: Selected) -> Option<String> {
    match it {
        Selected::Method(it) => Some(method(h, it)),
        Selected::Error(it) => Some(it.exception().to_owned()),
        Selected::Unknown { .. } => None,
    }
}

/// Asks every question about classes with these names. The class `gone` occurs only as a name in questions.
fn answers(world: &World, names: &[ClassName], gone: Option<ClassName>) -> Answers {
    let h = world.open();
    let mut out = Answers::new();
    let present: Vec<_> = names.iter().filter_map(|it| Some((h.class(*it)?, *it))).collect();
    for &sup in names {
        for &sub in names {
            out.insert(format!("{sub} <: {sup}"), below(h.is_subtype(sub, sup)));
        }
        for &(from, name) in &present {
            out.insert(format!("{name} names {sup}"), below(may_access_class(&h, from, sup)));
        }
        members_of(&h, sup, &mut out);
    }
    for &(a, a_name) in &present {
        for &(b, b_name) in &present {
            out.insert(format!("{a_name} nests with {b_name}"), below(are_nestmates(&h, a, b)));
        }
        for (index, it) in (0..).zip(&h.outline(a).methods) {
            selections(&h, MethodId { class: a, index }, &present, &mut out);
            for &(from, name) in &present {
                let answer = may_access_method(&h, from, a_name, MethodId { class: a, index });
                out.insert(format!("{name} uses {a_name}.{}", it.name), below(answer));
            }
        }
    }
    assert!(gone.is_none_or(|it| h.class(it).is_none()));
    out
}

fn members_of(h: &Hierarchy, class: ClassName, out: &mut Answers) {
    let ty = Descriptor::new(METHOD_TYPE.as_bytes());
    for text in METHODS {
        let name = Name::new(text.as_bytes());
        for interface in [false, true] {
            let answer = resolved(h, resolve_method(h, class, name, ty, interface));
            out.insert(format!("{class}.{name} {interface}"), answer);
            for caller in h.ids() {
                let answer = resolved(h, special_target(h, caller, class, name, ty, interface));
                out.insert(format!("{} special {class}.{name} {interface}", h.name(caller)), answer);
            }
        }
    }
    for text in FIELDS {
        let ty = Descriptor::new(FIELD_TYPE.as_bytes());
        let answer = match resolve_field(h, class, Name::new(text.as_bytes()), ty) {
            ResolvedField::Field(it) => Some(h.name(it.class).to_string()),
            ResolvedField::Error(it) => Some(it.exception().to_owned()),
            ResolvedField::Unknown { .. } => None,
        };
        out.insert(format!("{class}.{text}"), answer);
    }
}

fn selections(
    h: &Hierarchy,
    resolved: MethodId,
    present: &[(program::hierarchy::ClassId, ClassName)],
    out: &mut Answers,
) {
    let shown = method(h, resolved);
    let owner = h.name(resolved.class);
    for &(receiver, name) in present {
        // `select` assumes that a receiver which may be a subtype is one.
        if h.is_interface(receiver) || h.is_subtype(name, owner) == Below::Unknown {
            continue;
        }
        out.insert(format!("{name} runs {shown}"), selected(h, select(h, receiver, resolved)));
        let answer = selected(h, select_interface(h, receiver, owner, resolved));
        out.insert(format!("{name} runs interface {shown}"), answer);
    }
}

#[test]
fn removing_a_class_only_makes_answers_unknown() {
    let (mut n_kept, mut n_opened) = (0_u32, 0_u32);
    for seed in seeds(20, 60) {
        let full = outlines(&generate(seed, 3));
        let names: Vec<ClassName> = full.classes.iter().map(|it| it.0.class).collect();
        let before = answers(&full, &names, None);
        assert!(before.values().all(Option::is_some), "no class is absent");
        let whole = full.open();
        for &gone in &names {
            let world = full.without(gone);
            for (question, answer) in answers(&world, &names, Some(gone)) {
                match answer {
                    None => n_opened += 1,
                    Some(_) => {
                        n_kept += 1;
                        assert_eq!(
                            Some(&answer),
                            before.get(&question),
                            "seed {seed} without {gone}: {question}"
                        );
                    }
                }
            }
            let h = world.open();
            for class in h.ids().filter(|it| h.open_witness(*it).is_none()) {
                let was = whole.class(h.name(class)).is_some_and(|it| whole.open_witness(it).is_some());
                assert!(!was, "seed {seed} without {gone}: {} is closed", h.name(class));
            }
        }
    }
    // Most answers must stay: not everything may become unknown.
    assert!(
        n_opened > test_utils::tier::rounds(300, 1000) && n_kept > 3 * n_opened,
        "{n_kept} kept, {n_opened} opened"
    );
}
