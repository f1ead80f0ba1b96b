//! Assembles `.jasm` files: `cargo run -p test-utils --example jasm -- OUT-FOLDER FILE…`.

use std::path::Path;
use std::process::ExitCode;

use test_utils::{fixture, jvm};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(out) = args.next() else {
        eprintln!("usage: jasm OUT-FOLDER FILE…");
        return ExitCode::from(2);
    };
    for file in args {
        let done = std::fs::read_to_string(&file)
            .map_err(|err| err.to_string())
            .and_then(|text| fixture::classes(&text).map_err(|err| err.to_string()))
            .and_then(|it| jvm::write_classes(Path::new(&out), &it).map_err(|err| err.to_string()));
        if let Err(err) = done {
            eprintln!("{file}: {err}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
