//! The methods that object streams call by name (Java Object Serialization Specification, §2.3 to §3.7).

use std::sync::LazyLock;

use classfile::names::{ClassName, Descriptor, Name};

/// Whether an object stream writes or reads objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// The stream writes the object.
    Writing,
    /// The stream reads the object.
    Reading,
}

/// A method that object streams call if a class declares it.
pub(super) struct StreamMethod {
    /// Whether streams call the method when they write or when they read an object.
    pub(super) direction: Direction,
    /// The name of the method.
    pub(super) name: Name,
    /// The descriptor of the method.
    pub(super) descriptor: Descriptor,
    /// Whether the method replaces the object by another object. A class may inherit such a method, and the method
    /// may have any access. Methods that do not replace the object are private, and write or read the fields of their
    /// own class.
    pub(super) replaces: bool,
}

/// Returns all methods that object streams call by name. The methods of `Externalizable` are not among them.
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

/// Returns the name `java/io/Serializable`, the interface of classes whose fields a stream writes one by one.
pub(super) fn serializable() -> ClassName {
    static NAME: LazyLock<ClassName> = LazyLock::new(|| ClassName::new(b"java/io/Serializable"));
    *NAME
}

/// Returns the name `java/io/Externalizable`, the interface of classes that write their content themselves.
pub(super) fn externalizable() -> ClassName {
    static NAME: LazyLock<ClassName> = LazyLock::new(|| ClassName::new(b"java/io/Externalizable"));
    *NAME
}
