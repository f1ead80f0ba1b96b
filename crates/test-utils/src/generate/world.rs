//! The classes of one generated program: hierarchy, fields, method signatures, and which methods are already written.

use crate::rng::Rng;

use super::types::{Decl, Elem, Ref, Ty};

/// All classes, fields and methods that generated bodies may use.
pub(super) struct World {
    pub(super) classes: Vec<Class>,
    pub(super) fields: Vec<Field>,
    pub(super) methods: Vec<Method>,
    /// The index of the helper class, which uses `invokedynamic` and dynamic constants, and whose methods are fixed
    /// instead of random; `None` if there is no helper class.
    pub(super) helper: Option<usize>,
}

pub(super) struct Class {
    pub(super) name: String,
    pub(super) interface: bool,
    /// The index of the superclass; `None` if the superclass is not a class of the program.
    pub(super) parent: Option<usize>,
    /// The name of the superclass if it is not a class of the program.
    pub(super) foreign: &'static str,
    pub(super) interfaces: Vec<usize>,
}

pub(super) struct Field {
    pub(super) owner: usize,
    pub(super) name: String,
    pub(super) decl: Decl,
    pub(super) is_static: bool,
    pub(super) is_final: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Static,
    Virtual,
    Private,
    Interface,
    Constructor,
}

pub(super) struct Method {
    pub(super) owner: usize,
    pub(super) name: String,
    pub(super) params: Vec<Decl>,
    pub(super) ret: Option<Decl>,
    pub(super) kind: Kind,
    /// The cost of one call; `None` until all bodies of the method are written. Only then can the method be called.
    pub(super) cost: Option<u32>,
}

const FOREIGN: [&str; 4] =
    ["java/lang/RuntimeException", "java/lang/Exception", "java/lang/Error", "java/lang/ArithmeticException"];

impl World {
    /// Creates a random hierarchy with fields in `package`, and a helper class if `with_helper`. The caller adds the
    /// methods.
    pub(super) fn new(rng: &mut Rng, package: &str, with_helper: bool) -> World {
        let mut classes = Vec::new();
        let n_interfaces = rng.range(1, 2) as usize;
        for it in 0..n_interfaces {
            classes.push(class(format!("{package}/I{it}"), true));
        }
        for it in 0..rng.range(2, 4) as usize {
            let mut new = class(format!("{package}/C{it}"), false);
            if it > 0 && rng.chance(70) {
                new.parent = Some(n_interfaces + rng.below(it as u32) as usize);
            }
            new.interfaces = (0..n_interfaces).filter(|_| rng.chance(40)).collect();
            classes.push(new);
        }
        for it in 0..rng.range(1, 2) {
            let mut new = class(format!("{package}/E{it}"), false);
            new.foreign = rng.one(FOREIGN);
            classes.push(new);
        }
        let helper = with_helper.then_some(classes.len());
        if with_helper {
            classes.push(class(format!("{package}/Dynamic"), false));
        }
        let mut main = class(format!("{package}/Main"), false);
        main.interfaces = (0..n_interfaces).filter(|_| rng.chance(20)).collect();
        classes.push(main);
        let mut world = World { classes, fields: Vec::new(), methods: Vec::new(), helper };
        for owner in 0..world.classes.len() {
            world.add_fields(rng, owner);
        }
        world
    }

    fn add_fields(&mut self, rng: &mut Rng, owner: usize) {
        if self.helper == Some(owner) {
            return;
        }
        if self.is_interface(owner) {
            for it in 0..rng.below(2) {
                let (decl, name) = (self.decl(rng), format!("k{it}"));
                self.fields.push(Field { owner, name, decl, is_static: true, is_final: true });
            }
            return;
        }
        for it in 0..rng.range(2, 6) {
            let is_static = rng.chance(40);
            // Use few names, so that subclasses hide fields of their superclasses.
            let (decl, name) = (self.decl(rng), format!("{}{it}", if is_static { "s" } else { "f" }));
            self.fields.push(Field { owner, name, decl, is_static, is_final: false });
        }
    }

    pub(super) fn is_interface(&self, class: usize) -> bool {
        self.classes.get(class).is_some_and(|it| it.interface)
    }

    /// Whether random methods may be added to the class: it is neither an interface nor the helper class.
    pub(super) fn is_open(&self, class: usize) -> bool {
        !self.is_interface(class) && self.helper != Some(class)
    }

    pub(super) fn name(&self, class: usize) -> &str {
        self.classes.get(class).map_or("java/lang/Object", |it| it.name.as_str())
    }

    pub(super) fn parent(&self, class: usize) -> Option<usize> {
        self.classes.get(class).and_then(|it| it.parent)
    }

    /// The name of the superclass of the class with the index `class`; `java/lang/Object` for interfaces.
    pub(super) fn super_name(&self, class: usize) -> &str {
        match self.parent(class) {
            Some(it) => self.name(it),
            None => self.classes.get(class).map_or("java/lang/Object", |it| it.foreign),
        }
    }

    pub(super) fn is_throwable(&self, class: usize) -> bool {
        self.super_name(class) != "java/lang/Object" && self.parent(class).is_none()
    }

    /// The index of the class, followed by the indices of those of its superclasses that belong to the program.
    pub(super) fn chain(&self, class: usize) -> Vec<usize> {
        std::iter::successors(Some(class), |&it| self.parent(it)).collect()
    }

    pub(super) fn is_subclass(&self, class: usize, of: usize) -> bool {
        self.chain(class)
            .iter()
            .any(|&it| it == of || self.classes.get(it).is_some_and(|it| it.interfaces.contains(&of)))
    }

    pub(super) fn is_sub(&self, ty: Ty, of: Ty) -> bool {
        let (Ty::Ref(ty), Ty::Ref(of)) = (ty, of) else { return ty == of };
        match (ty, of) {
            (_, Ref::Object) => true,
            (Ref::Class(a), Ref::Class(b)) => self.is_subclass(a, b),
            (Ref::Class(a), Ref::Throwable) => self.is_throwable(a),
            (Ref::Array(a), Ref::Array(Elem::Object)) => a.primitive().is_none(),
            (a, b) => a == b,
        }
    }

    /// The indices of the concrete classes among the type with the index `of` and its subtypes.
    pub(super) fn concrete(&self, of: usize) -> Vec<usize> {
        (0..self.classes.len()).filter(|&it| !self.is_interface(it) && self.is_subclass(it, of)).collect()
    }

    pub(super) fn elem(&self, rng: &mut Rng) -> Elem {
        let class = rng.below(self.classes.len() as u32) as usize;
        rng.one([
            Elem::Boolean,
            Elem::Byte,
            Elem::Char,
            Elem::Short,
            Elem::Int,
            Elem::Int,
            Elem::Long,
            Elem::Float,
            Elem::Double,
            Elem::Object,
            Elem::Object,
            Elem::Str,
            Elem::Ints,
            Elem::Class(class),
        ])
    }

    /// Picks a random type. Ints and references to arrays and classes of the program are more frequent than others.
    pub(super) fn ty(&self, rng: &mut Rng) -> Ty {
        match rng.below(14) {
            0..4 => Ty::Int,
            4 | 5 => Ty::Long,
            6 => Ty::Float,
            7 => Ty::Double,
            8 => Ty::Ref(Ref::Object),
            9 => Ty::Ref(Ref::Str),
            10 | 11 => Ty::Ref(Ref::Array(self.elem(rng))),
            _ => Ty::Ref(Ref::Class(rng.below(self.classes.len() as u32) as usize)),
        }
    }

    pub(super) fn decl(&self, rng: &mut Rng) -> Decl {
        match rng.below(20) {
            0 => Decl::Boolean,
            1 => Decl::Byte,
            2 => Decl::Char,
            3 => Decl::Short,
            _ => Decl::Val(self.ty(rng)),
        }
    }

    /// The internal name of a reference type, as in the operand of `checkcast`.
    pub(super) fn ref_name(&self, it: Ref) -> String {
        match it {
            Ref::Object => "java/lang/Object".to_owned(),
            Ref::Str => "java/lang/String".to_owned(),
            Ref::Throwable => "java/lang/Throwable".to_owned(),
            Ref::Class(it) => self.name(it).to_owned(),
            Ref::Array(it) => format!("[{}", self.elem_descriptor(it)),
        }
    }

    pub(super) fn elem_descriptor(&self, it: Elem) -> String {
        match it {
            Elem::Boolean => "Z".to_owned(),
            Elem::Byte => "B".to_owned(),
            Elem::Char => "C".to_owned(),
            Elem::Short => "S".to_owned(),
            _ => self.descriptor(Decl::Val(it.ty())),
        }
    }

    pub(super) fn descriptor(&self, it: Decl) -> String {
        match it {
            Decl::Boolean => "Z".to_owned(),
            Decl::Byte => "B".to_owned(),
            Decl::Char => "C".to_owned(),
            Decl::Short => "S".to_owned(),
            Decl::Val(Ty::Int) => "I".to_owned(),
            Decl::Val(Ty::Long) => "J".to_owned(),
            Decl::Val(Ty::Float) => "F".to_owned(),
            Decl::Val(Ty::Double) => "D".to_owned(),
            Decl::Val(Ty::Ref(it @ Ref::Array(_))) => self.ref_name(it),
            Decl::Val(Ty::Ref(it)) => format!("L{};", self.ref_name(it)),
        }
    }

    pub(super) fn method_descriptor(&self, params: &[Decl], ret: Option<Decl>) -> String {
        let params: String = params.iter().map(|&it| self.descriptor(it)).collect();
        format!("({params}){}", ret.map_or("V".to_owned(), |it| self.descriptor(it)))
    }

    /// The index of the constructor of a class in [`World::methods`]; `None` if its body is not written yet.
    pub(super) fn constructor(&self, class: usize) -> Option<usize> {
        self.methods
            .iter()
            .position(|it| it.owner == class && it.kind == Kind::Constructor && it.cost.is_some())
    }
}

fn class(name: String, interface: bool) -> Class {
    Class { name, interface, parent: None, foreign: "java/lang/Object", interfaces: Vec::new() }
}
