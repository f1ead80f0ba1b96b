//! The data kept of files that were read, and the reasons why other files are not accepted.

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

/// The data kept of a file that was read.
#[derive(Clone)]
pub(crate) struct FileHeld<T> {
    /// The content that was read.
    pub(crate) content: T,
    /// The stamp of the file at that time; `None` if it must be read again in any case.
    pub(crate) stamp: Option<Stamp>,
    /// The time at which it was read.
    pub(crate) at: SystemTime,
}

/// The bytes of a file, by its kind.
pub(crate) enum Bytes {
    /// An archive, with the inner archives that had to be inflated.
    Archive(Blob, FxHashMap<EntryIdentity, Blob>),
    /// A class file by itself.
    Class(Arc<FileContent>),
    /// The image of a JDK.
    Image(Arc<ImageMap>),
}

/// A file that could not be read, or that may be written only in part.
pub(crate) struct Failed {
    /// The stamp of the file; `None` if it was not read.
    pub(crate) stamp: Option<Stamp>,
    /// The time at which it was read.
    pub(crate) at: SystemTime,
    /// The time since when it has had this content.
    pub(crate) since: Instant,
    /// What is wrong with it.
    pub(crate) why: Why,
}

/// What is wrong with a file.
pub(crate) enum Why {
    /// It cannot be accepted; with the reason.
    Broken(String),
    /// It could be accepted, but is unlikely to be complete; with the reason.
    Doubtful(String),
    /// It is being written.
    Moving,
}

/// The delay after which a file that is being written is examined again.
pub(crate) const RETRY: Duration = Duration::from_millis(50);

/// Makes the part of a file from its bytes. `before` is the previous content.
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

/// The content of a class file, given what was read.
pub(crate) fn content(bytes: Result<Vec<u8>, String>) -> Arc<FileContent> {
    let bytes =
        bytes.and_then(|it| if it.len() as u64 > MAX_RESOURCE { Err(Unread::Large.what()) } else { Ok(it) });
    Arc::new(FileContent::new(bytes.map(Vec::into_boxed_slice)))
}

/// Why the bytes may be those of a class file that is being written; `None` if they are complete.
pub(crate) fn class_doubt(bytes: &[u8]) -> Option<String> {
    let is_begun = bytes.is_empty() || bytes.starts_with(&[0xCA, 0xFE, 0xBA, 0xBE]);
    // This reads the structure to its end, whatever the class file declares.
    let fault = if is_begun { module_info(bytes).err() } else { None };
    fault.map(|it| it.what)
}

impl Bytes {
    /// Why the bytes may be those of a file that is being written, although they can be accepted.
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

    /// Whether the bytes equal these.
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        match self {
            Bytes::Archive(it, _) => it.as_ref() == bytes,
            Bytes::Class(it) => it.bytes.as_deref() == Ok(bytes),
            Bytes::Image(it) => it.bytes() == bytes,
        }
    }
}

impl<T> FileHeld<T> {
    /// Whether the file, whose stamp is `now`, has not changed since it was read.
    pub(crate) fn is_right(&self, now: Option<&Stamp>, is_check: bool) -> bool {
        let is_sure = !is_check || stamp::IS_TOLD && now.is_some_and(|it| !it.is_fresh(self.at));
        self.stamp.is_some() && self.stamp.as_ref() == now && is_sure
    }
}

impl Failed {
    /// Whether the file that was not accepted is unchanged, and still not to be accepted.
    pub(crate) fn stays(&self, path: &Path, now: Option<&Stamp>, round: &Round) -> bool {
        let is_sure = !round.is_check || stamp::IS_TOLD && now.is_some_and(|it| !it.is_fresh(self.at));
        let is_same = self.stamp.is_some() && self.stamp.as_ref() == now && is_sure;
        let is_over = matches!(self.why, Why::Doubtful(_)) && round.is_over(path, self.since);
        is_same && !is_over
    }

    /// Since when the file has had its present content, if it is unchanged.
    pub(crate) fn since(&self, now: Option<&Stamp>) -> Option<Instant> {
        (self.stamp.is_some() && self.stamp.as_ref() == now).then_some(self.since)
    }

    /// A phrase that says what is wrong.
    pub(crate) fn what(&self) -> String {
        match &self.why {
            Why::Broken(it) => it.clone(),
            Why::Doubtful(it) => format!("it may be half written: {it}"),
            Why::Moving => Unread::Moving.what(),
        }
    }

    /// The delay after which to examine the file again without an event; `None` if that is of no use.
    pub(crate) fn delay(&self) -> Option<Duration> {
        match self.why {
            Why::Moving => Some(RETRY),
            Why::Doubtful(_) => Some(PATIENCE.saturating_sub(self.since.elapsed())),
            Why::Broken(_) => None,
        }
    }
}
