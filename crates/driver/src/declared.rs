//! Starting points of a program that files other than class files declare: main classes and agents in manifests, and
//! providers of services in `META-INF/services`.

use std::path::Path;

use vfs::manifest::{MANIFEST_NAME, Manifest};
use vfs::services::{SERVICES_FOLDER, providers};

use ide::Role;

/// A class that a manifest or a service file declares as a starting point of the program: a main class, an agent
/// or a service provider.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Declared {
    /// The declaration that names the class.
    pub by: DeclaredBy,
    /// The name of the class, as written in the manifest or service file.
    pub class: String,
}

/// The declaration that makes a class a starting point of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DeclaredBy {
    /// The attribute `Main-Class` of a manifest names the class that `java -jar` starts. In a Spring Boot archive, this is
    /// the class of its own launcher.
    Main,
    /// The attribute with this name in a manifest declares that the class is an agent (`java.lang.instrument`).
    Agent(&'static str),
    /// The configuration file of this service declares that the class is a provider of the service
    /// (`java.util.ServiceLoader`).
    Service(String),
}

/// The folder, directly below the root of a jar or class folder, that contains the manifest and the service files.
pub(crate) const FOLDER: &str = "META-INF";

/// The manifest attribute whose value is the name of the main class.
const MAIN: &str = "Main-Class";

/// The manifest attributes whose values are the names of agent classes.
const AGENTS: [&str; 3] = ["Premain-Class", "Agent-Class", "Launcher-Agent-Class"];

/// The maximum size in bytes of a service file, or of a manifest in a class folder. Larger files are ignored; real
/// files have a few lines.
const MAX_SIZE: u64 = 1 << 20;

/// Adds to `acc` the main class and the agents that a manifest names. Adds nothing if `role`, the role of the manifest's container, is
/// not `App`.
pub(crate) fn named(manifest: &Manifest, role: Role, acc: &mut Vec<Declared>) {
    if role != Role::App {
        return;
    }
    let agents = AGENTS.iter().map(|&it| (it, DeclaredBy::Agent(it)));
    for (name, by) in std::iter::once((MAIN, DeclaredBy::Main)).chain(agents) {
        let class = manifest.value(name).map(|it| it.trim().to_owned());
        acc.extend(class.map(|class| Declared { by, class }));
    }
}

/// Adds to `acc` the providers that are listed in `bytes`, the content of the configuration file of `service`.
pub(crate) fn services(service: &str, bytes: &[u8], acc: &mut Vec<Declared>) {
    let by = || DeclaredBy::Service(service.to_owned());
    acc.extend(providers(bytes).into_iter().map(|class| Declared { by: by(), class }));
}

/// Adds to `acc` the main class, agents and service providers that the manifest and the service files in the class folder `root`
/// declare. A file that cannot be read is ignored, as by the JVM.
pub(crate) fn folder(root: &Path, role: Role, acc: &mut Vec<Declared>) {
    let small = |path: &Path| {
        let fits = std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= MAX_SIZE);
        fits.then(|| std::fs::read(path).ok()).flatten()
    };
    if let Some(bytes) = small(&root.join(MANIFEST_NAME)) {
        named(&Manifest::parse(&bytes), role, acc);
    }
    let entries = std::fs::read_dir(root.join(SERVICES_FOLDER)).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        if let (Some(name), Some(bytes)) = (path.file_name().and_then(|it| it.to_str()), small(&path)) {
            services(name, &bytes, acc);
        }
    }
}

/// Returns whether a service file of this size in bytes is small enough to be read.
pub(crate) fn is_small(size: u64) -> bool {
    size <= MAX_SIZE
}
