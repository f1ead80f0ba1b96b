//! Takes one class file apart into the bodies of its methods and what is known of them: the pure function under
//! [`crate::facts`], for workers that need neither database nor memo.

use std::time::Duration;

use bir::body::Body;
use bir::lower::{Lowered, Scratch, lower, lower_body};
use bir::positions::Positions;
use classfile::bootstrap::Bootstraps;
use classfile::class::{ClassFile, MemberInfo, NEWEST_MAJOR};
use classfile::error::{Fault, Malformed, Result};
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::cfg::{Cfg, Options, cfg};
use flow::facts::{MethodFacts, method_facts};
use flow::initializers::OwnClass;
use flow::throwables::BuiltIn;
use program::outline::{Outline, outline_of};
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::names::{MethodId, Text};

/// What is known of a class as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassHead {
    /// Its name.
    pub class: ClassName,
    /// Its access flags.
    pub flags: Flags,
    /// Its direct superclass, if it has one.
    pub super_class: Option<ClassName>,
    /// Major version of its class file.
    pub major: u16,
}

/// One method of a class, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodPart {
    /// The method.
    pub method: MethodRef,
    /// Its access flags.
    pub flags: Flags,
    /// Its code; `None` for abstract and native methods.
    pub code: Option<std::result::Result<(MethodCode, Positions), Malformed>>,
}

/// A body and what is known of it from the class file alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodCode {
    /// The stackless form.
    pub body: Body,
    /// The local facts.
    pub facts: MethodFacts,
}

/// How to take a class apart.
pub struct PartOptions<'a> {
    /// The methods wanted.
    pub select: &'a dyn Fn(&MethodId) -> bool,
    /// Whether it is wanted where the instructions stand; without, those tables are empty.
    pub positions: bool,
    /// A clock, for who wants to know what took how long, and how many instructions there are.
    pub clock: Option<&'a dyn Fn() -> Duration>,
}

/// What there was and what the stages took, by the clock that was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StageTimes {
    /// Reading the structure of the class file.
    pub decode: Duration,
    /// Making stackless bodies.
    pub lower: Duration,
    /// Local facts and graphs.
    pub flow: Duration,
    /// Bytecode instructions, also of methods that cannot be lowered.
    pub instructions: u64,
}

/// A class file that has been read, its bodies not yet.
pub struct ClassParts<'a> {
    /// The class.
    pub head: ClassHead,
    /// The source file that debug data names.
    pub source_file: Option<Text>,
    file: ClassFile<'a>,
    static_fields: Vec<(Name, Descriptor)>,
}

impl<'a> ClassParts<'a> {
    /// Reads the structure of a class file.
    ///
    /// # Errors
    /// When it cannot be read; the class is then outside.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let file = ClassFile::parse(bytes)?;
        let head = ClassHead {
            class: file.this_class()?,
            flags: file.flags,
            super_class: file.super_class()?,
            major: file.major,
        };
        let statics = file.fields().filter(|it| it.flags.is_static());
        let static_fields = statics.map(|it| Ok((it.name()?, it.descriptor()?))).collect::<Result<_>>()?;
        file.intern();
        no_duplicates(&file)?;
        let source_file = file.attributes().text(b"SourceFile").map(|it| Text(it.bytes()));
        Ok(ClassParts { head, source_file, file, static_fields })
    }

    /// What the rest of a program can see of the class without any body.
    ///
    /// # Errors
    /// When the name of a supertype or member cannot be read.
    pub fn outline(&self) -> Result<Outline> {
        outline_of(&self.file)
    }

    /// The methods in file order, without their code.
    pub fn method_ids(&self) -> impl Iterator<Item = Result<MethodId>> + '_ {
        self.file.methods().map(|it| Ok(MethodId::of(it.member_ref()?)))
    }

    /// Takes the selected methods apart, in file order. `times` is added to.
    ///
    /// # Errors
    /// When a method has no name, or the bootstrap methods cannot be read. A body that cannot be read costs its
    /// method only.
    pub fn methods(
        &self,
        options: &PartOptions<'_>,
        scratch: &mut Scratch,
        times: &mut StageTimes,
    ) -> Result<Vec<MethodPart>> {
        let boots = Bootstraps::of(&self.file)?;
        let mut out = Vec::with_capacity(self.file.methods().len());
        let mut scratches = (scratch, flow::facts::Scratch::default());
        for it in self.file.methods() {
            let method = it.member_ref()?;
            if (options.select)(&MethodId::of(method)) {
                let code = self.code(&boots, &it, options, &mut scratches, times).transpose();
                out.push(MethodPart { method, flags: it.flags, code });
            }
        }
        Ok(out)
    }

    fn code(
        &self,
        boots: &Bootstraps<'_, 'a>,
        method: &MemberInfo<'_, 'a>,
        options: &PartOptions<'_>,
        (for_lowering, for_facts): &mut (&mut Scratch, flow::facts::Scratch),
        times: &mut StageTimes,
    ) -> Result<Option<(MethodCode, Positions)>> {
        let now = || options.clock.map_or(Duration::ZERO, |it| it());
        let Some(code) = method.code()? else { return missing_code(method).map_or(Ok(None), Err) };
        if options.clock.is_some() {
            times.instructions += code.instructions().count() as u64;
        }
        let start = now();
        let lowered = if options.positions {
            lower(&self.file, boots, method, &code, for_lowering)
        } else {
            let body = lower_body(&self.file, boots, method, &code, for_lowering);
            body.map(|body| Lowered { body, positions: Positions::default() })
        };
        let lowered_at = now();
        times.lower += lowered_at.saturating_sub(start);
        let lowered = lowered?;
        let own = OwnClass {
            name: self.head.class,
            super_class: self.head.super_class,
            is_interface: self.head.flags.is_interface(),
            static_fields: &self.static_fields,
        };
        let facts = method_facts(&lowered.body, &own, for_facts);
        times.flow += now().saturating_sub(lowered_at);
        Ok(Some((MethodCode { body: lowered.body, facts }, lowered.positions)))
    }
}

/// Two methods of one name and descriptor: the JVM refuses the class, and nobody could tell them apart (JVMS §4.6).
fn no_duplicates(file: &ClassFile<'_>) -> Result<()> {
    let mut seen = FxHashSet::with_capacity_and_hasher(file.methods().len(), FxBuildHasher);
    for it in file.methods() {
        if !seen.insert(it.member_ref()?) {
            let fault = Fault::Other("two methods have the same name and descriptor");
            return Err(Malformed::new(it.offset(), "4.6", fault));
        }
    }
    Ok(())
}

/// A method without code that is neither abstract nor native (JVMS §4.7.3).
fn missing_code(method: &MemberInfo<'_, '_>) -> Option<Malformed> {
    if method.flags.is_abstract() || method.flags.is_native() {
        return None;
    }
    Some(Malformed::new(method.offset(), "4.7.3", Fault::Other("the method has no Code attribute")))
}

impl ClassHead {
    /// What is to be said of the version of the class file, if anything.
    pub fn version_note(&self) -> Option<String> {
        (self.major > NEWEST_MAJOR).then(|| {
            let major = self.major;
            format!(
                "class file version {major} is newer than {NEWEST_MAJOR} (Java 25), the newest that is known: read as if it were that"
            )
        })
    }

    /// The graph of one of the class's methods, with what its own class file tells of throwable types.
    pub fn graph(&self, code: &MethodCode) -> Cfg {
        let own = self.super_class.map(|it| (self.class, it));
        cfg(&code.body, &code.facts, &BuiltIn { own }, Options { keep_proved: false })
    }
}

impl MethodPart {
    /// The method.
    pub fn id(&self) -> MethodId {
        MethodId::of(self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_methods_of_one_name_and_descriptor_cost_the_class() {
        let bytes = include_bytes!("../../../test-data/torture/raw/InvDup.class");
        let error = ClassParts::read(bytes).map(|_| ()).unwrap_err();
        assert_eq!(error.fault, Fault::Other("two methods have the same name and descriptor"));
    }
}
