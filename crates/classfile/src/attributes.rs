//! Attribute tables (JVMS §4.7), parsed lazily: attributes that are not read are skipped by their length.

use crate::bytes::{Reader, u2};
use crate::error::{Fault, Malformed, Result};
use crate::names::{ClassName, Name};
use crate::pool::{Entry, Pool, PoolIndex};

/// The maximum nesting of annotation values; deeper annotations are dropped, so that crafted input cannot overflow
/// the stack.
const MAX_NESTING: u32 = 64;

/// An attribute with unparsed content.
#[derive(Clone, Copy)]
pub struct Attribute<'a> {
    /// The name of the attribute. Its bytes are not checked to be modified UTF-8, so compare it only with ASCII
    /// names.
    pub name: &'a [u8],
    /// The bytes of the content, without the name index and the length that precede them.
    pub content: &'a [u8],
    /// The offset of the content in the class file.
    pub offset: usize,
}

/// The attributes of a class, member or body, in file order.
#[derive(Clone, Copy)]
pub struct Attributes<'c, 'a> {
    pool: &'c Pool<'a>,
    reader: Reader<'a>,
    left: u16,
}

/// Moves `r` past an attribute table, checking only lengths.
pub(crate) fn skip_attributes(r: &mut Reader<'_>) -> Result<()> {
    for _ in 0..r.u2()? {
        r.u2()?;
        let len = r.u4()?;
        r.take(len as usize)?;
    }
    Ok(())
}

impl<'c, 'a> Attributes<'c, 'a> {
    /// Returns the attribute table whose `attributes_count` is at offset `at` of the class file.
    pub(crate) fn at(pool: &'c Pool<'a>, at: usize) -> Self {
        let mut reader = Reader::new(pool.bytes(), at, "4.7");
        let left = reader.u2().unwrap_or(0);
        Attributes { pool, reader, left }
    }

    /// Returns the first attribute with this name; `None` if there is none.
    pub fn find(self, name: &[u8]) -> Option<Attribute<'a>> {
        // An attribute with an unreadable name counts as an unknown attribute (§4.7.1).
        self.into_iter().flatten().find(|it| it.name == name)
    }

    /// Returns the classes listed by the attribute `name`: `Exceptions`, `NestMembers` or `PermittedSubclasses`. The
    /// list is empty if the attribute is missing.
    ///
    /// # Errors
    /// Fails if the attribute exists but cannot be read.
    pub fn class_list(self, name: &[u8]) -> Result<Vec<ClassName>> {
        let Some(it) = self.find(name) else { return Ok(Vec::new()) };
        let mut r = Reader::new(&self.pool.bytes()[..it.offset + it.content.len()], it.offset, "4.7");
        let n = r.u2()?;
        let items = r.take(2 * n as usize)?;
        items
            .chunks_exact(2)
            .map(|it| self.pool.class_name(PoolIndex(u16::from_be_bytes([it[0], it[1]]))))
            .collect()
    }

    /// Returns the class that the attribute `NestHost` names; `None` if the attribute is missing.
    pub fn nest_host(self) -> Result<Option<ClassName>> {
        match self.find(b"NestHost").and_then(|it| u2(it.content, 0)) {
            Some(index) => self.pool.class_name(PoolIndex(index)).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the string of the attribute `name`: `SourceFile` or `Signature`. An unreadable string counts as
    /// missing, because both attributes are debug data.
    pub fn text(self, name: &[u8]) -> Option<Name> {
        let index = u2(self.find(name)?.content, 0)?;
        self.pool.name(PoolIndex(index)).ok()
    }

    /// Returns the values in the annotations that reflective code can read at run time: those of `RuntimeVisible…`
    /// attributes, also of parameters, types and record components, and of `AnnotationDefault`. A value that cannot be
    /// read is dropped, together with the values after it in the same attribute.
    pub fn visible_values(self) -> Vec<Value> {
        let mut acc = Vec::new();
        for it in self.into_iter().flatten() {
            // An error ends the list of values.
            let _ = match it.name {
                b"Record" => visible_of_components(self.pool, &mut self.reader_of(it), &mut acc),
                name => visible(self.pool, name, &mut self.reader_of(it), &mut acc),
            };
        }
        acc
    }

    /// Returns a reader of the content of an attribute of this table.
    fn reader_of(&self, it: Attribute<'a>) -> Reader<'a> {
        Reader::new(&self.pool.bytes()[..it.offset + it.content.len()], it.offset, "4.7.16")
    }

    /// Returns all annotations, those of the `RuntimeInvisible…` attributes included. An annotation that cannot be
    /// read or nests too deeply is dropped, together with the annotations after it in the same attribute.
    pub fn annotations(self) -> Vec<Annotation> {
        let mut out = Vec::new();
        for it in self.into_iter().flatten() {
            if it.name != b"RuntimeVisibleAnnotations" && it.name != b"RuntimeInvisibleAnnotations" {
                continue;
            }
            let mut r = Reader::new(&self.pool.bytes()[..it.offset + it.content.len()], it.offset, "4.7.16");
            let n = r.u2().unwrap_or(0);
            for _ in 0..n {
                match annotation(self.pool, &mut r, 0) {
                    Ok(it) => out.push(it),
                    Err(_) => break,
                }
            }
        }
        out
    }
}

impl<'a> Iterator for Attributes<'_, 'a> {
    type Item = Result<Attribute<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let mut one = || {
            let name = PoolIndex(self.reader.u2()?);
            let len = self.reader.u4()?;
            let offset = self.reader.pos();
            let content = self.reader.take(len as usize)?;
            Ok(Attribute { name: self.pool.utf8(name)?, content, offset })
        };
        Some(one())
    }
}

/// An annotation (JVMS §4.7.16).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// The annotation type as a field descriptor: `Lp/A;`.
    pub ty: Name,
    /// The names and values of the elements, in file order.
    pub elements: Box<[(Name, Value)]>,
}

/// The value of an annotation element (JVMS §4.7.16.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number, character or boolean: the tag that names its type (JVMS §4.7.16.1, table 4.7.16.1-A), and the bits
    /// of the constant.
    Const(u8, u64),
    /// A string.
    Str(Name),
    /// An enum constant: type descriptor and name.
    Enum(Name, Name),
    /// A class, as a return descriptor: `Lp/A;`, or `V` for `void`.
    Class(Name),
    /// A nested annotation.
    Annotation(Box<Annotation>),
    /// An array of values.
    Array(Box<[Value]>),
}

/// Adds the values of the annotations in the attribute `name`, whose content `r` reads.
fn visible(pool: &Pool<'_>, name: &[u8], r: &mut Reader<'_>, acc: &mut Vec<Value>) -> Result<()> {
    match name {
        b"RuntimeVisibleAnnotations" => values_of(pool, r, acc),
        b"RuntimeVisibleParameterAnnotations" => (0..r.u1()?).try_for_each(|_| values_of(pool, r, acc)),
        b"RuntimeVisibleTypeAnnotations" => (0..r.u2()?).try_for_each(|_| {
            skip_target(r)?;
            let is_of = annotation(pool, r, 0)?;
            acc.extend(is_of.elements.into_iter().map(|it| it.1));
            Ok(())
        }),
        b"AnnotationDefault" => {
            acc.push(value(pool, r, 0)?);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Adds the values of the annotations of record components; `r` reads the content of the attribute `Record` (JVMS §4.7.30).
/// Components have no such attribute themselves, so crafted nesting is not followed.
fn visible_of_components(pool: &Pool<'_>, r: &mut Reader<'_>, acc: &mut Vec<Value>) -> Result<()> {
    for _ in 0..r.u2()? {
        r.take(4)?;
        let attributes = Attributes::at(pool, r.pos());
        skip_attributes(r)?;
        for it in attributes.flatten() {
            let _ = visible(pool, it.name, &mut attributes.reader_of(it), acc);
        }
    }
    Ok(())
}

fn values_of(pool: &Pool<'_>, r: &mut Reader<'_>, acc: &mut Vec<Value>) -> Result<()> {
    for _ in 0..r.u2()? {
        acc.extend(annotation(pool, r, 0)?.elements.into_iter().map(|it| it.1));
    }
    Ok(())
}

/// Moves `r` past the part of a type annotation that tells which type is annotated (JVMS §4.7.20.1, §4.7.20.2).
fn skip_target(r: &mut Reader<'_>) -> Result<()> {
    let at = r.pos();
    let target = r.u1()?;
    let len = match target {
        0x00 | 0x01 | 0x16 => 1,
        0x10..=0x12 | 0x17 | 0x42..=0x46 => 2,
        0x13..=0x15 => 0,
        0x40 | 0x41 => 6 * r.u2()? as usize,
        0x47..=0x4B => 3,
        _ => {
            let fault = Fault::OtherAt("unknown target of a type annotation:", target.into());
            return Err(Malformed::new(at, "4.7.20", fault));
        }
    };
    r.take(len)?;
    let steps = r.u1()?;
    r.take(2 * steps as usize)?;
    Ok(())
}

fn annotation(pool: &Pool<'_>, r: &mut Reader<'_>, depth: u32) -> Result<Annotation> {
    let ty = pool.name(PoolIndex(r.u2()?))?;
    let n = r.u2()?;
    let mut elements = Vec::new();
    for _ in 0..n {
        let name = pool.name(PoolIndex(r.u2()?))?;
        elements.push((name, value(pool, r, depth + 1)?));
    }
    Ok(Annotation { ty, elements: elements.into() })
}

fn value(pool: &Pool<'_>, r: &mut Reader<'_>, depth: u32) -> Result<Value> {
    let at = r.pos();
    if depth > MAX_NESTING {
        return Err(Malformed::new(at, "4.7.16.1", Fault::Other("the annotation nests too deeply")));
    }
    let tag = r.u1()?;
    Ok(match tag {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => {
            let bits = match pool.entry(PoolIndex(r.u2()?))? {
                Entry::Integer(it) => it as u32 as u64,
                Entry::Float(it) => it as u64,
                Entry::Long(it) => it as u64,
                Entry::Double(it) => it,
                _ => {
                    return Err(Malformed::new(
                        at,
                        "4.7.16.1",
                        Fault::Other("an annotation element refers to a constant of the wrong kind"),
                    ));
                }
            };
            Value::Const(tag, bits)
        }
        b's' => Value::Str(pool.name(PoolIndex(r.u2()?))?),
        b'e' => Value::Enum(pool.name(PoolIndex(r.u2()?))?, pool.name(PoolIndex(r.u2()?))?),
        b'c' => Value::Class(pool.name(PoolIndex(r.u2()?))?),
        b'@' => Value::Annotation(Box::new(annotation(pool, r, depth + 1)?)),
        b'[' => {
            let n = r.u2()?;
            let mut items = Vec::new();
            for _ in 0..n {
                items.push(value(pool, r, depth + 1)?);
            }
            Value::Array(items.into())
        }
        _ => {
            return Err(Malformed::new(
                at,
                "4.7.16.1",
                Fault::OtherAt("unknown tag of an annotation element:", tag.into()),
            ));
        }
    })
}
