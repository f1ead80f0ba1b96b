//! Reads arbitrary bytes as a class file: it is lowered, verified, printed and parsed again.
#![no_main]

#[path = "../../crates/bir/tests/torture/reading.rs"]
mod reading;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    reading::read("input", bytes, true);
});
