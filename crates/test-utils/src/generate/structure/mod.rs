//! Random programs with every shape of class that the rules about calls distinguish: what types inherit from each
//! other, who may use what, who initialises whom. Bodies are short and without loops, so the exceptions that a call
//! throws show where it went.
//!
//! A method of a program throws an exception of a certain class, or calls one other method. Each initialiser has a
//! number, and fails if `Control.k` is this number. One run on a JVM thus shows one path through the program, and all
//! runs together show what each call may do. If all classes are known, the runs show exactly that.
//!
//! The methods `m` and `k` belong to interfaces and are public everywhere, because HotSpot deviates from the JVMS
//! where other methods hide such a method (see `program/tests/resolution/generate.rs`). `n` belongs to classes only,
//! `h` is private, `s` is static.

mod cases;
mod choose;
mod counts;
mod text;

pub use cases::{Run, RunGroup};

use crate::asm::{AsmError, Assembled};

/// A random program. [`Structure::change`] edits the program as a programmer would, one class after another.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The package that contains all packages of the program.
    root: String,
    types: Vec<Type>,
    exceptions: Vec<Exception>,
    functions: Vec<FunctionObject>,
    calls: Vec<Call>,
}

/// A class or interface. All its supertypes in the program have smaller indices.
#[derive(Clone, Debug)]
struct Type {
    kind: TypeKind,
    /// The last part of the package name: `p` or `q`.
    package: char,
    is_public: bool,
    is_abstract: bool,
    version: u16,
    parent: Option<usize>,
    interfaces: Vec<usize>,
    /// Whether the type is sealed, so that it lists its subtypes as permitted.
    is_sealed: bool,
    /// The type that this type names as its nest host, and whether that host lists this type as a member; `None` if
    /// this type names no nest host.
    host: Option<(usize, bool)>,
    has_initializer: bool,
    methods: Vec<Method>,
    /// What the constructor with a parameter does after the call of the superclass's constructor; `None` if there is
    /// no such constructor.
    constructor: Option<Body>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypeKind {
    Interface,
    Class,
    Record,
}

#[derive(Clone, Debug)]
struct Method {
    name: char,
    visible: Visible,
    is_static: bool,
    is_abstract: bool,
    /// The exceptions that the method promises never to throw, if it is a ghost; `None` for other methods.
    ghost: Option<Vec<usize>>,
    body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visible {
    Public,
    Protected,
    Package,
    Private,
}

/// What a method does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Nothing,
    /// Throws a new exception of the class with this index.
    Throw(usize),
    /// Calls the method of the same name in a direct supertype.
    Super(usize),
    /// Calls the method of this name on `this`.
    OnThis(char),
    /// Stores another object, of the given subclass, to local 0; then calls the method of this name on it.
    OnReplaced(usize, char),
    /// Creates an object of the type, and calls its private method `h`.
    Private(usize),
    /// Calls the static method `s` of the type.
    Static(usize),
}

/// A throwable class. Its superclass is an earlier class of the program, or a class of the platform.
#[derive(Clone, Debug)]
struct Exception {
    parent: Result<usize, &'static str>,
}

/// A function object that implements a method of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FunctionObject {
    interface: usize,
    name: char,
    code: FunctionCode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FunctionCode {
    /// A lambda that throws a new exception of this class.
    Lambda(usize),
    /// The method reference `object::method`: the class of the object, and the name of the method.
    Bound(usize, char),
    /// The method reference `Class::new`.
    New(usize),
}

/// A method that makes one call, or throws its parameter instead.
#[derive(Clone, Debug)]
struct Call {
    /// The type that contains the method (`Ok`), or the package of a separate class that contains the method (`Err`).
    at: Result<usize, char>,
    kind: CallKind,
    /// The class caught by a row around the call, and whether the handler rethrows the exception; `None` if there is
    /// no row. Only methods in separate classes have a row.
    catches: Option<(usize, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    /// Calls the method of this name on the parameter of the method that contains the call; the parameter has this
    /// type.
    Virtual(usize, char),
    Static(usize),
    /// Creates an object of the type: by the constructor with a parameter if the flag is set, otherwise by the one
    /// without.
    New(usize, bool),
    /// Creates an object of the type, and calls its private method `h`.
    Private(usize),
    /// Throws the parameter of the method that contains this code; the parameter is an exception of this class.
    Raise(usize),
}

const CONTROL: &str = "Control";

impl Structure {
    /// Assembles all classes of the program: the types, the exception classes, the class `Control`, a factory class
    /// for each package, whose methods create the receivers of calls, and for each call a class whose methods start
    /// the runs of the call.
    ///
    /// # Errors
    /// Fails if the assembler fails, which only a bug in this generator can cause.
    pub fn classes(&self) -> Result<Vec<Assembled>, AsmError> {
        let mut acc = Vec::new();
        for text in self.texts() {
            acc.extend(crate::asm::assemble(&text)?);
        }
        let ghosts = self.ghosts();
        for it in &mut acc {
            let prefix = format!("{}.", it.name);
            if ghosts.keys().any(|method| method.starts_with(&prefix)) {
                it.bytes = crate::ghosts::with_ghosts(&it.bytes, &ghosts);
            }
        }
        Ok(acc)
    }

    /// Assembles the classes of the platform that programs use, with the members that they use, for tests that read
    /// no JDK.
    ///
    /// # Errors
    /// Fails if the assembler fails, which only a bug in this generator can cause.
    pub fn platform() -> Result<Vec<Assembled>, AsmError> {
        let mut acc = Vec::new();
        for text in text::platform() {
            acc.extend(crate::asm::assemble(&text)?);
        }
        Ok(acc)
    }

    fn is_interface(&self, it: usize) -> bool {
        self.types[it].kind == TypeKind::Interface
    }

    /// Whether the type can have direct instances.
    fn is_concrete(&self, it: usize) -> bool {
        !self.is_interface(it) && !self.types[it].is_abstract
    }

    fn supers(&self, it: usize) -> impl Iterator<Item = usize> + '_ {
        let it = &self.types[it];
        it.parent.into_iter().chain(it.interfaces.iter().copied())
    }

    /// The type and all its supertypes: the type first, the supertypes in no particular order.
    fn above(&self, it: usize) -> Vec<usize> {
        let (mut acc, mut at) = (vec![it], 0);
        while let Some(&next) = acc.get(at) {
            let new: Vec<usize> = self.supers(next).filter(|it| !acc.contains(it)).collect();
            acc.extend(new);
            at += 1;
        }
        acc
    }

    fn concrete_below(&self, of: usize) -> Vec<usize> {
        (0..self.types.len()).filter(|&it| self.is_concrete(it) && self.above(it).contains(&of)).collect()
    }

    fn method(&self, it: usize, name: char) -> Option<&Method> {
        self.types[it].methods.iter().find(|it| it.name == name)
    }

    fn children(&self, of: usize) -> Vec<usize> {
        (0..self.types.len()).filter(|&it| self.supers(it).any(|it| it == of)).collect()
    }
}
