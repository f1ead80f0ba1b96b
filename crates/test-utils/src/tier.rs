//! How much the tests do. The *fast* tier is what `cargo test` runs by default: every test, but with fewer rounds of random
//! programs and edits, on one JDK where there are several, and with few questions about a whole JDK, so that all tests
//! together take at most three minutes of CPU time after the build. The *full* tier, of `.ci/run`, takes everything. It runs
//! where the environment variable `AJAR_TESTS` is `full`.
//!
//! Rounds of the fast tier are the first ones of the full tier: a seed makes the same program in both. No other file reads
//! the variable; `cargo xtask tidy` checks that.

use std::ffi::OsStr;

/// A tier of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    Fast,
    Full,
}

impl Tier {
    /// The tier of this run.
    fn current() -> Tier {
        Tier::named(std::env::var_os("AJAR_TESTS").as_deref())
    }

    fn named(value: Option<&OsStr>) -> Tier {
        match value {
            None => Tier::Fast,
            Some(it) if it == "full" => Tier::Full,
            Some(it) => panic!("AJAR_TESTS is {it:?}: only `full` is known; unset it for the fast tier"),
        }
    }
}

/// Whether this run takes the full tier.
///
/// # Panics
/// Where `AJAR_TESTS` is neither `full` nor absent.
pub fn is_full() -> bool {
    Tier::current() == Tier::Full
}

/// How many rounds a test makes, or how much it must have met: a number for each tier.
///
/// # Panics
/// As [`is_full`].
pub fn rounds<N>(fast: N, full: N) -> N {
    if is_full() { full } else { fast }
}

/// How many of a list a test takes: the first `n` in the fast tier, all in the full one. For `Iterator::take`.
///
/// # Panics
/// As [`is_full`].
pub fn at_most(n: usize) -> usize {
    rounds(n, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_the_tier() {
        assert_eq!(Tier::named(None), Tier::Fast);
        assert_eq!(Tier::named(Some("full".as_ref())), Tier::Full);
    }

    #[test]
    fn another_name_is_refused() {
        for name in ["", "Full", "fast", "1"] {
            assert!(std::panic::catch_unwind(|| Tier::named(Some(name.as_ref()))).is_err(), "{name}");
        }
    }
}
