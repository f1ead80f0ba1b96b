//! The classes of the platform that the VM initialises before it runs `main`. Whatever a program does, their
//! initialisation has succeeded, so it raises nothing any more.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use classfile::names::ClassName;
use flow::natives::RELEASES;
use rustc_hash::FxHashMap;

static TABLE: LazyLock<FxHashMap<ClassName, RangeInclusive<u16>>> = LazyLock::new(|| {
    // A test checks that every line can be read.
    lines().filter_map(row).collect()
});

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("before_main.tsv").lines().filter(|it| !it.starts_with('#'))
}

fn row(line: &str) -> Option<(ClassName, RangeInclusive<u16>)> {
    let (class, releases) = line.split_once('\t')?;
    let (first, last) = releases.split_once('-')?;
    Some((ClassName::new(class.as_bytes()), first.parse().ok()?..=last.parse().ok()?))
}

/// Returns whether the VM of this release initialises this class of the platform before it runs `main`. If the release
/// is not known, returns whether the VM of every release does.
pub(super) fn is_initialized_before_main(class: ClassName, release: Option<u16>) -> bool {
    TABLE.get(&class).is_some_and(|it| release.map_or(*it == RELEASES, |release| it.contains(&release)))
}

/// Returns the number of classes for which [`is_initialized_before_main`] holds.
pub fn n_initialized_before_main(release: Option<u16>) -> usize {
    TABLE.keys().filter(|it| is_initialized_before_main(**it, release)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_row_and_lines_are_sorted() {
        assert!(lines().is_sorted());
        assert_eq!(lines().count(), TABLE.len());
    }

    #[test]
    fn a_row_counts_in_its_releases() {
        let string = ClassName::new(b"java/lang/String");
        let integer = ClassName::new(b"java/lang/Integer");
        assert!([None, Some(8), Some(25)].iter().all(|it| is_initialized_before_main(string, *it)));
        assert!(!is_initialized_before_main(string, Some(26)));
        assert!(!is_initialized_before_main(integer, None));
        assert!(is_initialized_before_main(integer, Some(17)));
    }
}
