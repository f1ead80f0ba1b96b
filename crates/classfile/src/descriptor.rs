//! Field and method descriptors (JVMS §4.3) and the computational kinds of values (§2.11.1).

/// The computational kind of a value: the content of an operand-stack entry or a local variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Kind {
    /// `int`, and all narrower types.
    Int,
    /// `long`, two words.
    Long,
    /// `float`.
    Float,
    /// `double`, two words.
    Double,
    /// A reference, or null.
    Ref,
}

impl Kind {
    /// Returns the number of words that a value of this kind takes, 1 or 2: its computational type category (JVMS
    /// §2.11.1).
    #[inline]
    pub fn words(self) -> u16 {
        if matches!(self, Kind::Long | Kind::Double) { 2 } else { 1 }
    }

    /// Returns the kind `k` for which `k as u8` is `number`; `None` if there is no such kind.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Ref].get(usize::from(number)).copied()
    }

    /// Returns the letter that begins the names of instructions on this kind: one of `i l f d a`.
    pub fn letter(self) -> char {
        match self {
            Kind::Int => 'i',
            Kind::Long => 'l',
            Kind::Float => 'f',
            Kind::Double => 'd',
            Kind::Ref => 'a',
        }
    }

    /// Returns the kind whose letter is `letter`; `None` if there is no such kind. The inverse of [`Kind::letter`].
    pub fn from_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'i' => Kind::Int,
            'l' => Kind::Long,
            'f' => Kind::Float,
            'd' => Kind::Double,
            'a' => Kind::Ref,
            _ => return None,
        })
    }
}

/// The element types that array instructions distinguish; `byte` and `boolean` share `baload` and `bastore`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Elem {
    /// `byte` or `boolean` (`baload`, `bastore`).
    Byte,
    /// `char`.
    Char,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A reference.
    Ref,
}

impl Elem {
    /// Returns the computational kind of the value that is pushed when an element is loaded from an array with this
    /// element type: int for `byte`, `boolean`, `char` and `short`.
    #[inline]
    pub fn kind(self) -> Kind {
        match self {
            Elem::Byte | Elem::Char | Elem::Short | Elem::Int => Kind::Int,
            Elem::Long => Kind::Long,
            Elem::Float => Kind::Float,
            Elem::Double => Kind::Double,
            Elem::Ref => Kind::Ref,
        }
    }

    /// Returns the keyword of the element type in BIR text.
    pub fn word(self) -> &'static str {
        match self {
            Elem::Byte => "byte",
            Elem::Char => "char",
            Elem::Short => "short",
            Elem::Int => "int",
            Elem::Long => "long",
            Elem::Float => "float",
            Elem::Double => "double",
            Elem::Ref => "ref",
        }
    }
}

/// One type within a descriptor, as text: `I`, `Lp/C;`, `[[J`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldType<'a>(pub &'a [u8]);

impl FieldType<'_> {
    /// Returns the computational kind of a value of this type: int for `boolean`, `byte`, `char` and `short`.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.0.first() {
            Some(b'J') => Kind::Long,
            Some(b'F') => Kind::Float,
            Some(b'D') => Kind::Double,
            Some(b'L' | b'[') => Kind::Ref,
            _ => Kind::Int,
        }
    }
}

/// A parsed method descriptor.
#[derive(Clone, Copy, Debug)]
pub struct MethodType<'a> {
    params: &'a [u8],
    ret: &'a [u8],
}

impl<'a> MethodType<'a> {
    /// Parses a method descriptor `(params)ret`; returns `None` if `text` is not one.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let rest = text.strip_prefix(b"(")?;
        let mut params = rest;
        while params.first() != Some(&b')') {
            params = &params[type_len(params)?..];
        }
        let ret = &params[1..];
        let whole = ret == b"V" || type_len(ret)? == ret.len();
        whole.then_some(MethodType { params: &rest[..rest.len() - params.len()], ret })
    }

    /// Returns the parameter types in order, without the receiver.
    pub fn params(self) -> impl Iterator<Item = FieldType<'a>> + Clone {
        let mut rest = self.params;
        std::iter::from_fn(move || {
            let (one, tail) = rest.split_at_checked(type_len(rest)?)?;
            rest = tail;
            Some(FieldType(one))
        })
    }

    /// Returns the result type, or `None` for `void`.
    pub fn ret(self) -> Option<FieldType<'a>> {
        (self.ret != b"V").then_some(FieldType(self.ret))
    }

    /// Returns the number of words that the parameters take, without the receiver.
    pub fn words(self) -> u32 {
        self.params().map(|it| u32::from(it.kind().words())).sum()
    }
}

/// The computational kinds of a call's parameters and of its result, packed into 64 bits, so that they can be cached
/// for each constant of a constant pool.
///
/// ```text
///  63      58   56 55                      5 4        0
/// [ 1 | - | result | parameters, 3 bits each | number   ]
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallShape(u64);

impl CallShape {
    /// The maximum number of parameters that a shape stores; longer parameter lists are not stored.
    const ROOM: usize = 17;
    const COUNT: u64 = 0x1f;
    /// The value that replaces the number of parameters if the parameters are not stored.
    const MANY: u64 = 0x1f;

    /// Returns the shape of the method descriptor `text`; `None` if `text` is not a method descriptor.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut rest = text.strip_prefix(b"(")?;
        let mut bits = 1 << 63;
        let mut n = 0;
        while rest.first() != Some(&b')') {
            let (one, tail) = rest.split_at_checked(type_len(rest)?)?;
            if n < Self::ROOM {
                bits |= (FieldType(one).kind() as u64) << (5 + 3 * n);
            }
            n += 1;
            rest = tail;
        }
        let ret = match &rest[1..] {
            b"V" => 7,
            it if is_field_type(it) => FieldType(it).kind() as u64,
            _ => return None,
        };
        bits |= ret << 56;
        if n > Self::ROOM {
            // An incomplete list of kinds is of no use.
            return Some(CallShape(1 << 63 | ret << 56 | Self::MANY));
        }
        Some(CallShape(bits | n as u64))
    }

    /// Returns the kinds of the parameters, last one first; `None` if there are more parameters than a shape stores.
    pub fn params_from_last(self) -> Option<impl ExactSizeIterator<Item = Kind>> {
        let n = self.0 & Self::COUNT;
        let bits = self.0;
        (n != Self::MANY).then(|| {
            (0..n as usize)
                .rev()
                .map(move |i| Kind::from_number((bits >> (5 + 3 * i) & 7) as u8).unwrap_or(Kind::Int))
        })
    }

    /// Returns the kind of the result; `None` for `void`.
    pub fn ret(self) -> Option<Kind> {
        Kind::from_number((self.0 >> 56 & 7) as u8)
    }
}

/// The shape of a member's descriptor, packed into 64 bits: a [`CallShape`] for a method, the number of the [`Kind`]
/// plus one for a field, 0 for an invalid descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemberShape(pub(crate) u64);

impl MemberShape {
    /// Returns the shape of the descriptor `text`.
    pub(crate) fn of(text: &[u8]) -> Self {
        match CallShape::parse(text) {
            Some(it) => MemberShape(it.0),
            None if is_field_type(text) => MemberShape(FieldType(text).kind() as u64 + 1),
            None => MemberShape(0),
        }
    }

    /// Returns the call shape if the descriptor is a method descriptor; `None` otherwise.
    #[inline]
    pub(crate) fn call(self) -> Option<CallShape> {
        (self.0 >> 63 == 1).then_some(CallShape(self.0))
    }

    /// Returns the kind of the field's value if the descriptor is a field descriptor; `None` otherwise.
    #[inline]
    pub(crate) fn field(self) -> Option<Kind> {
        Kind::from_number(u8::try_from(self.0.checked_sub(1)?).ok()?)
    }
}

/// Returns whether `text` is a field descriptor.
pub fn is_field_type(text: &[u8]) -> bool {
    type_len(text) == Some(text.len())
}

/// Returns the length in bytes of the field type at the start of `text`; `None` if there is no well-formed one.
fn type_len(text: &[u8]) -> Option<usize> {
    let dims = text.iter().position(|&b| b != b'[')?;
    if dims > 255 {
        return None;
    }
    match text[dims] {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => Some(dims + 1),
        b'L' => {
            let name = &text[dims + 1..];
            let end = name.iter().position(|&b| b == b';')?;
            // JVMS §4.2.1: unqualified names are not empty and contain none of `. ; [ /`.
            let fine = end > 0 && !name[..end].iter().any(|&b| b == b'.' || b == b'[');
            fine.then_some(dims + 1 + end + 1)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_descriptor_is_split() {
        let t = MethodType::parse(b"(I[JLjava/lang/String;D)[[Lp/C;").unwrap();
        let params: Vec<_> = t.params().map(|it| String::from_utf8_lossy(it.0).into_owned()).collect();
        assert_eq!(params, ["I", "[J", "Ljava/lang/String;", "D"]);
        assert_eq!(t.words(), 5);
        assert_eq!(t.ret().unwrap().class().unwrap().bytes(), b"[[Lp/C;");
        assert!(MethodType::parse(b"()V").unwrap().ret().is_none());
    }

    #[test]
    fn a_shape_keeps_kinds_until_there_are_too_many() {
        let shape = |text: &str| CallShape::parse(text.as_bytes()).unwrap();
        let it = shape("(IJ[DLp/C;FD)J");
        let kinds: Vec<_> = it.params_from_last().unwrap().map(Kind::letter).collect();
        assert_eq!(kinds, ['d', 'f', 'a', 'a', 'l', 'i']);
        assert_eq!((it.ret(), shape("()V").ret()), (Some(Kind::Long), None));
        assert_eq!(shape(&format!("({})I", "D".repeat(17))).params_from_last().unwrap().len(), 17);
        assert!(shape(&format!("({})I", "D".repeat(18))).params_from_last().is_none());
        assert_eq!(shape(&format!("({})I", "D".repeat(18))).ret(), Some(Kind::Int));
    }

    #[test]
    fn invalid_descriptors_are_refused() {
        for bad in ["", "(", "()", "(V)V", "()VV", "(I", "I", "(L;)V", "(Lp.C;)V", "([)V", "(Lp)V", "()II"] {
            assert!(MethodType::parse(bad.as_bytes()).is_none(), "{bad}");
            assert!(CallShape::parse(bad.as_bytes()).is_none(), "{bad}");
        }
        assert!(is_field_type(&[&[b'['; 255][..], b"I"].concat()));
        assert!(!is_field_type(&[&[b'['; 256][..], b"I"].concat()));
    }
}
