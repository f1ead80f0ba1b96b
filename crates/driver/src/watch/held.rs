//! The data that the watcher keeps about files that it has read, and the reasons why it does not accept other files.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustc_hash::FxHashMap;

use ide::module::module_info;
use vfs::identity::EntryIdentity;
use vfs::jimage::content::MAX_RESOURCE;

use crate::archive::Inner;
use crate::container::FileContent;
use crate::disk::{At, Part};
use crate::image_map::ImageMap;
use crate::part::{self, FileKind};
use crate::zip::{Blob, Zip};

use super::round::{PATIENCE, Round};
use super::stamp::{self, Stamp, Unread};

/// A file that was read: its content, and the data by which a later change is recognised. `T` is the type of the
/// content.
#[derive(Clone)]
pub(crate) struct FileHeld<T> {
    /// The content of the file.
    pub(crate) content: T,
    /// The stamp (metadata) of the file when it was read; `None` if the file must be read again in any case.
    pub(crate) stamp: Option<Stamp>,
    /// The time at which reading the file began, by the system clock.
    pub(crate) at: SystemTime,
}

/// The bytes of a file, by its kind.
pub(crate) enum Bytes {
    /// The bytes of an archive, and the decompressed bytes of those of its inner archives that are compressed. The
    /// key is the identity of the compressed bytes.
    Archive(Blob, FxHashMap<EntryIdentity, Blob>),
    /// The bytes of a class file that is an input by itself, and is not read from a folder or archive.
    Class(Arc<FileContent>),
    /// The bytes of a JDK image.
    Image(Arc<ImageMap>),
}

/// The data about a file that could not be read, or that may be incomplete because it is being written.
pub(crate) struct Failed {
    /// The stamp (metadata) of the file when it was read; `None` if the file could not be read.
    pub(crate) stamp: Option<Stamp>,
    /// The time at which the file was read, or at which reading failed.
    pub(crate) at: SystemTime,
    /// The time at which the file was first seen with its present content.
    pub(crate) since: Instant,
    /// What is wrong with the file.
    pub(crate) why: Why,
}

/// What is wrong with a file.
pub(crate) enum Why {
    /// The file cannot be read or parsed; with the reason.
    Broken(String),
    /// The file can be parsed, but may be incomplete; with the reason.
    Doubtful(String),
    /// The file changed while it was being read.
    Moving,
}

/// The delay after which a file that changed while it was being read is read again.
pub(crate) const RETRY: Duration = Duration::from_millis(50);

/// Makes the part (containers and declarations) of a file from its bytes, and returns it with the bytes that are to
/// be kept. `before` is the previous content of the file, from which decompressed inner archives are reused; `None`
/// if the file was not read before.
///
/// # Errors
/// Fails if the bytes cannot be parsed; the error is the reason.
pub(crate) fn make(at: &At<'_>, bytes: Vec<u8>, before: Option<&Bytes>) -> Result<(Part, Bytes), String> {
    match part::kind_of(at.path, &bytes) {
        // Read into memory, not mapped: a watcher runs for days, and a file that is truncated under a mapping kills
        // it.
        FileKind::Image => {
            let map = Arc::new(ImageMap::from_bytes(bytes).map_err(|it| format!("{it:#}"))?);
            Ok((part::image(at, map.clone()), Bytes::Image(map)))
        }
        FileKind::Class => {
            let size = bytes.len() as u64;
            let content = content(Ok(bytes));
            Ok((part::class_file(at, size, Some(content.clone())), Bytes::Class(content)))
        }
        FileKind::Archive => {
            let blob = Blob::new(bytes);
            let mut inner = Inner::default();
            if let Some(Bytes::Archive(_, inflated)) = before {
                inner.before.clone_from(inflated);
            }
            let part = part::archive(at, blob.clone(), Some(&mut inner))?;
            Ok((part, Bytes::Archive(blob, inner.now)))
        }
    }
}

/// Makes the content of a class file from its bytes, or from the reason why the file could not be read. A file above
/// the size limit counts as unreadable.
pub(crate) fn content(bytes: Result<Vec<u8>, String>) -> Arc<FileContent> {
    let bytes =
        bytes.and_then(|it| if it.len() as u64 > MAX_RESOURCE { Err(Unread::Large.what()) } else { Ok(it) });
    Arc::new(FileContent::new(bytes.map(Vec::into_boxed_slice)))
}

/// Returns the reason why these may be the bytes of an incomplete class file that is being written; `None` if the
/// bytes are those of a complete class file, or of another kind of file.
pub(crate) fn class_doubt(bytes: &[u8]) -> Option<String> {
    let magic = [0xCA, 0xFE, 0xBA, 0xBE];
    let is_begun = magic.starts_with(bytes) || bytes.starts_with(&magic);
    // This reads the structure to its end, whatever the class file declares.
    let fault = if is_begun { module_info(bytes).err() } else { None };
    fault.map(|it| it.what)
}

impl Bytes {
    /// Returns the reason why the file may be incomplete although it can be parsed; `None` if there is no sign of
    /// this.
    pub(crate) fn doubt(&self) -> Option<String> {
        match self {
            Bytes::Archive(it, _) => Zip::open(it.clone()).ok()?.doubt(),
            Bytes::Class(it) => class_doubt(it.bytes.as_deref().ok()?),
            Bytes::Image(it) => {
                let image = it.image();
                let is_cut = image.resources().flatten().any(|it| image.stored(&it.location).is_err());
                is_cut.then(|| "the image ends before its resources do".to_owned())
            }
        }
    }

    /// Returns whether the bytes of the file equal `bytes`.
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        match self {
            Bytes::Archive(it, _) => it.as_ref() == bytes,
            Bytes::Class(it) => it.bytes.as_deref() == Ok(bytes),
            Bytes::Image(it) => it.bytes() == bytes,
        }
    }
}

impl<T> FileHeld<T> {
    /// Returns whether the file has not changed since it was read, given its present stamp (metadata) `now`. With
    /// `is_check`, an equal stamp does not suffice if the file was read so shortly after its last change that a later
    /// change may have left the same stamp; except on Unix, it never suffices.
    pub(crate) fn is_right(&self, now: Option<&Stamp>, is_check: bool) -> bool {
        let is_sure = !is_check || stamp::IS_TOLD && now.is_some_and(|it| !it.is_fresh(self.at));
        self.stamp.is_some() && self.stamp.as_ref() == now && is_sure
    }
}

impl Failed {
    /// Returns whether the file at `path` must still not be used in this loading of the containers: the file is
    /// unchanged since it could not be read or looked incomplete, and it is too early to accept an incomplete file.
    /// `now` is the present stamp (metadata) of the file.
    pub(crate) fn stays(&self, path: &Path, now: Option<&Stamp>, round: &Round) -> bool {
        let is_sure = !round.is_check || stamp::IS_TOLD && now.is_some_and(|it| !it.is_fresh(self.at));
        let is_same = self.stamp.is_some() && self.stamp.as_ref() == now && is_sure;
        let is_over = matches!(self.why, Why::Doubtful(_)) && round.is_over(path, self.since);
        is_same && !is_over
    }

    /// Returns the time at which the file was first seen with its present content; `None` if its stamp (metadata)
    /// differs from `now`.
    pub(crate) fn since(&self, now: Option<&Stamp>) -> Option<Instant> {
        (self.stamp.is_some() && self.stamp.as_ref() == now).then_some(self.since)
    }

    /// Returns what is wrong with the file, as a phrase for messages.
    pub(crate) fn what(&self) -> String {
        match &self.why {
            Why::Broken(it) => it.clone(),
            Why::Doubtful(it) => format!("the file may be half written: {it}"),
            Why::Moving => Unread::Moving.what(),
        }
    }

    /// Returns the delay after which the file is to be read again even if there is no event; `None` if only an event
    /// causes the file to be read again.
    pub(crate) fn delay(&self) -> Option<Duration> {
        match self.why {
            Why::Moving => Some(RETRY),
            Why::Doubtful(_) => Some(PATIENCE.saturating_sub(self.since.elapsed())),
            Why::Broken(_) => None,
        }
    }
}
