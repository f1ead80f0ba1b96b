//! The identity of an archive entry's content, which is computed without decompressing the content.

use xxhash_rust::xxh3::xxh3_128;

/// The identity of an entry's content: the size and CRC that the archive's directory claims, and a hash of the stored
/// bytes.
///
/// The CRC alone does not suffice, because it has only 32 bits and the JVM does not check it; the hash is computed by
/// ajar. An entry that was recompressed has another identity although its content is equal; the only consequence is
/// that the entry is read again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EntryIdentity {
    /// The compression method, by its number in zip archives: 0 stored, 8 deflated. For a file and for a resource of
    /// a JDK image, always 0.
    pub method: u16,
    /// The number of bytes that are stored for the entry, compressed or not.
    pub compressed_size: u64,
    /// The number of bytes after decompression, as the archive claims.
    pub size: u64,
    /// The CRC-32 that the archive claims; 0 for a file or a resource of a JDK image.
    pub crc: u32,
    /// The xxh3-128 hash of the stored bytes.
    pub hash: u128,
}

impl EntryIdentity {
    /// Returns the identity of an archive entry. `method`, `size` and `crc` are those that the directory of the
    /// archive claims; `stored` are the stored bytes.
    pub fn of_entry(method: u16, size: u64, crc: u32, stored: &[u8]) -> EntryIdentity {
        EntryIdentity { method, compressed_size: stored.len() as u64, size, crc, hash: xxh3_128(stored) }
    }

    /// Returns the identity of bytes that are stored uncompressed, such as the content of a file.
    pub fn of_bytes(bytes: &[u8]) -> EntryIdentity {
        EntryIdentity::of_entry(0, bytes.len() as u64, 0, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_and_claims_both_count() {
        let it = EntryIdentity::of_entry(8, 10, 1, b"abc");
        assert_eq!(it, EntryIdentity::of_entry(8, 10, 1, b"abc"));
        assert_ne!(it, EntryIdentity::of_entry(8, 10, 1, b"abd"));
        assert_ne!(it, EntryIdentity::of_entry(8, 10, 2, b"abc"));
        assert_ne!(it, EntryIdentity::of_entry(0, 10, 1, b"abc"));
        assert_eq!(EntryIdentity::of_bytes(b"abc").compressed_size, 3);
    }
}
