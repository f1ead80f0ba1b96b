//! The keys of queries that are not about an input: about a class of a library, a method or a call. Keys are
//! interned, so that a memo is found by a number.

// salsa gives each interned struct an undocumented constructor; all items written here are documented.
#![allow(missing_docs)]

use program::input::ClassFile;

use crate::input::Library;
use crate::whole::receivers::Selector;
use program::names::{MethodName, Text};

/// A class of a library.
#[salsa::interned(debug)]
pub struct LibraryClass<'db> {
    /// The library that contains the class.
    #[returns(copy)]
    pub library: Library,
    /// The entry number of the class in the library's source.
    #[returns(copy)]
    pub entry: u32,
}

/// A question for the reasons why a method, or the instructions at a pc, let out exceptions.
#[salsa::interned(debug)]
pub struct ReasonQuestion<'db> {
    /// The file of the class that declares the method.
    #[returns(copy)]
    pub class: ClassFile,
    /// The method that the question is about.
    #[returns(copy)]
    pub method: MethodName,
    /// The pc of the instructions that the question is about, ignoring handlers; `None` if the question is about the
    /// whole method.
    #[returns(copy)]
    pub pc: Option<u16>,
    /// The class of exceptions that the question is about, with its subclasses; `None` if the question is about all
    /// exceptions.
    #[returns(copy)]
    pub only: Option<Text>,
}

/// A question for the receiver classes that make a call go to a target.
#[salsa::interned(debug)]
pub struct ReceiverQuestion<'db> {
    /// The file of the class that declares the caller.
    #[returns(copy)]
    pub class: ClassFile,
    /// The method that contains the call.
    #[returns(copy)]
    pub caller: MethodName,
    /// The objects whose classes decide where the call goes: receivers, or function objects.
    #[returns(copy)]
    pub selector: Selector,
    /// The method that the call may run.
    #[returns(copy)]
    pub target: MethodName,
    /// The maximum number of receivers to return.
    #[returns(copy)]
    pub limit: usize,
}
