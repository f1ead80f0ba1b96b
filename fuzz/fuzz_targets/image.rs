//! Reads arbitrary bytes as a JDK image: lists it, and reads every class.
#![no_main]

use driver::container::Scratch;
use driver::world::list_image;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok((container, _)) = list_image("modules", bytes.to_vec()) else { return };
    let mut scratch = Scratch::new();
    for entry in &container.classes {
        let _ = container.identity(entry, &mut scratch);
        let _ = container.bytes(entry, &mut scratch);
    }
});
