//! Errors of reading a class file: the fault, its position, and the violated rule of the JVMS.

use std::fmt;

/// A place in a class file that violates the JVMS.
///
/// A fault in the body of a method makes only that method unreadable; a fault in the structure of the class makes the
/// whole class unreadable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Byte offset from the start of the class file.
    pub offset: u32,
    /// The violated section of the JVMS, as in `4.7.3`.
    pub jvms: &'static str,
    /// The kind of the fault, with the values that describe it.
    pub fault: Fault,
}

/// The kinds of faults in class-file bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end before the end of the structure that begins at the offset of the fault.
    Truncated {
        /// The number of bytes that the structure needs from the offset of the fault on.
        need: u64,
        /// The number of bytes that are left from the offset of the fault on.
        have: u64,
    },
    /// The first four bytes are not `CAFEBABE`.
    Magic(u32),
    /// A major version that no Java release ever had.
    Version(u16),
    /// A constant-pool tag that does not exist.
    Tag(u8),
    /// A constant-pool index that is zero, out of range, or refers to the second half of a long or double.
    PoolIndex(u16),
    /// A constant of the wrong kind.
    PoolKind {
        /// The index of the constant.
        index: u16,
        /// The kind of constant that is required at this place.
        want: &'static str,
    },
    /// A string that is not modified UTF-8.
    Utf8,
    /// A name or descriptor that violates its grammar; the string names the kind, as in `class name`.
    Grammar(&'static str),
    /// Bytes follow the end of the class file or attribute; the value is the number of these bytes.
    Trailing(u64),
    /// An opcode that does not exist, or is not allowed where it occurs.
    Opcode(u8),
    /// Any other fault, described by the string.
    Other(&'static str),
    /// Any other fault, described by the string and the number after it.
    OtherAt(&'static str, i64),
}

impl Malformed {
    /// Creates a fault at `offset` that violates the section `jvms`.
    pub fn new(offset: usize, jvms: &'static str, fault: Fault) -> Self {
        Malformed { offset: u32::try_from(offset).unwrap_or(u32::MAX), jvms, fault }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Truncated { need, have } => {
                let needed = if *need == 1 { "byte is" } else { "bytes are" };
                write!(
                    f,
                    "the class file or a part of it is cut off: {need} {needed} needed from this position on, but "
                )?;
                match have {
                    0 => f.write_str("none is left")?,
                    1 => f.write_str("only 1 is left")?,
                    _ => write!(f, "only {have} are left")?,
                }
            }
            Fault::Magic(it) => write!(f, "the file starts with {it:08x} instead of cafebabe")?,
            Fault::Version(it) => write!(f, "major version {it} does not exist")?,
            Fault::Tag(it) => write!(f, "constant-pool tag {it} does not exist")?,
            Fault::PoolIndex(it) => write!(f, "constant-pool index {it} does not exist")?,
            Fault::PoolKind { index, want } => write!(f, "the constant with index {index} is not a {want}")?,
            Fault::Utf8 => write!(f, "a string is not modified UTF-8")?,
            Fault::Grammar(it) => write!(f, "malformed {it}")?,
            Fault::Trailing(it) => {
                write!(f, "{it} surplus bytes follow the end of the class file or attribute")?
            }
            Fault::Opcode(it) => write!(f, "opcode {it:#04x} does not exist")?,
            Fault::Other(it) => f.write_str(it)?,
            Fault::OtherAt(it, n) => write!(f, "{it} {n}")?,
        }
        write!(f, " (at byte {}, JVMS §{})", self.offset, self.jvms)
    }
}

impl std::error::Error for Malformed {}

/// The result of reading class-file bytes.
pub type Result<T> = std::result::Result<T, Malformed>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_file_is_said_to_be_cut_off() {
        let text = |need, have| Malformed::new(8, "4.1", Fault::Truncated { need, have }).to_string();
        let begin = "the class file or a part of it is cut off: ";
        let end = " (at byte 8, JVMS §4.1)";
        assert_eq!(
            text(1, 0),
            format!("{begin}1 byte is needed from this position on, but none is left{end}")
        );
        assert_eq!(
            text(4, 1),
            format!("{begin}4 bytes are needed from this position on, but only 1 is left{end}")
        );
        assert_eq!(
            text(4, 3),
            format!("{begin}4 bytes are needed from this position on, but only 3 are left{end}")
        );
    }
}
