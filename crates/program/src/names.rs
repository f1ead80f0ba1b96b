//! The names of classes and methods, as machines and people read them.
//!
//! Machines get `p/C.m(I)V`, the text of the class file. People get `p.C.m(int)`. Names are sequences of UTF-16
//! units that need not be valid Unicode, so they stay in modified UTF-8 until output is written.

use std::fmt;

use classfile::descriptor::{FieldType, MethodType};
use classfile::mutf8::{self, Shown};
use classfile::names::{ClassName, Descriptor, Member, MethodRef, Name};

/// A text from a class file, as modified UTF-8. The bytes live as long as the process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(pub &'static [u8]);

/// A method, given by its class, its simple name and its descriptor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodName {
    /// The internal name of the class: `java/lang/Object`.
    pub class: Text,
    /// The simple name of the method.
    pub name: Text,
    /// The descriptor of the method: `(I)V`.
    pub descriptor: Text,
}

/// Displays a method as people write it: `p.C.m(int,java.lang.String)`.
#[derive(Clone, Copy)]
pub struct Human(pub MethodName);

/// Displays a method with its return type: `p.C.m(int): java.lang.Object`. For methods that would read alike without
/// it, such as bridges.
#[derive(Clone, Copy)]
pub struct WithResult(pub MethodName);

impl Text {
    /// Returns the UTF-16 units of the text.
    pub fn units(self) -> impl Iterator<Item = u16> {
        mutf8::units(self.0)
    }
}

impl MethodName {
    /// Returns the class, name and descriptor of an interned method reference as texts.
    pub fn of(method: MethodRef) -> Self {
        let it = method.get();
        MethodName {
            class: Text(it.class.bytes()),
            name: Text(it.name.bytes()),
            descriptor: Text(it.descriptor.bytes()),
        }
    }

    /// Reads the form in which machine-readable answers name methods: `p/C.m(I)V`. Returns `None` for another text.
    pub fn read(text: &str) -> Option<Self> {
        let (owner, descriptor) = text.split_at(text.find('(')?);
        let (class, name) = owner.rsplit_once('.')?;
        let [class, name, descriptor] = [class, name, descriptor].map(str::as_bytes);
        Some(MethodName::of(MethodRef::new(
            ClassName::new(class),
            Name::new(name),
            Descriptor::new(descriptor),
        )))
    }

    /// Interns the texts of the class, the name and the descriptor, and returns them as one member reference.
    pub fn names(self) -> Member {
        Member {
            class: ClassName::new(self.class.0),
            name: Name::new(self.name.0),
            descriptor: Descriptor::new(self.descriptor.0),
        }
    }

    /// Appends the method in the form that people read, `p.C.m(int)`, as modified UTF-8. The patterns that users
    /// write for methods are matched against this form.
    pub fn human_bytes(&self, out: &mut Vec<u8>) {
        class_bytes(self.class.0, out);
        out.push(b'.');
        out.extend(self.name.0);
        self.params_bytes(out);
    }

    /// Appends the method's parameter list in the form that people read, with parentheses, as modified UTF-8.
    pub fn params_bytes(&self, out: &mut Vec<u8>) {
        let Some(ty) = MethodType::parse(self.descriptor.0) else {
            out.extend(self.descriptor.0);
            return;
        };
        out.push(b'(');
        for (i, param) in ty.params().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            type_bytes(param, out);
        }
        out.push(b')');
    }
}

/// Appends an internal class name in the form that people read: `p.C` for `p/C`.
fn class_bytes(name: &[u8], out: &mut Vec<u8>) {
    out.extend(name.iter().map(|&b| if b == b'/' { b'.' } else { b }));
}

/// Appends a field type in the form that people read, such as `int` or `java.lang.String[]`.
fn type_bytes(ty: FieldType<'_>, out: &mut Vec<u8>) {
    let dims = ty.0.iter().take_while(|&&b| b == b'[').count();
    match &ty.0[dims..] {
        [b'L', name @ .., b';'] => class_bytes(name, out),
        primitive => out.extend_from_slice(match primitive {
            b"B" => b"byte",
            b"C" => b"char",
            b"D" => b"double",
            b"F" => b"float",
            b"I" => b"int",
            b"J" => b"long",
            b"S" => b"short",
            b"Z" => b"boolean",
            other => other,
        }),
    }
    (0..dims).for_each(|_| out.extend(b"[]"));
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(self.0).fmt(f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}{}", self.class, self.name, self.descriptor)
    }
}

impl fmt::Debug for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for WithResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(64);
        self.0.human_bytes(&mut bytes);
        if let Some(ty) = MethodType::parse(self.0.descriptor.0) {
            bytes.extend(b": ");
            match ty.ret() {
                Some(it) => type_bytes(it, &mut bytes),
                None => bytes.extend(b"void"),
            }
        }
        Shown(&bytes).fmt(f)
    }
}

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(64);
        self.0.human_bytes(&mut bytes);
        Shown(&bytes).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_source_names() {
        let id = MethodName {
            class: Text(b"p/C$D"),
            name: Text(b"m"),
            descriptor: Text(b"(I[[Ljava/lang/String;J)V"),
        };
        assert_eq!(Human(id).to_string(), "p.C$D.m(int,java.lang.String[][],long)");
        assert_eq!(id.to_string(), "p/C$D.m(I[[Ljava/lang/String;J)V");
        assert_eq!(WithResult(id).to_string(), "p.C$D.m(int,java.lang.String[][],long): void");
    }

    #[test]
    fn a_descriptor_that_is_none_is_shown_as_it_is() {
        let id = MethodName { class: Text(b"C"), name: Text(b"m"), descriptor: Text(b"(Q)V") };
        assert_eq!(Human(id).to_string(), "C.m(Q)V");
    }
}
