//! Expressions that use the heap: object creation, arrays, fields, calls.

use crate::asm::{Insn, opcodes as op};

use super::body::Body;
use super::types::{Decl, Elem, Ref, Ty};
use super::world::{Field, Kind, Method};

impl Body<'_> {
    /// Writes code that pushes the arguments of a call. Values of small types are narrowed, because the JVM does not
    /// check their range.
    pub(super) fn args(&mut self, params: &[Decl]) {
        for (below, &decl) in (0..).zip(params) {
            self.under(below, |it| it.expr(decl.ty()));
            self.narrow(decl);
        }
    }

    pub(super) fn narrow(&mut self, decl: Decl) {
        match decl {
            Decl::Boolean => self.code.op(op::ICONST_1).op(op::IAND),
            Decl::Byte => self.code.op(op::I2B),
            Decl::Char => self.code.op(op::I2C),
            Decl::Short => self.code.op(op::I2S),
            Decl::Val(_) => return,
        };
    }

    /// Writes code that creates an object of `class` or of a subclass by `new`, `dup` and the constructor call. The
    /// code pushes null instead if no such object can be created at the current position.
    pub(super) fn new_of(&mut self, class: usize) {
        let Some((class, params)) = self.creatable(class) else {
            self.code.op(op::ACONST_NULL);
            return;
        };
        let name = self.world.name(class);
        self.depth += 1;
        self.code.ty(op::NEW, name).op(op::DUP);
        self.under(2, |it| it.args(&params));
        self.init(class, &params);
        self.depth -= 1;
    }

    /// Picks a concrete subclass of `class` (or `class` itself) whose constructor is already written and fits the
    /// budget. Returns the picked class with the constructor's parameters; `None` if there is no such class.
    fn creatable(&mut self, class: usize) -> Option<(usize, Vec<Decl>)> {
        if self.depth > 7 {
            return None;
        }
        let world = self.world;
        let found: Vec<&Method> = world
            .concrete(class)
            .into_iter()
            .filter_map(|it| world.constructor(it))
            .filter_map(|it| world.methods.get(it))
            .filter(|it| it.cost.is_some_and(|cost| self.affords(cost)))
            .collect();
        let method = self.rng.pick(&found)?;
        Some((method.owner, method.params.clone()))
    }

    /// Writes the call of the constructor with these parameters.
    fn init(&mut self, class: usize, params: &[Decl]) {
        let world = self.world;
        let cost = world.constructor(class).and_then(|it| world.methods.get(it)).and_then(|it| it.cost);
        self.spend(cost.unwrap_or(0));
        let descriptor = world.method_descriptor(params, None);
        self.code.call(op::INVOKESPECIAL, world.name(class), "<init>", &descriptor);
    }

    /// Writes code that creates an object of `class` or of a subclass in a random one of the ways that the verifier
    /// accepts.
    pub(super) fn new_object(&mut self, class: usize) {
        let Some((class, params)) = self.creatable(class) else {
            return self.leaf(Ty::Ref(Ref::Class(class)));
        };
        let name = self.world.name(class);
        let object = Ty::Ref(Ref::Object);
        match self.rng.below(6) {
            0 => {
                // Keep the object in a local while it is uninitialised.
                let slot = self.hidden_slot(object);
                self.code.ty(op::NEW, name);
                self.store(object, slot);
                self.load(object, slot);
                self.under(1, |it| it.args(&params));
                self.init(class, &params);
                self.load(object, slot);
            }
            1 => {
                // Make three copies, and drop one before and one after the constructor call.
                self.code.ty(op::NEW, name).op(op::DUP).op(op::DUP2).op(op::POP);
                self.under(3, |it| it.args(&params));
                self.init(class, &params);
                self.code.op(op::SWAP).op(op::POP);
            }
            2 if matches!(params.as_slice(), [Decl::Val(it)] if it.width() == 1) => {
                // Push the argument before the object.
                self.args(&params);
                self.code.ty(op::NEW, name).op(op::DUP_X1).op(op::SWAP);
                self.init(class, &params);
            }
            3 => {
                // Create another object whose constructor is never called.
                let other = self.rng.pick(&self.world.concrete(class)).copied().unwrap_or(class);
                self.code.ty(op::NEW, self.world.name(other)).op(op::POP);
                self.new_of(class);
            }
            4 => {
                // Two objects of the class are alive, the inner one independent of the outer.
                self.code.ty(op::NEW, name).op(op::DUP);
                self.under(2, |it| it.new_of(class));
                self.code.op(op::POP);
                self.under(2, |it| it.args(&params));
                self.init(class, &params);
            }
            _ => self.new_of(class),
        }
    }

    pub(super) fn new_throwable(&mut self) {
        let world = self.world;
        let own: Vec<usize> = (0..world.classes.len()).filter(|&it| world.is_throwable(it)).collect();
        match self.rng.pick(&own).copied() {
            Some(class) if self.rng.chance(70) && self.creatable(class).is_some() => self.new_of(class),
            _ => {
                let name = self.rng.one([
                    "java/lang/RuntimeException",
                    "java/lang/IllegalStateException",
                    "java/lang/Exception",
                    "java/lang/Error",
                ]);
                self.code.ty(op::NEW, name).op(op::DUP).call(op::INVOKESPECIAL, name, "<init>", "()V");
            }
        }
    }

    /// Writes `newarray` or `anewarray`, which takes the length from the stack.
    pub(super) fn new_array(&mut self, elem: Elem) {
        match (elem.primitive(), elem.ty()) {
            (Some(number), _) => {
                self.code.push(Insn::Number(op::NEWARRAY, number));
            }
            (None, Ty::Ref(it)) => {
                let name = self.world.ref_name(it);
                self.code.ty(op::ANEWARRAY, &name);
            }
            _ => {}
        }
    }

    /// Picks a length for an array, in most cases larger than the usual indices.
    pub(super) fn usual_length(&mut self) -> i32 {
        if self.rng.chance(90) { self.rng.range(3, 5) } else { self.rng.range(0, 2) }
    }

    /// Writes code that pushes a length for an array: mostly small, sometimes negative.
    fn length(&mut self) {
        if self.rng.chance(95) {
            let n = self.usual_length();
            self.code.int(n);
        } else {
            self.expr(Ty::Int);
            self.code.int(6).op(op::IREM);
        }
    }

    /// Writes code that creates an array, often with some elements stored.
    pub(super) fn fresh_array(&mut self, elem: Elem) {
        if elem == Elem::Ints && self.rng.chance(60) {
            let dims = if self.rng.chance(70) { 2 } else { 1 };
            self.length();
            if dims == 2 {
                self.under(1, |it| it.length());
            }
            self.code.push(Insn::MultiArray("[[I".into(), dims));
            return;
        }
        if elem == Elem::Object && self.rng.chance(15) {
            // An array of a narrower type, which refuses some stores.
            let narrow = self.rng.one([Elem::Str, Elem::Ints, Elem::Class(self.owner)]);
            self.length();
            self.new_array(narrow);
            return;
        }
        self.length();
        self.new_array(elem);
        for _ in 0..self.rng.below(3) {
            self.code.op(op::DUP);
            self.under(2, |it| it.index());
            self.under(3, |it| it.expr(elem.ty()));
            self.code.op(op::IASTORE + elem.access());
        }
    }

    /// Writes code that pushes an index, in most cases within the bounds of small arrays.
    pub(super) fn index(&mut self) {
        match self.rng.below(10) {
            0..8 => {
                let it = self.rng.range(0, 2);
                self.code.int(it);
            }
            8 => {
                self.expr(Ty::Int);
                self.code.op(op::ICONST_3).op(op::IAND);
            }
            _ if self.rng.chance(20) => self.expr(Ty::Int),
            _ => {
                self.expr(Ty::Int);
                self.code.op(op::ICONST_1).op(op::IAND);
            }
        }
    }

    pub(super) fn read_element(&mut self, elem: Elem) {
        self.expr(Ty::Ref(Ref::Array(elem)));
        self.under(1, |it| it.index());
        self.code.op(op::IALOAD + elem.access());
    }

    fn field_for(&mut self, fits: impl Fn(&Field) -> bool) -> Option<&'_ Field> {
        let found: Vec<&Field> = self.world.fields.iter().filter(|it| fits(it)).collect();
        self.rng.pick(&found).copied()
    }

    /// Picks the class that a reference to a member of `owner` names: `owner` or a subclass. The receiver must be an
    /// object of the picked class.
    fn symbolic_owner(&mut self, owner: usize) -> usize {
        let world = self.world;
        let found: Vec<usize> =
            (0..world.classes.len()).filter(|&it| world.chain(it).contains(&owner)).collect();
        if self.rng.chance(60) { owner } else { self.rng.pick(&found).copied().unwrap_or(owner) }
    }

    fn field_insn(&mut self, opcode: u8, through: usize, field: &(String, Decl)) {
        let descriptor = self.world.descriptor(field.1);
        self.code.field(opcode, self.world.name(through), &field.0, &descriptor);
        self.spend(1);
    }

    pub(super) fn read_field(&mut self, ty: Ty) {
        let world = self.world;
        let Some(field) = self.field_for(|it| world.is_sub(it.decl.ty(), ty)) else { return self.leaf(ty) };
        let (owner, is_static, named) = (field.owner, field.is_static, (field.name.clone(), field.decl));
        let through = self.symbolic_owner(owner);
        if is_static {
            self.field_insn(op::GETSTATIC, through, &named);
        } else {
            self.expr(Ty::Ref(Ref::Class(through)));
            self.field_insn(op::GETFIELD, through, &named);
        }
    }

    /// Writes a store to a field of type `ty` (of any type if `None`), and leaves the stored value on the stack if
    /// `keep`. Returns false if the program has no such field.
    pub(super) fn write_field(&mut self, ty: Option<Ty>, keep: bool) -> bool {
        let fits = |it: &Field| !it.is_final && ty.is_none_or(|ty| it.decl.ty() == ty);
        let Some(field) = self.field_for(fits) else { return false };
        let (owner, is_static, named) = (field.owner, field.is_static, (field.name.clone(), field.decl));
        let (ty, through) = (named.1.ty(), self.symbolic_owner(owner));
        let compound = ty.family() < 4 && self.rng.chance(40);
        if is_static {
            if compound {
                self.field_insn(op::GETSTATIC, through, &named);
            }
            self.new_value(ty, u32::from(compound), compound, named.1);
            if keep {
                self.dup(ty);
            }
            self.field_insn(op::PUTSTATIC, through, &named);
        } else {
            self.expr(Ty::Ref(Ref::Class(through)));
            if compound {
                self.code.op(op::DUP);
                self.field_insn(op::GETFIELD, through, &named);
            }
            self.new_value(ty, 1 + u32::from(compound), compound, named.1);
            if keep {
                self.code.op(if ty.width() == 2 { op::DUP2_X1 } else { op::DUP_X1 });
            }
            self.field_insn(op::PUTFIELD, through, &named);
        }
        true
    }

    /// Writes code that pushes the value to store. If `compound`, the old value is on the stack, and the code
    /// computes the new value from it. `live` is the number of values that the code of the store
    /// has already pushed.
    fn new_value(&mut self, ty: Ty, live: u32, compound: bool, decl: Decl) {
        self.under(live, |it| it.expr(ty));
        if compound {
            let opcode = self.rng.one([op::IADD, op::ISUB, op::IMUL]);
            self.code.op(opcode + ty.family());
        }
        self.narrow(decl);
    }

    /// Writes a store to an array element, and leaves the stored value on the stack if `keep`.
    pub(super) fn write_element(&mut self, elem: Elem, keep: bool) {
        let ty = elem.ty();
        let compound = ty.family() < 4 && self.rng.chance(40);
        self.expr(Ty::Ref(Ref::Array(elem)));
        self.under(1, |it| it.index());
        if compound {
            self.code.op(op::DUP2).op(op::IALOAD + elem.access());
        }
        self.new_value(ty, 2 + u32::from(compound), compound, Decl::Val(ty));
        if keep {
            self.code.op(if ty.width() == 2 { op::DUP2_X2 } else { op::DUP_X2 });
        }
        self.code.op(op::IASTORE + elem.access());
    }

    /// Writes an assignment whose value stays on the stack.
    pub(super) fn assignment(&mut self, ty: Ty) {
        match self.rng.below(4) {
            0 => {
                self.expr(ty);
                if let Some(local) = self.writable(Some(ty)) {
                    self.dup(ty);
                    self.store(local.ty, local.slot);
                }
            }
            1 => {
                let elem = match ty {
                    Ty::Int => self.rng.one([Elem::Int, Elem::Byte, Elem::Boolean, Elem::Char, Elem::Short]),
                    Ty::Long => Elem::Long,
                    Ty::Float => Elem::Float,
                    Ty::Double => Elem::Double,
                    Ty::Ref(Ref::Str) => Elem::Str,
                    Ty::Ref(Ref::Object) => Elem::Object,
                    Ty::Ref(Ref::Class(it)) => Elem::Class(it),
                    Ty::Ref(Ref::Array(Elem::Int)) => Elem::Ints,
                    Ty::Ref(_) => return self.leaf(ty),
                };
                self.write_element(elem, true);
            }
            _ => {
                if !self.write_field(Some(ty), true) {
                    self.leaf(ty);
                }
            }
        }
    }

    /// Writes a call that returns a value of type `ty`. If there is no suitable method, writes code that pushes a
    /// simple value of this type instead.
    pub(super) fn call_for(&mut self, ty: Ty) {
        let world = self.world;
        let fits = |it: &Method| it.ret.is_some_and(|ret| world.is_sub(ret.ty(), ty));
        if !self.call_some(fits) {
            self.leaf(ty);
        }
    }

    /// Writes a call of a random method for which `fits` holds, and leaves its result on the stack. Returns false if
    /// there is no such method.
    pub(super) fn call_some(&mut self, fits: impl Fn(&Method) -> bool) -> bool {
        let world = self.world;
        let callable = |it: &&Method| {
            let visible = match it.kind {
                Kind::Private => it.owner == self.owner,
                Kind::Constructor => false,
                _ => true,
            };
            visible && fits(it) && it.cost.is_some_and(|cost| self.affords(cost + 2))
        };
        let found: Vec<&Method> = world.methods.iter().filter(callable).collect();
        let Some(method) = self.rng.pick(&found).copied() else { return false };
        self.spend(method.cost.unwrap_or(0) + 2);
        self.call(method);
        true
    }

    fn call(&mut self, method: &Method) {
        let world = self.world;
        let descriptor = world.method_descriptor(&method.params, method.ret);
        let (opcode, through) = match method.kind {
            Kind::Static => (op::INVOKESTATIC, self.symbolic_owner(method.owner)),
            Kind::Interface => (op::INVOKEINTERFACE, method.owner),
            Kind::Private | Kind::Constructor => (op::INVOKESPECIAL, method.owner),
            Kind::Virtual => match self.this.and_then(|it| world.parent(it)) {
                Some(parent) if world.chain(parent).contains(&method.owner) && self.rng.chance(50) => {
                    (op::INVOKESPECIAL, parent)
                }
                _ => (op::INVOKEVIRTUAL, self.symbolic_owner(method.owner)),
            },
        };
        let receiver = u32::from(opcode != op::INVOKESTATIC);
        if opcode == op::INVOKESPECIAL && method.kind == Kind::Virtual {
            // A super call needs an object of the calling class.
            self.expr(Ty::Ref(Ref::Class(self.owner)));
        } else if receiver == 1 {
            self.expr(Ty::Ref(Ref::Class(through)));
        }
        self.under(receiver, |it| it.args(&method.params));
        self.code.call(opcode, world.name(through), &method.name, &descriptor);
    }
}
