//! The answer about one class: its methods with their bodies and graphs, and the methods whose code cannot be read.

use std::sync::Arc;
use std::time::Duration;

use analysis::fault::Fault;
use analysis::parts::Scratch;
use analysis::parts::{ClassParts, MethodCode, MethodPart, PartOptions, StageTimes, Wanted};
use analysis::whole::record::{ClassRecord, class_record_of};
use bir::positions::Positions;
use flow::cfg::Cfg;
use program::names::{MethodName, Text};

/// The answer about one class: facts about the class, and its selected methods.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassAnswer {
    /// The name of the class.
    pub class: Text,
    /// The access flags of the class (JVMS §4.1).
    pub access: u16,
    /// The name of the source file in the debug data; `None` if the debug data has none.
    pub source_file: Option<Text>,
    /// A note about irregularities of the class file as a whole; `None` if there are none.
    pub note: Option<String>,
    /// The selected methods whose code can be read, in file order.
    pub methods: Vec<MethodAnswer>,
    /// The selected methods whose code cannot be read.
    pub failed: Vec<FailedMethod>,
    /// The selected methods without code (abstract and native ones) with their access flags, in file order.
    pub without_code: Vec<(MethodName, u16)>,
    /// The number of selected methods, including those without code.
    pub selected: usize,
    /// The time that each stage of the analysis took; zero without a clock ([`Question::clock`]).
    pub times: StageTimes,
}

/// The answer about one method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodAnswer {
    /// The name of the method.
    pub method: MethodName,
    /// The access flags of the method (JVMS §4.6).
    pub access: u16,
    /// The method's body, with the facts that the body alone proves.
    pub code: Arc<MethodCode>,
    /// The positions of the body's instructions: pcs and lines.
    pub positions: Arc<Positions>,
    /// The method's control-flow graph; empty if the question does not request graphs.
    pub graph: Cfg,
}

/// The access flag `ACC_ABSTRACT` of a method (JVMS §4.6).
const ABSTRACT: u16 = 0x0400;

/// A method whose code is missing because it cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedMethod {
    /// The name of the method.
    pub method: MethodName,
    /// The reason why the code cannot be read.
    pub fault: Fault,
}

/// A question about one class: which methods the answer covers, whether it has their graphs, and whether the time of
/// each stage of the analysis is measured.
pub struct Question<'a> {
    /// Returns whether the answer covers a method.
    pub select: &'a dyn Fn(&MethodName) -> bool,
    /// Whether to build the control-flow graphs; otherwise [`MethodAnswer::graph`] is empty.
    pub graphs: bool,
    /// The clock that measures how long each stage takes; `None` to measure no times.
    pub clock: Option<&'a dyn Fn() -> Duration>,
}

/// Answers a question about the class in `bytes`. The function uses no database: the answer depends only on the
/// arguments. `scratch` holds buffers that are reused from class to class.
///
/// # Errors
/// When the structure of the file cannot be read.
pub fn class_answer(
    bytes: &[u8],
    question: &Question<'_>,
    scratch: &mut Scratch,
) -> Result<ClassAnswer, Fault> {
    let mut times = StageTimes::default();
    let now = || question.clock.map_or(Duration::ZERO, |it| it());
    let start = now();
    let parts = ClassParts::read(bytes).map_err(Fault::from)?;
    let mut answer = ClassAnswer::new(&parts);
    let wanted = parts.method_ids().filter_map(Result::ok).any(|it| (question.select)(&it));
    times.decode = now().saturating_sub(start);
    if !wanted {
        return Ok(answer);
    }
    let options = PartOptions { select: question.select, wanted: Wanted::All, clock: question.clock };
    let methods = parts.methods(&options, scratch, &mut times).map_err(Fault::from)?;
    for part in methods {
        let graph = |code: &MethodCode| {
            let start = now();
            let graph = if question.graphs { parts.head.graph(code) } else { Cfg::default() };
            times.flow += now().saturating_sub(start);
            graph
        };
        answer.add(part, graph);
    }
    answer.times = times;
    Ok(answer)
}

impl ClassAnswer {
    /// Creates an answer with the facts about the class itself, and without methods.
    fn new(parts: &ClassParts<'_>) -> Self {
        ClassAnswer {
            class: Text(parts.head.class.bytes()),
            access: parts.head.flags.0,
            source_file: parts.source_file,
            note: parts.note(),
            methods: Vec::new(),
            failed: Vec::new(),
            without_code: Vec::new(),
            selected: 0,
            times: StageTimes::default(),
        }
    }

    /// Returns whether the method is one of the selected abstract methods.
    pub fn is_abstract(&self, method: MethodName) -> bool {
        self.without_code.iter().any(|it| it.0 == method && it.1 & ABSTRACT != 0)
    }

    fn add(&mut self, part: MethodPart, graph: impl FnOnce(&MethodCode) -> Cfg) {
        self.selected += 1;
        let method = part.id();
        match part.code {
            None => self.without_code.push((method, part.flags.0)),
            Some(Err(why)) => self.failed.push(FailedMethod { method, fault: why.into() }),
            Some(Ok((code, positions))) => {
                let graph = graph(&code);
                self.methods.push(MethodAnswer {
                    method,
                    access: part.flags.0,
                    code: Arc::new(code),
                    positions: Arc::new(positions),
                    graph,
                });
            }
        }
    }
}

/// Analyses one class and returns both its record for the analysis of the whole program, and the answer about the
/// selected methods without graphs.
///
/// # Errors
/// When the structure of the file cannot be read.
pub fn class_record_and_answer(
    bytes: &[u8],
    select: &dyn Fn(&MethodName) -> bool,
    scratch: &mut Scratch,
) -> Result<(ClassRecord, ClassAnswer), Fault> {
    let parts = ClassParts::read(bytes).map_err(Fault::from)?;
    let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    let methods = parts.methods(&options, scratch, &mut StageTimes::default()).map_err(Fault::from)?;
    let record = class_record_of(bytes, &parts, &methods, scratch).map_err(Fault::from)?;
    Ok((record, answer_of(&parts, methods, select)))
}

/// Returns the answer, without graphs, about the selected methods of a class, from the already parsed parts of the
/// class.
pub(crate) fn answer_of(
    parts: &ClassParts<'_>,
    methods: Vec<MethodPart>,
    select: &dyn Fn(&MethodName) -> bool,
) -> ClassAnswer {
    let mut answer = ClassAnswer::new(parts);
    for part in methods {
        if select(&part.id()) {
            answer.add(part, |_| Cfg::default());
        }
    }
    answer
}

/// The name of the class in `bytes`; `None` if the class cannot be read.
pub fn class_name(bytes: &[u8]) -> Option<Text> {
    analysis::parts::class_name(bytes).map(|it| Text(it.bytes()))
}

/// The pcs at which the instructions of a method of the class in `bytes` begin; empty if the method has no readable
/// code.
pub fn instruction_starts(bytes: &[u8], method: &MethodName) -> Vec<u16> {
    ClassParts::read_structure(bytes).map_or_else(|_| Vec::new(), |it| it.instruction_starts(method))
}

/// The methods that the class in `bytes` declares, in file order; empty if the class cannot be read.
pub fn declared_methods(bytes: &[u8]) -> Vec<MethodName> {
    let Ok(parts) = ClassParts::read(bytes) else { return Vec::new() };
    parts.method_ids().filter_map(Result::ok).collect()
}
