//! A common interface to the answers of both profiles: `jvm`, which is sound for what a JVM may do, and `paper`,
//! which follows the rules of *Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*, Fig. 4.

use std::collections::BTreeSet;
use std::sync::Arc;

use analysis::definitions::instrs_at;
use analysis::described::{Described, described};
use analysis::fault::Fault;
use analysis::interface::{self, Needs, has_twin};
use analysis::paper::answers::Paper;
use analysis::paper::environment::{Record, api_record, record};
use analysis::parts::Scratch;
use analysis::parts::{ClassParts, MethodCode, PartOptions, StageTimes, Wanted};
use analysis::whole::answers::{Call, Throws};
use analysis::whole::graph::Graph;
use flow::universe::{Part, Universe};
use program::hierarchy::Hierarchy;
use program::input::Role;
use program::names::{MethodName, Text};
use rustc_hash::FxHashSet;

use crate::answer::{ClassAnswer, answer_of};
use crate::explain::{
    ExplainedCall, ExplainedException, Explanation, Scope, Sources, calls_explained, explained_silence,
    ways_explained,
};
use crate::whole::{Whole, WorkerSets, known, set_apart};

/// The record of one class for profile `paper`.
#[derive(Clone, Debug)]
pub struct PaperRecord(Record);

/// Reads a class of the API, that is, of the JDK. The analysis uses only the signatures of such classes.
///
/// # Errors
/// When the structure of the file cannot be read. The class then counts as outside.
pub fn read_api_class(bytes: &[u8]) -> Result<PaperRecord, Fault> {
    api_record(bytes).map(PaperRecord).map_err(Fault::from)
}

/// Analyses a class of the program, and returns its record and the answer about the selected methods, without graphs.
///
/// # Errors
/// When the structure of the file cannot be read.
pub fn paper_record_and_answer(
    bytes: &[u8],
    select: &dyn Fn(&MethodName) -> bool,
    scratch: &mut Scratch,
) -> Result<(PaperRecord, ClassAnswer), Fault> {
    let parts = ClassParts::read(bytes).map_err(Fault::from)?;
    let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    let methods = parts.methods(&options, scratch, &mut StageTimes::default()).map_err(Fault::from)?;
    let record = record(&parts, &methods).map_err(Fault::from)?;
    Ok((PaperRecord(record), answer_of(&parts, methods, select)))
}

/// An analysed program, which answers questions according to one of the profiles.
pub enum ProfileAnswers {
    /// Profile `jvm`: answers that hold for every completion of the program.
    Jvm(Arc<Whole>),
    /// Profile `paper`: answers by the rules in Fig. 4 of the CONFLEX paper.
    Paper(Box<Paper>),
}

/// The state that a worker thread keeps between questions.
pub enum ProfileWork {
    /// For profile `jvm`: the sets of exceptions that the worker has used.
    Jvm(Box<WorkerSets>),
    /// For profile `paper`: the exception types, and the sets of them that the worker has used.
    Paper(Box<Universe>),
}

impl ProfileAnswers {
    /// The answers of profile `paper` about these classes in class-path order; the flag says whether a class belongs
    /// to the API.
    pub fn paper(records: Vec<(PaperRecord, bool)>) -> Self {
        let records = records.into_iter().map(|it| (it.0.0, it.1)).collect();
        ProfileAnswers::Paper(Box::new(Paper::new(records)))
    }

    /// Creates the state of a worker.
    pub fn work(&self) -> ProfileWork {
        match self {
            ProfileAnswers::Jvm(it) => ProfileWork::Jvm(Box::new(it.work())),
            ProfileAnswers::Paper(it) => ProfileWork::Paper(Box::new(it.environment.exceptions.clone())),
        }
    }

    /// The targets of a method's calls, by instruction.
    pub fn calls(&self, method: MethodName, code: &MethodCode) -> Vec<Call> {
        match self {
            ProfileAnswers::Jvm(it) => it.calls(method, code),
            ProfileAnswers::Paper(it) if it.is_ghost(method) => Vec::new(),
            ProfileAnswers::Paper(it) => it.calls(code),
        }
    }

    /// The calls that a method may make although its class file has no code for it, or code that cannot be read; none
    /// in profile `paper`.
    pub fn unseen_calls(&self, method: MethodName) -> Vec<Call> {
        match self {
            ProfileAnswers::Jvm(it) => it.unseen_calls(method),
            ProfileAnswers::Paper(_) => Vec::new(),
        }
    }

    /// The exceptions that leave a method; `None` if it is not in the program.
    pub fn throws(&self, work: &mut ProfileWork, method: MethodName) -> Option<Throws> {
        match (self, work) {
            (ProfileAnswers::Jvm(it), ProfileWork::Jvm(work)) => it.throws(work, method),
            (ProfileAnswers::Paper(it), ProfileWork::Paper(work)) => it.throws(work, method),
            _ => None,
        }
    }

    /// The final graph of a method, with the targets of its calls if `calls` is set; empty if the method is not in
    /// the program.
    pub fn graph(&self, work: &mut ProfileWork, method: MethodName, code: &MethodCode, calls: bool) -> Graph {
        match (self, work) {
            (ProfileAnswers::Jvm(it), ProfileWork::Jvm(work)) => it.graph(work, method, code, calls),
            (ProfileAnswers::Paper(it), ProfileWork::Paper(work)) => it.graph(work, method, code, calls),
            _ => Graph::default(),
        }
    }

    /// Returns the explanations that `scope` requests. For a single instruction, the explanations of its calls come
    /// first.
    pub fn explanations(
        &self,
        work: &mut ProfileWork,
        sources: &mut dyn Sources,
        scope: &Scope<'_>,
    ) -> Vec<Explanation> {
        if !self.is_reached(scope.method) {
            return vec![Explanation::Unreached(scope.method)];
        }
        let mut acc = Vec::new();
        if scope.explains_calls() {
            acc.extend(self.explained_calls(sources, scope).into_iter().map(Explanation::Call));
        }
        if scope.explains_exceptions() {
            let exceptions = self.explained_exceptions(work, sources, scope);
            let is_silent = exceptions.is_empty() && scope.is_whole_method();
            acc.extend(exceptions.into_iter().map(Explanation::Exception));
            acc.extend(is_silent.then(|| self.explained_silence(work, sources, scope.method)).flatten());
        }
        acc
    }

    /// The reasons why exceptions leave the method. If a pc is given: the reasons why the instructions at this pc
    /// raise exceptions, before any handler catches them.
    fn explained_exceptions(
        &self,
        work: &mut ProfileWork,
        sources: &mut dyn Sources,
        scope: &Scope<'_>,
    ) -> Vec<ExplainedException> {
        match (self, work) {
            (ProfileAnswers::Jvm(it), ProfileWork::Jvm(work)) => {
                it.explained_exceptions(work, sources, scope)
            }
            (ProfileAnswers::Paper(it), ProfileWork::Paper(work)) => {
                let Some(pc) = scope.pc else {
                    let ways = it.ways(work, scope.method, scope.exception).unwrap_or_default();
                    return ways_explained(sources, scope.method, None, ways);
                };
                let Some(own) = sources.code(scope.method) else { return Vec::new() };
                let instrs = instrs_at(&own.code, &own.positions, pc);
                let ways = it.ways_at(work, scope.method, &own.code, &instrs, scope.exception);
                ways_explained(sources, scope.method, instrs.last().copied(), ways)
            }
            _ => Vec::new(),
        }
    }

    /// The reason why the method lets no exception out; `None` in profile `paper`, whose graphs have no proofs.
    fn explained_silence(
        &self,
        work: &mut ProfileWork,
        sources: &mut dyn Sources,
        method: MethodName,
    ) -> Option<Explanation> {
        match (self, work) {
            (ProfileAnswers::Jvm(it), ProfileWork::Jvm(work)) => {
                Some(Explanation::Silent(explained_silence(it, work, sources, method)))
            }
            _ => None,
        }
    }

    /// The reasons why the calls of a method have their targets. In profile `paper`, whose rules do not use
    /// receivers, no receivers are listed.
    fn explained_calls(&self, sources: &mut dyn Sources, scope: &Scope<'_>) -> Vec<ExplainedCall> {
        match self {
            ProfileAnswers::Jvm(it) => it.explained_calls(sources, scope),
            ProfileAnswers::Paper(_) => {
                let own = sources.code(scope.method);
                let calls = own.map_or_else(Vec::new, |it| self.calls(scope.method, &it.code));
                calls_explained(sources, scope, calls, &|_, _| Vec::new())
            }
        }
    }

    /// Whether the method is reached from the entry points; `true` if reachability was not computed.
    fn is_reached(&self, method: MethodName) -> bool {
        match self {
            ProfileAnswers::Jvm(it) => it.is_reached(method),
            ProfileAnswers::Paper(_) => true,
        }
    }

    /// Adds to `needs` the methods that the graph of a method requires.
    pub fn needs(&self, needs: &mut Needs, method: MethodName, code: &MethodCode, graph: &Graph) {
        match self {
            ProfileAnswers::Jvm(it) => needs.of_method(it.calls_table(), method, code),
            ProfileAnswers::Paper(_) => needs.of_labels(graph),
        }
    }

    /// The methods that the graphs in `needs` require, without those of the JDK, sorted by text.
    pub fn required(&self, needs: &Needs) -> BTreeSet<MethodName> {
        let whole = match self {
            ProfileAnswers::Jvm(it) => Some(it.calls_table()),
            ProfileAnswers::Paper(_) => None,
        };
        needs.methods(self.hierarchy(), whole)
    }

    /// The known direct superclasses of these throwable types and of all their superclasses: pairs of class and
    /// superclass.
    pub fn super_types(&self, types: &FxHashSet<Text>) -> Vec<(Text, Text)> {
        self.universe().map_or_else(Vec::new, |it| interface::super_types(it, types))
    }

    /// Whether the initialisation of the class runs no code and cannot fail.
    pub fn is_quiet(&self, class: Text) -> bool {
        interface::is_quiet(self.hierarchy(), class)
    }

    /// A hash of the names that the program defines: its classes with their supertypes and non-private methods.
    pub fn names(&self) -> u64 {
        interface::names(self.hierarchy())
    }

    /// Returns the methods of the libraries and of the JDK that `selects` accepts, in class-path order; each with the
    /// role of its class.
    pub fn library_methods(&self, selects: &dyn Fn(&MethodName) -> bool) -> Vec<(MethodName, Role)> {
        let hierarchy = self.hierarchy();
        let mut acc = Vec::new();
        for class in hierarchy.ids().filter(|&it| hierarchy.role(it) != Role::App && !hierarchy.is_vacant(it))
        {
            let outline = hierarchy.outline(class);
            for it in &outline.methods {
                let method = MethodName {
                    class: Text(outline.class.bytes()),
                    name: Text(it.name.bytes()),
                    descriptor: Text(it.descriptor.bytes()),
                };
                if selects(&method) {
                    acc.push((method, hierarchy.role(class)));
                }
            }
        }
        acc
    }

    /// Makes answers about exceptions set apart what calls on objects of unknown classes let out. Returns false if the
    /// profile does not support this. Must be called before the answers are shared.
    pub fn set_apart(&mut self) -> bool {
        match self {
            ProfileAnswers::Jvm(it) => Arc::get_mut(it).map(set_apart).is_some(),
            ProfileAnswers::Paper(_) => false,
        }
    }

    /// Whether the class is one of the program itself, not of a library or of the JDK.
    pub fn is_of_program(&self, class: Text) -> bool {
        interface::is_of_program(self.hierarchy(), class)
    }

    /// Whether the class of the method declares another method that differs only in its return type, such as a bridge
    /// method.
    pub fn has_twin(&self, method: MethodName) -> bool {
        has_twin(self.hierarchy(), method)
    }

    /// Returns a description of a set of exceptions, given by its classes and cones, with at most `limit` of them.
    pub fn described(&self, work: &mut ProfileWork, parts: &[Part], limit: usize) -> Described {
        let universe = match (self, work) {
            (ProfileAnswers::Jvm(_), ProfileWork::Jvm(work)) => work.universe(),
            (ProfileAnswers::Paper(_), ProfileWork::Paper(it)) => Some(&mut **it),
            _ => None,
        };
        universe.map_or_else(|| Described::plain(parts), |it| described(it, parts, limit))
    }

    /// Returns a description of the known exceptions that leave a method, with at most `limit` types. `throws` is the
    /// answer about the method.
    pub fn described_throws(&self, work: &mut ProfileWork, throws: &Throws, limit: usize) -> Described {
        let of_set = match (self, &mut *work) {
            (ProfileAnswers::Jvm(it), ProfileWork::Jvm(work)) => known(it, work, throws.method, limit),
            _ => None,
        };
        of_set.unwrap_or_else(|| self.described(work, &throws.known, limit))
    }

    fn hierarchy(&self) -> &Hierarchy {
        match self {
            ProfileAnswers::Jvm(it) => &it.calls_table().classes.hierarchy,
            ProfileAnswers::Paper(it) => &it.environment.hierarchy,
        }
    }

    fn universe(&self) -> Option<&Universe> {
        match self {
            ProfileAnswers::Jvm(it) => it.solution().map(|it| &it.1.universe),
            ProfileAnswers::Paper(it) => Some(&it.environment.exceptions),
        }
    }

    /// Whether the method is a ghost: the code in its class file is not its own, and it has no graph.
    pub fn is_ghost(&self, method: MethodName) -> bool {
        match self {
            ProfileAnswers::Jvm(it) => it.is_ghost(method),
            ProfileAnswers::Paper(it) => it.is_ghost(method),
        }
    }
}
