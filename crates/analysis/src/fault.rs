//! The reason why a class or method cannot be read, as plain data for the crates above this one.

use std::fmt;

use classfile::error::Malformed;

/// The reason why a class or method cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The error text, without a full stop.
    pub what: String,
    /// The offset of the fault in the class file, in bytes.
    pub offset: u32,
    /// The number of the violated section of the JVMS, for example `4.7.3`.
    pub jvms: &'static str,
}

impl From<Malformed> for Fault {
    fn from(it: Malformed) -> Self {
        let mut what = it.to_string();
        // The text of `Malformed` ends with the offset and the section, which are fields here.
        if let Some(at) = what.rfind(" (at byte ") {
            what.truncate(at);
        }
        Fault { what, offset: it.offset, jvms: it.jvms }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {}, JVMS §{})", self.what, self.offset, self.jvms)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_fault_displays_like_the_error_that_it_was_made_from() {
        let it = Malformed::new(12, "4.7.3", classfile::error::Fault::Opcode(0xcb));
        let text = it.to_string();
        let fault = Fault::from(it);
        assert_eq!(fault.to_string(), text);
        assert_eq!(fault.what, "opcode 0xcb does not exist");
    }
}
