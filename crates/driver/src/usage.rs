//! The memory and processor time that the process has used so far, from `/proc`. All functions return `None` where
//! there is no `/proc`.

use std::time::Duration;

/// The number of clock ticks per second, in which `/proc/*/stat` gives times; the kernel's interface fixes it to 100
/// on common machines.
const TICKS: u64 = 100;

/// Returns the peak resident memory of the process in bytes, including the pages of mapped files; `None` without
/// `/proc`.
pub fn peak_memory() -> Option<u64> {
    status_value(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Returns the present resident memory of the process in bytes, without the pages of mapped files; `None` without
/// `/proc`.
pub fn own_memory() -> Option<u64> {
    status_value(&std::fs::read_to_string("/proc/self/status").ok()?, "RssAnon:")
}

/// Returns the processor time of all threads of the process, in user code and in the kernel; `None` without `/proc`.
pub fn process_time() -> Option<Duration> {
    stat_time(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Returns the part of [`process_time`] that was spent in user code, not in the kernel; `None` without `/proc`.
pub fn user_time() -> Option<Duration> {
    user_and_system(&std::fs::read_to_string("/proc/self/stat").ok()?).map(|it| it.0)
}

/// Returns the value in bytes of the line `NAME:   1234 kB` in `status`, the text of `/proc/self/status`. `name`
/// includes the colon. `None` if there is no such line.
fn status_value(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|it| it.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns the user time and the system time of the process: fields 14 and 15 of `stat`, the text of
/// `/proc/self/stat`. `None` if the text is malformed. The second field is the program's name in parentheses, which
/// may contain any characters.
fn user_and_system(stat: &str) -> Option<(Duration, Duration)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let mut time = || -> Option<Duration> {
        let ticks: u64 = fields.next()?.parse().ok()?;
        Some(Duration::from_millis(ticks.checked_mul(1000 / TICKS)?))
    };
    Some((time()?, time()?))
}

/// Returns the sum of user time and system time of the process, given `stat`, the text of `/proc/self/stat`; `None`
/// if the text is malformed.
fn stat_time(stat: &str) -> Option<Duration> {
    let (user, system) = user_and_system(stat)?;
    user.checked_add(system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_understood() {
        let status = "Name:\tajar\nVmHWM:\t  2048 kB\nRssAnon:\t 1 kB\n";
        assert_eq!(status_value(status, "VmHWM:"), Some(2 << 20));
        assert_eq!(status_value(status, "VmSwap:"), None);
        let stat = "1 (a) b (c)) R 1 1 1 0 -1 4194304 90 0 0 0 150 25 0 0 20 0 1 0 9 0 0";
        assert_eq!(stat_time(stat), Some(Duration::from_millis(1750)));
        assert_eq!(stat_time("1 (a) R"), None);
    }

    #[test]
    fn this_process_has_used_something() {
        if cfg!(target_os = "linux") {
            assert!(peak_memory().unwrap() >= own_memory().unwrap());
            assert!(process_time().unwrap() >= user_time().unwrap());
        }
    }
}
