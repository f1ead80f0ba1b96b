//! Library methods that run code of the program: initialisers, lambdas, `getMessage`, `toString`.

use bir::body::CallKind;
use classfile::descriptor::FieldType;
use classfile::names::{ClassName, Descriptor, MemberRef, Name};

use crate::machine::Machine;
use crate::show::name;
use crate::state::{Step, abort};
use crate::value::{NULL, ObjId, Payload, Value};

impl Machine<'_> {
    /// Runs the method if it is one of these.
    pub(crate) fn callback(&mut self, method: MemberRef, args: &[Value]) -> Option<Step<Option<Value>>> {
        let it = method.get();
        Some(match (it.class.bytes(), it.name.bytes(), args) {
            (b"java/lang/Class", b"forName", &[name]) => self.class_for_name(name).map(Some),
            (b"java/lang/Throwable", b"toString", &[Value::Ref(Some(id))]) => {
                self.throwable_text(id).map(Some)
            }
            (b"java/util/List", b"of", [Value::Ref(None)]) => self.raise(b"java/lang/NullPointerException"),
            (b"java/util/List", b"of", _) => {
                let list = self.state.heap.add(it.class, Payload::List(args.to_vec()));
                Ok(Some(Value::Ref(Some(list))))
            }
            (b"java/util/List", b"toString", &[Value::Ref(Some(id))]) => self.list_text(id).map(Some),
            (b"java/util/function/IntUnaryOperator", b"andThen", &[Value::Ref(Some(a)), Value::Ref(b)]) => {
                match b {
                    Some(b) => {
                        let both = self.state.heap.add(it.class, Payload::Composed(a, b));
                        Ok(Some(Value::Ref(Some(both))))
                    }
                    None => self.raise(b"java/lang/NullPointerException"),
                }
            }
            (b"java/util/function/IntUnaryOperator", b"applyAsInt", &[Value::Ref(Some(id)), value]) => {
                self.apply_both(method, id, value)
            }
            _ => return None,
        })
    }

    fn class_for_name(&mut self, text: Value) -> Step<Value> {
        let name = String::from_utf16_lossy(self.units(text)).replace('.', "/");
        let class = ClassName::new(name.as_bytes());
        if self.world().get(class).is_none() {
            return self.raise(b"java/lang/ClassNotFoundException");
        }
        self.initialise(class)?;
        Ok(Value::Ref(Some(self.state.class_object(class))))
    }

    fn throwable_text(&mut self, id: ObjId) -> Step<Value> {
        let message = self.ask(b"java/lang/Throwable", b"getMessage", id)?;
        let class = name(self.state.heap.get(id).class).replace('/', ".");
        let mut out: Vec<u16> = class.encode_utf16().collect();
        if let Value::Ref(Some(_)) = message {
            out.extend(": ".encode_utf16());
            out.extend(self.units(message));
        }
        Ok(self.state.new_text(out))
    }

    fn list_text(&mut self, id: ObjId) -> Step<Value> {
        let Payload::List(elements) = self.state.heap.get(id).payload.clone() else {
            return abort("an unsupported list");
        };
        let mut out = vec![u16::from(b'[')];
        for (i, it) in elements.into_iter().enumerate() {
            out.extend(if i == 0 { "" } else { ", " }.encode_utf16());
            let text = self.value_of(it, FieldType(b"Ljava/lang/Object;"))?;
            out.extend(self.units(text));
        }
        out.push(u16::from(b']'));
        Ok(self.state.new_text(out))
    }

    fn apply_both(&mut self, method: MemberRef, id: ObjId, value: Value) -> Step<Option<Value>> {
        let Payload::Composed(first, then) = self.state.heap.get(id).payload else {
            return abort("an unsupported operator");
        };
        let receiver = |it| Value::Ref(Some(it));
        let between = self.call(CallKind::Interface, method, vec![receiver(first), value], None)?;
        let Some(between) = between else { return abort("an operator returns nothing") };
        self.call(CallKind::Interface, method, vec![receiver(then), between], None)
    }

    /// Calls a method of the object that has no parameters and returns a string.
    fn ask(&mut self, class: &[u8], name: &[u8], id: ObjId) -> Step<Value> {
        let descriptor = Descriptor::new(b"()Ljava/lang/String;");
        let method = MemberRef::new(ClassName::new(class), Name::new(name), descriptor);
        let out = self.call(CallKind::Virtual, method, vec![Value::Ref(Some(id))], None)?;
        Ok(out.unwrap_or(NULL))
    }
}
