//! The attributes of a class, field, method or body, as data. The module `put` writes them as bytes.

use super::pool::{Const, Text};

/// An attribute of a class, field, method or body.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// An attribute with any name and content.
    Raw(Text, Vec<u8>),
    /// The attribute `ConstantValue`, with the value of the field.
    ConstantValue(Const),
    /// The attribute `Exceptions`, with the names of the exception classes.
    Exceptions(Vec<Text>),
    /// The attribute `NestHost`, with the name of the host class.
    NestHost(Text),
    /// The attribute `NestMembers`, with the names of the member classes.
    NestMembers(Vec<Text>),
    /// The attribute `PermittedSubclasses`, with the names of the subclasses.
    PermittedSubclasses(Vec<Text>),
    /// The attribute `InnerClasses`, with its entries.
    InnerClasses(Vec<Inner>),
    /// The attribute `SourceFile`, with the name of the file.
    SourceFile(Text),
    /// The attribute `Signature`, with the generic signature.
    Signature(Text),
}

/// One entry of the attribute `InnerClasses`.
#[derive(Clone, Debug)]
pub struct Inner {
    /// The name of the inner class.
    pub class: Text,
    /// The outer class; `None` for local and anonymous classes.
    pub outer: Option<Text>,
    /// The simple name of the inner class; `None` for anonymous classes.
    pub name: Option<Text>,
    /// The access flags of the inner class.
    pub access: u16,
}
