//! A class under construction; `encode_class` turns it into bytes.

use super::attribute::Attribute;
use super::code::CodeBuilder;
use super::pool::{Const, Member, Text};

/// A class under construction.
#[derive(Clone, Debug)]
pub struct ClassBuilder {
    /// Major and minor version.
    pub version: (u16, u16),
    /// Access flags.
    pub access: u16,
    /// Internal name.
    pub name: Text,
    /// Superclass; `None` is written as index 0.
    pub super_name: Option<Text>,
    /// Direct superinterfaces.
    pub interfaces: Vec<Text>,
    /// Fields.
    pub fields: Vec<FieldDef>,
    /// Methods.
    pub methods: Vec<MethodDef>,
    /// Bootstrap methods; dynamic constants and call sites name them by position.
    pub bootstraps: Vec<Bootstrap>,
    /// Class attributes.
    pub attributes: Vec<Attribute>,
}

/// A field of a class under construction.
#[derive(Clone, Debug)]
pub struct FieldDef {
    /// Access flags.
    pub access: u16,
    /// Name.
    pub name: Text,
    /// Descriptor.
    pub descriptor: Text,
    /// Attributes.
    pub attributes: Vec<Attribute>,
}

/// A method of a class under construction.
#[derive(Clone, Debug)]
pub struct MethodDef {
    /// Access flags.
    pub access: u16,
    /// Name.
    pub name: Text,
    /// Descriptor.
    pub descriptor: Text,
    /// Body, unless abstract or native.
    pub code: Option<CodeBuilder>,
    /// Attributes other than `Code`.
    pub attributes: Vec<Attribute>,
}

/// A bootstrap method and its static arguments.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// Kind of the method handle.
    pub kind: u8,
    /// The method.
    pub member: Member,
    /// Static arguments.
    pub args: Vec<Const>,
}

impl ClassBuilder {
    /// A public class of version 49.0 that extends `java/lang/Object`.
    ///
    /// Version 49 is the last whose frames HotSpot infers by itself, so a body needs no `StackMapTable`.
    pub fn new(name: impl Into<Text>) -> ClassBuilder {
        ClassBuilder {
            version: (49, 0),
            access: 0x21,
            name: name.into(),
            super_name: Some("java/lang/Object".into()),
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            bootstraps: Vec::new(),
            attributes: Vec::new(),
        }
    }

    /// Adds a field without attributes.
    pub fn field(&mut self, access: u16, name: &str, descriptor: &str) -> &mut Self {
        let attributes = Vec::new();
        self.fields.push(FieldDef { access, name: name.into(), descriptor: descriptor.into(), attributes });
        self
    }

    /// Adds a method with a body.
    pub fn method(&mut self, access: u16, name: &str, descriptor: &str, code: CodeBuilder) -> &mut Self {
        self.add_method(access, name, descriptor, Some(code))
    }

    /// Adds a method without a body.
    pub fn bodiless(&mut self, access: u16, name: &str, descriptor: &str) -> &mut Self {
        self.add_method(access, name, descriptor, None)
    }

    fn add_method(&mut self, access: u16, name: &str, ty: &str, code: Option<CodeBuilder>) -> &mut Self {
        let attributes = Vec::new();
        self.methods.push(MethodDef { access, name: name.into(), descriptor: ty.into(), code, attributes });
        self
    }
}
