//! The JDK whose class library the world uses: how it is chosen, and what is known of it.

use std::path::PathBuf;

use camino::Utf8PathBuf;

/// Which JDK to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JdkChoice {
    /// `JAVA_HOME`, else the `java` on the `PATH`, else none.
    Default,
    /// None: the class library is missing like any other part.
    None,
    /// This home or image.
    At(Utf8PathBuf),
}

/// The JDK of a world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JdkInfo {
    /// Its home folder, or the image when only that was given.
    pub home: Utf8PathBuf,
    /// Its version as its `release` file has it, such as `17.0.15`.
    pub version: Option<String>,
    /// Who made it, by the same file.
    pub implementor: Option<String>,
    /// Its feature release, such as 17.
    pub feature: Option<u16>,
    /// How it was found: `--jdk`, `JAVA_HOME` or `PATH`.
    pub found_by: &'static str,
}

/// A JDK that was found.
pub(crate) type JdkFound = (JdkInfo, JdkFiles);

/// The files of a JDK's class library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum JdkFiles {
    /// The image of JDK 9 and later.
    Image(PathBuf),
    /// The jars of JDK 8 and earlier, or jmods.
    Archives(Vec<PathBuf>),
}

impl JdkChoice {
    /// The choice that an option's text stands for: a path or `none`.
    pub fn parse(text: &str) -> JdkChoice {
        if text == "none" { JdkChoice::None } else { JdkChoice::At(text.into()) }
    }
}

impl JdkInfo {
    /// One phrase for output: `JDK 17.0.15 (Debian) at /usr/lib/jvm/java-17, by PATH`.
    pub fn description(&self) -> String {
        let version = match (&self.version, self.feature) {
            (Some(version), _) => version.clone(),
            (None, Some(feature)) => feature.to_string(),
            (None, None) => "of unknown version".to_owned(),
        };
        let implementor = self.implementor.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        format!("JDK {version}{implementor} at {}, by {}", self.home, self.found_by)
    }
}
