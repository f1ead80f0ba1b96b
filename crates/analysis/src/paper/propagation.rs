//! The inter-procedural analysis: the exceptions that each method propagates, as the least fixed point behind N.

use classfile::names::{ClassName, MethodRef};
use flow::throwables::well_known;
use flow::universe::{SetId, Universe};
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::environment::{Callee, Definition, Environment};
use super::intra::{CoveredRaise, Raises};

/// The exceptions that each method with available code propagates. In the notation of the paper, the exceptions of
/// method n are {x | •^{pc,x,r} ∈ G(n)}.
#[derive(Clone, Default)]
pub struct Propagated {
    sets: FxHashMap<MethodId, SetId>,
}

/// A source of exceptions in a method: a call or another instruction that may raise. The method lets out those
/// exceptions of the source that the exception-table rows covering it do not catch.
struct Flow {
    /// The exceptions that the source raises itself, without those that called methods let out.
    own: SetId,
    /// The index of the call in `Solving::calls` if the source is a call; `None` otherwise.
    call: Option<usize>,
    /// The exceptions that the rows covering the source catch.
    caught: SetId,
}

/// All calls with the same method reference and the same kind (virtual or not).
struct Call {
    /// The exceptions that the calls let out, as far as they have been computed.
    set: SetId,
    /// The methods that contain a call with this reference and kind.
    callers: Vec<MethodId>,
}

/// Computes the exceptions that each method with available code propagates, as a least fixed point.
pub fn propagated(env: &Environment, universe: &mut Universe) -> Propagated {
    let mut solving = Solving::default();
    let mut pending = Vec::new();
    for id in env.method_ids() {
        let Definition::Available(intra) = env.definition(id) else { continue };
        let flows = intra.items.iter().map(|it| solving.flow(env, universe, id, it)).collect();
        solving.flows.insert(id, flows);
        pending.push(id);
    }
    let mut acc = Propagated::default();
    while let Some(id) = pending.pop() {
        let before = acc.of(id);
        let mut set = before;
        for flow in solving.flows.get(&id).into_iter().flatten() {
            let called = flow.call.map_or(SetId::EMPTY, |it| solving.calls[it].set);
            let raised = universe.join(flow.own, called);
            let left = universe.minus(raised, flow.caught);
            set = universe.join(set, left);
        }
        if set == before {
            continue;
        }
        acc.sets.insert(id, set);
        for &call in solving.calls_to.get(&id).into_iter().flatten() {
            let call = &mut solving.calls[call];
            let more = universe.join(call.set, set);
            if more != call.set {
                call.set = more;
                pending.extend(&call.callers);
            }
        }
    }
    acc
}

/// The state of the fixed-point iteration that computes which exceptions methods propagate.
#[derive(Default)]
struct Solving {
    flows: FxHashMap<MethodId, Vec<Flow>>,
    calls: Vec<Call>,
    numbers: FxHashMap<(bool, MethodRef), usize>,
    /// For each method with code, the indices in `Solving::calls` of the calls that may run the method.
    calls_to: FxHashMap<MethodId, Vec<usize>>,
}

impl Solving {
    fn flow(
        &mut self,
        env: &Environment,
        universe: &mut Universe,
        id: MethodId,
        item: &CoveredRaise,
    ) -> Flow {
        let (own, call) = match item.raises {
            Raises::Assertion(it) => (universe.exact(it), None),
            Raises::Throw(it) => (universe.cone(it), None),
            Raises::New(it) => {
                (universe.exact(well_known().null_pointer), Some(self.call(env, universe, id, false, it)))
            }
            Raises::Call(is_virtual, it) => {
                (SetId::EMPTY, Some(self.call(env, universe, id, is_virtual, it)))
            }
        };
        Flow { own, call, caught: caught(universe, &item.rows) }
    }

    fn call(
        &mut self,
        env: &Environment,
        universe: &mut Universe,
        caller: MethodId,
        is_virtual: bool,
        method: MethodRef,
    ) -> usize {
        let number = match self.numbers.get(&(is_virtual, method)) {
            Some(&it) => it,
            None => {
                let number = self.calls.len();
                self.numbers.insert((is_virtual, method), number);
                let mut set = SetId::EMPTY;
                for callee in env.mca(is_virtual, method) {
                    if let Some(id) = env.available(callee) {
                        self.calls_to.entry(id).or_default().push(number);
                    }
                    let declared = env.declared(universe, callee);
                    set = universe.join(set, declared);
                }
                self.calls.push(Call { set, callers: Vec::new() });
                number
            }
        };
        let callers = &mut self.calls[number].callers;
        if callers.last() != Some(&caller) {
            callers.push(caller);
        }
        number
    }
}

/// Returns the union of the exceptions that the rows catch; a row that is `None` catches everything.
fn caught(universe: &mut Universe, rows: &[Option<ClassName>]) -> SetId {
    let mut acc = SetId::EMPTY;
    for &row in rows {
        let mask = universe.masks(row).surely;
        acc = universe.join(acc, mask);
    }
    acc
}

impl Propagated {
    /// Returns the exceptions that a method with available code propagates.
    pub fn of(&self, id: MethodId) -> SetId {
        self.sets.get(&id).copied().unwrap_or(SetId::EMPTY)
    }

    /// Returns the exceptions that a call of `callee` propagates, according to the callee's code or its declaration.
    pub fn by(&self, env: &Environment, universe: &mut Universe, callee: Callee) -> SetId {
        env.available(callee).map_or_else(|| env.declared(universe, callee), |it| self.of(it))
    }
}
