//! The attributes of a class, field, method or body, as data. The module `put` writes them as bytes.

use super::pool::{Const, Text};

/// An attribute of a class, field, method or body.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// An attribute with any name and content.
    Raw(Text, Vec<u8>),
    /// `ConstantValue`.
    ConstantValue(Const),
    /// `Exceptions`.
    Exceptions(Vec<Text>),
    /// `NestHost`.
    NestHost(Text),
    /// `NestMembers`.
    NestMembers(Vec<Text>),
    /// `PermittedSubclasses`.
    PermittedSubclasses(Vec<Text>),
    /// `InnerClasses`.
    InnerClasses(Vec<Inner>),
    /// `SourceFile`.
    SourceFile(Text),
    /// `Signature`.
    Signature(Text),
}

/// One entry of `InnerClasses`.
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
