//! Unpacking with `libdeflater`, into buffers whose size is known before.

use libdeflater::Decompressor;

use vfs::jimage::content::{Inflate, MAX_RESOURCE, inflate_bound};

/// A decompressor with its tables; reused from entry to entry.
pub(crate) struct Inflater(Decompressor);

impl Inflater {
    pub(crate) fn new() -> Inflater {
        Inflater(Decompressor::new())
    }

    /// Unpacks raw deflate data that claims to be `size` bytes into the front of `buffer`, which only grows.
    /// Allocates no more than the data can unpack to and never more than the limit for one entry.
    pub(crate) fn deflate(&mut self, input: &[u8], size: u64, buffer: &mut Vec<u8>) -> Result<(), String> {
        if size > MAX_RESOURCE {
            return Err(format!("it claims {size} bytes, more than the limit of {MAX_RESOURCE}"));
        }
        if size > inflate_bound(input.len() as u64) {
            return Err(format!(
                "it claims {size} bytes, more than {} compressed bytes can hold",
                input.len()
            ));
        }
        let size = size as usize;
        if buffer.len() < size {
            buffer.resize(size, 0);
        }
        let out = buffer.get_mut(..size).unwrap_or_default();
        match self.0.deflate_decompress(input, out) {
            Ok(written) if written == size => Ok(()),
            Ok(written) => Err(format!("it claims {size} bytes but unpacks to {written}")),
            Err(libdeflater::DecompressionError::InsufficientSpace) => {
                Err(format!("it claims {size} bytes but unpacks to more"))
            }
            Err(libdeflater::DecompressionError::BadData) => Err("its compressed data is broken".to_owned()),
        }
    }
}

impl Inflate for Inflater {
    fn zlib(&mut self, input: &[u8], output: &mut [u8]) -> bool {
        self.0.zlib_decompress(input, output) == Ok(output.len())
    }
}
