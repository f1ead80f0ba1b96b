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
    /// The JDK with the home folder at this path, or with the image (`lib/modules`) at this path.
    At(Utf8PathBuf),
}

/// Information about the JDK whose class library is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JdkInfo {
    /// The home folder of the JDK. If the user gave an image file that is not inside a JDK home, the path of the
    /// image.
    pub home: Utf8PathBuf,
    /// The version that the JDK's `release` file states, such as `17.0.15`; `None` if the file is missing or states
    /// no version.
    pub version: Option<String>,
    /// The implementor that the JDK's `release` file states, such as `Debian`; `None` if the file is missing or
    /// states no implementor.
    pub implementor: Option<String>,
    /// The feature release of the JDK, such as 17; `None` if neither the version nor the image tells it.
    pub feature: Option<u16>,
    /// How the JDK was found: by the option `--jdk`, or by the environment variable `JAVA_HOME` or `PATH`.
    pub found_by: &'static str,
}

/// A JDK that was found, and the files of its class library.
pub(crate) type JdkFound = (JdkInfo, JdkFiles);

/// The files of a JDK's class library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum JdkFiles {
    /// The path of the image (`lib/modules`) of a JDK 9 or later.
    Image(PathBuf),
    /// The paths of the jars of a JDK 8 or earlier, or of the jmod files of a JDK without an image.
    Archives(Vec<PathBuf>),
}

impl JdkChoice {
    /// Parses the text of the option `--jdk`: `none`, or the path of a JDK home or of an image.
    pub fn parse(text: &str) -> JdkChoice {
        if text == "none" { JdkChoice::None } else { JdkChoice::At(text.into()) }
    }
}

impl JdkInfo {
    /// Returns a phrase for the output that describes the JDK and how it was found, such as `JDK 17.0.15 (Debian) at
    /// /usr/lib/jvm/java-17, by PATH`.
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
