//! Adding types to a universe and removing them, while sets keep their ids.
//!
//! Every operation on sets works atom by atom, and the basic sets (cones, what rows catch) treat related atoms
//! alike. So when a type is added, each of its atoms is added to exactly the sets that have a certain older atom:
//! - the atom of the type's unknown subclasses, to the sets with the atom of the parent's unknown subclasses, which
//!   included them before;
//! - the atom of the type's own objects and the atom reserved for its later known subclasses, to the sets with the
//!   atom that the parent reserved for later known subclasses;
//! - if the type's ancestors are not known, all these atoms, to the sets with the atom that the universe reserved for
//!   such types.
//!
//! A removed type keeps its atoms. Sets that were built from a type by its name are invalid once the type was
//! removed, even if the type is added again: code that holds such a set must rebuild it.

use classfile::names::ClassName;

use super::Universe;
use super::sets::{clear, set, words};
use super::types::{Parent, Throwable, ThrowableType, TypeId};
use crate::throwables::well_known;

impl Universe {
    /// Returns the known subtypes of the class, without the class itself; each subtype comes before its own
    /// supertypes. Types with unknown ancestors count as subtypes of Throwable.
    pub fn below(&self, class: ClassName) -> impl Iterator<Item = ClassName> + '_ {
        let range =
            self.forest.type_of(class).map(|it| it.index() + 1..self.forest.types[it.index()].end.index());
        let all = range.map(|it| &self.forest.types[it]).unwrap_or_default();
        all.iter().rev().filter(|it| !it.is_vacant).map(|it| it.class)
    }

    /// Adds a type to the universe. If its superclass is no type of the universe, the superclass counts as unknown.
    /// Returns `false`, and changes nothing, if the universe is not editable; if the type is present, has no
    /// superclass or is the superclass of a present type; or if it cannot be determined which of the existing sets
    /// must contain the objects of the new type.
    pub fn add(&mut self, it: Throwable) -> bool {
        let Throwable { class, parent, extensible } = it;
        let is_below = |ty: &ThrowableType| ty.parent == Parent::Class(class) && !ty.is_vacant;
        if !self.forest.editable
            || self.forest.type_of(class).is_some()
            || self.forest.types.iter().any(is_below)
        {
            return false;
        }
        let known = match parent {
            Parent::Root => return false,
            Parent::Class(it) => self.forest.type_of(it),
            Parent::Unknown => None,
        };
        let place = known.or(self.forest.type_of(well_known().throwable));
        let atom = self.forest.atoms;
        let Some(kin) = self.forest.kin(known, atom, extensible) else { return false };
        let end =
            place.map_or(TypeId::from_index(self.forest.types.len()), |it| self.forest.types[it.index()].end);
        if let Some(above) = place {
            for (i, ty) in (0..).map(TypeId).zip(&mut self.forest.types) {
                // Types after the new one move up by one; the ranges around it grow by one.
                if i >= end || i <= above && ty.end > above {
                    ty.end.0 += 1;
                }
            }
            self.forest.by_class.values_mut().filter(|it| **it >= end).for_each(|it| it.0 += 1);
        }
        let leaves_world = known.is_none_or(|it| self.forest.types[it.index()].leaves_world);
        let ty = ThrowableType {
            class,
            end: TypeId(end.0 + 1),
            parent,
            leaves_world,
            extensible,
            atom,
            is_vacant: false,
        };
        self.forest.atoms = ty.to_come() + 1;
        self.sets.widen(words(self.forest.atoms));
        let real = [Some(atom), ty.unknown()].into_iter().flatten();
        real.for_each(|it| set(&mut self.sets.real, it));
        self.forest.types.insert(end.index(), ty);
        self.forest.by_class.insert(class, end);
        self.masks.remove(&class);
        self.covers.0.clear();
        self.sets.refine(&kin);
        self.edits += 1;
        true
    }

    /// Removes a type from the universe. A set that the caller uses after this call must not have been built from the
    /// name of this type; it may contain the type only as part of the cone of an ancestor. Returns `false`, and
    /// changes nothing, if the universe is not editable; if the type is not present, has known subtypes or has no
    /// superclass; or if the type may have unknown subclasses, but its superclass may not.
    pub fn remove(&mut self, class: ClassName) -> bool {
        let Some(it) = self.forest.type_of(class).filter(|_| self.forest.editable) else { return false };
        let ThrowableType { parent, end, atom, extensible, .. } = self.forest.types[it.index()];
        let is_below = |ty: &ThrowableType| ty.parent == Parent::Class(class) && !ty.is_vacant;
        if parent == Parent::Root
            || !self.forest.types[it.index() + 1..end.index()].iter().all(|it| it.is_vacant)
            || self.forest.types.iter().any(is_below)
        {
            return false;
        }
        let known = match parent {
            Parent::Class(it) => self.forest.type_of(it),
            _ => None,
        };
        let Some(kin) = self.forest.kin(known, atom, extensible) else { return false };
        for atom in atom..=atom + u32::from(extensible) {
            clear(&mut self.sets.real, atom);
        }
        self.forest.types[it.index()].is_vacant = true;
        self.forest.by_class.remove(&class);
        self.masks.remove(&class);
        self.covers.0.clear();
        self.exact.remove(&class);
        self.cones.remove(&class);
        self.sets.forget_those_apart(&kin);
        self.edits += 1;
        true
    }
}

#[cfg(test)]
mod tests;
