//! An assembler that turns text (`.jasm`) or builder calls into class files.
//!
//! The assembler is an oracle for the decoder, so it shares no code with `classfile`. It checks almost nothing,
//! because tests also need invalid classes. The assembler computes no `StackMapTable`; version 49 (the default) needs
//! none.
//!
//! # The text
//! Each line has one directive or instruction; `//` at the start of a word makes the rest a comment. A word with
//! special characters is quoted, as a whole or in part: `"a b"`, `p/"we.ird".m()V`. The escapes in quotes are
//! `\n \r \t \\ \"` and `\uXXXX`, including unpaired surrogates. Numbers are decimal or `0x…`.
//! ```text
//! .class public super p/A            // flags by name or number, then the name; starts a new class
//! .version 49.0                      // the default
//! .super java/lang/Object            // the default; `.super none` writes index 0
//! .implements p/I
//! .source A.java
//! .signature <T:Ljava/lang/Object;>Ljava/lang/Object;
//! .nesthost p/Host
//! .nestmember p/A$B                  // one line each, collected into one attribute
//! .permits p/B
//! .inner p/A$B p/A B public static   // class, outer or `none`, name or `none`, flags
//! .bootstrap b0 invokestatic p/A.bsm(I)V int 5 "x"      // named; arguments as for `ldc`
//! .attribute Name 0x00ff             // raw; of the class, or (like `.signature`) the last field or open method
//! .field public static f I int 5     // optional constant
//! .method public static m(I)I
//!   .stack 3                         // computed when absent, like `.locals`
//!   .locals 2
//!   .throws p/E
//!   .line 7
//!   .catch p/E from A to B using H   // rows in order; `any`; a place is a label or a raw offset `@12`
//!   .var 0 x I from A to B
//!   .codeattribute Name 0x00
//!   .bytes 0x00b1                    // raw code
//! A: iload_0                         // labels alone or before an instruction
//!   wide iload 0                     // forces the wide form
//!   getfield p/A.f I
//!   invokevirtual p/A.m(I)I          // `invokestatic interface p/I.m()V` for an InterfaceMethodref
//!   ldc int 5                        // int long float double string class methodtype handle dynamic
//!   ldc float 0x7fc00001             // hex digits of a float or double are its bits
//!   ldc "text"
//!   ldc handle invokestatic p/A.m()V // or getfield p/A.f I, …, `interface` before the owner
//!   ldc dynamic b0 name I
//!   invokedynamic b0 name(I)I
//!   tableswitch 3 A B default C      // lowest key, targets
//!   lookupswitch 1:A 9:B default C
//!   multianewarray [[I 2
//!   newarray int
//! .end                               // ends the method
//! ```
//! `goto`, `goto_w`, `jsr`, `jsr_w`, `ldc` and `ldc_w` are encoded as written, except that `ldc` of an index above
//! 255 becomes `ldc_w`.

mod args;
mod attribute;
mod class;
mod code;
mod depth;
mod encode_class;
mod encode_code;
pub mod opcodes;
mod pool;
mod put;
mod slots;
mod text;
mod text_code;
mod words;

pub use attribute::{Attribute, Inner};
pub use class::{Bootstrap, ClassBuilder, FieldDef, MethodDef};
pub use code::{CodeBuilder, Insn, Label, Pos, Row, Var};
pub use pool::{Const, Member, Text};
pub use text::{assemble, parse};

/// An error of the assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsmError {
    /// The line number in the text, counted from 1; 0 if the class was built by a [`ClassBuilder`].
    pub line: u32,
    /// The description of the error.
    pub message: String,
}

impl AsmError {
    fn new(message: impl Into<String>) -> AsmError {
        AsmError { line: 0, message: message.into() }
    }
}

impl std::fmt::Display for AsmError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for AsmError {}

/// A class assembled from text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// The internal name of the class, with unpaired surrogates replaced.
    pub name: String,
    /// The bytes of the class file.
    pub bytes: Vec<u8>,
}
