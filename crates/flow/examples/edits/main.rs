//! Measures the incremental solver on a synthetic call graph of the size of a JDK: `cargo run --release -p flow
//! --example edits`. Prints how long edits take, by kind, and how many values they change.

mod graph;
mod sets;

use std::time::Instant;

use flow::incremental::Incremental;
use flow::solver::{NodeId, solve};

use graph::{KINDS, Program};
use sets::Sets;

fn main() {
    let n: u32 = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(300_000);
    let per_kind: u32 = std::env::args().nth(2).and_then(|it| it.parse().ok()).unwrap_or(500);
    let mut program = Program::new(n);
    let mut sets = Sets::new(&mut program.random);
    let mut solver = Incremental::new(Sets::EMPTY);
    let start = Instant::now();
    for node in 0..n {
        assert_eq!(solver.add(), NodeId(node), "nodes are numbered from 0");
    }
    for node in 0..n {
        let (value, edges) = program.node(&mut sets, node);
        solver.update(NodeId(node), value, edges);
    }
    println!("nodes {n}, edges {}: filled in {:.0?}", program.n_edges(), start.elapsed());
    let start = Instant::now();
    solver.solve(&mut sets, &mut || false).expect("this solver is never cancelled");
    println!("first solution {:.0?}, {} sets; {:?}", start.elapsed(), sets.len(), solver.statistics());
    solver.take_changed();
    check(&solver, &mut sets);
    let system = solver.system();
    let start = Instant::now();
    let scratch = solve(&system, &mut sets);
    println!("from scratch {:.0?}, {} components", start.elapsed(), scratch.n_components());

    println!(
        "{:34} {:>8} {:>8} {:>8} {:>8} {:>8}  changed p50 p99 max",
        "µs", "mean", "p50", "p90", "p99", "max"
    );
    let mut everything = Vec::new();
    for (kind, name) in KINDS {
        let (mut times, mut changes) = (Vec::new(), Vec::new());
        for _ in 0..per_kind {
            let edited = program.edit(kind);
            let updates: Vec<_> = edited.iter().map(|&it| (it, program.node(&mut sets, it))).collect();
            let start = Instant::now();
            for (node, (value, edges)) in updates {
                solver.update(NodeId(node), value, edges);
            }
            solver.solve(&mut sets, &mut || false).expect("this solver is never cancelled");
            let changed = solver.take_changed();
            times.push(start.elapsed().as_nanos() as f64 / 1_000.0);
            changes.push(changed.len() as f64);
        }
        everything.extend(times.iter().copied());
        print_row(name, &mut times, &mut changes);
    }
    print_row("all", &mut everything, &mut [0.0]);
    println!("{:?}, {} sets", solver.statistics(), sets.len());
    check(&solver, &mut sets);
}

fn print_row(name: &str, times: &mut [f64], changes: &mut [f64]) {
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    times.sort_by(f64::total_cmp);
    changes.sort_by(f64::total_cmp);
    let at = |of: &[f64], share: f64| of[((of.len() - 1) as f64 * share) as usize];
    println!(
        "{name:34} {mean:8.1} {:8.1} {:8.1} {:8.1} {:8.1}  {} {} {}",
        at(times, 0.5),
        at(times, 0.9),
        at(times, 0.99),
        at(times, 1.0),
        at(changes, 0.5),
        at(changes, 0.99),
        at(changes, 1.0),
    );
}

fn check(solver: &Incremental<u32>, sets: &mut Sets) {
    let solution = solve(&solver.system(), sets);
    let wrong =
        (0..solver.n_nodes()).map(NodeId::from_index).filter(|&it| solver.value(it) != solution.value(it));
    assert_eq!(wrong.count(), 0, "all values are right");
}
