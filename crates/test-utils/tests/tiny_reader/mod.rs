//! A minimal class-file reader that counts opcodes, written without the assembler's tables.

/// Adds the opcodes of every method of the class to `counts`; `None` if the class cannot be read.
pub(crate) fn count_opcodes(class: &[u8], counts: &mut [u64; 256]) -> Option<()> {
    let mut at = Cursor { bytes: class, at: 8 };
    let n_pool = at.u16()?;
    let mut code_names = vec![false; usize::from(n_pool)];
    let mut idx = 1;
    while idx < n_pool {
        let tag = at.u8()?;
        match tag {
            1 => {
                let n = at.u16()?;
                let text = at.take(usize::from(n))?;
                *code_names.get_mut(usize::from(idx))? = text == b"Code";
            }
            3 | 4 | 9..=12 | 17 | 18 => {
                at.take(4)?;
            }
            5 | 6 => {
                at.take(8)?;
            }
            15 => {
                at.take(3)?;
            }
            _ => {
                at.take(2)?;
            }
        }
        idx += if matches!(tag, 5 | 6) { 2 } else { 1 };
    }
    at.take(6)?;
    let n_interfaces = at.u16()?;
    at.take(2 * usize::from(n_interfaces))?;
    for _member_kind in 0..2 {
        for _ in 0..at.u16()? {
            at.take(6)?;
            for _ in 0..at.u16()? {
                let name = at.u16()?;
                let n = at.u32()?;
                let content = at.take(n as usize)?;
                if *code_names.get(usize::from(name))? {
                    let mut code = Cursor { bytes: content, at: 4 };
                    let n = code.u32()?;
                    walk(code.take(n as usize)?, counts)?;
                }
            }
        }
    }
    Some(())
}

fn walk(code: &[u8], counts: &mut [u64; 256]) -> Option<()> {
    let mut at = Cursor { bytes: code, at: 0 };
    while at.at < code.len() {
        let opcode = at.u8()?;
        *counts.get_mut(usize::from(opcode))? += 1;
        match opcode {
            16 | 18 | 21..=25 | 54..=58 | 169 | 188 => {
                at.take(1)?;
            }
            17 | 19 | 20 | 132 | 153..=168 | 178..=184 | 187 | 189 | 192 | 193 | 198 | 199 => {
                at.take(2)?;
            }
            197 => {
                at.take(3)?;
            }
            185 | 186 | 200 | 201 => {
                at.take(4)?;
            }
            170 | 171 => {
                at.at = at.at.next_multiple_of(4) + 4;
                let low = at.u32()? as i32;
                let n = if opcode == 170 { (at.u32()? as i32 - low + 1) * 4 } else { low * 8 };
                at.take(usize::try_from(n).ok()?)?;
            }
            196 => {
                let wide = at.u8()?;
                *counts.get_mut(usize::from(wide))? += 1;
                at.take(if wide == 132 { 4 } else { 2 })?;
            }
            _ => {}
        }
    }
    Some(())
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let out = self.bytes.get(self.at..self.at + n)?;
        self.at += n;
        Some(out)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from(self.u8()?) << 8 | u16::from(self.u8()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from(self.u16()?) << 16 | u32::from(self.u16()?))
    }
}
