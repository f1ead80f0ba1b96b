//! Measures listing from memory: `listing FILE`, a jar (with hashes) or an image. Prints the best of ten.

use std::time::{Duration, Instant};

use driver::container::Scratch;
use driver::world::{list_archive, list_image};

fn main() -> anyhow::Result<()> {
    let file = std::env::args().nth(1).unwrap_or_default();
    let bytes = std::fs::read(&file)?;
    let (mut listing, mut hashing) = (Duration::MAX, Duration::MAX);
    let mut n = 0;
    for _ in 0..10 {
        let copy = bytes.clone();
        let is_image = !copy.starts_with(b"PK");
        let start = Instant::now();
        let containers = if is_image {
            vec![list_image(&file, copy)?.0]
        } else {
            list_archive(&file, copy, 25).map_err(anyhow::Error::msg)?.0
        };
        listing = listing.min(start.elapsed());
        let start = Instant::now();
        let mut scratch = Scratch::new();
        n = 0;
        for it in containers.iter().flat_map(|it| it.classes.iter().map(move |entry| (it, entry))) {
            n += 1;
            std::hint::black_box(it.0.identity(it.1, &mut scratch).is_ok());
        }
        hashing = hashing.min(start.elapsed());
    }
    println!("{n} classes: listing {listing:?}, hashing {hashing:?}");
    Ok(())
}
