//! The JDK whose class library is used: how the JDK is chosen, and its version and files.

use std::path::PathBuf;

use camino::Utf8PathBuf;

/// The user's choice of the JDK whose class library is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JdkChoice {
    /// The user made no choice: the JDK in `JAVA_HOME` is used, else the JDK of the `java` on the `PATH`, else none.
    Default,
    /// No JDK is used: the classes of the class library are absent.
    None,
    /// The JDK with this home folder, or this JDK image.
    At(Utf8PathBuf),
}

/// The JDK whose class library is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JdkInfo {
    /// The home folder of the JDK, or the image if only that was given.
    pub home: Utf8PathBuf,
    /// The version according to the `release` file, such as `17.0.15`; `None` if the file does not have it.
    pub version: Option<String>,
    /// The implementor according to the `release` file, such as `Debian`; `None` if the file does not have it.
    pub implementor: Option<String>,
    /// The feature release, such as 17; `None` if it cannot be determined.
    pub feature: Option<u16>,
    /// How the JDK was found: `--jdk`, `JAVA_HOME` or `PATH`.
    pub found_by: &'static str,
}

/// A JDK that was found, and the files of its class library.
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
    /// Parses the text of the option `--jdk`: a path or `none`.
    pub fn parse(text: &str) -> JdkChoice {
        if text == "none" { JdkChoice::None } else { JdkChoice::At(text.into()) }
    }
}

impl JdkInfo {
    /// Returns a phrase for the output, such as `JDK 17.0.15 (Debian) at /usr/lib/jvm/java-17, by PATH`.
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
