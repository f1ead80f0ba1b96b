//! The classes of a run: those of the program, with their methods as BIR text, and those of the library.
//!
//! Only loading depends on lowering, and it keeps nothing of a body but the text.

use bir::lower;
use classfile::bootstrap::Bootstraps;
use classfile::class::{ClassFile, MemberInfo};
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, MemberRef, Name};
use classfile::pool::{Entry, PoolIndex};
use rustc_hash::FxHashMap;

use crate::library;
use crate::raw::{self, Raw};

pub(crate) struct Class {
    pub(crate) name: ClassName,
    pub(crate) super_class: Option<ClassName>,
    pub(crate) interfaces: Vec<ClassName>,
    pub(crate) flags: Flags,
    pub(crate) fields: Vec<Field>,
    pub(crate) methods: FxHashMap<(Name, Descriptor), Method>,
}

pub(crate) struct Field {
    pub(crate) name: Name,
    pub(crate) descriptor: Descriptor,
    pub(crate) flags: Flags,
    pub(crate) constant: Option<Constant>,
}

/// The value of a `ConstantValue` attribute.
#[derive(Clone, Copy)]
pub(crate) enum Constant {
    Int(i32),
    Long(i64),
    Float(u32),
    Double(u64),
    Str(Name),
    /// An object that the library creates; not from a class file.
    Object(ClassName),
}

pub(crate) struct Method {
    pub(crate) flags: Flags,
    pub(crate) code: Code,
}

pub(crate) enum Code {
    /// BIR text, and the bytecode that it was lowered from.
    Text(String, Raw),
    /// A method implemented by [`library`].
    Library,
    Abstract,
}

#[derive(Default)]
pub(crate) struct World(FxHashMap<ClassName, Class>);

impl World {
    /// Returns a world with the library only.
    pub(crate) fn new() -> World {
        let mut world = World::default();
        for it in library::CLASSES {
            let mut methods = FxHashMap::default();
            for text in it.methods {
                let (flags, text) = match text.strip_prefix("static ") {
                    Some(text) => (Flags(0x9), text),
                    None => (Flags(0x1), *text),
                };
                let at = text.find('(').expect("a method of the library has a descriptor");
                let key = (Name::new(&text.as_bytes()[..at]), Descriptor::new(&text.as_bytes()[at..]));
                methods.insert(key, Method { flags, code: Code::Library });
            }
            let class = |it: &&str| ClassName::new(it.as_bytes());
            world.add(Class {
                name: class(&it.name),
                super_class: Some(class(&it.super_class)).filter(|it| !it.bytes().is_empty()),
                interfaces: it.interfaces.iter().map(class).collect(),
                flags: Flags(if it.is_interface { 0x601 } else { 0x21 }),
                fields: it.objects.iter().map(|it| object_field(it.0, it.1)).collect(),
                methods,
            });
        }
        world
    }

    fn add(&mut self, class: Class) {
        self.0.insert(class.name, class);
    }

    /// Adds a class; fails if a method does not lower or is ill-formed.
    pub(crate) fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let text = |err: classfile::error::Malformed| err.to_string();
        let file = ClassFile::parse(bytes).map_err(text)?;
        let boots = Bootstraps::of(&file).map_err(text)?;
        let mut fields = Vec::new();
        for it in file.fields() {
            fields.push(Field {
                name: it.name().map_err(text)?,
                descriptor: it.descriptor().map_err(text)?,
                flags: it.flags,
                constant: constant(&file, &it),
            });
        }
        let mut methods = FxHashMap::default();
        for it in file.methods() {
            let key = (it.name().map_err(text)?, it.descriptor().map_err(text)?);
            let code = match it.code().map_err(text)? {
                None => Code::Abstract,
                Some(code) => {
                    let lowered = lower::lower(&file, &boots, &it, &code, &mut lower::Scratch::default());
                    let lowered = lowered.map_err(|err| format!("{}{}: {err}", key.0, key.1))?;
                    let problems = bir::verify::verify(&lowered.body);
                    let text = bir::print::print(&lowered.body);
                    if !problems.is_empty() {
                        return Err(format!("{}\n{text}", problems.join("\n")));
                    }
                    if bir::parse::parse_body(&text).as_ref() != Ok(&lowered.body) {
                        return Err(format!("is not read back:\n{text}"));
                    }
                    let raw = raw::decode(&file, &boots, &code).map_err(|err| err.to_string())?;
                    Code::Text(text, raw)
                }
            };
            methods.insert(key, Method { flags: it.flags, code });
        }
        self.add(Class {
            name: file.this_class().map_err(text)?,
            super_class: file.super_class().map_err(text)?,
            interfaces: file.interfaces().collect::<Result<_, _>>().map_err(text)?,
            flags: file.flags,
            fields,
            methods,
        });
        Ok(())
    }

    pub(crate) fn get(&self, name: ClassName) -> Option<&Class> {
        self.0.get(&name)
    }

    /// Returns the class and its superclasses, nearest first.
    pub(crate) fn chain(&self, name: ClassName) -> impl Iterator<Item = &Class> {
        // The test programs have no cyclic hierarchies.
        std::iter::successors(self.get(name), |it| self.get(it.super_class?))
    }

    /// Returns all superinterfaces of the class, possibly with duplicates.
    pub(crate) fn interfaces(&self, name: ClassName) -> Vec<&Class> {
        let mut out = Vec::new();
        for class in self.chain(name) {
            for &it in &class.interfaces {
                out.extend(self.get(it));
                out.extend(self.interfaces(it));
            }
        }
        out
    }

    /// Returns whether a value of class `it` is an instance of `of` (JVMS §6.5.checkcast).
    pub(crate) fn is_subtype(&self, it: ClassName, of: ClassName) -> bool {
        if it == of || of.bytes() == b"java/lang/Object" {
            return true;
        }
        if let Some(elem) = it.bytes().strip_prefix(b"[") {
            if matches!(of.bytes(), b"java/lang/Cloneable" | b"java/io/Serializable") {
                return true;
            }
            return match (component(elem), of.bytes().strip_prefix(b"[").map(component)) {
                (Some(a), Some(Some(b))) => self.is_subtype(a, b),
                _ => false,
            };
        }
        self.chain(it).any(|it| it.name == of) || self.interfaces(it).iter().any(|it| it.name == of)
    }

    /// Returns the class that declares the field (JVMS §5.4.3.2).
    pub(crate) fn field(
        &self,
        class: ClassName,
        name: Name,
        descriptor: Descriptor,
    ) -> Option<(MemberRef, Flags)> {
        let it = self.get(class)?;
        if let Some(field) = it.fields.iter().find(|it| it.name == name && it.descriptor == descriptor) {
            return Some((MemberRef::new(class, name, descriptor), field.flags));
        }
        let up = it.interfaces.iter().copied().chain(it.super_class);
        up.into_iter().find_map(|it| self.field(it, name, descriptor))
    }

    /// Returns the class that declares the method to which the reference resolves (JVMS §5.4.3.3, §5.4.3.4).
    pub(crate) fn method(&self, named: MemberRef) -> Option<(MemberRef, &Method)> {
        let it = named.get();
        let class = if it.class.is_array() { ClassName::new(b"java/lang/Object") } else { it.class };
        let key = (it.name, it.descriptor);
        let found = |at: &Class| MemberRef::new(at.name, it.name, it.descriptor);
        if let Some(at) = self.chain(class).find(|it| it.methods.contains_key(&key)) {
            return Some((found(at), &at.methods[&key]));
        }
        let mut declaring: Vec<&Class> = self.interfaces(class);
        declaring.retain(|it| it.methods.contains_key(&key));
        declaring.sort_by_key(|it| matches!(it.methods[&key].code, Code::Abstract));
        // A default method that a subinterface overrides is not maximally specific.
        let best = declaring
            .iter()
            .find(|a| !declaring.iter().any(|b| b.name != a.name && self.is_subtype(b.name, a.name)));
        best.map(|at| (found(at), &at.methods[&key])).or_else(|| {
            // Interfaces inherit the public methods of Object.
            let object = self.get(ClassName::new(b"java/lang/Object"))?;
            Some((found(object), object.methods.get(&key)?))
        })
    }

    /// Returns the method that a call on an object of `receiver` runs (JVMS §5.4.6).
    pub(crate) fn select(
        &self,
        receiver: ClassName,
        resolved: MemberRef,
        flags: Flags,
    ) -> Option<(MemberRef, &Method)> {
        let it = resolved.get();
        if flags.is_private() || flags.is_static() {
            return self.method(resolved);
        }
        let key = (it.name, it.descriptor);
        let receiver = if receiver.is_array() { ClassName::new(b"java/lang/Object") } else { receiver };
        let overrides = |class: &&Class| {
            class.methods.get(&key).is_some_and(|m| {
                let visible =
                    flags.is_public() || flags.is_protected() || class.name.package() == it.class.package();
                class.name == it.class || (!m.flags.is_private() && !m.flags.is_static() && visible)
            })
        };
        if let Some(at) = self.chain(receiver).find(overrides) {
            return Some((MemberRef::new(at.name, it.name, it.descriptor), &at.methods[&key]));
        }
        self.method(MemberRef::new(receiver, it.name, it.descriptor))
    }
}

/// Returns a static library field that holds an object of this class.
fn object_field(name: &str, class: &str) -> Field {
    Field {
        name: Name::new(name.as_bytes()),
        descriptor: Descriptor::new(format!("L{class};").as_bytes()),
        flags: Flags(0x19),
        constant: Some(Constant::Object(ClassName::new(class.as_bytes()))),
    }
}

/// Returns the class of a component of this type; `None` for primitive types.
fn component(text: &[u8]) -> Option<ClassName> {
    match text {
        [b'L', name @ .., b';'] => Some(ClassName::new(name)),
        [b'[', ..] => Some(ClassName::new(text)),
        _ => None,
    }
}

fn constant(file: &ClassFile<'_>, field: &MemberInfo<'_, '_>) -> Option<Constant> {
    let content = field.attributes().find(b"ConstantValue")?.content;
    let index = PoolIndex(u16::from_be_bytes(content.try_into().ok()?));
    Some(match file.pool.entry(index).ok()? {
        Entry::Integer(it) => Constant::Int(it),
        Entry::Long(it) => Constant::Long(it),
        Entry::Float(it) => Constant::Float(it),
        Entry::Double(it) => Constant::Double(it),
        Entry::String(it) => Constant::Str(file.pool.name(it).ok()?),
        _ => return None,
    })
}
