//! Outlines of small programs, read from text.
//!
//! ```text
//! public abstract p/A < p/B p/I      flags, name, superclass, superinterfaces; without `<` Object alone
//!   protected m()V                   a method
//!   static f:I                       a field
//!   permits p/C p/D                  also `host p/H`, `members p/X p/Y`, `version 52`, `role jdk`
//! public interface p/I < p/J         superinterfaces alone
//! ```
//! The default version is 61, the default role is app.

use std::sync::Arc;

use classfile::flags::Flags;
use classfile::module::Module;
use classfile::names::{ClassName, Descriptor, Name};
use program::hierarchy::{Below, ClassId, Hierarchy, HierarchyOptions, Input};
use program::input::{Role, WorldKind};
use program::members::MethodId;
use program::outline::{Field, Method, Outline};

/// The classes of a program in class-path order.
pub(crate) struct World {
    pub(crate) classes: Vec<(Arc<Outline>, Role)>,
}

pub(crate) fn class(name: &str) -> ClassName {
    ClassName::new(name.as_bytes())
}

/// `Object` with the members that the tests need.
pub(crate) const OBJECT: &str = "
public java/lang/Object <
  public <init>()V
  protected clone()Ljava/lang/Object;
  public toString()Ljava/lang/String;
  version 52
  role jdk
";

pub(crate) fn options(world: WorldKind) -> HierarchyOptions {
    HierarchyOptions {
        world,
        platform_release: None,
        add_exports: Box::default(),
        owners: Default::default(),
        names_outside: false,
    }
}

/// Returns the program with these classes and `Object`.
pub(crate) fn world(text: &str) -> World {
    let mut classes = Vec::new();
    read(OBJECT, &mut classes);
    read(text, &mut classes);
    World { classes: classes.into_iter().map(|(it, role)| (Arc::new(it), role)).collect() }
}

impl World {
    pub(crate) fn hierarchy(&self, modules: &[Module], options: &HierarchyOptions) -> Hierarchy {
        let inputs = self.classes.iter().map(|(outline, role)| Input { outline, role: *role });
        Hierarchy::new(inputs, modules, options)
    }

    pub(crate) fn open(&self) -> Hierarchy {
        self.hierarchy(&[], &options(WorldKind::Open))
    }

    /// Returns the program without one class.
    pub(crate) fn without(&self, name: ClassName) -> World {
        World { classes: self.classes.iter().filter(|it| it.0.class != name).cloned().collect() }
    }
}

pub(crate) fn id(h: &Hierarchy, name: &str) -> ClassId {
    h.class(class(name)).unwrap_or_else(|| panic!("no {name}"))
}

/// Returns the names of the classes, sorted and joined.
pub(crate) fn names(h: &Hierarchy, ids: &[ClassId]) -> String {
    let mut out: Vec<String> = ids.iter().map(|it| h.name(*it).to_string()).collect();
    out.sort();
    out.join(" ")
}

pub(crate) fn below(h: &Hierarchy, sub: &str, sup: &str) -> Below {
    h.is_subtype(class(sub), class(sup))
}

/// Formats a method as `p/A.m()V`.
pub(crate) fn method(h: &Hierarchy, it: MethodId) -> String {
    let declared = it.of(h).expect("of this hierarchy");
    format!("{}.{}{}", h.name(it.class), declared.name, declared.descriptor)
}

fn read(text: &str, out: &mut Vec<(Outline, Role)>) {
    for line in text.lines().filter(|it| !it.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(' ') {
            out.push((header(&words), Role::App));
            continue;
        }
        let (it, role) = out.last_mut().expect("a class first");
        let list = || words[1..].iter().map(|it| class(it)).collect();
        match words[0] {
            "permits" => it.permitted = Some(list()),
            "members" => it.nest_members = list(),
            "host" => it.nest_host = Some(class(words[1])),
            "version" => {
                let (major, minor) = words[1].split_once('.').unwrap_or((words[1], "0"));
                it.version = (minor.parse().expect("minor"), major.parse().expect("major"));
            }
            "role" => *role = if words[1] == "jdk" { Role::Jdk } else { Role::Lib },
            _ => member(&words, it),
        }
    }
}

fn header(words: &[&str]) -> Outline {
    let end = words.iter().position(|it| *it == "<").unwrap_or(words.len());
    let (head, supers) = (&words[..end], words.get(end + 1..));
    let (name, flags) = head.split_last().expect("a name");
    let flags = self::flags(flags);
    let object = class("java/lang/Object");
    let mut supers: Vec<ClassName> = supers.unwrap_or_default().iter().map(|it| class(it)).collect();
    let super_class = match supers.is_empty() {
        _ if *name == "java/lang/Object" => None,
        true => Some(object),
        false if flags.is_interface() => Some(object),
        false => Some(supers.remove(0)),
    };
    Outline {
        class: class(name),
        version: (0, 61),
        flags,
        super_class,
        interfaces: supers.into(),
        nest_host: None,
        nest_members: Box::default(),
        permitted: None,
        ghost: None,
        fields: Box::default(),
        methods: Box::default(),
    }
}

fn member(words: &[&str], it: &mut Outline) {
    let (text, flags) = words.split_last().expect("a member");
    let flags = self::flags(flags);
    if let Some((name, ty)) = text.split_once(':') {
        let field =
            Field { flags, name: Name::new(name.as_bytes()), descriptor: Descriptor::new(ty.as_bytes()) };
        it.fields = it.fields.iter().cloned().chain([field]).collect();
        return;
    }
    let (name, ty) = text.split_at(text.find('(').expect("a descriptor"));
    let (name, descriptor) = (Name::new(name.as_bytes()), Descriptor::new(ty.as_bytes()));
    let method = Method { flags, name, descriptor, throws: Box::default(), ghost: None };
    it.methods = it.methods.iter().cloned().chain([method]).collect();
}

fn flags(words: &[&str]) -> Flags {
    let bit = |it: &&str| match *it {
        "public" => 0x1,
        "private" => 0x2,
        "protected" => 0x4,
        "static" => 0x8,
        "final" => 0x10,
        "varargs" => 0x80,
        "native" => 0x100,
        "interface" => 0x200,
        "abstract" => 0x400,
        it => panic!("no flag: {it}"),
    };
    Flags(words.iter().map(bit).fold(0, |acc, it| acc | it))
}
