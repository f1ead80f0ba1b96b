//! The CPU time of this thread, to the microsecond.

use anyhow::{Context, Result};

/// Nanoseconds that this thread has been on a CPU.
///
/// The kernel brings what `schedstat` says up to date when it schedules, and with each of its ticks, which are
/// milliseconds apart; so the thread offers its CPU first. Two readings are 10 µs apart by themselves.
pub(crate) fn cpu_time() -> Result<u64> {
    std::thread::yield_now();
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let field = text.split(' ').next().unwrap_or_default();
    field.parse().with_context(|| format!("{path} starts with `{field}`"))
}
