//! Exceptions as named by documents: classes and cones, and sets of these.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// The id of a name that occurs in some document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct NameId(u32);

impl NameId {
    fn from_index(index: usize) -> Self {
        NameId(index as u32)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names that occur in documents, with their ids.
#[derive(Default)]
pub(super) struct Names {
    texts: Vec<Box<[u8]>>,
    ids: FxHashMap<Box<[u8]>, NameId>,
}

impl Names {
    pub(super) fn id(&mut self, text: &[u8]) -> NameId {
        if let Some(&it) = self.ids.get(text) {
            return it;
        }
        let next = NameId::from_index(self.texts.len());
        self.texts.push(text.into());
        self.ids.insert(text.into(), next);
        next
    }

    pub(super) fn known(&self, text: &[u8]) -> Option<NameId> {
        self.ids.get(text).copied()
    }

    pub(super) fn text(&self, it: NameId) -> &[u8] {
        &self.texts[it.index()]
    }
}

/// An exception class alone, or with `cone` the class and all its subclasses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Part {
    pub(super) class: NameId,
    pub(super) cone: bool,
}

/// An open set: the exceptions within `within`, except those in `except`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) within: BTreeSet<Part>,
    pub(super) except: BTreeSet<Part>,
}

/// The exceptions that a node represents or that leave a method: the known ones, and an open set for the unknown
/// ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Value {
    pub(super) known: BTreeSet<Part>,
    pub(super) open: Option<Piece>,
}

/// The direct superclass of each exception class, as far as the documents contain it.
#[derive(Default)]
pub(super) struct Types {
    pub(super) supers: FxHashMap<NameId, NameId>,
    /// The id of `java/lang/Throwable`, at which chains of superclasses end.
    pub(super) top: Option<NameId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inclusion {
    Yes,
    No,
    Unknown,
}

impl Types {
    fn below(&self, class: NameId, above: NameId) -> Inclusion {
        let mut at = class;
        // Documents may be crafted: a cycle ends after as many steps as there are classes.
        for _ in 0..=self.supers.len() {
            if at == above {
                return Inclusion::Yes;
            }
            match self.supers.get(&at) {
                Some(&it) => at = it,
                None if Some(at) == self.top => return Inclusion::No,
                None => break,
            }
        }
        // Any thrown class is a subclass of Throwable, even if the chain is incomplete.
        if Some(above) == self.top { Inclusion::Yes } else { Inclusion::Unknown }
    }

    /// Returns whether `part` is certainly contained in `other`.
    fn is_in(&self, part: Part, other: Part) -> bool {
        part == other || (other.cone && self.below(part.class, other.class) == Inclusion::Yes)
    }

    pub(super) fn is_in_some(&self, part: Part, others: &BTreeSet<Part>) -> bool {
        others.contains(&part) || others.iter().any(|&it| self.is_in(part, it))
    }

    /// Returns a type or cone that contains all exceptions which are both in `a` and in `b`; `None` if there are
    /// certainly none. The result is the exact intersection if the subclass relations are known.
    fn meet(&self, a: Part, b: Part) -> Option<Part> {
        if self.is_in(a, b) {
            return Some(a);
        }
        if self.is_in(b, a) {
            return Some(b);
        }
        let apart = |a: Part, b: Part| !b.cone || self.below(a.class, b.class) == Inclusion::No;
        (!(apart(a, b) && apart(b, a))).then_some(if a.cone { b } else { a })
    }

    /// Returns whether all exceptions of `part` certainly belong to the open set that `piece` holds.
    pub(super) fn is_within(&self, part: Part, piece: &Piece) -> bool {
        self.is_in_some(part, &piece.within) && piece.except.iter().all(|&it| self.meet(part, it).is_none())
    }

    fn meet_all(&self, a: &BTreeSet<Part>, b: &BTreeSet<Part>) -> BTreeSet<Part> {
        a.iter().flat_map(|&a| b.iter().filter_map(move |&b| self.meet(a, b))).collect()
    }

    /// Returns the known exceptions that may be in an open set.
    pub(super) fn known_in(&self, known: &BTreeSet<Part>, piece: &Piece) -> BTreeSet<Part> {
        let mut acc = self.meet_all(known, &piece.within);
        acc.retain(|&it| !self.is_in_some(it, &piece.except));
        acc
    }

    /// Returns the part of the open set `open` that may be in the open set `piece`, if there is one.
    pub(super) fn open_in(&self, open: &Piece, piece: &Piece) -> Option<Piece> {
        let except: BTreeSet<Part> = open.except.union(&piece.except).copied().collect();
        let mut within = self.meet_all(&open.within, &piece.within);
        within.retain(|&it| !self.is_in_some(it, &except));
        (!within.is_empty()).then(|| Piece { within: self.largest(within), except: self.largest(except) })
    }

    /// Returns the parts without those that are contained in another part.
    fn largest(&self, parts: BTreeSet<Part>) -> BTreeSet<Part> {
        let less = |it: Part, other: Part| self.is_in(it, other) && !self.is_in(other, it);
        let more = |it: &Part| parts.iter().any(|&other| less(*it, other));
        parts.iter().copied().filter(|it| !more(it)).collect()
    }

    fn is_out(&self, part: Part, piece: &Piece) -> bool {
        self.is_in_some(part, &piece.except) || piece.within.iter().all(|&it| self.meet(part, it).is_none())
    }

    /// Returns an open set that contains both given sets; `None` stands for an empty open set.
    pub(super) fn join(&self, a: Option<Piece>, b: Option<Piece>) -> Option<Piece> {
        let (Some(a), Some(b)) = (&a, &b) else { return a.or(b) };
        let except = a.except.union(&b.except).copied();
        let except = except.filter(|&it| self.is_out(it, a) && self.is_out(it, b)).collect();
        let within = a.within.union(&b.within).copied().collect();
        Some(Piece { within: self.largest(within), except: self.largest(except) })
    }

    /// Adds `more` to a value. Returns whether the value grew.
    pub(super) fn add(&self, value: &mut Value, more: Value) -> bool {
        let mut changed = false;
        for it in more.known {
            if !self.is_in_some(it, &value.known) {
                value.known.retain(|&old| !self.is_in(old, it));
                value.known.insert(it);
                changed = true;
            }
        }
        let open = self.join(value.open.clone(), more.open);
        changed |= open != value.open;
        value.open = open;
        changed
    }
}
