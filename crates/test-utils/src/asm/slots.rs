//! The number of slots that the parameters and the value of a descriptor take (JVMS §4.3).

use super::pool::Text;

/// The number of slots that the parameters of a method descriptor take. A malformed descriptor is counted as far as
/// it can be read.
pub(super) fn arg_slots(descriptor: &[u16]) -> u32 {
    let close = descriptor.iter().position(|&it| it == u16::from(b')')).unwrap_or(descriptor.len());
    let mut slots = 0;
    let mut units = descriptor.iter().take(close).skip(1).peekable();
    while let Some(&unit) = units.next() {
        let mut unit = unit;
        let mut array = false;
        while unit == u16::from(b'[') {
            array = true;
            let Some(&next) = units.next() else { return slots + 1 };
            unit = next;
        }
        if unit == u16::from(b'L') {
            for &it in units.by_ref() {
                if it == u16::from(b';') {
                    break;
                }
            }
        }
        let wide = !array && (unit == u16::from(b'J') || unit == u16::from(b'D'));
        slots += if wide { 2 } else { 1 };
    }
    slots
}

/// The number of slots that the value of a field with this descriptor takes; for a method descriptor, the number that
/// the result takes.
pub(super) fn value_slots(descriptor: &Text) -> u32 {
    let units = descriptor.units();
    let start = units.iter().position(|&it| it == u16::from(b')')).map_or(0, |it| it + 1);
    match units.get(start).and_then(|&it| u8::try_from(it).ok()) {
        Some(b'V') => 0,
        Some(b'J' | b'D') => 2,
        _ => 1,
    }
}
