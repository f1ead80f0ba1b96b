//! The vocabulary of the generator: types of values, variables in scope, and what the program declares so far.

use std::collections::BTreeMap;

use test_utils::rng::Rng;

/// The type of a value in a generated program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Ty {
    /// An own functional interface, whose method may throw anything.
    Act,
    Run,
    Sup,
    Fun,
    Obj,
    Str,
    Chars,
    Cmp,
    Boxed,
    Err,
    Thr,
    /// An abstract class with a template method.
    Tmp,
    /// A sealed interface.
    Shape,
    /// An own generic container.
    Lst,
    /// A resource for try-with-resources.
    Res,
}

/// All types, the often used ones several times.
const TYPES: [Ty; 22] = [
    Ty::Act,
    Ty::Act,
    Ty::Act,
    Ty::Act,
    Ty::Run,
    Ty::Run,
    Ty::Sup,
    Ty::Fun,
    Ty::Obj,
    Ty::Obj,
    Ty::Obj,
    Ty::Str,
    Ty::Chars,
    Ty::Cmp,
    Ty::Boxed,
    Ty::Err,
    Ty::Err,
    Ty::Thr,
    Ty::Tmp,
    Ty::Shape,
    Ty::Lst,
    Ty::Res,
];

/// The types whose methods let out no checked exception as far as javac knows.
pub(crate) const QUIET: [Ty; 8] = [Ty::Run, Ty::Sup, Ty::Fun, Ty::Obj, Ty::Obj, Ty::Str, Ty::Chars, Ty::Cmp];

impl Ty {
    /// The type in Java.
    pub(crate) fn java(self) -> &'static str {
        match self {
            Ty::Act => "Act",
            Ty::Run => "Runnable",
            Ty::Sup => "Supplier<Object>",
            Ty::Fun => "Function<Object, Object>",
            Ty::Obj => "Object",
            Ty::Str => "String",
            Ty::Chars => "CharSequence",
            Ty::Cmp => "Comparable<Object>",
            Ty::Boxed => "Integer",
            Ty::Err => "RuntimeException",
            Ty::Thr => "Throwable",
            Ty::Tmp => "Template",
            Ty::Shape => "Shape",
            Ty::Lst => "Lst<Act>",
            Ty::Res => "AutoCloseable",
        }
    }

    /// Whether a variable of this type may hold values of `other`.
    pub(crate) fn accepts(self, other: Ty) -> bool {
        self == other
            || match self {
                Ty::Obj => true,
                Ty::Chars => other == Ty::Str,
                Ty::Thr => other == Ty::Err,
                Ty::Act => matches!(other, Ty::Shape | Ty::Tmp),
                _ => false,
            }
    }
}

/// A variable, parameter or field in scope.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    /// Whether it is never assigned again, so that lambdas may capture it.
    pub(crate) is_final: bool,
}

/// What code at a place may use.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) vars: Vec<Var>,
    /// An expression for the depth of recursion that is left.
    pub(crate) depth: String,
    /// Whether the code may throw checked exceptions.
    pub(crate) checked: bool,
    /// Whether the code is in an instance method of a class that is an `Act`.
    pub(crate) this: bool,
}

impl Scope {
    /// A scope without variables.
    pub(crate) fn new(depth: &str, checked: bool) -> Scope {
        Scope { vars: Vec::new(), depth: depth.to_owned(), checked, this: false }
    }

    /// The scope of a lambda or anonymous class in this one.
    pub(crate) fn inner(&self, depth: &str, checked: bool) -> Scope {
        let vars = self.vars.iter().filter(|it| it.is_final).cloned().collect();
        let depth = if depth.is_empty() { "1".to_owned() } else { depth.to_owned() };
        Scope { vars, depth, checked, this: false }
    }

    pub(crate) fn add(&mut self, name: &str, ty: Ty, is_final: bool) {
        self.vars.push(Var { name: name.to_owned(), ty, is_final });
    }
}

/// An exception class.
#[derive(Clone, Debug)]
pub(crate) struct Thrown {
    pub(crate) name: String,
    /// Whether javac lets it be thrown anywhere.
    pub(crate) is_unchecked: bool,
    /// Whether it is a `RuntimeException`.
    pub(crate) is_runtime: bool,
    /// The numbers of the classes above it.
    pub(crate) above: Vec<usize>,
    /// The parameter of the constructor.
    pub(crate) takes: Option<Ty>,
}

/// What the code of one program may contain. Each program has few kinds of values and constructs, because the answers about
/// calls on unknown objects contain so much that they would hide a fault elsewhere in the method.
#[derive(Clone, Debug)]
pub(crate) struct Taste {
    /// The types of values, the often used ones several times.
    pub(crate) types: Vec<Ty>,
    /// Those of them whose methods let out no checked exception as far as javac knows.
    pub(crate) quiet: Vec<Ty>,
    /// How likely constructs are that lead to calls on unknown objects, in percent.
    pub(crate) wild: u32,
    /// Whether exceptions have messages, causes and overridden methods, are passed, and thrown without declaration.
    pub(crate) odd: bool,
}

impl Taste {
    /// A random taste.
    pub(crate) fn new(rng: &mut Rng) -> Taste {
        let wild = rng.one([1, 6, 25]);
        let odd = rng.chance(40);
        let mut types = vec![Ty::Act, Ty::Act];
        types.extend(TYPES.iter().filter(|it| !matches!(it, Ty::Err | Ty::Thr) || odd));
        let mut kept: Vec<Ty> = Vec::new();
        for (i, it) in types.iter().enumerate() {
            let is_kept = if kept.contains(it) || (i > 0 && types[..i].contains(it)) {
                kept.contains(it)
            } else {
                rng.chance(40)
            };
            if is_kept {
                kept.push(*it);
            }
        }
        if !kept.contains(&Ty::Act) && !kept.contains(&Ty::Run) {
            kept.push(Ty::Act);
        }
        let mut quiet: Vec<Ty> = QUIET.iter().copied().filter(|it| kept.contains(it)).collect();
        if quiet.is_empty() {
            quiet.push(Ty::Run);
        }
        Taste { types: kept, quiet, wild, odd }
    }
}

/// A way to make values: a class with the parameters of its constructor, or a constant.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) types: Vec<Ty>,
    /// The class, or the whole expression if `takes` is `None`.
    pub(crate) text: String,
    pub(crate) takes: Option<Vec<Ty>>,
}

/// A method that other code calls.
#[derive(Clone, Debug)]
pub(crate) struct Helper {
    pub(crate) name: String,
    /// The class and the parameters of its constructor, if it is an instance method.
    pub(crate) on: Option<(String, Vec<Ty>)>,
    /// The parameters; `None` for those of primitive types.
    pub(crate) takes: Vec<Option<Ty>>,
    /// The type of the variable arguments.
    pub(crate) varargs: Option<Ty>,
    pub(crate) returns: Option<Ty>,
}

/// A generated program: one Java package.
pub(crate) struct Program {
    /// The name of the package.
    pub(crate) package: String,
    /// The source of the class `Main`, which contains all others.
    pub(crate) source: String,
    /// For each entry method, the methods of `Main` that it calls itself.
    pub(crate) entries: Vec<Vec<String>>,
    /// How often each kind of construct was made.
    pub(crate) shapes: BTreeMap<&'static str, usize>,
}
