//! Parses arbitrary text as BIR: what can be parsed is printed, and must parse to the same.
#![no_main]

use bir::parse::{parse, parse_body};
use bir::print::print;
use bir::verify::verify;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(bodies) = parse(text) else { return };
    for body in bodies {
        verify(&body);
        let text = print(&body);
        match parse_body(&text) {
            Ok(again) => assert!(again == body, "{text}"),
            Err(err) => panic!("{err}\n{text}"),
        }
    }
});
