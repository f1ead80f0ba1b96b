//! The workshop: checks of the house, benches, corpora.
fn main() {}
