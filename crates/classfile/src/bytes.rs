//! A bounds-checked cursor over class-file bytes.

use crate::error::{Fault, Malformed, Result};

/// Reads big-endian numbers from a slice, and tracks the offset of the next byte for error messages.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// The offset of the next byte in the class file.
    pos: usize,
    /// The JVMS section that the error names if the bytes end too early.
    jvms: &'static str,
}

impl<'a> Reader<'a> {
    /// Returns a reader of `bytes` from offset `pos` on.
    pub(crate) fn new(bytes: &'a [u8], pos: usize, jvms: &'static str) -> Self {
        Reader { bytes, pos, jvms }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    #[cold]
    fn truncated(&self, need: usize) -> Malformed {
        let have = self.bytes.len().saturating_sub(self.pos) as u64;
        Malformed::new(self.pos, self.jvms, Fault::Truncated { need: need as u64, have })
    }

    #[inline]
    pub(crate) fn u1(&mut self) -> Result<u8> {
        let Some(&it) = self.bytes.get(self.pos) else { return Err(self.truncated(1)) };
        self.pos += 1;
        Ok(it)
    }

    #[inline]
    pub(crate) fn u2(&mut self) -> Result<u16> {
        let Some(it) = u2(self.bytes, self.pos) else { return Err(self.truncated(2)) };
        self.pos += 2;
        Ok(it)
    }

    #[inline]
    pub(crate) fn u4(&mut self) -> Result<u32> {
        let Some(it) = u4(self.bytes, self.pos) else { return Err(self.truncated(4)) };
        self.pos += 4;
        Ok(it)
    }

    #[inline]
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let it = self.pos.checked_add(n).and_then(|end| self.bytes.get(self.pos..end));
        let Some(it) = it else { return Err(self.truncated(n)) };
        self.pos += n;
        Ok(it)
    }
}

/// Returns the unsigned 16-bit number at offset `at`; `None` if fewer than two bytes are left there.
#[inline]
pub(crate) fn u2(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the unsigned 32-bit number at offset `at`; `None` if fewer than four bytes are left there.
#[inline]
pub(crate) fn u4(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
