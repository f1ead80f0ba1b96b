//! The type hierarchy of an open program, from the outlines of its classes.
//!
//! [`Hierarchy::new`] takes the class that wins for each name, in class-path order. What is asked by name may be
//! *outside*; then the answer is three-valued ([`Below`]): a chain of supertypes that leaves the known world may
//! lead to any class that an unknown class may extend. `java/lang/Object` alone is known without its class file:
//! nothing is above it.
//!
//! The members of the classes are resolved in [`crate::members`]; this room knows no method body.

mod below;
pub mod edited;
mod links;
mod open;
mod patched;

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use classfile::module::Module;
use classfile::names::{ClassName, Descriptor, Name};
use rustc_hash::FxHashMap;

use crate::input::{Role, WorldKind};
use crate::outline::Outline;

/// A class or interface that is present: its number in one [`Hierarchy`], in class-path order. It means nothing
/// in another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassId(u32);

impl ClassId {
    /// The class with this number.
    pub fn new(index: usize) -> Self {
        ClassId(index as u32)
    }

    /// Its number, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether something holds in every completion of the program, in none, or in some.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Below {
    /// In every one.
    Yes,
    /// In none.
    No,
    /// It depends on classes that are absent.
    Unknown,
}

/// A class of the program.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What can be seen of it.
    pub outline: &'a Arc<Outline>,
    /// What its container is to the program.
    pub role: Role,
}

/// What the hierarchy must know besides the classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which classes may exist besides the present ones.
    pub world: WorldKind,
    /// The release of the JDK image. From 16 on, packages that it does not export are closed (JEP 396);
    /// `None` closes nothing.
    pub platform_release: Option<u16>,
    /// Packages of the image that `--add-exports` or a manifest opens again: `sun/nio/ch`.
    pub add_exports: Box<[Name]>,
    /// The packages of classes outside the JDK image that are complete, for a reason that was given.
    pub owners: FxHashMap<Name, Owner>,
    /// Whether code or descriptors name a class that is absent. Only the `declared` world asks: there all names
    /// are known, so with nothing missing nothing can be below a known class. Absent supertypes count by
    /// themselves.
    pub names_outside: bool,
}

/// Why no class from elsewhere lies in a package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// It is of a named module.
    Module {
        /// Which one: two packages of one module have the same number.
        module: u32,
        /// Whether code that is not known may use what is public there.
        exported: bool,
    },
    /// It is sealed.
    Sealed,
}

/// A direct supertype.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Link {
    /// One that is present.
    Present(ClassId),
    /// One of which only the name is known, or where a chain was cut ([`Problem`]).
    Outside(ClassName),
}

/// A fault of the hierarchy. The JVM refuses to load a class with one, apart from [`ProblemKind::Duplicate`] and
/// [`ProblemKind::TooManySupertypes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Problem {
    /// The class at fault.
    pub class: ClassName,
    /// What is wrong.
    pub kind: ProblemKind,
    /// The supertype concerned; the class itself where there is no other.
    pub other: ClassName,
}

/// The ways in which a hierarchy can be wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProblemKind {
    /// The name came before; this definition was passed over.
    Duplicate,
    /// The class is its own supertype by this link, which is cut: `ClassCircularityError` (JVMS §5.3.5).
    Cycle,
    /// The superclass is an interface: `IncompatibleClassChangeError` (JVMS §5.3.5).
    InterfaceAsSuperclass,
    /// A superinterface is a class: `IncompatibleClassChangeError` (JVMS §5.3.5).
    ClassAsInterface,
    /// The superclass is final: `IncompatibleClassChangeError`, before Java 16 `VerifyError` (JVMS §5.3.5).
    FinalSuperclass,
    /// The supertype is sealed and does not permit the class: `IncompatibleClassChangeError` (JVMS §5.3.5).
    NotPermitted,
    /// More than [`MAX_SUPERS`] supertypes: a limit of ours. Its links are cut, its chain counts as unknown.
    TooManySupertypes,
}

/// What [`Hierarchy::new`] knew besides the classes, kept for [`Hierarchy::edit`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Surroundings {
    /// The modules of the JDK image.
    pub modules: Vec<Module>,
    /// The rest.
    pub options: Options,
}

/// How many supertypes a class may have, itself included, before its links are cut. Real classes have some dozens;
/// without a limit a chain made for the purpose would take memory with its square.
pub const MAX_SUPERS: usize = 1024;

/// How many classes are looked at before somebody is asked whether the hierarchy is still wanted.
const AT_ONCE: usize = 64;

/// The name of the root, which is known without its class file.
pub(crate) const OBJECT: &[u8] = b"java/lang/Object";

/// What closes the package of a class to classes that are not present.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Package {
    /// Nothing: others may even lie in it.
    Free,
    /// No class from elsewhere lies in it, but others may use what is public there: it is of a module that exports it,
    /// or sealed.
    Owned,
    /// It is of a module that does not export it.
    Closed,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Class {
    outline: Arc<Outline>,
    role: Role,
    package: Package,
    /// The module of the module path that it belongs to.
    module: Option<u32>,
    /// Whether the first link is the superclass.
    has_super: bool,
    links: Range<u32>,
    supers: Range<u32>,
    children: Range<u32>,
    outside: Option<ClassName>,
    /// As `outside`, by superclasses alone.
    outside_class: Option<ClassName>,
    /// Whether an unknown class may name it as a direct supertype, whatever the world.
    nameable: bool,
    /// Whether instances of such a class can come to be, too.
    extensible: bool,
    /// Whether some known subtype is nameable.
    nameable_below: bool,
    /// The nearest known subtype that is extensible, and how many links it is away.
    witness: Option<ClassId>,
    distance: u32,
}

impl Class {
    /// A class of which nothing is known but what its file says.
    fn unlinked(outline: Arc<Outline>, role: Role) -> Class {
        Class {
            outline,
            role,
            package: Package::Free,
            module: None,
            has_super: false,
            links: 0..0,
            supers: 0..0,
            children: 0..0,
            outside: None,
            outside_class: None,
            nameable: false,
            extensible: false,
            nameable_below: false,
            witness: None,
            distance: u32::MAX,
        }
    }
}

/// The classes of a program by name and by supertype.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    classes: Vec<Class>,
    by_name: FxHashMap<ClassName, ClassId>,
    links: Vec<Link>,
    supers: Vec<ClassId>,
    children: Vec<ClassId>,
    methods: Members,
    fields: Members,
    problems: Box<[Problem]>,
    object: ClassName,
    world: WorldKind,
    /// Whether some name is known whose class is absent.
    names_outside: bool,
    /// Whether it is one as the name of a supertype.
    has_absent_supertype: bool,
}

impl Default for Hierarchy {
    /// That of no class.
    fn default() -> Self {
        Hierarchy {
            classes: Vec::new(),
            by_name: FxHashMap::default(),
            links: Vec::new(),
            supers: Vec::new(),
            children: Vec::new(),
            methods: Members::default(),
            fields: Members::default(),
            problems: Box::default(),
            object: ClassName::new(OBJECT),
            world: WorldKind::Open,
            names_outside: false,
            has_absent_supertype: false,
        }
    }
}

impl Hierarchy {
    /// The hierarchy of `inputs`, which come in class-path order; where a name comes twice, the first is the class.
    /// `modules` are those of the JDK image: with none, as before Java 9, no package is closed. Files that
    /// are modules themselves are passed over.
    ///
    /// Linear in the sum of links and supertypes. Member lookup needs whole outlines: of dispatch outlines
    /// ([`Outline::dispatch`]) all but private members is right.
    pub fn new<'a>(
        inputs: impl IntoIterator<Item = Input<'a>>,
        modules: &[Module],
        options: &Options,
    ) -> Hierarchy {
        match Hierarchy::new_cancellable(inputs, modules, options, &mut || false) {
            Some(it) => it,
            None => unreachable!("nobody cancels"),
        }
    }

    /// As [`Hierarchy::new`]; `None` as soon as `cancelled`, which is asked every few dozen classes, says that it is not wanted.
    pub fn new_cancellable<'a>(
        inputs: impl IntoIterator<Item = Input<'a>>,
        modules: &[Module],
        options: &Options,
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
            by_name.insert(class, ClassId(present.len() as u32));
            present.push(it);
        }
        let members = members(&present, cancelled)?;
        Hierarchy::joined(&present, (by_name, problems), members, (modules, options), None, cancelled)
    }

    /// `before`: a hierarchy in which the same classes have the same numbers.
    fn joined(
        present: &[Input<'_>],
        (by_name, mut problems): (FxHashMap<ClassName, ClassId>, Vec<Problem>),
        (methods, fields): (Members, Members),
        (modules, options): (&[Module], &Options),
        before: Option<&Hierarchy>,
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

    /// The class of this name, if it is present.
    pub fn class(&self, name: ClassName) -> Option<ClassId> {
        self.by_name.get(&name).copied()
    }

    /// How many classes are present.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether no class is present.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// All present classes in class-path order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = ClassId> + use<> {
        (0..self.classes.len() as u32).map(ClassId)
    }

    fn at(&self, class: ClassId) -> &Class {
        &self.classes[class.index()]
    }

    /// What can be seen of the class.
    pub fn outline(&self, class: ClassId) -> &Arc<Outline> {
        &self.at(class).outline
    }

    /// Its name.
    pub fn name(&self, class: ClassId) -> ClassName {
        self.at(class).outline.class
    }

    /// What its container is to the program.
    pub fn role(&self, class: ClassId) -> Role {
        self.at(class).role
    }

    /// Whether it is an interface.
    pub fn is_interface(&self, class: ClassId) -> bool {
        self.at(class).outline.flags.is_interface()
    }

    /// Its direct superclass; `None` for `java/lang/Object`. Of an interface it is `java/lang/Object`.
    pub fn super_class(&self, class: ClassId) -> Option<Link> {
        let it = self.at(class);
        if it.has_super { self.links.get(it.links.start as usize).copied() } else { None }
    }

    /// Its direct superinterfaces in the order of the class file.
    pub fn interfaces(&self, class: ClassId) -> &[Link] {
        let links = self.links(class);
        if self.at(class).has_super { links.get(1..).unwrap_or_default() } else { links }
    }

    fn links(&self, class: ClassId) -> &[Link] {
        slice(&self.links, &self.at(class).links)
    }

    /// All its present supertypes and itself, by number. Of an interface too `java/lang/Object` is one.
    pub fn supers(&self, class: ClassId) -> &[ClassId] {
        slice(&self.supers, &self.at(class).supers)
    }

    /// Whether `sub` is `sup` or reaches it by links that are all present.
    pub fn is_known_subtype(&self, sub: ClassId, sup: ClassId) -> bool {
        self.supers(sub).binary_search(&sup).is_ok()
    }

    /// The name by which its chain leaves the known world: of all absent supertypes that it or a present supertype
    /// names directly, the smallest by text. `java/lang/Object` never counts, as nothing is above it.
    pub fn outside_above(&self, class: ClassId) -> Option<ClassName> {
        self.at(class).outside
    }

    /// As [`Hierarchy::outside_above`], by superclasses alone.
    pub fn outside_superclass(&self, class: ClassId) -> Option<ClassName> {
        self.at(class).outside_class
    }

    /// The present classes and interfaces that name it as a direct supertype, by number.
    pub fn children(&self, class: ClassId) -> &[ClassId] {
        slice(&self.children, &self.at(class).children)
    }

    /// It and all present classes and interfaces below it, by number. Costs their number.
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

    /// The faults of the hierarchy, sorted by text.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Which classes may exist besides the present ones.
    pub fn world(&self) -> WorldKind {
        self.world
    }

    /// Whether the name of an absent class is known as that of a supertype.
    pub fn has_absent_supertype(&self) -> bool {
        self.has_absent_supertype
    }

    /// Where in [`Outline::methods`] the class declares this method. Of two alike, which the JVM refuses, the first.
    pub fn method(&self, class: ClassId, name: Name, descriptor: Descriptor) -> Option<u32> {
        self.methods.get(class, name, descriptor)
    }

    /// Where in [`Outline::fields`] the class declares this field.
    pub fn field(&self, class: ClassId, name: Name, descriptor: Descriptor) -> Option<u32> {
        self.fields.get(class, name, descriptor)
    }

    pub(crate) fn package(&self, class: ClassId) -> Package {
        self.at(class).package
    }

    /// The number of the module of the module path that the class belongs to.
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

/// Whether the chain of supertypes of some class leaves the known world.
fn any_outside_above(classes: &[Class]) -> bool {
    classes.iter().any(|it| it.outside.is_some())
}

/// Whether a chain leaves the known world by this link.
fn is_outside(link: Link, object: ClassName) -> bool {
    matches!(link, Link::Outside(name) if name != object)
}

fn slice<'a, T>(items: &'a [T], range: &Range<u32>) -> &'a [T] {
    items.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// The permitted subclasses of a class that the JVM takes as sealed: class versions from 61 on, and the previews
/// of 59 and 60 (JVMS §4.7.31). An empty list seals nothing, in HotSpot.
fn permitted(outline: &Outline) -> Option<&[ClassName]> {
    let is_sealed = match outline.version {
        (minor, 59 | 60) => minor == u16::MAX,
        (_, major) => major >= 61,
    };
    outline.permitted.as_deref().filter(|it| is_sealed && !it.is_empty())
}

/// The host that a class names, if the JVM reads it: class files have nests from 55 on (JVMS §4.7.28).
pub(crate) fn nest_host(outline: &Outline) -> Option<ClassName> {
    outline.nest_host.filter(|_| outline.version.1 >= 55)
}

/// The members that a host lists, if the JVM reads them (JVMS §4.7.29).
pub(crate) fn nest_members(outline: &Outline) -> &[ClassName] {
    if outline.version.1 >= 55 { &outline.nest_members } else { &[] }
}

/// The declared methods, or fields, by class, name and descriptor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Members {
    /// Of the classes that a hierarchy began with.
    index: Arc<MemberIndex>,
    /// Of those that came later.
    later: MemberIndex,
    /// How many it began with.
    n_first: usize,
    /// For each class a bit for each name that it declares: most lookups on the way up a chain find nothing, and need
    /// not look at the index for that.
    names: Vec<u64>,
}

type MemberIndex = FxHashMap<(ClassId, Name, Descriptor), u32>;

impl Members {
    fn get(&self, class: ClassId, name: Name, descriptor: Descriptor) -> Option<u32> {
        if self.names.get(class.index()).copied().unwrap_or(0) & bit(name) == 0 {
            return None;
        }
        let index = if class.index() < self.n_first { &self.index } else { &self.later };
        index.get(&(class, name, descriptor)).copied()
    }

    /// Of two alike the first counts.
    fn new(
        n: usize,
        classes: usize,
        all: impl Iterator<Item = (ClassId, Name, Descriptor, u32)>,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let mut index = MemberIndex::default();
        let mut names = vec![0; classes];
        index.reserve(n);
        for (i, (class, name, descriptor, number)) in all.enumerate() {
            if i % (8 * AT_ONCE) == 0 && cancelled() {
                return None;
            }
            index.entry((class, name, descriptor)).or_insert(number);
            names[class.index()] |= bit(name);
        }
        let index = Arc::new(index);
        Some(Members { index, later: MemberIndex::default(), n_first: classes, names })
    }
}

fn bit(name: Name) -> u64 {
    1 << (rustc_hash::FxBuildHasher.hash_one(name) >> 58)
}

/// The declared methods and fields.
fn members(inputs: &[Input<'_>], cancelled: &mut dyn FnMut() -> bool) -> Option<(Members, Members)> {
    let (n_methods, n_fields) = (
        inputs.iter().map(|it| it.outline.methods.len()).sum(),
        inputs.iter().map(|it| it.outline.fields.len()).sum(),
    );
    let classes = || (0..).map(ClassId).zip(inputs);
    let methods = classes().flat_map(|(id, it)| {
        (0..).zip(&it.outline.methods).map(move |(number, it)| (id, it.name, it.descriptor, number))
    });
    let fields = classes().flat_map(|(id, it)| {
        (0..).zip(&it.outline.fields).map(move |(number, it)| (id, it.name, it.descriptor, number))
    });
    let methods = Members::new(n_methods, inputs.len(), methods, cancelled)?;
    Some((methods, Members::new(n_fields, inputs.len(), fields, cancelled)?))
}
