//! The CPU time of this thread, with a resolution of microseconds.

use anyhow::{Context, Result};

/// Returns the time in nanoseconds that this thread has run on a CPU.
///
/// The kernel updates `schedstat` when it schedules a thread and at each clock tick; ticks are milliseconds apart.
/// Therefore the thread yields its CPU before it reads the file. Two readings in a row differ by 10 µs.
pub(crate) fn cpu_time() -> Result<u64> {
    std::thread::yield_now();
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let field = text.split(' ').next().unwrap_or_default();
    field.parse().with_context(|| format!("{path} starts with `{field}`"))
}
