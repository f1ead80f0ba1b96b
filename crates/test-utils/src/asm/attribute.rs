//! Attributes of a class, field, method or body, as data; `put` writes them.

use super::pool::{Const, Text};

/// An attribute of a class, field, method or body.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// Any name with any content.
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

/// One row of `InnerClasses`.
#[derive(Clone, Debug)]
pub struct Inner {
    /// The inner class.
    pub class: Text,
    /// Its outer class, absent for local and anonymous ones.
    pub outer: Option<Text>,
    /// Its simple name, absent for anonymous ones.
    pub name: Option<Text>,
    /// Its access flags.
    pub access: u16,
}
