//! Finds the JDKs that are installed on this machine.

use std::path::{Path, PathBuf};

/// A JDK or JRE that is installed on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Jdk {
    pub(crate) home: PathBuf,
    /// The version in the file `release`, such as `17.0.12`; `unknown` if the file does not have it.
    pub(crate) version: String,
    /// The path of the class library: `lib/modules`, or `jre/lib/rt.jar` for JDK 8.
    pub(crate) library: PathBuf,
}

impl Jdk {
    fn at(home: &Path) -> Option<Jdk> {
        let home = home.canonicalize().ok()?;
        let library = ["lib/modules", "jre/lib/rt.jar", "lib/rt.jar"]
            .iter()
            .map(|it| home.join(it))
            .find(|it| it.is_file())?;
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        Some(Jdk { version: version(&release), home, library })
    }

    /// Returns the feature release: 17 for the version `17.0.12`, 8 for `1.8.0_402`, 0 if the version is unknown.
    pub(crate) fn feature(&self) -> u32 {
        let mut parts = self.version.split(['.', '+', '-']).filter_map(|it| it.parse().ok());
        match parts.next() {
            Some(1) => parts.next().unwrap_or(1),
            found => found.unwrap_or(0),
        }
    }
}

fn version(release: &str) -> String {
    let line = release.lines().find_map(|it| it.strip_prefix("JAVA_VERSION="));
    line.map_or("unknown", |it| it.trim().trim_matches('"')).to_string()
}

/// Returns all JDKs, each once: from `JAVA_HOME`, from each `java` on the `PATH`, and from `/usr/lib/jvm`, in this
/// order.
pub(crate) fn find_all() -> Vec<Jdk> {
    let mut homes: Vec<PathBuf> = Vec::new();
    homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
    for folder in std::env::var_os("PATH").iter().flat_map(std::env::split_paths) {
        // `java` is a link to HOME/bin/java, often through other links.
        if let Ok(java) = folder.join("java").canonicalize()
            && let Some(home) = java.parent().and_then(Path::parent)
        {
            homes.push(home.to_path_buf());
        }
    }
    let mut installed: Vec<PathBuf> = std::fs::read_dir("/usr/lib/jvm")
        .map(|entries| entries.filter_map(|it| Some(it.ok()?.path())).collect())
        .unwrap_or_default();
    installed.sort();
    homes.extend(installed);
    let mut found: Vec<Jdk> = Vec::new();
    for jdk in homes.iter().filter_map(|it| Jdk::at(it)) {
        if !found.iter().any(|it| it.home == jdk.home) {
            found.push(jdk);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_release() {
        let feature = |release: &str| {
            Jdk { home: PathBuf::new(), version: version(release), library: PathBuf::new() }.feature()
        };
        assert_eq!(feature("X=1\nJAVA_VERSION=\"17.0.12\"\n"), 17);
        assert_eq!(feature("JAVA_VERSION=\"1.8.0_402\""), 8);
        assert_eq!(feature("JAVA_VERSION=\"25\""), 25);
        assert_eq!(feature(""), 0);
    }
}
