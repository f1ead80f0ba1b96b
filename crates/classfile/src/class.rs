//! The header and member tables of a class file (JVMS §4.1, §4.5, §4.6), without method bodies.

use std::cell::Cell;

use crate::attributes::{Attributes, skip_attributes};
use crate::bytes::Reader;
use crate::code::Code;
use crate::error::{Fault, Malformed, Result};
use crate::flags::Flags;
use crate::intern::Batch;
use crate::names::{ClassName, Descriptor, Member, MemberRef, Name};
use crate::pool::{Pool, PoolIndex};

/// The newest major version that this decoder knows (Java 25). Newer class files are read too, and reported to the
/// user.
pub const NEWEST_MAJOR: u16 = 69;

/// A class file with parsed header and member tables.
pub struct ClassFile<'a> {
    bytes: &'a [u8],
    /// The minor version.
    pub minor: u16,
    /// The major version, at least 45.
    pub major: u16,
    /// The constant pool.
    pub pool: Pool<'a>,
    /// The access flags of the class.
    pub flags: Flags,
    this_class: PoolIndex,
    super_class: PoolIndex,
    interfaces: &'a [u8],
    fields: Box<[RawMember]>,
    methods: Box<[RawMember]>,
    attributes_at: u32,
}

struct RawMember {
    flags: Flags,
    name: PoolIndex,
    descriptor: PoolIndex,
    /// The offset in the class file of the member's attribute table.
    attributes_at: u32,
    /// A cache: the interned id of the member's [`MemberRef`], as a number; 0 if it has not been computed yet.
    known: Cell<u32>,
}

/// A declared field or method.
#[derive(Clone, Copy)]
pub struct MemberInfo<'c, 'a> {
    class: &'c ClassFile<'a>,
    raw: &'c RawMember,
    /// The access flags.
    pub flags: Flags,
}

impl<'a> ClassFile<'a> {
    /// Reads header and member tables, and checks that they fill `bytes` exactly.
    ///
    /// # Errors
    /// Fails if the structure cannot be read; the class then counts as absent in every analysis.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut r = Reader::new(bytes, 0, "4.1");
        let magic = r.u4()?;
        if magic != 0xcafe_babe {
            return Err(Malformed::new(0, "4.1", Fault::Magic(magic)));
        }
        let (minor, major) = (r.u2()?, r.u2()?);
        if major < 45 {
            return Err(Malformed::new(6, "4.1", Fault::Version(major)));
        }
        let pool = Pool::parse(bytes, &mut r)?;
        let flags = Flags(r.u2()?);
        let (this_class, super_class) = (PoolIndex(r.u2()?), PoolIndex(r.u2()?));
        let n = r.u2()? as usize;
        let interfaces = r.take(2 * n)?;
        let fields = members(bytes, &mut r)?;
        let methods = members(bytes, &mut r)?;
        let attributes_at = r.pos() as u32;
        skip_attributes(&mut r)?;
        if r.pos() != bytes.len() {
            let left = (bytes.len() - r.pos()) as u64;
            return Err(Malformed::new(r.pos(), "4.1", Fault::Trailing(left)));
        }
        let class = ClassFile {
            bytes,
            minor,
            major,
            pool,
            flags,
            this_class,
            super_class,
            interfaces,
            fields,
            methods,
            attributes_at,
        };
        // Without a readable name, nothing can be said about the class.
        class.this_class()?;
        Ok(class)
    }

    /// Interns the names that the class declares or mentions, for clients that will read all bodies. Interning
    /// affects only the speed of later calls. With `strings`, the texts of string constants are interned too.
    pub fn intern(&self, strings: bool) {
        let members = self.fields.iter().chain(&self.methods);
        self.pool.intern(strings, members.flat_map(|it| [it.name, it.descriptor]));
        let Ok(class) = self.this_class() else { return };
        let mut own = Batch::new(|own: &[_]| {
            MemberRef::new_all(own, |it: &RawMember, member| it.known.set(member.raw()));
        });
        for it in &self.methods {
            if let (Ok(name), Ok(descriptor)) = (self.pool.name(it.name), self.pool.descriptor(it.descriptor))
            {
                own.push((Member { class, name, descriptor }, it));
            }
        }
        own.finish();
    }

    /// Returns the bytes of the whole file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the name of the class that the file defines.
    pub fn this_class(&self) -> Result<ClassName> {
        self.pool.class_name(self.this_class)
    }

    /// Returns the direct superclass; `None` for `java/lang/Object` and for `module-info`.
    pub fn super_class(&self) -> Result<Option<ClassName>> {
        self.pool.optional_class_name(self.super_class)
    }

    /// Returns the direct superinterfaces in order.
    pub fn interfaces(&self) -> impl Iterator<Item = Result<ClassName>> + '_ {
        self.interfaces
            .chunks_exact(2)
            .map(|it| self.pool.class_name(PoolIndex(u16::from_be_bytes([it[0], it[1]]))))
    }

    /// Returns the fields in file order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = MemberInfo<'_, 'a>> {
        self.fields.iter().map(|raw| MemberInfo { class: self, raw, flags: raw.flags })
    }

    /// Returns the methods in file order.
    pub fn methods(&self) -> impl ExactSizeIterator<Item = MemberInfo<'_, 'a>> {
        self.methods.iter().map(|raw| MemberInfo { class: self, raw, flags: raw.flags })
    }

    /// Returns the attributes of the class.
    pub fn attributes(&self) -> Attributes<'_, 'a> {
        Attributes::at(&self.pool, self.attributes_at as usize)
    }
}

impl<'c, 'a> MemberInfo<'c, 'a> {
    /// Returns the simple name.
    pub fn name(&self) -> Result<Name> {
        self.class.pool.name(self.raw.name)
    }

    /// Returns the descriptor.
    pub fn descriptor(&self) -> Result<Descriptor> {
        self.class.pool.descriptor(self.raw.descriptor)
    }

    /// Returns the reference to the member: the class that declares it, its name and its descriptor.
    pub fn member_ref(&self) -> Result<MemberRef> {
        if let Some(known) = MemberRef::from_raw(self.raw.known.get()) {
            return Ok(known);
        }
        let member = MemberRef::new(self.class.this_class()?, self.name()?, self.descriptor()?);
        self.raw.known.set(member.raw());
        Ok(member)
    }

    /// Returns the attributes of the member.
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        Attributes::at(&self.class.pool, self.raw.attributes_at as usize)
    }

    /// Returns the `Code` attribute (JVMS §4.7.3); `None` if the method has none.
    ///
    /// # Errors
    /// Fails if the attribute cannot be read, if there are two, or if a native or abstract method has one.
    pub fn code(&self) -> Result<Option<Code<'c, 'a>>> {
        let mut found = None;
        for it in self.attributes() {
            let it = it?;
            if it.name == b"Code" {
                if found.is_some() {
                    return Err(Malformed::new(
                        it.offset,
                        "4.7.3",
                        Fault::Other("the method has two Code attributes"),
                    ));
                }
                found = Some(it);
            }
        }
        let bodiless = self.flags.is_native() || self.flags.is_abstract();
        match found {
            Some(it) if bodiless => {
                let fault = Fault::Other("a native or abstract method has a Code attribute");
                Err(Malformed::new(it.offset, "4.7.3", fault))
            }
            Some(it) => Code::parse(&self.class.pool, it).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the offset of the member's attribute table in the file, for error messages.
    pub fn offset(&self) -> usize {
        self.raw.attributes_at as usize
    }
}

fn members(bytes: &[u8], r: &mut Reader<'_>) -> Result<Box<[RawMember]>> {
    let n = r.u2()? as usize;
    // A member takes at least eight bytes.
    let mut out = Vec::with_capacity(n.min((bytes.len() - r.pos()) / 8));
    for _ in 0..n {
        let flags = Flags(r.u2()?);
        let (name, descriptor) = (PoolIndex(r.u2()?), PoolIndex(r.u2()?));
        let attributes_at = r.pos() as u32;
        skip_attributes(r)?;
        out.push(RawMember { flags, name, descriptor, attributes_at, known: Cell::new(0) });
    }
    Ok(out.into_boxed_slice())
}
