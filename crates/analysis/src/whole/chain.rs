//! The shortest way from a node of the system to where something arises that it lets out.

use std::cmp::Ordering;

use flow::distances::NEVER;
use flow::solver::NodeId;
use flow::summary::Source;
use flow::universe::SetId;
use program::members::MethodId;
use rustc_hash::FxHashSet;

use super::answers::{Origin, Step, Why};
use super::flows::Flow;
use super::lattice::Exceptions;
use super::nodes::Node;
use super::program::{WholeProgram, load_class};
use super::reads::{Read, note, unnoted};
use crate::names::{MethodId as MethodName, Text};
use crate::summary::MethodSummary;

/// So often a search takes a wider bound, and then none.
const MAX_BOUNDS: usize = 8;

/// What a search comes to.
enum Search {
    /// The nodes of the shortest way, and what is wanted of the last.
    Found(Vec<Node>, SetId),
    /// None is as short as the bound; the next that may be is as long as this.
    Longer(u32),
    /// There is none.
    None,
}

impl WholeProgram {
    /// The shortest way from a method to where something of the set arises that it lets out.
    pub fn because(&self, ex: &mut Exceptions, id: MethodId, set: SetId, open: bool) -> Vec<Step> {
        let (path, want) = self.path(ex, Node::Method(id), set, open);
        self.steps(ex, &path, want, open)
    }

    /// The nodes of the shortest way from a node to where something of the set arises, and what of the set is wanted of
    /// the last. Of equally short ones the first by code and text.
    pub(super) fn path(&self, ex: &mut Exceptions, from: Node, set: SetId, open: bool) -> (Vec<Node>, SetId) {
        let start = self.nodes.id(from);
        let n_nodes = self.nodes.len();
        let value_of = |it| unnoted(|| self.value_of(it));
        let distances = self.nearness.distances(open, value_of, |it| self.inclusions(it), n_nodes);
        let mut bound = distances.and_then(|it| Some((it, *it.get(start.0 as usize)?)));
        // Most often the shortest way is as short as any to such a place. If not, longer ones are looked at.
        for _ in 0..MAX_BOUNDS {
            match self.path_within(ex, (start, set), open, bound) {
                Search::Found(nodes, want) => return (nodes, want),
                Search::Longer(limit) => bound = bound.map(|it| (it.0, limit)),
                Search::None => return (Vec::new(), set),
            }
        }
        match self.path_within(ex, (start, set), open, None) {
            Search::Found(nodes, want) => (nodes, want),
            _ => (Vec::new(), set),
        }
    }

    /// The same, where no way is longer than the bound says that goes with distances.
    fn path_within(
        &self,
        ex: &mut Exceptions,
        start: (NodeId, SetId),
        open: bool,
        bound: Option<(&[u32], u32)>,
    ) -> Search {
        let arises = |ex: &Exceptions, node: NodeId, want: SetId| {
            note(Read::Own(node));
            ex.universe.overlaps(self.inclusions(node).0.half(open), want)
        };
        note(Read::Nearest(start.0));
        if arises(ex, start.0, start.1) {
            return Search::Found(vec![self.nodes.node(start.0)], start.1);
        }
        let mut seen = FxHashSet::default();
        seen.insert(start);
        // Each entry: the node, what is wanted of it, the entry from which it was reached, and over how many inclusions.
        let mut queue = vec![(start.0, start.1, usize::MAX, 0u32)];
        let mut next = Vec::new();
        let mut longer = NEVER;
        let mut at = 0;
        while let Some(&(node, want, _, length)) = queue.get(at) {
            let is_unordered = self.is_unordered(node);
            // Nothing arises where one looked before: what is found first is the nearest, and of the nearest the first.
            let mut found = None;
            // All that is not farther than the bound says, is as near as anything that flows in.
            let is_nearest = bound.is_some_and(|(distances, limit)| {
                open && distances.get(node.0 as usize).is_some_and(|it| it.saturating_add(length) == limit)
            });
            note(if is_nearest { Read::Nearest(node) } else { Read::Ways(node) });
            for &(of, function) in self.inclusions(node).1 {
                if let Some((distances, limit)) = bound {
                    let least = distances.get(of.0 as usize).map_or(0, |it| it.saturating_add(length + 1));
                    if least > limit {
                        longer = longer.min(least);
                        continue;
                    }
                }
                let there = self.value_of(of).half(open);
                if there == SetId::EMPTY {
                    continue;
                }
                let wanted = ex.needed(function, want);
                let wanted = ex.universe.meet(wanted, there);
                if ex.universe.is_nothing(wanted) || !seen.insert((of, wanted)) {
                    continue;
                }
                if arises(ex, of, wanted) {
                    let is_before = |it: &(NodeId, SetId)| self.by_text(of, it.0) == Ordering::Less;
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
                self.nearness.looked_at(queue.len());
                let mut nodes = vec![self.nodes.node(last)];
                while let Some(&(node, _, from, _)) = queue.get(at) {
                    nodes.push(self.nodes.node(node));
                    at = from;
                }
                nodes.reverse();
                return Search::Found(nodes, want);
            }
            if next.len() > 1 && is_unordered {
                next.sort_by(|a, b| self.by_text(a.0, b.0));
            }
            queue.append(&mut next);
            at += 1;
        }
        self.nearness.looked_at(queue.len());
        if longer == NEVER { Search::None } else { Search::Longer(longer) }
    }

    /// Whether what flows into a node has the order of numbers, and not that of some code.
    fn is_unordered(&self, node: NodeId) -> bool {
        matches!(self.nodes.node(node), Node::Dispatch(_) | Node::Initializer(_) | Node::Loading)
    }

    /// The order of what flows into such nodes: the numbers of classes hang on how the program came to be.
    fn by_text(&self, a: NodeId, b: NodeId) -> Ordering {
        let place = |it: NodeId| match self.nodes.node(it) {
            Node::Dispatch(_) | Node::Loading => None,
            Node::Initializer(it) => Some((it, 0, 0)),
            Node::Method(it) | Node::Handler(it, _) | Node::Constructing(it, _) => {
                Some((it.class, it.index, 0))
            }
            Node::Glue(it) => {
                let site = &self.functions[it.0 as usize];
                Some((site.owner.class, site.owner.index, 1 + site.site))
            }
        };
        match (place(a), place(b)) {
            (Some(a), Some(b)) => {
                let members = (a.1, a.2).cmp(&(b.1, b.2));
                if a.0 == b.0 {
                    members
                } else {
                    self.ranks.compare(&self.program.hierarchy, a.0, b.0).then(members)
                }
            }
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }

    pub(super) fn steps(&self, ex: &mut Exceptions, path: &[Node], want: SetId, open: bool) -> Vec<Step> {
        let mut steps: Vec<Step> = path.iter().map(|&it| self.step(it)).collect();
        let end = match (open, path.last()) {
            (true, Some(&last)) => {
                let cause = self.open_cause(ex, last, want);
                cause.map_or(Step::Raised(Origin::Instruction), Step::Open)
            }
            (false, Some(&last)) => Step::Raised(self.origin(ex, last, want)),
            (_, None) => return steps,
        };
        steps.push(end);
        steps
    }

    fn step(&self, node: Node) -> Step {
        match node {
            Node::Method(it) => Step::Method(self.name(it)),
            Node::Dispatch(it) => Step::Dispatch(MethodName::of(self.dispatches.method(it))),
            Node::Initializer(it) => Step::Initializer(Text(self.program.hierarchy.name(it).bytes())),
            Node::Glue(it) => Step::Glue(Text(self.functions[it.0 as usize].function.interface.bytes())),
            Node::Handler(it, _) => Step::Rethrown(self.name(it)),
            Node::Constructing(it, _) => Step::Method(self.name(it)),
            Node::Loading => Step::Loading(MethodName::of(load_class())),
        }
    }

    /// Why a node is open of itself, as far as the set goes.
    fn open_cause(&self, ex: &mut Exceptions, node: Node, want: SetId) -> Option<Why> {
        match node {
            Node::Dispatch(it) => self.dispatches.cause(it).0.and_then(|it| self.why_call(it)),
            Node::Initializer(it) => {
                let outside = self.program.hierarchy.outside_above(it)?;
                Some(Why::Initializer(Text(outside.bytes())))
            }
            Node::Loading => {
                note(Read::Loading);
                self.loading.as_ref()?.open.and_then(|it| self.why_call(it))
            }
            Node::Glue(it) => {
                let flows = self.glue_flows(ex, it);
                self.open_flow(ex, &flows, want)
            }
            Node::Handler(id, _) | Node::Method(id) | Node::Constructing(id, _) => {
                if let Some((_, cause)) = self.unseen(ex, id) {
                    return self.why(cause);
                }
                let program = self.program.clone();
                match program.summary(id) {
                    MethodSummary::Known(code) => {
                        let exact = match node {
                            Node::Constructing(_, class) => Some(class),
                            _ => None,
                        };
                        for item in &code.summary.items {
                            let mut flows = Vec::new();
                            self.flows_of(ex, (id, exact), code, item.source, &mut flows);
                            if let Some(it) = self.open_flow(ex, &flows, want) {
                                return Some(it);
                            }
                        }
                        None
                    }
                    _ => {
                        let flows = self.native_flows(ex, id);
                        self.open_flow(ex, &flows, want)
                    }
                }
            }
        }
    }

    fn open_flow(&self, ex: &Exceptions, flows: &[Flow], want: SetId) -> Option<Why> {
        flows.iter().find_map(|it| match *it {
            Flow::Value(value, Some(cause)) | Flow::Wrapped(value, cause)
                if ex.universe.overlaps(value.open, want) =>
            {
                self.why(cause)
            }
            _ => None,
        })
    }

    /// What raises something of a known set that comes out of a node by itself.
    pub(super) fn origin(&self, ex: &mut Exceptions, node: Node, want: SetId) -> Origin {
        let (id, exact) = match node {
            Node::Dispatch(it) if self.dispatches.cause(it).1.is_empty() => return Origin::Conversion,
            Node::Dispatch(_) | Node::Initializer(_) | Node::Loading => return Origin::Linking,
            Node::Glue(_) => return Origin::Conversion,
            Node::Method(it) | Node::Handler(it, _) => (it, None),
            Node::Constructing(it, class) => (it, Some(class)),
        };
        let MethodSummary::Known(code) = self.program.summary(id) else {
            return Origin::NativeRow(self.name(id));
        };
        for item in &code.summary.items {
            let mut flows = Vec::new();
            self.flows_of(ex, (id, exact), code, item.source, &mut flows);
            for flow in flows {
                if let Flow::Value(value, _) | Flow::Wrapped(value, _) = flow
                    && ex.universe.overlaps(value.known, want)
                {
                    return origin_of(item.source);
                }
            }
        }
        let field_errors = code.summary.fields.iter().filter_map(|it| self.field_error(id.class, it.0, it.1));
        for error in field_errors {
            let value = self.link_error(ex, error);
            if ex.universe.overlaps(value.known, want) {
                return Origin::Linking;
            }
        }
        Origin::Vm
    }
}

/// What raises that which a source raises by itself.
pub(super) fn origin_of(source: Source) -> Origin {
    match source {
        Source::Exact(_) | Source::Cone(_) | Source::Caught(_) => Origin::Instruction,
        Source::Call(..)
        | Source::CallOnThis(..)
        | Source::Construct(_)
        | Source::Initialize(_)
        | Source::CallDynamic(_)
        | Source::ConstDynamic(_)
        | Source::Object(_) => Origin::Linking,
    }
}
