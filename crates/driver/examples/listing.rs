//! Measures the listing of a jar or JDK image from memory: `listing FILE`. Prints the minimum of ten runs, in
//! processor time if the kernel reports it, because the machine may be busy.

use std::time::Duration;

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
        let start = now();
        let containers = if is_image {
            vec![list_image(&file, copy)?.0.into()]
        } else {
            list_archive(&file, copy, 25).map_err(anyhow::Error::msg)?.0
        };
        listing = listing.min(now().saturating_sub(start));
        let start = now();
        let mut scratch = Scratch::new();
        n = 0;
        for it in containers.iter().flat_map(|it| it.classes.iter().map(move |entry| (it, entry))) {
            n += 1;
            std::hint::black_box(it.0.identity(it.1, &mut scratch).is_ok());
        }
        hashing = hashing.min(now().saturating_sub(start));
    }
    println!("{n} classes: listing {listing:?}, hashing {hashing:?}");
    Ok(())
}

/// Returns the processor time of this thread to the nanosecond, or the elapsed time if the kernel does not report it.
fn now() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let start = START.get_or_init(std::time::Instant::now);
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = schedstat.split_ascii_whitespace().next().and_then(|it| it.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}
