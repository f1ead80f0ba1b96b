//! The layouts of archives: where an archive has its classes and its libraries, and in which order a loader searches
//! them. The rules for Spring Boot were observed by running its loaders (`docs/semantics.md` §1).

use vfs::classpath_index::CLASSPATH_INDEX_NAME;
use vfs::manifest::Manifest;
use vfs::multi_release::{NO_VERSIONS, Versions, versions};

/// The layout of an archive, or of a folder with the content of one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The classes are at the root.
    Jar,
    /// A Spring Boot archive, which its own loader runs.
    Boot(Web, BootLoader),
    /// A war, which a servlet container runs.
    War(Web),
    Ear,
    Jmod,
}

/// The folders of a war or of a Spring Boot archive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Web {
    /// The folder that contains the others.
    pub(crate) inf: &'static str,
    /// The folder of the classes.
    pub(crate) classes: &'static str,
    /// The folder of the libraries.
    pub(crate) lib: &'static str,
    /// The folder of further libraries, which only the loader of Spring Boot reads; `None` if there is none.
    pub(crate) provided: Option<&'static str>,
}

/// The generations of the loader of Spring Boot. They differ in which multi-release archives they read as such.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BootLoader {
    /// The loader of Spring Boot 1.x and 2.0 reads no inner archive as multi-release.
    First,
    /// The loader of Spring Boot 2.1 to 3.1, which later releases call "classic", reads versions from 9 on, also in the
    /// folder of the classes.
    Classic,
    /// The loader of Spring Boot from 3.2 on reads the same versions of inner archives as the JDK, and none in the folder
    /// of the classes.
    Current,
}

/// The folders of a Spring Boot archive.
const BOOT: Web =
    Web { inf: "BOOT-INF/", classes: "BOOT-INF/classes/", lib: "BOOT-INF/lib/", provided: None };
/// The folders of a war.
const WAR: Web = Web {
    inf: "WEB-INF/",
    classes: "WEB-INF/classes/",
    lib: "WEB-INF/lib/",
    provided: Some("WEB-INF/lib-provided/"),
};

/// The folders by which an unpacked war or Spring Boot archive is recognised.
pub(crate) const UNPACKED: [Web; 2] = [BOOT, WAR];

impl Layout {
    /// Returns the layout of a Spring Boot archive or a war with this manifest; `None` for another archive. `has` tells
    /// whether the archive has an entry in this folder.
    pub(crate) fn web(manifest: &Manifest, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let there = |web: Web| (has(web.classes) || has(web.lib)).then_some(web);
        if let Some(web) = there(BOOT) {
            return Some(Layout::Boot(web, BootLoader::of(manifest).unwrap_or(BootLoader::Current)));
        }
        let web = there(WAR)?;
        Some(match BootLoader::of(manifest) {
            Some(loader) => Layout::Boot(web, loader),
            None => Layout::War(web),
        })
    }
}

impl Web {
    /// Returns whether the loader of Spring Boot takes the file with this name as a library. Neither the extension nor
    /// the depth of the file matters.
    pub(crate) fn is_boot_library(&self, name: &str) -> bool {
        let below = |folder: &str| name.strip_prefix(folder).is_some_and(|it| !it.is_empty());
        !name.ends_with('/') && (below(self.lib) || self.provided.is_some_and(below))
    }

    /// Returns whether a servlet container takes the file with this name as a library: a jar directly in the folder of
    /// the libraries (Servlet specification, "Directory Structure").
    pub(crate) fn is_war_library(&self, name: &str) -> bool {
        name.strip_prefix(self.lib).is_some_and(|it| !it.contains('/') && it.ends_with(".jar"))
    }

    /// Returns the path of the index, relative to the archive, that orders the libraries of an unpacked Spring Boot
    /// archive with this manifest.
    pub(crate) fn index(&self, manifest: &Manifest) -> String {
        let default = || [self.inf, CLASSPATH_INDEX_NAME].concat();
        manifest.value("Spring-Boot-Classpath-Index").map_or_else(default, str::to_owned)
    }
}

impl BootLoader {
    /// Returns the loader that an archive with this manifest is started with; `None` if its main class is not that of a
    /// loader of Spring Boot.
    fn of(manifest: &Manifest) -> Option<BootLoader> {
        let main = manifest.value("Main-Class")?.strip_prefix("org.springframework.boot.loader.")?;
        let release = manifest.value("Spring-Boot-Version").unwrap_or("");
        Some(if main.starts_with("launch.") {
            BootLoader::Current
        } else if release.starts_with("1.") || release.starts_with("2.0.") {
            BootLoader::First
        } else {
            BootLoader::Classic
        })
    }

    /// Returns the versions that the loader reads in a multi-release archive inside the Spring Boot archive, on a JVM of
    /// the Java release `release`.
    pub(crate) fn inner_versions(self, release: u16) -> Versions {
        match self {
            BootLoader::First => NO_VERSIONS,
            BootLoader::Classic => Versions { first: 9, last: release },
            BootLoader::Current => versions(release),
        }
    }

    /// Returns the versions that the loader reads in the folder of the classes, if the Spring Boot archive itself is
    /// multi-release, on a JVM of the Java release `release`.
    pub(crate) fn class_versions(self, release: u16) -> Versions {
        match self {
            BootLoader::First | BootLoader::Current => NO_VERSIONS,
            BootLoader::Classic => Versions { first: 9, last: release },
        }
    }
}
