//! Development tasks: `cargo xtask tidy` checks the structure of the code base, `arrows`, `uses` and `queries` print
//! it, `corpus` fetches third-party jars, `bench` measures performance. This package is no part of the product. It
//! reads the sources of the other crates, and only the bench examples call their public functions.

mod bench;
mod corpus;
mod edits;
mod growth;
mod jdk;
mod tidy;
mod watched;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND
  tidy     check the structure: dependencies, modules, effects, docs, sizes, papers
  arrows   print the rooms and the dependencies between them
  uses ROOM
           print which file of a room uses which others, by paths and by method calls
  queries  print the tracked queries: about one class, or about the program
  corpus [--any-version] small|medium|large|extra|tools|jdk
           fetch third-party jars into corpus/TIER; --any-version accepts versions that are not pinned
  bench [WORD [EDITS]]
           compare with ASM 9, and measure edits; WORD selects benches by name";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["arrows"] => tidy::print_arrows(&root()),
        ["uses", room] => tidy::print_uses(&root(), room),
        ["queries"] => tidy::print_queries(&root()),
        ["bench"] => bench::run(&root(), "", edits::EDITS),
        ["bench", word] => bench::run(&root(), word, edits::EDITS),
        ["bench", word, n] => bench::run(&root(), word, n.parse()?),
        ["corpus"] => corpus::run(&root(), "small", false),
        ["corpus", "--any-version", tier] => corpus::run(&root(), tier, true),
        ["corpus", tier] if !tier.starts_with('-') => corpus::run(&root(), tier, false),
        [] | ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("unknown command `{}`\n{USAGE}", args.join(" ")),
    }
}

/// Returns the root folder of the workspace, which contains this package.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}
