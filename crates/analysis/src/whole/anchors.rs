//! Solves a program for answers that set calls on unknown objects apart ([`super::apart`]).
//!
//! Inclusions of cut nodes become constants, so the values and anchors are the least solutions of two smaller systems. Let
//! the flat value of a node be the least solution of: its value, and for each of its anchors the function of the flat value
//! of the cut node. It equals the value of the node in the uncut system, because transfer functions distribute over joins:
//! each path of inclusions is split at its first cut node (debug builds compare the two).

use std::sync::Arc;

use flow::fuel::{Cancelled, Fuel, uncancelled};
use flow::solver::{FunctionId, Lattice, NodeId, System, solve_cancellable};
use program::initialization::may_fail;
use program::input::Role;
use rustc_hash::{FxHashMap, FxHashSet};

use super::apart::{Anchors, AnchorsId, Apart, NO_ANCHORS};
use super::lattice::{Exceptions, Value};
use super::nearness::Nearness;
use super::nodes::Nodes;
use super::sites::{DispatchId, Node};
use super::solved::SolvedProgram;
use super::tables::CallTable;

/// Prepares answers that set apart what calls on unknown objects let out, for the methods of the program itself. The
/// program must not change after that.
pub fn set_apart(program: &mut SolvedProgram, exceptions: &mut Exceptions) {
    let hierarchy = &program.calls.classes.hierarchy;
    let is_wanted = |it| matches!(it, Node::Method(it) if hierarchy.role(it.class) == Role::App);
    let found = apart_for(program, is_wanted, exceptions);
    debug_assert!(
        is_flat(program, exceptions),
        "the flat values of answers must be the values of the whole system"
    );
    program.apart = Some(Box::new(found));
}

fn apart_for(
    program: &SolvedProgram,
    is_wanted: impl Fn(Node) -> bool,
    exceptions: &mut Exceptions,
) -> Apart {
    let (calls, nodes) = (&program.calls, &program.nodes);
    uncancelled(|fuel| apart((calls, nodes), |it| program.inclusions(it), is_wanted, exceptions, fuel))
}

/// Returns whether the flat values of all nodes are their values in the whole system.
fn is_flat(program: &SolvedProgram, exceptions: &mut Exceptions) -> bool {
    let all = apart_for(program, |_| true, exceptions);
    let flat = uncancelled(|fuel| flat(&all, exceptions, fuel));
    let nodes = (0..program.nodes.len()).map(NodeId::from_index);
    nodes.zip(flat).all(|(node, flat)| program.value_of(node) == flat)
}

/// Solves the smaller systems of a program. `inclusions` returns the inclusions of each of the `nodes`. Anchors are found
/// for the nodes that `is_wanted` accepts, and for those on which they depend.
///
/// # Errors
/// When the work is cancelled.
fn apart<'a>(
    (calls, nodes): (&CallTable, &Nodes),
    inclusions: impl Fn(NodeId) -> (Value, &'a [(NodeId, FunctionId)]),
    is_wanted: impl Fn(Node) -> bool,
    exceptions: &mut Exceptions,
    fuel: &mut Fuel<'_>,
) -> Result<Apart, Cancelled> {
    let n = nodes.len();
    let all = || (0..n).map(NodeId::from_index);
    let mut is_cut_node = vec![false; n];
    for node in all() {
        fuel.spend(1)?;
        is_cut_node[node.index()] = is_cut(calls, nodes.node(node));
    }
    let mut system = System { values: Vec::with_capacity(n), starts: vec![0], edges: Vec::new() };
    for node in all() {
        let (value, edges) = inclusions(node);
        fuel.spend(2 + edges.len() as u32)?;
        system.edges.extend(edges.iter().filter(|it| !is_cut_node[it.0.index()]));
        system.values.push(value);
        system.starts.push(system.edges.len() as u32);
    }
    let solution = solve_cancellable(&system, exceptions, fuel)?;
    // The anchors of a node depend on those of the nodes that it includes.
    let mut queue: Vec<NodeId> = all().filter(|it| is_wanted(nodes.node(*it))).collect();
    let mut is_used = vec![false; n];
    queue.iter().for_each(|it| is_used[it.index()] = true);
    while let Some(node) = queue.pop() {
        for &(of, _) in system.edges_of(node) {
            fuel.spend(1)?;
            if !std::mem::replace(&mut is_used[of.index()], true) {
                queue.push(of);
            }
        }
    }
    let mut sets = Sets::new(exceptions);
    let mut anchored = System { values: Vec::with_capacity(n), starts: vec![0], edges: Vec::new() };
    for node in all() {
        fuel.spend(1)?;
        let mut own = NO_ANCHORS;
        if is_used[node.index()] {
            own = sets.of(inclusions(node).1.iter().copied().filter(|it| is_cut_node[it.0.index()]));
            anchored.edges.extend(system.edges_of(node));
        }
        anchored.values.push(own);
        anchored.starts.push(anchored.edges.len() as u32);
    }
    let anchors = solve_cancellable(&anchored, &mut sets, fuel)?;
    let sets = sets.sets;
    Ok(Apart { system, solution, anchors, sets, has_anchors: is_used, nearness: Nearness::default() })
}

/// Returns the flat values of all nodes, by node id. The anchors of all nodes must have been found.
///
/// # Errors
/// When the work is cancelled.
fn flat(apart: &Apart, exceptions: &mut Exceptions, fuel: &mut Fuel<'_>) -> Result<Vec<Value>, Cancelled> {
    let n = apart.system.values.len();
    let nodes = || (0..n).map(NodeId::from_index);
    let mut system = System { values: Vec::with_capacity(n), starts: vec![0], edges: Vec::new() };
    for node in nodes() {
        system.values.push(apart.value(node));
        system.edges.extend(apart.anchors(node).into_iter().flatten());
        system.starts.push(system.edges.len() as u32);
    }
    let flat = solve_cancellable(&system, exceptions, fuel)?;
    Ok(nodes().map(|it| flat.value(it)).collect())
}

/// Returns whether inclusions of the node are cut: what a call on an object of unknown class lets out, and what an
/// initialiser lets out. A dispatch is cut if its calls may run several methods or unknown ones.
fn is_cut(calls: &CallTable, node: Node) -> bool {
    match node {
        Node::Dispatch(it) => is_cut_dispatch(calls, it),
        Node::Initializer(it) => may_fail(&calls.classes.hierarchy, it),
        Node::Method(_)
        | Node::Glue(_)
        | Node::Handler(..)
        | Node::Context(..)
        | Node::ContextHandler(..)
        | Node::Loading => false,
    }
}

fn is_cut_dispatch(calls: &CallTable, id: DispatchId) -> bool {
    let it = calls.dispatches.get(id);
    let n = it.targets.len() + it.possible.len() + usize::from(it.handlers.is_some());
    it.open.is_some() || n > 1
}

/// The lattice of sets of anchors.
struct Sets<'a> {
    exceptions: &'a mut Exceptions,
    sets: Vec<Anchors>,
    ids: FxHashMap<Anchors, AnchorsId>,
    joined: FxHashMap<(AnchorsId, AnchorsId), AnchorsId>,
    applied: FxHashMap<(FunctionId, AnchorsId), AnchorsId>,
}

impl<'a> Sets<'a> {
    fn new(exceptions: &'a mut Exceptions) -> Self {
        let mut acc = Sets {
            exceptions,
            sets: Vec::new(),
            ids: FxHashMap::default(),
            joined: FxHashMap::default(),
            applied: FxHashMap::default(),
        };
        acc.id(&[]);
        acc
    }

    fn id(&mut self, set: &[(NodeId, FunctionId)]) -> AnchorsId {
        if let Some(&it) = self.ids.get(set) {
            return it;
        }
        let id = AnchorsId(self.sets.len() as u32);
        let set: Anchors = set.into();
        self.sets.push(Arc::clone(&set));
        self.ids.insert(set, id);
        id
    }

    fn set(&self, id: AnchorsId) -> &Anchors {
        &self.sets[id.0 as usize]
    }

    /// Returns the set with these anchors, in which a node may occur several times.
    fn of(&mut self, anchors: impl Iterator<Item = (NodeId, FunctionId)>) -> AnchorsId {
        let mut acc: FxHashMap<NodeId, FunctionId> = FxHashMap::default();
        for (node, function) in anchors {
            let exceptions = &mut *self.exceptions;
            acc.entry(node).and_modify(|it| *it = exceptions.either(*it, function)).or_insert(function);
        }
        let mut acc: Vec<_> = acc.into_iter().collect();
        acc.sort_unstable_by_key(|it| it.0);
        self.id(&acc)
    }
}

impl Lattice for Sets<'_> {
    type Value = AnchorsId;

    fn bottom(&self) -> AnchorsId {
        NO_ANCHORS
    }

    fn join(&mut self, a: AnchorsId, b: AnchorsId) -> AnchorsId {
        if a == b || b == NO_ANCHORS {
            return a;
        }
        if a == NO_ANCHORS {
            return b;
        }
        let key = if a.0 < b.0 { (a, b) } else { (b, a) };
        if let Some(&it) = self.joined.get(&key) {
            return it;
        }
        let (left, right) = (self.set(a).clone(), self.set(b).clone());
        let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
        let mut acc = Vec::new();
        loop {
            acc.push(match (left.peek().copied(), right.peek().copied()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    left.next();
                    right.next();
                    (x.0, self.exceptions.either(x.1, y.1))
                }
                (Some(x), Some(y)) if x.0 > y.0 => {
                    right.next();
                    y
                }
                (Some(x), _) => {
                    left.next();
                    x
                }
                (None, Some(y)) => {
                    right.next();
                    y
                }
                (None, None) => break,
            });
        }
        let id = self.id(&acc);
        self.joined.insert(key, id);
        id
    }

    fn join_all(&mut self, elements: &[AnchorsId]) -> AnchorsId {
        let distinct: FxHashSet<AnchorsId> =
            elements.iter().copied().filter(|it| *it != NO_ANCHORS).collect();
        let mut distinct: Vec<AnchorsId> = distinct.into_iter().collect();
        distinct.sort_unstable();
        match distinct[..] {
            [] => NO_ANCHORS,
            [it] => it,
            [a, b] => self.join(a, b),
            _ => {
                let all: Vec<_> = distinct.iter().flat_map(|it| self.set(*it).iter().copied()).collect();
                self.of(all.into_iter())
            }
        }
    }

    fn apply(&mut self, function: FunctionId, a: AnchorsId) -> AnchorsId {
        if a == NO_ANCHORS || function == FunctionId::IDENTITY {
            return a;
        }
        if let Some(&it) = self.applied.get(&(function, a)) {
            return it;
        }
        let before = self.set(a).clone();
        let mut acc = Vec::with_capacity(before.len());
        for &(node, first) in &*before {
            let both = self.exceptions.composed(first, function);
            if !self.exceptions.is_void(both) {
                acc.push((node, both));
            }
        }
        let id = self.id(&acc);
        self.applied.insert((function, a), id);
        id
    }
}
