//! An open container: a list of class candidates, and access to their bytes. Only the bytes of a candidate determine
//! whether it is a class, and its name; the path is only where the JVM would look for the class.

use std::path::PathBuf;
use std::sync::Arc;

use ide::Role;
use vfs::identity::EntryIdentity;
use vfs::jimage::content::{Buffers, MAX_RESOURCE};
use vfs::jimage::index::Location;
use vfs::manifest::Manifest;
use vfs::naming::member_path;

use crate::image_map::ImageMap;
use crate::inflate::Inflater;
use crate::problem::Problem;
use crate::zip::{STORED, Zip, ZipEntry};

/// A part of the class path, with the class candidates in it.
pub struct LoadedContainer {
    /// The name of the container, as shown to people: `app.war!/WEB-INF/classes`.
    pub name: String,
    /// The role of the container in the world.
    pub role: Role,
    /// The class candidates, in directory order (for files: sorted by the bytes of their names).
    pub classes: Vec<ClassEntry>,
    /// Whether the paths tell where the JVM finds the classes; false for a class file given by itself.
    pub has_paths: bool,
    /// Whether the container is part of the class library of a JDK, even if that is the program in question.
    pub platform: bool,
    /// The loader that looks for classes here when the program runs.
    pub loader: Loader,
    /// The manifest of the archive of which this is the root; empty if there is none.
    pub manifest: Manifest,
    /// The prefix of the members in a display path.
    pub(crate) prefix: String,
    pub(crate) store: Store,
}

/// The loader that looks for the classes of a container when the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Loader {
    /// The JVM, on the class path.
    ClassPath,
    /// The JVM, on the module path: the container is one named module.
    ModulePath,
    /// A loader that comes with the program: for classes inside inner archives, and for the classes of a war.
    Program,
    /// Unknown: for a class file given by itself, and for a part of a JDK.
    Other,
}

/// A class candidate.
#[derive(Clone)]
pub struct ClassEntry {
    /// The full name inside the container, shared between the versions of the container.
    pub(crate) member: Arc<str>,
    pub(crate) root_len: u32,
    pub(crate) place: Place,
    /// The claimed size in bytes.
    pub size: u64,
}

/// Where the bytes of an entry are.
#[derive(Clone)]
pub(crate) enum Place {
    /// Shared between the versions of a folder as long as the file does not change.
    File(Arc<FilePlace>),
    Zip(ZipEntry),
    Image(Location),
}

/// The place of a class file.
pub(crate) struct FilePlace {
    pub(crate) path: PathBuf,
    /// The content that was read. Without it, the file is read on demand, and may have changed by then.
    pub(crate) content: Option<Arc<FileContent>>,
}

/// The content of a class file, or why it could not be read.
pub(crate) struct FileContent {
    pub(crate) bytes: Result<Box<[u8]>, String>,
    pub(crate) identity: EntryIdentity,
}

/// The storage that holds the bytes of a container.
#[derive(Clone)]
pub(crate) enum Store {
    Files,
    Zip(Arc<Zip>),
    Image(Arc<ImageMap>),
}

/// The bytes of a class candidate: a slice of an archive or image, or of the given scratch memory.
#[derive(Debug)]
pub struct ClassBytes<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// What is irregular about the entry although the JVM accepts it, such as a wrong CRC.
    pub note: Option<Problem>,
}

/// The buffers that a worker needs to read entries; reused from entry to entry.
pub struct Scratch {
    inflater: Inflater,
    buffer: Vec<u8>,
    image: Buffers,
}

/// The capacity above which a buffer is released after use.
const KEEP_BUFFER: usize = 8 << 20;

impl ClassEntry {
    /// The path below its root, such as `p/C.class`: where the JVM looks for `p/C`. In a multi-release archive, a
    /// war, a jmod or an image the root is a folder inside.
    pub fn path(&self) -> &str {
        self.member.get(self.root_len as usize..).unwrap_or(&self.member)
    }

    /// The full name inside the container, such as `META-INF/versions/17/p/C.class`.
    pub fn member(&self) -> &str {
        &self.member
    }

    /// The root: the part of the member before the path, such as `WEB-INF/classes/`; often empty.
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

    /// The bytes of a resource of an image; `None` if they cannot be read.
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
    /// The role of the container's classes in the analysis: a platform that is asked about itself is still the
    /// platform.
    pub fn analysed_role(&self) -> Role {
        if self.platform { Role::Jdk } else { self.role }
    }

    /// The same container without its class candidates.
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

    /// Whether this container equals another version of it in everything except its entries.
    pub(crate) fn has_frame_of(&self, other: &LoadedContainer) -> bool {
        let frame = |it: &LoadedContainer| (it.role, it.has_paths, it.platform, it.loader);
        frame(self) == frame(other)
            && (&self.name, &self.prefix, &self.manifest) == (&other.name, &other.prefix, &other.manifest)
    }

    /// The display path of an entry: `outer.jar!/inner.jar!/p/C.class`.
    pub fn display(&self, entry: &ClassEntry) -> String {
        match self.store {
            Store::Files if self.prefix.is_empty() => entry.member.to_string(),
            Store::Files => format!("{}/{}", self.prefix.trim_end_matches('/'), entry.member),
            Store::Zip(_) | Store::Image(_) => member_path(&self.prefix, &entry.member),
        }
    }

    /// The bytes of an entry.
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
            _ => Err("the entry belongs to another container".to_owned()),
        };
        match read {
            Ok((bytes, note)) => {
                Ok(ClassBytes { bytes, note: note.map(|it: String| Problem::note(self.display(entry), it)) })
            }
            Err(what) => Err(Problem::error(self.display(entry), what)),
        }
    }

    /// The identity of the content of an entry. Nothing is unpacked.
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
            _ => Err("the entry belongs to another container".to_owned()),
        };
        identity.map_err(|what| Problem::error(self.display(entry), what))
    }
}

/// Returns the bytes of an archive's entry, and a note if its CRC is wrong: the JVM does not check the CRC of
/// classes.
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
        let bytes = bytes.ok_or_else(|| format!("it claims {size} bytes but {} are stored", stored.len()))?;
        (bytes, bytes.len() < stored.len())
    } else {
        let has_more = inflater.deflate(stored, size, buffer)?;
        (buffer.get(..size as usize).unwrap_or_default(), has_more)
    };
    if has_more {
        let note =
            format!("it holds more than the {size} bytes that it claims; only those are read, as by the JVM");
        return Ok((bytes, Some(note)));
    }
    let crc = crc32fast::hash(bytes);
    let note = (crc != entry.crc).then(|| {
        format!(
            "its CRC is {crc:08x} but the archive records {:08x}; it is read all the same, as by the JVM",
            entry.crc
        )
    });
    Ok((bytes, note))
}

impl FileContent {
    /// The content of a file, given what was read.
    pub(crate) fn new(bytes: Result<Box<[u8]>, String>) -> FileContent {
        let identity = EntryIdentity::of_bytes(bytes.as_deref().unwrap_or_default());
        FileContent { bytes, identity }
    }
}

/// Reads a whole file into `buffer`.
pub(crate) fn read_file<'a>(path: &std::path::Path, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], String> {
    use std::io::Read;
    let read = |buffer: &mut Vec<u8>| {
        buffer.clear();
        std::fs::File::open(path)?.take(MAX_RESOURCE + 1).read_to_end(buffer)
    };
    match read(buffer) {
        Ok(length) if length as u64 > MAX_RESOURCE => {
            Err(format!("it has more than the limit of {MAX_RESOURCE} bytes"))
        }
        Ok(_) => Ok(buffer),
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}
