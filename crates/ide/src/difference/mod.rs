//! What changed from one answer to the next: facts that are new, and facts that no longer hold.
//!
//! Facts have no places: code that moves changes nothing. An answer about a method that is equal costs a comparison;
//! of one that is not, each single fact is compared.

mod align;

use std::sync::Arc;

use analysis::names::{MethodId, Text};
use analysis::parts::MethodCode;
use analysis::whole::answers::{Call, CallWord, Step, Throws, Why};
use analysis::whole::graph::{Graph, SetRef};
use analysis::whole::missing::Missing;
use bir::body::{InstrId, ordinal};
use bir::positions::Positions;
use bir::print;
use flow::cfg::{EdgeKind, NodeKind};
use flow::universe::Part;
use rustc_hash::FxHashMap;

use align::{Alignment, without_temporaries};

use crate::entries::{Entry, EntryReason};
use crate::explain::Explanation;

/// What an answer says of one method.
#[derive(Clone, Debug)]
pub struct MethodState {
    /// The method.
    pub method: MethodId,
    /// Its code, if that can be read.
    pub code: Option<(Arc<MethodCode>, Arc<Positions>)>,
    /// The answer.
    pub answer: MethodAnswer,
}

/// The answers that can be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MethodAnswer {
    /// Where its calls go.
    Calls(Vec<Call>),
    /// What it lets out.
    Throws(Throws),
    /// Its graph.
    Graph(Arc<Graph>),
    /// Its code itself.
    Body,
    /// Why it lets out what it does, and why its calls go where they go.
    Explained(Vec<Explanation>),
}

/// A fact that came or went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// Whether it is new; else it no longer holds.
    pub added: bool,
    /// The method that it is about; none for a class that is missing.
    pub method: Option<MethodId>,
    /// The place of the instruction that it is about, in the code where the fact holds.
    pub pc: Option<u16>,
    /// The line there.
    pub line: Option<u16>,
    /// The fact.
    pub fact: Fact,
}

/// A single fact of an answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fact {
    /// A call.
    Call {
        /// How control passes.
        kind: CallWord,
        /// The method as the instruction names it.
        declared: Option<MethodId>,
        /// One thing that it may come to.
        to: Reaches,
    },
    /// The method may let this out.
    LetsOut(Part),
    /// The method may let out more than is known.
    Open {
        /// What it is within.
        within: Vec<Part>,
        /// What cannot be among it.
        except: Vec<Part>,
        /// The reason.
        because: Option<Step>,
    },
    /// An edge of the graph.
    Edge {
        /// Where it starts.
        from: Box<End>,
        /// Where it ends.
        to: Box<End>,
        /// How control passes; the numbers of rows do not count.
        kind: EdgeKind,
        /// The method that labels it, as the instruction names it; in profile `paper` those that it goes to.
        labels: Vec<Option<MethodId>>,
    },
    /// The method is there.
    Method,
    /// The method has this instruction, in stackless form.
    Instruction(String),
    /// Why the method lets something out, or a call of it goes somewhere: with the places in the code where that holds.
    Explained(Box<Explanation>),
    /// The program starts with the method, for this reason.
    Entry(EntryReason),
    /// The class is named and not there.
    Missing {
        /// The class.
        class: Text,
        /// How it is needed.
        need: Need,
    },
}

/// What a call may come to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reaches {
    /// This method.
    Target(MethodId),
    /// This method, if an absent class lies between.
    Possible(MethodId),
    /// The glue of an object of this functional interface.
    Glue(Text),
    /// An error of linking.
    Error(Text),
    /// Methods that nobody has seen.
    Open(Why),
    /// What the VM does itself.
    Vm,
}

/// How a class that is not there is needed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Need {
    /// At all.
    Class,
    /// As a supertype of this class.
    SupertypeOf(Text),
    /// This method names it.
    UsedBy(MethodId),
    /// This method of it is called.
    Called(MethodId),
    /// Calls of this method may run anything because of it.
    Widened(MethodId),
}

/// An end of an edge.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// The instruction, as text.
    pub instr: String,
    /// Its place, in the code where the edge is.
    pub pc: Option<u16>,
    /// What the node stands for, with its exceptions.
    pub kind: EndKind,
}

/// What a node stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum EndKind {
    /// Control is before the instruction.
    Normal,
    /// It raised one of these, and a handler takes it.
    Exceptional(Raised),
    /// The method returned.
    Return,
    /// One of these left the method.
    ExceptionalReturn(Raised),
}

/// A set of exceptions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Raised {
    /// The classes and cones that it is made of.
    pub parts: Vec<Part>,
    /// For an open set: why nobody knows it better.
    pub open: Option<Why>,
    /// For an open set: what cannot be among it.
    pub except: Vec<Part>,
}

/// What changed between two answers about methods, in the order of the new one; behind it what was about methods that are
/// gone.
pub fn difference(old: &[MethodState], new: &[MethodState]) -> Vec<Changed> {
    let mut before: FxHashMap<MethodId, &MethodState> = old.iter().map(|it| (it.method, it)).collect();
    let mut acc = Vec::new();
    for now in new {
        match before.remove(&now.method) {
            Some(was) => between(was, now, &mut acc),
            None => acc.extend(facts(now, true, None).into_iter().map(|it| it.1)),
        }
    }
    // A method that is there twice is compared once.
    let gone = old.iter().filter(|it| before.remove(&it.method).is_some());
    acc.extend(gone.flat_map(|it| facts(it, false, None)).map(|it| it.1));
    acc
}

/// What changed between two lists of entry points: what no longer is one, then what is new, in their orders.
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

/// What changed between two lists of missing classes: what no longer is, then what is new, by their names.
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

/// What tells facts apart. Of edges the instructions by number: those of the new code, and of the old code that are gone.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Plain(Fact),
    Entry(MethodId, EntryReason),
    /// Without places.
    Explained(MethodId, Explanation),
    Edge {
        from: (Numbered, EndKind),
        to: (Numbered, EndKind),
        kind: EdgeKind,
        labels: Vec<Option<MethodId>>,
    },
}

/// An instruction of the new code, or of the old code alone.
#[derive(PartialEq, Eq, Hash)]
enum Numbered {
    New(u32),
    Old(u32),
}

/// Adds what is only in the first list, then what is only in the second, as often as it is there more often.
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

/// The single facts of an answer. `alignment` is that of its code with the code of the new answer; without one it is the
/// new answer itself, or one that has none to be compared with.
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

fn explained(method: MethodId, it: &Explanation, added: bool) -> (Key, Changed) {
    let spot = match it {
        Explanation::Exception(it) => Some(&it.spot),
        Explanation::Call(it) => Some(&it.spot),
        Explanation::Unreached(_) => None,
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
        acc.push(Reaches::Vm);
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
            None => vec![graph.cfg.label(&code.body, *edge).map(MethodId::of)],
        };
        // Rows are numbered in the order of the table: another row before moves them.
        let kind = match edge.kind {
            EdgeKind::Handler(_) => EdgeKind::Handler(0),
            EdgeKind::MayHandler(_) => EdgeKind::MayHandler(0),
            it => it,
        };
        let (from, to) = (&graph.cfg.nodes[edge.from.0 as usize], &graph.cfg.nodes[edge.to.0 as usize]);
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
