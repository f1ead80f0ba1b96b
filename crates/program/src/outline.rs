//! What the rest of a program can see of one class, without any body.
//!
//! All names are resolved, and nothing depends on offsets or on the order of the constant pool: an outline stays
//! equal while only bodies change, and with it all that was derived from outlines alone.

use std::sync::Arc;

use classfile::attributes::{Annotation, Attributes, Value};
use classfile::class::{ClassFile, MemberInfo};
use classfile::error::Result;
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, Name};

use crate::db::Db;
use crate::input;

/// What can be seen of one class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    /// Its name.
    pub class: ClassName,
    /// Minor and major version: sealed classes mean something from 61 on.
    pub version: (u16, u16),
    /// Its access flags.
    pub flags: Flags,
    /// Its direct superclass, if it has one.
    pub super_class: Option<ClassName>,
    /// Its direct superinterfaces in order.
    pub interfaces: Box<[ClassName]>,
    /// The host of its nest, if it is not the host itself (JVMS §4.7.28).
    pub nest_host: Option<ClassName>,
    /// The other members of the nest that it hosts (JVMS §4.7.29).
    pub nest_members: Box<[ClassName]>,
    /// The classes that may extend it, if it is sealed (JVMS §4.7.31).
    pub permitted: Option<Box<[ClassName]>>,
    /// The promise that it makes for all its methods, if it is a ghost as a whole.
    pub ghost: Option<Ghost>,
    /// Its fields in file order.
    pub fields: Box<[Field]>,
    /// Its methods in file order.
    pub methods: Box<[Method]>,
}

/// A field as it is declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its access flags.
    pub flags: Flags,
    /// Its name.
    pub name: Name,
    /// Its descriptor.
    pub descriptor: Descriptor,
}

/// A method as it is declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// Its access flags.
    pub flags: Flags,
    /// Its name.
    pub name: Name,
    /// Its descriptor.
    pub descriptor: Descriptor,
    /// Its throws clause (JVMS §4.7.5).
    pub throws: Box<[ClassName]>,
    /// The promise that stands for its code, if it is a ghost.
    pub ghost: Option<Ghost>,
}

/// The promise of an annotation `GhostComponent`. `None` is an element that is absent: no clause.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ghost {
    /// What the method never lets out, as the annotation writes it: class names, or `any`.
    pub handlers: Option<Box<[Name]>>,
    /// All that the method may call, as the annotation writes it.
    pub req_meths: Option<Box<[Name]>>,
}

/// The outline of the class in `bytes`.
///
/// # Errors
/// When the structure of the file or the name of a supertype or member cannot be read: the class is then outside.
/// A nest, throws clause or annotation that cannot be read counts as absent, as the JVM reads them late or never.
pub fn class_outline(bytes: &[u8]) -> Result<Outline> {
    outline_of(&ClassFile::parse(bytes)?)
}

/// The outline of a class file that has been read.
///
/// # Errors
/// See [`class_outline`].
pub fn outline_of(class: &ClassFile<'_>) -> Result<Outline> {
    let attributes = class.attributes();
    Ok(Outline {
        class: class.this_class()?,
        version: (class.minor, class.major),
        flags: class.flags,
        super_class: class.super_class()?,
        interfaces: class.interfaces().collect::<Result<_>>()?,
        nest_host: attributes.nest_host().unwrap_or_default(),
        nest_members: attributes.class_list(b"NestMembers").unwrap_or_default().into(),
        permitted: permitted(attributes),
        ghost: ghost(attributes),
        fields: class.fields().map(|it| field(&it)).collect::<Result<_>>()?,
        methods: class.methods().map(|it| method(&it)).collect::<Result<_>>()?,
    })
}

fn permitted(attributes: Attributes<'_, '_>) -> Option<Box<[ClassName]>> {
    attributes.find(b"PermittedSubclasses")?;
    // A list that cannot be read seals nothing that we could rely on.
    attributes.class_list(b"PermittedSubclasses").ok().map(Into::into)
}

fn field(it: &MemberInfo<'_, '_>) -> Result<Field> {
    Ok(Field { flags: it.flags, name: it.name()?, descriptor: it.descriptor()? })
}

fn method(it: &MemberInfo<'_, '_>) -> Result<Method> {
    Ok(Method {
        flags: it.flags,
        name: it.name()?,
        descriptor: it.descriptor()?,
        throws: it.attributes().class_list(b"Exceptions").unwrap_or_default().into(),
        ghost: ghost(it.attributes()),
    })
}

/// The first annotation with the simple name `GhostComponent`, visible or invisible.
fn ghost(attributes: Attributes<'_, '_>) -> Option<Ghost> {
    let annotation = attributes.annotations().into_iter().find(is_ghost)?;
    let strings = |wanted: &[u8]| {
        let (_, value) = annotation.elements.iter().find(|(name, _)| name.bytes() == wanted)?;
        Some(strings_of(value))
    };
    Some(Ghost { handlers: strings(b"handlers"), req_meths: strings(b"req_meths") })
}

fn is_ghost(it: &Annotation) -> bool {
    let text = it.ty.bytes();
    let name = text.strip_prefix(b"L").and_then(|it| it.strip_suffix(b";")).unwrap_or(text);
    let simple = name.rsplit(|&b| b == b'/' || b == b'$').next();
    simple == Some(b"GhostComponent")
}

/// The strings of an element. A class constant counts as the name of its class; one value needs no array.
fn strings_of(value: &Value) -> Box<[Name]> {
    match value {
        Value::Array(items) => items.iter().flat_map(strings_of).collect(),
        Value::Str(it) => Box::new([*it]),
        Value::Class(it) => {
            let text = it.bytes();
            let name = text.strip_prefix(b"L").and_then(|it| it.strip_suffix(b";")).unwrap_or(text);
            Box::new([Name::new(name)])
        }
        _ => Box::default(),
    }
}

/// What can be seen of the class, or why it is outside.
///
/// **Reads:** the bytes of the class.
/// **Stays when:** only bodies, debug data or the order of the constant pool change.
/// **Cost:** one pass over the member tables; kept for ever.
/// **Approximates:** nothing; unreadable nests, throws clauses and annotations count as absent.
/// **Test:** `editing_a_body_keeps_the_outline` (in `analysis`).
#[salsa::tracked]
pub fn outline(db: &dyn Db, class: input::ClassFile) -> Result<Arc<Outline>> {
    class_outline(class.bytes(db)).map(Arc::new)
}
