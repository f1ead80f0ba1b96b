//! Updates the solution of a program after changes: recomputes the inclusions of stale nodes, then the solution.
//! Records what changed, for clients that keep answers.

use std::cmp::Reverse;
use std::sync::Arc;

use flow::distances::Moved;
use flow::fuel::{Cancelled, Fuel};
use flow::solver::NodeId;
use program::members::MethodId;

use super::index::{EditIndex, Stale};
use crate::whole::lattice::{Exceptions, Inclusions, Value};
use crate::whole::reads::{Read, Touched};
use crate::whole::sites::{Key, Node};
use crate::whole::solved::{Level, SolvedProgram};
use crate::whole::system::{cost_of_method, cost_of_node, inclusions};

/// The approximate cost of one batch of methods whose inclusions are computed together, in steps of [`Fuel`].
const BATCH_COST: u32 = 2_048;

/// Recomputes the inclusions of the stale nodes, and then the solution. Records in `touched` which parts of the
/// program changed.
///
/// # Errors
/// When the work is cancelled. Nodes whose inclusions were already recomputed are no longer stale.
pub(super) fn solve_again(
    program: &mut SolvedProgram,
    ex: &mut Exceptions,
    (index, stale): (&mut EditIndex, &mut Stale),
    touched: &mut Touched,
    fuel: &mut Fuel<'_>,
) -> Result<(), Cancelled> {
    let function = |it: &Node| match *it {
        Node::Glue(it) => Some(Read::Function(it)),
        Node::Method(_) | Node::Initializer(_) | Node::Dispatch(_) | Node::Handler(..) => None,
        Node::Context(..) | Node::ContextHandler(..) | Node::Loading => None,
    };
    touched.reads.extend(stale.nodes.iter().chain(&stale.gone).filter_map(function));
    add_nodes(program, stale);
    for node in std::mem::take(&mut stale.gone) {
        if let Some(node) = program.nodes.find(node) {
            include(program, stale, (node, (Value::NOTHING, Vec::new())));
        }
    }
    include_methods(program, ex, (index, stale), fuel)?;
    let mut nodes: Vec<Node> = std::mem::take(&mut stale.nodes).into_iter().collect();
    nodes.sort_by_cached_key(|it| Reverse(program.nodes.id(*it)));
    while let Some(node) = nodes.pop() {
        if let Err(cancelled) = fuel.spend(cost_of_node(&program.calls, node)) {
            stale.nodes.extend(nodes);
            stale.nodes.insert(node);
            return Err(cancelled);
        }
        let wanted: Vec<Node> = match node {
            Node::Context(id, key) => context_nodes(program, id, key).collect(),
            // The handlers are computed with the context.
            Node::ContextHandler(..) => continue,
            it => vec![it],
        };
        let new = include_all(program, ex, (index, stale), (&[], &wanted));
        nodes.extend(new);
    }
    let Some(following) = program.parts().2 else { return Ok(()) };
    following.solver.solve(ex, &mut || fuel.is_cancelled())?;
    let changed = following.solver.take_changed();
    touched.values += changed.len();
    touched.reads.extend(changed.iter().copied().map(Read::Value));
    let included = std::mem::take(&mut stale.included);
    let moved = program.follow_distances(included.keys().copied().chain(changed));
    for (node, before) in included {
        touch_inclusions(program, touched, node, &before, &moved);
    }
    let Some(following) = program.following() else { return Ok(()) };
    let nearness = program.nearness(Level::All);
    for &node in moved.keys() {
        touched.reads.insert(Read::Nearest(node));
        for user in following.solver.users(node) {
            touched.reads.insert(Read::Ways(user));
            if nearness.was_step(&moved, user, node) || nearness.is_step(user, node) {
                touched.reads.insert(Read::Nearest(user));
            }
        }
    }
    Ok(())
}

/// Adds to the system of inclusions the stale nodes that it does not contain yet. A node needs an id before another
/// node can include it.
fn add_nodes(program: &mut SolvedProgram, stale: &Stale) {
    let mut methods: Vec<Node> = stale.methods.iter().flat_map(|it| nodes_of(program, *it)).collect();
    for it in &stale.nodes {
        if let Node::Context(id, key) = *it {
            methods.extend(context_nodes(program, id, key));
        }
    }
    let (_, nodes, following) = program.parts();
    stale.nodes.iter().copied().chain(methods).for_each(|it| _ = nodes.add(it));
    if let Some(it) = following {
        while it.solver.n_nodes() < nodes.len() {
            it.solver.add();
        }
    }
}

/// Records in `touched` how the inclusions of a node changed. `before` are the node's previous inclusions. `moved`
/// are the nodes whose distance to the nearest node where exceptions of unknown code arise changed, with their
/// previous distances.
fn touch_inclusions(
    program: &SolvedProgram,
    touched: &mut Touched,
    node: NodeId,
    before: &Inclusions,
    moved: &Moved,
) {
    let now = program.inclusions(node);
    if before.0 == now.0 && before.1 == now.1 {
        return;
    }
    let nearness = program.nearness(Level::All);
    let nearest_before = before.1.iter().filter(|it| nearness.was_step(moved, node, it.0));
    let is_nearest_other = nearest_before.ne(now.1.iter().filter(|it| nearness.is_step(node, it.0)));
    touched.reads.extend((before.0 != now.0).then_some(Read::Own(node)));
    touched.reads.extend((before.1 != now.1).then_some(Read::Ways(node)));
    touched.reads.extend(is_nearest_other.then_some(Read::Nearest(node)));
}

/// Recomputes the inclusions of the stale methods and of their rethrowing handlers, in batches.
fn include_methods(
    program: &mut SolvedProgram,
    ex: &mut Exceptions,
    (index, stale): (&mut EditIndex, &mut Stale),
    fuel: &mut Fuel<'_>,
) -> Result<(), Cancelled> {
    let hierarchy = Arc::clone(&program.calls.classes.hierarchy);
    let mut left: Vec<MethodId> = std::mem::take(&mut stale.methods).into_iter().collect();
    // The nodes of methods whose classes were removed in the meantime are in `gone`.
    left.retain(|it| !hierarchy.is_vacant(it.class));
    left.sort_unstable_by_key(|it| Reverse((it.class, it.index)));
    while !left.is_empty() {
        let (mut cost, mut methods, mut nodes) = (0, Vec::new(), Vec::new());
        while cost < BATCH_COST
            && let Some(it) = left.pop()
        {
            cost += cost_of_method(&program.calls.classes, it);
            nodes.extend(nodes_of(program, it));
            methods.push(it);
        }
        if let Err(cancelled) = fuel.spend(cost) {
            stale.methods.extend(left.into_iter().chain(methods));
            return Err(cancelled);
        }
        let new = include_all(program, ex, (index, stale), (&methods, &nodes));
        stale.nodes.extend(new);
    }
    Ok(())
}

/// Recomputes the inclusions of the nodes `wanted`; for `methods`, see [`inclusions`]. Returns the nodes of contexts that
/// these inclusions name for the first time.
fn include_all(
    program: &mut SolvedProgram,
    ex: &mut Exceptions,
    (index, stale): (&mut EditIndex, &mut Stale),
    (methods, wanted): (&[MethodId], &[Node]),
) -> Vec<Node> {
    let (calls, nodes, following) = program.parts();
    let (found, new) = inclusions(calls, nodes, ex, (methods, wanted));
    if let Some(it) = following {
        while it.solver.n_nodes() < nodes.len() {
            it.solver.add();
        }
    }
    for it in &new {
        if let Node::Context(id, key) = *it {
            index.context(&calls.functions, id, key);
        }
    }
    found.into_iter().for_each(|it| include(program, stale, it));
    new
}

/// Returns the nodes of a context: that of the method, and those of its handlers that throw the caught exception again.
fn context_nodes(program: &SolvedProgram, id: MethodId, key: Key) -> impl Iterator<Item = Node> + use<> {
    let handlers = program.calls.classes.code(id).map_or(0, |it| it.summary.rethrowing.len() as u32);
    std::iter::once(Node::Context(id, key))
        .chain((0..handlers).map(move |it| Node::ContextHandler(id, key, it)))
}

/// Returns the node of a method, and the nodes of its handlers that throw the caught exception again.
fn nodes_of(program: &SolvedProgram, id: MethodId) -> impl Iterator<Item = Node> + use<> {
    let handlers = program.calls.classes.code(id).map_or(0, |it| it.summary.rethrowing.len() as u32);
    std::iter::once(Node::Method(id)).chain((0..handlers).map(move |it| Node::Handler(id, it)))
}

/// Replaces the inclusions of a node. If the previous inclusions of the node are not in `stale` yet, stores them
/// there.
fn include(program: &mut SolvedProgram, stale: &mut Stale, (node, inclusions): (NodeId, Inclusions)) {
    stale.included.entry(node).or_insert_with(|| {
        let (value, edges) = program.inclusions(node);
        (value, edges.to_vec())
    });
    let Some(following) = program.parts().2 else { return };
    following.solver.update(node, inclusions.0, inclusions.1.iter().copied());
    following.changed.insert(node, inclusions);
}
