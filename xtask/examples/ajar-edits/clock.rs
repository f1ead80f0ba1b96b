//! The CPU time of this thread, with a resolution of microseconds.

use anyhow::{Context, Result};

/// The time in nanoseconds that this thread has run on a CPU.
///
/// The kernel updates `schedstat` when it schedules a thread and at each of its ticks, which are milliseconds apart.
/// Therefore the thread yields its CPU first. Two readings in a row are 10 µs apart.
pub(crate) fn cpu_time() -> Result<u64> {
    std::thread::yield_now();
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let field = text.split(' ').next().unwrap_or_default();
    field.parse().with_context(|| format!("{path} starts with `{field}`"))
}
