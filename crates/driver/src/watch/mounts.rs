//! Which file systems change without the system's saying so: those that other machines write too.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where such file systems are mounted.
#[derive(Default)]
pub(crate) struct Mounts {
    /// What the system said.
    text: Vec<u8>,
    /// Point, kind and whether it is shared, innermost first; empty if none is.
    points: Vec<(PathBuf, String, bool)>,
}

/// The kinds of file systems of which other machines, or the host of a virtual one, may change files.
const SHARED: [&str; 16] = [
    "9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3",
    "smbfs", "vboxsf", "virtiofs", "vmhgfs",
];

impl Mounts {
    /// Asks the system, which may not say anything; whether it says something new.
    pub(crate) fn refresh(&mut self) -> bool {
        let mut text = Vec::with_capacity(self.text.len() + 1);
        if cfg!(target_os = "linux") {
            // What cannot be read says nothing.
            let _ = File::open("/proc/self/mountinfo").and_then(|mut it| it.read_to_end(&mut text));
        }
        let is_new = text != self.text;
        if is_new {
            *self = Mounts::parse(text);
        }
        is_new
    }

    /// Reads lines as in `/proc/self/mountinfo` (proc(5)): the mount point is the fifth word, the kind the first after a `-`.
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
        // Of several at one point the last covers the others, and of several around a folder the innermost counts.
        mounts.reverse();
        mounts.sort_by_key(|it| std::cmp::Reverse(it.0.as_os_str().len()));
        if !mounts.iter().any(|it| it.2) {
            mounts.clear();
        }
        drop(text);
        Mounts { text: bytes, points: mounts }
    }

    /// The kind of the file system on which a folder lies, if it may change without the system's saying so.
    pub(crate) fn silent(&self, folder: &Path) -> Option<&str> {
        self.points.iter().find(|it| folder.starts_with(&it.0)).filter(|it| it.2).map(|it| &*it.1)
    }
}

/// Blanks, tabs, line ends and backslashes are written in octal.
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
