//! The state that instructions and library methods work on: classes, objects, the trace.

use classfile::mutf8;
use classfile::names::{ClassName, Name};
use rustc_hash::FxHashMap;

use crate::value::{Heap, ObjId, Payload, Value};
use crate::world::World;

/// The reason why an instruction did not end normally.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An exception of the program.
    Throw(ObjId),
    /// A violation of BIR's rules, or something that the evaluator does not support.
    Abort(String),
}

pub(crate) type Step<T> = Result<T, Stop>;

pub(crate) fn abort<T>(why: impl Into<String>) -> Step<T> {
    Err(Stop::Abort(why.into()))
}

pub(crate) struct State<'w> {
    pub(crate) world: &'w World,
    pub(crate) heap: Heap,
    /// The string constants, interned by text.
    strings: FxHashMap<Vec<u16>, ObjId>,
    class_objects: FxHashMap<ClassName, ObjId>,
    pub(crate) trace: Vec<String>,
    /// The text printed to `System.out`.
    pub(crate) output: Vec<u16>,
}

/// The maximum number of trace lines; `ajar/T` drops further ones, too.
const MAX_LINES: usize = 5000;

impl<'w> State<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        State {
            world,
            heap: Heap::default(),
            strings: FxHashMap::default(),
            class_objects: FxHashMap::default(),
            trace: Vec::new(),
            output: Vec::new(),
        }
    }

    pub(crate) fn line(&mut self, text: String) {
        if self.trace.len() < MAX_LINES {
            self.trace.push(text);
        }
    }

    /// Throws a library exception, raised by the VM or by a library method.
    pub(crate) fn raise<T>(&mut self, class: &[u8]) -> Step<T> {
        Err(Stop::Throw(self.heap.add(ClassName::new(class), Payload::None)))
    }

    pub(crate) fn new_text(&mut self, units: Vec<u16>) -> Value {
        Value::Ref(Some(self.heap.add(ClassName::new(b"java/lang/String"), Payload::Text(units))))
    }

    /// Returns the unique object of a string constant.
    pub(crate) fn string(&mut self, text: Name) -> Value {
        let units: Vec<u16> = mutf8::units(text.bytes()).collect();
        self.interned(units)
    }

    pub(crate) fn interned(&mut self, units: Vec<u16>) -> Value {
        if let Some(&it) = self.strings.get(&units) {
            return Value::Ref(Some(it));
        }
        let id = self.heap.add(ClassName::new(b"java/lang/String"), Payload::Text(units.clone()));
        self.strings.insert(units, id);
        Value::Ref(Some(id))
    }

    /// Returns the unique object that represents a class.
    pub(crate) fn class_object(&mut self, class: ClassName) -> ObjId {
        if let Some(&it) = self.class_objects.get(&class) {
            return it;
        }
        let id = self.heap.add(ClassName::new(b"java/lang/Class"), Payload::Class(class));
        self.class_objects.insert(class, id);
        id
    }

    pub(crate) fn is_instance(&self, id: ObjId, class: ClassName) -> bool {
        let object = self.heap.get(id);
        match &object.payload {
            Payload::Lambda(it) => {
                let mut all = it.markers.iter().copied().chain([it.interface]);
                all.any(|it| self.world.is_subtype(it, class))
            }
            _ => self.world.is_subtype(object.class, class),
        }
    }
}
