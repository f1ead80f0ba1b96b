//! The rules of lean lowering, which is used for summaries: which instructions are omitted because they surely raise
//! nothing.

use std::sync::LazyLock;

use classfile::code::Code;
use classfile::descriptor::{Elem, Kind};
use classfile::flags::Flags;
use classfile::insn::{Insn, InvokeOp};
use classfile::names::{ClassName, Name, is_class_name, is_reflective};
use classfile::stack::Walk;

use crate::body::{Expr, Place, Var};

/// Facts about the variables of one method, by which lean lowering ([`super::lower_lean`]) finds the instructions
/// that surely raise nothing.
pub(super) struct Lean {
    /// Whether local 0 always holds `this`.
    keeps_this: bool,
    /// The temporaries that hold arrays of constant length, ascending by number, each with the array type and the
    /// length.
    arrays: Vec<(u32, ClassName, i32)>,
}

/// Returns the empty text that replaces string constants in lean lowering, except names of classes: other texts do not
/// affect what a body raises or what code it may cause to run.
pub(super) fn no_text() -> Name {
    static NAME: LazyLock<Name> = LazyLock::new(|| Name::new(b""));
    *NAME
}

/// Returns whether string constants keep their text: some instruction enters or exits a monitor, and strings may be used
/// as monitors; or some instruction calls a reflective method, and strings may name what the method runs.
pub(super) fn needs_texts(walk: &Walk, code: &Code<'_, '_>) -> bool {
    walk.insns.iter().any(|it| match it.1 {
        Insn::MonitorEnter | Insn::MonitorExit => true,
        Insn::Invoke(InvokeOp::Virtual | InvokeOp::Static, index) => {
            let method = code.pool().method_ref(index).map(|it| it.0);
            method.is_ok_and(|it| is_reflective(it.class().bytes(), it.name().bytes()))
        }
        _ => false,
    })
}

impl Lean {
    /// Returns the initial facts for a method without handlers.
    pub(super) fn new(flags: Flags, walk: &Walk) -> Self {
        let keeps = |it: &Insn| !matches!(it, Insn::Store(_, 0) | Insn::Iinc(0, _));
        let keeps_this = !flags.is_static() && walk.insns.iter().all(|it| keeps(&it.1));
        Lean { keeps_this, arrays: Vec::new() }
    }

    /// Returns whether the value is surely the receiver of the method.
    pub(super) fn is_this(&self, value: Expr) -> bool {
        self.keeps_this && value == Expr::Var(Var::local(0, Kind::Ref))
    }

    /// Records that the temporary `var` holds a new array of type `ty` and length `len`; ignores variables that are
    /// no temporaries.
    pub(super) fn array(&mut self, var: Var, ty: ClassName, len: i32) {
        if let Place::Temp(it) = var.place() {
            self.arrays.push((it, ty, len));
        }
    }

    fn array_in(&self, var: Var) -> Option<(ClassName, i32)> {
        let Place::Temp(temp) = var.place() else { return None };
        let at = self.arrays.binary_search_by_key(&temp, |it| it.0).ok()?;
        self.arrays.get(at).map(|it| (it.1, it.2))
    }

    /// Returns whether storing the value into the array at this index surely raises nothing and loads no class.
    pub(super) fn stores_surely(&self, elem: Elem, array: Var, index: i32, value: Expr) -> bool {
        let Some((ty, len)) = self.array_in(array) else { return false };
        if !(0..len).contains(&index) {
            return false;
        }
        let holds = |class: &[u8]| match ty.bytes() {
            [b'[', b'L', name @ .., b';'] => name == class,
            [b'[', element @ ..] => element == class,
            _ => false,
        };
        match value {
            Expr::Null | Expr::Int(_) | Expr::Long(_) | Expr::Float(_) | Expr::Double(_) => true,
            // The name of a class that is stored may be read elsewhere, to find the class.
            Expr::Str(text) => {
                !is_class_name(text.bytes()) && (holds(b"java/lang/Object") || holds(b"java/lang/String"))
            }
            Expr::Var(it) => {
                elem != Elem::Ref
                    || holds(b"java/lang/Object")
                    || self.array_in(it).is_some_and(|it| holds(it.0.bytes()))
            }
            _ => false,
        }
    }
}
