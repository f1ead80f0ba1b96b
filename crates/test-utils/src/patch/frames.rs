//! Shifts the pcs in stack map frames (JVMS §4.7.4).

use super::Bytes;

/// The content of a `StackMapTable` after `by` bytes of code were inserted at the beginning. If `is_joined`, the end
/// of the inserted code is a jump target, and gets a frame with the state at the method's entry.
pub(super) fn shifted(table: &[u8], by: u16, is_joined: bool) -> Option<Vec<u8>> {
    let mut it = Bytes(table);
    let n = it.u2()?;
    let (mut n_now, mut out) = (n, Vec::new());
    for i in 0..n {
        let kind = it.u1()?;
        let (delta, shape) = match kind {
            0..64 => (u16::from(kind), 0),
            64..128 => (u16::from(kind - 64), 64),
            247..=255 => (it.u2()?, kind),
            _ => return None,
        };
        let delta = match (i, is_joined, delta) {
            (0, true, 0) => by,
            (0, true, _) => {
                put(by, 0, &mut out);
                n_now = n.checked_add(1)?;
                delta - 1
            }
            (0, false, _) => delta.checked_add(by)?,
            _ => delta,
        };
        put(delta, shape, &mut out);
        let n_types = match shape {
            64 | 247 => 1,
            252..=254 => u16::from(kind - 251),
            255 => {
                let n_locals = it.u2()?;
                out.extend(n_locals.to_be_bytes());
                types(&mut it, n_locals, by, &mut out)?;
                let n_stack = it.u2()?;
                out.extend(n_stack.to_be_bytes());
                n_stack
            }
            _ => 0,
        };
        types(&mut it, n_types, by, &mut out)?;
    }
    if n == 0 && is_joined {
        put(by, 0, &mut out);
        n_now = 1;
    }
    Some([&n_now.to_be_bytes(), &out[..]].concat())
}

/// Writes the head of a stack map frame. `delta` is the offset delta of the frame. `shape` is 0 for a frame with the
/// same locals and an empty stack, 64 for one with a single stack entry, otherwise the frame type.
fn put(delta: u16, shape: u8, out: &mut Vec<u8>) {
    match (shape, u8::try_from(delta)) {
        (0 | 251, Ok(it @ 0..64)) => out.push(it),
        (64 | 247, Ok(it @ 0..64)) => out.push(64 + it),
        _ => {
            let shape = match shape {
                0 => 251,
                64 => 247,
                it => it,
            };
            out.push(shape);
            out.extend(delta.to_be_bytes());
        }
    }
}

/// Copies `n` verification types from `it` to `out`. The type of an uninitialised object contains the pc of its
/// `new`, which is shifted by `by`.
fn types(it: &mut Bytes<'_>, n: u16, by: u16, out: &mut Vec<u8>) -> Option<()> {
    for _ in 0..n {
        let tag = it.u1()?;
        out.push(tag);
        match tag {
            7 => out.extend(it.take(2)?),
            8 => out.extend(it.u2()?.checked_add(by)?.to_be_bytes()),
            _ => {}
        }
    }
    Some(())
}
