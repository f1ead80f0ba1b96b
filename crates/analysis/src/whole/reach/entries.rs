//! Entry points of a program (`semantics.md` §4.8).

use classfile::names::{ClassName, Descriptor, Name};
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::input::Role;
use program::members::MethodId;
use rustc_hash::FxHashSet;

use crate::names::Text;
use crate::whole::members::{class_initializer, declared, find_method, initialized_interfaces, method_id};
use crate::whole::program::{Options, Program};
use crate::whole::reachable::{EntryPoint, WhyEntry};

/// What is written beside the classes about where a program starts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Declared {
    /// The attribute of a manifest that names an agent: `Premain-Class`, and the class.
    Agent(String, String),
    /// A service and a class that provides it.
    Service(String, String),
}

/// Which entry points are wanted.
pub struct EntryChoice<'a> {
    /// What a launcher starts: `main` methods, agents, services.
    pub app: bool,
    /// What code that is not present can use of the program.
    pub library: bool,
    /// What is written beside the classes.
    pub declared: &'a [Declared],
    /// The methods that the user named; of the program and of its libraries.
    pub selects: &'a dyn Fn(MethodId) -> bool,
}

/// The entry points that are wanted, in the order of the hierarchy; of one method the first reason in the order of
/// [`WhyEntry`].
pub fn entry_points(program: &Program, options: &Options, choice: &EntryChoice<'_>) -> Vec<EntryPoint> {
    let mut acc = Vec::new();
    let hierarchy = &*program.hierarchy;
    if choice.app {
        for class in hierarchy.ids().filter(|&it| hierarchy.role(it) == Role::App) {
            main(hierarchy, options.release, class, &mut acc);
        }
        choice.declared.iter().for_each(|it| declared_entries(hierarchy, it, &mut acc));
    }
    if choice.library {
        for class in hierarchy.ids().filter(|&it| hierarchy.role(it) == Role::App) {
            library(hierarchy, class, &mut acc);
        }
    }
    for method in program.methods().filter(|&it| (choice.selects)(it)) {
        acc.push(EntryPoint { method, why: WhyEntry::Selected });
    }
    let mut seen = FxHashSet::default();
    acc.retain(|it| seen.insert(it.method));
    acc.sort_by_key(|it| (it.method.class.index(), it.method.index));
    acc
}

/// What the launcher of this release runs when it is given the class (JLS §12.1.4; `sun.launcher.LauncherHelper`).
fn main(hierarchy: &Hierarchy, release: Option<u16>, class: ClassId, acc: &mut Vec<EntryPoint>) {
    let name = Text(hierarchy.name(class).bytes());
    let arguments = inherited_main(hierarchy, class, b"([Ljava/lang/String;)V");
    let flags = |it: MethodId| declared(hierarchy, it).flags;
    let traditional = arguments.filter(|&it| flags(it).is_static() && flags(it).is_public());
    let modern = || {
        if !has_instance_main(release, hierarchy.outline(class).version) {
            return None;
        }
        arguments.or_else(|| inherited_main(hierarchy, class, b"()V"))
    };
    let Some(method) = traditional.or_else(modern) else { return };
    if flags(method).is_static() {
        acc.push(EntryPoint { method, why: WhyEntry::Main(name) });
        inherited_initializers(hierarchy, class, method.class, acc);
        return;
    }
    // Made by a constructor without parameters that is not private.
    let constructor = find_method(hierarchy, class, Name::new(b"<init>"), Descriptor::new(b"()V"));
    let usable = |it: &MethodId| !flags(*it).is_private();
    if let Some(constructor) = constructor.filter(usable)
        && !hierarchy.outline(class).flags.is_abstract()
    {
        acc.push(EntryPoint { method, why: WhyEntry::Main(name) });
        acc.push(EntryPoint { method: constructor, why: WhyEntry::MainObject(name) });
    }
}

/// What initialising a class runs below the one that declares its `main`.
fn inherited_initializers(
    hierarchy: &Hierarchy,
    class: ClassId,
    declares: ClassId,
    acc: &mut Vec<EntryPoint>,
) {
    let why = WhyEntry::MainClass(Text(hierarchy.name(class).bytes()));
    let mut at = class;
    while at != declares {
        let interfaces = initialized_interfaces(hierarchy, at).into_iter().filter_map(|it| match it {
            Link::Present(it) => Some(it),
            Link::Outside(_) => None,
        });
        let initializers =
            std::iter::once(at).chain(interfaces).filter_map(|it| class_initializer(hierarchy, it));
        acc.extend(initializers.map(|method| EntryPoint { method, why }));
        let Some(Link::Present(above)) = hierarchy.super_class(at) else { break };
        at = above;
    }
}

/// Whether the launcher runs `main` methods of objects, or without parameters: from Java 25 on (JEP 512), before that in
/// classes that use the preview of their release.
fn has_instance_main(release: Option<u16>, version: (u16, u16)) -> bool {
    let (minor, major) = version;
    let release = release.unwrap_or(25);
    release >= 25 || release >= 21 && minor == u16::MAX && major == release + 44
}

/// The `main` of this descriptor that the class declares or inherits, if it has code and is not private.
fn inherited_main(hierarchy: &Hierarchy, class: ClassId, descriptor: &[u8]) -> Option<MethodId> {
    let (name, descriptor) = (Name::new(b"main"), Descriptor::new(descriptor));
    let runs = |it: MethodId| {
        let flags = declared(hierarchy, it).flags;
        !flags.is_private() && !flags.is_abstract()
    };
    let mut at = Some(class);
    while let Some(above) = at {
        // The launcher takes package-private ones of other packages, too.
        if let Some(it) = find_method(hierarchy, above, name, descriptor).filter(|&it| runs(it)) {
            return Some(it);
        }
        at = match hierarchy.super_class(above) {
            Some(Link::Present(it)) => Some(it),
            _ => None,
        };
    }
    // Default methods are inherited, static ones of interfaces are not.
    let interfaces = hierarchy.supers(class).iter().filter(|&&it| it != class && hierarchy.is_interface(it));
    let defaults = interfaces.filter_map(|&it| find_method(hierarchy, it, name, descriptor));
    defaults.into_iter().find(|&it| runs(it) && !declared(hierarchy, it).flags.is_static())
}

fn declared_entries(hierarchy: &Hierarchy, it: &Declared, acc: &mut Vec<EntryPoint>) {
    let class = |name: &str| {
        let internal: Vec<u8> = name.bytes().map(|it| if it == b'.' { b'/' } else { it }).collect();
        hierarchy.class(ClassName::new(&internal))
    };
    match it {
        Declared::Agent(attribute, name) => {
            let Some(class) = class(name) else { return };
            let method: &[u8] =
                if attribute.eq_ignore_ascii_case("Premain-Class") { b"premain" } else { b"agentmain" };
            for descriptor in [
                &b"(Ljava/lang/String;Ljava/lang/instrument/Instrumentation;)V"[..],
                b"(Ljava/lang/String;)V",
            ] {
                let found = find_method(hierarchy, class, Name::new(method), Descriptor::new(descriptor));
                let why = WhyEntry::Agent(Text(Name::new(attribute.as_bytes()).bytes()));
                acc.extend(found.map(|method| EntryPoint { method, why }));
            }
        }
        Declared::Service(service, name) => {
            let Some(class) = class(name) else { return };
            let why = WhyEntry::Service(Text(Name::new(service.as_bytes()).bytes()));
            for (index, method) in hierarchy.outline(class).methods.iter().enumerate() {
                let flags = method.flags;
                let is_provider = method.name.bytes() == b"provider"
                    && flags.is_static()
                    && method.descriptor.bytes().starts_with(b"()L");
                let is_constructor = method.name.bytes() == b"<init>" && method.descriptor.bytes() == b"()V";
                if flags.is_public() && (is_provider || is_constructor) {
                    acc.push(EntryPoint { method: method_id(class, index), why });
                }
            }
        }
    }
}

fn library(hierarchy: &Hierarchy, class: ClassId, acc: &mut Vec<EntryPoint>) {
    if !hierarchy.nameable_outside(class) && hierarchy.children(class).is_empty() {
        return;
    }
    if let Some(method) = class_initializer(hierarchy, class) {
        acc.push(EntryPoint { method, why: WhyEntry::Initializer });
    }
    let outline = hierarchy.outline(class);
    for (index, method) in outline.methods.iter().enumerate() {
        let flags = method.flags;
        if method.name.bytes() == b"<clinit>" || !hierarchy.usable_outside(class, flags) {
            continue;
        }
        let closed = flags.is_static() || flags.is_final() || flags.is_private() || outline.flags.is_final();
        let why = match method.name.bytes() {
            b"<init>" => WhyEntry::Constructible,
            _ if closed => WhyEntry::Callable,
            _ => WhyEntry::Overridable,
        };
        acc.push(EntryPoint { method: method_id(class, index), why });
    }
}
