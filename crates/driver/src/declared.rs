//! What is written beside the classes about where a program starts: agents in manifests, providers of services.

use std::path::Path;

use vfs::manifest::{MANIFEST_NAME, Manifest};
use vfs::services::{SERVICES_FOLDER, providers};

use crate::container::Role;

/// A class that something outside the code names as a place to start.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Declared {
    /// What names it.
    pub by: DeclaredBy,
    /// The class, as it is written.
    pub class: String,
}

/// What names a class.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DeclaredBy {
    /// This attribute of a manifest, for an agent (`java.lang.instrument`).
    Agent(&'static str),
    /// The configuration file for this service (`java.util.ServiceLoader`).
    Service(String),
}

/// The folder in a class folder in which all of it lies.
pub(crate) const FOLDER: &str = "META-INF";

/// The attributes that name agents.
const AGENTS: [&str; 3] = ["Premain-Class", "Agent-Class", "Launcher-Agent-Class"];

/// Files like these have some lines; one with more is for somebody else.
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

/// Adds the providers that a file names.
pub(crate) fn services(service: &str, bytes: &[u8], acc: &mut Vec<Declared>) {
    let by = || DeclaredBy::Service(service.to_owned());
    acc.extend(providers(bytes).into_iter().map(|class| Declared { by: by(), class }));
}

/// Adds what lies in a class folder. What cannot be read names nothing, as for the JVM.
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

/// Whether an entry of this size is read.
pub(crate) fn is_small(size: u64) -> bool {
    size <= MAX_SIZE
}
