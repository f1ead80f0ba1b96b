//! Takes one class file apart into the bodies of its methods and what is known of them: the pure function under
//! [`crate::facts`], for workers that need neither database nor memo.

use std::time::Duration;

use bir::body::Body;
use bir::lower::{Lowered, lower, lower_lean};
use bir::positions::Positions;
use classfile::bootstrap::Bootstraps;
use classfile::class::{ClassFile, MemberInfo, NEWEST_MAJOR};
use classfile::error::{Fault, Malformed, Result};
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::cfg::{Cfg, Options, cfg};
pub use flow::facts::Wanted;
use flow::facts::{MethodFacts, method_facts};
use flow::initializers::OwnClass;
use flow::throwables::BuiltIn;
use program::outline::{Outline, outline_of};
use rustc_hash::{FxBuildHasher, FxHashSet};

use program::names::{MethodName, Text};

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
    pub select: &'a dyn Fn(&MethodName) -> bool,
    /// What of each: all, or what its summary is made from. The body is then [lean](lower_lean), its instructions have no
    /// positions.
    pub wanted: Wanted,
    /// A clock, for who wants to know what took how long, and how many instructions there are.
    pub clock: Option<&'a dyn Fn() -> Duration>,
}

/// What kind of body a method has, at a glance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyKind {
    /// None: it is abstract or native.
    None,
    /// One without a dynamic call site.
    Plain,
    /// One that may have dynamic call sites, or that cannot be read.
    Dynamic,
}

/// The opcode (JVMS §6.5). It may be found where it is an operand.
const INVOKEDYNAMIC: u8 = 0xba;

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

/// Memory that one method leaves for the next.
#[derive(Default)]
pub struct Scratch {
    lowering: bir::lower::Scratch,
    facts: flow::facts::Scratch,
    /// For summaries.
    pub(crate) summary: flow::summary::Scratch,
}

impl Scratch {
    /// Leaves the memory of code that nobody needs any more to what is lowered next without positions.
    pub fn recycle(&mut self, code: MethodCode) {
        self.lowering.recycle(code.body);
    }
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
        file.intern(true);
        Self::of(file)
    }

    /// As [`ClassParts::read`], for who wants [summaries](Wanted::Summary) alone: nobody will ask for texts of strings.
    ///
    /// # Errors
    /// See [`ClassParts::read`].
    pub fn read_for_summaries(bytes: &'a [u8]) -> Result<Self> {
        let file = ClassFile::parse(bytes)?;
        file.intern(false);
        Self::of(file)
    }

    /// As [`ClassParts::read`], for who reads few bodies or none.
    ///
    /// # Errors
    /// See [`ClassParts::read`].
    pub fn read_structure(bytes: &'a [u8]) -> Result<Self> {
        Self::of(ClassFile::parse(bytes)?)
    }

    fn of(file: ClassFile<'a>) -> Result<Self> {
        let head = ClassHead {
            class: file.this_class()?,
            flags: file.flags,
            super_class: file.super_class()?,
            major: file.major,
        };
        let statics = file.fields().filter(|it| it.flags.is_static());
        let static_fields = statics.map(|it| Ok((it.name()?, it.descriptor()?))).collect::<Result<_>>()?;
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
    pub fn method_ids(&self) -> impl Iterator<Item = Result<MethodName>> + '_ {
        self.file.methods().map(|it| Ok(MethodName::of(it.member_ref()?)))
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
        let mut out = Vec::with_capacity(self.file.methods().len());
        self.each(options, scratch, times, |it, _| out.push(it))?;
        Ok(out)
    }

    /// As [`ClassParts::methods`], one after the other, for who keeps little of each.
    ///
    /// # Errors
    /// See [`ClassParts::methods`].
    pub fn each(
        &self,
        options: &PartOptions<'_>,
        scratch: &mut Scratch,
        times: &mut StageTimes,
        mut then: impl FnMut(MethodPart, &mut Scratch),
    ) -> Result<()> {
        let boots = Bootstraps::of(&self.file)?;
        for it in self.file.methods() {
            let method = it.member_ref()?;
            if (options.select)(&MethodName::of(method)) {
                let code = self.code(&boots, &it, options, scratch, times).transpose();
                then(MethodPart { method, flags: it.flags, code }, scratch);
            }
        }
        Ok(())
    }

    /// What kinds of bodies the methods have, in file order.
    pub fn bodies(&self) -> impl Iterator<Item = BodyKind> + '_ {
        let sites = self.file.pool.has(18);
        let constants = self.file.pool.has(17);
        self.file.methods().map(move |it| {
            let bodiless = it.flags.is_native() || it.flags.is_abstract();
            if !bodiless && !sites && !constants {
                return BodyKind::Plain;
            }
            match it.code() {
                Ok(None) if bodiless => BodyKind::None,
                Ok(Some(code)) if !constants && !code.bytes.contains(&INVOKEDYNAMIC) => BodyKind::Plain,
                // What cannot be read is found out at once.
                _ => BodyKind::Dynamic,
            }
        })
    }

    /// As [`ClassParts::each`] without positions, for the methods with these numbers, which ascend.
    ///
    /// # Errors
    /// See [`ClassParts::methods`].
    pub fn each_of(
        &self,
        numbers: &[usize],
        scratch: &mut Scratch,
        mut then: impl FnMut(MethodPart, &mut Scratch),
    ) -> Result<()> {
        let options = PartOptions { select: &|_| true, wanted: Wanted::Summary, clock: None };
        let boots = Bootstraps::of(&self.file)?;
        let mut numbers = numbers.iter().peekable();
        for (i, it) in self.file.methods().enumerate() {
            if numbers.next_if(|wanted| **wanted == i).is_some() {
                let method = it.member_ref()?;
                let code = self.code(&boots, &it, &options, scratch, &mut StageTimes::default()).transpose();
                then(MethodPart { method, flags: it.flags, code }, scratch);
            }
        }
        Ok(())
    }

    fn code(
        &self,
        boots: &Bootstraps<'_, 'a>,
        method: &MemberInfo<'_, 'a>,
        options: &PartOptions<'_>,
        scratch: &mut Scratch,
        times: &mut StageTimes,
    ) -> Result<Option<(MethodCode, Positions)>> {
        let now = || options.clock.map_or(Duration::ZERO, |it| it());
        let Some(code) = method.code()? else { return missing_code(method).map_or(Ok(None), Err) };
        if options.clock.is_some() {
            times.instructions += code.instructions().count() as u64;
        }
        let start = now();
        let lowered = match options.wanted {
            Wanted::All => lower(&self.file, boots, method, &code, &mut scratch.lowering),
            Wanted::Summary => {
                let body = lower_lean(&self.file, boots, method, &code, &mut scratch.lowering);
                body.map(|body| Lowered { body, positions: Positions::default() })
            }
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
        let facts = method_facts(&lowered.body, &own, options.wanted, &mut scratch.facts);
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
    pub fn id(&self) -> MethodName {
        MethodName::of(self.method)
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
