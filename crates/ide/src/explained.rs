//! Explanations from the database. Reasons are memoized queries, while positions of code are read separately, so code
//! that only moves recomputes no reason.

use analysis::answers::{calls, graphs};
use analysis::definitions::{ClassOrigin, PlacedCode, origin, placed_code};
use analysis::facts::{Code, facts};
use analysis::input::{Profile, World};
use analysis::keys::{ReasonQuestion, ReceiverQuestion};
use analysis::propagated::record;
use analysis::reasons::reasons;
use analysis::receivers::receivers;
use program::input::ClassFile;
use program::names::MethodName;
use vfs::file::FileId;

use crate::db::RootDatabase;
use crate::explain::{Explanation, Scope, Sources, calls_explained, ways_explained};
use crate::host::{Analysis, Cancellable, Definition};
use crate::silent::silent;

/// Maps definitions of classes to paths of class files. The client that reports changes to the database implements
/// this trait.
pub trait Places: Send + Sync {
    /// Returns the path, in the form shown to people, of the class file with this definition; `None` if no such path
    /// is known.
    fn place(&self, definition: Definition) -> Option<String>;
}

impl Analysis {
    /// Returns the explanations that `scope` requests for one of the methods that the class in the file declares. For
    /// a single instruction, the explanations of its calls precede those of its exceptions. Empty if another
    /// definition of the class shadows this one; `None` if the file is unknown or declares no such method.
    ///
    /// # Errors
    /// When a change interrupts the question.
    pub fn explanations(
        &self,
        file: FileId,
        scope: &Scope<'_>,
        places: &dyn Places,
    ) -> Cancellable<Option<Vec<Explanation>>> {
        let reached = self.reached(file)?;
        let method = scope.method;
        self.ask(file, |db, class| {
            let world = World::try_get(db)?;
            let index = facts(db, class).as_ref().ok()?.index_of(&method)?;
            // Another definition shadows this one.
            if origin(db, world, method.class) != Some(ClassOrigin::File(class)) {
                return Some(Vec::new());
            }
            if reached.is_some_and(|it| it.get(index).is_some_and(|it| !it)) {
                return Some(vec![Explanation::Unreached(method)]);
            }
            let mut sources = ProgramSources { analysis: self, db, world, places };
            let mut acc = Vec::new();
            if scope.explains_calls() {
                let calls = calls(db, class).get(index).map_or_else(Vec::new, |it| it.to_vec());
                let receivers = |selector, target| {
                    let asked = ReceiverQuestion::new(db, class, method, selector, target, scope.receivers);
                    receivers(db, asked).to_vec()
                };
                let explained = calls_explained(&mut sources, scope, calls, &receivers);
                acc.extend(explained.into_iter().map(Explanation::Call));
            }
            if scope.explains_exceptions() {
                let asked = ReasonQuestion::new(db, class, method, scope.pc, scope.exception);
                let reasons = reasons(db, asked);
                let explained = ways_explained(&mut sources, method, reasons.at, reasons.ways.clone());
                let is_silent = explained.is_empty()
                    && scope.is_whole_method()
                    && world.settings(db).profile == Profile::Jvm;
                acc.extend(explained.into_iter().map(Explanation::Exception));
                acc.extend(is_silent.then(|| silence(db, class, method, index)).flatten());
            }
            Some(acc)
        })
    }
}

/// Returns the reason why the method with this index lets no exception out.
fn silence(db: &RootDatabase, class: ClassFile, method: MethodName, index: usize) -> Option<Explanation> {
    let fact = facts(db, class).as_ref().ok()?.methods.get(index)?;
    let code = match &fact.code {
        Code::Known(it) => Some(&**it),
        Code::None | Code::Failed => None,
    };
    let calls = calls(db, class).get(index).cloned().unwrap_or_default();
    let graph = graphs(db, class).get(index).cloned().unwrap_or_default();
    let outline = record(db, class).as_ref()?.outline();
    let is_ghost = outline.ghost.is_some() || outline.methods.get(index)?.ghost.is_some();
    Some(Explanation::Silent(silent(method, code, (&calls, &graph), (is_ghost, fact.flags.is_native()))))
}

/// Access to the code of all classes of the program.
struct ProgramSources<'a> {
    analysis: &'a Analysis,
    db: &'a RootDatabase,
    world: World,
    places: &'a dyn Places,
}

impl Sources for ProgramSources<'_> {
    fn code(&mut self, method: MethodName) -> Option<PlacedCode> {
        placed_code(self.db, self.world, method)
    }

    fn place(&self, method: MethodName) -> Option<String> {
        let origin = origin(self.db, self.world, method.class)?;
        self.places.place(self.analysis.definition_by(origin)?)
    }
}
