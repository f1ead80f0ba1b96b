//! Archives as containers: determines the layout of an archive and the roots of its classes, and opens the archives
//! inside it, which are read in place.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use vfs::identity::EntryIdentity;
use vfs::manifest::{MANIFEST_NAME, Manifest};
use vfs::multi_release::{self, NO_VERSIONS, Versions};
use vfs::naming::member_path;
use vfs::services::service_of;

use crate::container::{ClassEntry, LoadedContainer, Loader, Place, Scratch, Store, entry_bytes};
use crate::declared::{self, Declared};
use crate::layout::{Layout, Web};
use crate::problem::Problem;
use crate::zip::{Blob, DEFLATED, Member, MemberKind, Zip, ZipEntry, has_extension};
use ide::Role;

/// The maximum nesting depth of the archives that are opened. An archive on disk has depth 0, an archive directly
/// inside it depth 1.
const MAX_DEPTH: usize = 8;

/// The maximum number of archives that are opened for one archive on disk: this archive and its inner archives at all
/// levels. A limit is needed because an archive can contain the same inner archive many times, at every level.
const MAX_ARCHIVES: usize = 10_000;
/// A limit on the total number of entries (members) of an archive on disk and of the inner archives opened for it.
/// When the limit is reached, no further inner archives are opened.
const MAX_MEMBERS: usize = 8_000_000;
/// A limit on the total size in bytes of the inner archives that are decompressed for one archive on disk. When the
/// limit is reached, no further inner archives are opened.
const MAX_INFLATED: u64 = 4 << 30;

/// Opens an archive on disk and the archives inside it, and collects their containers and the problems that are
/// found.
pub(crate) struct ArchiveOpener<'a> {
    /// The Java release for which entries of multi-release archives are selected.
    release: u16,
    /// The versions that are read if the archive being opened is multi-release.
    versions: Versions,
    /// The containers and the declared classes (main classes, agents and service providers) found so far.
    found: &'a mut Found,
    /// The problems found so far.
    problems: &'a mut Vec<Problem>,
    /// The class loader that finds the classes at the root of the archive on disk when the program runs, if the
    /// archive is a plain jar or a Spring Boot archive. All other classes, such as those of inner archives, are found
    /// by other loaders.
    loader: Loader,
    /// Whether no loader that we know searches the archive being opened: it, or an archive around it, is inside a
    /// plain jar, or outside the folders of a war or Spring Boot archive that contain libraries.
    is_late: bool,
    /// The decompressed inner archives, kept so that they can be reused when the archive on disk changes; `None` if
    /// the archive is opened only once.
    pub(crate) inner: Option<&'a mut Inner>,
    archives: usize,
    members: usize,
    inflated: u64,
    scratch: Scratch,
}

/// The decompressed inner archives of one archive on disk. The keys are the identities (size, CRC and hash) of the
/// compressed bytes.
#[derive(Default)]
pub(crate) struct Inner {
    /// The inner archives of the previous version of the archive on disk. Those that are unchanged are not
    /// decompressed again.
    pub(crate) before: FxHashMap<EntryIdentity, Blob>,
    /// The inner archives of the current version of the archive on disk that were opened so far.
    pub(crate) now: FxHashMap<EntryIdentity, Blob>,
}

/// The containers found in the inputs, and the classes that manifests and service files declare.
#[derive(Default)]
pub(crate) struct Found {
    /// The containers of the class path, in class-path order, except for those in `late`.
    pub(crate) containers: Vec<Arc<LoadedContainer>>,
    /// The containers of jars that are inside plain jars (not wars, ears or Spring Boot jars), or outside the folders
    /// of a war or Spring Boot archive that contain libraries. The JVM does not search inner jars, but launchers
    /// inside such jars do. These containers come last, so that their classes do not hide any class on the class path.
    pub(crate) late: Vec<Arc<LoadedContainer>>,
    /// The classes that manifests and service files declare as starting points of the program (agents and providers
    /// of services).
    pub(crate) declared: Vec<Declared>,
}

struct Opened {
    name: String,
    zip: Arc<Zip>,
    members: Vec<Member>,
    manifest: Manifest,
    layout: Layout,
    role: Role,
    depth: usize,
}

impl<'a> ArchiveOpener<'a> {
    /// Creates an opener for one archive on disk. Its containers are added to `found`, and its problems to
    /// `problems`.
    pub(crate) fn new(
        release: u16,
        found: &'a mut Found,
        problems: &'a mut Vec<Problem>,
        loader: Loader,
    ) -> ArchiveOpener<'a> {
        let scratch = Scratch::new();
        ArchiveOpener {
            release,
            versions: multi_release::versions(release),
            found,
            problems,
            loader,
            is_late: false,
            inner: None,
            archives: 0,
            members: 0,
            inflated: 0,
            scratch,
        }
    }

    /// Opens an archive and its inner archives. Returns the manifest of the archive; an error if the archive itself
    /// cannot be read. A fault of an inner archive is not an error, but is added to the problems.
    pub(crate) fn open(&mut self, name: &str, blob: Blob, role: Role) -> Result<Manifest, String> {
        self.open_at(name, blob, role, 0)
    }

    fn open_at(&mut self, name: &str, blob: Blob, role: Role, depth: usize) -> Result<Manifest, String> {
        let is_jmod = blob.as_ref().starts_with(b"JM\x01\x00");
        let zip = Arc::new(Zip::open(blob)?);
        let members = zip.members()?;
        self.archives += 1;
        self.members += members.len();
        let mut opened = Opened {
            name: name.to_owned(),
            zip,
            members,
            manifest: Manifest::default(),
            layout: Layout::Jmod,
            role,
            depth,
        };
        self.report(&opened);
        opened.manifest = self.manifest(&opened);
        if !is_jmod {
            opened.layout = layout_of(name, &opened.manifest, &opened.members);
        }
        self.add_declared(&opened);
        self.add_parts(&mut opened);
        Ok(opened.manifest)
    }

    /// Adds a problem for each fault that concerns the whole archive, such as an entry that makes the JVM reject the
    /// archive.
    fn report(&mut self, opened: &Opened) {
        let Opened { name, zip, members, .. } = opened;
        let mut note = |what: String| self.problems.push(Problem::note(name.clone(), what));
        if let Some((member, why)) = members.iter().find_map(|it| it.entry.refused().map(|why| (it, why))) {
            note(format!(
                "the entry `{}` {why}: the JVM rejects the whole archive; the other entries are read",
                member.name
            ));
        }
        if let Some(member) = members.iter().find(|it| it.is_odd) {
            let name = member.name.escape_debug();
            note(format!(
                "the entry name `{name}` is not valid, so the JVM may reject the archive; its entries are read"
            ));
        }
        let claimed = zip.claimed_count();
        if claimed != members.len() as u64 && claimed != members.len() as u64 & 0xffff {
            note(format!(
                "the archive claims {claimed} entries but has {}; all of them are read, as by the JVM",
                members.len()
            ));
        }
        let sum = members.iter().fold(0u64, |acc, it| acc.saturating_add(it.entry.compressed_size()));
        if sum > zip.len() as u64 {
            note("the entries of the archive overlap: they claim more bytes than the archive has; all are read".to_owned());
        }
    }

    fn manifest(&mut self, opened: &Opened) -> Manifest {
        // The JDK ignores case when it looks for the manifest.
        let is_manifest = |it: &&Member| it.name.eq_ignore_ascii_case(MANIFEST_NAME);
        let Some(member) = opened.members.iter().rfind(is_manifest) else { return Manifest::default() };
        let Some(bytes) = self.small_member(opened, member) else { return Manifest::default() };
        let manifest = Manifest::parse(&bytes);
        if let Some(line) = manifest.bad_lines.first() {
            let what = format!(
                "line {line} of the manifest is not a header; it is skipped, but the JVM may reject the jar"
            );
            self.problems.push(Problem::note(member_path(&opened.name, &member.name), what));
        }
        manifest
    }

    fn add_declared(&mut self, opened: &Opened) {
        if opened.role == Role::Jdk {
            return;
        }
        declared::named(&opened.manifest, opened.role, &mut self.found.declared);
        // If several members have the same name, the last is used.
        let mut last: FxHashMap<&str, &Member> = FxHashMap::default();
        for member in &opened.members {
            if let Some(service) = service_of(&member.name) {
                last.insert(service, member);
            }
        }
        let mut last: Vec<_> = last.into_iter().filter(|it| declared::is_small(it.1.entry.size())).collect();
        last.sort_unstable_by_key(|it| it.0);
        for (service, member) in last {
            if let Some(bytes) = self.small_member(opened, member) {
                declared::services(service, &bytes, &mut self.found.declared);
            }
        }
    }

    /// Reads an entry that is not a class, such as the manifest. If the entry cannot be read, adds a problem and
    /// returns `None`.
    fn small_member(&mut self, opened: &Opened, member: &Member) -> Option<Vec<u8>> {
        let (inflater, buffer) = self.scratch.parts();
        match entry_bytes(&opened.zip, &member.entry, inflater, buffer) {
            Ok((bytes, _)) => Some(bytes.to_vec()),
            Err(what) => {
                self.problems.push(Problem::error(member_path(&opened.name, &member.name), what));
                None
            }
        }
    }

    /// Adds the containers of this archive and of its inner archives, in the order in which a loader searches them.
    fn add_parts(&mut self, opened: &mut Opened) {
        let own = if opened.manifest.is_multi_release() { self.versions } else { NO_VERSIONS };
        let role = opened.role;
        match opened.layout {
            Layout::Jmod => self.add_root(opened, "classes/", None, NO_VERSIONS, role),
            Layout::Jar => {
                self.add_root(opened, "", None, own, role);
                self.open_late(opened, &|_| false);
            }
            Layout::Ear => {
                self.add_root(opened, "", None, own, role);
                let inner = inner_archives(opened, &|it| it.kind == MemberKind::Archive);
                self.open_inner(opened, &inner);
            }
            Layout::War(web) => {
                self.add_root(opened, web.classes, None, NO_VERSIONS, role);
                let is_library = |it: &Member| web.is_war_library(&it.name);
                let inner = inner_archives(opened, &is_library);
                self.open_inner(opened, &inner);
                // A servlet container does not load what is left at the top level.
                self.add_root(opened, "", Some(web.classes), NO_VERSIONS, lib(role));
                self.open_late(opened, &is_library);
            }
            Layout::Boot(web, loader) => {
                // The JVM has this archive on its class path, and the loader of Spring Boot asks the loader of the JVM
                // first.
                self.add_root(opened, "", Some(web.classes), own, lib(role));
                let is_library = |it: &Member| it.kind != MemberKind::Class && web.is_boot_library(&it.name);
                let inner = inner_archives(opened, &is_library);
                let place = classes_at(opened, web);
                let (before, after) = inner.split_at(inner.partition_point(|it| *it < place));
                let of_classes = match opened.manifest.is_multi_release() {
                    true => loader.class_versions(self.release),
                    false => NO_VERSIONS,
                };
                let outer = std::mem::replace(&mut self.versions, loader.inner_versions(self.release));
                self.open_inner(opened, before);
                self.add_root(opened, web.classes, None, of_classes, role);
                self.open_inner(opened, after);
                self.versions = outer;
                self.open_late(opened, &is_library);
            }
        }
    }

    /// Adds a container with the `.class` entries that are below the folder `root` and not below the folder `except`.
    /// Without such entries no container is added, except for the root of a plain jar. `versions` are the versions that
    /// are read if the archive is multi-release. Moves the names of the entries from `opened` to the container.
    fn add_root(
        &mut self,
        opened: &mut Opened,
        root: &str,
        except: Option<&str>,
        versions: Versions,
        role: Role,
    ) {
        let belongs = |name: &str| name.starts_with(root) && except.is_none_or(|it| !name.starts_with(it));
        let candidate = |it: &(usize, &Member)| it.1.kind == MemberKind::Class && belongs(&it.1.name);
        let candidates: Vec<(usize, &Member)> = opened.members.iter().enumerate().filter(candidate).collect();
        let names: Vec<&str> =
            candidates.iter().map(|it| it.1.name.get(root.len()..).unwrap_or("")).collect();
        let selection = multi_release::select(&names, versions);
        let ignored = versions == NO_VERSIONS && root.is_empty();
        let ignored_versions =
            names.iter().filter(|it| ignored && it.starts_with(multi_release::VERSIONS)).count();
        if let Some((_, first)) = selection.shadowed.first().and_then(|&it| candidates.get(it)) {
            let what = format!(
                "class entries with the same name as a later entry: {} (the first is `{}`); \
                 the last entry of each name is used, as by the JVM",
                selection.shadowed.len(),
                first.name
            );
            self.problems.push(Problem::note(opened.name.clone(), what));
        }
        let chosen: Vec<(usize, usize)> = selection
            .chosen
            .iter()
            .filter_map(|it| Some((candidates.get(it.index)?.0, root.len() + it.root_len)))
            .collect();
        let mut classes = Vec::with_capacity(chosen.len());
        for (index, root_len) in chosen {
            let Some(member) = opened.members.get_mut(index) else { continue };
            // A member whose name was taken is no longer a candidate.
            member.kind = MemberKind::Other;
            classes.push(ClassEntry {
                member: std::mem::take(&mut member.name),
                root_len: u32::try_from(root_len).unwrap_or(0),
                place: Place::Zip(member.entry),
                size: member.entry.size(),
            });
        }
        let is_base = root.is_empty() && opened.layout == Layout::Jar;
        if classes.is_empty() && !is_base {
            return;
        }
        let name = match root.trim_end_matches('/') {
            "" => opened.name.clone(),
            root => member_path(&opened.name, root),
        };
        let loader = match opened.layout {
            Layout::Jar | Layout::Boot(..) if opened.depth == 0 && root.is_empty() => self.loader,
            Layout::Jar | Layout::Boot(..) | Layout::War(_) | Layout::Ear => Loader::Program,
            Layout::Jmod => Loader::Other,
        };
        let manifest = if root.is_empty() { opened.manifest.clone() } else { Manifest::default() };
        let containers = if self.is_late { &mut self.found.late } else { &mut self.found.containers };
        containers.push(Arc::new(LoadedContainer {
            name,
            role,
            classes,
            has_paths: true,
            platform: role == Role::Jdk,
            loader,
            manifest,
            ignored_versions,
            prefix: opened.name.clone(),
            store: Store::Zip(opened.zip.clone()),
        }));
    }

    /// Opens the inner archives of `opened` that are no libraries by `is_library`. No loader that we know searches them,
    /// so their containers come after the class path.
    fn open_late(&mut self, opened: &Opened, is_library: &dyn Fn(&Member) -> bool) {
        let was_late = std::mem::replace(&mut self.is_late, true);
        let inner = inner_archives(opened, &|it| it.kind == MemberKind::Archive && !is_library(it));
        self.open_inner(opened, &inner);
        self.is_late = was_late;
    }

    /// Opens the inner archives of `opened` with these numbers. An archive beyond the limits on depth, number or size
    /// is not opened, and adds a problem.
    fn open_inner(&mut self, opened: &Opened, numbers: &[usize]) {
        for member in numbers.iter().filter_map(|it| opened.members.get(*it)) {
            let name = member_path(&opened.name, &member.name);
            if opened.depth == MAX_DEPTH {
                let what = format!(
                    "the archive is not opened, because it is nested {} deep and the limit is {MAX_DEPTH}",
                    opened.depth + 1
                );
                self.problems
                    .push(Problem::error(name, format!("{what}; the classes of the archive are missing")));
                continue;
            }
            if self.archives >= MAX_ARCHIVES || self.members >= MAX_MEMBERS || self.inflated >= MAX_INFLATED {
                let what = "the input has too many inner archives; this one and later ones are left out";
                self.problems.push(Problem::error(name, what));
                return;
            }
            let role = inner_role(opened, &member.name);
            let inner = self.inner_blob(opened, &member.entry);
            if let Err(what) = inner.and_then(|blob| self.open_at(&name, blob, role, opened.depth + 1)) {
                self.problems
                    .push(Problem::error(name, format!("{what}; the classes of the archive are missing")));
            }
        }
    }

    fn inner_blob(&mut self, opened: &Opened, entry: &ZipEntry) -> Result<Blob, String> {
        if entry.method != DEFLATED && entry.refused().is_none() {
            return opened.zip.stored_blob(entry);
        }
        self.inflated = self.inflated.saturating_add(entry.size());
        let identity = match &self.inner {
            Some(_) => opened.zip.stored(entry).ok().map(|it| entry.identity(it)),
            None => None,
        };
        let known = self.inner.as_ref().zip(identity).and_then(|(it, identity)| it.before.get(&identity));
        let blob = match known {
            Some(it) => it.clone(),
            None => self.inflate(opened, entry)?,
        };
        if let Some((inner, identity)) = self.inner.as_mut().zip(identity) {
            inner.now.insert(identity, blob.clone());
        }
        Ok(blob)
    }

    fn inflate(&mut self, opened: &Opened, entry: &ZipEntry) -> Result<Blob, String> {
        let (inflater, _) = self.scratch.parts();
        let mut bytes = Vec::new();
        let length = entry_bytes(&opened.zip, entry, inflater, &mut bytes)?.0.len();
        bytes.truncate(length);
        Ok(Blob::new(bytes))
    }
}

/// Returns the numbers of the entries of `opened` for which `is_wanted` returns true, in the order of the directory. Of
/// several entries with the same name, only the last is returned.
fn inner_archives(opened: &Opened, is_wanted: &dyn Fn(&Member) -> bool) -> Vec<usize> {
    let mut last: FxHashMap<&str, usize> = FxHashMap::default();
    for (number, member) in opened.members.iter().enumerate().filter(|it| is_wanted(it.1)) {
        last.insert(&member.name, number);
    }
    let mut numbers: Vec<usize> = last.into_values().collect();
    numbers.sort_unstable();
    numbers
}

/// Returns the number of the entry that gives the folder of the classes its place among the libraries of a Spring Boot
/// archive: that of the folder itself. Without this entry the loader does not find the classes; then the first entry
/// below the folder is taken.
fn classes_at(opened: &Opened, web: Web) -> usize {
    let members = &opened.members;
    let folder = members.iter().position(|it| &*it.name == web.classes);
    let below = || members.iter().position(|it| it.name.starts_with(web.classes));
    folder.or_else(below).unwrap_or(members.len())
}

fn layout_of(name: &str, manifest: &Manifest, members: &[Member]) -> Layout {
    // Few names begin with these letters, so most are skipped after the first byte.
    let inf = |it: &&Member| matches!(it.name.as_bytes().first(), Some(b'B' | b'W'));
    let has = |folder: &str| members.iter().filter(inf).any(|it| it.name.starts_with(folder));
    if let Some(web) = Layout::web(manifest, &has) {
        web
    } else if has_extension(name, "ear") || members.iter().any(|it| &*it.name == "META-INF/application.xml") {
        Layout::Ear
    } else {
        Layout::Jar
    }
}

/// Returns the role of the inner archive `name` of `opened`. If `opened` belongs to the program, then so do the wars
/// in it and, if it is an ear, its modules (the archives at its top level). Every other inner archive is a library
/// ([`lib`]).
fn inner_role(opened: &Opened, name: &str) -> Role {
    let is_module = opened.layout == Layout::Ear && !name.contains('/');
    if opened.role == Role::App && (is_module || has_extension(name, "war")) {
        Role::App
    } else {
        lib(opened.role)
    }
}

/// Returns the role of a library that is inside an archive with the role `role`: `Jdk` if the archive belongs to a
/// JDK, otherwise `Lib`.
fn lib(role: Role) -> Role {
    if role == Role::Jdk { Role::Jdk } else { Role::Lib }
}
