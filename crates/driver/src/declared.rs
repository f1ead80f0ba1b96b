//! Starting points of a program that files beside the classes declare: agents in manifests, and providers of
//! services.

use std::path::Path;

use vfs::manifest::{MANIFEST_NAME, Manifest};
use vfs::services::{SERVICES_FOLDER, providers};

use ide::Role;

/// A class that something outside the code declares as a starting point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Declared {
    /// What declares the class.
    pub by: DeclaredBy,
    /// The class name, as written.
    pub class: String,
}

/// The kinds of declarations.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DeclaredBy {
    /// This attribute of a manifest, for an agent (`java.lang.instrument`).
    Agent(&'static str),
    /// The configuration file for this service (`java.util.ServiceLoader`).
    Service(String),
}

/// The folder of a class folder that has all declarations.
pub(crate) const FOLDER: &str = "META-INF";

/// The attributes that name agents.
const AGENTS: [&str; 3] = ["Premain-Class", "Agent-Class", "Launcher-Agent-Class"];

/// The maximum size of a file that is read. Such files have a few lines; a larger one has another purpose.
const MAX_SIZE: u64 = 1 << 20;

/// Adds the agents that a manifest of the program names.
pub(crate) fn agents(manifest: &Manifest, role: Role, acc: &mut Vec<Declared>) {
    if role != Role::App {
        return;
    }
    for name in AGENTS {
        let class = manifest.value(name).map(|it| it.trim().to_owned());
        acc.extend(class.map(|class| Declared { by: DeclaredBy::Agent(name), class }));
    }
}

/// Adds the providers that a configuration file names.
pub(crate) fn services(service: &str, bytes: &[u8], acc: &mut Vec<Declared>) {
    let by = || DeclaredBy::Service(service.to_owned());
    acc.extend(providers(bytes).into_iter().map(|class| Declared { by: by(), class }));
}

/// Adds the declarations in a class folder. A file that cannot be read declares nothing, as for the JVM.
pub(crate) fn folder(root: &Path, role: Role, acc: &mut Vec<Declared>) {
    let small = |path: &Path| {
        let fits = std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= MAX_SIZE);
        fits.then(|| std::fs::read(path).ok()).flatten()
    };
    if let Some(bytes) = small(&root.join(MANIFEST_NAME)) {
        agents(&Manifest::parse(&bytes), role, acc);
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

/// Whether an entry of this size is small enough to be read.
pub(crate) fn is_small(size: u64) -> bool {
    size <= MAX_SIZE
}
