//! What is wrong with a class file, where, and which rule of the JVMS it breaks.

use std::fmt;

/// A place in a class file that cannot be read as the JVMS demands.
///
/// It costs the smallest thing that holds it: a class when the structure is broken, a method when only
/// its body is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Byte offset from the start of the class file.
    pub offset: u32,
    /// The section of the JVMS that is not kept, as in `4.7.3`.
    pub jvms: &'static str,
    /// What is wrong there.
    pub fault: Fault,
}

/// The ways in which class-file bytes can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end before the thing that starts here does.
    Truncated {
        /// Bytes that the thing needs.
        need: u64,
        /// Bytes that are left.
        have: u64,
    },
    /// The first four bytes are not `CAFEBABE`.
    Magic(u32),
    /// A major version that no JVM ever had.
    Version(u16),
    /// A constant-pool tag that does not exist.
    Tag(u8),
    /// A constant-pool index that is zero, out of range, or in the middle of a long or double.
    PoolIndex(u16),
    /// A constant of the wrong kind.
    PoolKind {
        /// The index that led here.
        index: u16,
        /// The kind that the place demands.
        want: &'static str,
    },
    /// A string that is not modified UTF-8.
    Utf8,
    /// A name or descriptor that does not follow its grammar.
    Grammar(&'static str),
    /// Bytes left over after the end.
    Trailing(u64),
    /// An opcode that does not exist or may not stand here.
    Opcode(u8),
    /// Anything else; the text completes "the class file …".
    Other(&'static str),
    /// Same, with a number.
    OtherAt(&'static str, i64),
}

impl Malformed {
    /// A fault at `offset` against section `jvms`.
    pub fn new(offset: usize, jvms: &'static str, fault: Fault) -> Self {
        Malformed { offset: u32::try_from(offset).unwrap_or(u32::MAX), jvms, fault }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Truncated { need, have } => write!(f, "needs {need} bytes, {have} are left")?,
            Fault::Magic(it) => write!(f, "starts with {it:08x}, not cafebabe")?,
            Fault::Version(it) => write!(f, "major version {it} does not exist")?,
            Fault::Tag(it) => write!(f, "constant-pool tag {it} does not exist")?,
            Fault::PoolIndex(it) => write!(f, "constant-pool index {it} does not exist")?,
            Fault::PoolKind { index, want } => write!(f, "constant {index} is not a {want}")?,
            Fault::Utf8 => write!(f, "string is not modified UTF-8")?,
            Fault::Grammar(it) => write!(f, "malformed {it}")?,
            Fault::Trailing(it) => write!(f, "{it} bytes left over")?,
            Fault::Opcode(it) => write!(f, "opcode {it:#04x} does not exist")?,
            Fault::Other(it) => f.write_str(it)?,
            Fault::OtherAt(it, n) => write!(f, "{it} {n}")?,
        }
        write!(f, " (at byte {}, JVMS §{})", self.offset, self.jvms)
    }
}

impl std::error::Error for Malformed {}

/// Result of reading class-file bytes.
pub type Result<T> = std::result::Result<T, Malformed>;
