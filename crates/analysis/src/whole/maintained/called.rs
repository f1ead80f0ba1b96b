//! The classes whose methods a program calls. With them, an edit detects whether one of these classes is absent. In
//! the `declared` world unknown classes may exist only if one is
//! ([`program::hierarchy::HierarchyOptions::names_outside`]).

use classfile::names::ClassName;
use program::hierarchy::Hierarchy;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::summary::ClassSummary;
use crate::whole::record::ClassChange;

/// For each present class, the classes whose methods its code calls. Kept current when classes change.
#[derive(Default)]
pub(in crate::whole) struct CalledClasses {
    /// For each present class, the classes whose methods it calls, without duplicates.
    by_caller: FxHashMap<ClassName, Box<[ClassName]>>,
    /// For each called class, the number of present classes that call its methods.
    callers: FxHashMap<ClassName, u32>,
    /// The called classes (keys of `callers`) that are absent.
    absent: FxHashSet<ClassName>,
}

impl CalledClasses {
    /// Whether the program calls a method of an absent class.
    pub(in crate::whole) fn any_absent(&self) -> bool {
        !self.absent.is_empty()
    }

    /// Updates this index after changes of classes. `before` is the hierarchy without the changes.
    pub(in crate::whole) fn change(&mut self, before: &Hierarchy, changes: &[ClassChange]) {
        for it in changes {
            let name = it.class.map(|it| before.name(it));
            let stays = it.now.as_ref().map(|it| it.0.class);
            if let Some(name) = name.filter(|it| Some(*it) != stays) {
                self.set(name, None);
            }
        }
        for (outline, summary, _) in changes.iter().filter_map(|it| it.now.as_ref()) {
            self.set(outline.class, Some(summary));
        }
    }

    /// Records which classes the code of `class` calls. `summary` describes this code; it is `None` if the class is
    /// absent.
    pub(in crate::whole) fn set(&mut self, class: ClassName, summary: Option<&ClassSummary>) {
        let before = match summary {
            Some(it) => {
                let called: FxHashSet<ClassName> = it.called_classes().collect();
                for name in &called {
                    self.count(*name);
                }
                self.by_caller.insert(class, called.into_iter().collect())
            }
            None => self.by_caller.remove(&class),
        };
        before.iter().flatten().for_each(|it| self.uncount(*it));
        if summary.is_none() && self.callers.contains_key(&class) {
            self.absent.insert(class);
        } else {
            self.absent.remove(&class);
        }
    }

    fn count(&mut self, name: ClassName) {
        *self.callers.entry(name).or_insert(0) += 1;
        if !self.by_caller.contains_key(&name) {
            self.absent.insert(name);
        }
    }

    fn uncount(&mut self, name: ClassName) {
        let Some(count) = self.callers.get_mut(&name) else { return };
        *count -= 1;
        if *count == 0 {
            self.callers.remove(&name);
            self.absent.remove(&name);
        }
    }
}
