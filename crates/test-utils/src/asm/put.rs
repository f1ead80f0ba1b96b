//! Encodes what classes and bodies have in common: counts and attributes (JVMS §4.7).

use super::AsmError;
use super::attribute::Attribute;
use super::pool::{Pool, Text};

pub(super) fn put_count(out: &mut Vec<u8>, count: usize) -> Result<(), AsmError> {
    let count = u16::try_from(count).map_err(|_| AsmError::new("a table has more than 65535 rows"))?;
    out.extend(count.to_be_bytes());
    Ok(())
}

pub(super) fn put_attribute(
    out: &mut Vec<u8>,
    pool: &mut Pool,
    name: &Text,
    content: &[u8],
) -> Result<(), AsmError> {
    out.extend(pool.utf8(name)?.to_be_bytes());
    let n = u32::try_from(content.len())
        .map_err(|_| AsmError::new("the content of an attribute has more than 4294967295 bytes"))?;
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
