//! Values, objects, the heap.

use bir::ops::Kind;
use classfile::names::{ClassName, MemberRef};
use rustc_hash::FxHashMap;

/// An object on the heap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ObjId(usize);

/// A value of a variable, field or element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Ref(Option<ObjId>),
}

pub(crate) const NULL: Value = Value::Ref(None);

impl Value {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Value::Int(_) => Kind::Int,
            Value::Long(_) => Kind::Long,
            Value::Float(_) => Kind::Float,
            Value::Double(_) => Kind::Double,
            Value::Ref(_) => Kind::Ref,
        }
    }

    /// Returns the default value of this type.
    pub(crate) fn zero(descriptor: &[u8]) -> Value {
        match descriptor.first() {
            Some(b'J') => Value::Long(0),
            Some(b'F') => Value::Float(0.0),
            Some(b'D') => Value::Double(0.0),
            Some(b'L' | b'[') => NULL,
            _ => Value::Int(0),
        }
    }

    /// Returns the value narrowed to this type (JVMS §2.3, §6.5.putfield, §6.5.ireturn).
    pub(crate) fn narrowed(self, descriptor: &[u8]) -> Value {
        let Value::Int(it) = self else { return self };
        Value::Int(match descriptor.first() {
            Some(b'Z') => it & 1,
            Some(b'B') => i32::from(it as i8),
            Some(b'C') => i32::from(it as u16),
            Some(b'S') => i32::from(it as i16),
            _ => it,
        })
    }
}

/// An object: with fields for classes of the program, with a payload for library classes.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) class: ClassName,
    /// The field values, keyed by the declaring class and field.
    pub(crate) fields: FxHashMap<MemberRef, Value>,
    pub(crate) payload: Payload,
    /// The number of times that the only thread has entered the monitor.
    pub(crate) locks: u32,
    pub(crate) message: Option<ObjId>,
    pub(crate) cause: Option<ObjId>,
    pub(crate) suppressed: Vec<ObjId>,
}

#[derive(Clone, Debug)]
pub(crate) enum Payload {
    None,
    /// The elements; the array type is the object's class.
    Array(Vec<Value>),
    /// A string or string builder.
    Text(Vec<u16>),
    Class(ClassName),
    Boxed(Value),
    /// An enum constant: its name and ordinal.
    Constant(ObjId, i32),
    /// The elements of an immutable list.
    List(Vec<Value>),
    /// The result of `IntUnaryOperator.andThen`: the operator applied first, then the other.
    Composed(ObjId, ObjId),
    /// The result of a call site of `LambdaMetafactory`: its interface method, the target and the captured values.
    Lambda(Box<Lambda>),
}

#[derive(Clone, Debug)]
pub(crate) struct Lambda {
    pub(crate) name: classfile::names::Name,
    pub(crate) interface: ClassName,
    /// Further interfaces that the lambda implements.
    pub(crate) markers: Vec<ClassName>,
    pub(crate) target: classfile::bootstrap::MethodHandle,
    pub(crate) captured: Vec<Value>,
}

/// All objects; none is ever freed, because every run is short.
#[derive(Default)]
pub(crate) struct Heap(Vec<Object>);

impl Heap {
    pub(crate) fn add(&mut self, class: ClassName, payload: Payload) -> ObjId {
        self.0.push(Object {
            class,
            fields: FxHashMap::default(),
            payload,
            locks: 0,
            message: None,
            cause: None,
            suppressed: Vec::new(),
        });
        ObjId(self.0.len() - 1)
    }

    pub(crate) fn get(&self, id: ObjId) -> &Object {
        &self.0[id.0]
    }

    pub(crate) fn get_mut(&mut self, id: ObjId) -> &mut Object {
        &mut self.0[id.0]
    }

    pub(crate) fn array(&self, id: ObjId) -> Option<&[Value]> {
        match &self.get(id).payload {
            Payload::Array(it) => Some(it),
            _ => None,
        }
    }

    pub(crate) fn text(&self, id: ObjId) -> Option<&[u16]> {
        match &self.get(id).payload {
            Payload::Text(it) => Some(it),
            _ => None,
        }
    }
}
