//! The metadata by which a change of a file is recognised, and reading a file that other processes may be writing.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use vfs::jimage::content::MAX_RESOURCE;

/// The metadata by which a change of a file is recognised. Two equal stamps mean equal content if the file had not
/// changed for a while before its content was read ([`Stamp::is_fresh`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// The time at which the content or the attributes last changed (`ctime`), which a process cannot set, unlike the
    /// time of modification. On systems other than Unix, the time at which the file was created.
    changed: Option<SystemTime>,
    /// The device number and inode number, which distinguish a file from another one that replaces it under its name.
    /// Both are 0 on systems other than Unix.
    id: (u64, u64),
}

/// Two writes within this time may leave the same stamp (metadata), because the clock of a file system ticks only
/// every 10 ms on Linux, and every 2 s on FAT.
const TICK: Duration = Duration::from_millis(2500);

/// Whether equal stamps (metadata) prove that a file has not changed, if enough time had passed since its last change
/// when it was read. This is so on Unix, where a stamp has the time of change. On other systems a process can set
/// back the time of modification after a write.
pub(crate) const IS_TOLD: bool = cfg!(unix);

/// The content of a file that was read completely, with its metadata.
pub(crate) struct Reading {
    /// All bytes of the file.
    pub(crate) bytes: Vec<u8>,
    /// The stamp (metadata) of the file, which was the same before and after reading.
    pub(crate) stamp: Stamp,
    /// The time at which reading began, by the system clock.
    pub(crate) at: SystemTime,
}

/// Why a file could not be read.
pub(crate) enum Unread {
    /// The file was written while it was being read.
    Moving,
    /// The file has more bytes than the limit that was passed to [`read`].
    Large,
    /// The system reported this error when the file was read.
    Failed(std::io::Error),
}

impl Stamp {
    /// Returns the stamp of a file that has this metadata.
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

    /// Returns the stamp of a file with this metadata.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        let (size, modified, changed) = (metadata.len(), metadata.modified().ok(), metadata.created().ok());
        Stamp { size, modified, changed, id: (0, 0) }
    }

    /// Returns whether, for a file that was read at `at`, an unchanged stamp does not yet prove unchanged content.
    /// This is so if the last change was after `at`, or so shortly before that a later change may have left the same
    /// stamp.
    pub(crate) fn is_fresh(&self, at: SystemTime) -> bool {
        let last = if IS_TOLD { self.changed } else { self.modified };
        last.and_then(|it| it.checked_add(TICK)).is_none_or(|it| it >= at)
    }
}

/// Returns whether a file has more than one name (hard links). Writing to such a file through one name causes no
/// event about the other names.
#[cfg(unix)]
pub(crate) fn has_other_names(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() > 1
}

/// Returns whether a file may have more than one name (hard links). The result is always true, because this system
/// does not report the number of names.
#[cfg(not(unix))]
pub(crate) fn has_other_names(_metadata: &Metadata) -> bool {
    true
}

/// Reads a whole file. Fails if the file cannot be read, has more than `limit` bytes, or changes while it is being
/// read.
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
    /// Returns the reason why the file could not be read, as a sentence for messages.
    pub(crate) fn what(&self) -> String {
        match self {
            Unread::Moving => "the file is being written".to_owned(),
            Unread::Large => {
                format!("the file is not read, because it has more than the limit of {MAX_RESOURCE} bytes")
            }
            Unread::Failed(error) => format!("the file cannot be read: {error}"),
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
