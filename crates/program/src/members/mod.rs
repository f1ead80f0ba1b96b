//! Resolution, selection and access control of fields and methods (JVMS §5.4.3 to §5.4.6).
//!
//! Each function implements one step of the JVM and no more: [`resolve::resolve_method`] and
//! [`resolve::resolve_field`] search; [`access`] checks whether the member found may be used; [`select::select`]
//! returns the method that runs for a receiver's class, and [`select::special_target`] the method that
//! `invokespecial` runs. Checks that belong to an instruction, such as whether a member is static, are left to the
//! caller.
//!
//! If a search meets an absent class before it ends, the answer is unknown. The answer then also holds the result for
//! the case that neither the absent class nor its supertypes declare the member. The methods of `java/lang/Object`
//! are known by name without its class file. All functions need outlines with private members.

pub mod access;
pub mod declared;
mod maximal;
pub mod resolve;
pub mod select;

use classfile::names::{ClassName, Descriptor, Name};

use crate::hierarchy::{ClassId, Hierarchy};
use crate::outline::{Field, Method};

/// A declared method. The id is valid in one [`Hierarchy`] only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MethodId {
    /// The declaring class.
    pub class: ClassId,
    /// The index of the method in [`crate::outline::Outline::methods`].
    pub index: u32,
}

/// A declared field. The id is valid in one [`Hierarchy`] only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldId {
    /// The declaring class.
    pub class: ClassId,
    /// The index of the field in [`crate::outline::Outline::fields`].
    pub index: u32,
}

impl MethodId {
    /// Returns the id of the method with index `index` in [`crate::outline::Outline::methods`] of `class`.
    pub fn new(class: ClassId, index: usize) -> Self {
        MethodId { class, index: index as u32 }
    }

    /// Returns the declaration; `None` only if the id belongs to another hierarchy.
    pub fn of(self, hierarchy: &Hierarchy) -> Option<&Method> {
        hierarchy.outline(self.class).methods.get(self.index as usize)
    }
}

impl FieldId {
    /// Returns the declaration; `None` only if the id belongs to another hierarchy.
    pub fn of(self, hierarchy: &Hierarchy) -> Option<&Field> {
        hierarchy.outline(self.class).fields.get(self.index as usize)
    }
}

/// The result of method resolution (JVMS §5.4.3.3, §5.4.3.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResolvedMethod {
    /// The resolved method. Whether the caller may access the method has not been checked.
    Method(MethodId),
    /// A signature-polymorphic method (JVMS §2.9.3): references to this method may have any descriptor.
    SignaturePolymorphic(MethodId),
    /// Resolution fails with this error.
    Error(LinkError),
    /// The result depends on an absent class.
    Unknown {
        /// The absent class: the class that the reference names, or the first absent class that the search reached.
        outside: ClassName,
        /// The method to which the reference resolves if the absent class neither declares nor inherits a method with
        /// this name and descriptor; `None` if resolution then fails.
        beyond: Option<MethodId>,
    },
}

/// The result of field resolution (JVMS §5.4.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResolvedField {
    /// The resolved field. Whether the referring class may access the field has not been checked.
    Field(FieldId),
    /// Resolution fails with this error.
    Error(LinkError),
    /// The result depends on an absent class.
    Unknown {
        /// The absent class: the class that the reference names, or the first absent class that the search reached.
        outside: ClassName,
        /// The field to which the reference resolves if the absent class neither declares nor inherits a field with
        /// this name and descriptor; `None` if resolution then fails.
        beyond: Option<FieldId>,
    },
}

/// The result of method selection for the class of a receiver (JVMS §5.4.6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Selected {
    /// The selected method.
    Method(MethodId),
    /// Selection fails with this error.
    Error(LinkError),
    /// The result depends on an absent class.
    Unknown {
        /// The first absent class that the search reached.
        outside: ClassName,
        /// The method that is selected if the absent class neither declares nor inherits a method with this name and
        /// descriptor; `None` if selection then fails.
        beyond: Option<MethodId>,
    },
}

/// The error with which the resolution of a reference, the selection of a method or the creation of an object fails.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LinkError {
    /// The method does not exist.
    NoSuchMethod,
    /// The field does not exist.
    NoSuchField,
    /// The member or class is of another kind than the instruction requires.
    IncompatibleClassChange,
    /// Several maximally-specific superinterface methods have code: `IncompatibleClassChangeError`. For
    /// `invokeinterface`, HotSpot 17 throws the subclass `AbstractMethodError` instead, so callers must expect any
    /// subclass.
    ConflictingDefaults,
    /// The class that refers to the member may not access the member.
    IllegalAccess,
    /// The selected method has no code.
    AbstractMethod,
    /// The class cannot be instantiated (JVMS §6.5 *new*).
    Instantiation,
    /// The class that the instruction or its reference names is absent.
    NoClassDefFound,
    /// The class cannot be loaded because it extends a final class or overrides a final method, and the release is
    /// unknown: `IncompatibleClassChangeError`, before Java 16 `VerifyError` (JVMS §5.3.5).
    Final,
    /// The class cannot be loaded for the same reason, before Java 16.
    FinalBefore16,
    /// The class cannot be loaded because it is its own supertype (JVMS §5.3.5).
    Circularity,
}

impl LinkError {
    /// Returns the internal name of the exception class that the JVM throws for this error.
    pub fn exception(self) -> &'static str {
        match self {
            LinkError::NoSuchMethod => "java/lang/NoSuchMethodError",
            LinkError::NoSuchField => "java/lang/NoSuchFieldError",
            LinkError::IncompatibleClassChange | LinkError::ConflictingDefaults | LinkError::Final => {
                "java/lang/IncompatibleClassChangeError"
            }
            LinkError::FinalBefore16 => "java/lang/VerifyError",
            LinkError::Circularity => "java/lang/ClassCircularityError",
            LinkError::IllegalAccess => "java/lang/IllegalAccessError",
            LinkError::AbstractMethod => "java/lang/AbstractMethodError",
            LinkError::Instantiation => "java/lang/InstantiationError",
            LinkError::NoClassDefFound => "java/lang/NoClassDefFoundError",
        }
    }
}

/// The result of a search for a method in a class and its supertypes: the method, if one was found, and the absent
/// class, if any, that could change the result.
#[derive(Clone, Copy, Default)]
struct Found {
    method: Option<MethodId>,
    outside: Option<ClassName>,
}

/// Returns whether the method of `java/lang/Object` with this name and descriptor is public; `None` if
/// `java/lang/Object` declares no such method in any release. The answer is built in and does not depend on a class
/// file.
fn of_object(name: Name, descriptor: Descriptor) -> Option<bool> {
    match (name.bytes(), descriptor.bytes()) {
        (b"getClass", b"()Ljava/lang/Class;")
        | (b"hashCode", b"()I")
        | (b"equals", b"(Ljava/lang/Object;)Z")
        | (b"toString", b"()Ljava/lang/String;")
        | (b"notify" | b"notifyAll", b"()V")
        | (b"wait", b"()V" | b"(J)V" | b"(JI)V") => Some(true),
        (b"clone", b"()Ljava/lang/Object;")
        | (b"finalize" | b"registerNatives" | b"<init>" | b"<clinit>", b"()V")
        | (b"wait0", b"(J)V") => Some(false),
        _ => None,
    }
}
