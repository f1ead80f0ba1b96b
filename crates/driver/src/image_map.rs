//! A JDK image in memory. An image is mapped, because it is large, immutable and for the most part not read. This is
//! the only module of the project with unsafe code. Jars are never mapped, because builds rewrite them in place.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use memmap2::Mmap;

use vfs::jimage::index::{Image, ImageHeader};

/// The bytes of a JDK image, and its decoded header.
pub(crate) struct ImageMap {
    bytes: Bytes,
    header: ImageHeader,
}

enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl ImageMap {
    /// Maps the JDK image at this path into memory, and decodes its header.
    pub(crate) fn open(path: &Path) -> anyhow::Result<ImageMap> {
        let file = File::open(path).context("cannot be opened")?;
        // SAFETY: the map is read-only, and the file is a `lib/modules` image, which a JDK never changes after its
        // installation: a JVM maps the file itself, so rewriting it in place would kill running JVMs too.
        let map = unsafe { Mmap::map(&file) }.context("the JDK image cannot be mapped into memory")?;
        ImageMap::new(Bytes::Mapped(map))
    }

    /// Makes an image from bytes that are already in memory, and decodes its header.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> anyhow::Result<ImageMap> {
        ImageMap::new(Bytes::Owned(bytes))
    }

    fn new(bytes: Bytes) -> anyhow::Result<ImageMap> {
        let header = ImageHeader::parse(bytes.as_slice())?;
        Ok(ImageMap { bytes, header })
    }

    /// Returns the bytes of the image.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Returns a view through which the entries of the image are read.
    pub(crate) fn image(&self) -> Image<'_> {
        self.header.view(self.bytes.as_slice())
    }
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
