//! What tells two versions of an entry apart without unpacking either.

use xxhash_rust::xxh3::xxh3_128;

/// The identity of an entry's content: what the directory claims of it and a hash of the bytes as they are stored.
///
/// The CRC alone is a 32-bit claim of whoever wrote the archive; the hash is ours. An entry that was compressed
/// anew differs here although its content is equal: that costs one more reading and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EntryIdentity {
    /// The compression method as the archive numbers it: 0 stored, 8 deflated. 0 for files and images.
    pub method: u16,
    /// How many bytes are stored.
    pub compressed_size: u64,
    /// How many bytes they stand for, as claimed.
    pub size: u64,
    /// The CRC-32 that the archive claims; 0 where the container has none.
    pub crc: u32,
    /// The xxh3-128 of the stored bytes.
    pub hash: u128,
}

impl EntryIdentity {
    /// The identity of an entry of an archive.
    pub fn of_entry(method: u16, size: u64, crc: u32, stored: &[u8]) -> EntryIdentity {
        EntryIdentity { method, compressed_size: stored.len() as u64, size, crc, hash: xxh3_128(stored) }
    }

    /// The identity of bytes that lie somewhere as they are, in a file or in a JDK image.
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
