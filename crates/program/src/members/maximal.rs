//! The maximally-specific superinterface methods of a class (JVMS §5.4.3.3), where supertypes may be absent.

use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashSet;

use super::MethodId;
use crate::hierarchy::{ClassId, Hierarchy, Link};

/// The maximally-specific superinterface methods with one name and descriptor, and the absent class that could change
/// this set.
pub(super) struct Maximal {
    /// The superinterface methods, neither private nor static, that no other such method overrides, sorted by class
    /// id.
    methods: Vec<MethodId>,
    n_concrete: usize,
    concrete: Option<MethodId>,
    /// An absent class that could add or remove a maximally-specific method; of several, the one with the smallest
    /// name.
    pub(super) outside: Option<ClassName>,
}

/// The result of selection among maximally-specific superinterface methods (JVMS §5.4.6, and *invokespecial*).
pub(super) enum Choice {
    /// Exactly one of the methods has code, and is selected; abstract methods do not matter.
    One(MethodId),
    /// Several of the methods have code, so selection fails.
    Conflict,
    /// None of the methods has code, so selection fails.
    Abstract,
}

impl Maximal {
    /// Computes the maximally-specific superinterface methods for the class, whose own declarations are ignored.
    pub(super) fn of(h: &Hierarchy, class: ClassId, name: Name, descriptor: Descriptor) -> Maximal {
        let declared = |id: ClassId| {
            let method = MethodId { class: id, index: h.method(id, name, descriptor)? };
            let flags = method.of(h)?.flags;
            let counts = h.is_interface(id) && !flags.is_private() && !flags.is_static();
            counts.then_some((method, flags.is_abstract()))
        };
        let supers = h.supers(class).iter().filter(|it| **it != class);
        let all: Vec<(MethodId, bool)> = supers.filter_map(|it| declared(*it)).collect();
        let is_maximal = |it: MethodId| {
            let overrides = |other: MethodId| other != it && h.is_known_subtype(other.class, it.class);
            !all.iter().any(|(other, _)| overrides(*other))
        };
        let maximal: Vec<_> = all.iter().filter(|it| is_maximal(it.0)).copied().collect();
        let mut outside = None;
        if h.outside_above(class).is_some() {
            // An absent interface above a candidate is less specific than the candidate, so only other absent
            // interfaces can add a candidate.
            outside = first_way_out(h, class, |it| declared(it).is_some());
            if outside.is_none() && maximal.len() > 1 {
                // With several candidates, one may turn out to override another.
                let above = maximal.iter().filter_map(|it| h.outside_above(it.0.class));
                outside = above.min_by_key(|it| it.bytes());
            }
        }
        let mut concrete = maximal.iter().filter(|it| !it.1).map(|it| it.0);
        Maximal {
            n_concrete: concrete.clone().count(),
            concrete: concrete.next(),
            methods: maximal.into_iter().map(|it| it.0).collect(),
            outside,
        }
    }

    /// Returns the method that resolution yields: the only method with code, else any of the methods. This function
    /// then returns the method of the class with the smallest name, because class ids depend on the history of the
    /// program.
    pub(super) fn any(&self, h: &Hierarchy) -> Option<MethodId> {
        match self.choice() {
            Choice::One(it) => Some(it),
            Choice::Conflict | Choice::Abstract => {
                self.methods.iter().copied().min_by_key(|it| h.name(it.class).bytes())
            }
        }
    }

    pub(super) fn choice(&self) -> Choice {
        match self.concrete {
            Some(it) if self.n_concrete == 1 => Choice::One(it),
            Some(_) => Choice::Conflict,
            None => Choice::Abstract,
        }
    }
}

/// Returns the smallest name among the absent supertypes of the class that are reached without passing through a
/// supertype for which `stops` holds.
fn first_way_out(h: &Hierarchy, class: ClassId, stops: impl Fn(ClassId) -> bool) -> Option<ClassName> {
    let mut seen = FxHashSet::default();
    let mut work = vec![class];
    let mut out: Option<ClassName> = None;
    while let Some(it) = work.pop() {
        for link in h.super_class(it).iter().chain(h.interfaces(it)) {
            match *link {
                Link::Outside(name) if h.is_object(name) => {}
                Link::Outside(name) => out = out.into_iter().chain([name]).min_by_key(|it| it.bytes()),
                Link::Present(above) if stops(above) || !seen.insert(above) => {}
                Link::Present(above) => work.push(above),
            }
        }
    }
    out
}
