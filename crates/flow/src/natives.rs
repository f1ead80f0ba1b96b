//! What the native methods of the JDK do, from a table that we ship (`natives.tsv`; its header says how it was
//! made).
//!
//! Bytecode tells nothing of a native method, so without a row it may throw anything and call anything. A row may
//! only be used for a class that comes from the JDK, which the names alone do not tell. The table says nothing of
//! Java code, not even what the targets of [`Effect::Calls`] do.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use classfile::names::{ClassName, Descriptor, MethodRef, Name};

/// What one native method does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Native {
    /// Which Java code the method may run, apart from constructing its own exceptions and results.
    pub effect: Effect,
    /// What the method raises itself, besides what its effect adds: the class, and whether exactly that class
    /// (`true`) or also its subclasses. Errors of the group `async` and the error for a missing library are left
    /// out.
    pub throws: Box<[(ClassName, bool)]>,
}

impl Native {
    /// Whether the method may ask loaders for classes: those that it resolves, or those that linking a class needs.
    pub fn loads(&self) -> bool {
        matches!(self.effect, Effect::Load | Effect::Init)
    }
}

/// Which Java code a native method may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// No Java code.
    None,
    /// Any code: the method was examined and judged to be as open as one without a row.
    Open,
    /// None before the method returns: it starts a thread, whose `run` is a root.
    Thread,
    /// Initialisers of classes: of the one that its argument names, or of others. Any `Error` may come out.
    Init,
    /// Class loaders of the program, as at an instruction that resolves a class: any code, and whatever it throws.
    /// The loaded class is not initialised.
    Load,
    /// These methods, selected virtually on the receiver or an argument. The exceptions that they throw propagate.
    Calls(Box<[MethodRef]>),
}

/// The feature releases for which the table was made.
pub const RELEASES: RangeInclusive<u16> = 8..=25;

/// A row of the table. `descriptor` is `None` if the row stands for all overloads.
struct Row {
    class: ClassName,
    name: Name,
    descriptor: Option<Descriptor>,
    releases: RangeInclusive<u16>,
    native: Native,
}

type Table = FxHashMap<(ClassName, Name), Vec<Row>>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    // A line that cannot be parsed leaves its method open; a test checks that there is none.
    for row in include_str!("natives.tsv").lines().filter_map(row) {
        table.entry((row.class, row.name)).or_default().push(row);
    }
    table
});

/// Returns the row of a native method in a JDK of this release; `None` if the method may do anything.
///
/// Without a release, only rows that hold for all of [`RELEASES`] apply. A newer JDK may have changed any of its
/// natives, so it has no rows.
pub fn native(method: MethodRef, release: Option<u16>) -> Option<&'static Native> {
    let method = method.get();
    let rows = TABLE.get(&(method.class, method.name))?;
    let fits = |row: &&Row| {
        row.descriptor.is_none_or(|it| it == method.descriptor)
            && release.map_or(row.releases == RELEASES, |it| row.releases.contains(&it))
    };
    rows.iter().find(fits).map(|it| &it.native)
}

/// Parses a line: class, name, descriptor, effect, exceptions, note, separated by tabs.
fn row(line: &str) -> Option<Row> {
    if line.starts_with('#') {
        return None;
    }
    let fields: Vec<&str> = line.split('\t').collect();
    let [class, name, descriptor, effect, throws, note] = fields[..] else { return None };
    let native = Native { effect: self::effect(effect)?, throws: self::throws(throws)? };
    Some(Row {
        class: ClassName::new(class.as_bytes()),
        name: Name::new(name.as_bytes()),
        descriptor: (descriptor != "*").then(|| Descriptor::new(descriptor.as_bytes())),
        releases: releases(note)?,
        native,
    })
}

fn effect(text: &str) -> Option<Effect> {
    Some(match text {
        "none" => Effect::None,
        "open" => Effect::Open,
        "thread" => Effect::Thread,
        "init" => Effect::Init,
        "load" => Effect::Load,
        _ => Effect::Calls(text.strip_prefix("calls ")?.split(" ; ").map(call).collect::<Option<_>>()?),
    })
}

/// Parses `p/C.m (I)V`.
fn call(text: &str) -> Option<MethodRef> {
    let (method, descriptor) = text.split_once(' ')?;
    let (class, name) = method.rsplit_once('.')?;
    let (class, name) = (ClassName::new(class.as_bytes()), Name::new(name.as_bytes()));
    Some(MethodRef::new(class, name, Descriptor::new(descriptor.as_bytes())))
}

/// Parses `p/E,p/F+`, where the plus sign includes the subclasses; `-` stands for no exception.
fn throws(text: &str) -> Option<Box<[(ClassName, bool)]>> {
    if text == "-" {
        return Some(Box::default());
    }
    text.split(',')
        .map(|it| {
            let class = it.strip_suffix('+').unwrap_or(it);
            (!class.is_empty()).then(|| (ClassName::new(class.as_bytes()), class.len() == it.len()))
        })
        .collect()
}

/// Parses the releases with which a note begins, as in `8-16: note`; a note without them holds for all releases.
fn releases(note: &str) -> Option<RangeInclusive<u16>> {
    if !note.starts_with(|it: char| it.is_ascii_digit()) {
        return Some(RELEASES);
    }
    let (first, last) = note.split_once(": ")?.0.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_lines_are_rejected() {
        let good = "p/C\tm\t*\tnone\t-\t8-16: gone since";
        assert_eq!(row(good).map(|it| it.releases), Some(8..=16));
        for bad in [
            "# p/C\tm\t*\tnone\t-\tnote",
            "p/C\tm\t*\tnone\t-",
            "p/C\tm\t*\tcalls p/C.m\t-\tnote",
            "p/C\tm\t*\tnothing\t-\tnote",
            "p/C\tm\t*\tnone\t\tnote",
            "p/C\tm\t*\tnone\tp/E,\tnote",
            "p/C\tm\t*\tnone\t-\t8: note",
        ] {
            assert!(row(bad).is_none(), "{bad}");
        }
    }
}
