//! Call sites and dynamic constants of the supported bootstrap methods.

use bir::body::CallKind;
use classfile::bootstrap::{Dynamic, HandleKind, Loadable, MethodHandle};
use classfile::descriptor::FieldType;
use classfile::mutf8;
use classfile::names::{ClassName, Descriptor, MemberRef, Name};

use crate::machine::Machine;
use crate::show::simple_name;
use crate::state::{Step, Stop, abort};
use crate::value::{Lambda, NULL, ObjId, Payload, Value};

impl Machine<'_> {
    /// Runs a call site: lambdas, string concatenation and others that compilers use most.
    pub(crate) fn call_site(&mut self, site: &Dynamic, args: Vec<Value>) -> Step<Option<Value>> {
        let bootstrap = site.bootstrap.member.get();
        match (bootstrap.class.bytes(), bootstrap.name.bytes(), &site.args[..]) {
            (
                b"java/lang/invoke/LambdaMetafactory",
                b"metafactory" | b"altMetafactory",
                [_, Loadable::MethodHandle(target), _, more @ ..],
            ) => {
                let interface = site.descriptor.method_type().and_then(|it| it.ret()?.class());
                let Some(interface) = interface else { return abort("a lambda without interface") };
                let markers = markers(more);
                let lambda = Lambda { name: site.name, interface, markers, target: *target, captured: args };
                let class = ClassName::new(b"java/lang/Object");
                Ok(Some(Value::Ref(Some(self.state.heap.add(class, Payload::Lambda(Box::new(lambda)))))))
            }
            (b"java/lang/runtime/ObjectMethods", b"bootstrap", [Loadable::Class(of), _, getters @ ..])
                if site.name.bytes() == b"toString" =>
            {
                self.record_text(*of, getters, &args).map(Some)
            }
            (
                b"java/lang/invoke/StringConcatFactory",
                b"makeConcatWithConstants",
                [Loadable::Str(recipe), consts @ ..],
            ) => self.concat(site.descriptor, *recipe, consts, &args).map(Some),
            (b"java/lang/runtime/SwitchBootstraps", b"typeSwitch", labels) => match args[..] {
                [Value::Ref(it), Value::Int(from)] => {
                    Ok(Some(Value::Int(self.type_switch(labels, it, from)?)))
                }
                _ => abort("a switch of other operands"),
            },
            _ => abort(format!("the bootstrap method {} is not evaluated", site.bootstrap.member)),
        }
    }

    /// Returns the first matching label from `from` on, the number of labels if none matches, or -1 for null.
    fn type_switch(&self, labels: &[Loadable], it: Option<ObjId>, from: i32) -> Step<i32> {
        let Some(id) = it else { return Ok(-1) };
        for (i, label) in (0..).zip(labels).filter(|it| it.0 >= from) {
            let fits = match label {
                Loadable::Class(class) => self.state.is_instance(id, *class),
                Loadable::Str(it) => self
                    .state
                    .heap
                    .text(id)
                    .is_some_and(|text| mutf8::units(it.bytes()).eq(text.iter().copied())),
                Loadable::Dynamic(it) => self.is_constant(it, id)?,
                _ => return abort("a label of a switch that is not evaluated"),
            };
            if fits {
                return Ok(i);
            }
        }
        Ok(labels.len() as i32)
    }

    /// Returns whether the object is the enum constant that a label describes: `EnumDesc.of(ClassDesc.of(C), N)`.
    fn is_constant(&self, label: &Dynamic, id: ObjId) -> Step<bool> {
        let invoked = |it: &Dynamic, by: &[u8]| {
            it.bootstrap.member.class().bytes() == b"java/lang/invoke/ConstantBootstraps"
                && matches!(it.args.first(), Some(Loadable::MethodHandle(it)) if it.member.class().bytes() == by)
        };
        let [_, Loadable::Dynamic(class), Loadable::Str(name)] = &label.args[..] else {
            return abort("a label of other parts");
        };
        let [_, Loadable::Str(class_name)] = &class.args[..] else { return abort("a class of other parts") };
        if !invoked(label, b"java/lang/Enum$EnumDesc") || !invoked(class, b"java/lang/constant/ClassDesc") {
            return abort("a label that is not evaluated");
        }
        let class_name = class_name.to_string().replace('.', "/");
        let object = self.state.heap.get(id);
        let Payload::Constant(of, _) = object.payload else { return Ok(false) };
        let same =
            self.state.heap.text(of).is_some_and(|it| mutf8::units(name.bytes()).eq(it.iter().copied()));
        Ok(same && self.state.is_instance(id, ClassName::new(class_name.as_bytes())))
    }

    /// `toString` of a record: the component names are the names of the fields.
    fn record_text(&mut self, class: ClassName, getters: &[Loadable], args: &[Value]) -> Step<Value> {
        let &[Value::Ref(Some(id))] = args else { return abort("toString of something other than a record") };
        let mut out: Vec<u16> = format!("{}[", simple_name(class)).encode_utf16().collect();
        for (i, it) in getters.iter().enumerate() {
            let Loadable::MethodHandle(MethodHandle { kind: HandleKind::GetField, member, .. }) = *it else {
                return abort("a component that is not a field");
            };
            out.extend(if i == 0 { "" } else { ", " }.encode_utf16());
            out.extend(mutf8::units(member.name().bytes()));
            out.push(u16::from(b'='));
            let value = self.read_field(member, id)?;
            let text = self.value_of(value, FieldType(member.descriptor().bytes()))?;
            out.extend(self.units(text));
        }
        out.push(u16::from(b']'));
        Ok(self.state.new_text(out))
    }

    fn concat(
        &mut self,
        descriptor: Descriptor,
        recipe: Name,
        consts: &[Loadable],
        args: &[Value],
    ) -> Step<Value> {
        let types: Vec<FieldType<'_>> =
            descriptor.method_type().map(|it| it.params().collect()).unwrap_or_default();
        let (mut args, mut consts) = (args.iter().zip(types), consts.iter());
        let mut out = Vec::new();
        for unit in mutf8::units(recipe.bytes()) {
            let value = match unit {
                1 => match args.next() {
                    Some((&value, ty)) => self.value_of(value, ty)?,
                    None => return abort("too few operands to join"),
                },
                2 => match consts.next() {
                    Some(Loadable::Str(it)) => self.state.string(*it),
                    _ => return abort("a joined constant that is not a string"),
                },
                _ => {
                    out.push(unit);
                    continue;
                }
            };
            out.extend(self.units(value));
        }
        Ok(self.state.new_text(out))
    }

    /// Returns the content of a string; empty for null.
    pub(crate) fn units(&self, text: Value) -> &[u16] {
        match text {
            Value::Ref(Some(id)) => self.state.heap.text(id).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Returns the string to which a value of this type is converted.
    pub(crate) fn value_of(&mut self, value: Value, ty: FieldType<'_>) -> Step<Value> {
        let param = match ty.0 {
            b"B" | b"S" => "I",
            b"I" => "I",
            b"J" => "J",
            b"C" => "C",
            b"Z" => "Z",
            _ => "Ljava/lang/Object;",
        };
        let descriptor = Descriptor::new(format!("({param})Ljava/lang/String;").as_bytes());
        let class = ClassName::new(b"java/lang/String");
        let out = self.invoke(MemberRef::new(class, Name::new(b"valueOf"), descriptor), vec![value])?;
        Ok(out.unwrap_or(NULL))
    }

    /// Returns the value of a dynamic constant of this class, whose bootstrap method runs once (JVMS §5.4.3.6).
    pub(crate) fn dynamic_constant(&mut self, class: ClassName, it: &Dynamic) -> Step<Value> {
        let key = (class, it.clone());
        let made = match self.constants.get(&key) {
            Some(&it) => it,
            None => {
                let made = match self.make_constant(it) {
                    Ok(it) => Ok(it),
                    Err(Stop::Throw(id)) => Err(self.wrapped(id)),
                    Err(stop) => return Err(stop),
                };
                self.constants.insert(key, made);
                made
            }
        };
        made.map_err(Stop::Throw)
    }

    fn wrapped(&mut self, id: ObjId) -> ObjId {
        if self.state.is_instance(id, ClassName::new(b"java/lang/Error")) {
            return id;
        }
        let error = self.state.heap.add(ClassName::new(b"java/lang/BootstrapMethodError"), Payload::None);
        self.state.heap.get_mut(error).cause = Some(id);
        error
    }

    /// Runs a bootstrap method. Only static ones of the program with int and string arguments are supported.
    fn make_constant(&mut self, it: &Dynamic) -> Step<Value> {
        if it.bootstrap.kind != HandleKind::InvokeStatic || self.world().method(it.bootstrap.member).is_none()
        {
            return abort(format!("the bootstrap method {} is not evaluated", it.bootstrap.member));
        }
        let class = self.state.class_object(ClassName(it.descriptor.0));
        let mut args = vec![NULL, self.state.string(it.name), Value::Ref(Some(class))];
        for arg in it.args.iter() {
            args.push(match arg {
                Loadable::Int(it) => Value::Int(*it),
                Loadable::Long(it) => Value::Long(*it),
                Loadable::Str(it) => self.state.string(*it),
                _ => return abort("an argument of a bootstrap method that is not evaluated"),
            });
        }
        Ok(self.call_handle(it.bootstrap, args)?.unwrap_or(NULL))
    }

    /// Calls a method handle.
    pub(crate) fn call_handle(&mut self, handle: MethodHandle, args: Vec<Value>) -> Step<Option<Value>> {
        use HandleKind::{InvokeInterface, InvokeSpecial, InvokeStatic, InvokeVirtual, NewInvokeSpecial};
        let kind = match handle.kind {
            InvokeStatic => {
                let found = self.world().method(handle.member);
                let declaring = found.map_or(handle.member.class(), |it| it.0.class());
                self.initialise(declaring)?;
                CallKind::Static
            }
            InvokeVirtual => CallKind::Virtual,
            InvokeInterface => CallKind::Interface,
            InvokeSpecial => CallKind::Special,
            NewInvokeSpecial => {
                self.initialise(handle.member.class())?;
                let id = self.allocate(handle.member.class())?;
                let args = [Value::Ref(Some(id))].into_iter().chain(args).collect();
                self.call(CallKind::Special, handle.member, args, None)?;
                return Ok(Some(Value::Ref(Some(id))));
            }
            _ => return abort("a handle of a field"),
        };
        if kind.has_receiver() && matches!(args.first(), Some(Value::Ref(None))) {
            return self.raise(b"java/lang/NullPointerException");
        }
        self.call(kind, handle.member, args, None)
    }
}

/// Returns the marker interfaces among the extra arguments of `altMetafactory`; the lowest flag bit adds
/// `Serializable`.
fn markers(more: &[Loadable]) -> Vec<ClassName> {
    let serializable = matches!(more.first(), Some(Loadable::Int(flags)) if flags & 1 != 0);
    let mut out: Vec<ClassName> =
        serializable.then(|| ClassName::new(b"java/io/Serializable")).into_iter().collect();
    out.extend(more.iter().filter_map(|it| match it {
        Loadable::Class(it) => Some(*it),
        _ => None,
    }));
    out
}
