//! The chain of facts behind an answer, each with its place.

use std::sync::Arc;

use analysis::definitions::PlacedCode;
use analysis::names::{MethodId, Text};
use analysis::parts::MethodCode;
use analysis::reasons::instrs_at;
use analysis::whole::answers::{Call, Origin, Step};
use analysis::whole::explain::{Bodies, Way};
use analysis::whole::receivers::{Receiver, Selector};
use bir::body::InstrId;
use bir::print;
use flow::universe::Part;

use crate::whole::{Whole, WorkerSets};

/// Where something stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// The method.
    pub method: MethodId,
    /// Its class file, if that was found.
    pub place: Option<String>,
    /// Offset of the bytecode instruction; none for a method as a whole.
    pub pc: Option<u16>,
    /// Its source line, if there is debug data.
    pub line: Option<u16>,
    /// The instruction, in stackless form.
    pub text: Option<String>,
}

/// A fact of a chain.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fact {
    /// What it is.
    pub step: Step,
    /// Where, if it is about the code of a method.
    pub spot: Option<Spot>,
}

/// Why something comes out of a method, or of an instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExplainedException {
    /// Where it comes out.
    pub spot: Spot,
    /// What; none for the open part.
    pub what: Option<Part>,
    /// The classes and cones that the open part is within.
    pub within: Vec<Part>,
    /// The classes and cones that cannot be among it.
    pub except: Vec<Part>,
    /// The way from there to where it arises.
    pub chain: Vec<Fact>,
}

/// Why a call goes where it goes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExplainedCall {
    /// Where the call is.
    pub spot: Spot,
    /// The call.
    pub call: Call,
    /// The targets that were asked for.
    pub targets: Vec<ExplainedTarget>,
}

/// Why a call goes to a method.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExplainedTarget {
    /// The method.
    pub method: MethodId,
    /// Whether it goes there only if an absent class lies between.
    pub possible: bool,
    /// Receivers that select it, with their chains of supertypes. None of a call that is not virtual.
    pub receivers: Vec<Receiver>,
}

/// An explanation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Explanation {
    /// Why something comes out.
    Exception(ExplainedException),
    /// Why a call goes where it goes.
    Call(ExplainedCall),
    /// The method is not reached from the entry points.
    Unreached(MethodId),
}

/// What is asked of a method.
pub struct Scope<'a> {
    /// The method.
    pub method: MethodId,
    /// Only the instructions at this pc.
    pub pc: Option<u16>,
    /// Only exceptions of this class and its subclasses.
    pub exception: Option<Text>,
    /// Only calls that go to one of these.
    pub target: Option<&'a dyn Fn(&MethodId) -> bool>,
    /// At most this many receivers of a target.
    pub receivers: usize,
}

/// Gives the code of single methods.
pub trait Sources {
    /// The code of a method, if its class can be read.
    fn code(&mut self, method: MethodId) -> Option<PlacedCode>;

    /// Where its class file is.
    fn place(&self, method: MethodId) -> Option<String>;
}

impl Scope<'_> {
    /// Whether calls are explained: where only those to some methods are asked for, and of an instruction, unless an
    /// exception is asked for.
    pub(crate) fn explains_calls(&self) -> bool {
        self.target.is_some() || self.pc.is_some() && self.exception.is_none()
    }

    /// Whether exceptions are explained: unless only calls are asked for.
    pub(crate) fn explains_exceptions(&self) -> bool {
        self.target.is_none()
    }
}

impl Explanation {
    /// The method that it is about.
    pub fn method(&self) -> MethodId {
        match self {
            Explanation::Exception(it) => it.spot.method,
            Explanation::Call(it) => it.spot.method,
            Explanation::Unreached(it) => *it,
        }
    }

    /// The same without the numbers that change when code moves: pcs, lines and places of class files, and what `text` leaves
    /// out of instructions.
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
        }
    }
}

struct Code<'a>(&'a mut dyn Sources);

impl Bodies for Code<'_> {
    fn code(&mut self, method: MethodId) -> Option<Arc<MethodCode>> {
        self.0.code(method).map(|it| it.code)
    }
}

impl Whole {
    /// Why a method lets out what it does; with a pc, why the instructions there raise what they do, before the handlers
    /// around them. Nothing of a method that is not in the program.
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

    /// Why the calls of a method go where they go.
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

/// Why a method lets out what it does, or an instruction of it, by ways that are known.
pub(crate) fn ways_explained(
    sources: &mut dyn Sources,
    method: MethodId,
    at: Option<InstrId>,
    ways: Vec<Way>,
) -> Vec<ExplainedException> {
    let spot = spot(sources, method, at);
    ways.into_iter().map(|it| explained(sources, spot.clone(), it)).collect()
}

/// The calls of a method that are in scope; `receivers` gives the objects that select a target.
pub(crate) fn calls_explained(
    sources: &mut dyn Sources,
    scope: &Scope<'_>,
    calls: Vec<Call>,
    receivers: &dyn Fn(Selector, MethodId) -> Vec<Receiver>,
) -> Vec<ExplainedCall> {
    let wanted = |it: &MethodId| scope.target.is_none_or(|wants| wants(it));
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

fn spot(sources: &mut dyn Sources, method: MethodId, instr: Option<InstrId>) -> Spot {
    let place = sources.place(method);
    let (mut pc, mut line, mut text) = (None, None, None);
    if let Some((instr, it)) = instr.zip(sources.code(method)) {
        pc = it.positions.pc(instr);
        line = it.positions.line(instr);
        text = Some(print::instr(&it.code.body, instr));
    }
    Spot { method, place, pc, line, text }
}
