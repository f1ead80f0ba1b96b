//! Which methods are called back by methods of the JDK, from a small table that we ship (`callbacks.tsv`). The table
//! gives the callee in one step, and it also serves programs whose JDK is absent. Where the JDK is present, its
//! bodies and natives yield the same calls and more.
//!
//! A row only adds methods that may be called: a call of an absent method still counts as a call of unknown code.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use classfile::names::{ClassName, Descriptor, MethodRef, Name};

/// How the method that is called back is reached.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallbackKind {
    /// It is called before the JDK's method returns; its exceptions propagate unchanged.
    Callback,
    /// It is called with privileges before the JDK's method returns; checked exceptions are wrapped.
    Privileged,
    /// Another thread calls it, now or later; the caller does not wait for it.
    Thread,
    /// It is called by name at run time; exceptions are wrapped, except those of `Class.newInstance`.
    Reflect,
    /// It is called to load a class.
    Load,
    /// It is called to write objects, as are `writeObject` and `writeReplace` of their classes.
    Serialize,
    /// It is called to read objects, as are `readObject`, `readObjectNoData` and `readResolve` of their classes.
    Deserialize,
}

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Callback {
    /// The class whose method calls back.
    pub class: ClassName,
    name: Name,
    descriptor: &'static str,
    /// How the method that is called back is reached.
    pub kind: CallbackKind,
    /// The method that is called back, selected by its receiver; `None` if only the arguments of the call tell.
    pub calls: Option<MethodRef>,
}

static TABLE: LazyLock<Vec<Callback>> = LazyLock::new(|| {
    // A test checks that every line can be read.
    include_str!("callbacks.tsv").lines().filter(|it| !it.starts_with('#')).filter_map(row).collect()
});

static BY_NAME: LazyLock<FxHashMap<Name, Vec<Callback>>> = LazyLock::new(|| {
    let mut acc: FxHashMap<Name, Vec<Callback>> = FxHashMap::default();
    for it in &*TABLE {
        acc.entry(it.name).or_default().push(*it);
    }
    acc
});

/// All rows of the table.
pub fn callbacks() -> &'static [Callback] {
    &TABLE
}

/// Returns the rows for methods of this name and descriptor, whichever class a call of them names.
pub fn callbacks_of(name: Name, descriptor: Descriptor) -> impl Iterator<Item = &'static Callback> {
    let rows = BY_NAME.get(&name).into_iter().flatten();
    rows.filter(move |it| match it.descriptor.strip_suffix('*') {
        Some(begin) => descriptor.bytes().starts_with(begin.as_bytes()),
        None => descriptor.bytes() == it.descriptor.as_bytes(),
    })
}

fn row(line: &'static str) -> Option<Callback> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [class, name, descriptor, kind, calls] = fields[..] else { return None };
    let kind = match kind {
        "callback" => CallbackKind::Callback,
        "privileged" => CallbackKind::Privileged,
        "thread" => CallbackKind::Thread,
        "reflect" => CallbackKind::Reflect,
        "load" => CallbackKind::Load,
        "serialize" => CallbackKind::Serialize,
        "deserialize" => CallbackKind::Deserialize,
        _ => return None,
    };
    Some(Callback {
        class: ClassName::new(class.as_bytes()),
        name: Name::new(name.as_bytes()),
        descriptor,
        kind,
        calls: if calls == "-" { None } else { Some(method(calls)?) },
    })
}

/// Parses `p/C.m (I)V`.
fn method(text: &str) -> Option<MethodRef> {
    let (method, descriptor) = text.split_once(' ')?;
    let (class, name) = method.rsplit_once('.')?;
    let (class, name) = (ClassName::new(class.as_bytes()), Name::new(name.as_bytes()));
    Some(MethodRef::new(class, name, Descriptor::new(descriptor.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_row_and_lines_are_sorted() {
        let lines: Vec<&str> =
            include_str!("callbacks.tsv").lines().filter(|it| !it.starts_with('#')).collect();
        assert!(lines.is_sorted());
        assert_eq!(lines.len(), TABLE.len());
    }

    #[test]
    fn a_row_is_found_by_name_and_descriptor() {
        let rows = |name: &str, descriptor: &str| {
            let (name, descriptor) = (Name::new(name.as_bytes()), Descriptor::new(descriptor.as_bytes()));
            callbacks_of(name, descriptor).count()
        };
        assert_eq!(rows("start", "()V"), 2);
        assert_eq!(rows("start", "(I)V"), 0);
        assert_eq!(rows("doPrivileged", "(Ljava/security/PrivilegedAction;)Ljava/lang/Object;"), 1);
    }
}
