//! Strings, constants and the constant pool under construction.
//!
//! An entry is identified by its encoded bytes, so equal constants share an index.

use std::collections::HashMap;

use super::AsmError;

/// A string in the form that a class file can contain: UTF-16 code units, unpaired surrogates allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Vec<u16>);

impl Text {
    /// Creates the string with these code units.
    pub fn from_units(units: Vec<u16>) -> Text {
        Text(units)
    }

    /// The UTF-16 code units of the string.
    pub fn units(&self) -> &[u16] {
        &self.0
    }

    /// The string in modified UTF-8 (JVMS §4.4.7): the character U+0000 as two bytes, each surrogate as three.
    pub fn modified_utf8(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.0.len());
        for &unit in &self.0 {
            let [high, low] = unit.to_be_bytes();
            match unit {
                1..=0x7f => out.push(low),
                0 | 0x80..=0x7ff => out.extend([0xc0 | (unit >> 6) as u8, 0x80 | (low & 0x3f)]),
                _ => out.extend([0xe0 | (high >> 4), 0x80 | ((unit >> 6) & 0x3f) as u8, 0x80 | (low & 0x3f)]),
            }
        }
        out
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.encode_utf16().collect())
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Text {
        Text::from(text.as_str())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::from(text.as_str())
    }
}

impl From<&Text> for Text {
    fn from(text: &Text) -> Text {
        text.clone()
    }
}

/// A field or method, as a reference in a class file names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The class that the reference names.
    pub owner: Text,
    /// The simple name of the member.
    pub name: Text,
    /// The descriptor of the member.
    pub descriptor: Text,
    /// Whether the reference is an `InterfaceMethodref`.
    pub interface: bool,
}

/// A constant for `ldc`, `ConstantValue` or a bootstrap argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// An int.
    Int(i32),
    /// A long.
    Long(i64),
    /// A float, given as its bits, so that NaN payloads survive.
    Float(u32),
    /// A double, given as its bits.
    Double(u64),
    /// A string.
    Str(Text),
    /// A class or array type, in internal form.
    Class(Text),
    /// A method handle: its kind (1 to 9, JVMS §4.4.8) and its member.
    Handle(u8, Member),
    /// A method type, as a method descriptor.
    MethodType(Text),
    /// A dynamic constant: the index of a bootstrap method, a name, and a descriptor.
    Dynamic(u16, Text, Text),
}

impl Const {
    /// Whether the constant takes two stack slots and needs `ldc2_w`.
    pub fn is_wide(&self) -> bool {
        match self {
            Const::Long(_) | Const::Double(_) => true,
            Const::Dynamic(_, _, descriptor) => matches!(descriptor.units(), [0x4a] | [0x44]),
            _ => false,
        }
    }
}

/// A constant pool under construction.
#[derive(Debug, Default)]
pub(super) struct Pool {
    bytes: Vec<u8>,
    next: u32,
    known: HashMap<Vec<u8>, u16>,
}

impl Pool {
    fn entry(&mut self, tag: u8, payload: &[u8]) -> Result<u16, AsmError> {
        let mut key = vec![tag];
        key.extend_from_slice(payload);
        if let Some(&idx) = self.known.get(&key) {
            return Ok(idx);
        }
        let idx = self.next + 1;
        let slots = if matches!(tag, 5 | 6) { 2 } else { 1 };
        let idx = u16::try_from(idx).ok().filter(|&it| u32::from(it) + slots <= 65_535);
        let Some(idx) = idx else { return Err(AsmError::new("the constant pool is full")) };
        self.next += slots;
        self.bytes.extend_from_slice(&key);
        self.known.insert(key, idx);
        Ok(idx)
    }

    pub(super) fn utf8(&mut self, text: &Text) -> Result<u16, AsmError> {
        let bytes = text.modified_utf8();
        let n = u16::try_from(bytes.len())
            .map_err(|_| AsmError::new("a string is longer than 65535 bytes in modified UTF-8"))?;
        let mut payload = n.to_be_bytes().to_vec();
        payload.extend(bytes);
        self.entry(1, &payload)
    }

    pub(super) fn class(&mut self, name: &Text) -> Result<u16, AsmError> {
        let idx = self.utf8(name)?;
        self.entry(7, &idx.to_be_bytes())
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> Result<u16, AsmError> {
        let [a, b] = first.to_be_bytes();
        let [c, d] = second.to_be_bytes();
        self.entry(tag, &[a, b, c, d])
    }

    fn name_and_type(&mut self, name: &Text, descriptor: &Text) -> Result<u16, AsmError> {
        let name = self.utf8(name)?;
        let descriptor = self.utf8(descriptor)?;
        self.pair(12, name, descriptor)
    }

    pub(super) fn field(&mut self, it: &Member) -> Result<u16, AsmError> {
        let owner = self.class(&it.owner)?;
        let rest = self.name_and_type(&it.name, &it.descriptor)?;
        self.pair(9, owner, rest)
    }

    pub(super) fn method(&mut self, it: &Member) -> Result<u16, AsmError> {
        let owner = self.class(&it.owner)?;
        let rest = self.name_and_type(&it.name, &it.descriptor)?;
        self.pair(if it.interface { 11 } else { 10 }, owner, rest)
    }

    pub(super) fn dynamic_call(&mut self, bootstrap: u16, name: &Text, ty: &Text) -> Result<u16, AsmError> {
        let rest = self.name_and_type(name, ty)?;
        self.pair(18, bootstrap, rest)
    }

    pub(super) fn constant(&mut self, it: &Const) -> Result<u16, AsmError> {
        match it {
            Const::Int(it) => self.entry(3, &it.to_be_bytes()),
            Const::Float(it) => self.entry(4, &it.to_be_bytes()),
            Const::Long(it) => self.entry(5, &it.to_be_bytes()),
            Const::Double(it) => self.entry(6, &it.to_be_bytes()),
            Const::Class(it) => self.class(it),
            Const::Str(it) => {
                let idx = self.utf8(it)?;
                self.entry(8, &idx.to_be_bytes())
            }
            Const::MethodType(it) => {
                let idx = self.utf8(it)?;
                self.entry(16, &idx.to_be_bytes())
            }
            Const::Handle(kind, member) => {
                let idx = if *kind <= 4 { self.field(member)? } else { self.method(member)? };
                let [a, b] = idx.to_be_bytes();
                self.entry(15, &[*kind, a, b])
            }
            Const::Dynamic(bootstrap, name, descriptor) => {
                let rest = self.name_and_type(name, descriptor)?;
                self.pair(17, *bootstrap, rest)
            }
        }
    }

    /// Appends the encoded pool to `out`: `constant_pool_count`, then the entries.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        // `entry` keeps `next` below 65,535.
        out.extend(((self.next + 1) as u16).to_be_bytes());
        out.extend_from_slice(&self.bytes);
    }
}
