//! Mutations of class files.

use test_utils::rng::Rng;

use crate::anatomy::{Anatomy, Body, size_of};

/// Applies a random mutation to `bytes`, whose positions are `parts`.
///
/// Of several changes, only the last may move bytes, because positions are invalid afterwards.
pub(crate) fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>, parts: &Anatomy) {
    for _ in 0..rng.below(3) {
        in_place(rng, bytes, parts);
    }
    if rng.chance(25) {
        moving(rng, bytes, parts);
    } else {
        in_place(rng, bytes, parts);
    }
}

/// A change that moves nothing.
fn in_place(rng: &mut Rng, bytes: &mut [u8], parts: &Anatomy) {
    let index = |rng: &mut Rng| rng.below(u32::from(parts.constants) + 2) as u16;
    match rng.below(16) {
        0 => {
            let at = rng.below(bytes.len() as u32) as usize;
            bytes[at] ^= 1 << rng.below(8);
        }
        1 => set(bytes, rng.pick(&parts.counts), &number(rng).to_be_bytes()[2..]),
        2 => set(bytes, rng.pick(&parts.lengths), &number(rng).to_be_bytes()),
        3 | 4 => set(bytes, rng.pick(&parts.indices), &index(rng).to_be_bytes()),
        5 => set(bytes, rng.pick(&parts.tags), &[rng.below(22) as u8]),
        6 => swap_names(rng, bytes, parts),
        7 => set(bytes, rng.pick(&parts.flags), &(rng.bits() as u16).to_be_bytes()),
        8 => set(bytes, Some(&6), &(rng.range(40, 72) as u16).to_be_bytes()),
        _ => {
            let Some(body) = rng.pick(&parts.bodies) else { return };
            in_body(rng, bytes, body, parts.constants);
        }
    }
}

/// A change of one body that keeps its length.
fn in_body(rng: &mut Rng, bytes: &mut [u8], body: &Body, constants: u16) {
    let Some(&at) = rng.pick(&body.instructions) else { return };
    let length = body.code.len() as u32;
    match rng.below(9) {
        // Another instruction of the same size, with the old operands.
        0..=2 => {
            let size = size_of(bytes[at]);
            let others: Vec<u8> = (0..=0xc9).filter(|it| size_of(*it) == size).collect();
            set(bytes, Some(&at), &[rng.pick(&others).copied().unwrap_or(0)]);
        }
        3 => set(bytes, Some(&(at + 1)), &(rng.below(u32::from(constants) + 1) as u16).to_be_bytes()),
        // A branch to another instruction, or near one.
        4 => {
            let to = rng.pick(&body.instructions).map_or(0, |it| *it as i32 - at as i32);
            let to = to + i32::from(rng.chance(5));
            set(bytes, Some(&(at + 1)), &(to as i16).to_be_bytes());
        }
        5 => set(bytes, Some(&(body.limits + 2 * rng.below(2) as usize)), &number(rng).to_be_bytes()[2..]),
        6 => {
            let at = body.code.start + rng.below(length.max(1)) as usize;
            set(bytes, Some(&at), &[rng.bits() as u8]);
        }
        // A row over another instruction, or with a handler at one.
        _ => {
            if body.rows.is_empty() {
                return;
            }
            let place = body.rows.start + 2 * rng.below(body.rows.len() as u32 / 2) as usize;
            let to = rng.pick(&body.instructions).map_or(0, |it| it - body.code.start) as u16;
            let to = if rng.chance(90) { to } else { rng.bits() as u16 };
            set(bytes, Some(&place), &to.to_be_bytes());
        }
    }
}

/// Swaps the names of two attributes.
fn swap_names(rng: &mut Rng, bytes: &mut [u8], parts: &Anatomy) {
    let (Some(a), Some(b)) = (rng.pick(&parts.attributes), rng.pick(&parts.attributes)) else { return };
    bytes.swap(a.0, b.0);
    bytes.swap(a.0 + 1, b.0 + 1);
}

/// A change that moves the bytes after it.
fn moving(rng: &mut Rng, bytes: &mut Vec<u8>, parts: &Anatomy) {
    let n = bytes.len() as u32;
    let at = rng.below(n) as usize;
    let size = 1 << rng.below(9);
    let end = (at + 1 + rng.below(size) as usize).min(bytes.len());
    match rng.below(6) {
        0 => bytes.truncate(at),
        1 => {
            let piece = bytes[at..end].to_vec();
            let to = rng.below(n) as usize;
            bytes.splice(to..to, piece);
        }
        2 => drop(bytes.drain(at..end)),
        3 => bytes[at..end].fill(0xff),
        4 => bytes.copy_within(at..end, rng.below(n - (end - at) as u32) as usize),
        // The content of one attribute replaces that of another, with an adjusted length.
        _ => {
            let (Some(a), Some(b)) = (rng.pick(&parts.attributes), rng.pick(&parts.attributes)) else {
                return;
            };
            let piece = bytes[b.1.clone()].to_vec();
            bytes[a.1.start - 4..a.1.start].copy_from_slice(&(piece.len() as u32).to_be_bytes());
            bytes.splice(a.1.clone(), piece);
        }
    }
}

/// Returns a number that is likely to break readers.
fn number(rng: &mut Rng) -> u32 {
    let small = rng.below(300);
    rng.one([0, 1, 2, small, 0x7fff, 0xffff, 0x7fff_ffff, u32::MAX])
}

fn set(bytes: &mut [u8], at: Option<&usize>, new: &[u8]) {
    if let Some(place) = at.and_then(|&it| bytes.get_mut(it..it + new.len())) {
        place.copy_from_slice(new);
    }
}
