//! Reads arbitrary bytes as an archive: lists it with everything inside, and reads every class.
#![no_main]

use driver::container::Scratch;
use driver::world::list_archive;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for release in [8, 17] {
        let Ok((containers, _)) = list_archive("input.jar", bytes.to_vec(), release) else { return };
        let mut scratch = Scratch::new();
        for container in &containers {
            for entry in &container.classes {
                assert!(container.display(entry).ends_with(entry.member()));
                let identity = container.identity(entry, &mut scratch).is_ok();
                let read = container.bytes(entry, &mut scratch);
                assert!(identity || read.is_err(), "a class that can be read has no identity");
            }
        }
    }
});
