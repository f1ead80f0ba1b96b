//! A class under construction and its encoding (JVMS §4.1); bodies are encoded by `encode`.

use super::AsmError;
use super::code::CodeBuilder;
use super::encode;
use super::pool::{Const, Member, Pool, Text};

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

    /// The class file's bytes.
    pub fn finish(&self) -> Result<Vec<u8>, AsmError> {
        let mut pool = Pool::default();
        let mut body = Vec::new();
        body.extend(self.access.to_be_bytes());
        body.extend(pool.class(&self.name)?.to_be_bytes());
        let super_idx = self.super_name.as_ref().map_or(Ok(0), |it| pool.class(it))?;
        body.extend(super_idx.to_be_bytes());
        put_count(&mut body, self.interfaces.len())?;
        for it in &self.interfaces {
            body.extend(pool.class(it)?.to_be_bytes());
        }
        put_count(&mut body, self.fields.len())?;
        for it in &self.fields {
            put_head(&mut body, &mut pool, it.access, &it.name, &it.descriptor)?;
            put_count(&mut body, it.attributes.len())?;
            put_attributes(&mut body, &mut pool, &it.attributes)?;
        }
        put_count(&mut body, self.methods.len())?;
        for it in &self.methods {
            self.put_method(&mut body, &mut pool, it)?;
        }
        put_count(&mut body, self.attributes.len() + usize::from(!self.bootstraps.is_empty()))?;
        put_attributes(&mut body, &mut pool, &self.attributes)?;
        if !self.bootstraps.is_empty() {
            let content = self.bootstrap_methods(&mut pool)?;
            put_attribute(&mut body, &mut pool, &"BootstrapMethods".into(), &content)?;
        }
        let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
        out.extend(self.version.1.to_be_bytes());
        out.extend(self.version.0.to_be_bytes());
        pool.encode(&mut out);
        out.extend(body);
        Ok(out)
    }

    fn put_method(&self, out: &mut Vec<u8>, pool: &mut Pool, it: &MethodDef) -> Result<(), AsmError> {
        put_head(out, pool, it.access, &it.name, &it.descriptor)?;
        put_count(out, it.attributes.len() + usize::from(it.code.is_some()))?;
        if let Some(code) = &it.code {
            let n_args = encode::arg_slots(it.descriptor.units()) + u32::from(it.access & 0x8 == 0);
            let content = encode::code(code, pool, n_args)?;
            put_attribute(out, pool, &"Code".into(), &content)?;
        }
        put_attributes(out, pool, &it.attributes)
    }

    fn bootstrap_methods(&self, pool: &mut Pool) -> Result<Vec<u8>, AsmError> {
        let mut out = Vec::new();
        put_count(&mut out, self.bootstraps.len())?;
        for it in &self.bootstraps {
            let handle = pool.constant(&Const::Handle(it.kind, it.member.clone()))?;
            out.extend(handle.to_be_bytes());
            put_count(&mut out, it.args.len())?;
            for arg in &it.args {
                out.extend(pool.constant(arg)?.to_be_bytes());
            }
        }
        Ok(out)
    }
}

pub(super) fn put_count(out: &mut Vec<u8>, count: usize) -> Result<(), AsmError> {
    let count = u16::try_from(count).map_err(|_| AsmError::new("a table has more than 65535 rows"))?;
    out.extend(count.to_be_bytes());
    Ok(())
}

fn put_head(out: &mut Vec<u8>, pool: &mut Pool, access: u16, name: &Text, ty: &Text) -> Result<(), AsmError> {
    out.extend(access.to_be_bytes());
    out.extend(pool.utf8(name)?.to_be_bytes());
    out.extend(pool.utf8(ty)?.to_be_bytes());
    Ok(())
}

pub(super) fn put_attribute(
    out: &mut Vec<u8>,
    pool: &mut Pool,
    name: &Text,
    content: &[u8],
) -> Result<(), AsmError> {
    out.extend(pool.utf8(name)?.to_be_bytes());
    let n = u32::try_from(content.len()).map_err(|_| AsmError::new("attribute is too long"))?;
    out.extend(n.to_be_bytes());
    out.extend_from_slice(content);
    Ok(())
}

pub(super) fn put_attributes(
    out: &mut Vec<u8>,
    pool: &mut Pool,
    attributes: &[Attribute],
) -> Result<(), AsmError> {
    for it in attributes {
        let (name, content) = attribute_content(pool, it)?;
        put_attribute(out, pool, &name, &content)?;
    }
    Ok(())
}

fn attribute_content(pool: &mut Pool, it: &Attribute) -> Result<(Text, Vec<u8>), AsmError> {
    Ok(match it {
        Attribute::Raw(name, content) => (name.clone(), content.clone()),
        Attribute::ConstantValue(it) => ("ConstantValue".into(), pool.constant(it)?.to_be_bytes().to_vec()),
        Attribute::Exceptions(it) => ("Exceptions".into(), class_list(pool, it)?),
        Attribute::NestMembers(it) => ("NestMembers".into(), class_list(pool, it)?),
        Attribute::PermittedSubclasses(it) => ("PermittedSubclasses".into(), class_list(pool, it)?),
        Attribute::NestHost(it) => ("NestHost".into(), pool.class(it)?.to_be_bytes().to_vec()),
        Attribute::SourceFile(it) => ("SourceFile".into(), pool.utf8(it)?.to_be_bytes().to_vec()),
        Attribute::Signature(it) => ("Signature".into(), pool.utf8(it)?.to_be_bytes().to_vec()),
        Attribute::InnerClasses(rows) => {
            let mut out = Vec::new();
            put_count(&mut out, rows.len())?;
            for it in rows {
                out.extend(pool.class(&it.class)?.to_be_bytes());
                out.extend(it.outer.as_ref().map_or(Ok(0), |it| pool.class(it))?.to_be_bytes());
                out.extend(it.name.as_ref().map_or(Ok(0), |it| pool.utf8(it))?.to_be_bytes());
                out.extend(it.access.to_be_bytes());
            }
            ("InnerClasses".into(), out)
        }
    })
}

fn class_list(pool: &mut Pool, names: &[Text]) -> Result<Vec<u8>, AsmError> {
    let mut out = Vec::new();
    put_count(&mut out, names.len())?;
    for it in names {
        out.extend(pool.class(it)?.to_be_bytes());
    }
    Ok(out)
}
