//! Small edits of existing class files, like those of a programmer but without a compiler: change a constant in a
//! body, throw or call at the beginning of a body, add a method, rename a class.
//!
//! The constant pool only grows at its end, so all indices in code and attributes stay valid. If the input passes the
//! JVM's verifier, so does the output. Like the rest of this crate, the module shares no code with `classfile`.

mod code;
mod frames;
mod insns;

pub use code::Insertion;

/// A class file, split into the parts that edits need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch {
    minor: u16,
    major: u16,
    /// The constants from index 1 on, as bytes with their tag. Each long and double is followed by an empty constant.
    pool: Vec<Vec<u8>>,
    flags: u16,
    this_class: u16,
    super_class: u16,
    interfaces: Vec<u8>,
    fields: Vec<u8>,
    methods: Vec<Method>,
    attributes: Vec<u8>,
}

/// A method of the class file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// The access flags of the method.
    pub flags: u16,
    name: u16,
    descriptor: u16,
    attributes: Vec<Attribute>,
}

/// An attribute: the constant-pool index of its name, and its content.
type Attribute = (u16, Vec<u8>);

const UTF8: u8 = 1;
const CLASS: u8 = 7;
const METHOD_REF: u8 = 10;
const INTERFACE_METHOD_REF: u8 = 11;

/// `ACC_STATIC`.
pub const STATIC: u16 = 0x0008;
/// `ACC_INTERFACE` of a class.
pub const INTERFACE: u16 = 0x0200;
/// `ACC_ABSTRACT`.
pub const ABSTRACT: u16 = 0x0400;

impl Patch {
    /// Reads a class file; `None` if the bytes are not a class file.
    pub fn read(bytes: &[u8]) -> Option<Patch> {
        let mut it = Bytes(bytes);
        if it.take(4)? != [0xca, 0xfe, 0xba, 0xbe] {
            return None;
        }
        let (minor, major) = (it.u2()?, it.u2()?);
        let n = usize::from(it.u2()?);
        let mut pool = Vec::with_capacity(n);
        while pool.len() + 1 < n {
            let tag = *it.0.first()?;
            let length = match tag {
                UTF8 => 3 + usize::from(u16::from_be_bytes([*it.0.get(1)?, *it.0.get(2)?])),
                CLASS | 8 | 16 | 19 | 20 => 3,
                15 => 4,
                3 | 4 | 9..=12 | 17 | 18 => 5,
                5 | 6 => 9,
                _ => return None,
            };
            pool.push(it.take(length)?.to_vec());
            if matches!(tag, 5 | 6) {
                pool.push(Vec::new());
            }
        }
        let (flags, this_class, super_class) = (it.u2()?, it.u2()?, it.u2()?);
        let n = usize::from(it.u2()?);
        let interfaces = it.take(2 * n)?.to_vec();
        let before = it.0;
        for _ in 0..it.u2()? {
            it.take(6)?;
            it.attributes()?;
        }
        let fields = before[..before.len() - it.0.len()].to_vec();
        let mut methods = Vec::new();
        for _ in 0..it.u2()? {
            let (flags, name, descriptor) = (it.u2()?, it.u2()?, it.u2()?);
            methods.push(Method { flags, name, descriptor, attributes: it.attributes()? });
        }
        let attributes = it.0.to_vec();
        Some(Patch {
            minor,
            major,
            pool,
            flags,
            this_class,
            super_class,
            interfaces,
            fields,
            methods,
            attributes,
        })
    }

    /// Returns the bytes of the class file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0xca, 0xfe, 0xba, 0xbe];
        out.extend(
            [self.minor, self.major, self.pool.len() as u16 + 1].iter().flat_map(|it| it.to_be_bytes()),
        );
        out.extend(self.pool.iter().flatten());
        let n = (self.interfaces.len() / 2) as u16;
        let header = [self.flags, self.this_class, self.super_class, n];
        out.extend(header.iter().flat_map(|it| it.to_be_bytes()));
        out.extend(&self.interfaces);
        out.extend(&self.fields);
        out.extend((self.methods.len() as u16).to_be_bytes());
        for it in &self.methods {
            out.extend([it.flags, it.name, it.descriptor].iter().flat_map(|it| it.to_be_bytes()));
            put_attributes(&it.attributes, &mut out);
        }
        out.extend(&self.attributes);
        out
    }

    /// The internal name of the class: `p/C`.
    pub fn name(&self) -> &[u8] {
        self.class_at(self.this_class)
    }

    /// The internal name of the superclass; empty if there is none.
    pub fn super_name(&self) -> &[u8] {
        self.class_at(self.super_class)
    }

    /// The access flags of the class.
    pub fn flags(&self) -> u16 {
        self.flags
    }

    /// The methods of the class, in file order.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The name and descriptor of a method.
    pub fn signature(&self, method: &Method) -> (&[u8], &[u8]) {
        (self.text(method.name), self.text(method.descriptor))
    }

    /// The classes and array types that the class refers to, including the class itself.
    pub fn named_classes(&self) -> impl Iterator<Item = &[u8]> {
        self.pool.iter().filter_map(|it| match it[..] {
            [CLASS, a, b] => Some(self.text(u16::from_be_bytes([a, b]))),
            _ => None,
        })
    }

    /// The classes and array types that the class names as owners of the methods it calls, with repetitions.
    pub fn called_classes(&self) -> impl Iterator<Item = &[u8]> {
        self.pool.iter().filter_map(|it| match it[..] {
            [METHOD_REF | INTERFACE_METHOD_REF, a, b, ..] => Some(self.class_at(u16::from_be_bytes([a, b]))),
            _ => None,
        })
    }

    /// Renames the class, by changing the class constant that names the class itself. Descriptors keep the old name.
    /// Returns `None` if the constant pool is full.
    pub fn rename(&mut self, name: &[u8]) -> Option<()> {
        let name = self.utf8(name)?.to_be_bytes();
        let constant = self.pool.get_mut(usize::from(self.this_class).checked_sub(1)?)?;
        *constant = [&[CLASS], &name[..]].concat();
        Some(())
    }

    /// Adds a constant that nothing uses. Returns `None` if the constant pool is full.
    pub fn touch(&mut self) -> Option<()> {
        self.constant([&[UTF8, 0, 5], &b"touch"[..]].concat()).map(drop)
    }

    /// Adds a method without effects that returns the default value of its type, or an abstract method. Returns
    /// `None` if the constant pool is full or the descriptor is malformed.
    pub fn add_method(&mut self, flags: u16, name: &[u8], descriptor: &[u8]) -> Option<()> {
        let (name, number) = (self.utf8(name)?, self.utf8(descriptor)?);
        let mut attributes = Vec::new();
        if flags & ABSTRACT == 0 {
            let insns: &[u8] = match result(descriptor)? {
                b'V' => &[0xb1],
                b'J' => &[0x09, 0xad],
                b'F' => &[0x0b, 0xae],
                b'D' => &[0x0e, 0xaf],
                b'L' | b'[' => &[0x01, 0xb0],
                _ => &[0x03, 0xac],
            };
            let locals = insns::slots(descriptor)? + u16::from(flags & STATIC == 0);
            let mut code = [2, locals].iter().flat_map(|it| it.to_be_bytes()).collect::<Vec<u8>>();
            code.extend((insns.len() as u32).to_be_bytes());
            code.extend(insns);
            code.extend([0; 4]);
            attributes.push((self.utf8(b"Code")?, code));
        }
        self.methods.push(Method { flags, name, descriptor: number, attributes });
        Some(())
    }

    fn text(&self, number: u16) -> &[u8] {
        let constant = self.pool.get(usize::from(number).wrapping_sub(1));
        constant.and_then(|it| it.get(3..)).unwrap_or_default()
    }

    fn class_at(&self, number: u16) -> &[u8] {
        match self.pool.get(usize::from(number).wrapping_sub(1)).map(Vec::as_slice) {
            Some(&[CLASS, a, b]) => self.text(u16::from_be_bytes([a, b])),
            _ => &[],
        }
    }

    /// Adds a constant and returns its index; `None` if the pool is full.
    fn constant(&mut self, constant: Vec<u8>) -> Option<u16> {
        let number = u16::try_from(self.pool.len() + 1).ok().filter(|it| *it < u16::MAX)?;
        self.pool.push(constant);
        Some(number)
    }

    /// Returns the index of a `CONSTANT_Utf8`, which is added if the pool does not contain it; `None` if the pool is
    /// full.
    fn utf8(&mut self, text: &[u8]) -> Option<u16> {
        let constant = [&[UTF8][..], &u16::try_from(text.len()).ok()?.to_be_bytes()[..], text].concat();
        let known = self.pool.iter().position(|it| *it == constant);
        known.map(|it| it as u16 + 1).or_else(|| self.constant(constant))
    }

    fn class(&mut self, name: &[u8]) -> Option<u16> {
        let name = self.utf8(name)?.to_be_bytes();
        self.constant([&[CLASS], &name[..]].concat())
    }

    fn method_ref(&mut self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<u16> {
        let (name, descriptor) = (self.utf8(name)?.to_be_bytes(), self.utf8(descriptor)?.to_be_bytes());
        let class = self.class(class)?.to_be_bytes();
        let signature = self.constant([&[12], &name[..], &descriptor[..]].concat())?.to_be_bytes();
        self.constant([&[METHOD_REF], &class[..], &signature[..]].concat())
    }
}

/// The first character of a method descriptor's return type; `None` if the descriptor is malformed.
fn result(descriptor: &[u8]) -> Option<u8> {
    let end = descriptor.iter().position(|it| *it == b')')?;
    descriptor.get(end + 1).copied()
}

fn put_attributes(attributes: &[Attribute], out: &mut Vec<u8>) {
    out.extend((attributes.len() as u16).to_be_bytes());
    for (name, content) in attributes {
        out.extend(name.to_be_bytes());
        out.extend((content.len() as u32).to_be_bytes());
        out.extend(content);
    }
}

/// A cursor over bytes: it holds those that have not been read yet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn u1(&mut self) -> Option<u8> {
        self.take(1).map(|it| it[0])
    }

    fn u2(&mut self) -> Option<u16> {
        self.take(2).map(|it| u16::from_be_bytes([it[0], it[1]]))
    }

    fn u4(&mut self) -> Option<u32> {
        self.take(4).map(|it| u32::from_be_bytes([it[0], it[1], it[2], it[3]]))
    }

    fn attributes(&mut self) -> Option<Vec<Attribute>> {
        let n = self.u2()?;
        (0..n)
            .map(|_| {
                let (name, length) = (self.u2()?, self.u4()?);
                Some((name, self.take(length as usize)?.to_vec()))
            })
            .collect()
    }
}
