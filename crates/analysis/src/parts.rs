//! Parses one class file into the bodies of its methods and the facts that follow from the class alone. This is the
//! pure function behind [`crate::facts`], for workers that have no database.

use std::cell::OnceCell;
use std::time::Duration;

use bir::body::Body;
use bir::lower::{Lowered, lower, lower_lean};
use bir::positions::Positions;
use classfile::bootstrap::Bootstraps;
use classfile::class::{ClassFile, MemberInfo, NEWEST_MAJOR};
use classfile::error::{Fault, Malformed, Result};
use classfile::flags::Flags;
use classfile::format::violation;
use classfile::names::{ClassName, Descriptor, FieldRef, MethodRef, Name};
use flow::cfg::{Cfg, CfgOptions, cfg};
use flow::constants::ClassCode;
pub use flow::facts::Wanted;
use flow::facts::{MethodFacts, method_facts};
use flow::initializers::OwnClass;
use flow::throwables::BuiltIn;
use program::outline::{Outline, outline_of};
use rustc_hash::{FxBuildHasher, FxHashSet};

use program::names::{MethodName, Text};

use crate::annotated::annotated_classes;

/// The header of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassHead {
    /// The name of the class.
    pub class: ClassName,
    /// The access flags of the class.
    pub flags: Flags,
    /// The direct superclass; `None` for a class without a superclass (`java/lang/Object`, `module-info`).
    pub super_class: Option<ClassName>,
    /// The major version of the class file.
    pub major: u16,
}

/// One method of a parsed class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodPart {
    /// The class, name and descriptor of the method.
    pub method: MethodRef,
    /// The access flags of the method.
    pub flags: Flags,
    /// The code, or the reason why the code cannot be read; `None` for abstract and native methods.
    pub code: Option<std::result::Result<(MethodCode, Positions), Malformed>>,
}

/// A method body, with the facts about it that follow from the class file alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodCode {
    /// The stackless body.
    pub body: Body,
    /// The facts about the body that follow from the class file alone.
    pub facts: MethodFacts,
}

/// The options for parsing the methods of a class.
pub struct PartOptions<'a> {
    /// Returns whether the method of this name is to be parsed.
    pub select: &'a dyn Fn(&MethodName) -> bool,
    /// The results to compute: all, or only those from which a summary is made. For summaries, [`lower_lean`] lowers
    /// the bodies, and instructions have no positions.
    pub wanted: Wanted,
    /// The clock by which the duration of each stage is measured. With a clock, bytecode instructions are counted,
    /// too. `None` measures and counts nothing.
    pub clock: Option<&'a dyn Fn() -> Duration>,
}

/// The kind of body that a method has, as found by a quick scan that does not decode the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyKind {
    /// No body: the method is abstract or native.
    None,
    /// A body without dynamic call sites and dynamic constants.
    Plain,
    /// A body that may have dynamic call sites or dynamic constants, or that cannot be read.
    Dynamic,
}

/// The opcode of `invokedynamic` (JVMS §6.5). A byte of this value may also be an operand of another instruction.
const INVOKEDYNAMIC: u8 = 0xba;

/// The durations of the stages of parsing, by the caller's clock, and the number of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StageTimes {
    /// The time for reading the structure of the class file.
    pub decode: Duration,
    /// The time for lowering bytecode to stackless bodies.
    pub lower: Duration,
    /// The time for computing local facts and graphs.
    pub flow: Duration,
    /// The number of bytecode instructions, including those of methods that cannot be lowered.
    pub instructions: u64,
}

/// Working memory for parsing methods, which is reused from one method to the next.
#[derive(Default)]
pub struct Scratch {
    lowering: bir::lower::Scratch,
    facts: flow::facts::Scratch,
    /// The working memory for summaries.
    pub(crate) summary: flow::summary::Scratch,
}

impl Scratch {
    /// Takes `code`, which the caller no longer needs, and reuses its memory for the next body that is lowered
    /// without positions.
    pub fn recycle(&mut self, code: MethodCode) {
        self.lowering.recycle(code.body);
    }
}

/// A class file whose structure has been read, but whose method bodies have not.
pub struct ClassParts<'a> {
    /// The header of the class.
    pub head: ClassHead,
    /// The source file that the debug data names; `None` if it names none.
    pub source_file: Option<Text>,
    file: ClassFile<'a>,
    static_fields: Vec<(Name, Descriptor)>,
}

/// Returns the name of the class in a class file; `None` if the file cannot be read.
pub fn class_name(bytes: &[u8]) -> Option<ClassName> {
    ClassFile::parse(bytes).ok()?.this_class().ok()
}

impl<'a> ClassParts<'a> {
    /// Reads the structure of a class file.
    ///
    /// # Errors
    /// When the structure cannot be read; the program then does not contain the class.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let file = ClassFile::parse(bytes)?;
        file.intern(true);
        Self::of(file)
    }

    /// Reads the structure of a class file like [`ClassParts::read`], but does not intern the texts of string
    /// constants. For callers that need only [summaries](Wanted::Summary).
    ///
    /// # Errors
    /// When the structure cannot be read; the program then does not contain the class.
    pub fn read_for_summaries(bytes: &'a [u8]) -> Result<Self> {
        let file = ClassFile::parse(bytes)?;
        file.intern(false);
        Self::of(file)
    }

    /// Reads the structure of a class file like [`ClassParts::read`], but interns no constants in advance. For
    /// callers that read few bodies or none.
    ///
    /// # Errors
    /// When the structure cannot be read; the program then does not contain the class.
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

    /// Returns the outline of the class: its flags, supertypes and member headers, which need no body.
    ///
    /// # Errors
    /// When the name of a supertype or member cannot be read.
    pub fn outline(&self) -> Result<Outline> {
        outline_of(&self.file)
    }

    /// Returns the classes that values of annotations name, each once.
    pub fn annotated(&self) -> Box<[ClassName]> {
        annotated_classes(&self.file)
    }

    /// Returns the names of the methods in file order.
    pub fn method_ids(&self) -> impl Iterator<Item = Result<MethodName>> + '_ {
        self.file.methods().map(|it| Ok(MethodName::of(it.member_ref()?)))
    }

    /// Returns the pcs at which the instructions of a method begin (JVMS §4.7.3); empty if the class has no such method,
    /// or the method no readable code.
    pub fn instruction_starts(&self, method: &MethodName) -> Vec<u16> {
        let is_it = |it: &MemberInfo<'_, '_>| it.member_ref().is_ok_and(|it| MethodName::of(it) == *method);
        let found = self.file.methods().find(is_it);
        let code = found.and_then(|it| it.code().ok().flatten());
        let instructions = code.into_iter().flat_map(|it| it.instructions().map_while(Result::ok));
        instructions.map(|it| it.0.index() as u16).collect()
    }

    /// Parses the methods that `options` select, in file order, and adds the durations of the stages to `times`.
    ///
    /// # Errors
    /// When a method has no valid name, or the bootstrap methods cannot be read. A body that cannot be read makes
    /// only its own method fail.
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

    /// Parses the selected methods like [`ClassParts::methods`], but passes each to `then` instead of collecting all
    /// of them.
    ///
    /// # Errors
    /// When a method has no valid name, or the bootstrap methods cannot be read.
    pub fn each(
        &self,
        options: &PartOptions<'_>,
        scratch: &mut Scratch,
        times: &mut StageTimes,
        mut then: impl FnMut(MethodPart, &mut Scratch),
    ) -> Result<()> {
        let boots = Bootstraps::of(&self.file)?;
        let class = OnceCell::new();
        for it in self.file.methods() {
            let method = it.member_ref()?;
            if (options.select)(&MethodName::of(method)) {
                let code = self.code(&boots, &class, &it, options, scratch, times).transpose();
                then(MethodPart { method, flags: it.flags, code }, scratch);
            }
        }
        Ok(())
    }

    /// Returns the kinds of the method bodies, in file order.
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
                // A body that cannot be read is parsed fully, which reports the error.
                _ => BodyKind::Dynamic,
            }
        })
    }

    /// Parses the methods with the indices `numbers`, which must be ascending, and passes each to `then`. Computes
    /// only what summaries need, without positions.
    ///
    /// # Errors
    /// When a method has no valid name, or the bootstrap methods cannot be read.
    pub fn each_of(
        &self,
        numbers: &[usize],
        scratch: &mut Scratch,
        mut then: impl FnMut(MethodPart, &mut Scratch),
    ) -> Result<()> {
        let options = PartOptions { select: &|_| true, wanted: Wanted::Summary, clock: None };
        let boots = Bootstraps::of(&self.file)?;
        let class = OnceCell::new();
        let mut numbers = numbers.iter().peekable();
        for (i, it) in self.file.methods().enumerate() {
            if numbers.next_if(|wanted| **wanted == i).is_some() {
                let method = it.member_ref()?;
                let times = &mut StageTimes::default();
                let code = self.code(&boots, &class, &it, &options, scratch, times).transpose();
                then(MethodPart { method, flags: it.flags, code }, scratch);
            }
        }
        Ok(())
    }

    /// Returns the code of all methods of the class that can be read.
    fn class_code(&self, boots: &Bootstraps<'_, 'a>) -> ClassCode {
        let mut scratch = bir::lower::Scratch::default();
        let (mut bodies, mut is_complete) = (Vec::new(), true);
        for it in self.file.methods() {
            let body = it.code().and_then(|code| {
                code.map(|code| lower(&self.file, boots, &it, &code, &mut scratch)).transpose()
            });
            match body {
                Ok(it) => bodies.extend(it.map(|it| it.body)),
                Err(_) => is_complete = false,
            }
        }
        let is_constant = |it: &MemberInfo<'_, '_>| {
            it.flags.is_static() && it.flags.is_final() && it.attributes().find(b"ConstantValue").is_none()
        };
        // Code that cannot be read may store other values.
        let constants = self.file.fields().filter(|it| is_complete && is_constant(it));
        let class = self.head.class;
        ClassCode::new(
            bodies,
            constants.filter_map(|it| Some(FieldRef::new(class, it.name().ok()?, it.descriptor().ok()?))),
        )
    }

    /// Returns the code of a method. `class` keeps the code of the class once it is needed.
    fn code(
        &self,
        boots: &Bootstraps<'_, 'a>,
        class: &OnceCell<ClassCode>,
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
        let class_code = || class.get_or_init(|| self.class_code(boots));
        let facts = method_facts(&lowered.body, &own, &class_code, options.wanted, &mut scratch.facts);
        times.flow += now().saturating_sub(lowered_at);
        Ok(Some((MethodCode { body: lowered.body, facts }, lowered.positions)))
    }
}

/// Rejects a class with two methods of the same name and descriptor, as the JVM does (JVMS §4.6): references to such
/// methods would be ambiguous.
fn no_duplicates(file: &ClassFile<'_>) -> Result<()> {
    let mut seen = FxHashSet::with_capacity_and_hasher(file.methods().len(), FxBuildHasher);
    for it in file.methods() {
        if !seen.insert(it.member_ref()?) {
            let fault = Fault::Other("two methods of the class have the same name and descriptor");
            return Err(Malformed::new(it.offset(), "4.6", fault));
        }
    }
    Ok(())
}

/// Returns the error for a method without code (JVMS §4.7.3); `None` if the method is abstract or native, so that it
/// needs no code.
fn missing_code(method: &MemberInfo<'_, '_>) -> Option<Malformed> {
    if method.flags.is_abstract() || method.flags.is_native() {
        return None;
    }
    Some(Malformed::new(
        method.offset(),
        "4.7.3",
        Fault::Other("the method is neither abstract nor native, but has no Code attribute"),
    ))
}

impl ClassParts<'_> {
    /// Returns a note for the user if the class file is newer than the newest supported version, or if the JVM refuses
    /// the class because it violates a format check (JVMS §4.8); `None` otherwise.
    pub fn note(&self) -> Option<String> {
        let refused =
            || violation(&self.file).map(|it| format!("the JVM refuses the class, but it is analysed: {it}"));
        self.head.version_note().or_else(refused)
    }
}

impl ClassHead {
    /// Returns a note for the user if the version of the class file is newer than the newest supported version;
    /// `None` otherwise.
    fn version_note(&self) -> Option<String> {
        (self.major > NEWEST_MAJOR).then(|| {
            let major = self.major;
            format!(
                "class file version {major} is newer than {NEWEST_MAJOR} (Java 25), the newest supported version; the file is read as version {NEWEST_MAJOR}"
            )
        })
    }

    /// Returns the graph of one of the class's methods. The graph uses only those subtype relations of throwable
    /// types that this class file shows.
    pub fn graph(&self, code: &MethodCode) -> Cfg {
        let own = self.super_class.map(|it| (self.class, it));
        cfg(&code.body, &code.facts, &BuiltIn { own }, CfgOptions { keep_proved: false })
    }
}

impl MethodPart {
    /// Returns the name of the method.
    pub fn id(&self) -> MethodName {
        MethodName::of(self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_with_two_methods_of_one_name_and_descriptor_is_rejected() {
        let bytes = include_bytes!("../../../test-data/torture/raw/InvDup.class");
        let error = ClassParts::read(bytes).map(|_| ()).unwrap_err();
        assert_eq!(error.fault, Fault::Other("two methods of the class have the same name and descriptor"));
    }
}
