//! Measures the analysis of a whole program for `cargo xtask bench`. Each run is a separate process, so nothing is
//! cached.
//!
//! - `ajar-whole program WORLD BLOB` computes the final graphs of all methods of a blob (class files one after
//!   another, see `ajar-bench`) on one thread. It prints the CPU time of the process in nanoseconds for each stage
//!   (records, program, solved, graphs) and for the propagation alone; counts (methods, components, sets, nodes,
//!   edges); the system time of all stages except the propagation; and the peak memory in bytes.

use std::hint::black_box;

use analysis::parts::{ClassParts, MethodPart, PartOptions, Scratch, StageTimes, Wanted};
use analysis::whole::method;
use analysis::whole::record::class_record_of;
use analysis::whole::sets::{Sets, Texts};
use analysis::whole::solve::{propagation, solved};
use analysis::whole::tables::{ClassTable, WholeOptions};
use anyhow::{Context, Result, bail};
use program::input::{Role, WorldKind};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["program", world, blob] => whole(world, blob),
        _ => bail!("usage: ajar-whole program open|declared|closed BLOB"),
    }
}

fn whole(world: &str, blob: &str) -> Result<()> {
    let world = match world {
        "open" => WorldKind::Open,
        "declared" => WorldKind::Declared,
        "closed" => WorldKind::Closed,
        _ => bail!("unknown world `{world}`; the worlds are open, declared, closed"),
    };
    let bytes = std::fs::read(blob).with_context(|| format!("cannot read {blob}"))?;
    let classes = split(&bytes)?;
    let mut times = vec![cpu()?];
    let mut scratch = Scratch::default();
    let mut records = Vec::with_capacity(classes.len());
    let mut codes = Vec::new();
    let select = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    for it in &classes {
        let class = ClassParts::read(it)?;
        let parts = class.methods(&select, &mut scratch, &mut StageTimes::default())?;
        records.push((class_record_of(it, &class, &parts, &mut scratch)?, Role::Jdk));
        // Like `ajar cfg`, keep the code for the graphs, so that no class is read twice.
        let code = |it: MethodPart| Some((it.id(), it.code?.ok()?.0));
        codes.extend(parts.into_iter().filter_map(code));
    }
    times.push(cpu()?);
    let options = WholeOptions {
        world,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let classes_joined = ClassTable::new(records, &options);
    times.push(cpu()?);
    let (program, exceptions) = solved(classes_joined, options, None);
    times.push(cpu()?);
    let (mut nodes, mut edges) = (0, 0);
    let methods = program.calls.classes.methods().count();
    let mut sets = Sets { exceptions: exceptions.clone(), texts: Texts::default() };
    for (method, code) in &codes {
        if let Some(id) = program.calls.classes.named(*method) {
            let graph = method::graph(&program, &mut sets, id, Some(code));
            nodes += graph.cfg.nodes.len();
            edges += graph.cfg.edges.len();
            black_box(&graph);
        }
    }
    times.push(cpu()?);
    let user = driver::usage::user_time().context("this system does not report CPU times")?;
    let system = times.last().unwrap_or(&0).saturating_sub(user.as_nanos() as u64);
    let peak = driver::usage::peak_memory().unwrap_or(0);
    let solution = propagation(&program);
    times.push(cpu()?);
    let spent: Vec<String> = times.windows(2).map(|it| (it[1] - it[0]).to_string()).collect();
    let (components, sets) = (solution.n_components(), exceptions.universe.n_sets());
    println!("{}\t{methods}\t{components}\t{sets}\t{nodes}\t{edges}\t{system}\t{peak}", spent.join("\t"));
    std::mem::forget((program, exceptions, sets, solution, codes));
    Ok(())
}

/// Returns the CPU time of the process in nanoseconds.
fn cpu() -> Result<u64> {
    driver::usage::process_time()
        .map(|it| it.as_nanos() as u64)
        .context("this system does not report CPU times")
}

/// Splits a blob into its class files.
fn split(mut blob: &[u8]) -> Result<Vec<&[u8]>> {
    let mut classes = Vec::new();
    while let Some((length, rest)) = blob.split_first_chunk() {
        let length = u32::from_be_bytes(*length) as usize;
        let (class, rest) = rest.split_at_checked(length).context("the blob is truncated")?;
        classes.push(class);
        blob = rest;
    }
    Ok(classes)
}
