//! Modified UTF-8 (JVMS §4.4.7): validation, conversion to UTF-16 units, and display.
//!
//! Java strings are sequences of UTF-16 units and may contain lone surrogates, so names are kept as bytes. Text for
//! people shows units that belong to no Unicode character as `\uXXXX`.

use std::fmt;

/// Returns whether `bytes` is modified UTF-8: it contains no zero byte and no byte from `F0` on, and all sequences
/// are complete.
///
/// As in HotSpot, overlong two- and three-byte forms are accepted.
pub fn is_valid(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        rest = &rest[ascii(rest)..];
        let n = match rest {
            [] => return true,
            [0xc0..=0xdf, 0x80..=0xbf, ..] => 2,
            [0xe0..=0xef, 0x80..=0xbf, 0x80..=0xbf, ..] => 3,
            _ => return false,
        };
        rest = &rest[n..];
    }
}

/// Returns the number of leading bytes that are ASCII and not zero. Nearly every name is pure ASCII, so eight bytes
/// are tested at a time.
fn ascii(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    let (words, _) = bytes.as_chunks::<8>();
    // The subtraction sets the high bit of a zero byte, but a borrow may also set that of the byte above: such
    // words are examined byte by byte.
    let plain = |it: &&[u8; 8]| {
        let word = u64::from_le_bytes(**it);
        (word | word.wrapping_sub(ONES)) & (ONES << 7) == 0
    };
    let start = words.iter().take_while(plain).count() * 8;
    start + bytes[start..].iter().take_while(|&&b| b != 0 && b < 0x80).count()
}

/// Returns the UTF-16 units of valid modified UTF-8. Each invalid byte is returned as one unit with the same value.
pub fn units(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (unit, n) = match *rest {
            [] => return None,
            [a @ 0xc0..=0xdf, b @ 0x80..=0xbf, ..] => (((a as u16) & 0x1f) << 6 | (b as u16 & 0x3f), 2),
            [a @ 0xe0..=0xef, b @ 0x80..=0xbf, c @ 0x80..=0xbf, ..] => {
                ((a as u16) << 12 | (b as u16 & 0x3f) << 6 | (c as u16 & 0x3f), 3)
            }
            [a, ..] => (a as u16, 1),
        };
        rest = &rest[n..];
        Some(unit)
    })
}

/// Encodes `units`, in the shortest form that the JVMS allows.
pub fn encode(units: impl Iterator<Item = u16>) -> Vec<u8> {
    let mut out = Vec::new();
    for u in units {
        match u {
            0x01..=0x7f => out.push(u as u8),
            0 | 0x80..=0x7ff => out.extend([0xc0 | (u >> 6) as u8, 0x80 | (u & 0x3f) as u8]),
            _ => {
                out.extend([0xe0 | (u >> 12) as u8, 0x80 | ((u >> 6) & 0x3f) as u8, 0x80 | (u & 0x3f) as u8])
            }
        }
    }
    out
}

/// Displays modified UTF-8, with control characters, backslashes and lone surrogates escaped.
#[derive(Clone, Copy)]
pub struct Shown<'a>(pub &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        if self.0.iter().all(|b| (0x20..0x7f).contains(b) && *b != b'\\') {
            return f.write_str(std::str::from_utf8(self.0).unwrap_or_default());
        }
        for c in char::decode_utf16(units(self.0)) {
            match c {
                Ok('\\') => f.write_str("\\\\")?,
                Ok('\n') => f.write_str("\\n")?,
                Ok('\t') => f.write_str("\\t")?,
                Ok('\r') => f.write_str("\\r")?,
                Ok(c) if c.is_control() || is_invisible(c) => {
                    let mut buf = [0; 2];
                    for u in c.encode_utf16(&mut buf) {
                        write!(f, "\\u{u:04x}")?;
                    }
                }
                Ok(c) => f.write_char(c)?,
                Err(e) => write!(f, "\\u{:04x}", e.unpaired_surrogate())?,
            }
        }
        Ok(())
    }
}

/// Returns whether the character reorders or hides text on a terminal.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_survives() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        let bytes = encode(all.iter().copied());
        assert!(is_valid(&bytes));
        assert_eq!(units(&bytes).collect::<Vec<_>>(), all);
    }

    #[test]
    fn broken_sequences_are_refused() {
        for bad in [&[0u8][..], &[0x80], &[0xc3], &[0xe1, 0x80], &[0xf0, 0x9f, 0x98, 0x80], &[0xc3, 0x41]] {
            assert!(!is_valid(bad), "{bad:x?}");
        }
        // The first byte of a longer form must not be read as that of a shorter one.
        for first in 0xf0..=0xff {
            assert!(!is_valid(&[first, 0x80, 0x80]), "{first:x}");
        }
    }

    #[test]
    fn lone_surrogates_and_controls_are_escaped() {
        let bytes = encode([0x41, 0xd800, 0x0a, 0x5c, 0xd83d, 0xde00].into_iter());
        assert_eq!(Shown(&bytes).to_string(), "A\\ud800\\n\\\\😀");
    }
}
