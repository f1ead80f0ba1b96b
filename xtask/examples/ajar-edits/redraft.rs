//! Edits of class files: in bytes that affect no result, and of methods to ghosts, for which an annotation promises
//! exceptions instead of code.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use classfile::class::ClassFile;
use test_utils::ghosts::with_ghosts;
use test_utils::patch::Patch;
use test_utils::rng::Rng;

/// Returns the class with another string in its attribute `SourceFile` (JVMS §4.7.10); `None` if the class has no
/// such attribute.
pub(crate) fn other_source(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut patch = Patch::read(bytes)?;
    // Add a string that nothing uses, at the end of the pool.
    patch.touch()?;
    let mut bytes = patch.bytes();
    let text = u16::from_be_bytes([bytes[8], bytes[9]]) - 1;
    let at = ClassFile::parse(&bytes).ok()?.attributes().find(b"SourceFile")?.offset;
    bytes.get_mut(at..at + 2)?.copy_from_slice(&text.to_be_bytes());
    Some(bytes)
}

/// Returns the class with another source line for one of its instructions (JVMS §4.7.12); `None` if the class has no
/// line table.
pub(crate) fn other_line(bytes: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let class = ClassFile::parse(bytes).ok()?;
    let mut rows = Vec::new();
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else { continue };
        let Some(table) = code.attributes().find(b"LineNumberTable") else { continue };
        rows.extend((0..table.content.len().saturating_sub(2) / 4).map(|it| table.offset + 2 + 4 * it));
    }
    let at = *rng.pick(&rows)?;
    let mut bytes = bytes.to_vec();
    // Flip the lowest bit of a two-byte line number, which comes after a two-byte pc.
    *bytes.get_mut(at + 3)? ^= 1;
    Some(bytes)
}

/// Returns the class with one of its methods changed to a ghost that promises nothing; `None` if the class has no
/// suitable method.
pub(crate) fn ghost(bytes: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let patch = Patch::read(bytes)?;
    let methods: Vec<usize> = (0..patch.methods().len()).filter(|it| patch.has_body(*it)).collect();
    let (name, descriptor) = patch.signature(&patch.methods()[*rng.pick(&methods)?]);
    let method = [patch.name(), b".", name, descriptor].concat();
    let method = String::from_utf8(method).ok()?;
    let bytes = with_ghosts(bytes, &BTreeMap::from([(method, Vec::new())]));
    // If a method already has annotations, a second annotations attribute is ignored.
    let outline = program::outline::class_outline(&bytes).ok()?;
    outline.methods.iter().any(|it| it.ghost.is_some()).then_some(bytes)
}

/// Fails if the outlines of two class files differ, or if the files are equal.
pub(crate) fn check_same(one: &[u8], other: &[u8]) -> Result<()> {
    ensure!(one != other, "the class files are equal");
    let outline =
        |it: &[u8]| program::outline::class_outline(it).ok().context("the edited file is no valid class");
    ensure!(outline(one)? == outline(other)?, "more than debug data has changed");
    Ok(())
}
