//! The positions of the parts of a class file: counts, lengths, indices, instructions. It implements just enough of
//! the format to break it at interesting places, and shares no code with what is tested.

use std::ops::Range;

/// The positions in one valid class file.
#[derive(Default)]
pub(crate) struct Anatomy {
    /// The two-byte counts.
    pub(crate) counts: Vec<usize>,
    /// The four-byte lengths.
    pub(crate) lengths: Vec<usize>,
    /// The two-byte indices into the constant pool.
    pub(crate) indices: Vec<usize>,
    /// The tags of the constants.
    pub(crate) tags: Vec<usize>,
    /// The number of constants.
    pub(crate) constants: u16,
    /// The attributes: the position of the name index, and the content.
    pub(crate) attributes: Vec<(usize, Range<usize>)>,
    /// The access flags of members and of the class.
    pub(crate) flags: Vec<usize>,
    /// The method bodies.
    pub(crate) bodies: Vec<Body>,
}

/// One `Code` attribute.
pub(crate) struct Body {
    /// The position of `max_stack` and `max_locals`.
    pub(crate) limits: usize,
    /// The code.
    pub(crate) code: Range<usize>,
    /// The start of each instruction.
    pub(crate) instructions: Vec<usize>,
    /// The rows of the exception table, eight bytes each.
    pub(crate) rows: Range<usize>,
}

struct Scan<'b> {
    bytes: &'b [u8],
    at: usize,
    code_names: Vec<u16>,
    out: Anatomy,
}

/// Returns the positions in `bytes`; `None` if this is not a valid class file.
pub(crate) fn anatomy(bytes: &[u8]) -> Option<Anatomy> {
    let mut scan = Scan { bytes, at: 8, code_names: Vec::new(), out: Anatomy::default() };
    scan.pool()?;
    scan.out.flags.push(scan.at);
    scan.at += 2;
    scan.index();
    scan.index();
    for _ in 0..scan.count()? {
        scan.index();
    }
    for _ in 0..2 {
        for _ in 0..scan.count()? {
            scan.out.flags.push(scan.at);
            scan.at += 2;
            scan.index();
            scan.index();
            scan.attributes()?;
        }
    }
    scan.attributes()?;
    (scan.at == bytes.len()).then_some(scan.out)
}

impl Scan<'_> {
    fn u2(&self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn u4(&self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn count(&mut self) -> Option<u16> {
        let count = self.u2(self.at)?;
        self.out.counts.push(self.at);
        self.at += 2;
        Some(count)
    }

    fn index(&mut self) {
        self.out.indices.push(self.at);
        self.at += 2;
    }

    fn pool(&mut self) -> Option<()> {
        let count = self.count()?;
        self.out.constants = count;
        let mut number = 1;
        while number < count {
            let at = self.at;
            self.out.tags.push(at);
            let (size, indices) = match self.bytes.get(at)? {
                1 => {
                    let length = usize::from(self.u2(at + 1)?);
                    if self.bytes.get(at + 3..at + 3 + length)? == b"Code" {
                        self.code_names.push(number);
                    }
                    self.out.counts.push(at + 1);
                    (3 + length, 0..0)
                }
                3 | 4 => (5, 0..0),
                5 | 6 => {
                    number += 1;
                    (9, 0..0)
                }
                7 | 8 | 16 | 19 | 20 => (3, 1..2),
                9..=12 => (5, 1..4),
                15 => (4, 2..3),
                17 | 18 => (5, 3..4),
                _ => return None,
            };
            self.out.indices.extend(indices.step_by(2).map(|it| at + it));
            self.at += size;
            number += 1;
        }
        Some(())
    }

    fn attributes(&mut self) -> Option<()> {
        for _ in 0..self.count()? {
            let name_at = self.at;
            self.index();
            self.out.lengths.push(self.at);
            let length = self.u4(self.at)? as usize;
            self.at += 4;
            let content = self.at..self.at.checked_add(length)?;
            self.bytes.get(content.clone())?;
            self.out.attributes.push((name_at, content.clone()));
            if self.code_names.contains(&self.u2(name_at)?) && length >= 12 {
                self.body()?;
            }
            self.at = content.end;
        }
        Some(())
    }

    fn body(&mut self) -> Option<()> {
        let limits = self.at;
        self.out.lengths.push(limits + 4);
        let code = limits + 8..limits + 8 + self.u4(limits + 4)? as usize;
        let mut instructions = Vec::new();
        let mut at = code.start;
        while at < code.end {
            instructions.push(at);
            at += self.size(at, code.start)?;
        }
        self.at = code.end;
        let rows = usize::from(self.count()?);
        let rows = self.at..self.at + 8 * rows;
        self.at = rows.end;
        self.out.bodies.push(Body { limits, code, instructions, rows });
        self.attributes()
    }

    /// Returns the number of bytes of the instruction at `at`.
    fn size(&self, at: usize, start: usize) -> Option<usize> {
        let opcode = *self.bytes.get(at)?;
        let padding = 3 - (at - start) % 4;
        Some(match opcode {
            0xaa => {
                let (low, high) = (self.u4(at + padding + 5)? as i32, self.u4(at + padding + 9)? as i32);
                let cases = i64::from(high) - i64::from(low) + 1;
                13 + padding + 4 * usize::try_from(cases).ok().filter(|it| *it < 1 << 16)?
            }
            0xab => 9 + padding + 8 * (self.u4(at + padding + 5)? as usize).min(1 << 16),
            0xc4 => 4 + 2 * usize::from(*self.bytes.get(at + 1)? == 0x84),
            _ => size_of(opcode),
        })
    }
}

/// Returns the number of bytes of an instruction of fixed size.
pub(crate) fn size_of(opcode: u8) -> usize {
    match opcode {
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 2,
        0x11 | 0x13 | 0x14 | 0x84 | 0x99..=0xa8 | 0xb2..=0xb8 | 0xbb | 0xbd | 0xc0 | 0xc1 | 0xc6 | 0xc7 => 3,
        0xc5 => 4,
        0xb9 | 0xba | 0xc8 | 0xc9 => 5,
        _ => 1,
    }
}
