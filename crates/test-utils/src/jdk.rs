//! Finds JDKs: `JAVA_HOME`, the `java` on the `PATH`, then `/usr/lib/jvm/*`.

use std::path::{Path, PathBuf};

/// An installed JDK or JRE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    /// The home folder, which contains `bin/java`.
    pub home: PathBuf,
    /// The number of the feature release: 8, 17, 25.
    pub version: u32,
}

impl Jdk {
    /// The JDK in the folder `home`; `None` if the folder does not contain one.
    pub fn at(home: &Path) -> Option<Jdk> {
        let home = home.canonicalize().ok()?;
        if !home.join("bin/java").is_file() && !home.join("bin/java.exe").is_file() {
            return None;
        }
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let line = release.lines().find_map(|it| it.strip_prefix("JAVA_VERSION="))?;
        let line = line.trim_matches('"');
        let line = line.strip_prefix("1.").unwrap_or(line);
        let digits: String = line.chars().take_while(char::is_ascii_digit).collect();
        Some(Jdk { version: digits.parse().ok()?, home })
    }

    /// The path of the launcher, `bin/java`.
    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }
}

/// All JDKs of this machine, each once, in the order in which they are found.
pub fn all() -> Vec<Jdk> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&path) {
        if let Ok(java) = folder.join("java").canonicalize() {
            homes.extend(java.ancestors().nth(2).map(Path::to_path_buf));
        }
    }
    if let Ok(entries) = std::fs::read_dir("/usr/lib/jvm") {
        let mut found: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
        found.sort();
        homes.extend(found);
    }
    let mut out: Vec<Jdk> = Vec::new();
    for jdk in homes.iter().filter_map(|it| Jdk::at(it)) {
        if !out.iter().any(|it| it.home == jdk.home) {
            out.push(jdk);
        }
    }
    out
}

/// The first JDK of at least release `version`. If the result is `None`, the caller must skip its test.
///
/// # Panics
/// Panics if there is no such JDK and the environment variable `CI` is `true`, because a skipped test would
/// hide a broken set-up of the CI machine.
pub fn at_least(version: u32) -> Option<Jdk> {
    let found = all().into_iter().find(|it| it.version >= version);
    if found.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no JDK {version} or newer on this machine");
        eprintln!("skipped: no JDK {version} or newer on this machine");
    }
    found
}
