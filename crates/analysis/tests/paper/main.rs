//! Tests profile `paper` against *Sound Control Flow Graph Extraction from Incomplete Java Bytecode Programs*: its
//! example; Theorem 1 (in closed environments the graphs are those of the algorithm for complete programs with MCA,
//! here a second implementation over bytecode); Theorem 2 (refinement shrinks graphs); and the relation of its graphs
//! to those of profile `jvm`.

mod against_jvm;
mod bytecode;
mod closed;
mod gamma;
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use analysis::paper::answers::Paper;
use bir::body::{Instr, InstrId, ordinal};
use flow::cfg::NodeKind;
use test_utils::rng::Rng;
use test_utils::tier;

use closed::{Closed, Edge, To};
use gamma::{Gamma, of_folder, programs};
use reference::{Edges, Point, Reference};

/// Returns the graphs of a program, by method; ghosts have no graph.
fn graphs(gamma: &Gamma, paper: &Paper) -> BTreeMap<String, Edges> {
    let mut universe = paper.environment.exceptions.clone();
    let mut acc = BTreeMap::new();
    for (method, code) in gamma.methods() {
        if paper.is_ghost(method) {
            continue;
        }
        let graph = paper.graph(&mut universe, method, &code, false);
        let point = |it: flow::cfg::NodeId| -> Point {
            let node = graph.cfg.nodes[it.0 as usize];
            let x = |it| graph.set(it).parts[0].class.to_string();
            let pc = ordinal(node.instr);
            match node.kind {
                NodeKind::Normal => (pc, None, false),
                NodeKind::Return => (pc, None, true),
                NodeKind::Exceptional(it) => (pc, Some(x(it)), false),
                NodeKind::ExceptionalReturn(it) => (pc, Some(x(it)), true),
            }
        };
        let mut edges = Edges::new();
        for (edge, labels) in graph.cfg.edges.iter().zip(&graph.labels) {
            for label in labels {
                let new = edges.insert((point(edge.from), label.map(|it| it.to_string()), point(edge.to)));
                // Only a branch or switch has several edges to one target.
                assert!(new || !matches!(edge.kind, flow::cfg::EdgeKind::Exception), "{method}: {edge:?}");
            }
        }
        assert_eq!(graph.cfg.nodes.len(), std::collections::HashSet::<_>::from_iter(&graph.cfg.nodes).len());
        acc.insert(method.to_string(), edges);
    }
    acc
}

/// Fig. 1 and Fig. 2b of the paper. The rules add what the figure leaves out: the NullPointerException of `new` and
/// of `notnull`, and the checks of `argv[0]`.
#[test]
fn the_example_of_the_paper_has_the_graphs_of_the_paper() {
    let mut gamma = of_folder("ghost", |_| true);
    let class = |bytes: &[u8]| gamma::parts(bytes).0.head.class.to_string();
    // Only the part of the class library that the example needs, with the signature of Integer.
    gamma.classes.retain(|it| !it.api || class(&it.bytes) != "java/lang/Integer");
    let integer = "
.class public java/lang/Integer
.method public static parseInt(Ljava/lang/String;)I
  .throws java/lang/NumberFormatException
  iconst_0
  ireturn
.end
.class public java/lang/NumberFormatException
.super java/lang/RuntimeException
.class public java/lang/ArithmeticException
.super java/lang/RuntimeException
.method public <init>()V
  return
.end
";
    for it in test_utils::asm::assemble(integer).unwrap() {
        gamma.classes.retain(|old| class(&old.bytes) != it.name);
        gamma.classes.push(gamma::Class { bytes: it.bytes, api: true });
    }
    let graphs = graphs(&gamma, &gamma.paper());
    let written = |method: &str| {
        let point = |(pc, x, returns): &Point| {
            let x = x.as_ref().map_or(String::new(), |it| format!(" {}", it.rsplit('/').next().unwrap()));
            format!("{pc}{x}{}", if *returns { " r" } else { "" })
        };
        let line = |(from, label, to): &reference::Edge| {
            let label = label.as_ref().map_or("ε", |it| it.rsplit('/').next().unwrap());
            format!("{} -{label}-> {}", point(from), point(to))
        };
        graphs[method].iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let odd = "\
0 -ε-> 1
0 -ε-> 5
1 -ε-> 2
2 -ε-> 2 NullPointerException r
2 -ε-> 3
3 -ε-> 3 NullPointerException r
3 -ε-> 4
4 -ε-> 4 ArithmeticException r
5 -ε-> 6
5 -ε-> 7
6 -ε-> 6 r
7 -ε-> 7 NullPointerException r
7 -ε-> 8
8 -EvenOdd.even(I)Z-> 9
9 -ε-> 9 r";
    let main = "\
0 -ε-> 1
1 -EvenOdd.<init>()V-> 1 NullPointerException r
1 -EvenOdd.<init>()V-> 2
2 -ε-> 2 NullPointerException r
2 -ε-> 3
3 -ε-> 3 ArrayIndexOutOfBoundsException r
3 -ε-> 4
4 -ε-> 5
5 -ε-> 6
6 -ε-> 6 NumberFormatException r
6 -ε-> 7
7 -ε-> 7 NullPointerException r
7 -ε-> 8
8 -EvenOdd.even(I)Z-> 9
9 -ε-> 9 r";
    let sorted = |it: &str| BTreeSet::from_iter(it.lines().map(str::to_owned));
    assert_eq!(sorted(&written("ghost/EvenOdd.odd(I)Z")), sorted(odd));
    assert_eq!(sorted(&written("ghost/EvenOdd.main([Ljava/lang/String;)V")), sorted(main));
    assert!(!graphs.contains_key("ghost/EvenOdd.even(I)Z"), "a ghost has no graph");
}

/// Returns the graphs of a program by pc, and for each graph the pcs that are nodes: those with BIR instructions,
/// except handlers that other instructions jump to and that only bind the caught exception.
fn by_pc(
    gamma: &Gamma,
    paper: &Paper,
) -> (BTreeMap<String, BTreeSet<Edge>>, BTreeMap<String, BTreeSet<u32>>) {
    let mut universe = paper.environment.exceptions.clone();
    let (mut graphs, mut pcs) = (BTreeMap::new(), BTreeMap::new());
    for (method, code, positions) in gamma.methods_with_positions() {
        let graph = paper.graph(&mut universe, method, &code, false);
        let pc = |it: InstrId| u32::from(positions.pc(it).unwrap());
        let mut of_pc: BTreeMap<u32, Vec<InstrId>> = BTreeMap::new();
        code.body.instrs.iter().for_each(|it| of_pc.entry(pc(it.0)).or_default().push(it.0));
        let mut next: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let is_call = |it: InstrId| matches!(code.body.instrs[it], Instr::Call(..) | Instr::New(..));
        let calls = code.body.instrs.iter().filter(|it| is_call(it.0));
        let mut labels: BTreeMap<u32, BTreeSet<Option<String>>> =
            calls.map(|it| (pc(it.0), BTreeSet::new())).collect();
        let mut acc = BTreeSet::new();
        for (edge, mine) in graph.cfg.edges.iter().zip(&graph.labels) {
            let node = |it: flow::cfg::NodeId| graph.cfg.nodes[it.0 as usize];
            let (from, to) = (node(edge.from), node(edge.to));
            let x = |it| graph.set(it).parts[0].class.to_string();
            let mine = || mine.iter().map(|it| it.map(|it| it.to_string()));
            match (from.kind, to.kind) {
                (NodeKind::Normal, NodeKind::Normal) => {
                    if is_call(from.instr) {
                        labels.entry(pc(from.instr)).or_default().extend(mine());
                    }
                    next.entry(pc(from.instr)).or_default().insert(pc(to.instr));
                }
                (NodeKind::Normal, NodeKind::Return) => _ = acc.insert((pc(from.instr), None, To::Return)),
                (NodeKind::Normal, NodeKind::ExceptionalReturn(set)) => {
                    acc.extend(mine().map(|it| (pc(from.instr), it, To::Leaves(x(set)))));
                }
                (NodeKind::Normal, NodeKind::Exceptional(set)) => {
                    // One exception at one instruction has only one handler.
                    let on = graph.cfg.edges.iter().find(|it| it.from == edge.to).unwrap();
                    let handler = pc(node(on.to).instr);
                    acc.extend(mine().map(|it| (pc(from.instr), it, To::Handler(x(set), handler))));
                }
                _ => {}
            }
        }
        // The code after a call without targets is not reached.
        next.retain(|at, _| labels.get(at).is_none_or(|it| !it.is_empty()));
        let targets: BTreeSet<u32> =
            next.iter().flat_map(|it| it.1.iter().filter(move |to| *to != it.0)).copied().collect();
        let binds = |it: &InstrId| matches!(code.body.instrs[*it], Instr::Catch(_) | Instr::Goto(_));
        let is_handler = |at: u32| code.body.rows.iter().any(|it| pc(it.handler) == at);
        of_pc.retain(|at, all| !(is_handler(*at) && targets.contains(at) && all.iter().all(binds)));
        let kept: BTreeSet<u32> = of_pc.into_keys().collect();
        for (from, to) in closed::contracted(&next, &kept) {
            for label in labels.get(&from).unwrap_or(&BTreeSet::from([None])) {
                acc.insert((from, label.clone(), To::Next(to)));
            }
        }
        graphs.insert(method.to_string(), acc);
        pcs.insert(method.to_string(), kept);
    }
    (graphs, pcs)
}

/// Theorem 1: in a closed environment the graphs are those of the algorithm for complete programs with MCA.
#[test]
fn theorem_1_closed_environments() {
    let mut edges = 0;
    for gamma in programs() {
        let (paper, pcs) = by_pc(&gamma, &gamma.paper());
        let files = gamma.classes.iter().map(|it| (&*it.bytes, it.api));
        let reference = Closed::new(files).graphs(&pcs);
        compare(&gamma.name, &paper, &reference);
        edges += paper.values().map(BTreeSet::len).sum::<usize>();
    }
    assert!(edges > tier::rounds(20_000, 50_000), "{edges}");
}

/// Theorem 1 again, edge by edge, against the reference implementation that uses the same bodies.
#[test]
fn closed_environments_agree_with_the_reference_implementation() {
    let mut edges = 0;
    for gamma in programs() {
        let paper = graphs(&gamma, &gamma.paper());
        let reference = Reference::new(&gamma, true).graphs();
        compare(&gamma.name, &paper, &reference);
        edges += paper.values().map(BTreeSet::len).sum::<usize>();
    }
    assert!(edges > tier::rounds(20_000, 50_000), "{edges}");
}

fn compare<E: Ord + std::fmt::Debug>(
    name: &str,
    paper: &BTreeMap<String, BTreeSet<E>>,
    reference: &BTreeMap<String, BTreeSet<E>>,
) {
    assert_eq!(Vec::from_iter(paper.keys()), Vec::from_iter(reference.keys()), "{name}");
    for (method, edges) in paper {
        let more: Vec<_> = edges.difference(&reference[method]).take(5).collect();
        let less: Vec<_> = reference[method].difference(edges).take(5).collect();
        assert!(more.is_empty() && less.is_empty(), "{name}: {method}: more {more:?}, less {less:?}");
    }
}

/// Returns handlers that a method may promise: exceptions that it does not let out.
fn promise(graph: &Edges, reference: &Reference, names: &[String], rng: &mut Rng) -> Vec<String> {
    let out: BTreeSet<&String> = graph.iter().filter(|it| it.2.2).filter_map(|it| it.2.1.as_ref()).collect();
    if out.is_empty() && rng.chance(50) {
        return vec!["any".to_owned()];
    }
    let mut acc = Vec::new();
    for _ in 0..rng.below(5) {
        let it = rng.pick(names).unwrap();
        if reference.cone(it).iter().all(|it| !out.contains(it)) {
            acc.push(it.replace('/', "."));
        }
    }
    acc
}

/// Theorem 2: Γ ⪯ Γ′ implies G(m, Γ) ⊆ G(m, Γ′) for each method that is available in both. In Γ′ some methods are
/// missing and promise handlers that their code satisfies; in Γ″ more methods are missing, and the earlier ones
/// promise less.
#[test]
fn theorem_2_refinement() {
    let mut grew = 0;
    for gamma in programs() {
        let mut rng = Rng::new(gamma.name.len() as u64 * 31 + gamma.classes.len() as u64);
        let reference = Reference::new(&gamma, false);
        let names: Vec<String> = reference.cone("java/lang/Throwable").into_iter().collect();
        let mut ghosts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut finer = graphs(&gamma, &gamma.paper());
        for _ in 0..2 {
            for handlers in ghosts.values_mut() {
                handlers.retain(|_| rng.chance(60));
            }
            let present = finer.clone();
            for (method, graph) in present.iter().filter(|it| !it.0.contains("<clinit>")) {
                if rng.chance(20) {
                    ghosts.insert(method.clone(), promise(graph, &reference, &names, &mut rng));
                }
            }
            let open = gamma.with_ghosts(&ghosts);
            let coarser = graphs(&open, &open.paper());
            for (method, graph) in &coarser {
                let lost: Vec<_> = finer[method].difference(graph).take(5).collect();
                assert!(lost.is_empty(), "{}: {method} lost {lost:?}; ghosts {ghosts:?}", gamma.name);
                grew += usize::from(*graph != finer[method]);
            }
            finer = coarser;
        }
    }
    assert!(grew > tier::rounds(100, 300), "{grew}");
}

/// Theorem 2 for clauses (ii) and (iii) of Definition 2: in a refinement, classes and interfaces may have fewer
/// superinterfaces.
#[test]
fn theorem_2_dropped_interfaces() {
    let (mut shrank, mut gone) = (0, 0);
    for gamma in programs() {
        let coarser = graphs(&gamma, &gamma.paper());
        for seed in 0..4 {
            let (fewer, n) = gamma.with_fewer_interfaces(&mut Rng::new(seed));
            gone += n;
            let finer = graphs(&fewer, &fewer.paper());
            for (method, graph) in &finer {
                let lost: Vec<_> = graph.difference(&coarser[method]).take(5).collect();
                assert!(lost.is_empty(), "{}, seed {seed}: {method} lost {lost:?}", gamma.name);
                shrank += usize::from(*graph != coarser[method]);
            }
        }
    }
    let enough = gone > tier::rounds(40, 100) && shrank > tier::rounds(10, 20);
    assert!(enough, "{gone} interfaces gone, {shrank} graphs shrank");
}

/// The clauses are for a language without default methods. With default methods, a class that implements fewer
/// interfaces may select another method, by MCA as by the JVM. So Theorem 2 holds for no order on environments that
/// lets interfaces be dropped.
#[test]
fn dropping_an_interface_may_select_another_default_method() {
    let text = "
.class public interface abstract p/J
.version 52.0
.method public m()V
  return
.end
.class public interface abstract p/I
.version 52.0
.implements p/J
.method public m()V
  return
.end
.class public interface abstract p/K
.version 52.0
.implements p/J
.class public abstract p/C
.implements p/I
.implements p/K
.class public p/Caller
.method public static call(Lp/C;)V
  aload_0
  invokevirtual p/C.m()V
  return
.end
";
    let classes = test_utils::asm::assemble(text).unwrap().into_iter().map(|it| it.bytes).collect();
    let mut gamma = Gamma::closed("defaults".to_owned(), classes, &mut Rng::new(1));
    let labels = |gamma: &Gamma| -> BTreeSet<String> {
        let graphs = graphs(gamma, &gamma.paper());
        graphs["p/Caller.call(Lp/C;)V"].iter().filter_map(|it| it.1.clone()).collect()
    };
    assert_eq!(labels(&gamma), BTreeSet::from(["p/I.m()V".to_owned()]));
    let mut first = true;
    let of_class =
        gamma.classes.iter_mut().find(|it| gamma::parts(&it.bytes).0.head.class.to_string() == "p/C");
    let of_class = of_class.unwrap();
    of_class.bytes = gamma::with_interfaces(&of_class.bytes, || !std::mem::replace(&mut first, false));
    assert_eq!(labels(&gamma), BTreeSet::from(["p/J.m()V".to_owned()]));
}

/// Compares open environments with the reference implementation.
#[test]
fn open_environments_agree_with_the_reference_implementation() {
    let mut missing = 0;
    for gamma in programs().into_iter().step_by(3) {
        let mut rng = Rng::new(gamma.classes.len() as u64);
        let names = ["any", "java.lang.Error", "RuntimeException", "java.lang.Exception"];
        let mut ghosts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (method, _) in gamma.methods().iter().filter(|_| rng.chance(15)) {
            ghosts.insert(method.to_string(), Vec::new());
        }
        for handlers in ghosts.values_mut() {
            *handlers = names.iter().filter(|_| rng.chance(25)).map(|&it| it.to_owned()).collect();
        }
        missing += ghosts.len();
        let open = gamma.with_ghosts(&ghosts);
        let paper = graphs(&open, &open.paper());
        compare(&gamma.name, &paper, &Reference::new(&open, false).graphs());
    }
    assert!(missing > tier::rounds(20, 50), "{missing}");
}

/// Without the refinement order the inclusion does not hold: a method promises to let nothing out, and then lets an
/// exception out.
#[test]
fn a_broken_promise_is_no_refinement() {
    let gamma = of_folder("calls", |_| true);
    let before = graphs(&gamma, &gamma.paper());
    let thrower =
        before.iter().find(|it| it.1.iter().any(|it| it.2.1.is_some() && it.2.2)).unwrap().0.clone();
    let all: BTreeMap<String, Vec<String>> =
        before.keys().map(|it| (it.clone(), vec!["any".to_owned()])).collect();
    assert!(all.contains_key(&thrower));
    let lost = before.keys().filter(|caller| {
        let others = all.iter().filter(|it| it.0 != *caller).map(|it| (it.0.clone(), it.1.clone())).collect();
        let open = gamma.with_ghosts(&others);
        let after = graphs(&open, &open.paper());
        !before[*caller].is_subset(&after[*caller])
    });
    assert!(lost.count() > 0);
}
