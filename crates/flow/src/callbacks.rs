//! What methods of the JDK call back, from a small table that we ship (`callbacks.tsv`): in one step, and also for programs
//! whose JDK is not there. Where it is, its bodies and natives say the same and more.
//!
//! A row only names methods that are called; a call of an absent method may go anywhere all the same.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use classfile::names::{ClassName, Descriptor, MethodRef, Name};

/// How control comes to what is called back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallbackKind {
    /// Before the call returns, exceptions come out as they are.
    Callback,
    /// The same, with privileges; checked exceptions are wrapped.
    Privileged,
    /// By another thread, now or later; the caller does not wait for it.
    Thread,
    /// By name at run time; exceptions are wrapped, those of `Class.newInstance` are not.
    Reflect,
    /// To load a class.
    Load,
    /// To write objects; `writeObject` and `writeReplace` of their classes too.
    Serialize,
    /// To read objects; `readObject`, `readObjectNoData` and `readResolve` of their classes too.
    Deserialize,
}

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Callback {
    /// The class whose method calls back.
    pub class: ClassName,
    name: Name,
    descriptor: &'static str,
    /// How.
    pub kind: CallbackKind,
    /// The method that is called back, selected by its receiver; none where only its caller's arguments tell.
    pub calls: Option<MethodRef>,
}

static TABLE: LazyLock<Vec<Callback>> = LazyLock::new(|| {
    // A test holds that every line can be read.
    include_str!("callbacks.tsv").lines().filter(|it| !it.starts_with('#')).filter_map(row).collect()
});

static BY_NAME: LazyLock<FxHashMap<Name, Vec<Callback>>> = LazyLock::new(|| {
    let mut acc: FxHashMap<Name, Vec<Callback>> = FxHashMap::default();
    for it in &*TABLE {
        acc.entry(it.name).or_default().push(*it);
    }
    acc
});

/// All rows.
pub fn callbacks() -> &'static [Callback] {
    &TABLE
}

/// The rows that are about a method of this name and descriptor, whichever class a call of it names.
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

/// `p/C.m (I)V`.
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
    fn every_line_is_a_row_and_they_are_sorted() {
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
