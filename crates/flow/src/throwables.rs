//! The throwable classes whose objects the VM itself raises, their superclasses, and subtype queries.
//!
//! The superclasses of these classes are known without reading any class file: only the JDK defines packages below
//! `java`, and JVMS §2.10, §5.4 and §6.5 name the classes. All other queries go through [`Subtypes`], whose answers
//! may be unknown.

use std::sync::LazyLock;

use bir::body::Check;
use classfile::names::ClassName;
use rustc_hash::FxHashMap;

/// A three-valued answer to the question whether a property holds, where some classes are not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// The property holds, whatever the unknown classes are.
    Yes,
    /// The property does not hold, whatever the unknown classes are.
    No,
    /// Whether the property holds depends on an unknown class.
    Unknown,
}

/// Answers subtype queries about classes that extend `java/lang/Throwable`.
pub trait Subtypes {
    /// Returns whether class `sub` is `sup` or a subclass of `sup`. Neither of them may be an array type or an
    /// interface.
    fn is_subtype(&self, sub: ClassName, sup: ClassName) -> Answer;
}

/// The throwable classes of `java.lang` that the VM raises, each with its superclass; superclasses come before their
/// subclasses.
const TREE: &[(&str, &str)] = &[
    ("Throwable", "Object"),
    ("Error", "Throwable"),
    ("Exception", "Throwable"),
    ("RuntimeException", "Exception"),
    ("ArithmeticException", "RuntimeException"),
    ("ArrayStoreException", "RuntimeException"),
    ("ClassCastException", "RuntimeException"),
    ("IllegalMonitorStateException", "RuntimeException"),
    ("IndexOutOfBoundsException", "RuntimeException"),
    ("ArrayIndexOutOfBoundsException", "IndexOutOfBoundsException"),
    ("NegativeArraySizeException", "RuntimeException"),
    ("NullPointerException", "RuntimeException"),
    ("LinkageError", "Error"),
    ("BootstrapMethodError", "LinkageError"),
    ("ClassCircularityError", "LinkageError"),
    ("ClassFormatError", "LinkageError"),
    ("UnsupportedClassVersionError", "ClassFormatError"),
    ("ExceptionInInitializerError", "LinkageError"),
    ("IncompatibleClassChangeError", "LinkageError"),
    ("AbstractMethodError", "IncompatibleClassChangeError"),
    ("IllegalAccessError", "IncompatibleClassChangeError"),
    ("InstantiationError", "IncompatibleClassChangeError"),
    ("NoSuchFieldError", "IncompatibleClassChangeError"),
    ("NoSuchMethodError", "IncompatibleClassChangeError"),
    ("NoClassDefFoundError", "LinkageError"),
    ("UnsatisfiedLinkError", "LinkageError"),
    ("VerifyError", "LinkageError"),
    ("ThreadDeath", "Error"),
    ("VirtualMachineError", "Error"),
    ("InternalError", "VirtualMachineError"),
    ("OutOfMemoryError", "VirtualMachineError"),
    ("StackOverflowError", "VirtualMachineError"),
    ("UnknownError", "VirtualMachineError"),
];

/// The interned names of classes of `java.lang` that the analyses of this crate use.
#[derive(Clone, Copy, Debug)]
pub struct WellKnown {
    /// `java/lang/Object`.
    pub object: ClassName,
    /// `java/lang/String`.
    pub string: ClassName,
    /// `java/lang/Class`.
    pub class: ClassName,
    /// `java/lang/Throwable`.
    pub throwable: ClassName,
    /// `java/lang/Error`.
    pub error: ClassName,
    /// `java/lang/NullPointerException`.
    pub null_pointer: ClassName,
    /// `java/lang/ArrayIndexOutOfBoundsException`.
    pub array_index: ClassName,
    /// `java/lang/ArrayStoreException`.
    pub array_store: ClassName,
    /// `java/lang/ArithmeticException`.
    pub arithmetic: ClassName,
    /// `java/lang/NegativeArraySizeException`.
    pub negative_size: ClassName,
    /// `java/lang/ClassCastException`.
    pub class_cast: ClassName,
    /// `java/lang/IllegalMonitorStateException`.
    pub monitor_state: ClassName,
    /// `java/lang/NoClassDefFoundError`.
    pub no_class_def: ClassName,
    /// `java/lang/ExceptionInInitializerError`.
    pub initializer: ClassName,
    /// `java/lang/BootstrapMethodError`.
    pub bootstrap: ClassName,
}

impl WellKnown {
    /// Returns the interned class of the exception that a failed check raises; [`Check::exception`] returns its name.
    pub fn raised_by(&self, check: Check) -> ClassName {
        match check {
            Check::NotNull(_) => self.null_pointer,
            Check::Bound(..) => self.array_index,
            Check::Store(..) => self.array_store,
            Check::NotZero(..) => self.arithmetic,
            Check::NotNegative(_) => self.negative_size,
            Check::Cast(..) => self.class_cast,
        }
    }
}

/// Returns the class names that analyses of this crate use. The names are interned once per process.
pub fn well_known() -> &'static WellKnown {
    static NAMES: LazyLock<WellKnown> = LazyLock::new(|| WellKnown {
        object: java_lang("Object"),
        string: java_lang("String"),
        class: java_lang("Class"),
        throwable: java_lang("Throwable"),
        error: java_lang("Error"),
        null_pointer: java_lang("NullPointerException"),
        array_index: java_lang("ArrayIndexOutOfBoundsException"),
        array_store: java_lang("ArrayStoreException"),
        arithmetic: java_lang("ArithmeticException"),
        negative_size: java_lang("NegativeArraySizeException"),
        class_cast: java_lang("ClassCastException"),
        monitor_state: java_lang("IllegalMonitorStateException"),
        no_class_def: java_lang("NoClassDefFoundError"),
        initializer: java_lang("ExceptionInInitializerError"),
        bootstrap: java_lang("BootstrapMethodError"),
    });
    &NAMES
}

fn java_lang(simple: &str) -> ClassName {
    ClassName::new([b"java/lang/", simple.as_bytes()].concat().as_slice())
}

/// Returns the direct superclass of a throwable class that the VM raises; `None` for every other class.
pub fn built_in_parent(class: ClassName) -> Option<ClassName> {
    static PARENTS: LazyLock<FxHashMap<ClassName, ClassName>> =
        LazyLock::new(|| TREE.iter().map(|&(sub, sup)| (java_lang(sub), java_lang(sup))).collect());
    PARENTS.get(&class).copied()
}

/// Returns the throwable classes that the VM raises, each after its superclass.
pub fn built_ins() -> impl Iterator<Item = ClassName> {
    TREE.iter().map(|it| java_lang(it.0))
}

/// Answers subtype queries for the throwable classes that the VM raises, whose superclasses are built in, and for one
/// further class, whose superclass the caller supplies.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn {
    /// The further class and its direct superclass, usually from the class file of the analysed method; `None` if
    /// there is no further class.
    pub own: Option<(ClassName, ClassName)>,
}

impl Subtypes for BuiltIn {
    fn is_subtype(&self, sub: ClassName, sup: ClassName) -> Answer {
        let names = well_known();
        if sub == sup || sup == names.throwable || sup == names.object {
            return Answer::Yes;
        }
        let mut at = match self.own {
            Some((class, parent)) if class == sub => parent,
            _ => sub,
        };
        if at != sup && built_in_parent(at).is_none() {
            return Answer::Unknown;
        }
        while at != sup {
            match built_in_parent(at) {
                Some(parent) => at = parent,
                None => return Answer::No,
            }
        }
        Answer::Yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(own: Option<(&[u8], &[u8])>, sub: &[u8], sup: &[u8]) -> Answer {
        let own = own.map(|it| (ClassName::new(it.0), ClassName::new(it.1)));
        BuiltIn { own }.is_subtype(ClassName::new(sub), ClassName::new(sup))
    }

    #[test]
    fn chains_of_built_ins_are_completely_known() {
        let aioobe = b"java/lang/ArrayIndexOutOfBoundsException";
        assert_eq!(ask(None, aioobe, b"java/lang/RuntimeException"), Answer::Yes);
        assert_eq!(ask(None, aioobe, b"java/lang/Throwable"), Answer::Yes);
        assert_eq!(ask(None, aioobe, b"java/lang/Error"), Answer::No);
        assert_eq!(ask(None, aioobe, b"p/E"), Answer::No);
        assert_eq!(ask(None, b"java/lang/RuntimeException", aioobe), Answer::No);
    }

    #[test]
    fn other_classes_are_unknown_except_for_what_holds_of_all() {
        assert_eq!(ask(None, b"p/E", b"java/lang/RuntimeException"), Answer::Unknown);
        assert_eq!(ask(None, b"p/E", b"p/E"), Answer::Yes);
        assert_eq!(ask(None, b"p/E", b"java/lang/Throwable"), Answer::Yes);
    }

    #[test]
    fn the_header_of_one_class_adds_one_link() {
        let own: Option<(&[u8], &[u8])> = Some((b"p/E", b"java/lang/Error"));
        assert_eq!(ask(own, b"p/E", b"java/lang/Error"), Answer::Yes);
        assert_eq!(ask(own, b"p/E", b"java/lang/Exception"), Answer::No);
        let own: Option<(&[u8], &[u8])> = Some((b"p/E", b"p/D"));
        assert_eq!(ask(own, b"p/E", b"p/D"), Answer::Yes);
        assert_eq!(ask(own, b"p/E", b"java/lang/Exception"), Answer::Unknown);
    }

    #[test]
    fn every_parent_in_the_tree_is_in_the_tree() {
        for (i, (sub, sup)) in TREE.iter().enumerate() {
            assert!(*sup == "Object" || TREE[..i].iter().any(|it| it.0 == *sup), "{sub} extends {sup}");
        }
    }
}
