//! Decompresses `compact-cp`: class files whose Utf8 constants are in the string table of the JDK image
//! (`StringSharingPlugin` and `StringSharingDecompressor` of the JDK).
//!
//! ```text
//! magic, versions, pool count as in a class file; then its constants, where
//!   23 (externalised string):     index        -> the Utf8 constant with that string
//!   25 (externalised descriptor): index, length, bytes: pairs (package, class) of indices,
//!                                              -> the descriptor, a pair filled in after each 'L'
//! index: 0xxxxxxx and three more bytes, or 1LLxxxxx and LL - 1 more bytes, big-endian
//! ```

use crate::jimage::index::ImageError;

const UTF8: u8 = 1;
const STRING: u8 = 23;
const DESCRIPTOR: u8 = 25;

/// Restores a class file that `jlink` has compressed by moving its strings to the string table of the image. Reads
/// from `input` and writes to `out`. `strings` returns the string at an offset of the string table. Fails if the
/// input is malformed, or the result does not have `size` bytes.
pub(super) fn unpack<'s>(
    input: &[u8],
    size: usize,
    strings: &dyn Fn(u64) -> Option<&'s [u8]>,
    out: &mut Vec<u8>,
) -> Result<(), ImageError> {
    out.clear();
    let mut reader = Reader { input, at: 0 };
    // The claimed size is checked, not trusted: `out` grows only with actual content.
    let complete = constants(&mut reader, size, strings, out)
        .and_then(|()| input.get(reader.at..))
        .filter(|rest| out.len().checked_add(rest.len()) == Some(size));
    let what =
        "the class file is compressed with shared strings, and is broken or does not have the claimed size";
    out.extend_from_slice(complete.ok_or(ImageError { offset: reader.at as u64, what })?);
    Ok(())
}

struct Reader<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let bytes = self.input.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// Reads a number of one to four bytes: an offset in the string table, or a length. Returns `None` if the input
    /// ends too early or the first byte is invalid.
    fn index(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let (more, start) = match first & 0x80 {
            0 => (3, first),
            _ => (usize::from(first >> 5 & 3).checked_sub(1)?, first & 0x1f),
        };
        Some(self.take(more)?.iter().fold(start.into(), |acc, &it| acc << 8 | u64::from(it)))
    }
}

/// Restores the header of a class file and its constant pool: reads from `reader` and writes to `out`. `strings`
/// returns the string at an offset of the image's string table. Returns `None` if the input is malformed, or the
/// result has more than `size` bytes.
fn constants<'s>(
    reader: &mut Reader<'_>,
    size: usize,
    strings: &dyn Fn(u64) -> Option<&'s [u8]>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let head = reader.take(10)?;
    out.extend_from_slice(head);
    let count = u32::from(u16::from_be_bytes(head.get(8..10)?.try_into().ok()?));
    let mut constant = 1;
    while constant < count {
        let tag = reader.byte()?;
        match tag {
            STRING => push_utf8(strings(reader.index()?)?, out)?,
            DESCRIPTOR => {
                let text = strings(reader.index()?)?;
                let length = usize::try_from(reader.index()?).ok()?;
                let pairs = Reader { input: reader.take(length)?, at: 0 };
                push_descriptor(text, pairs, size, strings, out)?;
            }
            UTF8 => {
                let length = reader.take(2)?;
                out.push(UTF8);
                out.extend_from_slice(length);
                let length = u16::from_be_bytes(length.try_into().ok()?);
                out.extend_from_slice(reader.take(length.into())?);
            }
            _ => {
                out.push(tag);
                out.extend_from_slice(reader.take(constant_size(tag)?)?);
            }
        }
        // JVMS §4.4.5: long and double take two entries.
        constant += if matches!(tag, 5 | 6) { 2 } else { 1 };
        if out.len() > size {
            return None;
        }
    }
    Some(())
}

fn push_utf8(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.push(UTF8);
    out.extend_from_slice(&u16::try_from(text.len()).ok()?.to_be_bytes());
    out.extend_from_slice(text);
    Some(())
}

fn push_descriptor<'s>(
    text: &[u8],
    mut pairs: Reader<'_>,
    size: usize,
    strings: &dyn Fn(u64) -> Option<&'s [u8]>,
    out: &mut Vec<u8>,
) -> Option<()> {
    if pairs.input.is_empty() {
        return push_utf8(text, out);
    }
    out.push(UTF8);
    let start = out.len();
    out.extend_from_slice(&[0, 0]);
    for &byte in text {
        out.push(byte);
        if byte == b'L' {
            let package = strings(pairs.index()?)?;
            if !package.is_empty() {
                out.extend_from_slice(package);
                out.push(b'/');
            }
            out.extend_from_slice(strings(pairs.index()?)?);
        }
        if out.len() > size {
            return None;
        }
    }
    let length = u16::try_from(out.len() - start - 2).ok()?;
    out.get_mut(start..start + 2)?.copy_from_slice(&length.to_be_bytes());
    Some(())
}

/// Returns the number of bytes that follow the tag of a constant (JVMS §4.4); `None` for an unknown tag.
fn constant_size(tag: u8) -> Option<usize> {
    match tag {
        3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => Some(4),
        5 | 6 => Some(8),
        7 | 8 | 16 | 19 | 20 => Some(2),
        15 => Some(3),
        _ => None,
    }
}
