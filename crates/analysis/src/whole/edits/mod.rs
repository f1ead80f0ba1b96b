//! What is kept of a solved program so that changes of its classes can be taken in: data. [`super::update`] does it.

pub(super) mod called;
pub(super) mod mentions;

use std::sync::Arc;

use program::hierarchy::ClassId;
use program::hierarchy::edited::Lists;
use program::input::Role;
use program::members::MethodId;
use program::outline::Outline;
use rustc_hash::{FxHashMap, FxHashSet};

use self::called::CalledClasses;
use self::mentions::Mentions;
use super::ids::FunctionSiteId;
use crate::summary::ClassSummary;

/// When more classes change at once, all is made anew. Of nearly so many, one library, it took three to five times as long.
pub const MAX_CHANGED: usize = 1 << 11;

/// What became of one class.
#[derive(Clone, Debug)]
pub struct ClassChange {
    /// The class as it was; none if it was not there.
    pub class: Option<ClassId>,
    /// What it is now; none if it is gone.
    pub now: Option<(Arc<Outline>, Arc<ClassSummary>, Role)>,
}

/// Which kinds of objects a program makes at run time whose classes no class file tells of ([`super::proxies`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Made {
    pub(super) proxies: bool,
    pub(super) around_handles: bool,
}

/// What is kept of a program for its edits besides the solution.
#[derive(Default)]
pub(super) struct Edits {
    pub(super) mentions: Mentions,
    /// What editing the hierarchy needs.
    pub(super) lists: Lists,
    /// The function objects of each class.
    pub(super) functions: FxHashMap<ClassId, Vec<FunctionSiteId>>,
    /// Those that are gone with their classes.
    pub(super) gone_functions: FxHashSet<FunctionSiteId>,
    /// The constructors that have nodes of their own for a class, by their own class and by that one.
    pub(super) constructions: FxHashMap<ClassId, Vec<(MethodId, ClassId)>>,
    /// What the program makes at run time, where that is looked for.
    pub(super) made: Made,
    /// The classes that code calls; only in the `declared` world.
    pub(super) called: Option<CalledClasses>,
    /// How many classes took new places.
    pub(super) moved: usize,
}

impl Edits {
    /// Notes that a constructor has a node of its own for a class.
    pub(super) fn construction(&mut self, constructor: MethodId, class: ClassId) {
        self.constructions.entry(constructor.class).or_default().push((constructor, class));
        if class != constructor.class {
            self.constructions.entry(class).or_default().push((constructor, class));
        }
    }
}
