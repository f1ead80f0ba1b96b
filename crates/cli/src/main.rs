//! The binary `ajar`: flags and text output.
fn main() {}
