//! Any bytes as a class file: read, lowered, verified, printed and read back.
#![no_main]

#[path = "../../crates/bir/tests/torture/reading.rs"]
mod reading;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    reading::read("input", bytes, true);
});
