//! Finds the shortest path from a node of the system of inclusions to an origin: a node where an exception that the
//! first node lets out arises.

use std::cmp::Ordering;

use flow::distances::NEVER;
use flow::solver::NodeId;
use flow::universe::SetId;
use program::members::MethodId;
use rustc_hash::FxHashSet;

use super::answers::Step;
use super::lattice::Exceptions;
use super::origin::steps;
use super::reads::{Read, note, unnoted};
use super::sites::Node;
use super::solved::{Level, SolvedProgram};

/// The maximum number of searches with a limit on the length of the path. If none of them finds a path, a last search
/// without a limit follows.
const MAX_BOUNDS: usize = 8;

/// The result of one search for a path to an origin of an exception.
enum Search {
    /// A path was found: the nodes of the shortest one, and the part of the sought set that arises at the last node.
    Found(Vec<Node>, SetId),
    /// No path is within the bound on the length. The number is a lower bound on the lengths of all paths.
    Longer(u32),
    /// No path leads from the start to an origin of a sought exception.
    None,
}

/// Returns the steps of the shortest path from a method to an origin of an exception in `set`. If `open` is true, the
/// path follows the open parts of the nodes' values, otherwise the known parts. The path follows inclusions of `level`.
pub(super) fn because(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    id: MethodId,
    set: SetId,
    (level, open): (Level, bool),
) -> Vec<Step> {
    let (path, want) = path(program, ex, Node::Method(id), set, (level, open));
    steps(program, ex, &path, want, open)
}

/// Returns the nodes of the shortest path from the node `from` to an origin of an exception in `set`, and the part of
/// the set that arises at the last node. If there is no path, returns an empty list and `set`. If `open` is true, the
/// path follows the open parts of the nodes' values, otherwise the known parts. Of several shortest paths, returns
/// the first: paths are compared by the order of their nodes in the code or, where the code gives no order, by text.
pub(super) fn path(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    from: Node,
    set: SetId,
    (level, open): (Level, bool),
) -> (Vec<Node>, SetId) {
    let start = program.nodes.id(from);
    let n_nodes = program.nodes.len();
    let value_of = |it| unnoted(|| program.value_at(level, it));
    let inclusions = |it| program.inclusions_at(level, it);
    let distances = program.nearness(level).distances(open, value_of, inclusions, n_nodes);
    let mut bound = distances.and_then(|it| Some((it, *it.get(start.index())?)));
    // The shortest path is usually as long as the distance to the nearest origin. If it is longer, larger bounds are
    // tried.
    for _ in 0..MAX_BOUNDS {
        match path_within(program, ex, (start, set), (level, open), bound) {
            Search::Found(nodes, want) => return (nodes, want),
            Search::Longer(limit) => bound = bound.map(|it| (it.0, limit)),
            Search::None => return (Vec::new(), set),
        }
    }
    match path_within(program, ex, (start, set), (level, open), None) {
        Search::Found(nodes, want) => (nodes, want),
        _ => (Vec::new(), set),
    }
}

/// Searches for the shortest path from the node of `start` to an origin of an exception in the set of `start`.
/// `bound` consists of the distance of each node to the nearest origin, and the maximum length of the path: nodes
/// that are too far from every origin are skipped. If `bound` is `None`, no node is skipped.
fn path_within(
    program: &SolvedProgram,
    ex: &mut Exceptions,
    start: (NodeId, SetId),
    (level, open): (Level, bool),
    bound: Option<(&[u32], u32)>,
) -> Search {
    let arises = |ex: &Exceptions, node: NodeId, want: SetId| {
        note(Read::Own(node));
        ex.universe.overlaps(program.inclusions_at(level, node).0.half(open), want)
    };
    note(Read::Nearest(start.0));
    if arises(ex, start.0, start.1) {
        return Search::Found(vec![program.nodes.node(start.0)], start.1);
    }
    let mut seen = FxHashSet::default();
    seen.insert(start);
    // Each entry of the queue: the node, the part of the set that is sought at the node, the index of the preceding
    // entry on the path, and the number of inclusions from the start.
    let mut queue = vec![(start.0, start.1, usize::MAX, 0u32)];
    let mut next = Vec::new();
    let mut longer = NEVER;
    let mut at = 0;
    while let Some(&(node, want, _, length)) = queue.get(at) {
        let is_unordered = is_unordered(program, node);
        // No node in the queue is an origin, so the first origin that is found is nearest to the start.
        let mut found = None;
        // If true, all inclusions within the bound lead to nearest origins, and the answer depends on no other
        // inclusions.
        let is_nearest = bound.is_some_and(|(distances, limit)| {
            open && distances.get(node.index()).is_some_and(|it| it.saturating_add(length) == limit)
        });
        note(if is_nearest { Read::Nearest(node) } else { Read::Ways(node) });
        for &(of, function) in program.inclusions_at(level, node).1 {
            if let Some((distances, limit)) = bound {
                let least = distances.get(of.index()).map_or(0, |it| it.saturating_add(length + 1));
                if least > limit {
                    longer = longer.min(least);
                    continue;
                }
            }
            let there = program.value_at(level, of).half(open);
            if there == SetId::EMPTY {
                continue;
            }
            let wanted = ex.needed(function, want);
            let wanted = ex.universe.meet(wanted, there);
            if ex.universe.is_nothing(wanted) || !seen.insert((of, wanted)) {
                continue;
            }
            if arises(ex, of, wanted) {
                let is_before = |it: &(NodeId, SetId)| by_text(program, of, it.0) == Ordering::Less;
                if found.as_ref().is_none_or(is_before) {
                    found = Some((of, wanted));
                }
                if !is_unordered {
                    break;
                }
            }
            next.push((of, wanted, at, length + 1));
        }
        if let Some((last, want)) = found {
            program.nearness(level).looked_at(queue.len());
            let mut nodes = vec![program.nodes.node(last)];
            while let Some(&(node, _, from, _)) = queue.get(at) {
                nodes.push(program.nodes.node(node));
                at = from;
            }
            nodes.reverse();
            return Search::Found(nodes, want);
        }
        if next.len() > 1 && is_unordered {
            next.sort_by(|a, b| by_text(program, a.0, b.0));
        }
        queue.append(&mut next);
        at += 1;
    }
    program.nearness(level).looked_at(queue.len());
    if longer == NEVER { Search::None } else { Search::Longer(longer) }
}

/// Returns whether the inclusions of a node are in the order of ids, which depends on how the program was built,
/// instead of the order of code.
fn is_unordered(program: &SolvedProgram, node: NodeId) -> bool {
    matches!(program.nodes.node(node), Node::Dispatch(_) | Node::Initializer(_) | Node::Loading)
}

/// Compares by text two nodes whose values are included in the value of the same node. The ids of classes give no
/// order, because they depend on how the program was built.
fn by_text(program: &SolvedProgram, a: NodeId, b: NodeId) -> Ordering {
    let place = |it: NodeId| match program.nodes.node(it) {
        Node::Dispatch(_) | Node::Loading => None,
        Node::Initializer(it) => Some((it, 0, 0)),
        Node::Method(it) | Node::Handler(it, _) | Node::Context(it, _) | Node::ContextHandler(it, _, _) => {
            Some((it.class, it.index, 0))
        }
        Node::Glue(it) => {
            let site = &program.calls.functions[it.index()];
            Some((site.owner.class, site.owner.index, 1 + site.site))
        }
    };
    match (place(a), place(b)) {
        (Some(a), Some(b)) => {
            let members = (a.1, a.2).cmp(&(b.1, b.2));
            if a.0 == b.0 {
                members
            } else {
                program.calls.ranks.compare(&program.calls.classes.hierarchy, a.0, b.0).then(members)
            }
        }
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}
