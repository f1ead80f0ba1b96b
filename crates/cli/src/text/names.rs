//! The names of methods in text output. Methods that differ only in their return type, such as bridges, are printed
//! with it.

use ide::{Human, MethodName, WithResult};

/// Prints methods. The field tells which methods would read like another method of their class.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a>(pub(crate) &'a dyn Fn(MethodName) -> bool);

/// Prints all methods without their return type.
pub(crate) const PLAIN: Names<'static> = Names(&|_| false);

impl Names<'_> {
    /// Returns the name of the method: `p.C.m(int)`, or `p.C.m(int): void` if it would read like another method.
    pub(crate) fn of(self, it: MethodName) -> String {
        if (self.0)(it) { WithResult(it).to_string() } else { Human(it).to_string() }
    }
}
