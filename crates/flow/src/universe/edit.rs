//! Types that come and go while sets keep their ids.
//!
//! Every operation on sets works atom by atom, and what sets are made of (cones, what rows catch) treats atoms alike that are of
//! the same kin. So a type that comes takes its atoms' places in all sets from atoms that were treated as it is now:
//! - its unknown subclasses those of the parent's unknown subclasses, of which they were some;
//! - its own objects, and its known subclasses to come, those of the parent's *known subclass to come*;
//! - if its ancestors are not known, all of them those of the *types to come from nowhere*.
//!
//! A type that goes keeps its atoms, as a part of what they were taken from. Sets that are made of a type by its name are not
//! what they were when it goes, also if it comes again: who has one makes it anew.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::{
    ClassName, NOWHERE, Parent, SetId, Sets, Throwable, Type, TypeId, Universe, get, set, well_known, words,
};

impl Universe {
    /// The types that are there and stand below this one, each behind those below it. Below Throwable stand those of unknown
    /// ancestors too.
    pub fn below(&self, class: ClassName) -> impl Iterator<Item = ClassName> + '_ {
        let range = self.type_of(class).map(|it| it.0 as usize + 1..self.types[it.0 as usize].end as usize);
        let all = range.map(|it| &self.types[it]).unwrap_or_default();
        all.iter().rev().filter(|it| !it.is_vacant).map(|it| it.class)
    }

    /// Adds a type that is nobody's superclass. A parent that is not among the types counts as unknown. No, and nothing
    /// changes, if types cannot come, or if sets that were met cannot tell what of them is of this one.
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
        let end = place.map_or(self.types.len() as u32, |it| self.types[it.0 as usize].end);
        if let Some(TypeId(above)) = place {
            for (i, ty) in (0..).zip(&mut self.types) {
                // Those behind the place move on; those around it reach further.
                if i >= end || i <= above && ty.end > above {
                    ty.end += 1;
                }
            }
            self.by_class.values_mut().filter(|it| it.0 >= end).for_each(|it| it.0 += 1);
        }
        let leaves_world = known.is_none_or(|it| self.types[it.0 as usize].leaves_world);
        let ty = Type { class, end: end + 1, parent, leaves_world, extensible, atom, is_vacant: false };
        self.atoms = ty.to_come() + 1;
        self.sets.widen(words(self.atoms));
        let real = [Some(atom), ty.unknown()].into_iter().flatten();
        real.for_each(|it| set(&mut self.sets.real, it));
        self.types.insert(end as usize, ty);
        self.by_class.insert(class, TypeId(end));
        self.masks.remove(&class);
        self.covers.clear();
        self.sets.refine(&kin);
        self.edits += 1;
        true
    }

    /// Takes a type away of which the sets that still count have parts only as parts of its ancestors' cones. No, and nothing
    /// changes, if it has subtypes, or in the cases of [`Universe::add`].
    pub fn remove(&mut self, class: ClassName) -> bool {
        let Some(TypeId(i)) = self.type_of(class).filter(|_| self.editable) else { return false };
        let Type { parent, end, atom, extensible, .. } = self.types[i as usize];
        let is_below = |ty: &Type| ty.parent == Parent::Class(class) && !ty.is_vacant;
        if parent == Parent::Root
            || !self.types[i as usize + 1..end as usize].iter().all(|it| it.is_vacant)
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
            self.sets.real[atom as usize / 64] &= !(1 << (atom % 64));
        }
        self.types[i as usize].is_vacant = true;
        self.by_class.remove(&class);
        self.masks.remove(&class);
        self.covers.clear();
        self.exact.remove(&class);
        self.cones.remove(&class);
        self.sets.forget_those_apart(&kin);
        self.edits += 1;
        true
    }

    /// The atoms of a type below `parent`, its first being `atom`, each with the one that it is like in all that does not name
    /// the type.
    fn kin(&self, parent: Option<TypeId>, atom: u32, extensible: bool) -> Option<Vec<(u32, u32)>> {
        let parent = parent.map(|it| &self.types[it.0 as usize]);
        let (known, unknown) = match parent {
            None => (NOWHERE, Some(NOWHERE)),
            Some(it) => (it.to_come(), it.unknown()),
        };
        let mut acc = vec![(atom, known)];
        if extensible {
            // Nobody thought of unknown classes below one that has none.
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
        // Seldom again.
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

    /// Sets the first atom of each pair where the second is set.
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

    /// Lets no set be found again in which the atoms of a pair differ.
    fn forget_those_apart(&mut self, kin: &[(u32, u32)]) {
        self.forgotten.resize(self.len(), false);
        for (i, bits) in self.bits.chunks(self.words).enumerate() {
            self.forgotten[i] |= kin.iter().any(|&(atom, like)| get(bits, atom) != get(bits, like));
            if kin.iter().any(|it| get(bits, it.0)) && self.is_hollow(bits) {
                self.hollow.insert(SetId(i as u32));
            }
        }
        self.is_index_old = true;
    }

    pub(super) fn index(&mut self) {
        self.ids.clear();
        for (i, bits) in self.bits.chunks(self.words).enumerate() {
            if self.forgotten.get(i) != Some(&true) {
                self.ids.entry(FxBuildHasher.hash_one(bits)).or_default().push(SetId(i as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests;
