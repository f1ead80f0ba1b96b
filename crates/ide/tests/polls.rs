//! All work on a whole program checks often enough whether it was cancelled.

use analysis::whole::maintained::MaintainedProgram;
use analysis::whole::solve::solved_cancellable;
use analysis::whole::tables::ClassTable;
use flow::fuel::{Fuel, PATIENCE};
use ide::whole::{ClassRecord, read_class};
use ide::{Packages, Role, Scratch, WholeOptions, WorldKind};
use test_utils::generate::{Mode, program};
use test_utils::tier;

/// Counts the checks for cancellation, and cancels at the given one, if there is one.
struct Polls {
    n: u32,
    cancelled_at: u32,
}

impl Polls {
    fn of<T>(cancelled_at: u32, work: impl FnOnce(&mut Fuel<'_>) -> T) -> (T, u32) {
        let mut polls = Polls { n: 0, cancelled_at };
        let mut cancelled = || {
            polls.n += 1;
            polls.n == polls.cancelled_at
        };
        let done = work(&mut Fuel::new(PATIENCE, &mut cancelled));
        (done, polls.n)
    }
}

/// All work that grows with the program stops soon after it is cancelled, in whatever phase.
#[test]
fn work_on_a_large_program_can_be_cancelled_in_each_phase() {
    let programs = (0..tier::rounds(40, 150)).map(|it| program(it, Mode::Dynamic).unwrap());
    let classes: Vec<Vec<u8>> = programs.flat_map(|it| it.classes).map(|it| it.bytes).collect();
    for world in [WorldKind::Open, WorldKind::Declared] {
        let options = WholeOptions {
            world,
            release: Some(17),
            assume_contract: false,
            link_errors: false,
            async_errors: false,
            system_assertions: false,
        };
        let record = |it: &Vec<u8>| (read_class(it, &mut Scratch::default()).unwrap(), Role::App);
        let records: Vec<(ClassRecord, Role)> = classes.iter().map(record).collect();
        let joined =
            |fuel: &mut Fuel<'_>| ClassTable::joined(records.clone(), &options, &Packages::default(), fuel);
        let (made, n_joined) = Polls::of(u32::MAX, joined);
        let made = made.unwrap();
        let (n_classes, n_methods) = (made.hierarchy.len() as u32, made.methods().count() as u32);
        let solve = |fuel: &mut Fuel<'_>| solved_cancellable(made.clone(), options, None, fuel);
        let (whole, n_solved) = Polls::of(u32::MAX, solve);
        let (solved, mut sets) = whole.unwrap();
        let mut whole = MaintainedProgram::new(solved);
        for n in (1..n_joined).step_by(3) {
            assert!(Polls::of(n, joined).0.is_err(), "{n} of {n_joined}");
        }
        for n in (1..n_solved).step_by(n_solved as usize / 40) {
            assert!(Polls::of(n, solve).0.is_err(), "{n} of {n_solved}");
        }
        // Cancel the work a little later each time, until nothing is left to do.
        let mut n_kept = 0;
        for n in 1.. {
            let (done, polls) = Polls::of(n, |fuel| whole.prepare(&mut sets, fuel));
            n_kept += polls;
            if done.is_ok() {
                break;
            }
        }
        println!(
            "{world:?}: {n_classes} classes, {n_methods} methods: {n_joined} polls to join, {n_solved} to solve, {n_kept} to keep"
        );
        assert!(
            n_classes > tier::rounds(250, 1_000) && n_joined > n_classes / 20,
            "{n_joined} for {n_classes}"
        );
        assert!(n_solved > n_methods / 30, "{n_solved} for {n_methods}");
        assert!(n_kept > n_methods / 30, "{n_kept} for {n_methods}");
    }
}
