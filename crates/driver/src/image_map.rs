//! The JDK's image in memory: mapped, because it is large, immutable and mostly not needed. The only module of
//! the project with unsafe code. Jars are never mapped: builds rewrite them in place.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use memmap2::Mmap;

use vfs::jimage::index::{Image, ImageHeader};

/// A mapped image and its decoded header.
pub(crate) struct ImageMap {
    map: Mmap,
    header: ImageHeader,
}

impl ImageMap {
    /// Maps an image and reads its header.
    pub(crate) fn open(path: &Path) -> anyhow::Result<ImageMap> {
        let file = File::open(path).context("cannot be opened")?;
        // SAFETY: the map is read-only, and the file is a `lib/modules` image, which a JDK never changes after its
        // installation: it maps the file itself, so whoever rewrites it in place kills running JVMs too.
        let map = unsafe { Mmap::map(&file) }.context("cannot be mapped into memory")?;
        let header = ImageHeader::parse(&map)?;
        Ok(ImageMap { map, header })
    }

    /// The image.
    pub(crate) fn image(&self) -> Image<'_> {
        self.header.view(&self.map)
    }
}
