//! The keys of queries that are not about an input: about a class of a library, a method or a call. Keys are
//! interned, so that a memo is found by a number.

// salsa gives each interned struct an undocumented constructor; all items written here are documented.
#![allow(missing_docs)]

use program::input::ClassFile;

use crate::input::Library;
use crate::whole::receivers::Selector;
use program::names::{MethodName, Text};

/// The key of a class of a library, for the query that reads its code.
#[salsa::interned(debug)]
pub struct LibraryClass<'db> {
    /// The library that contains the class.
    #[returns(copy)]
    pub library: Library,
    /// The entry number of the class in the library's [`ClassSource`](crate::input::ClassSource).
    #[returns(copy)]
    pub entry: u32,
}

/// The key of a question: why does a method let out exceptions, or why do the instructions at a pc raise them?
#[salsa::interned(debug)]
pub struct ReasonQuestion<'db> {
    /// The file of the class that declares the method.
    #[returns(copy)]
    pub class: ClassFile,
    /// The method that the question is about.
    #[returns(copy)]
    pub method: MethodName,
    /// The pc of the instructions that the question is about; `None` if the question is about the whole method. With
    /// a pc, the question is about exceptions before any handler catches them.
    #[returns(copy)]
    pub pc: Option<u16>,
    /// The exception class to which the question is limited, with its subclasses; `None` if the question is about all
    /// exceptions.
    #[returns(copy)]
    pub only: Option<Text>,
}

/// The key of a question: which classes of receivers make a call go to a target?
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
