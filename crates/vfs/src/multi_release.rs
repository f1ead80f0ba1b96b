//! Selects the entries of a multi-release archive that apply to a Java release (JEP 238), and one entry among several
//! with the same name, given only the names.

use rustc_hash::FxHashMap;

/// The folder of the versioned entries in a multi-release archive.
pub const VERSIONS: &str = "META-INF/versions/";

/// The versions whose folders in [`VERSIONS`] are read: those from `first` to `last`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Versions {
    /// The lowest version that is read.
    pub first: u16,
    /// The highest version that is read; if it is lower than `first`, none is read.
    pub last: u16,
}

/// No version: all folders in [`VERSIONS`] are ignored.
pub const NO_VERSIONS: Versions = Versions { first: 1, last: 0 };

/// Returns the versions that a JVM of the Java release `release` reads. From release 9 on, these are the versions from 8
/// to the release: the JDK has 8 as its base version, and ignores only folders below it
/// (`java.util.jar.JarFile::getVersionedEntry`). Earlier releases ignore all folders.
pub fn versions(release: u16) -> Versions {
    if release >= 9 { Versions { first: 8, last: release } } else { NO_VERSIONS }
}

/// The result of [`select`]: the entries that the JVM uses, and the entries that are hidden by others of the same
/// name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// The selected entries, in directory order.
    pub chosen: Vec<Chosen>,
    /// The indices of the entries that are hidden by a later entry with the same name. Of several entries with the
    /// same name, the JVM uses the last one in the directory.
    pub shadowed: Vec<usize>,
}

/// A selected entry of an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// The index of the entry in the list of names that was passed to [`select`].
    pub index: usize,
    /// The length in bytes of the start of the entry's name that is not part of the path at which the JVM finds the
    /// entry. For an entry of release 17, this is the length of `META-INF/versions/17/`; for an unversioned entry, 0.
    pub root_len: usize,
}

/// Selects, for each path, the entry that a class loader uses: that of the greatest version in `versions`, else the
/// entry without a version. `names` are the names of all entries, in directory order. For an archive that is not
/// multi-release, `versions` is [`NO_VERSIONS`].
pub fn select(names: &[&str], versions: Versions) -> Selection {
    let mut selection = Selection::default();
    // For each path, the version and index of the best entry so far.
    let mut best: FxHashMap<&str, (u16, usize)> = FxHashMap::default();
    best.reserve(names.len());
    for (index, name) in names.iter().enumerate() {
        let (version, path) = match name.strip_prefix(VERSIONS) {
            None => (0, *name),
            Some(rest) => {
                match versioned(rest).filter(|it| versions.first <= it.0 && it.0 <= versions.last) {
                    Some(it) => it,
                    None => continue,
                }
            }
        };
        best.entry(path)
            .and_modify(|(best_version, best_index)| {
                if version == *best_version {
                    selection.shadowed.push(*best_index);
                }
                if version >= *best_version {
                    (*best_version, *best_index) = (version, index);
                }
            })
            .or_insert((version, index));
    }
    selection.chosen.extend(best.iter().map(|(path, &(_, index))| Chosen {
        index,
        root_len: names.get(index).map_or(0, |it| it.len() - path.len()),
    }));
    selection.chosen.sort_unstable_by_key(|it| it.index);
    selection.shadowed.sort_unstable();
    selection
}

/// Splits the name of a versioned entry after `META-INF/versions/`, such as `17/p/C.class`, into the version and the
/// path. Returns `None` if the JVM ignores the entry: if the version is not a number or has a leading zero, or if the
/// path is empty or in `META-INF/`.
fn versioned(rest: &str) -> Option<(u16, &str)> {
    let (version, path) = rest.split_once('/')?;
    let plain = version.bytes().all(|it| it.is_ascii_digit()) && !version.starts_with('0');
    let version: u16 = version.parse().ok().filter(|_| plain)?;
    (!path.starts_with("META-INF/") && !path.is_empty()).then_some((version, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 11] = [
        "A.class",
        "B.class",
        "META-INF/versions/8/A.class",
        "META-INF/versions/9/A.class",
        "META-INF/versions/17/A.class",
        "META-INF/versions/25/A.class",
        "META-INF/versions/x/A.class",
        "META-INF/versions/09/A.class",
        "META-INF/versions/17/Only.class",
        "META-INF/versions/7/B.class",
        "META-INF/versions/8/B.class",
    ];

    fn chosen(names: &[&str], release: Option<u16>) -> Vec<String> {
        let selection = select(names, release.map_or(NO_VERSIONS, versions));
        let text = |it: &Chosen| format!("{} {}", it.index, &names[it.index][it.root_len..]);
        selection.chosen.iter().map(text).collect()
    }

    #[test]
    fn the_largest_version_up_to_the_release_wins() {
        assert_eq!(chosen(&NAMES, Some(8)), ["0 A.class", "1 B.class"]);
        assert_eq!(chosen(&NAMES, Some(9)), ["3 A.class", "10 B.class"]);
        assert_eq!(chosen(&NAMES, Some(16)), ["3 A.class", "10 B.class"]);
        assert_eq!(chosen(&NAMES, Some(17)), ["4 A.class", "8 Only.class", "10 B.class"]);
        assert_eq!(chosen(&NAMES, Some(30)), ["5 A.class", "8 Only.class", "10 B.class"]);
    }

    #[test]
    fn without_the_manifest_line_versions_are_ignored() {
        assert_eq!(chosen(&NAMES, None), ["0 A.class", "1 B.class"]);
    }

    #[test]
    fn the_last_entry_of_a_name_wins_whatever_the_order_of_versions() {
        let names =
            ["META-INF/versions/9/A.class", "A.class", "A.class", "META-INF/versions/9/A.class", "B.class"];
        let selection = select(&names, versions(17));
        assert_eq!(chosen(&names, Some(17)), ["3 A.class", "4 B.class"]);
        assert_eq!(selection.shadowed, [0]);
        let selection = select(&names, NO_VERSIONS);
        assert_eq!(selection.shadowed, [1]);
        assert_eq!(chosen(&names, None), ["2 A.class", "4 B.class"]);
    }

    #[test]
    fn meta_inf_is_never_versioned() {
        assert_eq!(chosen(&["META-INF/versions/9/META-INF/X.class"], Some(17)), [""; 0]);
        assert_eq!(
            chosen(&["META-INF/versions/9/", "META-INF/versions/99999999/A.class"], Some(17)),
            [""; 0]
        );
    }
}
