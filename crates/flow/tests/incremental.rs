//! Compares the incremental solver with the solver from scratch: on random systems, after each random edit, both must
//! have the same solution, bit for bit. For a longer run: `AJAR_FUZZ_EDITS=1000000 cargo test -p flow --test
//! incremental`.

#[path = "incremental/masks.rs"]
mod masks;
#[path = "incremental/worlds.rs"]
mod worlds;

use std::panic::{AssertUnwindSafe, catch_unwind};

use flow::solver::{FunctionId, NodeId, System, solve};
use test_utils::tier;

use masks::{Masks, Random};
use worlds::World;

/// Counts of the situations that must occur in a run for the test to be meaningful.
#[derive(Default, Debug)]
struct Met {
    edits: u64,
    /// The number of values that are neither the empty set nor the set of all atoms.
    proper_sets: u64,
    changed_values: u64,
    changed_masks: u64,
    arrived_atoms: u64,
    cancels: u64,
    edits_between: u64,
    panics: u64,
    reused_nodes: u64,
    builds: u64,
    worn: u64,
    replaced: u64,
    cuts: u64,
    splits: u64,
    pieces: u64,
    rounds: u32,
}

impl Met {
    fn add(&mut self, world: &World) {
        let it = world.solver.statistics();
        self.builds += it.builds;
        self.worn += it.worn;
        self.replaced += it.replaced;
        self.cuts += it.cuts;
        self.splits += it.splits;
        self.pieces += it.pieces;
        self.rounds = self.rounds.max(it.rounds);
        self.changed_masks += it.changed_functions;
        self.arrived_atoms += world.arrived_atoms;
        self.reused_nodes += world.reused_nodes;
    }

    fn must_be_worth_it(&self) {
        let numbers = [
            self.proper_sets,
            self.changed_values,
            self.changed_masks,
            self.arrived_atoms,
            self.cancels,
            self.edits_between,
            self.panics,
            self.reused_nodes,
            self.builds,
            self.replaced,
            self.cuts,
            self.pieces,
        ];
        let least = self.edits / 2_000;
        let some = self.worn > 0 && self.splits > 0 && self.rounds > 2;
        assert!(
            some && numbers.iter().all(|&it| it > least),
            "some situations were met too rarely: {self:?}"
        );
    }
}

/// Calls the solver until it succeeds, with random cancellations and panics in between.
fn solve_somehow(world: &mut World, random: &mut Random, met: &mut Met) {
    while random.below(4) == 0 {
        let most = 1 << random.below(9);
        let mut left = random.below(most);
        let mut cancelled = || {
            left = left.saturating_sub(1);
            left == 0
        };
        if world.panics && random.below(4) == 0 {
            world.masks.fuse = Some(random.below(most));
            let solve = || world.solver.solve(&mut world.masks, &mut || false);
            met.panics += u64::from(catch_unwind(AssertUnwindSafe(solve)).is_err());
            world.masks.fuse = None;
        } else {
            met.cancels += u64::from(world.solver.solve(&mut world.masks, &mut cancelled).is_err());
        }
        if random.below(4) == 0 {
            // These values are not a solution, but later reports are relative to them.
            for node in world.solver.take_changed() {
                world.told[node.index()] = world.solver.value(node);
            }
        }
        if random.below(3) == 0 {
            world.edit(random);
            met.edits += 1;
            met.edits_between += 1;
        }
    }
    world.solver.solve(&mut world.masks, &mut || false).expect("this call is never cancelled");
}

fn check(world: &mut World, met: &mut Met) -> Result<(), String> {
    let system = world.solver.system();
    if !same_system(&system, &world.system()) {
        return Err("the solver has another system".to_string());
    }
    let expected = solve(&system, &mut world.masks);
    let mut changed = Vec::new();
    for (node, told) in (0..).map(NodeId).zip(&mut world.told) {
        let (value, right) = (world.solver.value(node), expected.value(node));
        if value != right {
            return Err(format!("{node:?} has {value:#b}, not {right:#b}"));
        }
        met.proper_sets += u64::from(value != 0 && value != world.masks.all());
        if std::mem::replace(told, value) != value {
            changed.push(node);
        }
    }
    met.changed_values += changed.len() as u64;
    let said = world.solver.take_changed();
    if said == changed { Ok(()) } else { Err(format!("{said:?} reported as changed, not {changed:?}")) }
}

fn same_system(a: &System<u64>, b: &System<u64>) -> bool {
    (&a.values, &a.starts, &a.edges) == (&b.values, &b.starts, &b.edges)
}

fn run(seed: u64, n_edits: u32, met: &mut Met) {
    let mut random = Random::new(seed);
    let mut world = World::new(&mut random);
    for i in 0..n_edits {
        world.edit(&mut random);
        met.edits += 1;
        solve_somehow(&mut world, &mut random, met);
        if let Err(message) = check(&mut world, met) {
            panic!("seed {seed}, edit {i}: {message}");
        }
    }
    met.add(&world);
}

#[test]
fn every_edit_gives_the_solution_from_scratch() {
    let asked = std::env::var("AJAR_FUZZ_EDITS").ok().and_then(|it| it.parse().ok());
    let n: u64 = asked.unwrap_or(tier::rounds(40_000, 80_000));
    let seed: Option<u64> = std::env::var("AJAR_FUZZ_SEED").ok().and_then(|it| it.parse().ok());
    std::panic::set_hook(Box::new(|info| {
        if !info.to_string().contains(masks::FUSE) {
            eprintln!("{info}");
        }
    }));
    let mut met = Met::default();
    for seed in seed.map_or(1..u64::MAX, |it| it..it + 1) {
        if met.edits >= n {
            break;
        }
        run(seed, if seed % 8 == 0 { 5_000 } else { 500 }, &mut met);
    }
    eprintln!("{met:?}");
    if seed.is_none() {
        met.must_be_worth_it();
    }
}

#[test]
fn the_first_function_is_the_identity() {
    assert_eq!(Masks::new(3).through(FunctionId::IDENTITY, 5), 5);
}
