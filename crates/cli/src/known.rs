//! What is known of the classes of a run after the whole program was read, so that no class is taken apart twice.

use driver::problem::{Problem, Severity};
use export::frame::{FailedClass, Trailer};
use ide::MethodName;
use ide::answer::ClassAnswer;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::report::Outcome;
use crate::run::Run;

/// What was found when the whole program was read; nothing for commands that do not read it. Numbers are those of the
/// classes that are shown ([`Run::shown`]).
#[derive(Default)]
pub(crate) struct Known {
    /// The answers that were made on the way, by number.
    pub(crate) answers: Vec<Option<ClassAnswer>>,
    /// Why classes are left out after all, by number.
    pub(crate) left_out: FxHashMap<usize, String>,
    /// The definitions that another definition of the same class shadows, by container and entry.
    pub(crate) shadowed: FxHashSet<(usize, usize)>,
    /// What is wrong with the supertypes of classes.
    pub(crate) problems: Vec<Problem>,
    /// The classes that could not be read, in class-path order.
    pub(crate) unread: Vec<Unread>,
    /// The methods that the result is about, if not all that are selected.
    pub(crate) reached: Option<FxHashSet<MethodName>>,
    /// Whether something panicked.
    pub(crate) outcome: Outcome,
}

/// A class that could not be read.
pub(crate) struct Unread {
    /// Its number, if the result shows it.
    pub(crate) number: Option<usize>,
    /// What is reported about it.
    pub(crate) class: FailedClass,
}

impl Known {
    /// Everything that could not be opened, listed or read.
    pub(crate) fn trailer(&self, run: &Run<'_>) -> Trailer {
        self.trailer_with(run, |_| true)
    }

    /// What could not be opened or listed, and the unread classes that are wanted.
    pub(crate) fn trailer_with(&self, run: &Run<'_>, wanted: impl Fn(&Unread) -> bool) -> Trailer {
        let mut trailer = Trailer::default();
        for it in run.world().problems.iter().chain(&self.problems) {
            add_problem(&mut trailer, it);
        }
        let unread = self.unread.iter().filter(|it| wanted(it));
        trailer.failed_classes.extend(unread.map(|it| it.class.clone()));
        trailer
    }
}

fn add_problem(trailer: &mut Trailer, it: &Problem) {
    match it.severity {
        Severity::Note => trailer.notes.push((it.place.clone(), it.what.clone())),
        Severity::Error => trailer.failed_classes.push(FailedClass {
            place: it.place.clone(),
            reason: it.what.clone(),
            offset: None,
            jvms: None,
        }),
    }
}
