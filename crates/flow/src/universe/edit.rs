//! Types that come and go while sets keep their ids.
//!
//! An object of a class that nobody knew is one of an *unknown subclass* of its superclass. So a type that comes takes out of
//! each set what belongs to it: its atoms go where the parent's *unknown subclass* is. Every operation on sets commutes with
//! that, as each works atom by atom. A type that goes keeps its atoms, as a part of what they were taken from.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::{ClassName, Parent, SetId, Sets, Throwable, Type, TypeId, Universe, get, set, words};

impl Universe {
    /// Adds a type that is nobody's superclass. No, and nothing changes, if sets that were met cannot tell what of them is of
    /// this type: where its parent is not known or has no unknown subclasses; or where it matters that some type's ancestors
    /// are not known.
    pub fn add(&mut self, it: Throwable) -> bool {
        let Parent::Class(parent) = it.parent else { return false };
        let Some(parent) = self.type_of(parent).filter(|_| self.type_of(it.class).is_none()) else {
            return false;
        };
        let Some(unknown) = self.unknown_below(parent) else { return false };
        let is_below = |ty: &Type| ty.parent == Parent::Class(it.class) && !ty.is_vacant;
        if self.types.iter().any(is_below) {
            return false;
        }
        let TypeId(above) = parent;
        let end = self.types[above as usize].end;
        for (i, ty) in (0..).zip(&mut self.types) {
            // Those behind the place move on; those around it reach further.
            if i >= end || i <= above && ty.end > above {
                ty.end += 1;
            }
        }
        self.by_class.values_mut().filter(|it| it.0 >= end).for_each(|it| it.0 += 1);
        let leaves_world = self.types[above as usize].leaves_world;
        let Throwable { class, parent, extensible } = it;
        let (atom, is_vacant) = (self.atoms, false);
        let ty = Type { class, end: end + 1, parent, leaves_world, extensible, atom, is_vacant };
        self.types.insert(end as usize, ty);
        self.by_class.insert(class, TypeId(end));
        self.atoms += 1 + u32::from(extensible);
        self.masks.remove(&class);
        self.covers.clear();
        self.sets.widen(words(self.atoms));
        self.sets.refine(unknown, atom, extensible);
        true
    }

    /// Takes a type away of which the sets that still count have parts only as parts of its ancestors' cones. No, and nothing
    /// changes, if it has subtypes, or in the cases of [`Universe::add`].
    pub fn remove(&mut self, class: ClassName) -> bool {
        let Some(TypeId(i)) = self.type_of(class) else { return false };
        let Type { parent: Parent::Class(parent), end, atom, extensible, .. } = self.types[i as usize] else {
            return false;
        };
        let Some(unknown) = self.type_of(parent).and_then(|it| self.unknown_below(it)) else { return false };
        if !self.types[i as usize + 1..end as usize].iter().all(|it| it.is_vacant) {
            return false;
        }
        self.types[i as usize].is_vacant = true;
        self.by_class.remove(&class);
        self.masks.remove(&class);
        self.covers.clear();
        self.exact.remove(&class);
        self.cones.remove(&class);
        self.sets.forget_those_apart(unknown, atom, extensible);
        true
    }

    /// The atom of the unknown subclasses of a type, if what is known of one more subclass is told by it.
    fn unknown_below(&self, TypeId(it): TypeId) -> Option<u32> {
        let ty = &self.types[it as usize];
        // A row whose class has unknown ancestors may catch an unknown subclass, but none of which all is known.
        let all_known = || !self.types.iter().any(|it| it.leaves_world && !it.is_vacant);
        (ty.extensible && (ty.leaves_world || all_known())).then_some(ty.atom + 1)
    }
}

impl Sets {
    /// Makes room for more atoms.
    fn widen(&mut self, words: usize) {
        if words <= self.words {
            return;
        }
        // Seldom again.
        let wider = words + words / 64;
        let mut bits = Vec::with_capacity(self.len() * wider);
        for set in self.bits.chunks(self.words) {
            bits.extend(set);
            bits.resize(bits.len() + wider - self.words, 0);
        }
        (self.bits, self.words) = (bits, wider);
    }

    /// Sets `atom`, and the one behind it if there are `two`, where `unknown` is set.
    fn refine(&mut self, unknown: u32, atom: u32, two: bool) {
        for bits in self.bits.chunks_mut(self.words) {
            if get(bits, unknown) {
                set(bits, atom);
                if two {
                    set(bits, atom + 1);
                }
            }
        }
        self.index(|_| true);
    }

    /// Lets no set be found again that has an atom of these without `unknown`, or the other way round.
    fn forget_those_apart(&mut self, unknown: u32, atom: u32, two: bool) {
        self.index(|bits| {
            let there = get(bits, unknown);
            get(bits, atom) == there && (!two || get(bits, atom + 1) == there)
        });
    }

    fn index(&mut self, counts: impl Fn(&[u64]) -> bool) {
        self.ids.clear();
        for (i, bits) in (0..).zip(self.bits.chunks(self.words)) {
            if counts(bits) {
                self.ids.entry(FxBuildHasher.hash_one(bits)).or_default().push(SetId(i));
            }
        }
    }
}

#[cfg(test)]
mod tests;
