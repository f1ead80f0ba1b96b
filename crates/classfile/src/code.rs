//! The `Code` attribute (JVMS §4.7.3): a method body with its exception table and debug tables.

use crate::attributes::{Attribute, Attributes, skip_attributes};
use crate::bytes::{Reader, u2};
use crate::error::{Fault, Malformed, Result};
use crate::insn::{Instructions, Pc};
use crate::names::ClassName;
use crate::pool::{Pool, PoolIndex};

/// The body of one method.
#[derive(Clone, Copy)]
pub struct Code<'c, 'a> {
    pool: &'c Pool<'a>,
    /// The declared maximum depth of the operand stack, in words.
    pub max_stack: u16,
    /// The number of local variable slots.
    pub max_locals: u16,
    /// The bytes of the instructions.
    pub bytes: &'a [u8],
    /// The offset of the instructions in the class file.
    pub offset: usize,
    handlers: &'a [u8],
    attributes: Attributes<'c, 'a>,
}

/// A row of the exception table, whose pcs have not been checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handler {
    /// The pc of the first covered instruction.
    pub start: Pc,
    /// The pc after the covered range, which is half-open.
    pub end: Pc,
    /// The pc of the handler's first instruction.
    pub handler: Pc,
    /// The class of the exceptions that the handler catches; `None` catches everything.
    pub catch_type: Option<ClassName>,
}

impl<'c, 'a> Code<'c, 'a> {
    pub(crate) fn parse(pool: &'c Pool<'a>, it: Attribute<'a>) -> Result<Self> {
        let mut r = Reader::new(&pool.bytes()[..it.offset + it.content.len()], it.offset, "4.7.3");
        let (max_stack, max_locals) = (r.u2()?, r.u2()?);
        let len = r.u4()? as usize;
        if len == 0 || len > 65535 {
            let fault = Fault::OtherAt("the code length must be 1 to 65535, but is", len as i64);
            return Err(Malformed::new(r.pos() - 4, "4.7.3", fault));
        }
        let offset = r.pos();
        let bytes = r.take(len)?;
        let n = r.u2()? as usize;
        let handlers = r.take(8 * n)?;
        let attributes = Attributes::at(pool, r.pos());
        skip_attributes(&mut r)?;
        if r.pos() != it.offset + it.content.len() {
            let left = (it.offset + it.content.len() - r.pos()) as u64;
            return Err(Malformed::new(r.pos(), "4.7.3", Fault::Trailing(left)));
        }
        Ok(Code { pool, max_stack, max_locals, bytes, offset, handlers, attributes })
    }

    /// Returns the constant pool that the instructions refer to.
    pub fn pool(&self) -> &'c Pool<'a> {
        self.pool
    }

    /// Returns the instructions in order, decoded lazily.
    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.bytes, self.offset)
    }

    /// Returns the rows of the exception table in order.
    pub fn handlers(&self) -> impl ExactSizeIterator<Item = Result<Handler>> + '_ {
        self.handlers.chunks_exact(8).map(|row| {
            let n = |k: usize| u16::from_be_bytes([row[k], row[k + 1]]);
            Ok(Handler {
                start: Pc(n(0).into()),
                end: Pc(n(2).into()),
                handler: Pc(n(4).into()),
                catch_type: self.pool.optional_class_name(PoolIndex(n(6)))?,
            })
        })
    }

    /// Returns the attributes of the body.
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        self.attributes
    }

    /// Returns the pc and line pairs of every `LineNumberTable`, in file order (JVMS §4.7.12). A table
    /// that cannot be read counts as missing, because lines are debug data.
    pub fn lines(&self) -> impl Iterator<Item = (Pc, u16)> + use<'c, 'a> {
        self.attributes.flatten().filter(|it| it.name == b"LineNumberTable").flat_map(|it| {
            let n = u2(it.content, 0).unwrap_or(0) as usize;
            let rows = it.content.get(2..2 + 4 * n).unwrap_or_default();
            rows.chunks_exact(4).map(|row| {
                (Pc(u16::from_be_bytes([row[0], row[1]]).into()), u16::from_be_bytes([row[2], row[3]]))
            })
        })
    }
}
