//! Facts about the classes of a run, found while reading the whole program, so that no class is parsed twice.

use driver::problem::{Problem, Severity};
use export::frame::{FailedClass, Trailer};
use ide::MethodName;
use ide::answer::ClassAnswer;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::report::Outcome;
use crate::run::Run;

/// Facts found while reading the whole program; empty for commands that do not read the whole program. Classes are
/// numbered by their index in [`Run::shown`].
#[derive(Default)]
pub(crate) struct Known {
    /// The answers about shown classes that were computed while reading. The index is that of the class among the
    /// shown classes; `None` if the answer was not computed.
    pub(crate) answers: Vec<Option<ClassAnswer>>,
    /// The reasons why shown classes are left out of the result, by the index of the class among the shown classes.
    pub(crate) left_out: FxHashMap<usize, String>,
    /// The class definitions that are shadowed by another definition of the same class: for each, the index of the
    /// container, and the index of the entry in the container.
    pub(crate) shadowed: FxHashSet<(usize, usize)>,
    /// The faults in the class hierarchy.
    pub(crate) problems: Vec<Problem>,
    /// The classes that could not be read, in class-path order.
    pub(crate) unread: Vec<Unread>,
    /// The methods to which the result is restricted; `None` for all selected methods.
    pub(crate) reached: Option<FxHashSet<MethodName>>,
    /// The flag that restricts the result to reached methods; empty without such a flag.
    pub(crate) reaching_flag: &'static str,
    /// [`Outcome::Bug`] if reading a class panicked; otherwise [`Outcome::Fine`].
    pub(crate) outcome: Outcome,
}

/// A class that could not be read.
pub(crate) struct Unread {
    /// The index of the class among the shown classes; `None` if the result does not show the class.
    pub(crate) number: Option<usize>,
    /// The report about the class: its place and the reason why it could not be read.
    pub(crate) class: FailedClass,
}

impl Known {
    /// Returns a trailer with all files and classes that could not be opened, listed or read.
    pub(crate) fn trailer(&self, run: &Run<'_>) -> Trailer {
        self.trailer_with(run, |_| true)
    }

    /// Like [`Known::trailer`], with only those unread classes for which `wanted` returns true.
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
        Severity::Warning => trailer.warnings.push((it.place.clone(), it.what.clone())),
        Severity::Error => trailer.failed_classes.push(FailedClass {
            place: it.place.clone(),
            reason: it.what.clone(),
            offset: None,
            jvms: None,
        }),
    }
}
