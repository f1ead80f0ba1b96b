//! Finds the entry points of a program (`semantics.md` §4.8).

use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, Name};
use program::hierarchy::{ClassId, Hierarchy, Link};
use program::initialization::{Initializer, class_initializer, walk};
use program::input::Role;
use program::members::MethodId;
use program::members::declared::{declared, find_method};
use program::names::Text;
use program::outline::Method;
use rustc_hash::FxHashSet;

use crate::whole::reachable::{EntryPoint, EntryReason};
use crate::whole::tables::{ClassTable, WholeOptions};

/// An entry point that is declared outside code: in a manifest, or as the provider of a service.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Declared {
    /// The class of this name, which the attribute `Main-Class` of a manifest names. It may be a class of a library, such
    /// as the launcher in a Spring Boot archive.
    Main(String),
    /// An agent: the manifest attribute that names its class (such as `Premain-Class`), and the name of the class.
    Agent(String, String),
    /// The provider of a service: the name of the service, and the name of the class that provides it.
    Service(String, String),
}

/// The entry points that the user requests, by kind.
pub struct EntryChoice<'a> {
    /// Whether to include the methods that a launcher runs: `main` methods, and the methods of agents and services.
    pub app: bool,
    /// Whether to include the methods of the program that code of absent classes can use.
    pub library: bool,
    /// The entry points that manifests and service declarations name.
    pub declared: &'a [Declared],
    /// Returns whether the user selected this method as an entry point. The method may be in the program or in its
    /// libraries.
    pub selects: &'a dyn Fn(MethodId) -> bool,
}

/// Returns the requested entry points, in the order of the hierarchy. A method that is an entry point for several
/// reasons is returned once, with the reason that comes first in [`EntryReason`].
pub fn entry_points(
    program: &ClassTable,
    options: &WholeOptions,
    choice: &EntryChoice<'_>,
) -> Vec<EntryPoint> {
    let mut acc = Vec::new();
    let hierarchy = &*program.hierarchy;
    if choice.app {
        for class in hierarchy.ids().filter(|&it| hierarchy.role(it) == Role::App) {
            main(hierarchy, options.release, class, &mut acc);
        }
        choice.declared.iter().for_each(|it| declared_entries(hierarchy, options.release, it, &mut acc));
    }
    if choice.library {
        for class in hierarchy.ids().filter(|&it| hierarchy.role(it) == Role::App) {
            library(hierarchy, class, &mut acc);
        }
    }
    for method in program.methods().filter(|&it| (choice.selects)(it)) {
        acc.push(EntryPoint { method, why: EntryReason::Selected });
    }
    let mut seen = FxHashSet::default();
    acc.retain(|it| seen.insert(it.method));
    acc.sort_by_key(|it| (it.method.class.index(), it.method.index));
    acc
}

/// Adds the methods that the Java launcher of this release runs if it is started with the class (JLS §12.1.4;
/// `sun.launcher.LauncherHelper`). The launcher chooses a method `main` by reflection. JNI then looks up the name and
/// descriptor of this method in the class again, and calls the method that it finds. That may be another method, even
/// a private one, which a class below the class of the chosen method declares.
fn main(hierarchy: &Hierarchy, release: Option<u16>, class: ClassId, acc: &mut Vec<EntryPoint>) {
    let release = release.unwrap_or(25);
    let Some(chosen) = chosen_main(hierarchy, release, class).map(|it| declared(hierarchy, it)) else {
        return;
    };
    let name = Text(hierarchy.name(class).bytes());
    let flags = |it: MethodId| declared(hierarchy, it).flags;
    let runs = first_above(hierarchy, class, chosen.descriptor, |_| true)
        .or_else(|| default_main(hierarchy, class, chosen.descriptor))
        .filter(|&it| flags(it).is_static() == chosen.flags.is_static() && !flags(it).is_abstract());
    let main = runs.map(|method| EntryPoint { method, why: EntryReason::Main(name) });
    if chosen.flags.is_static() {
        acc.extend(main);
        launched_initializers(hierarchy, class, runs.map(|it| it.class), acc);
        return;
    }
    // The launcher creates the object by a constructor without parameters that is not private.
    let constructor = find_method(hierarchy, class, Name::new(b"<init>"), Descriptor::new(b"()V"));
    let Some(constructor) = constructor.filter(|&it| !flags(it).is_private()) else { return };
    if !hierarchy.outline(class).flags.is_abstract() {
        acc.extend(main);
        acc.push(EntryPoint { method: constructor, why: EntryReason::MainObject(name) });
    } else if release < 25 {
        // Later releases detect the abstract class before they initialise it.
        launched_initializers(hierarchy, class, None, acc);
    }
}

/// Adds the initialisers that run when the launcher initialises `class`. If `declares` is given, it is the class that
/// declares the `main` to run, and only the initialisers of classes below `declares` are added.
fn launched_initializers(
    hierarchy: &Hierarchy,
    class: ClassId,
    declares: Option<ClassId>,
    acc: &mut Vec<EntryPoint>,
) {
    let why = EntryReason::MainClass(Text(hierarchy.name(class).bytes()));
    let initialized = |initializer| match initializer {
        Initializer::Present(method) => acc.push(EntryPoint { method, why }),
        Initializer::Absent(_) => {}
    };
    walk(hierarchy, class, |it| Some(it) != declares, initialized);
}

/// Returns the class and its superclasses, up to the first absent superclass.
fn above(hierarchy: &Hierarchy, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
    std::iter::successors(Some(class), |&it| match hierarchy.super_class(it) {
        Some(Link::Present(it)) => Some(it),
        _ => None,
    })
}

/// Returns the `main` that the launcher of this release chooses; `None` if the launcher finds none. Since Java 25
/// (JEP 512), the launcher also chooses instance mains and mains without parameters; in earlier releases only in
/// classes that use the preview features of the release.
fn chosen_main(hierarchy: &Hierarchy, release: u16, class: ClassId) -> Option<MethodId> {
    let (minor, major) = hierarchy.outline(class).version;
    let is_preview = release >= 21 && minor == u16::MAX && major == release + 44;
    if release == 21 && is_preview {
        return first_preview_main(hierarchy, class);
    }
    let flags = |it: MethodId| declared(hierarchy, it).flags;
    let arguments = Descriptor::new(b"([Ljava/lang/String;)V");
    // The launcher also accepts package-private methods of other packages.
    let find = |descriptor, wanted: &dyn Fn(Flags) -> bool| {
        let in_classes = first_above(hierarchy, class, descriptor, wanted);
        in_classes.or_else(|| default_main(hierarchy, class, descriptor))
    };
    let public = find(arguments, &Flags::is_public);
    if !is_preview && release < 25 {
        return public.filter(|&it| flags(it).is_static());
    }
    let valid = |it: &MethodId| !flags(*it).is_private();
    let with_arguments = public.or_else(|| find(arguments, &|_| true)).filter(valid);
    with_arguments.or_else(|| find(Descriptor::new(b"()V"), &|_| true).filter(valid))
}

/// Returns the method `main` with this descriptor and with flags that `wanted` accepts, from the class or the nearest
/// superclass that declares such a method; `None` if there is none.
fn first_above(
    hierarchy: &Hierarchy,
    class: ClassId,
    descriptor: Descriptor,
    wanted: impl Fn(Flags) -> bool,
) -> Option<MethodId> {
    let found =
        above(hierarchy, class).filter_map(|it| find_method(hierarchy, it, Name::new(b"main"), descriptor));
    found.into_iter().find(|&it| wanted(declared(hierarchy, it).flags))
}

/// Returns the default method `main` with this descriptor that the class inherits from an interface; `None` if there
/// is none. Static methods of interfaces are not inherited.
fn default_main(hierarchy: &Hierarchy, class: ClassId, descriptor: Descriptor) -> Option<MethodId> {
    let interfaces = hierarchy.supers(class).iter().filter(|&&it| it != class && hierarchy.is_interface(it));
    let found = interfaces.filter_map(|&it| find_method(hierarchy, it, Name::new(b"main"), descriptor));
    let is_default = |it: MethodId| {
        let flags = declared(hierarchy, it).flags;
        !flags.is_static() && !flags.is_private() && !flags.is_abstract()
    };
    found.into_iter().find(|&it| is_default(it))
}

/// Returns the `main` that the launcher of Java 21 chooses in a class that uses preview features (JEP 445); `None` if
/// it chooses none that can run. The launcher examines the class, then each superclass, and chooses from the first of
/// them that declares a suitable method. In the class itself, static methods are preferred to instance methods; of
/// superclasses, only instance methods are suitable. If this leaves several methods of the class, one with a
/// `String[]` parameter is preferred to one without. Default methods of interfaces are not examined. A chosen `main`
/// that does not return `void` is rejected, and no other is chosen. All this is what JDK 21.0.8 does. JEP 445
/// differs: an instance main with a parameter in any superclass is preferred to all instance mains without.
fn first_preview_main(hierarchy: &Hierarchy, class: ClassId) -> Option<MethodId> {
    let returns_nothing = |it: &Method| it.descriptor.bytes().ends_with(b")V");
    let chosen = above(hierarchy, class).find_map(|at| {
        let is_candidate = |it: &Method| {
            let parameters = it.descriptor.bytes().split(|&it| it == b')').next().unwrap_or_default();
            it.name.bytes() == b"main"
                && [&b"("[..], b"([Ljava/lang/String;"].contains(&parameters)
                && !it.flags.is_private()
                && !it.flags.is_synthetic()
                && (at == class || !it.flags.is_static())
        };
        let candidates = hierarchy.outline(at).methods.iter().enumerate().filter(|it| is_candidate(it.1));
        // Of two methods that differ only in the return type, the launcher may choose either; the one that can run is
        // returned.
        let order = |it: &Method| {
            (!it.flags.is_static(), it.descriptor.bytes().starts_with(b"()"), !returns_nothing(it))
        };
        candidates.min_by_key(|it| order(it.1)).map(|it| MethodId::new(at, it.0))
    });
    chosen.filter(|&it| returns_nothing(declared(hierarchy, it)))
}

/// Adds the methods that the agent loader calls in a class that a manifest names by `attribute`
/// (`sun.instrument.InstrumentationImpl`): the method with two parameters or, if there is none, the method with one
/// parameter, with any return type. Since Java 17 (JDK-8248189) the class must declare the method, and the method
/// must be public. In earlier releases access did not matter, and public methods were inherited.
fn agent(
    hierarchy: &Hierarchy,
    release: Option<u16>,
    class: ClassId,
    attribute: &str,
    acc: &mut Vec<EntryPoint>,
) {
    const PARAMETERS: [&[u8]; 2] =
        [b"(Ljava/lang/String;Ljava/lang/instrument/Instrumentation;)", b"(Ljava/lang/String;)"];
    let name: &[u8] = if attribute.eq_ignore_ascii_case("Premain-Class") { b"premain" } else { b"agentmain" };
    let is_old = release.is_some_and(|it| it < 17);
    let declared_in = |class: ClassId, parameters: &[u8], wanted: &dyn Fn(Flags) -> bool| {
        let methods = hierarchy.outline(class).methods.iter().enumerate();
        let found = methods.filter(|(_, it)| {
            it.name.bytes() == name && it.descriptor.bytes().starts_with(parameters) && wanted(it.flags)
        });
        found.map(|it| MethodId::new(class, it.0)).collect::<Vec<_>>()
    };
    let some = |it: Vec<MethodId>| Some(it).filter(|it| !it.is_empty());
    let mut found = PARAMETERS.iter().find_map(|it| some(declared_in(class, it, &|_| true)));
    if found.is_none() && is_old {
        let inherited = |parameters: &[u8]| {
            above(hierarchy, class).find_map(|it| some(declared_in(it, parameters, &Flags::is_public)))
        };
        found = PARAMETERS.iter().find_map(|it| inherited(it));
    }
    let runs = |it: &MethodId| {
        let flags = declared(hierarchy, *it).flags;
        flags.is_static() && (is_old || flags.is_public())
    };
    let why = EntryReason::Agent(Text(Name::new(attribute.as_bytes()).bytes()));
    let found = found.unwrap_or_default().into_iter().filter(runs);
    acc.extend(found.map(|method| EntryPoint { method, why }));
}

fn declared_entries(hierarchy: &Hierarchy, release: Option<u16>, it: &Declared, acc: &mut Vec<EntryPoint>) {
    let class = |name: &str| {
        let internal: Vec<u8> = name.bytes().map(|it| if it == b'.' { b'/' } else { it }).collect();
        hierarchy.class(ClassName::new(&internal))
    };
    match it {
        Declared::Main(name) => {
            let Some(class) = class(name) else { return };
            main(hierarchy, release, class, acc);
        }
        Declared::Agent(attribute, name) => {
            let Some(class) = class(name) else { return };
            agent(hierarchy, release, class, attribute, acc);
        }
        Declared::Service(service, name) => {
            let Some(class) = class(name) else { return };
            let why = EntryReason::Service(Text(Name::new(service.as_bytes()).bytes()));
            for (index, method) in hierarchy.outline(class).methods.iter().enumerate() {
                let flags = method.flags;
                let is_provider = method.name.bytes() == b"provider"
                    && flags.is_static()
                    && method.descriptor.bytes().starts_with(b"()L");
                let is_constructor = method.name.bytes() == b"<init>" && method.descriptor.bytes() == b"()V";
                if flags.is_public() && (is_provider || is_constructor) {
                    acc.push(EntryPoint { method: MethodId::new(class, index), why });
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
        acc.push(EntryPoint { method, why: EntryReason::Initializer });
    }
    let outline = hierarchy.outline(class);
    for (index, method) in outline.methods.iter().enumerate() {
        let flags = method.flags;
        if method.name.bytes() == b"<clinit>" || !hierarchy.usable_outside(class, flags) {
            continue;
        }
        let closed = flags.is_static() || flags.is_final() || flags.is_private() || outline.flags.is_final();
        let why = match method.name.bytes() {
            b"<init>" => EntryReason::Constructible,
            _ if closed => EntryReason::Callable,
            _ => EntryReason::Overridable,
        };
        acc.push(EntryPoint { method: MethodId::new(class, index), why });
    }
}
