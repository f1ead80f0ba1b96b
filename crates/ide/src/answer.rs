//! What one class has to say: its methods, their bodies and graphs, and what could not be read.

use std::sync::Arc;
use std::time::Duration;

use analysis::fault::Fault;
use analysis::names::{MethodId, Text};
use analysis::parts::Scratch;
use analysis::parts::{ClassParts, MethodCode, MethodPart, PartOptions, StageTimes, Wanted};
use analysis::whole::record::{ClassRecord, class_record_of};
use bir::positions::Positions;
use flow::cfg::Cfg;

/// The answer about one class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassAnswer {
    /// The class.
    pub class: Text,
    /// Its access flags, as JVMS §4.1 numbers them.
    pub access: u16,
    /// The source file that debug data names.
    pub source_file: Option<Text>,
    /// What is odd about the class file as a whole.
    pub note: Option<String>,
    /// The selected methods that have code that can be read, in file order.
    pub methods: Vec<MethodAnswer>,
    /// The selected methods whose code cannot be read.
    pub failed: Vec<FailedMethod>,
    /// The selected methods that have no code, in file order: abstract and native ones.
    pub without_code: Vec<(MethodId, u16)>,
    /// How many selected methods there are, also those without code.
    pub selected: usize,
    /// What the stages took.
    pub times: StageTimes,
}

/// The answer about one method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodAnswer {
    /// The method.
    pub method: MethodId,
    /// Its access flags, as JVMS §4.6 numbers them.
    pub access: u16,
    /// Its body and the local facts.
    pub code: Arc<MethodCode>,
    /// Where its instructions stand.
    pub positions: Arc<Positions>,
    /// Its control-flow graph.
    pub graph: Cfg,
}

/// A method whose code is missing because it cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedMethod {
    /// The method.
    pub method: MethodId,
    /// Why.
    pub fault: Fault,
}

/// What is asked of a class.
pub struct Question<'a> {
    /// The methods wanted.
    pub select: &'a dyn Fn(&MethodId) -> bool,
    /// Whether graphs are wanted; without, they are empty.
    pub graphs: bool,
    /// A clock, for who wants to know what took how long.
    pub clock: Option<&'a dyn Fn() -> Duration>,
}

/// Answers about the class in `bytes`: a pure function that touches no database. `scratch` is memory that one class
/// leaves for the next.
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
    /// Without any method yet.
    fn new(parts: &ClassParts<'_>) -> Self {
        ClassAnswer {
            class: Text(parts.head.class.bytes()),
            access: parts.head.flags.0,
            source_file: parts.source_file,
            note: parts.head.version_note(),
            methods: Vec::new(),
            failed: Vec::new(),
            without_code: Vec::new(),
            selected: 0,
            times: StageTimes::default(),
        }
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

/// Takes one class apart, once for both: what the rest of its program must know of it, and the answer about the selected
/// methods, without graphs.
///
/// # Errors
/// When the structure of the file cannot be read.
pub fn class_record_and_answer(
    bytes: &[u8],
    select: &dyn Fn(&MethodId) -> bool,
    scratch: &mut Scratch,
) -> Result<(ClassRecord, ClassAnswer), Fault> {
    let parts = ClassParts::read(bytes).map_err(Fault::from)?;
    let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    let methods = parts.methods(&options, scratch, &mut StageTimes::default()).map_err(Fault::from)?;
    let record = class_record_of(bytes, &parts, &methods, scratch).map_err(Fault::from)?;
    Ok((record, answer_of(&parts, methods, select)))
}

/// The answer about the selected methods of a class that has been taken apart, without graphs.
pub(crate) fn answer_of(
    parts: &ClassParts<'_>,
    methods: Vec<MethodPart>,
    select: &dyn Fn(&MethodId) -> bool,
) -> ClassAnswer {
    let mut answer = ClassAnswer::new(parts);
    for part in methods {
        if select(&part.id()) {
            answer.add(part, |_| Cfg::default());
        }
    }
    answer
}

/// The methods that the class in `bytes` declares, in file order; none if it cannot be read.
pub fn declared_methods(bytes: &[u8]) -> Vec<MethodId> {
    let Ok(parts) = ClassParts::read(bytes) else { return Vec::new() };
    parts.method_ids().filter_map(Result::ok).collect()
}
