//! The methods that methods of the JDK call back, from a small table that we ship (`callbacks.tsv`). The table gives
//! the callee without the calls in between, and is also used for programs whose JDK is absent. If the JDK is present,
//! its bodies and natives yield the same calls and more.
//!
//! A row of the table adds methods that may be called, and excludes none: a call of an absent method still counts as
//! a call of unknown code.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use classfile::names::{ClassName, Descriptor, MethodRef, Name};

/// The way in which a method of the JDK calls another method (the callee) back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallbackKind {
    /// The JDK method calls the callee before returning; exceptions of the callee propagate unchanged.
    Callback,
    /// The JDK method calls the callee with privileges before returning; checked exceptions of the callee are
    /// wrapped.
    Privileged,
    /// The callee is called by another thread, and the JDK method does not wait for the call to end.
    Thread,
    /// The JDK method calls the callee by reflection or by a method handle. Exceptions of the callee are wrapped,
    /// except by `Class.newInstance` and by method handles, which pass them on unchanged.
    Reflect,
    /// The JDK method initialises a class that its arguments determine, unless the class is initialised already.
    Initialize,
    /// The JDK method calls the callee to load a class; the callee is a method of a class loader.
    Load,
    /// The JDK method calls the callee to write objects; `writeObject` and `writeReplace` of the objects' classes are
    /// called, too.
    Serialize,
    /// The JDK method calls the callee to read objects; `readObject`, `readObjectNoData` and `readResolve` of the
    /// objects' classes are called, too.
    Deserialize,
}

/// A row of the table of callbacks: a method of the JDK, and a method that the JDK method calls back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Callback {
    /// The class or interface to which the JDK method belongs.
    pub class: ClassName,
    name: Name,
    descriptor: &'static str,
    /// The way in which the JDK method calls the other method back.
    pub kind: CallbackKind,
    /// The method that the JDK method calls back; the receiver's class selects the implementation. `None` if the
    /// values that are passed to the JDK method determine the callee, as in `Method.invoke` and `Class.forName`.
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

/// Returns all rows of the table of callbacks.
pub fn callbacks() -> &'static [Callback] {
    &TABLE
}

/// Returns the rows of the table of callbacks whose JDK method has this name and descriptor, whatever its class.
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
        "initialize" => CallbackKind::Initialize,
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

/// Parses a method reference of the form `p/C.m (I)V`; returns `None` if `text` has another form.
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
        assert_eq!(rows("start", "()V"), 4);
        assert_eq!(rows("start", "(I)V"), 0);
        assert_eq!(rows("doPrivileged", "(Ljava/security/PrivilegedAction;)Ljava/lang/Object;"), 1);
    }
}
