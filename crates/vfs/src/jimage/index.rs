//! The index of a JDK image: header, offset table, locations and strings.
//!
//! ```text
//! header 28 bytes | redirect i4 * n | offsets u4 * n | locations | strings | content
//! location: (kind << 3 | length - 1) u1, value u(length), big-endian, ... kind 0 ends it
//! ```

use std::ffi::CStr;
use std::fmt;

/// The reason why a JDK image, or one of its resources, cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageError {
    /// The offset, in the image or in the resource, at which reading failed.
    pub offset: u64,
    /// What is wrong, as a sentence for messages.
    pub what: &'static str,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at offset {:#x})", self.what, self.offset)
    }
}

impl std::error::Error for ImageError {}

/// The decoded header of a JDK image, with the positions of the tables. A header does not borrow the bytes of the
/// image, so both can be stored in one value.
#[derive(Clone, Copy, Debug)]
pub struct ImageHeader {
    pub(super) big_endian: bool,
    table_length: usize,
    redirect: usize,
    offsets: usize,
    locations: usize,
    pub(super) strings: usize,
    pub(super) content: usize,
}

/// A view of a JDK image: the bytes, and the header that describes them.
#[derive(Clone, Copy)]
pub struct Image<'a> {
    pub(super) data: &'a [u8],
    pub(super) header: ImageHeader,
}

/// The location of a resource in a JDK image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location {
    /// The offset of the stored bytes from the start of the part of the image that holds the contents of resources.
    pub content_offset: u64,
    /// The number of stored bytes if the resource is compressed; 0 if it is not compressed.
    pub compressed_size: u64,
    /// The size of the resource in bytes after decompression.
    pub size: u64,
}

/// A resource of a JDK image, with the parts of its name `/module/parent/base.extension` in modified UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resource<'a> {
    /// The module of the resource, such as `java.base`.
    pub module: &'a [u8],
    /// The package of the resource, with slashes; may be empty.
    pub parent: &'a [u8],
    /// The simple name of the resource, without its extension.
    pub base: &'a [u8],
    /// The extension of the name, such as `class`; may be empty.
    pub extension: &'a [u8],
    /// The location of the resource's bytes.
    pub location: Location,
}

const MAGIC: u32 = 0xCAFE_DADA;
const HEADER_SIZE: usize = 28;
const MAX_STRING: usize = u16::MAX as usize;
const HASH_MULTIPLIER: u32 = 0x0100_0193;

impl ImageHeader {
    /// Decodes the header of a JDK image of either byte order. Fails if `data` is not a JDK image with a known major
    /// version, or ends before the tables of the image end.
    pub fn parse(data: &[u8]) -> Result<ImageHeader, ImageError> {
        let error = |offset, what| ImageError { offset, what };
        let magic =
            read4(data, 0, false).ok_or(error(0, "the file is too short for the header of a JDK image"))?;
        let big_endian = match magic {
            MAGIC => false,
            it if it.swap_bytes() == MAGIC => true,
            _ => return Err(error(0, "the file is not a JDK image: it does not start with 0xCAFEDADA")),
        };
        let field = |offset: usize| {
            read4(data, offset, big_endian)
                .ok_or(error(offset as u64, "the file is too short for the header of a JDK image"))
        };
        if field(4)? >> 16 != 1 {
            return Err(error(4, "the major version of the image is not 1"));
        }
        let table_length = field(16)? as usize;
        let (location_size, string_size) = (field(20)? as usize, field(24)? as usize);
        let table_end = |start: usize| table_length.checked_mul(4).and_then(|it| it.checked_add(start));
        let tables = || {
            let offsets = table_end(HEADER_SIZE)?;
            let locations = table_end(offsets)?;
            let strings = locations.checked_add(location_size)?;
            let content = strings.checked_add(string_size)?;
            (content <= data.len()).then_some((offsets, locations, strings, content))
        };
        let (offsets, locations, strings, content) =
            tables().ok_or(error(16, "the index of the image ends after the end of the file"))?;
        Ok(ImageHeader {
            big_endian,
            table_length,
            redirect: HEADER_SIZE,
            offsets,
            locations,
            strings,
            content,
        })
    }

    /// Returns the image with this header. `data` must be the bytes from which the header was decoded.
    pub fn view<'a>(&self, data: &'a [u8]) -> Image<'a> {
        Image { data, header: *self }
    }
}

impl<'a> Image<'a> {
    /// Returns the size of the image in bytes.
    pub fn size(&self) -> usize {
        self.data.len()
    }

    /// Returns all resources in the order of the offset table. A resource that cannot be read yields an error; the
    /// iteration continues after it.
    pub fn resources(&self) -> impl Iterator<Item = Result<Resource<'a>, ImageError>> + use<'a> {
        let image = *self;
        (0..image.header.table_length).filter_map(move |slot| image.slot(slot).transpose())
    }

    /// Finds the resource with the name `/module/parent/base.extension` through the hash table; `None` if there is no
    /// such resource or it cannot be read.
    pub fn find(&self, name: &[u8]) -> Option<Resource<'a>> {
        let length = u32::try_from(self.header.table_length).ok().filter(|&it| it > 0)?;
        let slot = hash(name, HASH_MULTIPLIER) % length;
        let redirect = self.u4(self.header.redirect + 4 * slot as usize)?.cast_signed();
        let slot = match redirect {
            0 => return None,
            1.. => hash(name, redirect.cast_unsigned()) % length,
            // A negative number is the slot itself, counted down from -1.
            _ => (-1 - i64::from(redirect)) as u32,
        };
        let resource = self.slot(slot as usize).ok()??;
        resource.is_named(name).then_some(resource)
    }

    /// Returns the string at this offset of the string table, without its final zero byte. Returns `None` if the
    /// offset is outside the table, or if the string is too long or has no end.
    pub(super) fn string(&self, offset: u64) -> Option<&'a [u8]> {
        let strings = self.data.get(self.header.strings..self.header.content)?;
        let rest = strings.get(usize::try_from(offset).ok()?..)?;
        // No string of a class file is longer, and without a limit, a crafted index would take quadratic time. The
        // standard library finds the zero byte word by word.
        let rest = rest.get(..MAX_STRING + 1).unwrap_or(rest);
        Some(CStr::from_bytes_until_nul(rest).ok()?.to_bytes())
    }

    /// Returns the resource in a slot of the offset table; `None` if the slot is empty or outside the table. Fails if
    /// the resource has no readable location or name.
    fn slot(&self, slot: usize) -> Result<Option<Resource<'a>>, ImageError> {
        if slot >= self.header.table_length {
            return Ok(None);
        }
        let at = self.header.offsets + 4 * slot;
        let error = |what| ImageError { offset: at as u64, what };
        let offset = self.u4(at).ok_or(error("the offset table is cut off"))? as usize;
        let attributes = self.attributes(offset).ok_or(error("the location of a resource cannot be read"))?;
        let string = |kind: usize| {
            self.string(attributes[kind]).ok_or(error("the name of a resource is outside the string table"))
        };
        let resource = Resource {
            module: string(1)?,
            parent: string(2)?,
            base: string(3)?,
            extension: string(4)?,
            location: Location {
                content_offset: attributes[5],
                compressed_size: attributes[6],
                size: attributes[7],
            },
        };
        Ok((!resource.base.is_empty()).then_some(resource))
    }

    /// Returns the attributes of the location at `offset` of the location table. The index is the kind of attribute:
    /// 1 module, 2 parent, 3 base, 4 extension, 5 offset, 6 compressed size, 7 size. A missing attribute is 0. Kinds
    /// added by later formats are skipped. Returns `None` if the location is malformed.
    fn attributes(&self, offset: usize) -> Option<[u64; 8]> {
        let locations = self.data.get(self.header.locations..self.header.strings)?;
        let mut rest = locations.get(offset..)?;
        let mut attributes = [0; 8];
        loop {
            let (&first, after) = rest.split_first()?;
            let (kind, length) = (usize::from(first >> 3), usize::from(first & 7) + 1);
            if kind == 0 {
                return Some(attributes);
            }
            let (value, after) = after.split_at_checked(length)?;
            if let Some(attribute) = attributes.get_mut(kind) {
                *attribute = value.iter().fold(0, |acc, &it| acc << 8 | u64::from(it));
            }
            rest = after;
        }
    }

    fn u4(&self, offset: usize) -> Option<u32> {
        read4(self.data, offset, self.header.big_endian)
    }
}

impl Resource<'_> {
    /// Returns whether the resource is a class file, by its extension.
    pub fn is_class(&self) -> bool {
        self.extension == b"class"
    }

    /// Returns an upper bound for the length of the full name in bytes.
    pub fn name_len(&self) -> usize {
        self.module.len() + self.parent.len() + self.base.len() + self.extension.len() + 4
    }

    /// Appends the full name, `/module/parent/base.extension`, to `name`.
    pub fn push_name(&self, name: &mut Vec<u8>) {
        if !self.module.is_empty() {
            name.push(b'/');
            name.extend_from_slice(self.module);
            name.push(b'/');
        }
        if !self.parent.is_empty() {
            name.extend_from_slice(self.parent);
            name.push(b'/');
        }
        name.extend_from_slice(self.base);
        if !self.extension.is_empty() {
            name.push(b'.');
            name.extend_from_slice(self.extension);
        }
    }

    fn is_named(&self, name: &[u8]) -> bool {
        let mut own = Vec::with_capacity(name.len());
        self.push_name(&mut own);
        own == name
    }
}

/// Returns the hash code of a name, as used by the image's perfect hash table (`ImageStringsReader.hashCode` of the
/// JDK).
fn hash(name: &[u8], seed: u32) -> u32 {
    let mix = |acc: u32, &it: &u8| acc.wrapping_mul(HASH_MULTIPLIER) ^ u32::from(it);
    name.iter().fold(seed, mix) & 0x7fff_ffff
}

pub(super) fn read4(data: &[u8], offset: usize, big_endian: bool) -> Option<u32> {
    let bytes: [u8; 4] = data.get(offset..offset.checked_add(4)?)?.try_into().ok()?;
    Some(if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
}

pub(super) fn read8(data: &[u8], offset: usize, big_endian: bool) -> Option<u64> {
    let bytes: [u8; 8] = data.get(offset..offset.checked_add(8)?)?.try_into().ok()?;
    Some(if big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
}
