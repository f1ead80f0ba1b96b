//! The type hierarchy of an open program, built from the outlines of its classes.
//!
//! [`Hierarchy::new`] takes the classes in class-path order; the first class of each name is used. A class named in
//! a query may be absent (*outside*), so subtyping has a three-valued answer ([`Below`]): a chain of supertypes
//! that leaves the known classes may lead to any class that an unknown class may extend. `java/lang/Object` is the
//! only class known without its class file: it has no supertypes.
//!
//! The members of the classes are resolved in [`crate::members`]; this module reads no method bodies.

mod absent;
mod class;
mod edit;
pub mod edited;
mod links;
mod member_index;
mod open;
mod overrides;
mod patched;

use std::sync::Arc;

use classfile::module::Module;
use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashMap;

use self::class::{Class, any_outside_above, slice};
pub use self::class::{ClassId, Link, permitted};
pub(crate) use self::class::{Package, nest_host, nest_members};
use self::member_index::{MemberIndex, members};
use crate::input::{Role, WorldKind};
use crate::outline::Outline;

/// A three-valued answer to a question about a program with absent classes: whether a property holds for all possible
/// contents of the absent classes, for none, or only for some.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Below {
    /// The property holds, whatever the absent classes contain.
    Yes,
    /// The property does not hold, whatever the absent classes contain.
    No,
    /// Whether the property holds depends on absent classes.
    Unknown,
}

/// A class of the program, as input of [`Hierarchy::new`].
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The outline of the class.
    pub outline: &'a Arc<Outline>,
    /// The role of the container that the class comes from.
    pub role: Role,
}

/// The settings of the hierarchy, apart from its classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HierarchyOptions {
    /// Which classes may exist besides the present ones.
    pub world: WorldKind,
    /// The feature release of the JDK image. From 16 on, unknown code cannot use the packages that the image does not
    /// export (JEP 396). With an older release or `None`, unknown code can use all packages of the image.
    pub platform_release: Option<u16>,
    /// Unexported packages that unknown code may use because of `--add-exports` or a manifest, such as `sun/nio/ch`.
    pub add_exports: Box<[Name]>,
    /// The packages outside the JDK image to which no unknown class can belong, each with the reason.
    pub owners: FxHashMap<Name, Owner>,
    /// Whether code or descriptors of the program name an absent class. The flag matters only in the `declared`
    /// world: there all names are known, so if no absent class is named, no known class has unknown subtypes. The
    /// flag need not cover absent supertypes, because the hierarchy finds these itself.
    pub names_outside: bool,
}

/// The reason why no absent class can belong to a package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The package belongs to a named module.
    Module {
        /// The number of the module: packages of the same module have the same number.
        module: u32,
        /// Whether unknown code may use the public classes of the package.
        exported: bool,
    },
    /// The package is sealed.
    Sealed,
}

/// A fault in the links between classes. Because of each fault, except [`ProblemKind::Duplicate`] and
/// [`ProblemKind::TooManySupertypes`], the JVM refuses to load the class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Problem {
    /// The class that has the faulty link, or that is defined more than once.
    pub class: ClassName,
    /// The kind of fault.
    pub kind: ProblemKind,
    /// The supertype that causes the fault; equal to `class` if no other class is involved.
    pub other: ClassName,
}

/// The kinds of faults of a hierarchy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProblemKind {
    /// A class earlier in the class-path order has the same name; this definition is ignored.
    Duplicate,
    /// The link to the supertype is part of a cycle of supertypes, and is cut: `ClassCircularityError` (JVMS §5.3.5).
    Cycle,
    /// The superclass is an interface: `IncompatibleClassChangeError` (JVMS §5.3.5).
    InterfaceAsSuperclass,
    /// A superinterface is a class: `IncompatibleClassChangeError` (JVMS §5.3.5).
    ClassAsInterface,
    /// The superclass is final: `IncompatibleClassChangeError`, before Java 16 `VerifyError` (JVMS §5.3.5).
    FinalSuperclass,
    /// The supertype is sealed and does not permit the class: `IncompatibleClassChangeError` (JVMS §5.3.5).
    NotPermitted,
    /// The class overrides a final method of the superclass: `IncompatibleClassChangeError`, before Java 16
    /// `VerifyError` (JVMS §5.3.5).
    FinalMethod,
    /// The class has more than [`MAX_SUPERS`] supertypes, a limit of this implementation. The links of the class are
    /// cut, and its supertypes count as unknown.
    TooManySupertypes,
}

/// The inputs of [`Hierarchy::new`] other than the classes. Each [`Hierarchy::edit`] takes them, too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Surroundings {
    /// The modules of the JDK image.
    pub modules: Vec<Module>,
    /// The settings of the hierarchy.
    pub options: HierarchyOptions,
}

/// The maximum number of supertypes of a class, including the class; the links of a class with more are cut. Real
/// classes have some dozens. Without a limit, the memory for a crafted chain would grow with the square of its
/// length.
pub const MAX_SUPERS: usize = 1024;

/// The number of classes processed between two checks for cancellation.
const AT_ONCE: usize = 64;

/// The name of the root class, which is known without its class file.
pub(crate) const OBJECT: &[u8] = b"java/lang/Object";

/// The classes of a program, by name and by supertype.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    classes: Vec<Class>,
    by_name: FxHashMap<ClassName, ClassId>,
    links: Vec<Link>,
    supers: Vec<ClassId>,
    children: Vec<ClassId>,
    methods: MemberIndex,
    fields: MemberIndex,
    problems: Box<[Problem]>,
    object: ClassName,
    world: WorldKind,
    /// Whether the program names some absent class, in code, in a descriptor or as a supertype.
    names_outside: bool,
    /// Whether some present class names an absent class other than `java/lang/Object` as a direct supertype.
    has_absent_supertype: bool,
}

impl Default for Hierarchy {
    /// Returns a hierarchy that has no classes.
    fn default() -> Self {
        Hierarchy {
            classes: Vec::new(),
            by_name: FxHashMap::default(),
            links: Vec::new(),
            supers: Vec::new(),
            children: Vec::new(),
            methods: MemberIndex::default(),
            fields: MemberIndex::default(),
            problems: Box::default(),
            object: ClassName::new(OBJECT),
            world: WorldKind::Open,
            names_outside: false,
            has_absent_supertype: false,
        }
    }
}

impl Hierarchy {
    /// Builds the hierarchy of `inputs`, which must be in class-path order; of several classes with one name, the
    /// first is used. `modules` holds the modules of the JDK image; if there are none, as before Java 9, unknown code
    /// can use all packages of the image. `module-info` classes are skipped.
    ///
    /// Takes time linear in the number of links and supertypes. The outlines must have all members: private members
    /// that an outline omits are not found.
    pub fn new<'a>(
        inputs: impl IntoIterator<Item = Input<'a>>,
        modules: &[Module],
        options: &HierarchyOptions,
    ) -> Hierarchy {
        match Hierarchy::new_cancellable(inputs, modules, options, &mut || false) {
            Some(it) => it,
            None => unreachable!("building the hierarchy was cancelled, although this caller never cancels"),
        }
    }

    /// Like [`Hierarchy::new`], but returns `None` if `cancelled` returns true. `cancelled` is called every few dozen
    /// classes.
    pub fn new_cancellable<'a>(
        inputs: impl IntoIterator<Item = Input<'a>>,
        modules: &[Module],
        options: &HierarchyOptions,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Option<Hierarchy> {
        let mut by_name = FxHashMap::default();
        let mut problems = Vec::new();
        let mut present: Vec<Input<'a>> = Vec::new();
        for (i, it) in inputs.into_iter().enumerate() {
            if i % AT_ONCE == 0 && cancelled() {
                return None;
            }
            let class = it.outline.class;
            if it.outline.flags.is_module() {
                continue;
            }
            if by_name.contains_key(&class) {
                problems.push(Problem { class, kind: ProblemKind::Duplicate, other: class });
                continue;
            }
            by_name.insert(class, ClassId::from_index(present.len()));
            present.push(it);
        }
        let members = members(&present, cancelled)?;
        let mut acc = joined(&present, (by_name, problems), members, (modules, options), &[], cancelled)?;
        let all: Vec<ClassId> = acc.ids().collect();
        overrides::renew_overrides(&mut acc, &[], &all);
        Some(acc)
    }

    /// Returns the class with this name, if it is present.
    pub fn class(&self, name: ClassName) -> Option<ClassId> {
        self.by_name.get(&name).copied()
    }

    /// Returns the number of present classes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Returns whether no class is present.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Returns all present classes in class-path order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = ClassId> + use<> {
        (0..self.classes.len()).map(ClassId::from_index)
    }

    fn at(&self, class: ClassId) -> &Class {
        &self.classes[class.index()]
    }

    /// Returns the outline of the class.
    pub fn outline(&self, class: ClassId) -> &Arc<Outline> {
        &self.at(class).outline
    }

    /// Returns whether the id belongs to a removed class.
    pub fn is_vacant(&self, class: ClassId) -> bool {
        self.at(class).is_vacant()
    }

    /// Returns the name of the class.
    pub fn name(&self, class: ClassId) -> ClassName {
        self.at(class).outline.class
    }

    /// Returns the role of the container that the class comes from.
    pub fn role(&self, class: ClassId) -> Role {
        self.at(class).role
    }

    /// Returns whether the class is an interface.
    pub fn is_interface(&self, class: ClassId) -> bool {
        self.at(class).outline.flags.is_interface()
    }

    /// Returns the direct superclass of the class; `None` for `java/lang/Object`. The superclass of an interface is
    /// `java/lang/Object`.
    pub fn super_class(&self, class: ClassId) -> Option<Link> {
        let it = self.at(class);
        if it.has_super { self.links.get(it.links.start as usize).copied() } else { None }
    }

    /// Returns the direct superinterfaces of the class in class-file order.
    pub fn interfaces(&self, class: ClassId) -> &[Link] {
        let links = self.links(class);
        if self.at(class).has_super { links.get(1..).unwrap_or_default() } else { links }
    }

    fn links(&self, class: ClassId) -> &[Link] {
        slice(&self.links, &self.at(class).links)
    }

    /// Returns the class and all its present supertypes, sorted by id. The supertypes of an interface include
    /// `java/lang/Object`.
    pub fn supers(&self, class: ClassId) -> &[ClassId] {
        slice(&self.supers, &self.at(class).supers)
    }

    /// Returns whether `sub` equals `sup`, or is a subtype of `sup` through a chain of present classes.
    pub fn is_known_subtype(&self, sub: ClassId, sup: ClassId) -> bool {
        self.supers(sub).binary_search(&sup).is_ok()
    }

    /// Returns the smallest name, in byte order, of an absent class that the class or one of its present supertypes
    /// names as a direct supertype. `java/lang/Object` never counts as absent, because it has no supertypes.
    pub fn outside_above(&self, class: ClassId) -> Option<ClassName> {
        self.at(class).outside
    }

    /// Returns the absent class at which the chain of superclasses of the class leaves the present classes, if any.
    /// Unlike [`Hierarchy::outside_above`], superinterfaces are not followed.
    pub fn outside_superclass(&self, class: ClassId) -> Option<ClassName> {
        self.at(class).outside_class
    }

    /// Returns the present classes and interfaces that name `class` as a direct supertype, sorted by id.
    pub fn children(&self, class: ClassId) -> &[ClassId] {
        slice(&self.children, &self.at(class).children)
    }

    /// Returns the class and all present classes and interfaces below the class, sorted by id. Takes time linear in
    /// the number of links between these classes, apart from the sort.
    pub fn subtypes(&self, class: ClassId) -> Vec<ClassId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut out = vec![class];
        seen.insert(class);
        let mut next = 0;
        while let Some(&it) = out.get(next) {
            next += 1;
            out.extend(self.children(it).iter().filter(|it| seen.insert(**it)));
        }
        out.sort_unstable();
        out
    }

    /// Returns the faults of the hierarchy, sorted by class name.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns which classes may exist besides the present ones.
    pub fn world(&self) -> WorldKind {
        self.world
    }

    /// Returns whether some present class names an absent class other than `java/lang/Object` as a direct supertype.
    pub fn has_absent_supertype(&self) -> bool {
        self.has_absent_supertype
    }

    /// Returns the index in [`Outline::methods`] of the method that the class declares with this name and descriptor.
    /// If the class declares two such methods, which the JVM refuses, returns the first. Returns `None` if there is
    /// none.
    pub fn method(&self, class: ClassId, name: Name, descriptor: Descriptor) -> Option<u32> {
        self.methods.get(class, name, descriptor)
    }

    /// Returns the index in [`Outline::fields`] of the field that the class declares with this name and descriptor;
    /// `None` if there is none.
    pub fn field(&self, class: ClassId, name: Name, descriptor: Descriptor) -> Option<u32> {
        self.fields.get(class, name, descriptor)
    }

    pub(crate) fn package(&self, class: ClassId) -> Package {
        self.at(class).package
    }

    /// Returns the number of the class's named module; `None` if the class is in the unnamed module or in the JDK
    /// image.
    pub(crate) fn module(&self, class: ClassId) -> Option<u32> {
        self.at(class).module
    }

    pub(crate) fn is_object(&self, name: ClassName) -> bool {
        name == self.object
    }

    pub(crate) fn object(&self) -> ClassName {
        self.object
    }
}

/// Builds a hierarchy from the classes `present` and the indices of their methods and fields. `before` holds the
/// classes of an earlier version of the hierarchy, or is empty; facts that cannot have changed since are copied from
/// there. Classes that are in both versions must have the same ids in both. The result lacks the problems that
/// [`overrides::renew_overrides`] finds. Returns `None` if `cancelled` returns true.
fn joined(
    present: &[Input<'_>],
    (by_name, mut problems): (FxHashMap<ClassName, ClassId>, Vec<Problem>),
    (methods, fields): (MemberIndex, MemberIndex),
    (modules, options): (&[Module], &HierarchyOptions),
    before: &[Class],
    cancelled: &mut dyn FnMut() -> bool,
) -> Option<Hierarchy> {
    let object = ClassName::new(OBJECT);
    let shape = links::Shape::new(present, &by_name, object, &mut problems, cancelled)?;
    let mut classes = shape.classes(present);
    open::fill(&mut classes, &by_name, &shape, (modules, options), before, cancelled)?;
    links::refused(&classes, &shape.links, &mut problems);
    problems.sort_by_key(|it| (it.class.bytes(), it.kind, it.other.bytes()));
    problems.dedup();
    let has_absent_supertype = any_outside_above(&classes);
    if cancelled() {
        return None;
    }
    Some(Hierarchy {
        classes,
        by_name,
        links: shape.links,
        supers: shape.supers,
        children: shape.children,
        methods,
        fields,
        problems: problems.into(),
        object,
        world: options.world,
        names_outside: options.names_outside || has_absent_supertype,
        has_absent_supertype,
    })
}
