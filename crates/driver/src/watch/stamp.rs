//! The metadata of a file that tells whether it changed, and reading a file that others may be writing.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use vfs::jimage::content::MAX_RESOURCE;

/// The metadata that tells whether a file changed. Equal stamps mean equal content if the file had not changed for a
/// while before the content was read ([`Stamp::is_fresh`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// When content or attributes last changed. Unlike the time of modification, it cannot be set.
    changed: Option<SystemTime>,
    /// The numbers of device and file: two files of one name are different files.
    id: (u64, u64),
}

/// Two writes within this time may leave the same stamp: the clocks of file systems tick every 10 ms on Linux, every
/// 2 s on FAT.
const TICK: Duration = Duration::from_millis(2500);

/// Whether equal stamps can be trusted: without the time of change, setting back the time of modification goes
/// unnoticed.
pub(crate) const IS_TOLD: bool = cfg!(unix);

/// The result of reading a file.
pub(crate) struct Reading {
    /// All of its bytes.
    pub(crate) bytes: Vec<u8>,
    /// The stamp, which was the same before and after reading.
    pub(crate) stamp: Stamp,
    /// When reading began, by the clock of the system.
    pub(crate) at: SystemTime,
}

/// Why a file could not be read.
pub(crate) enum Unread {
    /// It was written meanwhile.
    Moving,
    /// It has more bytes than the limit.
    Large,
    /// The system reported this error.
    Failed(std::io::Error),
}

impl Stamp {
    /// The stamp with this metadata.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        use std::os::unix::fs::MetadataExt;
        let whole = u64::try_from(metadata.ctime()).ok().map(Duration::from_secs);
        let part = u64::try_from(metadata.ctime_nsec()).ok().map(Duration::from_nanos);
        let changed = whole.zip(part).and_then(|(a, b)| SystemTime::UNIX_EPOCH.checked_add(a + b));
        Stamp {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            changed,
            id: (metadata.dev(), metadata.ino()),
        }
    }

    /// The stamp with this metadata.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        let (size, modified, changed) = (metadata.len(), metadata.modified().ok(), metadata.created().ok());
        Stamp { size, modified, changed, id: (0, 0) }
    }

    /// Whether the file changed so shortly before this time, or after it, that a further change may have left the
    /// same stamp.
    pub(crate) fn is_fresh(&self, at: SystemTime) -> bool {
        let last = if IS_TOLD { self.changed } else { self.modified };
        last.and_then(|it| it.checked_add(TICK)).is_none_or(|it| it >= at)
    }
}

/// Whether a file has further names besides the one under which it was found: writing through those causes no event.
#[cfg(unix)]
pub(crate) fn has_other_names(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() > 1
}

/// Whether a file has further names besides the one under which it was found: writing through those causes no event.
#[cfg(not(unix))]
pub(crate) fn has_other_names(_metadata: &Metadata) -> bool {
    true
}

/// Reads a file that is not being written. `limit` is its maximum size in bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Reading, Unread> {
    let at = SystemTime::now();
    let mut file = File::open(path).map_err(Unread::Failed)?;
    let stamp = Stamp::of(&file.metadata().map_err(Unread::Failed)?);
    if stamp.size > limit {
        return Err(Unread::Large);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0).saturating_add(1));
    (&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(Unread::Failed)?;
    // The file that was read, and the file that has its name now.
    let after = Stamp::of(&file.metadata().map_err(Unread::Failed)?);
    let named = Stamp::of(&std::fs::metadata(path).map_err(Unread::Failed)?);
    if after != stamp || named != stamp || bytes.len() as u64 != stamp.size {
        return Err(Unread::Moving);
    }
    Ok(Reading { bytes, stamp, at })
}

impl Unread {
    /// A phrase that gives the reason.
    pub(crate) fn what(&self) -> String {
        match self {
            Unread::Moving => "it is being written".to_owned(),
            Unread::Large => format!("it has more than the limit of {MAX_RESOURCE} bytes"),
            Unread::Failed(error) => format!("it cannot be read: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_believed_when_the_file_was_left_alone_before_it_was_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, b"content").unwrap();
        let Ok(Reading { bytes, stamp, at }) = read(file.path(), 7) else { panic!("it can be read") };
        assert_eq!(bytes, b"content");
        assert!(stamp.is_fresh(at), "it was written just now");
        assert!(stamp.is_fresh(at - Duration::from_secs(60)), "the clock of the file system may be ahead");
        assert!(!stamp.is_fresh(at + Duration::from_secs(60)));
        assert!(matches!(read(file.path(), 6), Err(Unread::Large)));
    }
}
