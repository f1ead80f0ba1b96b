//! An open container: a list of class candidates, and access to their bytes. The bytes of a candidate determine
//! whether it is a class, and the name of the class. The path of a candidate only gives the name under which the JVM
//! would find the class.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ide::answer::class_name;
use ide::{Role, Text};
use vfs::identity::EntryIdentity;
use vfs::jimage::content::{Buffers, MAX_RESOURCE};
use vfs::jimage::index::Location;
use vfs::manifest::Manifest;
use vfs::multi_release::VERSIONS;
use vfs::naming::member_path;

use crate::image_map::ImageMap;
use crate::inflate::Inflater;
use crate::problem::Problem;
use crate::zip::{STORED, Zip, ZipEntry};

/// An opened container (an ordered part of the class path), with a list of its class candidates: the files or archive
/// entries whose names end in `.class`.
pub struct LoadedContainer {
    /// The name of the container, as shown to people, such as `app.war!/WEB-INF/classes`.
    pub name: String,
    /// The role of the container: program, library or JDK.
    pub role: Role,
    /// The class candidates (entries whose names end in `.class`). Those of an archive are in the order of the
    /// archive's directory, those of a folder are sorted by the bytes of their names, and those of a JDK image by
    /// module, package and name.
    pub classes: Vec<ClassEntry>,
    /// Whether the JVM finds the classes of the container by their paths; false if the container is a single class
    /// file that was given as an input, or a folder of loose class files ([`is_loose`]).
    pub has_paths: bool,
    /// Whether the container is part of the class library of a JDK, even if that JDK is the analysed program.
    pub platform: bool,
    /// The class loader that looks for classes in the container when the program runs.
    pub loader: Loader,
    /// The manifest of the archive, if the container holds the classes at the root of the archive; otherwise an empty
    /// manifest.
    pub manifest: Manifest,
    /// The number of class candidates below `META-INF/versions` of an archive whose versions are not read.
    pub(crate) ignored_versions: usize,
    /// The text before the name of an entry in paths that are shown to people: the path of the archive or folder.
    pub(crate) prefix: String,
    pub(crate) store: Store,
}

/// The path of a module descriptor, relative to the root folder of the module.
pub(crate) const DESCRIPTOR: &str = "module-info.class";

/// The class loader that looks for the classes of a container when the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Loader {
    /// The class loader of the JVM for the class path: the container is on the class path.
    ClassPath,
    /// The class loader of the JVM for the module path: the container is on the module path, and is one named module.
    ModulePath,
    /// A class loader that is not part of the JVM, such as that of Spring Boot: the container has classes of an inner
    /// archive, a war, an ear or a Spring Boot jar.
    Program,
    /// An unknown class loader: the container is a single class file or a folder of loose class files that was given as
    /// an input, or a part of a JDK.
    Other,
}

/// A class candidate: a file in a folder, or an entry of an archive or JDK image, whose name ends in `.class`.
#[derive(Clone)]
pub struct ClassEntry {
    /// The full name of the entry inside the container. The text is shared between versions of the container.
    pub(crate) member: Arc<str>,
    pub(crate) root_len: u32,
    pub(crate) place: Place,
    /// The size of the class file in bytes, as claimed by the archive or the file system.
    pub size: u64,
}

/// Where the bytes of one entry of a container are: in a file, an archive or a JDK image.
#[derive(Clone)]
pub(crate) enum Place {
    /// The bytes are in this file. As long as the file is unchanged, all versions of its folder share this value.
    File(Arc<FilePlace>),
    Zip(ZipEntry),
    Image(Location),
}

/// The path and the content of a class file that is in a class folder or was given as an input by itself.
pub(crate) struct FilePlace {
    pub(crate) path: PathBuf,
    /// The content of the file when its container was opened. `None` if the file is read each time its bytes are
    /// requested; the file may then have changed since its container was opened.
    pub(crate) content: Option<Arc<FileContent>>,
}

/// The content of a class file, or the reason why the file could not be read.
pub(crate) struct FileContent {
    pub(crate) bytes: Result<Box<[u8]>, String>,
    pub(crate) identity: EntryIdentity,
}

/// Where the bytes of all entries of a container are: in files, an archive or a JDK image.
#[derive(Clone)]
pub(crate) enum Store {
    Files,
    Zip(Arc<Zip>),
    Image(Arc<ImageMap>),
}

/// The bytes of a class candidate (an entry whose name ends in `.class`): a slice of an archive or image, or of the
/// buffers in the [`Scratch`] that the caller passed.
#[derive(Debug)]
pub struct ClassBytes<'a> {
    /// The bytes of the class file.
    pub bytes: &'a [u8],
    /// A note if the entry is irregular although the JVM accepts it, for example because its CRC is wrong; otherwise
    /// `None`.
    pub note: Option<Problem>,
}

/// The buffers that a worker thread needs to read entries. They are reused from entry to entry.
pub struct Scratch {
    inflater: Inflater,
    buffer: Vec<u8>,
    image: Buffers,
}

/// The maximum capacity in bytes of a buffer that is reused for the next entry. A larger buffer is freed.
const KEEP_BUFFER: usize = 8 << 20;

impl ClassEntry {
    /// Returns the path at which the JVM looks for the class of this entry, such as `p/C.class` for the class `p/C`.
    /// The path is the full name of the entry without its root, which may be a folder in a multi-release archive, a
    /// war, a jmod or a JDK image.
    pub fn path(&self) -> &str {
        self.member.get(self.root_len as usize..).unwrap_or(&self.member)
    }

    /// Returns the full name of the entry inside the container, such as `META-INF/versions/17/p/C.class`.
    pub fn member(&self) -> &str {
        &self.member
    }

    /// Returns the root of the entry, such as `WEB-INF/classes/`: the part of the entry's full name before the path
    /// at which the JVM looks for the class. The root is often empty.
    pub fn root(&self) -> &str {
        self.member.get(..self.root_len as usize).unwrap_or("")
    }
}

impl Scratch {
    /// Creates empty buffers.
    pub fn new() -> Scratch {
        Scratch { inflater: Inflater::new(), buffer: Vec::new(), image: Buffers::default() }
    }

    pub(crate) fn parts(&mut self) -> (&mut Inflater, &mut Vec<u8>) {
        (&mut self.inflater, &mut self.buffer)
    }

    /// Returns the bytes of the resource of a JDK image at this location; `None` if they cannot be read.
    pub(crate) fn image_content<'a>(&'a mut self, map: &'a ImageMap, at: &Location) -> Option<&'a [u8]> {
        map.image().content(at, &mut self.inflater, &mut self.image).ok()
    }
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch::new()
    }
}

impl LoadedContainer {
    /// Returns the role of the container's classes in the analysis. The class library of a JDK always has the role
    /// `Jdk`, even if the JDK is the analysed program.
    pub fn analysed_role(&self) -> Role {
        if self.platform { Role::Jdk } else { self.role }
    }

    /// Returns a note about the classes below `META-INF/versions`, which are only for some Java releases: from where they are
    /// taken, or that they are ignored. `None` if the container has no such classes.
    pub fn versions_note(&self) -> Option<String> {
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        for root in self.classes.iter().map(ClassEntry::root).filter(|it| it.contains(VERSIONS)) {
            *taken.entry(root.trim_end_matches('/')).or_default() += 1;
        }
        let classes = |n: usize| if n == 1 { "class" } else { "classes" };
        if !taken.is_empty() {
            let from: Vec<String> =
                taken.iter().map(|(root, &n)| format!("{n} {} from {root}", classes(n))).collect();
            return Some(format!("taken for this Java release: {}", from.join(", ")));
        }
        let n = self.ignored_versions;
        let why = match self.manifest.is_multi_release() {
            true => "the class loader of this Java release does not read them",
            false => "the manifest does not say `Multi-Release: true`",
        };
        (n > 0).then(|| format!("ignored below META-INF/versions: {n} {}, because {why}", classes(n)))
    }

    /// Returns the reason why the JVM does not find the class in `bytes`, the content of an entry: the entry is not at
    /// the path at which the JVM looks for the class (JVMS §5.3.1, §5.3.5: a class that a loader finds under another name
    /// is an error). `None` if the path is right or unknown, or if the class cannot be read.
    pub fn misplaced(&self, entry: &ClassEntry, bytes: &[u8]) -> Option<String> {
        if !self.has_paths || self.platform || is_descriptor(entry.path()) {
            return None;
        }
        let name = class_name(bytes).filter(|it| !is_at(entry.path(), *it))?;
        Some(format!(
            "the file is left out: it defines the class {name}, and the JVM looks for this class only at {name}.class"
        ))
    }

    /// Returns a note if the container is a folder of loose class files ([`is_loose`]).
    pub(crate) fn loose_note(&self) -> Option<Problem> {
        let is_folder = matches!(self.store, Store::Files) && !self.prefix.is_empty();
        (is_folder && !self.has_paths).then(|| {
            let what = "no class file of the folder is at the path at which the JVM would look for its class, \
                        so each is read as an input of its own";
            Problem::note(self.name.clone(), what)
        })
    }

    /// Returns a copy of the container without its class candidates.
    pub(crate) fn without_classes(&self) -> LoadedContainer {
        LoadedContainer {
            name: self.name.clone(),
            classes: Vec::new(),
            manifest: self.manifest.clone(),
            prefix: self.prefix.clone(),
            store: self.store.clone(),
            ..*self
        }
    }

    /// Returns whether this container and `other`, another version of it, are equal in everything except their
    /// entries and the storage of the entries.
    pub(crate) fn has_frame_of(&self, other: &LoadedContainer) -> bool {
        let frame = |it: &LoadedContainer| (it.role, it.has_paths, it.platform, it.loader);
        frame(self) == frame(other)
            && (&self.name, &self.prefix, &self.manifest) == (&other.name, &other.prefix, &other.manifest)
    }

    /// Returns the path of an entry as shown to people, such as `outer.jar!/inner.jar!/p/C.class`.
    pub fn display(&self, entry: &ClassEntry) -> String {
        match self.store {
            Store::Files if self.prefix.is_empty() => entry.member.to_string(),
            Store::Files => format!("{}/{}", self.prefix.trim_end_matches('/'), entry.member),
            Store::Zip(_) | Store::Image(_) => member_path(&self.prefix, &entry.member),
        }
    }

    /// Returns the bytes of an entry, decompressed into `scratch` if necessary; an error if the bytes cannot be read.
    pub fn bytes<'a>(
        &'a self,
        entry: &'a ClassEntry,
        scratch: &'a mut Scratch,
    ) -> Result<ClassBytes<'a>, Problem> {
        if scratch.buffer.capacity() > KEEP_BUFFER {
            scratch.buffer = Vec::new();
        }
        let plain = |bytes: Result<&'a [u8], String>| bytes.map(|bytes| (bytes, None));
        let read = match (&self.store, &entry.place) {
            (Store::Files, Place::File(place)) => match &place.content {
                Some(it) => plain(it.bytes.as_deref().map_err(Clone::clone)),
                None => plain(read_file(&place.path, &mut scratch.buffer)),
            },
            (Store::Zip(zip), Place::Zip(place)) => {
                entry_bytes(zip, place, &mut scratch.inflater, &mut scratch.buffer)
            }
            (Store::Image(map), Place::Image(location)) => {
                let content = map.image().content(location, &mut scratch.inflater, &mut scratch.image);
                plain(content.map_err(|it| it.to_string()))
            }
            _ => Err(
                "a bug of ajar: this entry was sought in a container that does not have it; please report it"
                    .to_owned(),
            ),
        };
        match read {
            Ok((bytes, note)) => {
                Ok(ClassBytes { bytes, note: note.map(|it: String| Problem::note(self.display(entry), it)) })
            }
            Err(what) => Err(Problem::error(self.display(entry), what)),
        }
    }

    /// Returns the identity of the content of an entry (its size, CRC and a hash of the stored bytes), without
    /// decompressing the content; an error if the stored bytes cannot be read.
    pub fn identity(&self, entry: &ClassEntry, scratch: &mut Scratch) -> Result<EntryIdentity, Problem> {
        let identity = match (&self.store, &entry.place) {
            (Store::Files, Place::File(place)) => match &place.content {
                Some(it) => it.bytes.as_ref().map(|_| it.identity).map_err(Clone::clone),
                None => read_file(&place.path, &mut scratch.buffer).map(EntryIdentity::of_bytes),
            },
            (Store::Zip(zip), Place::Zip(place)) => zip.stored(place).map(|stored| place.identity(stored)),
            (Store::Image(map), Place::Image(location)) => {
                let of = |stored| EntryIdentity::of_entry(0, location.size, 0, stored);
                map.image().stored(location).map(of).map_err(|it| it.to_string())
            }
            _ => Err(
                "a bug of ajar: this entry was sought in a container that does not have it; please report it"
                    .to_owned(),
            ),
        };
        identity.map_err(|what| Problem::error(self.display(entry), what))
    }
}

/// Returns whether the class files of a folder that is an input are loose: no readable one of them is at the path at
/// which the JVM would look for its class. Then the folder is not meant as an entry of a class path; it may be the folder
/// of a package, or have several folders of classes in it.
pub(crate) fn is_loose(classes: &[ClassEntry]) -> bool {
    let mut buffer = Vec::new();
    let mut any = false;
    for entry in classes.iter().filter(|it| !is_descriptor(it.path())) {
        let Place::File(place) = &entry.place else { continue };
        let bytes = match &place.content {
            Some(it) => it.bytes.as_deref().map_err(Clone::clone),
            None => read_file(&place.path, &mut buffer),
        };
        let Some(name) = bytes.ok().and_then(class_name) else { continue };
        if is_at(entry.path(), name) {
            return false;
        }
        any = true;
    }
    any
}

/// Returns whether `path` is that of a module descriptor, which declares no class.
pub(crate) fn is_descriptor(path: &str) -> bool {
    path.rsplit('/').next() == Some(DESCRIPTOR)
}

/// Returns whether `path` is the one at which the JVM looks for the class `name`.
fn is_at(path: &str, name: Text) -> bool {
    path.strip_suffix(".class").is_some_and(|it| it.as_bytes() == name.0 || it == name.to_string())
}

/// Returns the bytes of an entry of an archive, and a note if the CRC or the size of the entry is wrong (the JVM
/// checks neither when it loads a class). The error is the reason why the entry cannot be read.
pub(crate) fn entry_bytes<'a>(
    zip: &'a Zip,
    entry: &ZipEntry,
    inflater: &mut Inflater,
    buffer: &'a mut Vec<u8>,
) -> Result<(&'a [u8], Option<String>), String> {
    if let Some(why) = entry.refused() {
        return Err(format!("the entry {why}, so it cannot be read"));
    }
    let stored = zip.stored(entry)?;
    let size = entry.size();
    let (bytes, has_more) = if entry.method == STORED {
        let bytes = usize::try_from(size).ok().and_then(|it| stored.get(..it));
        let bytes = bytes.ok_or_else(|| {
            format!(
                "the entry cannot be read: the archive claims {size} bytes for it, but {} are stored",
                stored.len()
            )
        })?;
        (bytes, bytes.len() < stored.len())
    } else {
        let has_more = inflater.deflate(stored, size, buffer)?;
        (buffer.get(..size as usize).unwrap_or_default(), has_more)
    };
    if has_more {
        let note = format!(
            "the entry has more than the {size} bytes that the archive claims; only {size} are read, as by the JVM"
        );
        return Ok((bytes, Some(note)));
    }
    let crc = crc32fast::hash(bytes);
    let note = (crc != entry.crc).then(|| {
        format!(
            "the CRC of the entry is {crc:08x}, but the archive records {:08x}; the entry is read, as by the JVM",
            entry.crc
        )
    });
    Ok((bytes, note))
}

impl FileContent {
    /// Makes the content of a file from its bytes, or from the reason why the file could not be read.
    pub(crate) fn new(bytes: Result<Box<[u8]>, String>) -> FileContent {
        let identity = EntryIdentity::of_bytes(bytes.as_deref().unwrap_or_default());
        FileContent { bytes, identity }
    }
}

/// Reads the file at `path` into `buffer`, and returns its bytes; an error if the file cannot be read or is larger
/// than `MAX_RESOURCE`.
pub(crate) fn read_file<'a>(path: &std::path::Path, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], String> {
    use std::io::Read;
    let read = |buffer: &mut Vec<u8>| {
        buffer.clear();
        std::fs::File::open(path)?.take(MAX_RESOURCE + 1).read_to_end(buffer)
    };
    match read(buffer) {
        Ok(length) if length as u64 > MAX_RESOURCE => {
            Err(format!("the file is not read, because it has more than the limit of {MAX_RESOURCE} bytes"))
        }
        Ok(_) => Ok(buffer),
        Err(error) => Err(format!("the file cannot be read: {error}")),
    }
}
