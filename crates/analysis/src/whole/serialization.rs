//! The methods that object streams call by name, and the constructors and initialisers that they run (Java Object
//! Serialization Specification, §1.13, §2.3 to §3.7).

use std::sync::LazyLock;

use classfile::names::{ClassName, Descriptor, Name};
use flow::callbacks::{CallbackKind, callbacks_of};
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::initialization::class_initializer;
use program::members::MethodId;
use program::members::declared::{declared, find_method};

/// Whether an object stream writes or reads objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// The stream writes the object.
    Writing,
    /// The stream reads the object.
    Reading,
}

/// A method that object streams call if a class declares it.
struct StreamMethod {
    /// Whether streams call the method when they write or when they read an object.
    direction: Direction,
    /// The name of the method.
    name: Name,
    /// The descriptor of the method.
    descriptor: Descriptor,
    /// Whether the method replaces the object by another object. A class may inherit such a method, and the method
    /// may have any access. Methods that do not replace the object are private, and write or read the fields of their
    /// own class.
    replaces: bool,
}

/// Returns all methods that object streams call by name. The methods of `Externalizable` are not among them.
fn stream_methods() -> &'static [StreamMethod] {
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
fn serializable() -> ClassName {
    static NAME: LazyLock<ClassName> = LazyLock::new(|| ClassName::new(b"java/io/Serializable"));
    *NAME
}

/// Returns the name `java/io/Externalizable`, the interface of classes that write their content themselves.
fn externalizable() -> ClassName {
    static NAME: LazyLock<ClassName> = LazyLock::new(|| ClassName::new(b"java/io/Externalizable"));
    *NAME
}

/// Returns what an object of this class does as an object stream; `None` if it is no object stream.
pub(super) fn streams_above(hierarchy: &Hierarchy, class: ClassId) -> Option<Direction> {
    hierarchy.supers(class).iter().find_map(|&it| match hierarchy.name(it).bytes() {
        b"java/io/ObjectInputStream" => Some(Direction::Reading),
        b"java/io/ObjectOutputStream" => Some(Direction::Writing),
        _ => None,
    })
}

/// Returns whether a call of a method with this name and descriptor writes or reads objects; `None` if the method is
/// none of an object stream. `is_of` tells whether the called method may belong to the stream class that it is given.
pub(super) fn stream_direction(
    name: Name,
    descriptor: Descriptor,
    is_of: impl Fn(ClassName) -> bool,
) -> Option<Direction> {
    callbacks_of(name, descriptor).find_map(|row| {
        let direction = match row.kind {
            CallbackKind::Serialize => Direction::Writing,
            CallbackKind::Deserialize => Direction::Reading,
            CallbackKind::Callback
            | CallbackKind::Privileged
            | CallbackKind::Thread
            | CallbackKind::Reflect
            | CallbackKind::Initialize
            | CallbackKind::Load => return None,
        };
        is_of(row.class).then_some(direction)
    })
}

/// Returns whether the class `sub` is the class `sup` or a subtype of it; `None` if this depends on an absent
/// supertype of `sub`. If `sub` itself is absent, only `sub` counts as its own supertype.
pub(super) fn is_below(hierarchy: &Hierarchy, sub: ClassName, sup: ClassName) -> Option<bool> {
    let Some(id) = hierarchy.class(sub) else { return Some(sub == sup) };
    for &it in hierarchy.supers(id) {
        let links = hierarchy.super_class(it).into_iter().chain(hierarchy.interfaces(it).iter().copied());
        if hierarchy.name(it) == sup || links.into_iter().any(|it| it == Link::Outside(sup)) {
            return Some(true);
        }
    }
    // Object has no supertype, so its absence hides none.
    let outside = hierarchy.supers(id).iter().any(|&it| {
        let links = hierarchy.super_class(it).into_iter().chain(hierarchy.interfaces(it).iter().copied());
        links.into_iter().any(|it| matches!(it, Link::Outside(name) if name.bytes() != b"java/lang/Object"))
    });
    if outside { None } else { Some(false) }
}

/// Returns `Some(true)` if objects of a class are serializable, `Some(false)` if they may be serializable because a
/// supertype is absent, and `None` if they are not serializable.
pub(super) fn is_serializable(hierarchy: &Hierarchy, class: ClassId) -> Option<bool> {
    let name = hierarchy.name(class);
    // Both interfaces are checked, because without a JDK it is not known that Externalizable extends Serializable.
    let below = [externalizable(), serializable()].map(|it| is_below(hierarchy, name, it));
    if below.contains(&Some(true)) {
        return Some(true);
    }
    below.contains(&None).then_some(false)
}

/// Returns the methods of the class that object streams run when they write or read objects of the class or of its
/// subclasses. `surely` tells whether the class is serializable for sure; otherwise, it may be so because of an absent
/// supertype, and then constructors are left out.
pub(super) fn serialization_methods(
    hierarchy: &Hierarchy,
    direction: Direction,
    class: ClassId,
    surely: bool,
) -> Vec<MethodId> {
    let find = |class: ClassId, name: Name, descriptor: Descriptor| {
        find_method(hierarchy, class, name, descriptor)
            .filter(|&it| !declared(hierarchy, it).flags.is_static())
    };
    let constructor = |class| find(class, Name::new(b"<init>"), Descriptor::new(b"()V"));
    let is_record = extends(hierarchy, class, b"java/lang/Record");
    let mut acc = Vec::new();
    // Enum constants are written and read by name (§1.12).
    if extends(hierarchy, class, b"java/lang/Enum") {
        acc.extend(class_initializer(hierarchy, class).filter(|_| direction == Direction::Reading));
        return acc;
    }
    for it in stream_methods().iter().filter(|it| it.direction == direction) {
        let found = find(class, it.name, it.descriptor);
        let is_called = |&id: &MethodId| it.replaces || declared(hierarchy, id).flags.is_private();
        // Streams call only the replacing methods of records (§1.13).
        acc.extend(found.filter(is_called).filter(|_| it.replaces || !is_record));
    }
    acc.extend(inherited_replacements(hierarchy, direction, class));
    if direction == Direction::Writing {
        return acc;
    }
    // A serialized function object is read by the method that made it, of the class whose code made it.
    let lambda = find_method(
        hierarchy,
        class,
        Name::new(b"$deserializeLambda$"),
        Descriptor::new(b"(Ljava/lang/invoke/SerializedLambda;)Ljava/lang/Object;"),
    );
    acc.extend(lambda.filter(|&it| declared(hierarchy, it).flags.is_static()));
    if !surely {
        return acc;
    }
    acc.extend(class_initializer(hierarchy, class));
    if is_record {
        acc.extend(canonical_constructors(hierarchy, class));
        return acc;
    }
    // Reading an object runs the constructor of its first superclass that is not serializable. Reading an
    // externalizable object runs the constructor of its own class.
    if is_below(hierarchy, hierarchy.name(class), externalizable()) == Some(true) {
        acc.extend(constructor(class));
        return acc;
    }
    let mut at = class;
    while let Some(Link::Present(above)) = hierarchy.super_class(at) {
        if is_serializable(hierarchy, above) != Some(true) {
            acc.extend(constructor(above));
            break;
        }
        at = above;
    }
    acc
}

/// Returns the methods that replace the object, of the superclasses of `class` that are not serializable: such a class
/// need not be serializable itself for its method to be inherited (§2.5, §3.7). Those of serializable superclasses are
/// not among them.
fn inherited_replacements(
    hierarchy: &Hierarchy,
    direction: Direction,
    class: ClassId,
) -> impl Iterator<Item = MethodId> + '_ {
    let above = std::iter::successors(Some(class), |&it| match hierarchy.super_class(it) {
        Some(Link::Present(it)) => Some(it),
        _ => None,
    });
    let plain = above.skip(1).filter(|&it| is_serializable(hierarchy, it).is_none());
    let methods = move || stream_methods().iter().filter(move |it| it.direction == direction && it.replaces);
    plain.flat_map(move |class| {
        let found = methods().filter_map(move |it| find_method(hierarchy, class, it.name, it.descriptor));
        found.filter(|&it| {
            let flags = declared(hierarchy, it).flags;
            !flags.is_private() && !flags.is_static() && !flags.is_abstract()
        })
    })
}

fn extends(hierarchy: &Hierarchy, class: ClassId, name: &[u8]) -> bool {
    hierarchy.outline(class).super_class.is_some_and(|it| it.bytes() == name)
}

/// Returns the canonical constructor of a record class: the one whose parameters have the types of the record's
/// instance fields, in order. If the record class has no such constructor, returns all its constructors.
fn canonical_constructors(hierarchy: &Hierarchy, class: ClassId) -> Vec<MethodId> {
    let outline = hierarchy.outline(class);
    let mut wanted = b"(".to_vec();
    for field in outline.fields.iter().filter(|it| !it.flags.is_static()) {
        wanted.extend(field.descriptor.bytes());
    }
    wanted.extend(b")V");
    let all = || (0..outline.methods.len()).filter(|&it| outline.methods[it].name.bytes() == b"<init>");
    let canonical = all().find(|&it| outline.methods[it].descriptor.bytes() == wanted);
    let found = canonical.map_or_else(|| all().collect(), |it| vec![it]);
    found.into_iter().map(|it| MethodId::new(class, it)).collect()
}
