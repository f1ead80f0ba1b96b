//! Thousands of mutated archives and images: none causes a panic, an endless loop or a large allocation. The
//! mutations are deterministic.

mod common;

use std::sync::Arc;

use common::{End, Entry, ZipWriter, entry, zip};
use driver::container::{LoadedContainer, Scratch};
use driver::usage::peak_memory;
use driver::world::{list_archive, list_image};

/// An xorshift64* generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Breaks some bytes in `0..limit`: flips bits, sets runs to 0xFF or 0, copies blocks, truncates.
fn mutate(bytes: &mut Vec<u8>, limit: usize, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let limit = limit.min(bytes.len());
        if limit == 0 {
            return;
        }
        let at = random.below(limit);
        let end = (at + 1 + random.below(8)).min(limit);
        match random.below(9) {
            0 => bytes.truncate(at),
            1 | 2 => bytes[at..end].fill(0xFF),
            3 => bytes[at..end].fill(0),
            4 => bytes.copy_within(at..end, random.below(limit - (end - at) + 1)),
            5 => bytes[at] = random.next() as u8,
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
}

/// Reads everything; returns how many entries could be read, and how many could not.
fn read_all(containers: &[Arc<LoadedContainer>], scratch: &mut Scratch) -> (usize, usize) {
    let (mut good, mut bad) = (0, 0);
    for (container, entry) in containers.iter().flat_map(|it| it.classes.iter().map(move |entry| (it, entry)))
    {
        let _ = container.identity(entry, scratch);
        let _ = (container.display(entry), entry.root(), entry.path());
        match container.bytes(entry, scratch) {
            Ok(_) => good += 1,
            Err(_) => bad += 1,
        }
    }
    (good, bad)
}

fn seeds() -> Vec<Vec<u8>> {
    let text = b"some content that is deflated, deflated, deflated ".repeat(20);
    let lib = zip(&[
        ("META-INF/MANIFEST.MF", b"Multi-Release: true\r\n"),
        ("L.class", &text),
        ("META-INF/versions/9/L.class", b"9"),
    ]);
    let war = zip(&[("WEB-INF/classes/p/A.class", &text), ("WEB-INF/lib/l.jar", &lib)]);
    let mut mixed = ZipWriter::default();
    mixed.add(Entry { zip64: true, ..entry("A.class", &text) });
    mixed.add(Entry { method: 0, ..entry("inner.jar", &lib) });
    mixed.add(entry("app.war", &war));
    let comment = b"a comment PK\x05\x06 with a signature in it, long enough";
    vec![
        mixed.end(&End { zip64: true, ..End::default() }),
        mixed.end(&End { comment, ..End::default() }),
        [b"JM\x01\x00".to_vec(), zip(&[("classes/A.class", &text)])].concat(),
        war,
    ]
}

#[test]
fn broken_archives_break_nothing_else() {
    let mut random = Random(0x5EED);
    let mut scratch = Scratch::new();
    let before = peak_memory();
    let (mut opened, mut refused, mut good, mut bad) = (0, 0, 0, 0);
    for seed in seeds() {
        for _ in 0..5000 {
            let mut mutant = seed.clone();
            let length = mutant.len();
            mutate(&mut mutant, length, &mut random);
            match list_archive("t", mutant, 17) {
                Ok((containers, _)) => {
                    opened += 1;
                    let counts = read_all(&containers, &mut scratch);
                    (good, bad) = (good + counts.0, bad + counts.1);
                }
                Err(_) => refused += 1,
            }
        }
    }
    // The mutants are neither all too broken to be opened nor all harmless.
    assert!(opened > 1000 && refused > 1000 && good > 1000 && bad > 1000, "{opened} {refused} {good} {bad}");
    small(before);
}

#[test]
fn broken_images_break_nothing_else() {
    let mut random = Random(0x1111);
    let mut scratch = Scratch::new();
    let before = peak_memory();
    let (mut opened, mut refused, mut good, mut bad) = (0, 0, 0, 0);
    for big_endian in [false, true] {
        let seed = common::image::sample(big_endian);
        for _ in 0..10_000 {
            let mut mutant = seed.clone();
            let length = mutant.len();
            mutate(&mut mutant, length, &mut random);
            match list_image("t", mutant) {
                Ok((container, _)) => {
                    opened += 1;
                    let counts = read_all(&[container.into()], &mut scratch);
                    (good, bad) = (good + counts.0, bad + counts.1);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(opened > 1000 && refused > 100 && good > 1000 && bad > 1000, "{opened} {refused} {good} {bad}");
    small(before);
}

/// Fails if the peak memory grew by more than 100 MiB since `before`. The seeds have a few kilobytes, and can claim
/// at most about a thousand times their size.
fn small(before: Option<u64>) {
    let grown = peak_memory().zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
    assert!(grown < 100 << 20, "peak memory grew by {grown} bytes");
}
