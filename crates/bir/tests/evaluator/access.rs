//! Objects, arrays and fields: the operations that both engines share, and their log.

use bir::ops::Elem;
use classfile::descriptor::FieldType;
use classfile::names::{ClassName, MemberRef};

use crate::machine::{Event, Machine};
use crate::state::{Step, abort};
use crate::value::{ObjId, Payload, Value};

/// The maximum number of elements of one array; larger ones count as out of memory.
const MAX_ARRAY: usize = 1 << 24;

impl Machine<'_> {
    pub(crate) fn read_static(&mut self, field: MemberRef) -> Step<Value> {
        let key = self.static_field(field)?;
        self.log(Event::Read(key));
        match self.statics.get(&key) {
            Some(it) => Ok(*it),
            None => abort(format!("{field} has no value")),
        }
    }

    pub(crate) fn write_static(&mut self, field: MemberRef, value: Value) -> Step<()> {
        let key = self.static_field(field)?;
        self.log(Event::Write(key));
        self.statics.insert(key, value.narrowed(field.descriptor().bytes()));
        Ok(())
    }

    pub(crate) fn read_field(&mut self, field: MemberRef, id: ObjId) -> Step<Value> {
        let key = self.instance_field(field, id)?;
        self.log(Event::Read(key));
        Ok(self.state.heap.get(id).fields[&key])
    }

    pub(crate) fn write_field(&mut self, field: MemberRef, id: ObjId, value: Value) -> Step<()> {
        let key = self.instance_field(field, id)?;
        self.log(Event::Write(key));
        self.state.heap.get_mut(id).fields.insert(key, value.narrowed(field.descriptor().bytes()));
        Ok(())
    }

    pub(crate) fn element(&mut self, elem: Elem, array: Value, index: Value) -> Step<Value> {
        let (Value::Ref(Some(id)), Value::Int(index)) = (array, index) else {
            return abort("an element of null is read");
        };
        let class = self.state.heap.get(id).class;
        if !has_elem(class.bytes(), elem) {
            return abort(format!("{elem:?} of {class}"));
        }
        self.log(Event::ReadElement(index));
        match self.state.heap.array(id).and_then(|it| it.get(usize::try_from(index).ok()?)) {
            Some(it) => Ok(*it),
            None => abort("an element out of bounds is read"),
        }
    }

    /// Aborts unless a required `mayinit` came before.
    pub(crate) fn demand_initialised(&self, class: ClassName) -> Step<()> {
        match self.is_touched(class) {
            false if self.world().get(class).is_some() => abort(format!("{class} is used before mayinit")),
            _ => Ok(()),
        }
    }

    /// Returns whether the value may be an element of the array of references.
    pub(crate) fn fits(&self, array: ObjId, value: Value) -> Step<bool> {
        match (FieldType(&self.state.heap.get(array).class.bytes()[1..]).class(), value) {
            (Some(_), Value::Ref(None)) => Ok(true),
            (Some(elem), Value::Ref(Some(id))) => Ok(self.state.is_instance(id, elem)),
            _ => abort("a reference is stored into an array of numbers"),
        }
    }

    pub(crate) fn casts(&mut self, class: ClassName, value: Value) -> Step<bool> {
        match value {
            Value::Ref(None) => Ok(true),
            Value::Ref(Some(id)) => {
                if !class.is_array() && self.world().get(class).is_none() {
                    return self.raise(b"java/lang/NoClassDefFoundError");
                }
                Ok(self.state.is_instance(id, class))
            }
            _ => abort("cast of a value that is not a reference"),
        }
    }

    pub(crate) fn allocate(&mut self, class: ClassName) -> Step<ObjId> {
        let world = self.world();
        let Some(of) = world.get(class) else { return self.raise(b"java/lang/NoClassDefFoundError") };
        if of.flags.is_abstract() || of.flags.is_interface() {
            return self.raise(b"java/lang/InstantiationError");
        }
        let id = self.state.heap.add(class, Payload::None);
        for at in world.chain(class) {
            for it in at.fields.iter().filter(|it| !it.flags.is_static()) {
                let key = MemberRef::new(at.name, it.name, it.descriptor);
                self.state.heap.get_mut(id).fields.insert(key, Value::zero(it.descriptor.bytes()));
            }
        }
        Ok(id)
    }

    pub(crate) fn array(&mut self, class: ClassName, lengths: &[Value]) -> Step<Value> {
        let (Some(&Value::Int(length)), Some(elem)) = (lengths.first(), class.bytes().strip_prefix(b"["))
        else {
            return abort("an array without length or type");
        };
        let Ok(length) = usize::try_from(length) else { return abort("a negative length without assertion") };
        if length > MAX_ARRAY {
            return abort("an array too large to evaluate");
        }
        let mut elements = vec![Value::zero(elem); length];
        if lengths.len() > 1 {
            for it in &mut elements {
                *it = self.array(ClassName::new(elem), &lengths[1..])?;
            }
        }
        Ok(Value::Ref(Some(self.state.heap.add(class, Payload::Array(elements)))))
    }

    pub(crate) fn set_element(&mut self, elem: Elem, array: Value, index: Value, value: Value) -> Step<()> {
        let (Value::Ref(Some(id)), Value::Int(index)) = (array, index) else {
            return abort("an element of null");
        };
        if elem == Elem::Ref && !self.fits(id, value)? {
            return abort("an element is stored that does not fit, without assertion");
        }
        self.log(Event::WriteElement(index));
        let object = self.state.heap.get_mut(id);
        let class = object.class.bytes();
        let value = value.narrowed(&class[1..]);
        if !has_elem(class, elem) {
            return abort(format!("{elem:?} of {}", object.class));
        }
        match &mut object.payload {
            Payload::Array(elements) => match usize::try_from(index).ok().and_then(|it| elements.get_mut(it))
            {
                Some(it) => {
                    *it = value;
                    Ok(())
                }
                None => abort("an element out of bounds is set"),
            },
            _ => abort("an element of a value that is not an array"),
        }
    }

    fn static_field(&mut self, field: MemberRef) -> Step<MemberRef> {
        let it = field.get();
        match self.world().field(it.class, it.name, it.descriptor) {
            Some((found, flags)) if flags.is_static() => {
                self.demand_initialised(found.class())?;
                Ok(found)
            }
            Some(_) => self.raise(b"java/lang/IncompatibleClassChangeError"),
            None => self.raise(b"java/lang/NoSuchFieldError"),
        }
    }

    fn instance_field(&mut self, field: MemberRef, id: ObjId) -> Step<MemberRef> {
        let it = field.get();
        match self.world().field(it.class, it.name, it.descriptor) {
            Some((found, flags)) if !flags.is_static() => {
                if self.state.heap.get(id).fields.contains_key(&found) {
                    Ok(found)
                } else {
                    abort(format!("{} has no field {field}", self.state.heap.get(id).class))
                }
            }
            Some(_) => self.raise(b"java/lang/IncompatibleClassChangeError"),
            None => self.raise(b"java/lang/NoSuchFieldError"),
        }
    }
}

/// Returns whether an array of this class has such elements.
fn has_elem(class: &[u8], elem: Elem) -> bool {
    match class.get(1) {
        Some(b'Z' | b'B') => elem == Elem::Byte,
        Some(b'C') => elem == Elem::Char,
        Some(b'S') => elem == Elem::Short,
        Some(b'I') => elem == Elem::Int,
        Some(b'J') => elem == Elem::Long,
        Some(b'F') => elem == Elem::Float,
        Some(b'D') => elem == Elem::Double,
        _ => elem == Elem::Ref,
    }
}
