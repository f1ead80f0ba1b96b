//! Which field or method a name means: resolution, selection and access control (JVMS §5.4.3 to §5.4.6).
//!
//! Each function answers one step of the JVM and no more: [`resolve::resolve_method`] searches, as does
//! [`resolve::resolve_field`]; [`access`] checks whether what was found may be used; [`select::select`] says what
//! runs for a receiver's class, [`select::special_target`] what `invokespecial` runs. Checks that belong to an
//! instruction, such as `static` or not, are the caller's.
//!
//! Where a search passes an absent class before it is at an end the answer is unknown, with what would come out if
//! neither that class nor what is above it declared the member. The methods of `java/lang/Object` are known by name
//! without its class file. All this needs whole outlines: private members matter.

pub mod access;
pub mod declared;
mod maximal;
pub mod resolve;
pub mod select;

use classfile::names::{ClassName, Descriptor, Name};

use crate::hierarchy::{ClassId, Hierarchy};
use crate::outline::{Field, Method};

/// A method as a class declares it. It belongs to one [`Hierarchy`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MethodId {
    /// The class that declares it.
    pub class: ClassId,
    /// Its place in [`crate::outline::Outline::methods`].
    pub index: u32,
}

/// A field as a class declares it. It belongs to one [`Hierarchy`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldId {
    /// The class that declares it.
    pub class: ClassId,
    /// Its place in [`crate::outline::Outline::fields`].
    pub index: u32,
}

impl MethodId {
    /// The method with this index in [`crate::outline::Outline::methods`] of the class.
    pub fn new(class: ClassId, index: usize) -> Self {
        MethodId { class, index: index as u32 }
    }

    /// Its declaration; `None` only if it belongs to another hierarchy.
    pub fn of(self, hierarchy: &Hierarchy) -> Option<&Method> {
        hierarchy.outline(self.class).methods.get(self.index as usize)
    }
}

impl FieldId {
    /// Its declaration; `None` only if it belongs to another hierarchy.
    pub fn of(self, hierarchy: &Hierarchy) -> Option<&Field> {
        hierarchy.outline(self.class).fields.get(self.index as usize)
    }
}

/// Where a method name leads (JVMS §5.4.3.3, §5.4.3.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResolvedMethod {
    /// To this method. Access is not checked yet.
    Method(MethodId),
    /// To a signature-polymorphic one (JVMS §2.9.3), whatever the descriptor.
    SignaturePolymorphic(MethodId),
    /// Nowhere.
    Error(LinkError),
    /// It depends on an absent class.
    Unknown {
        /// The class named, or where the search left the known world.
        outside: ClassName,
        /// What is found if it declares and inherits nothing of the kind.
        beyond: Option<MethodId>,
    },
}

/// Where a field name leads (JVMS §5.4.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResolvedField {
    /// To this field. Access is not checked yet.
    Field(FieldId),
    /// Nowhere.
    Error(LinkError),
    /// It depends on an absent class.
    Unknown {
        /// The class named, or where the search left the known world.
        outside: ClassName,
        /// What is found if it declares and inherits nothing of the kind.
        beyond: Option<FieldId>,
    },
}

/// What runs for the class of a receiver (JVMS §5.4.6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Selected {
    /// This method.
    Method(MethodId),
    /// None.
    Error(LinkError),
    /// It depends on an absent class.
    Unknown {
        /// Where the search left the known world.
        outside: ClassName,
        /// What runs if it declares and inherits nothing of the kind.
        beyond: Option<MethodId>,
    },
}

/// Why linking fails.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LinkError {
    /// There is no such method.
    NoSuchMethod,
    /// There is no such field.
    NoSuchField,
    /// The member or class is of another kind than its user takes it for.
    IncompatibleClassChange,
    /// Several superinterfaces have code for it and none is the most specific. An `IncompatibleClassChangeError`; of
    /// `invokeinterface`, HotSpot 17 makes its subclass `AbstractMethodError`, so count on the cone.
    ConflictingDefaults,
    /// Its user may not access the member.
    IllegalAccess,
    /// What is selected has no code.
    AbstractMethod,
    /// The class has no objects of its own (JVMS §6.5 *new*).
    Instantiation,
    /// The class is absent.
    NoClassDefFound,
}

impl LinkError {
    /// The internal name of the class that the JVM throws.
    pub fn exception(self) -> &'static str {
        match self {
            LinkError::NoSuchMethod => "java/lang/NoSuchMethodError",
            LinkError::NoSuchField => "java/lang/NoSuchFieldError",
            LinkError::IncompatibleClassChange | LinkError::ConflictingDefaults => {
                "java/lang/IncompatibleClassChangeError"
            }
            LinkError::IllegalAccess => "java/lang/IllegalAccessError",
            LinkError::AbstractMethod => "java/lang/AbstractMethodError",
            LinkError::Instantiation => "java/lang/InstantiationError",
            LinkError::NoClassDefFound => "java/lang/NoClassDefFoundError",
        }
    }
}

/// What [`maximal`] and the walks up a chain of superclasses find: a method, and the absent class that could change
/// that.
#[derive(Clone, Copy, Default)]
struct Found {
    method: Option<MethodId>,
    outside: Option<ClassName>,
}

/// Whether `java/lang/Object` declares this method, in some release, and if so whether for everybody: what is not
/// here is not declared there, whether its class file is there or not.
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
