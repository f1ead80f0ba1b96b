//! Explanations: the chain of facts behind an answer, each with its position.

use std::sync::Arc;

use analysis::definitions::PlacedCode;
use analysis::definitions::instrs_at;
use analysis::parts::MethodCode;
use analysis::whole::answers::{Call, Origin, Step};
use analysis::whole::explain::{Bodies, Way};
use analysis::whole::graph::Graph;
use analysis::whole::receivers::{Receiver, Selector};
use bir::body::InstrId;
use bir::print;
use flow::universe::Part;
use program::names::{MethodName, Text};

use crate::silent::{Silent, silent};
use crate::whole::{Whole, WorkerSets, is_native};

/// A position in the code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// The method that contains the position.
    pub method: MethodName,
    /// The path of the method's class file; `None` if it is unknown.
    pub place: Option<String>,
    /// The pc of the bytecode instruction; `None` for a method as a whole.
    pub pc: Option<u16>,
    /// The source line of the instruction; `None` without debug data.
    pub line: Option<u16>,
    /// The instruction in stackless form; `None` if the position is not that of an instruction.
    pub text: Option<String>,
}

/// One fact in the chain that explains an answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fact {
    /// The kind of the fact.
    pub step: Step,
    /// The position of the fact; `None` if the fact is not about the code of a method.
    pub spot: Option<Spot>,
}

/// The reason why an exception leaves a method, or why an instruction raises it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExplainedException {
    /// The method that the exception leaves, or the instruction that raises the exception.
    pub spot: Spot,
    /// The exception type or cone; `None` for the unknown exceptions, which form the open part.
    pub what: Option<Part>,
    /// For the open part: the classes and cones that contain all of the unknown exceptions.
    pub within: Vec<Part>,
    /// For the open part: the classes and cones excluded from the unknown exceptions.
    pub except: Vec<Part>,
    /// The chain of facts that leads from `spot` to the origin of the exception.
    pub chain: Vec<Fact>,
}

/// The reason why a call has its targets.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExplainedCall {
    /// The position of the call.
    pub spot: Spot,
    /// The call.
    pub call: Call,
    /// The explained targets: all targets of the call, or those that [`Scope::target`] selects.
    pub targets: Vec<ExplainedTarget>,
}

/// The reason why a call may run a method.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExplainedTarget {
    /// The target method.
    pub method: MethodName,
    /// Whether the call can run the method only if a missing class connects the receiver's class with the class that
    /// the call names.
    pub possible: bool,
    /// Receiver classes that select the method, with their chains of supertypes. Empty if the call is not virtual.
    pub receivers: Vec<Receiver>,
}

/// The explanation of one exception or one call, or the fact that the method is not reached.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Explanation {
    /// The reason for an exception.
    Exception(ExplainedException),
    /// The reason for the targets of a call.
    Call(ExplainedCall),
    /// The method is not reached from the entry points.
    Unreached(MethodName),
    /// The method lets no exception out.
    Silent(Silent),
}

/// The part of a method that is to be explained.
pub struct Scope<'a> {
    /// The method to explain.
    pub method: MethodName,
    /// If given, only the instructions at this pc are explained.
    pub pc: Option<u16>,
    /// If given, only exceptions of this class and its subclasses are explained.
    pub exception: Option<Text>,
    /// If given, only calls with one of these targets are explained.
    pub target: Option<&'a dyn Fn(&MethodName) -> bool>,
    /// The maximum number of receivers listed for a target.
    pub receivers: usize,
}

/// Access to the code and the class-file paths of methods.
pub trait Sources {
    /// Returns the code of a method; `None` if its class cannot be read.
    fn code(&mut self, method: MethodName) -> Option<PlacedCode>;

    /// Returns the path of the method's class file; `None` if it is unknown.
    fn place(&self, method: MethodName) -> Option<String>;
}

impl Scope<'_> {
    /// Whether calls are explained: yes if `target` is given. Also yes if `pc` is given without `exception`.
    pub(crate) fn explains_calls(&self) -> bool {
        self.target.is_some() || self.pc.is_some() && self.exception.is_none()
    }

    /// Whether the method as a whole is explained: all exceptions that it lets out.
    pub(crate) fn is_whole_method(&self) -> bool {
        self.pc.is_none() && self.exception.is_none() && self.target.is_none()
    }

    /// Whether exceptions are explained: yes unless `target` is given.
    pub(crate) fn explains_exceptions(&self) -> bool {
        self.target.is_none()
    }
}

impl Explanation {
    /// The method that the explanation is about.
    pub fn method(&self) -> MethodName {
        match self {
            Explanation::Exception(it) => it.spot.method,
            Explanation::Call(it) => it.spot.method,
            Explanation::Unreached(it) => *it,
            Explanation::Silent(it) => it.method,
        }
    }

    /// Returns the explanation without everything that changes when code moves: pcs, lines and paths of class files.
    /// `text` removes such parts from the text of instructions.
    pub(crate) fn without_places(&self, text: &dyn Fn(&str) -> String) -> Explanation {
        let spot = |it: &Spot| Spot {
            method: it.method,
            place: None,
            pc: None,
            line: None,
            text: it.text.as_deref().map(text),
        };
        match self {
            Explanation::Exception(it) => {
                let chain = it.chain.iter();
                let chain = chain.map(|it| Fact { step: it.step, spot: it.spot.as_ref().map(spot) });
                Explanation::Exception(ExplainedException {
                    spot: spot(&it.spot),
                    what: it.what,
                    within: it.within.clone(),
                    except: it.except.clone(),
                    chain: chain.collect(),
                })
            }
            Explanation::Call(it) => Explanation::Call(ExplainedCall {
                spot: spot(&it.spot),
                call: Call { instr: None, ..it.call.clone() },
                targets: it.targets.clone(),
            }),
            Explanation::Unreached(it) => Explanation::Unreached(*it),
            Explanation::Silent(it) => Explanation::Silent(it.clone()),
        }
    }
}

struct Code<'a>(&'a mut dyn Sources);

impl Bodies for Code<'_> {
    fn code(&mut self, method: MethodName) -> Option<Arc<MethodCode>> {
        self.0.code(method).map(|it| it.code)
    }
}

impl Whole {
    /// The reasons why exceptions leave the method. If a pc is given: the reasons why the instructions at this pc
    /// raise exceptions, before any handler catches them. Empty if the method is not in the program.
    pub fn explained_exceptions(
        &self,
        work: &mut WorkerSets,
        sources: &mut dyn Sources,
        scope: &Scope<'_>,
    ) -> Vec<ExplainedException> {
        let method = scope.method;
        let (ways, at) = match scope.pc {
            None => (self.ways(work, &mut Code(sources), method, scope.exception), None),
            Some(pc) => {
                let code = sources.code(method);
                let instrs = code.map_or_else(Vec::new, |it| instrs_at(&it.code, &it.positions, pc));
                let ways = self.ways_at(work, &mut Code(sources), method, &instrs, scope.exception);
                (ways, instrs.last().copied())
            }
        };
        ways_explained(sources, method, at, ways.unwrap_or_default())
    }

    /// The reasons why the calls of a method have their targets.
    pub fn explained_calls(&self, sources: &mut dyn Sources, scope: &Scope<'_>) -> Vec<ExplainedCall> {
        let method = scope.method;
        let calls = match sources.code(method) {
            Some(it) => self.calls(method, &it.code),
            None => self.unseen_calls(method),
        };
        let receivers = |selector, target| self.selecting(method, selector, target, scope.receivers);
        calls_explained(sources, scope, calls, &receivers)
    }
}

/// Returns the reason why a method lets no exception out. To be called only for such methods.
pub(crate) fn explained_silence(
    whole: &Whole,
    work: &mut WorkerSets,
    sources: &mut dyn Sources,
    method: MethodName,
) -> Silent {
    let own = sources.code(method);
    let code = own.as_ref().map(|it| &*it.code);
    let calls = code.map_or_else(Vec::new, |it| whole.calls(method, it));
    let graph = code.map_or_else(Graph::default, |it| whole.graph(work, method, it, false));
    silent(method, code, (&calls, &graph), (whole.is_ghost(method), is_native(whole, method)))
}

/// Returns the explanations of the exceptions that leave a method, or that its instruction `at` raises. `ways` holds
/// the chain of facts for each exception.
pub(crate) fn ways_explained(
    sources: &mut dyn Sources,
    method: MethodName,
    at: Option<InstrId>,
    ways: Vec<Way>,
) -> Vec<ExplainedException> {
    let spot = spot(sources, method, at);
    ways.into_iter().map(|it| explained(sources, spot.clone(), it)).collect()
}

/// Returns the explanations of the calls of a method that `scope` selects. `receivers` returns the receivers that
/// select a target.
pub(crate) fn calls_explained(
    sources: &mut dyn Sources,
    scope: &Scope<'_>,
    calls: Vec<Call>,
    receivers: &dyn Fn(Selector, MethodName) -> Vec<Receiver>,
) -> Vec<ExplainedCall> {
    let wanted = |it: &MethodName| scope.target.is_none_or(|wants| wants(it));
    let mut acc = Vec::new();
    for call in calls {
        let spot = spot(sources, scope.method, call.instr);
        let named = call.targets.iter().chain(&call.possible);
        let goes = scope.target.is_none() || named.clone().any(wanted);
        if !goes || scope.pc.is_some() && spot.pc != scope.pc {
            continue;
        }
        let targets = named.filter(|it| wanted(it)).map(|&target| ExplainedTarget {
            method: target,
            possible: !call.targets.contains(&target),
            receivers: Selector::of(&call).map_or_else(Vec::new, |it| receivers(it, target)),
        });
        acc.push(ExplainedCall { spot, targets: targets.collect(), call });
    }
    acc
}

fn explained(sources: &mut dyn Sources, at: Spot, way: Way) -> ExplainedException {
    let mut chain = Vec::with_capacity(way.steps.len());
    for it in way.steps {
        let method = match it.step {
            Step::Method(method) | Step::Rethrown(method) => Some(method),
            Step::Raised(Origin::NativeRow(method) | Origin::Signature(method)) => Some(method),
            _ => None,
        };
        let spot = match (it.instr, method) {
            (Some((method, instr)), _) => Some(spot(sources, method, Some(instr))),
            (None, Some(method)) => Some(spot(sources, method, None)),
            (None, None) => None,
        };
        chain.push(Fact { step: it.step, spot });
    }
    ExplainedException { spot: at, what: way.what, within: way.within, except: way.except, chain }
}

fn spot(sources: &mut dyn Sources, method: MethodName, instr: Option<InstrId>) -> Spot {
    let place = sources.place(method);
    let (mut pc, mut line, mut text) = (None, None, None);
    if let Some((instr, it)) = instr.zip(sources.code(method)) {
        pc = it.positions.pc(instr);
        line = it.positions.line(instr);
        text = Some(print::instr(&it.code.body, instr));
    }
    Spot { method, place, pc, line, text }
}
