//! Format checks that a JVM makes when a class is defined, and that reading the class does not need (JVMS §4.8): legal
//! names and descriptors, access flags, consistent constants. A class that violates one is refused by the JVM, but it can
//! be analysed. The checks are those of HotSpot for classes that it verifies.

use rustc_hash::FxHashSet;

use crate::class::{ClassFile, MemberInfo};
use crate::descriptor::{self, MethodType};
use crate::error::{Fault, Malformed, Result};
use crate::flags::Flags;
use crate::mutf8;
use crate::pool::{Entry, Pool, PoolIndex};

/// Returns the first format check that the class file violates, for which a JVM refuses the class; `None` if there is
/// none. Method bodies and attributes are not looked at.
pub fn violation(class: &ClassFile<'_>) -> Option<Malformed> {
    check(class).err()
}

fn check(class: &ClassFile<'_>) -> Result<()> {
    let is_module = class.flags.is_module() && class.major >= 53;
    for number in 1..class.pool.len() {
        let index = PoolIndex::from_index(number);
        // The second half of a long or double is no entry.
        if let Ok(entry) = class.pool.entry(index) {
            constant(&Constants { pool: &class.pool, major: class.major, is_module }, index, entry)?;
        }
    }
    if is_module {
        return Ok(());
    }
    header(class)?;
    let mut seen = FxHashSet::default();
    for it in class.fields() {
        if !seen.insert((it.name()?, it.descriptor()?)) {
            return member_fault(it, "4.5", "two fields of the class have the same name and descriptor");
        }
        field(class, it)?;
    }
    class.methods().try_for_each(|it| method(class, it))
}

struct Constants<'c, 'a> {
    pool: &'c Pool<'a>,
    major: u16,
    is_module: bool,
}

/// What a constant names a member for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Field,
    Method,
    InterfaceMethod,
    Constant,
    CallSite,
}

fn constant(of: &Constants<'_, '_>, index: PoolIndex, entry: Entry<'_>) -> Result<()> {
    let fault = |jvms, what| of.pool.fault(index, jvms, Fault::OtherAt(what, i64::from(index.0)));
    let since = |major: u16| {
        if of.major >= major {
            return Ok(());
        }
        fault("4.4", "class files of this version have no constants of the kind of the constant with index")
    };
    match entry {
        Entry::Utf8(text) if !mutf8::is_valid(text) => of.pool.fault(index, "4.4.7", Fault::Utf8),
        Entry::Utf8(_) | Entry::Integer(_) | Entry::Float(_) | Entry::Long(_) | Entry::Double(_) => Ok(()),
        Entry::Class(name) if !is_class(of.pool.utf8(name)?, of.major) => {
            of.pool.fault(index, "4.4.1", Fault::Grammar("class name"))
        }
        Entry::Class(_) => Ok(()),
        Entry::String(text) => of.pool.utf8(text).map(drop),
        Entry::Fieldref(class, member) => reference(of, index, (class, member), Names::Field),
        Entry::Methodref(class, member) => reference(of, index, (class, member), Names::Method),
        Entry::InterfaceMethodref(class, member) => {
            reference(of, index, (class, member), Names::InterfaceMethod)
        }
        Entry::NameAndType(name, ty) => {
            let (name, ty) = (of.pool.utf8(name)?, of.pool.utf8(ty)?);
            let is_legal = match ty.first() {
                Some(b'(') => MethodType::parse(ty).is_some() && is_method_name(name, of.major),
                _ => descriptor::is_field_type(ty) && is_unqualified(name, of.major),
            };
            if is_legal {
                Ok(())
            } else {
                fault("4.4.6", "malformed name or descriptor in the constant with index")
            }
        }
        Entry::MethodHandle(kind, member) => {
            since(51)?;
            handle(of, index, kind, member)
        }
        Entry::MethodType(ty) => {
            since(51)?;
            match MethodType::parse(of.pool.utf8(ty)?) {
                Some(_) => Ok(()),
                None => of.pool.fault(index, "4.4.9", Fault::Grammar("method descriptor")),
            }
        }
        Entry::Dynamic(_, member) => {
            since(55)?;
            name_and_type(of, index, member, Names::Constant)
        }
        Entry::InvokeDynamic(_, member) => {
            since(51)?;
            name_and_type(of, index, member, Names::CallSite)
        }
        Entry::Module(_) | Entry::Package(_) if of.is_module => Ok(()),
        Entry::Module(_) | Entry::Package(_) => {
            fault("4.4.11", "only module descriptors have constants of the kind of the constant with index")
        }
    }
}

fn reference(
    of: &Constants<'_, '_>,
    index: PoolIndex,
    (class, member): (PoolIndex, PoolIndex),
    names: Names,
) -> Result<()> {
    match of.pool.entry(class)? {
        Entry::Class(_) => name_and_type(of, index, member, names),
        _ => of.pool.fault(class, "4.4.2", Fault::PoolKind { index: class.0, want: "CONSTANT_Class" }),
    }
}

/// Checks the name and the descriptor of a constant that names a member.
fn name_and_type(of: &Constants<'_, '_>, index: PoolIndex, member: PoolIndex, names: Names) -> Result<()> {
    let Entry::NameAndType(name, ty) = of.pool.entry(member)? else {
        return of.pool.fault(
            member,
            "4.4.2",
            Fault::PoolKind { index: member.0, want: "CONSTANT_NameAndType" },
        );
    };
    let (name, ty) = (of.pool.utf8(name)?, of.pool.utf8(ty)?);
    // That name and type are well formed is checked where their own constant is visited.
    let is_method = ty.first() == Some(&b'(');
    let is_legal = match names {
        Names::Field | Names::Constant => !is_method,
        // §4.4.2: of the special methods, only constructors.
        Names::Method if name.starts_with(b"<") => {
            name == b"<init>" && MethodType::parse(ty).is_some_and(|it| it.ret().is_none())
        }
        Names::Method | Names::InterfaceMethod | Names::CallSite => is_method,
    };
    if is_legal {
        return Ok(());
    }
    let what = "the name or the descriptor is not allowed for the constant with index";
    of.pool.fault(index, "4.4.2", Fault::OtherAt(what, i64::from(index.0)))
}

/// Checks a method handle (JVMS §4.4.8).
fn handle(of: &Constants<'_, '_>, index: PoolIndex, kind: u8, member: PoolIndex) -> Result<()> {
    let target = of.pool.entry(member)?;
    let is_legal = match (kind, target) {
        (1..=4, Entry::Fieldref(..)) | (9, Entry::InterfaceMethodref(..)) => true,
        (5..=8, Entry::Methodref(_, member)) => {
            let Entry::NameAndType(name, _) = of.pool.entry(member)? else { return Ok(()) };
            (of.pool.utf8(name)? == b"<init>") == (kind == 8)
        }
        (6 | 7, Entry::InterfaceMethodref(..)) => of.major >= 52,
        _ => false,
    };
    if is_legal {
        return Ok(());
    }
    let what = "the kind of the method handle does not fit what it names: the constant with index";
    of.pool.fault(index, "4.4.8", Fault::OtherAt(what, i64::from(index.0)))
}

/// Checks the flags of the class and its supertypes (JVMS §4.1).
fn header(class: &ClassFile<'_>) -> Result<()> {
    let fault = |what| Err(Malformed::new(8, "4.1", Fault::Other(what)));
    let flags = class.flags;
    // Before version 50, HotSpot sets the flag for abstract methods of interfaces itself.
    let is_abstract = flags.is_abstract() || flags.is_interface() && class.major < 50;
    let knows_5 = class.major >= 49;
    let is_legal = if flags.is_interface() {
        // The bit of synchronized methods is ACC_SUPER of a class.
        is_abstract && !flags.is_final() && !(knows_5 && (flags.is_synchronized() || flags.is_enum()))
    } else {
        !(flags.is_final() && flags.is_abstract() || knows_5 && flags.is_annotation())
    };
    if !is_legal {
        return fault("the access flags of the class contradict each other");
    }
    let object = b"java/lang/Object";
    match class.super_class()? {
        None if class.this_class()?.bytes() != object => return fault("the class has no superclass"),
        None => {}
        Some(it) if it.bytes().starts_with(b"[") => return fault("the superclass is an array"),
        Some(it) if flags.is_interface() && it.bytes() != object => {
            return fault("the superclass of an interface is not java/lang/Object");
        }
        Some(_) => {}
    }
    let mut seen = FxHashSet::default();
    for it in class.interfaces() {
        if !seen.insert(it?) {
            return fault("the class names a superinterface twice");
        }
    }
    Ok(())
}

/// Checks the name, the descriptor and the flags of a field (JVMS §4.5).
fn field(class: &ClassFile<'_>, it: MemberInfo<'_, '_>) -> Result<()> {
    if !is_unqualified(it.name()?.bytes(), class.major) {
        return member_fault(it, "4.2.2", "malformed field name");
    }
    if !descriptor::is_field_type(it.descriptor()?.bytes()) {
        return member_fault(it, "4.3.2", "malformed field descriptor");
    }
    // The JVM ignores all other bits.
    let bits = it.flags.0 & if class.major >= 49 { 0x40df } else { 0x00df };
    let is_legal = match class.flags.is_interface() {
        true => bits == 0x0019,
        false => at_most_one(it.flags) && !(it.flags.is_final() && it.flags.is_volatile()),
    };
    if is_legal {
        Ok(())
    } else {
        member_fault(it, "4.5", "the access flags of a field contradict each other")
    }
}

/// Checks the name, the descriptor and the flags of a method (JVMS §4.6). The grammar of the descriptor is checked where
/// the code is read.
fn method(class: &ClassFile<'_>, it: MemberInfo<'_, '_>) -> Result<()> {
    let (name, flags) = (it.name()?, it.flags);
    let name = name.bytes();
    if !is_method_name(name, class.major) {
        return member_fault(it, "4.2.2", "malformed method name");
    }
    let ty = it.descriptor()?;
    let Some(ty) = MethodType::parse(ty.bytes()) else { return Ok(()) };
    let is_initializer = name == b"<clinit>";
    let has_result = (is_initializer || name == b"<init>") && ty.ret().is_some();
    if has_result || is_initializer && class.major >= 51 && ty.words() > 0 {
        return member_fault(it, "2.9", "the descriptor is not allowed for a special method");
    }
    // The flags of an initialiser are ignored, except that it must be static.
    if is_initializer {
        return Ok(());
    }
    let has_any = |bits: u16| flags.0 & bits != 0;
    let (knows_5, knows_17) = (class.major >= 49, class.major >= 61);
    // ACC_STRICT has no meaning from Java 17 on.
    let strict = if knows_17 { 0 } else { 0x0800 };
    let is_legal = if class.flags.is_interface() {
        let is_abstract = flags.is_abstract();
        match class.major {
            52.. => {
                flags.is_public() != flags.is_private()
                    && !has_any(0x0134)
                    && !(is_abstract && has_any(0x000a | strict))
            }
            49.. => flags.0 & 0x0d3f == 0x0401,
            _ => flags.0 & 0x0519 == 0x0401,
        }
    } else if name == b"<init>" {
        at_most_one(flags) && !has_any(if knows_5 { 0x0578 } else { 0x0538 })
    } else {
        let contradict = 0x011a | if knows_5 { 0x0020 | strict } else { 0 };
        at_most_one(flags) && !(flags.is_abstract() && has_any(contradict))
    };
    if is_legal && !(class.flags.is_interface() && name == b"<init>") {
        return Ok(());
    }
    member_fault(it, "4.6", "the access flags of a method contradict each other")
}

fn at_most_one(flags: Flags) -> bool {
    [flags.is_public(), flags.is_private(), flags.is_protected()].iter().filter(|it| **it).count() <= 1
}

fn member_fault(it: MemberInfo<'_, '_>, jvms: &'static str, what: &'static str) -> Result<()> {
    Err(Malformed::new(it.offset(), jvms, Fault::Other(what)))
}

/// Returns whether a text is a class name as in a `CONSTANT_Class` (JVMS §4.2.1, §4.3.2) of a class file of version
/// `major`.
fn is_class(text: &[u8], major: u16) -> bool {
    match text.first() {
        Some(b'[') => descriptor::is_field_type(text),
        // HotSpot lets a slash at the start of these names pass.
        Some(b'/') if major < 49 && text.len() > 1 => {
            text[1..].split(|it| *it == b'/').all(|it| is_unqualified(it, major))
        }
        _ => text.split(|it| *it == b'/').all(|it| is_unqualified(it, major)),
    }
}

/// Returns whether a text is an unqualified name (JVMS §4.2.2). Before version 49, the JVM accepts only identifiers; of
/// these, only ASCII characters are checked here.
fn is_unqualified(text: &[u8], major: u16) -> bool {
    let is_part = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$') || *it >= 0x80;
    match major {
        49.. => !text.is_empty() && !text.iter().any(|it| matches!(it, b'.' | b';' | b'[' | b'/')),
        _ => text.first().is_some_and(|it| !it.is_ascii_digit()) && text.iter().all(is_part),
    }
}

fn is_method_name(text: &[u8], major: u16) -> bool {
    let special: [&[u8]; 2] = [b"<init>", b"<clinit>"];
    special.contains(&text) || is_unqualified(text, major) && !text.iter().any(|it| matches!(it, b'<' | b'>'))
}
