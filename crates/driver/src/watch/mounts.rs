//! Shared file systems, on which other machines may change files without causing events on this machine.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The mounted file systems, and which of them are shared with other machines.
#[derive(Default)]
pub(crate) struct Mounts {
    /// The text of the system's list of mounts, `/proc/self/mountinfo`.
    text: Vec<u8>,
    /// For each mounted file system, the mount point, the kind (such as `nfs4`), and whether other machines share the
    /// file system; inner mount points precede outer ones. Empty if no file system is shared.
    points: Vec<(PathBuf, String, bool)>,
}

/// The kinds of file systems on which other machines, or the host of a virtual machine, may change files.
const SHARED: [&str; 16] = [
    "9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3",
    "smbfs", "vboxsf", "virtiofs", "vmhgfs",
];

impl Mounts {
    /// Reads the system's list of mounts again, and returns whether the list has changed. If the system has no such
    /// list, the list counts as empty.
    pub(crate) fn refresh(&mut self) -> bool {
        let mut text = Vec::with_capacity(self.text.len() + 1);
        if cfg!(target_os = "linux") {
            // A list that cannot be read counts as empty.
            let _ = File::open("/proc/self/mountinfo").and_then(|mut it| it.read_to_end(&mut text));
        }
        let is_new = text != self.text;
        if is_new {
            *self = Mounts::parse(text);
        }
        is_new
    }

    /// Parses the system's list of mounts, in the format of `/proc/self/mountinfo` (proc(5)). The mount point is the
    /// fifth word of a line; the kind of the file system is the first word after a `-`.
    fn parse(bytes: Vec<u8>) -> Mounts {
        let text = String::from_utf8_lossy(&bytes);
        let parse = |line: &str| {
            let (head, tail) = line.split_once(" - ")?;
            let point = unescape(head.split(' ').nth(4)?);
            let kind = tail.split(' ').next()?;
            let is_shared = SHARED.contains(&kind) || kind.starts_with("fuse");
            Some((PathBuf::from(point), kind.to_owned(), is_shared))
        };
        let mut mounts: Vec<_> = text.lines().filter_map(parse).collect();
        // Of several mounts at one point the last hides the others; of several around a folder the innermost
        // applies.
        mounts.reverse();
        mounts.sort_by_key(|it| std::cmp::Reverse(it.0.as_os_str().len()));
        if !mounts.iter().any(|it| it.2) {
            mounts.clear();
        }
        drop(text);
        Mounts { text: bytes, points: mounts }
    }

    /// Returns the kind of the file system of a folder if other machines may change its files without events on this
    /// machine; otherwise `None`.
    pub(crate) fn silent(&self, folder: &Path) -> Option<&str> {
        self.points.iter().find(|it| folder.starts_with(&it.0)).filter(|it| it.2).map(|it| &*it.1)
    }
}

/// Replaces the octal escapes of blanks, tabs, line ends and backslashes in a mount point by these characters.
fn unescape(text: &str) -> String {
    let codes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    codes.iter().fold(text.to_owned(), |acc, (code, it)| acc.replace(code, it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_counts() {
        let text = b"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            40 22 0:35 / /mnt/my\\040share rw - nfs4 host:/x rw\n\
            41 40 0:36 / /mnt/my\\040share/local rw - tmpfs tmpfs rw\n\
            42 22 0:37 / /home/u/remote rw - fuse.sshfs u@h: rw\n";
        let mounts = Mounts::parse(text.to_vec());
        let silent = |it: &str| mounts.silent(Path::new(it));
        assert_eq!(silent("/mnt"), None);
        assert_eq!(silent("/mnt/my share/a"), Some("nfs4"));
        assert_eq!(silent("/mnt/my share/local/a"), None);
        assert_eq!(silent("/mnt/my share2"), None);
        assert_eq!(silent("/home/u/remote"), Some("fuse.sshfs"));
    }
}
