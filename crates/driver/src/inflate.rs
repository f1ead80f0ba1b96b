//! Decompression with `libdeflater`, into buffers whose size is known in advance.

use libdeflater::{DecompressionError, Decompressor};

use vfs::jimage::content::{Inflate, MAX_RESOURCE, inflate_bound};

/// A decompressor whose tables are allocated once and reused for all entries.
pub(crate) struct Inflater(Decompressor);

impl Inflater {
    pub(crate) fn new() -> Inflater {
        Inflater(Decompressor::new())
    }

    /// Decompresses raw deflate data. The result is in the first `size` bytes of `buffer`, where `size` is the size
    /// that the archive claims. Returns false if the data yields exactly `size` bytes, and true if it yields more;
    /// the bytes after the first `size` are ignored, as by the JVM. Fails if the data is broken or yields fewer
    /// bytes, or if `size` is above `MAX_RESOURCE`. `buffer` is enlarged if necessary, to at most the largest size to
    /// which this amount of data can decompress.
    pub(crate) fn deflate(&mut self, input: &[u8], size: u64, buffer: &mut Vec<u8>) -> Result<bool, String> {
        if size > MAX_RESOURCE {
            return Err(format!(
                "the entry cannot be read: the archive claims {size} bytes for it, more than the limit of {MAX_RESOURCE}"
            ));
        }
        if size > inflate_bound(input.len() as u64) {
            return Err(format!(
                "the entry cannot be read: the archive claims {size} bytes for it, more than {} compressed bytes can hold",
                input.len()
            ));
        }
        let size = size as usize;
        match self.unpack(input, size, buffer) {
            Ok(written) if written == size => Ok(false),
            Ok(written) => Err(format!(
                "the entry cannot be read: the archive claims {size} bytes for it, but it unpacks to {written}"
            )),
            Err(DecompressionError::InsufficientSpace) => self.more_than_claimed(input, size, buffer),
            Err(DecompressionError::BadData) => {
                Err("the entry cannot be read: its compressed data is broken".to_owned())
            }
        }
    }

    /// Decompresses `input` into `buffer`, after an attempt has shown that the result is larger than `size`, the size
    /// that the archive claims. Returns true, which means that the claimed size is too small. Fails if the result is
    /// larger than 1 MiB and than four times the claimed size. All of `input` is decompressed, because libdeflater
    /// cannot decompress only a part of it.
    fn more_than_claimed(&mut self, input: &[u8], size: usize, buffer: &mut Vec<u8>) -> Result<bool, String> {
        let room = size.saturating_mul(4).max(1 << 20).min(inflate_bound(input.len() as u64) as usize);
        match self.unpack(input, room, buffer) {
            Ok(_) => Ok(true),
            Err(_) => Err(format!(
                "the entry cannot be read: the archive claims {size} bytes for it, but it unpacks to far more"
            )),
        }
    }

    fn unpack(
        &mut self,
        input: &[u8],
        room: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<usize, DecompressionError> {
        if buffer.len() < room {
            buffer.resize(room, 0);
        }
        self.0.deflate_decompress(input, buffer.get_mut(..room).unwrap_or_default())
    }
}

impl Inflate for Inflater {
    fn zlib(&mut self, input: &[u8], output: &mut [u8]) -> bool {
        self.0.zlib_decompress(input, output) == Ok(output.len())
    }
}
