//! What object streams call by name (Java Object Serialization Specification, §2.3 to §3.7).

use std::sync::LazyLock;

use classfile::names::{ClassName, Descriptor, Name};

/// What a stream does with an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// It writes it.
    Writing,
    /// It reads it.
    Reading,
}

/// A method that a class may have for streams.
pub(super) struct StreamMethod {
    /// When it is called.
    pub(super) direction: Direction,
    /// Its name.
    pub(super) name: Name,
    /// Its descriptor.
    pub(super) descriptor: Descriptor,
    /// Whether it replaces the object: such a method may be inherited and of any access. The others are private ones of a class,
    /// which write or read the fields of that class.
    pub(super) replaces: bool,
}

/// All of them.
pub(super) fn stream_methods() -> &'static [StreamMethod] {
    use Direction::{Reading, Writing};
    static ALL: LazyLock<[StreamMethod; 5]> = LazyLock::new(|| {
        let row = |direction, name: &str, descriptor: &str, replaces| StreamMethod {
            direction,
            name: Name::new(name.as_bytes()),
            descriptor: Descriptor::new(descriptor.as_bytes()),
            replaces,
        };
        [
            row(Writing, "writeObject", "(Ljava/io/ObjectOutputStream;)V", false),
            row(Writing, "writeReplace", "()Ljava/lang/Object;", true),
            row(Reading, "readObject", "(Ljava/io/ObjectInputStream;)V", false),
            row(Reading, "readObjectNoData", "()V", false),
            row(Reading, "readResolve", "()Ljava/lang/Object;", true),
        ]
    });
    &*ALL
}

/// The interface of what streams write field by field.
pub(super) fn serializable() -> ClassName {
    static NAME: LazyLock<ClassName> = LazyLock::new(|| ClassName::new(b"java/io/Serializable"));
    *NAME
}

/// The interface of what writes itself.
pub(super) fn externalizable() -> ClassName {
    static NAME: LazyLock<ClassName> = LazyLock::new(|| ClassName::new(b"java/io/Externalizable"));
    *NAME
}
