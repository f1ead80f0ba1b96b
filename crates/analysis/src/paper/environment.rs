//! The open environment Γ (Fig. 3 of the paper, see [`super`]): the classes with their hierarchy; the methods with
//! their code or, for ghosts, the exceptions that they promise never to let out; the exception types; and the formula
//! MCA.

use std::sync::Arc;

use classfile::error::Result;
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::throwables::{built_in_parent, built_ins, well_known};
use flow::universe::{Parent, SetId, Throwable, Universe};
use program::hierarchy::{ClassId, Hierarchy, HierarchyOptions, Input, Link};
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::outline::{Ghost, Method, Outline, class_outline};
use rustc_hash::{FxHashMap, FxHashSet};

use super::intra::{Intra, Raises, intra};
use crate::facts::{ClassFacts, Code, MethodFact};
use crate::parts::{ClassParts, MethodPart, PartOptions, Scratch, StageTimes, Wanted};

/// The part of one class file from which the environment of profile `paper` is built.
#[derive(Clone, Debug)]
pub struct Record {
    outline: Arc<Outline>,
    /// The analysed bodies, in file order of the methods; `None` for a method without readable code. The list is
    /// empty for a class of the API (the platform).
    methods: Box<[Option<Intra>]>,
}

/// Returns the record of a class of the API (the platform). The record holds only the signatures of the methods.
///
/// # Errors
/// When the structure of the file cannot be read: the program then does not contain the class.
pub fn api_record(bytes: &[u8]) -> Result<Record> {
    Ok(api_record_of(Arc::new(class_outline(bytes)?)))
}

/// Returns the record of a class of the API (the platform) from its outline. The record holds only the signatures of
/// the methods.
pub fn api_record_of(outline: Arc<Outline>) -> Record {
    Record { outline, methods: Box::default() }
}

/// Returns the record of a class of the program.
///
/// # Errors
/// When the structure of the file cannot be read: the program then does not contain the class.
pub fn record_of_bytes(bytes: &[u8]) -> Result<Record> {
    let parts = ClassParts::read(bytes)?;
    let options = PartOptions { select: &|_| true, wanted: Wanted::All, clock: None };
    record(&parts, &parts.methods(&options, &mut Scratch::default(), &mut StageTimes::default())?)
}

/// Returns the record of a class of the program from its outline and facts.
pub fn record_of(outline: Arc<Outline>, facts: &ClassFacts) -> Record {
    let of = |it: &MethodFact| match &it.code {
        Code::Known(code) => Some(intra(&code.body, &code.facts)),
        Code::None | Code::Failed => None,
    };
    Record { outline, methods: facts.methods.iter().map(of).collect() }
}

/// Returns the record of a class of the program from its parsed class file and all its methods.
///
/// # Errors
/// When the name of a supertype or member cannot be read.
pub fn record(parts: &ClassParts<'_>, methods: &[MethodPart]) -> Result<Record> {
    let of = |it: &MethodPart| match &it.code {
        Some(Ok((code, _))) => Some(intra(&code.body, &code.facts)),
        _ => None,
    };
    Ok(Record { outline: Arc::new(parts.outline()?), methods: methods.iter().map(of).collect() })
}

/// The environment Γ of the paper: the classes, the methods and the exception types.
pub struct Environment {
    /// The hierarchy of the classes and interfaces.
    pub hierarchy: Hierarchy,
    /// E of the paper: the exception types. Each type is a separate element of exception sets, and no element stands
    /// for unknown types, because all types are known.
    pub exceptions: Universe,
    api: Vec<bool>,
    methods: Vec<Box<[Option<Intra>]>>,
    /// The methods of the API and those for which Γ^M of the paper is defined, by name and descriptor. Each list is
    /// in the order of class ids.
    definers: FxHashMap<(Name, Descriptor), Vec<MethodId>>,
}

/// The definition of a method in the environment.
#[derive(Clone, Copy, Debug)]
pub enum Definition<'a> {
    /// The method's code is available.
    Available(&'a Intra),
    /// The method's code is missing. For a ghost, with the ghost's promise (the exceptions that it never lets out);
    /// `None` for any other method.
    Unavailable(Option<&'a Ghost>),
    /// The method belongs to the API (the platform), so only its declaration matters.
    Api(&'a Method),
    /// The method is abstract, so it has no code that could run.
    Abstract,
}

/// A method that a call may run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A method that a present class declares.
    Declared(MethodId),
    /// A method of an absent class, named by the method reference in the call.
    Missing(MethodRef),
    /// A method of an absent platform class, named by the method reference in the call.
    Api(MethodRef),
}

impl Environment {
    /// Builds the environment of these records, which are in class-path order. The flag of a record says whether its
    /// class belongs to the API (the platform). Of several records of one class, the first record without ghosts is
    /// used or, if all have ghosts, the first record.
    pub fn new(records: Vec<(Record, bool)>) -> Self {
        let ghosts = |it: &Outline| it.ghost.is_some() || it.methods.iter().any(|it| it.ghost.is_some());
        let real: FxHashSet<ClassName> =
            records.iter().filter(|it| !ghosts(&it.0.outline)).map(|it| it.0.outline.class).collect();
        let mut seen = FxHashSet::default();
        let (mut outlines, mut api, mut methods) = (Vec::new(), Vec::new(), Vec::new());
        for (record, is_api) in records {
            let class = record.outline.class;
            let is_shadowed = ghosts(&record.outline) && real.contains(&class);
            if !record.outline.flags.is_module() && !is_shadowed && seen.insert(class) {
                outlines.push(record.outline);
                api.push(is_api);
                methods.push(record.methods);
            }
        }
        let role = |api: bool| if api { Role::Jdk } else { Role::App };
        let inputs = outlines.iter().zip(&api).map(|(outline, &api)| Input { outline, role: role(api) });
        let options = HierarchyOptions {
            world: WorldKind::Declared,
            platform_release: None,
            add_exports: Box::default(),
            owners: Default::default(),
            names_outside: false,
        };
        let hierarchy = Hierarchy::new(inputs, &[], &options);
        let exceptions = exception_types(&hierarchy, &methods);
        let mut acc = Environment { hierarchy, exceptions, api, methods, definers: FxHashMap::default() };
        for id in acc.method_ids() {
            if !matches!(acc.definition(id), Definition::Abstract) {
                let it = acc.declaration(id);
                acc.definers.entry((it.name, it.descriptor)).or_default().push(id);
            }
        }
        acc
    }

    /// Returns the ids of all methods of the present classes.
    pub fn method_ids(&self) -> Vec<MethodId> {
        let of = |class: ClassId| {
            let n = self.hierarchy.outline(class).methods.len() as u32;
            (0..n).map(move |index| MethodId { class, index })
        };
        self.hierarchy.ids().flat_map(of).collect()
    }

    /// Returns the declaration of a method of a present class.
    pub fn declaration(&self, id: MethodId) -> &Method {
        &self.hierarchy.outline(id.class).methods[id.index as usize]
    }

    /// Returns the value of the paper's Γ^M for a method: the method's code, or the reason why the environment has no
    /// code of it.
    pub fn definition(&self, id: MethodId) -> Definition<'_> {
        let method = self.declaration(id);
        if self.api[id.class.index()] {
            return Definition::Api(method);
        }
        let ghost = method.ghost.as_ref().or(self.hierarchy.outline(id.class).ghost.as_ref());
        if method.flags.is_abstract() {
            return Definition::Abstract;
        }
        match self.methods[id.class.index()].get(id.index as usize) {
            Some(Some(intra)) if ghost.is_none() => Definition::Available(intra),
            _ => Definition::Unavailable(ghost),
        }
    }

    /// Returns the method reference (class, name and descriptor) of a method.
    pub fn name(&self, id: MethodId) -> MethodRef {
        let method = self.declaration(id);
        MethodRef::new(self.hierarchy.name(id.class), method.name, method.descriptor)
    }

    /// Returns the result of the paper's formula MCA for a method reference: the methods that a call with this
    /// reference may run. If `is_virtual` is true, these include methods of subtypes.
    pub fn mca(&self, is_virtual: bool, method: MethodRef) -> Vec<Callee> {
        let it = method.get();
        let mut acc = self.closest(it.class, it.name, it.descriptor);
        if is_virtual {
            let definers =
                self.definers.get(&(it.name, it.descriptor)).map(Vec::as_slice).unwrap_or_default();
            for &id in definers {
                let callee = Callee::Declared(id);
                if self.is_below(id.class, it.class) && !acc.contains(&callee) {
                    acc.push(callee);
                }
            }
        }
        acc
    }

    /// Whether the class is a subtype of the class called `name` (c <: C), according to the supertypes that present
    /// classes name.
    fn is_below(&self, class: ClassId, name: ClassName) -> bool {
        match self.hierarchy.class(name) {
            Some(it) => self.hierarchy.is_known_subtype(class, it),
            None => {
                let links = |it: &ClassId| {
                    let above = self.hierarchy.interfaces(*it).iter().copied();
                    above.chain(self.hierarchy.super_class(*it))
                };
                let supers = self.hierarchy.supers(class);
                name == well_known().object
                    || supers.iter().flat_map(links).any(|it| it == Link::Outside(name))
            }
        }
    }

    /// Returns the methods of this name and descriptor that the closest supertypes of `class` define, with `class`
    /// itself as the closest. The superclasses are searched upwards first, then the superinterfaces, level by level.
    /// If the search reaches an absent type, the method is taken to be defined there.
    fn closest(&self, class: ClassName, method: Name, descriptor: Descriptor) -> Vec<Callee> {
        let named = |class: ClassName| {
            let it = MethodRef::new(class, method, descriptor);
            vec![if is_platform(class) { Callee::Api(it) } else { Callee::Missing(it) }]
        };
        let start = self.hierarchy.class(class).map_or(Link::Outside(class), Link::Present);
        let (mut at, mut interfaces) = (Some(start), Vec::new());
        while let Some(link) = at {
            let Link::Present(class) = link else {
                let Link::Outside(name) = link else { break };
                if name == well_known().object && !is_of_object(method, descriptor) {
                    break;
                }
                return named(name);
            };
            if let Some(it) = self.defined(class, method, descriptor) {
                return vec![Callee::Declared(it)];
            }
            interfaces.extend(self.hierarchy.interfaces(class));
            at = self.hierarchy.super_class(class);
        }
        let mut seen: FxHashSet<Link> = FxHashSet::default();
        while !interfaces.is_empty() {
            let level: Vec<Link> = interfaces.drain(..).filter(|&it| seen.insert(it)).collect();
            let mut found = Vec::new();
            for link in level {
                match link {
                    Link::Outside(it) => found.extend(named(it)),
                    Link::Present(it) => match self.defined(it, method, descriptor) {
                        Some(it) => found.push(Callee::Declared(it)),
                        None => interfaces.extend(self.hierarchy.interfaces(it)),
                    },
                }
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn defined(&self, class: ClassId, name: Name, descriptor: Descriptor) -> Option<MethodId> {
        let id = MethodId { class, index: self.hierarchy.method(class, name, descriptor)? };
        (!matches!(self.definition(id), Definition::Abstract)).then_some(id)
    }

    /// Returns the exceptions that a callee lets out according to its declaration alone; the empty set for a method
    /// with code.
    pub fn declared(&self, universe: &mut Universe, callee: Callee) -> SetId {
        let all = universe.all();
        match callee {
            Callee::Missing(_) => all,
            // The constructor of Object does nothing on any platform.
            Callee::Api(it) if it.get().name.bytes() == b"<init>" && it.class() == well_known().object => {
                SetId::EMPTY
            }
            Callee::Api(it) if it.get().name.bytes() == b"clone" && it.class().is_array() => SetId::EMPTY,
            Callee::Api(_) => all,
            Callee::Declared(id) => match self.definition(id) {
                Definition::Available(_) | Definition::Abstract => SetId::EMPTY,
                Definition::Unavailable(ghost) => {
                    let never = ghost.map_or(SetId::EMPTY, |it| handlers(universe, it));
                    universe.minus(all, never)
                }
                Definition::Api(method) => method.throws.iter().fold(SetId::EMPTY, |acc, &it| {
                    let cone = universe.cone(it);
                    universe.join(acc, cone)
                }),
            },
        }
    }

    /// Returns the callee's id if its code is present; `None` otherwise.
    pub fn available(&self, callee: Callee) -> Option<MethodId> {
        match callee {
            Callee::Declared(id) if matches!(self.definition(id), Definition::Available(_)) => Some(id),
            _ => None,
        }
    }

    /// Whether a callee belongs to the API (the platform); calls of such a callee are labelled ε.
    pub fn is_api(&self, callee: Callee) -> bool {
        match callee {
            Callee::Declared(id) => self.api[id.class.index()],
            Callee::Missing(_) => false,
            Callee::Api(_) => true,
        }
    }
}

/// Whether Object declares a method of this name and descriptor.
fn is_of_object(name: Name, descriptor: Descriptor) -> bool {
    const METHODS: [(&[u8], &[u8]); 12] = [
        (b"<init>", b"()V"),
        (b"clone", b"()Ljava/lang/Object;"),
        (b"equals", b"(Ljava/lang/Object;)Z"),
        (b"finalize", b"()V"),
        (b"getClass", b"()Ljava/lang/Class;"),
        (b"hashCode", b"()I"),
        (b"notify", b"()V"),
        (b"notifyAll", b"()V"),
        (b"toString", b"()Ljava/lang/String;"),
        (b"wait", b"()V"),
        (b"wait", b"(J)V"),
        (b"wait", b"(JI)V"),
    ];
    METHODS.contains(&(name.bytes(), descriptor.bytes()))
}

/// Whether only the platform may define a class of this name: the class is in a package of `java`, or is an array.
fn is_platform(class: ClassName) -> bool {
    class.bytes().starts_with(b"java/") || class.is_array()
}

/// Returns the exception types that a ghost promises never to let out, with their subtypes. The name `any` stands for
/// all types. The names are written as in source code: qualified, or simple names for classes of `java.lang`.
fn handlers(universe: &mut Universe, ghost: &Ghost) -> SetId {
    let mut acc = SetId::EMPTY;
    for name in ghost.handlers.iter().flatten() {
        if name.bytes() == b"any" {
            return universe.all();
        }
        let slashed: Vec<u8> = name.bytes().iter().map(|&b| if b == b'.' { b'/' } else { b }).collect();
        let names =
            [slashed.clone(), [b"java/lang/".as_slice(), &slashed].concat()].map(|it| ClassName::new(&it));
        if let Some(&class) = names.iter().find(|it| universe.type_of(**it).is_some()) {
            let cone = universe.cone(class);
            acc = universe.join(acc, cone);
        }
    }
    acc
}

/// Returns E of the paper, the exception types: the classes below Throwable, the exceptions that the VM raises, and
/// the classes that are thrown, caught or declared in throws clauses.
fn exception_types(hierarchy: &Hierarchy, methods: &[Box<[Option<Intra>]>]) -> Universe {
    let object = well_known().object;
    let parent = |class: ClassName| match built_in_parent(class) {
        Some(it) => Some(it),
        None => hierarchy.class(class).and_then(|it| hierarchy.super_class(it)).and_then(|it| match it {
            Link::Present(it) => Some(hierarchy.name(it)),
            // A present class that its subclass links as outside is on a cycle of supertypes, which is cut here.
            Link::Outside(it) => Some(it).filter(|it| hierarchy.class(*it).is_none()),
        }),
    };
    let mut types: FxHashSet<ClassName> = FxHashSet::default();
    let mut add = |class: ClassName| {
        let mut at = Some(class).filter(|it| *it != object && !it.is_array());
        while let Some(class) = at.filter(|&it| types.insert(it)) {
            at = parent(class).filter(|&it| it != object);
        }
    };
    built_ins().for_each(&mut add);
    let outlines = hierarchy.ids().map(|it| hierarchy.outline(it));
    outlines.flat_map(|it| &it.methods).flat_map(|it| &it.throws).for_each(|&it| add(it));
    for item in methods.iter().flat_map(|it| it.iter().flatten()).flat_map(|it| &it.items) {
        item.rows.iter().flatten().for_each(|&it| add(it));
        if let Raises::Throw(it) = item.raises {
            add(it);
        }
    }
    for class in hierarchy.ids() {
        // The loop ends at the end of the superclass chain, because links form no cycle.
        let mut at = Some(hierarchy.name(class));
        while let Some(name) = at.filter(|it| !types.contains(it)) {
            at = parent(name);
        }
        if at.is_some() {
            let mut at = Some(hierarchy.name(class));
            while let Some(name) = at.filter(|&it| types.insert(it)) {
                at = parent(name);
            }
        }
    }
    let of = |&class: &ClassName| Throwable {
        class,
        // A chain that does not reach Throwable ends in an unknown class, which is taken to be below Throwable.
        parent: match parent(class).filter(|it| types.contains(it)) {
            Some(it) => Parent::Class(it),
            None if class == well_known().throwable => Parent::Root,
            None => Parent::Class(well_known().throwable),
        },
        extensible: false,
    };
    Universe::new(&types.iter().map(of).collect::<Vec<_>>())
}
