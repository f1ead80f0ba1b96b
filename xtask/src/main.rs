//! The workshop: `cargo xtask tidy` checks the house, `arrows`, `uses` and `queries` print it, `corpus` fetches outside jars,
//! `bench` measures against ASM. No part of the product; knows the rooms only by their folders and, in the
//! bench example, by their public functions.

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
  tidy     check the house: arrows, modules, effects, docs, sizes, papers
  arrows   print the rooms and the arrows between them
  uses ROOM
           print which file of a room uses which others, by paths and by method calls
  queries  print the tracked queries: about one class, or about the program
  corpus [--any-version] small|medium|large|extra|tools|jdk
           fetch outside jars into corpus/TIER; --any-version takes what the archive has
  bench [WORD [EDITS]]
           measure against ASM 9, and what edits take; WORD chooses benches by name";

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

/// The folder of the workspace, which holds this package.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}
