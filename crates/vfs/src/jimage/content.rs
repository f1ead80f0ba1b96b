//! Reads the bytes of a resource of a JDK image: as stored, or decompressed with the plug-ins that `jlink` applied.
//!
//! ```text
//! compressed resource, layer by layer: magic u4 0xCAFEFAFA | stored u8 | size u8 | decompressor u4 (string)
//!                                      | configuration u4 | is-last u1 | stored bytes
//! ```

use crate::jimage::compact_cp;
use crate::jimage::index::{Image, ImageError, Location, read4, read8};

/// Decompresses zlib streams. The crate `driver` implements this trait.
pub trait Inflate {
    /// Decompresses `input` into `output`. Returns false if the data is malformed or does not fill `output` exactly.
    fn zlib(&mut self, input: &[u8], output: &mut [u8]) -> bool;
}

/// Working memory for decompression, which is reused from resource to resource.
#[derive(Default, Debug)]
pub struct Buffers {
    current: Vec<u8>,
    next: Vec<u8>,
}

/// The maximum size of a decompressed resource in bytes.
pub const MAX_RESOURCE: u64 = 256 << 20;

/// Returns an upper bound for the size in bytes to which `size` deflated bytes can decompress. (In RFC 1951, two bits
/// can produce 258 bytes, a factor of 1032.)
pub fn inflate_bound(size: u64) -> u64 {
    size.saturating_mul(1032).saturating_add(64)
}

const LAYER_MAGIC: u32 = 0xCAFE_FAFA;
const LAYER_HEADER: usize = 29;

/// The maximum number of compressions, one applied to the result of another, that are undone for a resource. `jlink`
/// has two kinds of plug-ins that compress, and applies at most one of each.
const MAX_LAYERS: usize = 4;

struct Layer {
    stored: usize,
    size: usize,
    decompressor: u32,
}

impl<'a> Image<'a> {
    /// Returns the bytes that the image stores for a resource, which may be compressed. Fails if their place is
    /// outside the image.
    pub fn stored(&self, location: &Location) -> Result<&'a [u8], ImageError> {
        let length = match location.compressed_size {
            0 => location.size,
            it => it,
        };
        let range = || {
            let start = usize::try_from(location.content_offset).ok()?.checked_add(self.header.content)?;
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            self.data.get(start..end)
        };
        range().ok_or(ImageError {
            offset: location.content_offset,
            what: "the resource ends after the end of the image",
        })
    }

    /// Returns the decompressed bytes of a resource: a slice of the image if the resource is not compressed,
    /// otherwise a slice of `buffers`. Fails if the resource is malformed.
    pub fn content<'b>(
        &self,
        location: &Location,
        inflate: &mut dyn Inflate,
        buffers: &'b mut Buffers,
    ) -> Result<&'b [u8], ImageError>
    where
        'a: 'b,
    {
        let stored = self.stored(location)?;
        if location.compressed_size == 0 {
            return Ok(stored);
        }
        let mut layers = 0;
        while let Some(layer) = self.layer(if layers == 0 { stored } else { &buffers.current })? {
            if layers == MAX_LAYERS {
                return Err(ImageError {
                    offset: 0,
                    what: "the resource is compressed more times than the limit of 4",
                });
            }
            let Buffers { current, next } = &mut *buffers;
            self.unpack(if layers == 0 { stored } else { current }, &layer, inflate, next)?;
            std::mem::swap(current, next);
            layers += 1;
        }
        let content = if layers == 0 { stored } else { &buffers.current };
        if content.len() as u64 != location.size {
            return Err(ImageError {
                offset: 0,
                what: "the resource does not have the size that the index of the image claims",
            });
        }
        Ok(content)
    }

    /// Returns the compression header at the start of `bytes`; `None` if the bytes are not compressed. Fails if the
    /// header is cut off, or claims a size that is too large.
    fn layer(&self, bytes: &[u8]) -> Result<Option<Layer>, ImageError> {
        let big_endian = self.header.big_endian;
        if read4(bytes, 0, big_endian) != Some(LAYER_MAGIC) {
            return Ok(None);
        }
        let fields = || {
            Some((read8(bytes, 4, big_endian)?, read8(bytes, 12, big_endian)?, read4(bytes, 20, big_endian)?))
        };
        let error = |offset, what| ImageError { offset, what };
        let (stored, size, decompressor) =
            fields().ok_or(error(0, "the compression header of the resource is cut off"))?;
        if size > MAX_RESOURCE {
            return Err(error(12, "the claimed size of the resource is above the limit of 256 MiB"));
        }
        let stored = usize::try_from(stored).map_err(|_| {
            error(4, "the claimed compressed size of the resource is too large for this machine")
        })?;
        Ok(Some(Layer { stored, size: size as usize, decompressor }))
    }

    fn unpack(
        &self,
        bytes: &[u8],
        layer: &Layer,
        inflate: &mut dyn Inflate,
        out: &mut Vec<u8>,
    ) -> Result<(), ImageError> {
        let error = |offset, what| ImageError { offset, what };
        let end = LAYER_HEADER.checked_add(layer.stored);
        let body = end
            .and_then(|end| bytes.get(LAYER_HEADER..end))
            .ok_or(error(4, "the compressed data ends after the end of the resource"))?;
        let name = self.string(layer.decompressor.into());
        match name
            .ok_or(error(20, "the name of the resource's compression method is outside the string table"))?
        {
            b"zip" => {
                if layer.size as u64 > inflate_bound(body.len() as u64) {
                    return Err(error(
                        12,
                        "the claimed size of the resource is more than its compressed data can unpack to",
                    ));
                }
                out.clear();
                out.resize(layer.size, 0);
                if !inflate.zlib(body, out) {
                    return Err(error(
                        LAYER_HEADER as u64,
                        "the compressed data of the resource is broken or does not have the claimed size",
                    ));
                }
                Ok(())
            }
            b"compact-cp" => compact_cp::unpack(body, layer.size, &|offset| self.string(offset), out),
            _ => Err(error(20, "the decompressor is unknown")),
        }
    }
}
