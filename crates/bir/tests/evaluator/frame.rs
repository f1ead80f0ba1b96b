//! The variables of one call.

use bir::body::{Place, Var};
use rustc_hash::FxHashMap;

use crate::value::{ObjId, Value};

#[derive(Default)]
pub(crate) struct Frame {
    vars: FxHashMap<Place, Value>,
    /// The monitors that this call has entered and not exited, in order.
    pub(crate) monitors: Vec<ObjId>,
}

impl Frame {
    /// Returns the value of the variable, or the fault: it has no value, or one of another kind.
    pub(crate) fn load(&self, var: Var) -> Result<Value, String> {
        match self.vars.get(&var.place()) {
            Some(it) if it.kind() == var.kind() => Ok(*it),
            Some(it) => Err(format!("{var} is read and holds {it:?}")),
            None => Err(format!("{var} is read before it is assigned")),
        }
    }

    /// Stores the value; an overlapping local variable loses its value.
    pub(crate) fn store(&mut self, var: Var, value: Value) -> Result<(), String> {
        if value.kind() != var.kind() {
            return Err(format!("{var} is assigned {value:?}"));
        }
        if let Place::Local(slot) = var.place() {
            if value.kind().words() == 2 {
                self.vars.remove(&Place::Local(slot.wrapping_add(1)));
            }
            let before = Place::Local(slot.wrapping_sub(1));
            if slot > 0 && self.vars.get(&before).is_some_and(|it| it.kind().words() == 2) {
                self.vars.remove(&before);
            }
        }
        self.vars.insert(var.place(), value);
        Ok(())
    }

    /// Clears the stack: a handler starts with the exception only.
    pub(crate) fn drop_stack(&mut self) {
        self.vars.retain(|place, _| !matches!(place, Place::Stack(_)));
    }
}
