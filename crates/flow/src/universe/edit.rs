//! Adding and removing types while sets keep their ids.
//!
//! Every operation on sets works atom by atom, and the basic sets (cones, what rows catch) treat related atoms
//! alike. So when a type is added, each of its atoms enters exactly those sets that have the atom which stood for it
//! before:
//! - for its unknown subclasses, the atom of the parent's unknown subclasses, of which they were a part;
//! - for its own objects and its known subclasses to come, the atom of the parent's *known subclasses to come*;
//! - if its ancestors are not known, for all of these the atom of the *types to come from nowhere*.
//!
//! A removed type keeps its atoms, as a part of those from which they were split off. Sets that were built from a
//! type by its name are invalid once the type was removed, even if it is added again: code that holds such a set
//! must build it again.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::{
    ClassName, NOWHERE, Parent, SetId, Sets, Throwable, Type, TypeId, Universe, clear, get, set, well_known,
    words,
};

impl Universe {
    /// The present types below this one, each after the types below it. Types with unknown ancestors count as below
    /// Throwable.
    pub fn below(&self, class: ClassName) -> impl Iterator<Item = ClassName> + '_ {
        let range = self.type_of(class).map(|it| it.index() + 1..self.types[it.index()].end.index());
        let all = range.map(|it| &self.types[it]).unwrap_or_default();
        all.iter().rev().filter(|it| !it.is_vacant).map(|it| it.class)
    }

    /// Adds a type that is no other type's superclass. A parent that is not among the types counts as unknown.
    /// Returns `false`, and changes nothing, if the universe is not editable, if the type is there, or if the
    /// existing sets do not determine which of them the new type belongs to.
    pub fn add(&mut self, it: Throwable) -> bool {
        let Throwable { class, parent, extensible } = it;
        let is_below = |ty: &Type| ty.parent == Parent::Class(class) && !ty.is_vacant;
        if !self.editable || self.type_of(class).is_some() || self.types.iter().any(is_below) {
            return false;
        }
        let known = match parent {
            Parent::Root => return false,
            Parent::Class(it) => self.type_of(it),
            Parent::Unknown => None,
        };
        let place = known.or(self.type_of(well_known().throwable));
        let atom = self.atoms;
        let Some(kin) = self.kin(known, atom, extensible) else { return false };
        let end = place.map_or(TypeId::from_index(self.types.len()), |it| self.types[it.index()].end);
        if let Some(above) = place {
            for (i, ty) in (0..).map(TypeId).zip(&mut self.types) {
                // Types after the new one move up by one; the ranges around it grow by one.
                if i >= end || i <= above && ty.end > above {
                    ty.end.0 += 1;
                }
            }
            self.by_class.values_mut().filter(|it| **it >= end).for_each(|it| it.0 += 1);
        }
        let leaves_world = known.is_none_or(|it| self.types[it.index()].leaves_world);
        let ty =
            Type { class, end: TypeId(end.0 + 1), parent, leaves_world, extensible, atom, is_vacant: false };
        self.atoms = ty.to_come() + 1;
        self.sets.widen(words(self.atoms));
        let real = [Some(atom), ty.unknown()].into_iter().flatten();
        real.for_each(|it| set(&mut self.sets.real, it));
        self.types.insert(end.index(), ty);
        self.by_class.insert(class, end);
        self.masks.remove(&class);
        self.covers.clear();
        self.sets.refine(&kin);
        self.edits += 1;
        true
    }

    /// Removes a type, provided that the sets still in use contain it only through the cones of its ancestors.
    /// Returns `false`, and changes nothing, if the type has subtypes, or for the reasons of [`Universe::add`].
    pub fn remove(&mut self, class: ClassName) -> bool {
        let Some(it) = self.type_of(class).filter(|_| self.editable) else { return false };
        let Type { parent, end, atom, extensible, .. } = self.types[it.index()];
        let is_below = |ty: &Type| ty.parent == Parent::Class(class) && !ty.is_vacant;
        if parent == Parent::Root
            || !self.types[it.index() + 1..end.index()].iter().all(|it| it.is_vacant)
            || self.types.iter().any(is_below)
        {
            return false;
        }
        let known = match parent {
            Parent::Class(it) => self.type_of(it),
            _ => None,
        };
        let Some(kin) = self.kin(known, atom, extensible) else { return false };
        for atom in atom..=atom + u32::from(extensible) {
            clear(&mut self.sets.real, atom);
        }
        self.types[it.index()].is_vacant = true;
        self.by_class.remove(&class);
        self.masks.remove(&class);
        self.covers.clear();
        self.exact.remove(&class);
        self.cones.remove(&class);
        self.sets.forget_those_apart(&kin);
        self.edits += 1;
        true
    }

    /// Returns the atoms of a type below `parent`, beginning with `atom`, each with the atom that is treated alike
    /// by all sets that do not name the type.
    fn kin(&self, parent: Option<TypeId>, atom: u32, extensible: bool) -> Option<Vec<(u32, u32)>> {
        let parent = parent.map(|it| &self.types[it.index()]);
        let (known, unknown) = match parent {
            None => (NOWHERE, Some(NOWHERE)),
            Some(it) => (it.to_come(), it.unknown()),
        };
        let mut acc = vec![(atom, known)];
        if extensible {
            // No existing set takes account of unknown classes below a parent that has none.
            acc.push((atom + 1, unknown?));
        }
        acc.push((atom + 1 + u32::from(extensible), known));
        Some(acc)
    }
}

impl Sets {
    /// Makes room for more atoms.
    fn widen(&mut self, words: usize) {
        if words <= self.words {
            return;
        }
        // Some extra room makes widening rare.
        let wider = words + words / 64 + 1;
        let mut bits = Vec::with_capacity(self.len() * wider);
        for set in self.bits.chunks(self.words) {
            bits.extend(set);
            bits.resize(bits.len() + wider - self.words, 0);
        }
        (self.bits, self.words) = (bits, wider);
        self.real.resize(wider, 0);
        self.is_index_old = true;
    }

    /// Sets the first atom of each pair wherever the second is set.
    fn refine(&mut self, kin: &[(u32, u32)]) {
        for bits in self.bits.chunks_mut(self.words) {
            for &(atom, like) in kin {
                if get(bits, like) {
                    set(bits, atom);
                }
            }
        }
        let mut hollow = std::mem::take(&mut self.hollow);
        hollow.retain(|it| self.is_hollow(self.bits(*it)));
        self.hollow = hollow;
        self.is_index_old = true;
    }

    /// Keeps sets in which the atoms of a pair differ from being found by later lookups.
    fn forget_those_apart(&mut self, kin: &[(u32, u32)]) {
        self.forgotten.resize(self.len(), false);
        for (i, bits) in self.bits.chunks(self.words).enumerate() {
            self.forgotten[i] |= kin.iter().any(|&(atom, like)| get(bits, atom) != get(bits, like));
            if kin.iter().any(|it| get(bits, it.0)) && self.is_hollow(bits) {
                self.hollow.insert(SetId::from_index(i));
            }
        }
        self.is_index_old = true;
    }

    pub(super) fn index(&mut self) {
        self.ids.clear();
        for (i, bits) in self.bits.chunks(self.words).enumerate() {
            if self.forgotten.get(i) != Some(&true) {
                self.ids.entry(FxBuildHasher.hash_one(bits)).or_default().push(SetId::from_index(i));
            }
        }
    }
}

#[cfg(test)]
mod tests;
