//! Explanations of methods that let no exception out.

use std::collections::{BTreeMap, BTreeSet};

use analysis::parts::MethodCode;
use analysis::whole::answers::Call;
use analysis::whole::graph::Graph;
use flow::cfg::{EdgeKind, NodeKind};
use flow::discharge::Proof;
use flow::universe::Part;
use program::names::MethodName;

/// Why a method lets no exception out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Silent {
    /// The method.
    pub method: MethodName,
    /// The kind of code that the method has.
    pub code: CodeKind,
    /// The checks of the code that never fail: for each kind of proof, the number of checks.
    pub proved: Vec<(ProofKind, usize)>,
    /// The classes and cones of the exceptions that the code raises and that its handlers catch, sorted by name.
    pub caught: Vec<Part>,
    /// The methods that the code calls, as the instructions name them. What these calls run lets nothing out, or the
    /// code catches it.
    pub calls: Vec<MethodName>,
}

/// The kind of code that a method has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeKind {
    /// The code in the class file.
    Present,
    /// The promise of a ghost, whose code is not written yet.
    Promise,
    /// A native method: a row in the table of native methods says that it lets nothing out.
    Native,
    /// An abstract method: there is no code to run.
    Abstract,
}

/// The kind of fact that proves that a check never fails.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProofKind {
    /// The checked value is the receiver of the method.
    Receiver,
    /// The method itself created the checked object.
    Created,
    /// An earlier check or branch tested the same values.
    Tested,
    /// The checked values are constants.
    Constant,
    /// The checked value is a caught exception.
    Caught,
    /// The checked value is the length of an array.
    Length,
    /// The checked value has the required type.
    Type,
    /// Different facts prove the check on different paths.
    EveryPath,
}

impl ProofKind {
    fn of(proof: Proof) -> ProofKind {
        match proof {
            Proof::This => ProofKind::Receiver,
            Proof::Allocated(_) => ProofKind::Created,
            Proof::Tested(_) => ProofKind::Tested,
            Proof::Constant => ProofKind::Constant,
            Proof::Caught(_) => ProofKind::Caught,
            Proof::Length => ProofKind::Length,
            Proof::Type => ProofKind::Type,
            Proof::EveryPath => ProofKind::EveryPath,
        }
    }
}

/// Returns why a method lets no exception out. `code`, `calls` and `graph` are the code of the method, its calls and
/// its final graph, if it has code; `is_ghost` and `is_native` tell the kind of code.
pub(crate) fn silent(
    method: MethodName,
    code: Option<&MethodCode>,
    (calls, graph): (&[Call], &Graph),
    (is_ghost, is_native): (bool, bool),
) -> Silent {
    let mut it =
        Silent { method, code: CodeKind::Promise, proved: Vec::new(), caught: Vec::new(), calls: Vec::new() };
    if is_ghost {
        return it;
    }
    let Some(code) = code else {
        it.code = if is_native { CodeKind::Native } else { CodeKind::Abstract };
        return it;
    };
    it.code = CodeKind::Present;
    let mut proved: BTreeMap<ProofKind, usize> = BTreeMap::new();
    for proof in code.body.instrs.iter().filter_map(|it| code.facts.proof(it.0)) {
        *proved.entry(ProofKind::of(proof)).or_default() += 1;
    }
    it.proved = proved.into_iter().collect();
    let handled = graph.cfg.edges.iter().filter(|it| match it.kind {
        EdgeKind::Handler(_) | EdgeKind::MayHandler(_) => true,
        EdgeKind::Normal
        | EdgeKind::BranchTrue
        | EdgeKind::BranchFalse
        | EdgeKind::Case(_)
        | EdgeKind::Default
        | EdgeKind::Return
        | EdgeKind::Exception => false,
    });
    let mut caught: BTreeSet<(&[u8], bool)> = BTreeSet::new();
    for edge in handled {
        match graph.cfg.nodes.get(edge.from.index()).map(|it| it.kind) {
            Some(NodeKind::Exceptional(set) | NodeKind::ExceptionalReturn(set)) => {
                caught.extend(graph.set(set).parts.iter().map(|it| (it.class.bytes(), it.cone)));
            }
            Some(NodeKind::Normal | NodeKind::Return) | None => {}
        }
    }
    let parts = graph.sets.iter().flat_map(|it| it.parts.iter().copied());
    let mut parts: Vec<Part> = parts.filter(|it| caught.contains(&(it.class.bytes(), it.cone))).collect();
    parts.sort_by_key(|it| (it.class.bytes(), it.cone));
    parts.dedup();
    it.caught = parts;
    let named: BTreeSet<MethodName> = calls.iter().filter_map(|it| it.declared).collect();
    it.calls = named.into_iter().collect();
    it
}
