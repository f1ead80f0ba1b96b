//! What queries are asked of that is no input: a class of a library, a method or a call with what is wanted of it. Interned, so that
//! the memo of an answer is found by a number.

// salsa gives each interned struct an undocumented constructor; all that is written here is documented.
#![allow(missing_docs)]

use program::input::ClassFile;

use crate::input::Library;
use crate::whole::receivers::Selector;
use program::names::{MethodName, Text};

/// A class of a library.
#[salsa::interned(debug)]
pub struct LibraryClass<'db> {
    /// The library.
    #[returns(copy)]
    pub library: Library,
    /// The number of the class for the source of the library.
    #[returns(copy)]
    pub entry: u32,
}

/// A question for the reasons of a method.
#[salsa::interned(debug)]
pub struct ReasonQuestion<'db> {
    /// The file of the class that declares the method.
    #[returns(copy)]
    pub class: ClassFile,
    /// The method.
    #[returns(copy)]
    pub method: MethodName,
    /// Only what the instructions at this pc raise, before the handlers around them.
    #[returns(copy)]
    pub pc: Option<u16>,
    /// Only exceptions of this class and its subclasses.
    #[returns(copy)]
    pub only: Option<Text>,
}

/// A question for the receivers of a call.
#[salsa::interned(debug)]
pub struct ReceiverQuestion<'db> {
    /// The file of the class that declares the caller.
    #[returns(copy)]
    pub class: ClassFile,
    /// The caller.
    #[returns(copy)]
    pub caller: MethodName,
    /// Whose objects decide where the call goes.
    #[returns(copy)]
    pub selector: Selector,
    /// The target.
    #[returns(copy)]
    pub target: MethodName,
    /// At most this many receivers.
    #[returns(copy)]
    pub limit: usize,
}
