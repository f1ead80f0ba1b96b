//! A class under construction. The module `encode_class` encodes it as bytes.

use super::attribute::Attribute;
use super::code::CodeBuilder;
use super::pool::{Const, Member, Text};

/// A class under construction.
#[derive(Clone, Debug)]
pub struct ClassBuilder {
    /// The major and minor version of the class file.
    pub version: (u16, u16),
    /// The access flags of the class.
    pub access: u16,
    /// The internal name of the class.
    pub name: Text,
    /// The internal name of the superclass; `None` is written as index 0.
    pub super_name: Option<Text>,
    /// The direct superinterfaces.
    pub interfaces: Vec<Text>,
    /// The fields, in file order.
    pub fields: Vec<FieldDef>,
    /// The methods, in file order.
    pub methods: Vec<MethodDef>,
    /// The bootstrap methods; dynamic constants and call sites refer to them by index.
    pub bootstraps: Vec<Bootstrap>,
    /// The attributes of the class.
    pub attributes: Vec<Attribute>,
}

/// A field of a class under construction.
#[derive(Clone, Debug)]
pub struct FieldDef {
    /// The access flags of the field.
    pub access: u16,
    /// The name of the field.
    pub name: Text,
    /// The descriptor of the field.
    pub descriptor: Text,
    /// The attributes of the field.
    pub attributes: Vec<Attribute>,
}

/// A method of a class under construction.
#[derive(Clone, Debug)]
pub struct MethodDef {
    /// The access flags of the method.
    pub access: u16,
    /// The name of the method.
    pub name: Text,
    /// The descriptor of the method.
    pub descriptor: Text,
    /// The body; `None` for abstract and native methods.
    pub code: Option<CodeBuilder>,
    /// The attributes of the method other than `Code`.
    pub attributes: Vec<Attribute>,
}

/// A bootstrap method and its static arguments.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// The kind of the method handle (1 to 9, JVMS §4.4.8).
    pub kind: u8,
    /// The method that the handle refers to.
    pub member: Member,
    /// The static arguments of the bootstrap method.
    pub args: Vec<Const>,
}

impl ClassBuilder {
    /// Creates a public class of version 49.0 that extends `java/lang/Object`.
    ///
    /// Version 49 is the last for which HotSpot infers stack frames itself, so a body needs no `StackMapTable`.
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
