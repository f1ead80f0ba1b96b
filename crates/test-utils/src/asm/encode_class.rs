//! Encodes a class as bytes (JVMS §4.1). The module `encode_code` encodes the bodies.

use super::AsmError;
use super::class::{ClassBuilder, MethodDef};
use super::encode_code;
use super::pool::{Const, Pool, Text};
use super::put::{put_attribute, put_attributes, put_count};
use super::slots::arg_slots;

impl ClassBuilder {
    /// Returns the bytes of the class file.
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
            let n_args = arg_slots(it.descriptor.units()) + u32::from(it.access & 0x8 == 0);
            let content = encode_code::code(code, pool, n_args)?;
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

fn put_head(out: &mut Vec<u8>, pool: &mut Pool, access: u16, name: &Text, ty: &Text) -> Result<(), AsmError> {
    out.extend(access.to_be_bytes());
    out.extend(pool.utf8(name)?.to_be_bytes());
    out.extend(pool.utf8(ty)?.to_be_bytes());
    Ok(())
}
