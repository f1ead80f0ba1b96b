//! Compares the two profiles. They answer the same question if nothing is missing, the world is closed, and the
//! program has no initialisers, no dynamic call sites, and no errors of linking and of monitors. Then profile `jvm`
//! reports no more than the paper. Where the paper is exact, it reports no less: for assertions that are not proved,
//! and for methods that receivers of their own class select.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use analysis::parts::Scratch;
use analysis::parts::{MethodCode, MethodPart};
use analysis::whole::answers::CallWord;
use analysis::whole::graph::{Graph, SetRef};
use analysis::whole::lattice::Exceptions;
use analysis::whole::method;
use analysis::whole::record::class_record;
use analysis::whole::sets::{Sets, Texts};
use analysis::whole::solve::solved;
use analysis::whole::solved::SolvedProgram;
use analysis::whole::tables::{ClassTable, WholeOptions};
use bir::body::{CallKind, Instr, ordinal};
use flow::cfg::{EdgeKind, NodeKind};
use program::input::{Role, WorldKind};
use program::names::MethodName;
use test_utils::generate::Mode;
use test_utils::tier;

use crate::gamma::{FOLDERS, Gamma, generated, of_folder};
use crate::graphs;
use crate::reference::{Edges, Reference};

fn whole(gamma: &Gamma) -> (SolvedProgram, Exceptions) {
    let options = WholeOptions {
        world: WorldKind::Closed,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let role = |api: bool| if api { Role::Jdk } else { Role::App };
    let record = |bytes: &[u8]| class_record(bytes, &mut Scratch::default()).unwrap();
    let records = gamma.classes.iter().map(|it| (record(&it.bytes), role(it.api))).collect();
    solved(ClassTable::new(records, &options), options, None)
}

/// Renames the static initialisers of a program, so that they become methods that no code calls.
fn without_initializers(mut gamma: Gamma) -> Gamma {
    for class in &mut gamma.classes {
        let at: Vec<usize> =
            (0..class.bytes.len()).filter(|&i| class.bytes[i..].starts_with(b"<clinit>")).collect();
        for i in at {
            class.bytes[i..i + 8].copy_from_slice(b"_clinit_");
        }
    }
    gamma
}

/// The data for comparing one program in both profiles.
struct Both<'a> {
    name: &'a str,
    reference: Reference,
    paper: BTreeMap<String, Edges>,
    counts: &'a mut BTreeMap<&'static str, usize>,
}

impl Both<'_> {
    /// Returns the exceptions of a set.
    fn all_types(&self, graph: &Graph, set: SetRef) -> BTreeSet<String> {
        let set = graph.set(set);
        assert_eq!(set.open, None, "{}: no class is missing", self.name);
        let mut acc = BTreeSet::new();
        for it in set.parts.iter() {
            let class = it.class.to_string();
            if it.cone {
                acc.extend(self.reference.cone(&class));
            } else {
                acc.insert(class);
            }
        }
        acc
    }

    /// Returns the exceptions of a set, without those that the paper does not model.
    fn types(&self, graph: &Graph, set: SetRef) -> BTreeSet<String> {
        let mut acc = self.all_types(graph, set);
        let monitor = "java/lang/IllegalMonitorStateException";
        acc.retain(|it| it != monitor && !self.reference.below(it, "java/lang/LinkageError"));
        acc
    }

    fn method(&mut self, method: MethodName, code: &MethodCode, graph: &Graph) {
        let paper = self.paper[&method.to_string()].clone();
        let name = self.name;
        let has = |x: &str, pc: u32, returns: Option<bool>| {
            let there = |it: &bool| paper.iter().any(|edge| edge.2 == (pc, Some(x.to_owned()), *it));
            [false, true].iter().any(|it| returns.is_none_or(|wanted| *it == wanted) && there(it))
        };
        for node in &graph.cfg.nodes {
            let (set, returns) = match node.kind {
                NodeKind::Exceptional(it) => (it, None),
                NodeKind::ExceptionalReturn(it) => (it, Some(true)),
                _ => continue,
            };
            for x in self.types(graph, set) {
                let pc = ordinal(node.instr);
                assert!(has(&x, pc, returns), "{name}: {method}: {x} at {pc} is not in the paper's graph");
                *self.counts.entry("exceptions").or_default() += 1;
            }
        }
        for edge in &graph.cfg.edges {
            let node = |it: flow::cfg::NodeId| graph.cfg.nodes[it.0 as usize];
            let (from, to) = (node(edge.from), node(edge.to));
            let here = (ordinal(from.instr), None, false);
            match (edge.kind, from.kind) {
                (EdgeKind::Handler(_) | EdgeKind::MayHandler(_), NodeKind::Exceptional(set)) => {
                    let types = self.types(graph, set);
                    let takes = |x: &String| {
                        let at = (here.0, Some(x.clone()), false);
                        paper.contains(&(at, None, (ordinal(to.instr), None, false)))
                    };
                    // The handler may exist for an exception that the paper does not model.
                    let others = self.all_types(graph, set).len() > types.len();
                    assert!(others || types.iter().any(takes), "{name}: {method}: {edge:?}");
                }
                (EdgeKind::Exception, _) => {}
                _ => {
                    let returns = to.kind == NodeKind::Return;
                    let there = (ordinal(to.instr), None, returns);
                    let drawn = paper.iter().any(|it| it.0 == here && it.2 == there);
                    let nowhere = || !paper.iter().any(|it| it.0 == here);
                    let call = matches!(code.body.instrs[from.instr], Instr::Call(..));
                    assert!(drawn || (call && nowhere()), "{name}: {method}: {edge:?}");
                }
            }
        }
        self.assertions(method, code, graph, &paper);
    }

    /// Checks that profile `jvm` has all exceptions of unproved assertions that the paper has.
    fn assertions(&mut self, method: MethodName, code: &MethodCode, graph: &Graph, paper: &Edges) {
        let jvm: BTreeSet<(u32, String)> = graph
            .cfg
            .nodes
            .iter()
            .filter_map(|it| match it.kind {
                NodeKind::Exceptional(set) | NodeKind::ExceptionalReturn(set) => Some((it.instr, set)),
                _ => None,
            })
            .flat_map(|it| self.types(graph, it.1).into_iter().map(move |x| (ordinal(it.0), x)))
            .collect();
        for (pc, instr) in code.body.instrs.iter() {
            if !matches!(instr, Instr::Assert(_)) || code.facts.proof(pc).is_some() {
                continue;
            }
            for x in paper.iter().filter(|it| it.0.0 == ordinal(pc)).filter_map(|it| it.2.1.clone()) {
                assert!(jvm.contains(&(ordinal(pc), x.clone())), "{}: {method}: {x} at {pc:?}", self.name);
                *self.counts.entry("assertions").or_default() += 1;
            }
        }
    }

    fn calls(&mut self, method: MethodName, code: &MethodCode, whole: &SolvedProgram) {
        let paper = self.paper[&method.to_string()].clone();
        let labels = |pc: u32| -> BTreeSet<String> {
            let normal = paper.iter().filter(move |it| it.0 == (pc, None, false) && it.2.1.is_none());
            normal.filter_map(|it| it.1.clone()).collect()
        };
        let Some(id) = whole.calls.classes.named(method) else { panic!("{method}") };
        let mut targets: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
        for call in method::calls(&whole.calls, id, Some(code)) {
            let (Some(pc), Some(declared)) = (call.instr, call.declared) else { continue };
            if matches!(call.kind, CallWord::Clinit | CallWord::Thread) {
                continue;
            }
            assert_eq!(call.open, None, "{}: {method}: no class is missing", self.name);
            for target in call.targets {
                let is_api = !self.paper.contains_key(&target.to_string());
                targets.entry(ordinal(pc)).or_default().insert(target.to_string());
                if is_api || labels(ordinal(pc)).contains(&target.to_string()) {
                    continue;
                }
                // MCA misses an inherited method whose class is not a subtype of the named class.
                let (named, selected) = (declared.class.to_string(), target.class.to_string());
                let unrelated = !self.reference.below(&selected, &named);
                assert!(unrelated, "{}: {method}: {target} at {pc:?}", self.name);
                *self.counts.entry("inherited beside").or_default() += 1;
            }
        }
        for (pc, instr) in code.body.instrs.iter() {
            let Instr::Call(_, CallKind::Virtual | CallKind::Interface, declared, _) = *instr else {
                continue;
            };
            for label in labels(ordinal(pc)) {
                let Some(id) = whole.calls.classes.named(name_of(&label)) else { continue };
                let hierarchy = &whole.calls.classes.hierarchy;
                let class = &hierarchy.outline(id.class).flags;
                let flags = hierarchy.outline(id.class).methods[id.index as usize].flags;
                let own =
                    !class.is_abstract() && !class.is_interface() && flags.is_public() && !flags.is_static();
                let below = self
                    .reference
                    .below(&hierarchy.name(id.class).to_string(), &declared.class().to_string());
                // A package-private method is overridden only in its own package.
                let named = whole.calls.classes.named(MethodName::of(declared));
                let seen = named.is_none_or(|it| {
                    hierarchy.outline(it.class).methods[it.index as usize].flags.is_public()
                });
                let near = declared.class().package() == hierarchy.name(id.class).package();
                if own && below && (seen || near) {
                    let there = targets.get(&ordinal(pc)).is_some_and(|it| it.contains(&label));
                    assert!(there, "{}: {method}: {label} at {pc:?} is not a target", self.name);
                    *self.counts.entry("targets").or_default() += 1;
                }
            }
        }
    }
}

fn name_of(label: &str) -> MethodName {
    let text = |it: &str| program::names::Text(Box::leak(it.to_owned().into_boxed_str()).as_bytes());
    let (name, descriptor) = label.split_at(label.find('(').unwrap());
    let (class, name) = name.rsplit_once('.').unwrap();
    MethodName { class: text(class), name: text(name), descriptor: text(descriptor) }
}

#[test]
fn in_a_closed_world_both_profiles_agree() {
    let mut counts = BTreeMap::new();
    // The paper does not model callbacks from methods of the platform.
    let is_known = |it: &Instr| match it {
        Instr::Call(_, _, method, _) => {
            let it = method.get();
            !it.class.bytes().starts_with(b"java/") || it.name.bytes() == b"<init>"
        }
        _ => true,
    };
    let is_plain = |it: &MethodPart| match &it.code {
        Some(Ok((code, _))) => code.body.dynamics.is_empty() && code.body.instrs.values().all(is_known),
        _ => !it.flags.is_native(),
    };
    let mut programs = generated(&[Mode::Plain, Mode::Subroutines, Mode::OddRows], tier::rounds(10, 80));
    programs.extend(FOLDERS.map(|it| of_folder(it, |methods| methods.iter().all(is_plain))));
    for gamma in programs {
        let gamma = without_initializers(gamma);
        let methods = gamma.methods();
        let (whole, exceptions) = whole(&gamma);
        let paper = graphs(&gamma, &gamma.paper());
        let reference = Reference::new(&gamma, true);
        let mut both = Both { name: &gamma.name, reference, paper, counts: &mut counts };
        let mut sets = Sets { exceptions, texts: Texts::default() };
        for (method, code) in methods {
            let code = Arc::new(code);
            let id = whole.calls.classes.named(method).unwrap();
            let graph = method::graph(&whole, &mut sets, id, Some(&code));
            both.method(method, &code, &graph);
            both.calls(method, &code, &whole);
        }
    }
    println!("{counts:?}");
    assert!(counts["exceptions"] > tier::rounds(2_000, 10_000), "{counts:?}");
    assert!(counts["assertions"] > 1_000, "{counts:?}");
    assert!(counts["targets"] > tier::rounds(50, 100), "{counts:?}");
}
