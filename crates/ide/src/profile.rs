//! The answers of either profile behind one face: `jvm`, sound for what a JVM does, or `paper`, the rules of
//! *Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*, Fig. 4.

use std::collections::BTreeSet;
use std::sync::Arc;

use analysis::fault::Fault;
use analysis::interface::{self, Needs};
use analysis::names::{MethodId, Text};
use analysis::paper::answers::Paper;
use analysis::paper::environment::{Record, api_record, record};
use analysis::parts::Scratch;
use analysis::parts::{ClassParts, MethodCode, PartOptions, StageTimes, Wanted};
use analysis::reasons::instrs_at;
use analysis::whole::answers::{Call, Throws};
use analysis::whole::graph::Graph;
use flow::universe::Universe;
use program::hierarchy::Hierarchy;
use rustc_hash::FxHashSet;

use crate::answer::{ClassAnswer, answer_of};
use crate::explain::{
    ExplainedCall, ExplainedException, Explanation, Scope, Sources, calls_explained, ways_explained,
};
use crate::whole::{Whole, Work};

/// What profile `paper` must know of one class.
#[derive(Clone, Debug)]
pub struct PaperRecord(Record);

/// Takes a class of the API apart: its signatures count alone.
///
/// # Errors
/// When the structure of the file cannot be read: the class is then outside.
pub fn read_api_class(bytes: &[u8]) -> Result<PaperRecord, Fault> {
    api_record(bytes).map(PaperRecord).map_err(Fault::from)
}

/// Takes a class of the program apart, and answers about the selected methods, without graphs.
///
/// # Errors
/// See [`read_api_class`].
pub fn paper_record_and_answer(
    bytes: &[u8],
    select: &dyn Fn(&MethodId) -> bool,
    scratch: &mut Scratch,
) -> Result<(PaperRecord, ClassAnswer), Fault> {
    let parts = ClassParts::read(bytes).map_err(Fault::from)?;
    let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    let methods = parts.methods(&options, scratch, &mut StageTimes::default()).map_err(Fault::from)?;
    let record = record(&parts, &methods).map_err(Fault::from)?;
    Ok((PaperRecord(record), answer_of(&parts, methods, select)))
}

/// A program and the answers about it.
pub enum Answers {
    /// For every completion of the program, on a JVM.
    Jvm(Arc<Whole>),
    /// As Fig. 4 has it.
    Paper(Box<Paper>),
}

/// What a worker keeps from question to question.
pub enum ProfileWork {
    /// The sets that it meets on its way.
    Jvm(Box<Work>),
    /// The same.
    Paper(Box<Universe>),
}

impl Answers {
    /// Profile `paper`: the classes in class-path order, each with whether it is of the API.
    pub fn paper(records: Vec<(PaperRecord, bool)>) -> Self {
        let records = records.into_iter().map(|it| (it.0.0, it.1)).collect();
        Answers::Paper(Box::new(Paper::new(records)))
    }

    /// What a worker needs to ask.
    pub fn work(&self) -> ProfileWork {
        match self {
            Answers::Jvm(it) => ProfileWork::Jvm(Box::new(it.work())),
            Answers::Paper(it) => ProfileWork::Paper(Box::new(it.environment.exceptions.clone())),
        }
    }

    /// Where the calls of a method go, by instruction.
    pub fn calls(&self, method: MethodId, code: &MethodCode) -> Vec<Call> {
        match self {
            Answers::Jvm(it) => it.calls(method, code),
            Answers::Paper(it) if it.is_ghost(method) => Vec::new(),
            Answers::Paper(it) => it.calls(code),
        }
    }

    /// What a method calls whose code nobody has seen; the paper knows of nothing.
    pub fn unseen_calls(&self, method: MethodId) -> Vec<Call> {
        match self {
            Answers::Jvm(it) => it.unseen_calls(method),
            Answers::Paper(_) => Vec::new(),
        }
    }

    /// What a method lets out; `None` if it is not in the program.
    pub fn throws(&self, work: &mut ProfileWork, method: MethodId) -> Option<Throws> {
        match (self, work) {
            (Answers::Jvm(it), ProfileWork::Jvm(work)) => it.throws(work, method),
            (Answers::Paper(it), ProfileWork::Paper(work)) => it.throws(work, method),
            _ => None,
        }
    }

    /// The final graph of a method, with where its calls go if that is wanted; empty for one that is not in the program.
    pub fn graph(&self, work: &mut ProfileWork, method: MethodId, code: &MethodCode, calls: bool) -> Graph {
        match (self, work) {
            (Answers::Jvm(it), ProfileWork::Jvm(work)) => it.graph(work, method, code, calls),
            (Answers::Paper(it), ProfileWork::Paper(work)) => it.graph(work, method, code, calls),
            _ => Graph::default(),
        }
    }

    /// All that is asked for of a method: of an instruction its calls first.
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
            acc.extend(exceptions.into_iter().map(Explanation::Exception));
        }
        acc
    }

    /// Why a method lets out what it does; with a pc, why the instructions there raise what they do, before the handlers
    /// around them.
    fn explained_exceptions(
        &self,
        work: &mut ProfileWork,
        sources: &mut dyn Sources,
        scope: &Scope<'_>,
    ) -> Vec<ExplainedException> {
        match (self, work) {
            (Answers::Jvm(it), ProfileWork::Jvm(work)) => it.explained_exceptions(work, sources, scope),
            (Answers::Paper(it), ProfileWork::Paper(work)) => {
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

    /// Why the calls of a method go where they go; the formula of the paper asks for no receivers.
    fn explained_calls(&self, sources: &mut dyn Sources, scope: &Scope<'_>) -> Vec<ExplainedCall> {
        match self {
            Answers::Jvm(it) => it.explained_calls(sources, scope),
            Answers::Paper(_) => {
                let own = sources.code(scope.method);
                let calls = own.map_or_else(Vec::new, |it| self.calls(scope.method, &it.code));
                calls_explained(sources, scope, calls, &|_, _| Vec::new())
            }
        }
    }

    /// Whether the method is reached from the entry points, where that was asked; all are that are in the program otherwise.
    fn is_reached(&self, method: MethodId) -> bool {
        match self {
            Answers::Jvm(it) => it.is_reached(method),
            Answers::Paper(_) => true,
        }
    }

    /// Adds what the graph of a method needs from elsewhere.
    pub fn needs(&self, needs: &mut Needs, method: MethodId, code: &MethodCode, graph: &Graph) {
        match self {
            Answers::Jvm(it) => needs.of_method(it.program(), method, code),
            Answers::Paper(_) => needs.of_labels(graph),
        }
    }

    /// The methods that graphs need, and that are no part of the platform, by text.
    pub fn required(&self, needs: &Needs) -> BTreeSet<MethodId> {
        let whole = match self {
            Answers::Jvm(it) => Some(it.program()),
            Answers::Paper(_) => None,
        };
        needs.methods(self.hierarchy(), whole)
    }

    /// The direct superclasses of throwable types and of those above them, as far as they are known, by name.
    pub fn super_types(&self, types: &FxHashSet<Text>) -> Vec<(Text, Text)> {
        interface::super_types(self.universe(), types)
    }

    /// Whether initialising the class runs no code, and cannot fail.
    pub fn is_quiet(&self, class: Text) -> bool {
        interface::is_quiet(self.hierarchy(), class)
    }

    /// A number for the names that the program knows.
    pub fn names(&self) -> u64 {
        interface::names(self.hierarchy())
    }

    fn hierarchy(&self) -> &Hierarchy {
        match self {
            Answers::Jvm(it) => &it.program().program.hierarchy,
            Answers::Paper(it) => &it.environment.hierarchy,
        }
    }

    fn universe(&self) -> &Universe {
        match self {
            Answers::Jvm(it) => &it.program().exceptions.universe,
            Answers::Paper(it) => &it.environment.exceptions,
        }
    }

    /// Whether the method is a ghost: the code in its class file is not its own, and has no graph.
    pub fn is_ghost(&self, method: MethodId) -> bool {
        match self {
            Answers::Jvm(it) => it.is_ghost(method),
            Answers::Paper(it) => it.is_ghost(method),
        }
    }
}
