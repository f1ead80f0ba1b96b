//! Zip archives in memory: finds the directory as the JVM does, lists its entries, and returns their stored bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rawzip::{ZipArchiveEntryWayfinder, ZipLocator, ZipSliceArchive};

use vfs::identity::EntryIdentity;
use vfs::multi_release::VERSIONS;
use vfs::naming::{is_class_name, name_text};

/// The bytes of an archive: a file read into memory, or a part of one (an inner jar that is stored uncompressed).
#[derive(Clone)]
pub(crate) struct Blob {
    owner: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Blob {
    pub(crate) fn new(bytes: Vec<u8>) -> Blob {
        let range = 0..bytes.len();
        Blob { owner: Arc::new(bytes), range }
    }

    /// Returns the bytes of this blob at `range` as another blob, without copying them. A range that reaches beyond
    /// the end of the blob is truncated.
    pub(crate) fn part(&self, range: Range<usize>) -> Blob {
        let end = self.range.start.saturating_add(range.end).min(self.range.end);
        let start = self.range.start.saturating_add(range.start).min(end);
        Blob { owner: self.owner.clone(), range: start..end }
    }
}

impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        self.owner.get(self.range.clone()).unwrap_or_default()
    }
}

/// An open zip archive.
pub(crate) struct Zip {
    archive: ZipSliceArchive<Blob>,
    /// The number of bytes in the file before the archive, and the number after it. Both are 0 if the archive was
    /// copied in order to remove its comment.
    around: (usize, usize),
}

/// An entry in the directory of an archive.
pub(crate) struct Member {
    /// The name of the entry as text; bytes that are not UTF-8 are escaped.
    pub(crate) name: Arc<str>,
    /// Whether the JVM may refuse the archive because of the name: it is not UTF-8, is empty, or contains a zero
    /// byte.
    pub(crate) is_odd: bool,
    /// The kind of the member according to its name. It is computed once, because the list of members is searched
    /// several times.
    pub(crate) kind: MemberKind,
    /// The place of the member's bytes in the archive, with the size, the compression method and the CRC that the
    /// directory claims.
    pub(crate) entry: ZipEntry,
}

/// The kind of a member, according to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberKind {
    /// The member may be a class file: its name ends in `.class`.
    Class,
    /// The member is an inner archive: its extension is `.jar`, `.war` or `.ear`, and it is not below
    /// `META-INF/versions/`.
    Archive,
    /// The member is neither a class file nor an archive, by its name.
    Other,
}

/// The data by which the bytes of a member are found, decompressed and checked.
#[derive(Clone, Copy)]
pub(crate) struct ZipEntry {
    wayfinder: ZipArchiveEntryWayfinder,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) encrypted: bool,
}

pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;

const END_SIZE: usize = 22;
const END_SIGNATURE: &[u8] = b"PK\x05\x06";
const DIRECTORY_SIGNATURE: &[u8] = b"PK\x01\x02";
const LOCAL_SIGNATURE: &[u8] = b"PK\x03\x04";
const DESCRIPTOR_SIGNATURE: &[u8] = b"PK\x07\x08";
const LOCATOR64_SIZE: usize = 20;
const LOCATOR64_SIGNATURE: &[u8] = b"PK\x06\x07";

impl ZipEntry {
    /// Returns the uncompressed size in bytes that the directory claims for the entry.
    pub(crate) fn size(&self) -> u64 {
        self.wayfinder.uncompressed_size_hint()
    }

    /// Returns the compressed size in bytes that the directory claims for the entry, that is, the number of stored
    /// bytes.
    pub(crate) fn compressed_size(&self) -> u64 {
        self.wayfinder.compressed_size_hint()
    }

    /// Returns the identity of the entry's content; `stored` are the bytes that the archive stores for the entry.
    pub(crate) fn identity(&self, stored: &[u8]) -> EntryIdentity {
        EntryIdentity::of_entry(self.method, self.size(), self.crc, stored)
    }

    /// Returns the reason (such as `is encrypted`) why the JVM refuses an archive that has this entry; `None` if the
    /// JVM accepts the entry.
    pub(crate) fn refused(&self) -> Option<String> {
        if self.encrypted {
            return Some("is encrypted".to_owned());
        }
        match self.method {
            STORED | DEFLATED => None,
            it => Some(format!("has the unknown compression method {it}")),
        }
    }
}

impl Zip {
    /// Opens the archive with the bytes `blob`; the error is the reason why the archive cannot be read.
    pub(crate) fn open(blob: Blob) -> Result<Zip, String> {
        let (file, whole) = (blob.range.clone(), blob.clone());
        let blob = trim(blob)?;
        // If the comment of the archive could be taken for an end record, `trim` cut it off in a copy, for which the
        // surrounding bytes are not known.
        let around = match Arc::ptr_eq(&blob.owner, &whole.owner) {
            true => (blob.range.start - file.start, file.end - blob.range.end),
            false => (0, 0),
        };
        let space = blob.as_ref().len() as u64;
        match ZipLocator::new().max_search_space(space).locate_in_slice(blob) {
            Ok(archive) => Ok(Zip { archive, around }),
            Err((_, error)) => Err(format!("the archive cannot be read: {error}")),
        }
    }

    /// Returns the entries of the directory, in its order; an error if the directory cannot be read.
    pub(crate) fn members(&self) -> Result<Vec<Member>, String> {
        // The claimed count may be wrong: each entry takes at least 46 bytes.
        let room = self.archive.get_ref().as_ref().len() as u64 / 46;
        let mut members = Vec::with_capacity(self.archive.entries_hint().min(room) as usize);
        let mut entries = self.archive.entries();
        loop {
            let record = match entries.next_entry() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(members),
                Err(error) => return Err(format!("the directory of the archive cannot be read: {error}")),
            };
            let path = record.file_path();
            let name = name_text(path.as_bytes());
            members.push(Member {
                is_odd: matches!(name, Cow::Owned(_)) || name.is_empty() || name.contains('\0'),
                kind: kind_of(&name),
                name: name.into(),
                entry: ZipEntry {
                    wayfinder: record.wayfinder(),
                    method: record.compression_method().as_u16(),
                    crc: record.crc32(),
                    encrypted: record.flags().is_encrypted(),
                },
            });
        }
    }

    /// Returns the number of entries that the end record of the archive claims. The directory may have another
    /// number.
    pub(crate) fn claimed_count(&self) -> u64 {
        self.archive.entries_hint()
    }

    /// Returns the stored bytes of an entry. Fails if the archive has no such data at the place that its directory
    /// gives.
    pub(crate) fn stored(&self, entry: &ZipEntry) -> Result<&[u8], String> {
        match self.archive.get_entry(entry.wayfinder) {
            Ok(it) => Ok(it.data()),
            Err(error) => Err(format!(
                "the entry cannot be read: its data is not where the directory of the archive says ({error})"
            )),
        }
    }

    /// Returns the stored bytes of an entry, as a blob that may outlive the archive. Fails if the archive has no such
    /// data at the place that its directory gives.
    pub(crate) fn stored_blob(&self, entry: &ZipEntry) -> Result<Blob, String> {
        let error = |error| {
            format!(
                "the entry cannot be read: its data is not where the directory of the archive says ({error})"
            )
        };
        let (start, end) = self.archive.get_entry(entry.wayfinder).map_err(error)?.compressed_data_range();
        Ok(self.archive.get_ref().part(start as usize..end as usize))
    }

    /// Returns the reason why a readable archive may be incomplete, or partly old and partly new, because it is being
    /// written; `None` if there is no sign of this. Such an archive is not always faulty: the JVM accepts it, and
    /// some tools create such archives.
    pub(crate) fn doubt(&self) -> Option<String> {
        let data = self.archive.get_ref().as_ref();
        let whole: &[u8] = &self.archive.get_ref().owner;
        match self.around {
            // This is the end of an archive inside another one, whose own end is still to come.
            (1.., _) if whole.starts_with(LOCAL_SIGNATURE) => {
                return Some("only the last part of the file is an archive".to_owned());
            }
            (_, 1..) => return Some("there are bytes after the end of the archive".to_owned()),
            _ => {}
        }
        let mut entries = self.archive.entries();
        while let Ok(Some(record)) = entries.next_entry() {
            let (wayfinder, crc) = (record.wayfinder(), record.crc32());
            let agrees = self.archive.get_entry(wayfinder).is_ok_and(|entry| {
                let (_, end) = entry.compressed_data_range();
                let local = usize::try_from(record.local_header_offset()).unwrap_or(usize::MAX);
                agrees(data, local, end as usize, crc)
            });
            if !agrees {
                let name = name_text(record.file_path().as_bytes()).into_owned();
                return Some(format!(
                    "the directory of the archive and the header of the entry `{name}` do not agree"
                ));
            }
        }
        None
    }

    /// Returns the size of the archive in bytes.
    pub(crate) fn len(&self) -> usize {
        self.archive.get_ref().as_ref().len()
    }
}

fn kind_of(name: &str) -> MemberKind {
    if is_class_name(name) {
        MemberKind::Class
    } else if ["jar", "war", "ear"].iter().any(|it| has_extension(name, it)) && !name.starts_with(VERSIONS) {
        MemberKind::Archive
    } else {
        MemberKind::Other
    }
}

/// Returns whether a name ends in a dot and this extension, ignoring case.
pub(crate) fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, it)| it.eq_ignore_ascii_case(extension))
}

/// Returns the part of the blob that is the archive: without the bytes before it (a script, the `JM` of a jmod) and
/// after it, and without a comment that could be taken for an end record. The search follows `ZipFile.Source.findEND`
/// and `initCEN` of the JDK, so that an archive that can be read in two ways is read as the JVM reads it.
fn trim(blob: Blob) -> Result<Blob, String> {
    let data = blob.as_ref();
    if data.is_empty() {
        return Err("the file is empty, so it is not a zip archive".to_owned());
    }
    let (end, comment) = find_end(data).ok_or(
        "the file is not a zip archive: the end record is missing (the file is cut off or of another kind)",
    )?;
    let is_zip64 = end.checked_sub(LOCATOR64_SIZE).is_some_and(|it| has(data, it, LOCATOR64_SIGNATURE));
    // Offsets in a 64-bit end record are relative to the start of the file: then there is nothing to cut off there.
    let base = if is_zip64 { 0 } else { base(data, end)? };
    let comment_end = end + END_SIZE + comment;
    let shadow = data.get(end + 1..comment_end).ok_or("the comment of the archive is cut off")?;
    if !shadow.windows(END_SIGNATURE.len()).any(|it| it == END_SIGNATURE) {
        return Ok(blob.part(base..comment_end));
    }
    let mut copy = data.get(base..end + END_SIZE - 2).unwrap_or_default().to_vec();
    copy.extend_from_slice(&[0, 0]);
    Ok(Blob::new(copy))
}

/// Returns the position of the end record, and the length of its comment; `None` if there is no end record. The end
/// record is the last record that satisfies one of two conditions: its comment ends at the end of the file, or its
/// offsets lead to a directory and a first entry.
fn find_end(data: &[u8]) -> Option<(usize, usize)> {
    let last = data.len().checked_sub(END_SIZE)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    (first..=last).rev().find_map(|at| {
        if !has(data, at, END_SIGNATURE) {
            return None;
        }
        let comment = usize::from(u16::from_le_bytes(data.get(at + 20..at + 22)?.try_into().ok()?));
        let exact = at + END_SIZE + comment == data.len();
        let plausible = || {
            let directory = at.checked_sub(read4(data, at + 12)?)?;
            let local = directory.checked_sub(read4(data, at + 16)?)?;
            Some(has(data, directory, DIRECTORY_SIGNATURE) && has(data, local, LOCAL_SIGNATURE))
        };
        (exact || plausible() == Some(true)).then_some((at, comment))
    })
}

/// Returns the number of bytes before the archive, computed from the end record at the position `end`; the directory
/// ends there. The error is the reason why the end record cannot be right.
fn base(data: &[u8], end: usize) -> Result<usize, String> {
    let field = |at| read4(data, at).unwrap_or(usize::MAX);
    let directory = end
        .checked_sub(field(end + 12))
        .ok_or("the end record claims a directory that is larger than the file")?;
    directory
        .checked_sub(field(end + 16))
        .ok_or_else(|| "the directory of the archive is not where the end record says".to_owned())
}

/// Returns whether the local header of an entry, or the descriptor after its data, has this CRC (APPNOTE 4.3.7 and
/// 4.3.9). `header` is the position of the local header, `end` the position after the data.
fn agrees(data: &[u8], header: usize, end: usize, crc: u32) -> bool {
    let read = |at: usize| read4(data, at).and_then(|it| u32::try_from(it).ok());
    let is_behind = data.get(header.saturating_add(6)).is_some_and(|it| it & 8 != 0);
    if !is_behind {
        return header.checked_add(14).and_then(read) == Some(crc);
    }
    let signed = has(data, end, DESCRIPTOR_SIGNATURE);
    let own = header.checked_add(14).and_then(read) == Some(crc);
    own || end.checked_add(if signed { 4 } else { 0 }).and_then(read) == Some(crc)
}

fn has(data: &[u8], at: usize, signature: &[u8]) -> bool {
    data.get(at..).is_some_and(|it| it.starts_with(signature))
}

fn read4(data: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 4] = data.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}
