//! The process-wide, append-only interner of names.
//!
//! Facts hold names instead of constant-pool indices: recompiling one method of a class renumbers the pool, but an
//! equal body must compare equal. Ids are small, cheap to compare, and valid until the process ends. They differ
//! from run to run, so they must not be used for ordering, persisted or printed. To sort names, use
//! [`Name::bytes`].

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU32;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::FxBuildHasher;

use crate::descriptor::{CallShape, FieldType, MemberShape, MethodType, is_field_type};
use crate::intern::Table;
use crate::mutf8;

/// Any string of a class file, as modified UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name(NonZeroU32);

/// A class or array type as named by class constants: `java/lang/Object`, `[I`, `[Lp/C;`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClassName(pub Name);

/// A field or method descriptor (JVMS §4.3): `I`, `(ILjava/lang/String;)V`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Descriptor(pub Name);

/// A field or method as named by constants: class, name and descriptor.
///
/// The reference in a call is the *dispatch name* of that call; a reference with the declaring class identifies a
/// definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemberRef(NonZeroU32);

/// The content of a [`MemberRef`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Member {
    /// The class that the reference names, which need not declare the member.
    pub class: ClassName,
    /// The simple name.
    pub name: Name,
    /// The descriptor.
    pub descriptor: Descriptor,
}

/// A field named by a constant.
pub type FieldRef = MemberRef;
/// A method named by a constant.
pub type MethodRef = MemberRef;

static NAMES: LazyLock<Table<&'static [u8]>> = LazyLock::new(Table::new);
static MEMBERS: LazyLock<Table<KnownMember>> = LazyLock::new(Table::new);

/// A member with the shape of its descriptor. The descriptor is parsed only once for all class files that name the
/// member.
#[derive(Clone, Copy)]
struct KnownMember {
    member: Member,
    /// The high and low half of the [`MemberShape`]. Two halves avoid 8-byte alignment, because there are many
    /// members.
    shape: [u32; 2],
}

impl KnownMember {
    fn new(member: Member) -> Self {
        let MemberShape(shape) = MemberShape::of(member.descriptor.bytes());
        KnownMember { member, shape: [(shape >> 32) as u32, shape as u32] }
    }
}

/// Returns a 32-bit hash in which both the high and the low bits are mixed.
fn hash_of(it: &(impl Hash + ?Sized)) -> u32 {
    let hash = FxBuildHasher.hash_one(it);
    (hash ^ hash >> 32) as u32
}

/// Copies `bytes` to memory that lives as long as the process; one allocation holds many strings.
fn keep(bytes: &[u8]) -> &'static [u8] {
    const BLOCK: usize = 1 << 16;
    static FREE: Mutex<&'static mut [u8]> = Mutex::new(&mut []);
    if bytes.len() > BLOCK / 8 {
        return Box::leak(bytes.to_vec().into_boxed_slice());
    }
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    if free.len() < bytes.len() {
        *free = Box::leak(vec![0; BLOCK].into_boxed_slice());
    }
    let (mine, rest) = std::mem::take(&mut *free).split_at_mut(bytes.len());
    *free = rest;
    mine.copy_from_slice(bytes);
    mine
}

impl Name {
    /// Returns the interned name with this text. The caller must ensure that `bytes` is modified UTF-8.
    /// [`crate::pool::Pool::name`] checks the bytes before this call.
    pub fn new(bytes: &[u8]) -> Self {
        Name(NAMES.intern(hash_of(bytes), |it| *it == bytes, || keep(bytes)))
    }

    /// Interns many names. Each text comes with a key, and `done` is called with the key and the name.
    pub(crate) fn new_all<K: Copy>(texts: &[(&[u8], K)], mut done: impl FnMut(K, Self)) {
        let keys: Vec<_> = texts.iter().map(|&it| (hash_of(it.0), it)).collect();
        NAMES.intern_all(&keys, |key, it| *it == key.0, |key| keep(key.0), |key, id| done(key.1, Name(id)));
    }

    /// Returns the text as modified UTF-8.
    pub fn bytes(self) -> &'static [u8] {
        NAMES.get(self.0)
    }

    /// Returns the interned id as a number, for the caches that this crate keeps per class.
    pub(crate) fn raw(self) -> u32 {
        self.0.get()
    }

    /// Returns the name whose interned id is `raw`; `None` for 0, which is no id.
    pub(crate) fn from_raw(raw: u32) -> Option<Self> {
        NonZeroU32::new(raw).map(Name)
    }
}

impl ClassName {
    /// Returns the class with this internal name.
    pub fn new(bytes: &[u8]) -> Self {
        ClassName(Name::new(bytes))
    }

    /// Returns the internal name as modified UTF-8.
    pub fn bytes(self) -> &'static [u8] {
        self.0.bytes()
    }

    /// Returns whether the name is that of an array type (`[I`).
    pub fn is_array(self) -> bool {
        self.bytes().first() == Some(&b'[')
    }

    /// Returns the element class of an array type, with all dimensions removed; the class itself if it is no array
    /// type; `None` for arrays of primitives.
    pub fn element(self) -> Option<ClassName> {
        if !self.is_array() {
            return Some(self);
        }
        let text = self.bytes();
        let text = text.iter().position(|&it| it != b'[').and_then(|at| text.get(at..))?;
        text.strip_prefix(b"L").and_then(|it| it.strip_suffix(b";")).map(ClassName::new)
    }

    /// Returns the package, without a slash at its end; empty for the unnamed package.
    pub fn package(self) -> &'static [u8] {
        let bytes = self.bytes();
        bytes.iter().rposition(|&b| b == b'/').map_or(&[], |i| &bytes[..i])
    }
}

impl Descriptor {
    /// Returns the descriptor with this text.
    pub fn new(bytes: &[u8]) -> Self {
        Descriptor(Name::new(bytes))
    }

    /// Returns the text.
    pub fn bytes(self) -> &'static [u8] {
        self.0.bytes()
    }

    /// Returns the parsed method descriptor; `None` if the descriptor is not that of a method.
    pub fn method_type(self) -> Option<MethodType<'static>> {
        MethodType::parse(self.bytes())
    }

    /// Returns the descriptor as a field type; `None` if it is not a field descriptor.
    pub fn field_type(self) -> Option<FieldType<'static>> {
        is_field_type(self.bytes()).then_some(FieldType(self.bytes()))
    }
}

impl FieldType<'_> {
    /// Returns the class or array type that the field descriptor denotes; `None` for a primitive type.
    pub fn class(self) -> Option<ClassName> {
        match self.0 {
            [b'L', name @ .., b';'] => Some(ClassName::new(name)),
            [b'[', ..] => Some(ClassName::new(self.0)),
            _ => None,
        }
    }
}

impl MemberRef {
    /// Returns the member with this class, name and descriptor.
    pub fn new(class: ClassName, name: Name, descriptor: Descriptor) -> Self {
        let member = Member { class, name, descriptor };
        MemberRef(MEMBERS.intern(hash_of(&member), |it| it.member == member, || KnownMember::new(member)))
    }

    /// Returns a small number that identifies the member, for tables that are indexed by members. A member may have
    /// different numbers in different runs of the process.
    pub fn index(self) -> usize {
        self.0.get() as usize
    }

    /// Returns the class, name and descriptor of the member.
    pub fn get(self) -> Member {
        MEMBERS.get(self.0).member
    }

    /// Returns the kinds of a method's parameters and result; `None` if the descriptor is not a method descriptor.
    pub fn call_shape(self) -> Option<CallShape> {
        self.shape().call()
    }

    /// Returns the shape of the descriptor.
    pub(crate) fn shape(self) -> MemberShape {
        let [high, low] = MEMBERS.get(self.0).shape;
        MemberShape(u64::from(high) << 32 | u64::from(low))
    }

    /// Interns many members. Each member comes with a key, and `done` is called with the key and the reference.
    pub(crate) fn new_all<K: Copy>(members: &[(Member, K)], mut done: impl FnMut(K, Self)) {
        let keys: Vec<_> = members.iter().map(|&it| (hash_of(&it.0), it)).collect();
        MEMBERS.intern_all(
            &keys,
            |key, it| it.member == key.0,
            |key| KnownMember::new(key.0),
            |key, id| done(key.1, MemberRef(id)),
        );
    }

    /// Returns the class that the reference names.
    pub fn class(self) -> ClassName {
        self.get().class
    }

    /// Returns the simple name.
    pub fn name(self) -> Name {
        self.get().name
    }

    /// Returns the descriptor.
    pub fn descriptor(self) -> Descriptor {
        self.get().descriptor
    }

    /// Returns the interned id as a number, for the caches that this crate keeps per class.
    pub(crate) fn raw(self) -> u32 {
        self.0.get()
    }

    /// Returns the member whose interned id is `raw`; `None` for 0, which is no id.
    pub(crate) fn from_raw(raw: u32) -> Option<Self> {
        NonZeroU32::new(raw).map(MemberRef)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        mutf8::Shown(self.bytes()).fmt(f)
    }
}

impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for MemberRef {
    /// Formats a method as `p/C.m(I)V`, a field as `p/C.f:I`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let it = self.get();
        let colon = if it.descriptor.bytes().first() == Some(&b'(') { "" } else { ":" };
        write!(f, "{}.{}{colon}{}", it.class, it.name, it.descriptor)
    }
}

macro_rules! debug_as_display {
    ($($ty:ty),*) => { $(impl fmt::Debug for $ty {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "{self}") }
    })* };
}
debug_as_display!(Name, ClassName, Descriptor, MemberRef);

/// Returns whether a text has the form of the binary name of a class in a package or of a nested class (JLS §13.1), such
/// as `p.A` or `A$B`.
pub fn is_class_name(text: &[u8]) -> bool {
    let is_part = |part: &[u8]| {
        part.first().is_some_and(|it| !it.is_ascii_digit())
            && part.iter().all(|&it| it.is_ascii_alphanumeric() || it == b'_' || it == b'$' || it >= 0x80)
    };
    text.iter().any(|it| matches!(it, b'.' | b'$')) && text.split(|&it| it == b'.').all(is_part)
}

/// Returns whether the platform's method with this class and name runs code that its caller may have named by strings: it
/// initialises a class, creates an object by reflection, or invokes a member or method handle.
pub fn is_reflective(class: &[u8], name: &[u8]) -> bool {
    let names: &[&[u8]] = match class {
        b"java/lang/Class" => &[b"forName", b"newInstance"],
        b"java/lang/reflect/Method" => &[b"invoke"],
        b"java/lang/reflect/Constructor" => &[b"newInstance"],
        b"java/lang/invoke/MethodHandle" => &[b"invoke", b"invokeExact", b"invokeWithArguments"],
        b"java/lang/invoke/MethodHandles$Lookup" => &[b"ensureInitialized"],
        _ => &[],
    };
    names.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_text_has_one_id_from_any_thread() {
        let ids: Vec<Vec<Name>> = std::thread::scope(|s| {
            let jobs: Vec<_> = (0..4)
                .map(|_| s.spawn(|| (0..5000).map(|i| Name::new(format!("n{i}").as_bytes())).collect()))
                .collect();
            jobs.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(ids.windows(2).all(|w| w[0] == w[1]));
        assert_eq!(ids[0][4321].bytes(), b"n4321");
    }

    #[test]
    fn interning_many_yields_the_same_ids() {
        let texts: Vec<String> = (0..100).map(|i| format!("many{}", i % 60)).collect();
        let alone: Vec<Name> = texts.iter().step_by(3).map(|it| Name::new(it.as_bytes())).collect();
        let keys: Vec<_> = texts.iter().enumerate().map(|(i, it)| (it.as_bytes(), i)).collect();
        let mut found = vec![None; texts.len()];
        Name::new_all(&keys, |i, it| found[i] = Some(it));
        assert!(found.iter().zip(&texts).all(|(it, text)| it.unwrap().bytes() == text.as_bytes()));
        assert!(found.iter().step_by(3).zip(&alone).all(|(it, alone)| *it == Some(*alone)));
        assert_eq!(found[0], found[60]);
    }

    #[test]
    fn members_are_formatted_as_in_source() {
        let c = ClassName::new(b"p/C");
        let m = MemberRef::new(c, Name::new(b"m"), Descriptor::new(b"(I)V"));
        let f = MemberRef::new(c, Name::new(b"f"), Descriptor::new(b"I"));
        assert_eq!((m.to_string(), f.to_string()), ("p/C.m(I)V".to_owned(), "p/C.f:I".to_owned()));
        assert_eq!(c.package(), b"p");
    }
}
