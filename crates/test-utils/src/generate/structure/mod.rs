//! Random programs with every shape of class that the rules about calls distinguish: what types inherit from each
//! other, who may use what, who initialises whom. Bodies are short and without loops, so the exceptions of a call
//! show where it went.
//!
//! A method of a program throws an exception of a certain class, or calls one other method. An initialiser fails if
//! the number in `Control.k` is its own. A run on a JVM thus shows one path through the program, and all runs
//! together show what each call may do. If all classes are known, they show exactly that.
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

/// A random program. It can be [changed](Structure::change), as by a programmer who edits one class after another.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The package that contains all packages of the program.
    root: String,
    types: Vec<Type>,
    exceptions: Vec<Exception>,
    functions: Vec<FunctionObject>,
    calls: Vec<Call>,
}

/// A class or interface. All its supertypes in the program come before it.
#[derive(Clone, Debug)]
struct Type {
    kind: TypeKind,
    /// The last part of the package: `p` or `q`.
    package: char,
    is_public: bool,
    is_abstract: bool,
    version: u16,
    parent: Option<usize>,
    interfaces: Vec<usize>,
    /// Whether the type is sealed, so that it lists its subtypes.
    is_sealed: bool,
    /// The class that the type names as its nest host, and whether that class lists the type as a member.
    host: Option<(usize, bool)>,
    has_initializer: bool,
    methods: Vec<Method>,
    /// The body of the constructor with a parameter, after the call of the superclass's constructor.
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
    /// For a ghost: the exceptions that it promises never to throw.
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

/// The code of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Nothing,
    /// Throws a new exception.
    Throw(usize),
    /// Calls the method of the same name in a direct supertype.
    Super(usize),
    /// Calls the method of this name on `this`.
    OnThis(char),
    /// Like `OnThis`, after another object of a subclass was stored to local 0.
    OnReplaced(usize, char),
    /// Creates an object and calls its private method.
    Private(usize),
    /// Calls the static method of a type.
    Static(usize),
}

/// A throwable class whose superclass is an earlier one or a class of the platform.
#[derive(Clone, Debug)]
struct Exception {
    parent: Result<usize, &'static str>,
}

/// A function object for a method of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FunctionObject {
    interface: usize,
    name: char,
    code: FunctionCode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FunctionCode {
    /// A lambda that throws.
    Lambda(usize),
    /// `object::method`.
    Bound(usize, char),
    /// `Class::new`.
    New(usize),
}

/// A method that contains one call.
#[derive(Clone, Debug)]
struct Call {
    /// The type that contains the method; otherwise the package of a separate class that contains it.
    at: Result<usize, char>,
    kind: CallKind,
    /// A row around the call, and whether its handler rethrows the exception. Only in separate classes.
    catches: Option<(usize, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    /// A call on an object that is passed to the method.
    Virtual(usize, char),
    Static(usize),
    /// Creates an object, with the constructor that has a parameter or with the other one.
    New(usize, bool),
    /// Creates an object and calls its private method.
    Private(usize),
    /// Throws the exception that is passed to the method.
    Raise(usize),
}

const CONTROL: &str = "Control";

impl Structure {
    /// Assembles the class files: one for each type, exception and call, and the factories.
    ///
    /// # Errors
    /// The error of the assembler, which only a bug in this generator can cause.
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

    /// The classes of the platform that programs name, with the members that they use, for tests that read no JDK.
    ///
    /// # Errors
    /// See [`Structure::classes`].
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

    /// Whether the type can have objects of its own.
    fn is_concrete(&self, it: usize) -> bool {
        !self.is_interface(it) && !self.types[it].is_abstract
    }

    fn supers(&self, it: usize) -> impl Iterator<Item = usize> + '_ {
        let it = &self.types[it];
        it.parent.into_iter().chain(it.interfaces.iter().copied())
    }

    /// The type and its supertypes, the type first, the others in no particular order.
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
