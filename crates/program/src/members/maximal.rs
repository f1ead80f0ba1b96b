//! The maximally-specific superinterface methods of a class (JVMS §5.4.3.3), where supertypes may be absent.

use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashSet;

use super::MethodId;
use crate::hierarchy::{ClassId, Hierarchy, Link};

/// The maximally-specific superinterface methods with one name and descriptor (JVMS §5.4.3.3), and an absent class
/// that could change this set.
pub(super) struct Maximal {
    /// The methods of superinterfaces, neither private nor static, that no method of another superinterface
    /// overrides; sorted by class id.
    methods: Vec<MethodId>,
    n_concrete: usize,
    concrete: Option<MethodId>,
    /// An absent class that could add a maximally-specific method or remove one; of several, the one with the
    /// smallest name. `None` if no absent class could do so.
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
    /// Computes the maximally-specific superinterface methods of `class` with this name and descriptor. Methods that
    /// `class` itself declares are ignored.
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

    /// Returns the method that resolution yields: the only method with code. If no method or more than one has code,
    /// resolution may yield any of the methods; this function then returns that of the class with the smallest name,
    /// because the order of class ids depends on earlier edits. Returns `None` if there are no methods.
    pub(super) fn any(&self, h: &Hierarchy) -> Option<MethodId> {
        match self.choice() {
            Choice::One(it) => Some(it),
            Choice::Conflict | Choice::Abstract => {
                self.methods.iter().copied().min_by_key(|it| h.name(it.class).bytes())
            }
        }
    }

    /// Returns the methods with code.
    pub(super) fn with_code(&self, h: &Hierarchy) -> Vec<MethodId> {
        let has_code = |it: &MethodId| it.of(h).is_some_and(|it| !it.flags.is_abstract());
        self.methods.iter().copied().filter(has_code).collect()
    }

    pub(super) fn choice(&self) -> Choice {
        match self.concrete {
            Some(it) if self.n_concrete == 1 => Choice::One(it),
            Some(_) => Choice::Conflict,
            None => Choice::Abstract,
        }
    }
}

/// Searches the supertypes of the class for absent classes, but not the supertypes of a class for which `stops`
/// holds. Returns the smallest name of an absent class that was found; `None` if none was found.
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
