//! The constant pool (JVMS §4.4), as a table of offsets: entries are decoded on demand.

use std::cell::Cell;

use crate::bytes::{Reader, u2, u4};
use crate::descriptor::{self, CallShape, Kind, MemberShape};
use crate::error::{Fault, Malformed, Result};
use crate::intern::Batch;
use crate::mutf8;
use crate::names::{ClassName, Descriptor, Member, MemberRef, Name};

/// An index into the constant pool of one class file; it is meaningless in any other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PoolIndex(pub u16);

impl PoolIndex {
    /// Returns the number of the entry in the pool.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the index of the entry with this number, which must fit into 16 bits.
    pub(crate) fn from_index(index: usize) -> Self {
        PoolIndex(index as u16)
    }
}

/// An entry of the constant pool, with references left as indices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Entry<'a> {
    /// `CONSTANT_Utf8`, not yet validated.
    Utf8(&'a [u8]),
    /// `CONSTANT_Integer`.
    Integer(i32),
    /// `CONSTANT_Float`, as bits (NaNs keep their payload).
    Float(u32),
    /// `CONSTANT_Long`.
    Long(i64),
    /// `CONSTANT_Double`, as bits.
    Double(u64),
    /// `CONSTANT_Class`: the index of the name.
    Class(PoolIndex),
    /// `CONSTANT_String`: the index of the text.
    String(PoolIndex),
    /// `CONSTANT_Fieldref`: the indices of the class and of the `CONSTANT_NameAndType`.
    Fieldref(PoolIndex, PoolIndex),
    /// `CONSTANT_Methodref`: the indices of the class and of the `CONSTANT_NameAndType`.
    Methodref(PoolIndex, PoolIndex),
    /// `CONSTANT_InterfaceMethodref`: the indices of the class and of the `CONSTANT_NameAndType`.
    InterfaceMethodref(PoolIndex, PoolIndex),
    /// `CONSTANT_NameAndType`: the indices of the name and of the descriptor.
    NameAndType(PoolIndex, PoolIndex),
    /// `CONSTANT_MethodHandle`: the kind (1 to 9), and the index of the field or method constant.
    MethodHandle(u8, PoolIndex),
    /// `CONSTANT_MethodType`: the index of the descriptor.
    MethodType(PoolIndex),
    /// `CONSTANT_Dynamic`: the number of the bootstrap method, and the index of the `CONSTANT_NameAndType`.
    Dynamic(u16, PoolIndex),
    /// `CONSTANT_InvokeDynamic`: the number of the bootstrap method, and the index of the `CONSTANT_NameAndType`.
    InvokeDynamic(u16, PoolIndex),
    /// `CONSTANT_Module`: the index of the name.
    Module(PoolIndex),
    /// `CONSTANT_Package`: the index of the name.
    Package(PoolIndex),
}

/// The constant pool of one class file.
pub struct Pool<'a> {
    bytes: &'a [u8],
    /// The offset of each entry's tag; 0 for index 0 and for the second half of a long or double.
    offsets: Box<[u32]>,
    /// A cache: for each entry that was read as a name or member, its interned id as a number; 0 for the other
    /// entries.
    interned: Box<[Cell<u32>]>,
    /// A cache: for each method or field constant read so far, the shape of its descriptor (the number in
    /// [`MemberShape`]); 0 if it has not been read. For a `CONSTANT_Utf8`, 1 means that [`Pool::intern`] has already
    /// visited it.
    shapes: Box<[Cell<u64>]>,
}

impl<'a> Pool<'a> {
    /// Finds the offsets of the entries of the pool whose `constant_pool_count` is at the position of `reader`, and
    /// moves `reader` past the pool.
    pub(crate) fn parse(bytes: &'a [u8], reader: &mut Reader<'a>) -> Result<Self> {
        let at = reader.pos();
        let count = reader.u2()? as usize;
        let mut pos = reader.pos();
        // An entry takes at least three bytes: an impossible count is refused before anything is allocated.
        if count.saturating_sub(1) > bytes.len().saturating_sub(pos) / 3 * 2 + 1 {
            let have = (bytes.len() - pos) as u64;
            return Err(Malformed::new(at, "4.1", Fault::Truncated { need: count as u64 * 3, have }));
        }
        let mut offsets = Vec::with_capacity(count.max(1));
        offsets.push(0);
        while offsets.len() < count {
            let Some(&tag) = bytes.get(pos) else {
                // A string may have led far past the end, to an offset outside of the file.
                return Err(Malformed::new(bytes.len(), "4.4", Fault::Truncated { need: 1, have: 0 }));
            };
            offsets.push(pos as u32);
            pos += match tag {
                1 => match u2(bytes, pos + 1) {
                    Some(len) => 3 + len as usize,
                    None => return Err(Malformed::new(pos, "4.4.7", Fault::Truncated { need: 3, have: 1 })),
                },
                3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 5,
                5 | 6 => {
                    // JVMS §4.4.5: these take two entries, the second of which is unusable.
                    offsets.push(0);
                    9
                }
                7 | 8 | 16 | 19 | 20 => 3,
                15 => 4,
                _ => return Err(Malformed::new(pos, "4.4", Fault::Tag(tag))),
            };
        }
        if pos > bytes.len() {
            let fault = Fault::Truncated { need: (pos - at) as u64, have: (bytes.len() - at) as u64 };
            return Err(Malformed::new(at, "4.4", fault));
        }
        if offsets.len() > count.max(1) {
            let last = PoolIndex::from_index(count - 1);
            return Err(Malformed::new(at, "4.4.5", Fault::PoolIndex(last.0)));
        }
        *reader = Reader::new(bytes, pos, "4.1");
        let interned = vec![Cell::new(0); offsets.len()].into_boxed_slice();
        let shapes = vec![Cell::new(0); offsets.len()].into_boxed_slice();
        Ok(Pool { bytes, offsets: offsets.into_boxed_slice(), interned, shapes })
    }

    /// Returns the number of indices, including the unused index 0.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns whether the pool has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// Returns whether any entry of the pool has this tag (JVMS §4.4).
    pub fn has(&self, tag: u8) -> bool {
        self.offsets.iter().any(|&at| at != 0 && self.bytes.get(at as usize) == Some(&tag))
    }

    /// Returns the bytes of the whole class file, to which all offsets refer.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    fn offset(&self, index: PoolIndex) -> Result<usize> {
        match self.offsets.get(index.index()) {
            Some(&at) if at != 0 => Ok(at as usize),
            _ => Err(Malformed::new(0, "4.4", Fault::PoolIndex(index.0))),
        }
    }

    fn wrong<T>(&self, index: PoolIndex, want: &'static str) -> Result<T> {
        let at = self.offset(index)?;
        Err(Malformed::new(at, "4.4", Fault::PoolKind { index: index.0, want }))
    }

    /// Returns the fault at the entry with this index.
    pub(crate) fn fault<T>(&self, index: PoolIndex, jvms: &'static str, fault: Fault) -> Result<T> {
        Err(Malformed::new(self.offset(index)?, jvms, fault))
    }

    /// Returns the entry at `index`.
    ///
    /// # Errors
    /// Fails if there is no such entry.
    pub fn entry(&self, index: PoolIndex) -> Result<Entry<'a>> {
        let at = self.offset(index)?;
        let b = self.bytes;
        let n2 = |k: usize| u2(b, at + k).unwrap_or_default();
        let n4 = |k: usize| u4(b, at + k).unwrap_or_default();
        let i = |k: usize| PoolIndex(n2(k));
        let n8 = || u64::from(n4(1)) << 32 | u64::from(n4(5));
        Ok(match b[at] {
            1 => Entry::Utf8(b.get(at + 3..at + 3 + n2(1) as usize).unwrap_or_default()),
            3 => Entry::Integer(n4(1) as i32),
            4 => Entry::Float(n4(1)),
            5 => Entry::Long(n8() as i64),
            6 => Entry::Double(n8()),
            7 => Entry::Class(i(1)),
            8 => Entry::String(i(1)),
            9 => Entry::Fieldref(i(1), i(3)),
            10 => Entry::Methodref(i(1), i(3)),
            11 => Entry::InterfaceMethodref(i(1), i(3)),
            12 => Entry::NameAndType(i(1), i(3)),
            15 => Entry::MethodHandle(b[at + 1], i(2)),
            16 => Entry::MethodType(i(1)),
            17 => Entry::Dynamic(n2(1), i(3)),
            18 => Entry::InvokeDynamic(n2(1), i(3)),
            19 => Entry::Module(i(1)),
            20 => Entry::Package(i(1)),
            tag => return Err(Malformed::new(at, "4.4", Fault::Tag(tag))),
        })
    }

    /// Returns the bytes of the `CONSTANT_Utf8` at `index`. They are not validated: compare them with ASCII words
    /// only.
    #[inline]
    pub fn utf8(&self, index: PoolIndex) -> Result<&'a [u8]> {
        let at = self.offset(index)?;
        if self.bytes[at] != 1 {
            return self.wrong(index, "CONSTANT_Utf8");
        }
        let len = u2(self.bytes, at + 1).unwrap_or_default() as usize;
        Ok(self.bytes.get(at + 3..at + 3 + len).unwrap_or_default())
    }

    /// Returns the `CONSTANT_Utf8` at `index`, validated and interned.
    pub fn name(&self, index: PoolIndex) -> Result<Name> {
        let text = self.utf8(index)?;
        let cell = &self.interned[index.index()];
        if let Some(name) = Name::from_raw(cell.get()) {
            return Ok(name);
        }
        if !mutf8::is_valid(text) {
            return Err(Malformed::new(self.offset(index)?, "4.4.7", Fault::Utf8));
        }
        let name = Name::new(text);
        cell.set(name.raw());
        Ok(name)
    }

    /// Checks that the `CONSTANT_Utf8` at `index` is a valid name, without interning it.
    ///
    /// # Errors
    /// Fails in the cases in which [`Pool::name`] fails.
    pub fn check_name(&self, index: PoolIndex) -> Result<()> {
        let text = self.utf8(index)?;
        let is_known = self.interned[index.index()].get() != 0;
        match is_known || mutf8::is_valid(text) {
            true => Ok(()),
            false => Err(Malformed::new(self.offset(index)?, "4.4.7", Fault::Utf8)),
        }
    }

    /// Returns the name of the `CONSTANT_Class` at `index`.
    pub fn class_name(&self, index: PoolIndex) -> Result<ClassName> {
        let at = self.offset(index)?;
        if self.bytes[at] != 7 {
            return self.wrong(index, "CONSTANT_Class");
        }
        let cell = &self.interned[index.index()];
        if let Some(name) = Name::from_raw(cell.get()) {
            return Ok(ClassName(name));
        }
        let name = self.name(PoolIndex(u2(self.bytes, at + 1).unwrap_or_default()))?;
        let text = name.bytes();
        if text.is_empty() || text[0] == b'[' && !descriptor::is_field_type(text) {
            return Err(Malformed::new(at, "4.4.1", Fault::Grammar("class name")));
        }
        cell.set(name.raw());
        Ok(ClassName(name))
    }

    /// Returns the name of the `CONSTANT_Class` at `index`, or `None` for index 0.
    pub fn optional_class_name(&self, index: PoolIndex) -> Result<Option<ClassName>> {
        if index.0 == 0 { Ok(None) } else { self.class_name(index).map(Some) }
    }

    /// Returns the descriptor in the `CONSTANT_Utf8` at `index`. The grammar of the descriptor is not checked.
    pub fn descriptor(&self, index: PoolIndex) -> Result<Descriptor> {
        Ok(Descriptor(self.name(index)?))
    }

    /// Returns the name and the descriptor of the `CONSTANT_NameAndType` at `index`.
    pub fn name_and_type(&self, index: PoolIndex) -> Result<(Name, Descriptor)> {
        match self.entry(index)? {
            Entry::NameAndType(name, ty) => Ok((self.name(name)?, self.descriptor(ty)?)),
            _ => self.wrong(index, "CONSTANT_NameAndType"),
        }
    }

    /// Returns the member that the field or method constant at `index` names, and the tag of that constant.
    fn member(&self, index: PoolIndex) -> Result<(Member, u8)> {
        let (class, name_and_type, tag) = match self.entry(index)? {
            Entry::Fieldref(class, name_and_type) => (class, name_and_type, 9),
            Entry::Methodref(class, name_and_type) => (class, name_and_type, 10),
            Entry::InterfaceMethodref(class, name_and_type) => (class, name_and_type, 11),
            _ => return self.wrong(index, "CONSTANT_Methodref"),
        };
        let (name, descriptor) = self.name_and_type(name_and_type)?;
        Ok((Member { class: self.class_name(class)?, name, descriptor }, tag))
    }

    /// Caches `member` for the constant at `index`, if the descriptor of the member fits the constant: a field
    /// descriptor for a field constant, a method descriptor for a method constant. `tag` is the tag of the constant.
    fn keep_member(&self, index: PoolIndex, tag: u8, member: MemberRef) {
        let shape = member.shape();
        let fits = match shape.call() {
            Some(call) => tag != 9 && (call.ret().is_none() || member.name().bytes() != b"<init>"),
            None => tag == 9 && shape.field().is_some(),
        };
        if fits {
            self.interned[index.index()].set(member.raw());
            self.shapes[index.index()].set(shape.0);
        }
    }

    /// Returns the cached member, tag and shape of the constant at `index`; `None` if nothing is cached or the
    /// constant has none of these tags.
    #[inline]
    fn known_member(&self, index: PoolIndex, tags: [u8; 2]) -> Option<(MemberRef, u8, MemberShape)> {
        let at = *self.offsets.get(index.index())? as usize;
        let tag = *self.bytes.get(at)?;
        let member = MemberRef::from_raw(self.interned.get(index.index())?.get())?;
        let shape = self.shapes.get(index.index())?.get();
        (at != 0 && shape != 0 && tags.contains(&tag)).then_some((member, tag, MemberShape(shape)))
    }

    /// Interns the names in class, member and method-type constants, in string constants if `strings` is set, and at
    /// the indices in `more`. This is faster than interning the names one by one if most of them will be read.
    /// Unreadable entries are skipped.
    pub(crate) fn intern(&self, strings: bool, more: impl Iterator<Item = PoolIndex>) {
        let mut texts = Batch::new(|texts: &[_]| {
            Name::new_all(texts, |index: PoolIndex, name| self.interned[index.index()].set(name.raw()));
        });
        let mut want = |index: PoolIndex| {
            if let Ok(text) = self.utf8(index)
                && self.shapes[index.index()].replace(1) == 0
                && self.interned[index.index()].get() == 0
                && mutf8::is_valid(text)
            {
                texts.push((text, index));
            }
        };
        more.for_each(&mut want);
        let entries = || self.offsets.iter().enumerate().filter(|it| *it.1 != 0);
        for (_, &at) in entries() {
            let operand = |k: usize| PoolIndex(u2(self.bytes, at as usize + k).unwrap_or_default());
            match self.bytes[at as usize] {
                7 | 16 => want(operand(1)),
                8 if strings => want(operand(1)),
                12 => {
                    want(operand(1));
                    want(operand(3));
                }
                _ => {}
            }
        }
        texts.finish();
        let mut members = Batch::new(|members: &[_]| {
            MemberRef::new_all(members, |(index, tag), member| self.keep_member(index, tag, member));
        });
        for (i, &at) in entries() {
            if matches!(self.bytes[at as usize], 9..=11)
                && let Ok((member, tag)) = self.member(PoolIndex::from_index(i))
            {
                members.push((member, (PoolIndex::from_index(i), tag)));
            }
        }
        members.finish();
    }

    /// Returns the field that the `CONSTANT_Fieldref` at `index` names, and the kind of its values.
    ///
    /// # Errors
    /// Fails if the constant is not a field constant or its descriptor is not a field descriptor.
    #[inline]
    pub fn field_ref(&self, index: PoolIndex) -> Result<(MemberRef, Kind)> {
        match self.known_member(index, [9, 9]) {
            Some((member, _, shape)) => Ok((member, shape.field().unwrap_or(Kind::Int))),
            None => self.new_field_ref(index),
        }
    }

    #[cold]
    fn new_field_ref(&self, index: PoolIndex) -> Result<(MemberRef, Kind)> {
        let Entry::Fieldref(..) = self.entry(index)? else {
            return self.wrong(index, "CONSTANT_Fieldref");
        };
        let (Member { class, name, descriptor }, tag) = self.member(index)?;
        let member = MemberRef::new(class, name, descriptor);
        self.keep_member(index, tag, member);
        match member.shape().field() {
            Some(kind) => Ok((member, kind)),
            None => Err(Malformed::new(self.offset(index)?, "4.4.2", Fault::Grammar("field descriptor"))),
        }
    }

    /// Returns the method that the constant at `index` names, whether it is a `CONSTANT_InterfaceMethodref`, and
    /// the kinds of its parameters and result.
    ///
    /// # Errors
    /// Fails if the constant is not a method constant or its descriptor is not a method descriptor.
    #[inline]
    pub fn method_ref(&self, index: PoolIndex) -> Result<(MemberRef, bool, CallShape)> {
        if let Some((member, tag, shape)) = self.known_member(index, [10, 11])
            && let Some(shape) = shape.call()
        {
            return Ok((member, tag == 11, shape));
        }
        self.new_method_ref(index)
    }

    #[cold]
    fn new_method_ref(&self, index: PoolIndex) -> Result<(MemberRef, bool, CallShape)> {
        if let Entry::Fieldref(..) = self.entry(index)? {
            return self.wrong(index, "CONSTANT_Methodref");
        }
        let (Member { class, name, descriptor }, tag) = self.member(index)?;
        let member = MemberRef::new(class, name, descriptor);
        self.keep_member(index, tag, member);
        let Some(shape) = member.shape().call() else {
            return Err(Malformed::new(self.offset(index)?, "4.4.2", Fault::Grammar("method descriptor")));
        };
        if shape.ret().is_some() && member.name().bytes() == b"<init>" {
            return Err(Malformed::new(
                self.offset(index)?,
                "4.4.2",
                Fault::Grammar("constructor descriptor: a constructor must return void"),
            ));
        }
        Ok((member, tag == 11, shape))
    }

    /// Returns the descriptor of the `CONSTANT_InvokeDynamic` at `index`, and the kinds of its parameters and result.
    ///
    /// # Errors
    /// Fails if the constant is not a `CONSTANT_InvokeDynamic` or its descriptor is not a method descriptor.
    pub fn call_site_type(&self, index: PoolIndex) -> Result<(Descriptor, CallShape)> {
        let Entry::InvokeDynamic(_, name_and_type) = self.entry(index)? else {
            return self.wrong(index, "CONSTANT_InvokeDynamic");
        };
        let (_, descriptor) = self.name_and_type(name_and_type)?;
        match CallShape::parse(descriptor.bytes()) {
            Some(shape) => Ok((descriptor, shape)),
            None => {
                Err(Malformed::new(self.offset(index)?, "4.4.10", Fault::Grammar("call site descriptor")))
            }
        }
    }
}
