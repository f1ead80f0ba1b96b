//! Random histories: the answers of a host depend only on the current classes, not on earlier ones.

use ide::{Role, WorldKind};
use test_utils::generate::{Mode, program};
use test_utils::rng::Rng;
use test_utils::tier;

use crate::shop::{Archive, Shop};

type Classes = Vec<(String, Vec<u8>)>;

fn archives(seed: u64) -> Vec<Archive> {
    let mode = [Mode::Plain, Mode::OddRows, Mode::Dynamic][seed as usize % 3];
    let mut app = Archive { name: "app", role: Role::App, classes: Vec::new() };
    let mut lib = Archive { name: "lib", role: Role::Lib, classes: Vec::new() };
    for (i, it) in program(seed, mode).unwrap().classes.into_iter().enumerate() {
        let archive = if i % 3 == 2 { &mut lib } else { &mut app };
        archive.put_bytes(it.name.rsplit('/').next().unwrap(), it.bytes);
    }
    vec![app, lib]
}

/// Makes one random edit: mostly flips a bit of a class; otherwise changes which container holds which classes.
fn edit(shop: &mut Shop, rng: &mut Rng, gone: &mut Classes, originals: &Classes) {
    // In the other worlds, edits rebuild the program. The history does not stay in them.
    shop.settings.options.world = WorldKind::Open;
    let at = rng.range(0, 1) as usize;
    let archive = &mut shop.archives[at];
    let n_classes = archive.classes.len() as i32;
    let class = rng.range(0, (n_classes - 1).max(0)) as usize;
    match rng.range(0, 20) {
        0 if n_classes > 0 => gone.push(archive.classes.remove(class)),
        1 => {
            if let Some((name, bytes)) = gone.pop() {
                archive.put_bytes(&name, bytes);
            }
        }
        // Put the same class into both containers, so that one definition shadows the other.
        2 if n_classes > 0 => {
            let (name, bytes) = archive.classes[class].clone();
            shop.archives[1 - at].put_bytes(&name, bytes);
        }
        3 => shop.archives.swap(0, 1),
        4 => shop.settings.options.world = rng.one([WorldKind::Declared, WorldKind::Closed]),
        // Flip one bit of the original class. If bits accumulated, the code could soon not be read any more.
        _ if n_classes > 0 => {
            let (name, bytes) = &mut archive.classes[class];
            *bytes = originals.iter().find(|it| it.0 == *name).unwrap().1.clone();
            let i = rng.range(10, bytes.len() as i32 - 1) as usize;
            bytes[i] ^= 1 << rng.range(0, 4);
        }
        _ => {}
    }
}

#[test]
fn answers_do_not_depend_on_history() {
    let mut taken_in = 0;
    for seed in 0..tier::rounds(3, 9) {
        let mut shop = Shop::new(archives(seed));
        let originals = shop.archives.iter().flat_map(|it| it.classes.clone()).collect();
        let (mut rng, mut gone) = (Rng::new(seed), Vec::new());
        for _ in 0..60 {
            edit(&mut shop, &mut rng, &mut gone, &originals);
            if rng.chance(20) {
                shop.host.keep_current(&mut || false);
            }
            // This compares with a new host.
            shop.ran();
        }
        taken_in += shop.host.counts().updated;
    }
    assert!(taken_in > tier::rounds(30, 100), "{taken_in}");
}

#[test]
fn cancelled_questions_leave_nothing_half_done() {
    let mut broken_off = 0_u32;
    for seed in 9..tier::rounds(11, 15) {
        let mut shop = Shop::new(archives(seed));
        let originals = shop.archives.iter().flat_map(|it| it.classes.clone()).collect();
        let (mut rng, mut gone) = (Rng::new(seed), Vec::new());
        for _ in 0..30 {
            // Each edit arrives while another thread asks about the state before it.
            for _ in 0..rng.range(1, 4) {
                edit(&mut shop, &mut rng, &mut gone, &originals);
                shop.tell();
                let asked = shop.asked_meanwhile();
                for _ in 0..rng.range(0, 100_000) {
                    std::hint::spin_loop();
                }
                edit(&mut shop, &mut rng, &mut gone, &originals);
                shop.tell();
                broken_off += u32::from(asked.join().unwrap());
            }
            shop.ran();
        }
    }
    // The number of cancelled questions depends on the threads, but there must be some.
    assert!(broken_off > 0);
}
