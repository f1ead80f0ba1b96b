//! Random programs of every shape of class that rules about calls distinguish: what types inherit from each other, who may
//! use what, who initialises whom. Bodies are short and straight, so what a call lets out tells where it went.
//!
//! A method of a program throws an exception of a class, or calls one other method. An initialiser fails when the number
//! in `Control.k` is its own. So a run on a JVM shows one way through the program at a time, and all runs together show
//! what each call may do: exactly that, for who knows all classes.
//!
//! The methods `m` and `k` are of interfaces and public everywhere: where others hide such a method, HotSpot does not do
//! what the JVMS says (see `program/tests/resolution/generate.rs`). `n` is of classes only, `h` private, `s` static.

mod cases;
mod choose;
mod counts;
mod text;

pub use cases::{Run, RunGroup};

use crate::asm::{AsmError, Assembled};

/// A program. It can be [changed](Structure::change), as somebody does who edits one class after the other.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The package below which all lies.
    root: String,
    types: Vec<Type>,
    exceptions: Vec<Exception>,
    functions: Vec<FunctionObject>,
    calls: Vec<Call>,
}

/// A class or interface. It names as supertypes only such as come before it.
#[derive(Clone, Debug)]
struct Type {
    kind: TypeKind,
    /// `p` or `q`.
    package: char,
    is_public: bool,
    is_abstract: bool,
    version: u16,
    parent: Option<usize>,
    interfaces: Vec<usize>,
    /// Whether it lists its subtypes.
    is_sealed: bool,
    /// The class that it names as the host of its nest, and whether that lists it.
    host: Option<(usize, bool)>,
    has_initializer: bool,
    methods: Vec<Method>,
    /// What its constructor with a parameter does after its superclass's.
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
    /// What it never lets out, of a method that is not written yet.
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

/// What code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Nothing,
    /// Throws a new exception.
    Throw(usize),
    /// Calls the method of the same name of a direct supertype.
    Super(usize),
    /// Calls a method of this name on `this`.
    OnThis(char),
    /// The same with another object of a class below in local 0.
    OnReplaced(usize, char),
    /// Calls the private method of an object that it makes.
    Private(usize),
    /// Calls the static method of a type.
    Static(usize),
}

/// A class that can be thrown, below an earlier one or one of the platform.
#[derive(Clone, Debug)]
struct Exception {
    parent: Result<usize, &'static str>,
}

/// A function object with a method of an interface.
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

/// A method that makes one call.
#[derive(Clone, Debug)]
struct Call {
    /// The type that has the method; else a class of its own in this package.
    at: Result<usize, char>,
    kind: CallKind,
    /// A row around the call, and whether its handler throws again what it catches. Only in a class of its own.
    catches: Option<(usize, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    /// On an object that it is given.
    Virtual(usize, char),
    Static(usize),
    /// Makes an object, with the constructor that has a parameter or the other one.
    New(usize, bool),
    /// The private method of an object that it makes.
    Private(usize),
    /// Throws what it is given.
    Raise(usize),
}

const CONTROL: &str = "Control";

impl Structure {
    /// The class files: one for each type, exception and call, and what makes objects.
    ///
    /// # Errors
    /// What the assembler says; nothing, unless this generator is wrong.
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

    /// The classes of the platform that programs name, with what these use of them, for who does not read a JDK.
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

    /// Whether `it` can have objects.
    fn is_concrete(&self, it: usize) -> bool {
        !self.is_interface(it) && !self.types[it].is_abstract
    }

    fn supers(&self, it: usize) -> impl Iterator<Item = usize> + '_ {
        let it = &self.types[it];
        it.parent.into_iter().chain(it.interfaces.iter().copied())
    }

    /// The types above, itself first, in no order.
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
