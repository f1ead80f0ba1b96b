//! The lengths of instructions and the sizes of arguments.

/// The pcs of a body's instructions. The iterator ends at an instruction that cannot be read.
pub(super) fn starts(code: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut pc = 0;
    std::iter::from_fn(move || {
        let at = pc;
        pc += length(code, at)?;
        Some(at)
    })
}

fn length(code: &[u8], pc: usize) -> Option<usize> {
    let int = |at: usize| Some(i32::from_be_bytes(code.get(at..at + 4)?.try_into().ok()?));
    Some(match *code.get(pc)? {
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 2,
        0x11 | 0x13 | 0x14 | 0x84 | 0x99..=0xa8 | 0xb2..=0xb8 | 0xbb | 0xbd | 0xc0 | 0xc1 | 0xc6 | 0xc7 => 3,
        0xb9 | 0xba | 0xc8 | 0xc9 => 5,
        0xc5 => 4,
        // `wide iinc` also has a constant.
        0xc4 if *code.get(pc + 1)? == 0x84 => 6,
        0xc4 => 4,
        0xaa => {
            let table = (pc + 4) & !3;
            let (low, high) = (int(table + 4)?, int(table + 8)?);
            let n = usize::try_from(i64::from(high) - i64::from(low) + 1).ok()?;
            table + 12 + 4 * n - pc
        }
        0xab => {
            let table = (pc + 4) & !3;
            table + 8 + 8 * usize::try_from(int(table + 4)?).ok()? - pc
        }
        _ => 1,
    })
}

/// The number of slots that the parameters of a method descriptor take; `None` if the descriptor is malformed.
pub(super) fn slots(descriptor: &[u8]) -> Option<u16> {
    parameters(descriptor).map(|it| it.iter().map(|it| 1 + u16::from(matches!(it, b'J' | b'D'))).sum())
}

/// Instructions that push a default value for each parameter; `None` if the descriptor is malformed.
pub(super) fn defaults(descriptor: &[u8]) -> Option<Vec<u8>> {
    let push = |it: u8| match it {
        b'J' => 0x09,
        b'F' => 0x0b,
        b'D' => 0x0e,
        b'L' | b'[' => 0x01,
        _ => 0x03,
    };
    Some(parameters(descriptor)?.into_iter().map(push).collect())
}

/// The first character of each parameter's type; `None` if the descriptor is malformed.
fn parameters(descriptor: &[u8]) -> Option<Vec<u8>> {
    let mut rest = descriptor.strip_prefix(b"(")?;
    let mut acc = Vec::new();
    while !rest.starts_with(b")") {
        acc.push(*rest.first()?);
        let dims = rest.iter().take_while(|it| **it == b'[').count();
        rest = rest.get(dims..)?;
        let length = if rest.first()? == &b'L' { rest.iter().position(|it| *it == b';')? + 1 } else { 1 };
        rest = rest.get(length..)?;
    }
    Some(acc)
}
