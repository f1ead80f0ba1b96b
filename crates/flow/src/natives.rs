//! The effects of the native methods of the JDK, from a table that we ship (`natives.tsv`; its header describes how
//! it was made).
//!
//! Bytecode does not describe a native method, so a method without a row may throw anything and call anything. A row
//! may be used only for a class that comes from the JDK; the caller must check this. The table has no rows for Java
//! code, not even for the targets of [`Effect::Calls`].

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use classfile::names::{ClassName, Descriptor, MethodRef, Name};

/// The Java code that a native method may run, and the exceptions that the native method raises.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Native {
    /// The Java code that the method may run, apart from the constructors of exceptions that it throws and of objects
    /// that it returns.
    pub effect: Effect,
    /// The exceptions that the method itself raises, besides those of the Java code that it runs: a class, and a flag
    /// that is `true` for objects of exactly this class, `false` for objects of this class and its subclasses. VM
    /// errors of the group `async` and the error for a missing native library are left out.
    pub throws: Box<[(ClassName, bool)]>,
}

impl Native {
    /// Returns whether the method may call class loaders, to resolve a class or to link one.
    pub fn loads(&self) -> bool {
        matches!(self.effect, Effect::Load | Effect::Init)
    }
}

/// The Java code that a native method may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The method runs no Java code.
    None,
    /// The method may run any code, like a method without a row in the table. The row shows that the method was
    /// examined.
    Open,
    /// The method starts a thread and runs no Java code before it returns; the thread's `run` is an entry point.
    Thread,
    /// The method may run initialisers of classes: of the class that an argument of the method names, or of other
    /// classes. The method may throw any `Error`.
    Init,
    /// The method may load a class, like an instruction that resolves a class. So it may call class loaders of the
    /// program, which may run any code and throw any exception. The loaded class is not initialised.
    Load,
    /// The method calls these methods, each selected by the class of the receiver or of an argument. Exceptions of
    /// the called methods propagate.
    Calls(Box<[MethodRef]>),
}

/// The feature releases of the JDK that the table of native methods covers.
pub const RELEASES: RangeInclusive<u16> = 8..=25;

/// A row of the table of native methods. If `descriptor` is `None`, the row holds for all methods with this class and
/// name.
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

/// Returns the effects of a native method in a JDK of the feature release `release`; `None` if the table has no row
/// for the method, which may then do anything.
///
/// If the release is not known (`release` is `None`), only rows that hold for all of [`RELEASES`] are used. For a
/// release that is newer than [`RELEASES`], there are no rows, because a newer JDK may have changed any native
/// method.
pub fn native(method: MethodRef, release: Option<u16>) -> Option<&'static Native> {
    let method = method.get();
    let rows = TABLE.get(&(method.class, method.name))?;
    let fits = |row: &&Row| {
        row.descriptor.is_none_or(|it| it == method.descriptor)
            && release.map_or(row.releases == RELEASES, |it| row.releases.contains(&it))
    };
    rows.iter().find(fits).map(|it| &it.native)
}

/// Parses a line of the table of native methods: class, name, descriptor, effect, exceptions and note, separated by
/// tabs. Returns `None` for a comment and for a line with another form.
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

/// Parses a method reference of the form `p/C.m (I)V`; returns `None` if `text` has another form.
fn call(text: &str) -> Option<MethodRef> {
    let (method, descriptor) = text.split_once(' ')?;
    let (class, name) = method.rsplit_once('.')?;
    let (class, name) = (ClassName::new(class.as_bytes()), Name::new(name.as_bytes()));
    Some(MethodRef::new(class, name, Descriptor::new(descriptor.as_bytes())))
}

/// Parses the exceptions in a line of the table, in the form `p/E,p/F+`. A plus sign includes the subclasses; `-`
/// stands for no exception. Returns `None` if `text` has another form.
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

/// Parses the JDK releases at the start of a note in a line of the table, as in `8-16: note`. Returns all releases if
/// the note does not start with a number, and `None` if the form is wrong.
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
