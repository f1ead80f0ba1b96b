//! Outlines: what the rest of a program can see of one class, without any method body.
//!
//! An outline holds names, no offsets and no indices into the constant pool. It therefore compares equal as long as
//! only method bodies change, and queries that read only outlines stay valid.

use std::sync::Arc;

use classfile::attributes::{Annotation, Attributes, Value};
use classfile::class::{ClassFile, MemberInfo};
use classfile::error::Result;
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, Name};

use crate::db::Db;
use crate::input;

/// What the rest of a program can see of one class: flags, supertypes and members, without method bodies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    /// The name of the class.
    pub class: ClassName,
    /// The minor and the major version of the class file, in this order. The JVM reads nests from major version 55
    /// on, and sealed classes from 61 on.
    pub version: (u16, u16),
    /// The access flags of the class.
    pub flags: Flags,
    /// The direct superclass of the class; `None` for `java/lang/Object` and for `module-info`.
    pub super_class: Option<ClassName>,
    /// The direct superinterfaces in class-file order.
    pub interfaces: Box<[ClassName]>,
    /// The nest host that the class names; `None` if the class names no other class as its host (JVMS §4.7.28).
    pub nest_host: Option<ClassName>,
    /// The classes that the class lists as members of its nest, if it is a nest host (JVMS §4.7.29).
    pub nest_members: Box<[ClassName]>,
    /// The content of `PermittedSubclasses`, if the class has this attribute (JVMS §4.7.31).
    pub permitted: Option<Box<[ClassName]>>,
    /// The promise that a `GhostComponent` annotation of the class makes for all methods of the class; `None` if the
    /// class does not have this annotation.
    pub ghost: Option<Ghost>,
    /// The declared fields in class-file order.
    pub fields: Box<[Field]>,
    /// The declared methods in class-file order.
    pub methods: Box<[Method]>,
}

/// A declared field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// The access flags of the field.
    pub flags: Flags,
    /// The simple name of the field.
    pub name: Name,
    /// The descriptor of the field.
    pub descriptor: Descriptor,
}

/// A declared method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// The access flags of the method.
    pub flags: Flags,
    /// The simple name of the method.
    pub name: Name,
    /// The descriptor of the method.
    pub descriptor: Descriptor,
    /// The exception types in the method's `throws` clause (JVMS §4.7.5).
    pub throws: Box<[ClassName]>,
    /// The promise that a `GhostComponent` annotation of the method makes in place of code; `None` if the method does
    /// not have this annotation.
    pub ghost: Option<Ghost>,
}

/// The promise that a `GhostComponent` annotation makes about methods without code. An element that the annotation
/// does not have is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ghost {
    /// The exceptions that never leave the method, as written in the annotation: names of classes, each of which
    /// includes its subclasses, or `any` for all exceptions.
    pub handlers: Option<Box<[Name]>>,
    /// All methods that the method may call, as written in the annotation.
    pub req_meths: Option<Box<[Name]>>,
}

/// Parses the class file in `bytes` and returns its outline.
///
/// # Errors
/// Fails if the structure of the file or the name of a supertype or member cannot be read; the class then counts as
/// absent. Unreadable nests, `throws` clauses and annotations are no error and count as missing, because the JVM
/// reads them late or never.
pub fn class_outline(bytes: &[u8]) -> Result<Outline> {
    outline_of(&ClassFile::parse(bytes)?)
}

/// Returns the outline of a parsed class file.
///
/// # Errors
/// Fails if the name of a supertype or member cannot be read.
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
    // An unreadable list is treated as if the class were not sealed: that is the safe assumption.
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

/// Returns the content of the first annotation with the simple name `GhostComponent`, visible or invisible at run
/// time; `None` if there is none.
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

/// Returns the strings of an annotation element that is an array or a single value. For a class constant, the string
/// is the name of the class.
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

/// Returns the outline of the class file, or the error because of which the class counts as absent.
///
/// **Reads:** the bytes of the class.
/// **Stays when:** only bodies, debug data or the order of the constant pool change.
/// **Cost:** one pass over the member tables; the result is never evicted.
/// **Approximates:** nothing; unreadable nests, `throws` clauses and annotations count as missing.
/// **Test:** `editing_a_body_keeps_the_outline` (in `analysis`).
#[salsa::tracked]
pub fn outline(db: &dyn Db, class: input::ClassFile) -> Result<Arc<Outline>> {
    class_outline(class.bytes(db)).map(Arc::new)
}
