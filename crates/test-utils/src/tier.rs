//! The tiers of tests, which determine how much work tests do. `cargo test` runs the *fast* tier by default: every
//! test, but with fewer random programs and edits, on only one JDK where there are several, and with few queries
//! about a whole JDK. In the fast tier, all tests together take at most three minutes of CPU time after the build.
//! The *full* tier runs everything. It is used by `.ci/run`, and wherever the environment variable `AJAR_TESTS` is
//! `full`.
//!
//! The random programs of the fast tier are the first ones of the full tier: a seed makes the same program in both
//! tiers. No other file reads the variable; `cargo xtask tidy` checks that.

use std::ffi::OsStr;

/// The tier of the tests, which determines how much work they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    Fast,
    Full,
}

impl Tier {
    /// The tier in which the tests are running.
    fn current() -> Tier {
        Tier::named(std::env::var_os("AJAR_TESTS").as_deref())
    }

    fn named(value: Option<&OsStr>) -> Tier {
        match value {
            None => Tier::Fast,
            Some(it) if it == "full" => Tier::Full,
            Some(it) => {
                panic!("AJAR_TESTS is {it:?}, but only `full` is allowed; unset AJAR_TESTS for the fast tier")
            }
        }
    }
}

/// Whether the tests are running in the full tier.
///
/// # Panics
/// Panics if `AJAR_TESTS` is set to anything but `full`.
pub fn is_full() -> bool {
    Tier::current() == Tier::Full
}

/// Returns `fast` in the fast tier and `full` in the full tier: for example the number of random programs of a test,
/// or the least number of cases that the test must cover.
///
/// # Panics
/// Panics if `AJAR_TESTS` is set to anything but `full`.
pub fn rounds<N>(fast: N, full: N) -> N {
    if is_full() { full } else { fast }
}

/// The number of items that a test takes from a list, for `Iterator::take`: `n` in the fast tier, all in the full
/// tier.
///
/// # Panics
/// Panics if `AJAR_TESTS` is set to anything but `full`.
pub fn at_most(n: usize) -> usize {
    rounds(n, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_selects_the_tier() {
        assert_eq!(Tier::named(None), Tier::Fast);
        assert_eq!(Tier::named(Some("full".as_ref())), Tier::Full);
    }

    #[test]
    fn an_unknown_tier_is_refused() {
        for name in ["", "Full", "fast", "1"] {
            assert!(std::panic::catch_unwind(|| Tier::named(Some(name.as_ref()))).is_err(), "{name}");
        }
    }
}
