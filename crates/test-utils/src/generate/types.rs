//! The types that generated programs compute with.

/// The type of a stack slot or local in the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Int,
    Long,
    Float,
    Double,
    Ref(Ref),
}

/// A reference type. A class is given by its index in the generated program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ref {
    Object,
    Str,
    Throwable,
    Array(Elem),
    Class(usize),
}

/// The element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elem {
    Boolean,
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
    Object,
    Str,
    Ints,
    Class(usize),
}

/// A type in a descriptor, including the small types that are ints on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decl {
    Boolean,
    Byte,
    Char,
    Short,
    Val(Ty),
}

impl Ty {
    /// The number of stack slots that a value of this type takes.
    pub(super) fn width(self) -> u16 {
        if matches!(self, Ty::Long | Ty::Double) { 2 } else { 1 }
    }

    /// The position of the type in groups of typed opcodes, such as `iload` to `aload`: int, long, float, double,
    /// reference.
    pub(super) fn family(self) -> u8 {
        match self {
            Ty::Int => 0,
            Ty::Long => 1,
            Ty::Float => 2,
            Ty::Double => 3,
            Ty::Ref(_) => 4,
        }
    }
}

impl Elem {
    /// The type of the value that is pushed when an element is loaded from an array with this element type.
    pub(super) fn ty(self) -> Ty {
        match self {
            Elem::Boolean | Elem::Byte | Elem::Char | Elem::Short | Elem::Int => Ty::Int,
            Elem::Long => Ty::Long,
            Elem::Float => Ty::Float,
            Elem::Double => Ty::Double,
            Elem::Object => Ty::Ref(Ref::Object),
            Elem::Str => Ty::Ref(Ref::Str),
            Elem::Ints => Ty::Ref(Ref::Array(Elem::Int)),
            Elem::Class(it) => Ty::Ref(Ref::Class(it)),
        }
    }

    /// The distance from `iaload` to the load opcode for this element type, and from `iastore` to its store opcode
    /// (the order is i l f d a b c s, JVMS §6.5).
    pub(super) fn access(self) -> u8 {
        match self {
            Elem::Int => 0,
            Elem::Long => 1,
            Elem::Float => 2,
            Elem::Double => 3,
            Elem::Object | Elem::Str | Elem::Ints | Elem::Class(_) => 4,
            Elem::Boolean | Elem::Byte => 5,
            Elem::Char => 6,
            Elem::Short => 7,
        }
    }

    /// The operand of `newarray` for this element type; `None` for references.
    pub(super) fn primitive(self) -> Option<i32> {
        Some(match self {
            Elem::Boolean => 4,
            Elem::Char => 5,
            Elem::Float => 6,
            Elem::Double => 7,
            Elem::Byte => 8,
            Elem::Short => 9,
            Elem::Int => 10,
            Elem::Long => 11,
            _ => return None,
        })
    }
}

impl Decl {
    /// The type of an operand-stack entry that holds a value of this type.
    pub(super) fn ty(self) -> Ty {
        match self {
            Decl::Val(it) => it,
            _ => Ty::Int,
        }
    }
}
