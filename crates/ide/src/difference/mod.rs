//! The difference between two answers: facts that are new, and facts that no longer hold.
//!
//! Facts are compared without positions, so code that only moves changes no fact. If the answer about a method is
//! unchanged, one comparison shows that; otherwise the single facts are compared.

mod align;

use std::sync::Arc;

use analysis::parts::MethodCode;
use analysis::whole::answers::{Call, CallWord, Step, Throws, Why};
use analysis::whole::graph::{Graph, SetRef};
use analysis::whole::missing::Missing;
use bir::body::{InstrId, ordinal};
use bir::positions::Positions;
use bir::print;
use flow::cfg::{EdgeKind, NodeKind};
use flow::universe::Part;
use program::names::{MethodName, Text};
use rustc_hash::FxHashMap;

use align::{Alignment, without_temporaries};

use crate::entries::{Entry, EntryReason};
use crate::explain::Explanation;

/// The answer about one method, with its code.
#[derive(Clone, Debug)]
pub struct MethodState {
    /// The name of the method.
    pub method: MethodName,
    /// The method's code and the positions of its instructions; `None` if there is no code that can be read.
    pub code: Option<(Arc<MethodCode>, Arc<Positions>)>,
    /// The answer about the method.
    pub answer: MethodAnswer,
}

/// The answers that can be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MethodAnswer {
    /// The targets of the method's calls.
    Calls(Vec<Call>),
    /// The exceptions that leave the method.
    Throws(Throws),
    /// The method's graph.
    Graph(Arc<Graph>),
    /// The method's code itself, which is in [`MethodState::code`].
    Body,
    /// The reasons for the exceptions that leave the method and for the targets of its calls.
    Explained(Vec<Explanation>),
}

/// A fact that was added or removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// Whether the fact is new; otherwise it no longer holds.
    pub added: bool,
    /// The method that the fact is about; `None` for a fact about a missing class.
    pub method: Option<MethodName>,
    /// The pc of the instruction that the fact is about; `None` if the fact is not about a single instruction. The pc
    /// of a removed fact is that in the old code.
    pub pc: Option<u16>,
    /// The source line of the instruction that the fact is about; `None` if it is unknown or there is no such
    /// instruction.
    pub line: Option<u16>,
    /// The fact that was added or removed.
    pub fact: Fact,
}

/// A single fact of an answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fact {
    /// A call may have the effect `to`: it runs a target, raises an error, or has unknown targets.
    Call {
        /// The kind of the call.
        kind: CallWord,
        /// The called method as the instruction names it; `None` if the instruction names no method.
        declared: Option<MethodName>,
        /// One target or other effect of the call.
        to: Reaches,
    },
    /// The method may throw exceptions of this class or cone.
    LetsOut(Part),
    /// The method may throw unknown exceptions besides the known ones.
    Open {
        /// The classes and cones that contain all of the unknown exceptions.
        within: Vec<Part>,
        /// The classes and cones excluded from the unknown exceptions.
        except: Vec<Part>,
        /// The cause of the unknown exceptions: the last step of the chain of facts that explains them; `None` if the
        /// chain is empty.
        because: Option<Step>,
    },
    /// The method's control-flow graph has this edge.
    Edge {
        /// The source of the edge.
        from: Box<End>,
        /// The destination of the edge.
        to: Box<End>,
        /// The kind of the edge. For edges to handlers, the row number in the kind is always 0, so that edges do not
        /// differ if rows are inserted into the exception table.
        kind: EdgeKind,
        /// The called methods that label the edge: in profile `jvm` the method that the instruction names, in profile
        /// `paper` the targets of the call. `None` stands for an edge without a called method.
        labels: Vec<Option<MethodName>>,
    },
    /// The method exists.
    Method,
    /// The method has this instruction, as text in stackless form.
    Instruction(String),
    /// The reason why the method throws something or why one of its calls has a target. The positions in a removed
    /// explanation are those in the old code.
    Explained(Box<Explanation>),
    /// The method is an entry point for this reason.
    Entry(EntryReason),
    /// A class that the program names is missing.
    Missing {
        /// The missing class.
        class: Text,
        /// One way in which the program needs the class.
        need: Need,
    },
}

/// One effect of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reaches {
    /// The call may run this method.
    Target(MethodName),
    /// The call can run this method only if a missing class connects the receiver's class with the class that the
    /// call names.
    Possible(MethodName),
    /// The call runs the glue of a function object, that is, its method that implements this functional interface.
    Glue(Text),
    /// The call may raise this linkage error.
    Error(Text),
    /// The call may run methods of unknown classes, for this reason.
    Open(Why),
    /// The call runs no method: the program has no object that can be its receiver.
    Nothing,
}

/// The way in which the program needs a missing class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Need {
    /// The program names the missing class, in whatever way.
    Class,
    /// The missing class is a supertype of this class.
    SupertypeOf(Text),
    /// This method names the missing class.
    UsedBy(MethodName),
    /// Some code calls this method of the missing class.
    Called(MethodName),
    /// This method has calls whose targets are not all known, because the missing class could provide more targets.
    Widened(MethodName),
}

/// A node at one end of an edge.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// The text of the node's instruction.
    pub instr: String,
    /// The pc of the node's instruction. For a removed edge, it is the pc in the old code.
    pub pc: Option<u16>,
    /// The kind of the node; the kind of an exceptional node holds the exceptions in flight there.
    pub kind: EndKind,
}

/// The kind of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum EndKind {
    /// Control is before the instruction.
    Normal,
    /// The instruction raised one of these exceptions, which a handler may catch.
    Exceptional(Raised),
    /// The method returned.
    Return,
    /// One of these exceptions left the method.
    ExceptionalReturn(Raised),
}

/// A set of exceptions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Raised {
    /// The classes and cones in the set.
    pub parts: Vec<Part>,
    /// The reason why the set is open, that is, contains unknown exceptions; `None` if all exceptions are known.
    pub open: Option<Why>,
    /// The classes and cones excluded from the unknown exceptions; empty if all exceptions are known.
    pub except: Vec<Part>,
}

/// The differences between two answers about methods, in the order of the new answer; facts about removed methods
/// come last.
pub fn difference(old: &[MethodState], new: &[MethodState]) -> Vec<Changed> {
    let mut before: FxHashMap<MethodName, &MethodState> = old.iter().map(|it| (it.method, it)).collect();
    let mut acc = Vec::new();
    for now in new {
        match before.remove(&now.method) {
            Some(was) => between(was, now, &mut acc),
            None => acc.extend(facts(now, true, None).into_iter().map(|it| it.1)),
        }
    }
    // A method that occurs twice is compared only once.
    let gone = old.iter().filter(|it| before.remove(&it.method).is_some());
    acc.extend(gone.flat_map(|it| facts(it, false, None)).map(|it| it.1));
    acc
}

/// The differences between two lists of entry points: first those that were removed, then those that were added, each
/// in the order of its list.
pub fn entry_difference(old: &[Entry], new: &[Entry]) -> Vec<Changed> {
    let facts = |list: &[Entry], added| -> Vec<(Key, Changed)> {
        let changed = |it: &Entry| {
            let (method, fact) = (Some(it.method), Fact::Entry(it.why));
            let key = Key::Entry(it.method, it.why);
            (key, Changed { added, method, pc: None, line: None, fact })
        };
        list.iter().map(changed).collect()
    };
    let mut acc = Vec::new();
    compare(facts(old, false), facts(new, true), &mut acc);
    acc
}

/// The differences between two lists of missing classes: first the facts that were removed, then those that were
/// added, each in the order of its list.
pub fn missing_difference(old: &[Missing], new: &[Missing]) -> Vec<Changed> {
    let mut acc = Vec::new();
    compare(missing_facts(old, false), missing_facts(new, true), &mut acc);
    acc
}

fn between(old: &MethodState, new: &MethodState, acc: &mut Vec<Changed>) {
    let bodies = old.code.as_ref().zip(new.code.as_ref());
    let same_code = bodies.map_or(old.code.is_none() == new.code.is_none(), |(old, new)| {
        Arc::ptr_eq(&old.0, &new.0) || old.0.body == new.0.body
    });
    if same_code && old.answer == new.answer {
        return;
    }
    let alignment = match (&old.answer, bodies) {
        (MethodAnswer::Graph(_), Some((old, new))) => Some(Alignment::new(&old.0, &new.0)),
        _ => None,
    };
    compare(facts(old, false, alignment.as_ref()), facts(new, true, None), acc);
}

/// The identity of a fact for the comparison. In edges, instructions are identified by their number in the new code,
/// or by their number in the old code if the new code does not have them.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Plain(Fact),
    Entry(MethodName, EntryReason),
    /// An explanation without positions.
    Explained(MethodName, Explanation),
    Edge {
        from: (Numbered, EndKind),
        to: (Numbered, EndKind),
        kind: EdgeKind,
        labels: Vec<Option<MethodName>>,
    },
}

/// The number of an instruction in the new code; the number in the old code if the new code lacks the instruction.
#[derive(PartialEq, Eq, Hash)]
enum Numbered {
    New(u32),
    Old(u32),
}

/// Appends to `acc` the facts that `old` contains more often than `new`, then those that `new` contains more often.
/// Each fact is appended once for each extra occurrence.
fn compare(old: Vec<(Key, Changed)>, new: Vec<(Key, Changed)>, acc: &mut Vec<Changed>) {
    let mut counts: FxHashMap<&Key, (usize, usize)> = FxHashMap::default();
    old.iter().for_each(|it| counts.entry(&it.0).or_default().0 += 1);
    new.iter().for_each(|it| counts.entry(&it.0).or_default().1 += 1);
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (key, it) in &old {
        let Some(counts) = counts.get_mut(key).filter(|it| it.0 > it.1) else { continue };
        counts.0 -= 1;
        removed.push(it.clone());
    }
    for (key, it) in &new {
        let Some(counts) = counts.get_mut(key).filter(|it| it.1 > it.0) else { continue };
        counts.1 -= 1;
        added.push(it.clone());
    }
    acc.append(&mut removed);
    acc.append(&mut added);
}

/// Returns the single facts of an answer. `alignment` maps the code of an old answer to the code of the new answer;
/// `None` for a new answer, and for answers that are not graphs.
fn facts(state: &MethodState, added: bool, alignment: Option<&Alignment>) -> Vec<(Key, Changed)> {
    let mut acc = Vec::new();
    let mut add = |instr: Option<InstrId>, fact: Fact, key: Option<Key>| {
        let places = state.code.as_ref().map(|it| &it.1);
        let pc = instr.zip(places).and_then(|(instr, it)| it.pc(instr));
        let line = instr.zip(places).and_then(|(instr, it)| it.line(instr));
        let key = key.unwrap_or_else(|| Key::Plain(fact.clone()));
        acc.push((key, Changed { added, method: Some(state.method), pc, line, fact }));
    };
    add(None, Fact::Method, None);
    match &state.answer {
        MethodAnswer::Calls(calls) => {
            for call in calls {
                for to in reached(call) {
                    let fact = Fact::Call { kind: call.kind, declared: call.declared, to };
                    add(call.instr, fact, None);
                }
            }
        }
        MethodAnswer::Throws(throws) => {
            throws.known.iter().for_each(|&it| add(None, Fact::LetsOut(it), None));
            if let Some(open) = &throws.open {
                let (within, except) = (open.within.clone(), open.except.clone());
                add(None, Fact::Open { within, except, because: open.because.last().copied() }, None);
            }
        }
        MethodAnswer::Graph(graph) => edges(state, graph, alignment, &mut add),
        MethodAnswer::Body => {
            for (instr, _) in state.code.iter().flat_map(|it| it.0.body.instrs.iter()) {
                let Some((code, _)) = &state.code else { continue };
                add(Some(instr), Fact::Instruction(print::instr(&code.body, instr)), None);
            }
        }
        MethodAnswer::Explained(all) => {
            acc.extend(all.iter().map(|it| explained(state.method, it, added)));
        }
    }
    acc
}

fn explained(method: MethodName, it: &Explanation, added: bool) -> (Key, Changed) {
    let spot = match it {
        Explanation::Exception(it) => Some(&it.spot),
        Explanation::Call(it) => Some(&it.spot),
        Explanation::Unreached(_) | Explanation::Silent(_) => None,
    };
    let (pc, line) = (spot.and_then(|it| it.pc), spot.and_then(|it| it.line));
    let key = Key::Explained(method, it.without_places(&without_temporaries));
    (key, Changed { added, method: Some(method), pc, line, fact: Fact::Explained(Box::new(it.clone())) })
}

fn reached(call: &Call) -> Vec<Reaches> {
    let mut acc: Vec<Reaches> = call.targets.iter().map(|&it| Reaches::Target(it)).collect();
    acc.extend(call.possible.iter().map(|&it| Reaches::Possible(it)));
    acc.extend(call.glue.iter().map(|&it| Reaches::Glue(it)));
    acc.extend(call.errors.iter().map(|&it| Reaches::Error(it)));
    acc.extend(call.open.map(Reaches::Open));
    if acc.is_empty() {
        acc.push(Reaches::Nothing);
    }
    acc
}

fn edges(
    state: &MethodState,
    graph: &Graph,
    alignment: Option<&Alignment>,
    add: &mut impl FnMut(Option<InstrId>, Fact, Option<Key>),
) {
    let Some((code, positions)) = &state.code else { return };
    let numbered = |instr: InstrId| match alignment {
        None => Numbered::New(ordinal(instr)),
        Some(it) => it.of(instr).map_or(Numbered::Old(ordinal(instr)), Numbered::New),
    };
    for (i, edge) in graph.cfg.edges.iter().enumerate() {
        let labels = match graph.labels.get(i) {
            Some(it) => it.to_vec(),
            None => vec![graph.cfg.label(&code.body, *edge).map(MethodName::of)],
        };
        // Rows are numbered by their order in the table, so a row inserted before would change their numbers.
        let kind = match edge.kind {
            EdgeKind::Handler(_) => EdgeKind::Handler(0),
            EdgeKind::MayHandler(_) => EdgeKind::MayHandler(0),
            it => it,
        };
        let (from, to) = (&graph.cfg.nodes[edge.from.index()], &graph.cfg.nodes[edge.to.index()]);
        let (from_kind, to_kind) = (end_kind(graph, from.kind), end_kind(graph, to.kind));
        let key = Key::Edge {
            from: (numbered(from.instr), from_kind.clone()),
            to: (numbered(to.instr), to_kind.clone()),
            kind,
            labels: labels.clone(),
        };
        let end = |instr: InstrId, kind: EndKind| {
            let text = print::instr(&code.body, instr);
            Box::new(End { instr: text, pc: positions.pc(instr), kind })
        };
        let (from_end, to_end) = (end(from.instr, from_kind), end(to.instr, to_kind));
        let fact = Fact::Edge { from: from_end, to: to_end, kind, labels };
        add(Some(from.instr), fact, Some(key));
    }
}

fn end_kind(graph: &Graph, kind: NodeKind<SetRef>) -> EndKind {
    let raised = |it: SetRef| {
        let set = graph.set(it);
        Raised { parts: set.parts.to_vec(), open: set.open, except: set.except.to_vec() }
    };
    match kind {
        NodeKind::Normal => EndKind::Normal,
        NodeKind::Exceptional(it) => EndKind::Exceptional(raised(it)),
        NodeKind::Return => EndKind::Return,
        NodeKind::ExceptionalReturn(it) => EndKind::ExceptionalReturn(raised(it)),
    }
}

fn missing_facts(missing: &[Missing], added: bool) -> Vec<(Key, Changed)> {
    let facts = missing.iter().flat_map(|it| {
        let mut needs = vec![Need::Class];
        needs.extend(it.supertype_of.iter().map(|&it| Need::SupertypeOf(it)));
        needs.extend(it.called.iter().map(|&it| Need::Called(it)));
        needs.extend(it.used_by.iter().map(|&it| Need::UsedBy(it)));
        needs.extend(it.widened.iter().map(|&it| Need::Widened(it)));
        needs.into_iter().map(|need| Fact::Missing { class: it.class, need })
    });
    let changed = |fact: Fact| Changed { added, method: None, pc: None, line: None, fact };
    facts.map(|it| (Key::Plain(it.clone()), changed(it))).collect()
}
