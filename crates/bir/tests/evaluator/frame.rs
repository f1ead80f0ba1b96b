//! The variables of one call.

use bir::body::{Place, Var};
use rustc_hash::FxHashMap;

use crate::value::{ObjId, Value};

#[derive(Default)]
pub(crate) struct Frame {
    vars: FxHashMap<Place, Value>,
    /// Monitors that this call entered and did not exit, in order.
    pub(crate) monitors: Vec<ObjId>,
}

impl Frame {
    /// The value of the variable, or what is wrong: nothing there, or a value of another kind.
    pub(crate) fn load(&self, var: Var) -> Result<Value, String> {
        match self.vars.get(&var.place()) {
            Some(it) if it.kind() == var.kind() => Ok(*it),
            Some(it) => Err(format!("{var} is read and holds {it:?}")),
            None => Err(format!("{var} is read before it is assigned")),
        }
    }

    /// Stores the value; of two local variables that overlap, the one assigned before is lost.
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

    /// A handler finds nothing on the stack but the exception.
    pub(crate) fn drop_stack(&mut self) {
        self.vars.retain(|place, _| !matches!(place, Place::Stack(_)));
    }
}
