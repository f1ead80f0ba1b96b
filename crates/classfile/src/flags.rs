//! Access flags (JVMS §4.1-B, §4.5-A, §4.6-A).

/// The access flags of a class, field or method, as in the class file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Flags(pub u16);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident $test:ident = $bit:literal;)*) => {
        impl Flags {
            $($(#[$doc])* pub const $name: Flags = Flags($bit);
            $(#[$doc])* pub fn $test(self) -> bool { self.0 & $bit != 0 })*
        }
    };
}
flags! {
    /// `ACC_PUBLIC`.
    PUBLIC is_public = 0x0001;
    /// `ACC_PRIVATE`.
    PRIVATE is_private = 0x0002;
    /// `ACC_PROTECTED`.
    PROTECTED is_protected = 0x0004;
    /// `ACC_STATIC`.
    STATIC is_static = 0x0008;
    /// `ACC_FINAL`.
    FINAL is_final = 0x0010;
    /// `ACC_SYNCHRONIZED` of a method; the same bit is `ACC_SUPER` of a class.
    SYNCHRONIZED is_synchronized = 0x0020;
    /// `ACC_VOLATILE` of a field; the same bit is `ACC_BRIDGE` of a method.
    VOLATILE is_volatile = 0x0040;
    /// `ACC_BRIDGE` of a method.
    BRIDGE is_bridge = 0x0040;
    /// `ACC_NATIVE` of a method.
    NATIVE is_native = 0x0100;
    /// `ACC_INTERFACE` of a class.
    INTERFACE is_interface = 0x0200;
    /// `ACC_ABSTRACT`.
    ABSTRACT is_abstract = 0x0400;
    /// `ACC_SYNTHETIC`.
    SYNTHETIC is_synthetic = 0x1000;
    /// `ACC_ANNOTATION` of a class.
    ANNOTATION is_annotation = 0x2000;
    /// `ACC_ENUM`.
    ENUM is_enum = 0x4000;
    /// `ACC_MODULE` of a class: the file is a `module-info`.
    MODULE is_module = 0x8000;
}
