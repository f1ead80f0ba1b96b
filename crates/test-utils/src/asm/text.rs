//! The text front end: class, field and method directives. Lines inside a method go to `text_code`.

use super::class::{Attribute, Bootstrap, ClassBuilder, FieldDef, Inner, MethodDef};
use super::code::CodeBuilder;
use super::pool::{Const, Member, Text};
use super::text_code::MethodText;
use super::words::{Word, words};
use super::{AsmError, Assembled};

/// Assembles all classes of `text`, in order.
pub fn assemble(text: &str) -> Result<Vec<Assembled>, AsmError> {
    let builders = parse(text)?;
    builders
        .iter()
        .map(|it| {
            let name = String::from_utf16_lossy(it.name.units());
            let bytes = it.finish().map_err(|err| AsmError::new(format!("class {name}: {}", err.message)))?;
            Ok(Assembled { name, bytes })
        })
        .collect()
}

/// Parses all classes of `text` without encoding them.
pub fn parse(text: &str) -> Result<Vec<ClassBuilder>, AsmError> {
    let mut classes = Vec::new();
    let mut open: Option<ClassText> = None;
    for (idx, line) in text.lines().enumerate() {
        let at = |err: AsmError| AsmError { line: idx as u32 + 1, ..err };
        let words = words(line).map_err(at)?;
        let Some(first) = words.first() else { continue };
        if first.is(".class") {
            if let Some(done) = open.take() {
                classes.push(done.finish().map_err(at)?);
            }
            open = Some(ClassText::new(&words).map_err(at)?);
        } else {
            let class = open.as_mut().ok_or_else(|| at(AsmError::new("no .class yet")))?;
            class.line(&words).map_err(at)?;
        }
    }
    if let Some(done) = open {
        classes.push(done.finish()?);
    }
    Ok(classes)
}

/// The words of a line behind the directive, taken one by one.
pub(super) struct Args<'a>(pub(super) std::slice::Iter<'a, Word>);

impl<'a> Args<'a> {
    pub(super) fn new(words: &'a [Word]) -> Args<'a> {
        let mut it = words.iter();
        it.next();
        Args(it)
    }

    pub(super) fn next(&mut self) -> Result<&'a Word, AsmError> {
        self.0.next().ok_or_else(|| AsmError::new("a word is missing"))
    }

    pub(super) fn text(&mut self) -> Result<Text, AsmError> {
        Ok(self.next()?.text())
    }

    pub(super) fn keyword(&mut self, keyword: &str) -> Result<(), AsmError> {
        let it = self.next()?;
        if it.is(keyword) {
            Ok(())
        } else {
            Err(AsmError::new(format!("expected {keyword}, found {}", it.plain())))
        }
    }

    pub(super) fn end(&mut self) -> Result<(), AsmError> {
        self.0.next().map_or(Ok(()), |it| Err(AsmError::new(format!("unexpected word: {}", it.plain()))))
    }

    /// Access flags by name or number, as many as follow.
    fn flags(&mut self) -> u16 {
        let mut flags = 0;
        while let Some(flag) = self.0.as_slice().first().and_then(flag) {
            flags |= flag;
            self.0.next();
        }
        flags
    }

    fn optional(&mut self) -> Result<Option<Text>, AsmError> {
        let it = self.next()?;
        Ok(if it.is("none") { None } else { Some(it.text()) })
    }

    /// `owner.name` and a descriptor, `interface` before it for interface methods.
    pub(super) fn field_ref(&mut self) -> Result<Member, AsmError> {
        let word = self.next()?;
        let Some((owner, name)) = word.split_off_last(b'.') else {
            return Err(AsmError::new(format!("expected owner.name, found {}", word.plain())));
        };
        let descriptor = self.text()?;
        Ok(Member { owner: owner.text(), name: name.text(), descriptor, interface: false })
    }

    pub(super) fn method_ref(&mut self) -> Result<Member, AsmError> {
        let mut word = self.next()?;
        let interface = word.is("interface");
        if interface {
            word = self.next()?;
        }
        let parts = word
            .split_at_first(b'(')
            .and_then(|(head, ty)| head.split_off_last(b'.').map(|(owner, name)| (owner, name, ty)));
        let Some((owner, name, ty)) = parts else {
            return Err(AsmError::new(format!("expected owner.name(…)…, found {}", word.plain())));
        };
        Ok(Member { owner: owner.text(), name: name.text(), descriptor: ty.text(), interface })
    }

    /// A kind of method handle and its member.
    fn handle(&mut self) -> Result<(u8, Member), AsmError> {
        let kinds = [
            "getfield",
            "getstatic",
            "putfield",
            "putstatic",
            "invokevirtual",
            "invokestatic",
            "invokespecial",
            "newinvokespecial",
            "invokeinterface",
        ];
        let word = self.next()?;
        let kind = kinds.iter().zip(1..).find(|it| word.is(it.0)).map(|it| it.1);
        let kind: u8 = kind.ok_or_else(|| AsmError::new(format!("no kind of handle: {}", word.plain())))?;
        let mut member = if kind <= 4 { self.field_ref()? } else { self.method_ref()? };
        member.interface |= kind == 9;
        Ok((kind, member))
    }

    /// A constant as `ldc` writes it.
    pub(super) fn constant(&mut self, bootstraps: &[Text]) -> Result<Const, AsmError> {
        let word = self.next()?;
        if word.is_quoted() {
            return Ok(Const::Str(word.text()));
        }
        Ok(match word.plain().as_str() {
            "int" => Const::Int(self.next()?.number_as()?),
            "long" => Const::Long(self.next()?.number()?),
            "float" => {
                let it = self.next()?;
                let bits = |it: f32| it.to_bits();
                if it.plain().starts_with("0x") {
                    Const::Float(it.number_as()?)
                } else {
                    Const::Float(bits(real(it)?))
                }
            }
            "double" => {
                let it = self.next()?;
                let bits = |it: f64| it.to_bits();
                if it.plain().starts_with("0x") {
                    Const::Double(it.number()? as u64)
                } else {
                    Const::Double(bits(real(it)?))
                }
            }
            "string" => Const::Str(self.text()?),
            "class" => Const::Class(self.text()?),
            "methodtype" => Const::MethodType(self.text()?),
            "handle" => {
                let (kind, member) = self.handle()?;
                Const::Handle(kind, member)
            }
            "dynamic" => {
                let idx = bootstrap_idx(bootstraps, self.next()?)?;
                Const::Dynamic(idx, self.text()?, self.text()?)
            }
            _ => Const::Int(word.number_as()?),
        })
    }
}

fn real<T: std::str::FromStr>(word: &Word) -> Result<T, AsmError> {
    word.plain().parse().map_err(|_| AsmError::new(format!("not a number: {}", word.plain())))
}

/// The position of a named bootstrap method; a number is taken as it is.
pub(super) fn bootstrap_idx(bootstraps: &[Text], word: &Word) -> Result<u16, AsmError> {
    let text = word.text();
    match bootstraps.iter().position(|it| *it == text).and_then(|it| u16::try_from(it).ok()) {
        Some(it) => Ok(it),
        None => word.number_as().map_err(|_| AsmError::new(format!("no bootstrap method {}", word.plain()))),
    }
}

fn flag(word: &Word) -> Option<u16> {
    if word.is_quoted() {
        return None;
    }
    Some(match word.plain().as_str() {
        "public" => 0x1,
        "private" => 0x2,
        "protected" => 0x4,
        "static" => 0x8,
        "final" => 0x10,
        "super" | "synchronized" => 0x20,
        "volatile" | "bridge" => 0x40,
        "transient" | "varargs" => 0x80,
        "native" => 0x100,
        "interface" => 0x200,
        "abstract" => 0x400,
        "strict" => 0x800,
        "synthetic" => 0x1000,
        "annotation" => 0x2000,
        "enum" => 0x4000,
        "module" | "mandated" => 0x8000,
        it => return it.strip_prefix("0x").and_then(|it| u16::from_str_radix(it, 16).ok()),
    })
}

/// A class of which not all lines have been read.
struct ClassText {
    class: ClassBuilder,
    bootstraps: Vec<Text>,
    members: Vec<Text>,
    permitted: Vec<Text>,
    inner: Vec<Inner>,
    method: Option<MethodText>,
}

impl ClassText {
    fn new(words: &[Word]) -> Result<ClassText, AsmError> {
        let mut args = Args::new(words);
        let access = args.flags();
        let mut class = ClassBuilder::new(args.text()?);
        class.access = access;
        args.end()?;
        let (bootstraps, members, permitted) = (Vec::new(), Vec::new(), Vec::new());
        Ok(ClassText { class, bootstraps, members, permitted, inner: Vec::new(), method: None })
    }

    fn finish(mut self) -> Result<ClassBuilder, AsmError> {
        if self.method.is_some() {
            return Err(AsmError::new("a method has no .end"));
        }
        if !self.members.is_empty() {
            self.class.attributes.push(Attribute::NestMembers(self.members));
        }
        if !self.permitted.is_empty() {
            self.class.attributes.push(Attribute::PermittedSubclasses(self.permitted));
        }
        if !self.inner.is_empty() {
            self.class.attributes.push(Attribute::InnerClasses(self.inner));
        }
        Ok(self.class)
    }

    fn line(&mut self, words: &[Word]) -> Result<(), AsmError> {
        if let Some(method) = &mut self.method {
            if !words.first().is_some_and(|it| it.is(".end")) {
                return method.line(words, &self.bootstraps);
            }
            let method = self.method.take();
            self.class.methods.extend(method.map(MethodText::finish).transpose()?);
            return Ok(());
        }
        let keyword = words.first().map(Word::plain).unwrap_or_default();
        let mut args = Args::new(words);
        self.directive(&keyword, &mut args)?;
        args.end()
    }

    // long match: one arm a directive.
    fn directive(&mut self, keyword: &str, args: &mut Args<'_>) -> Result<(), AsmError> {
        let class = &mut self.class;
        match keyword {
            ".end" => {}
            ".version" => {
                let plain = args.next()?.plain();
                let version = plain.split_once('.').unwrap_or((&plain, "0"));
                class.version = match (version.0.parse(), version.1.parse()) {
                    (Ok(major), Ok(minor)) => (major, minor),
                    _ => return Err(AsmError::new(format!("not a version: {plain}"))),
                };
            }
            ".super" => class.super_name = args.optional()?,
            ".implements" => class.interfaces.push(args.text()?),
            ".source" => class.attributes.push(Attribute::SourceFile(args.text()?)),
            ".signature" => {
                let it = Attribute::Signature(args.text()?);
                class.fields.last_mut().map_or(&mut class.attributes, |it| &mut it.attributes).push(it);
            }
            ".nesthost" => class.attributes.push(Attribute::NestHost(args.text()?)),
            ".nestmember" => self.members.push(args.text()?),
            ".permits" => self.permitted.push(args.text()?),
            ".inner" => {
                let (inner, outer, name) = (args.text()?, args.optional()?, args.optional()?);
                self.inner.push(Inner { class: inner, outer, name, access: args.flags() });
            }
            ".bootstrap" => {
                let name = args.text()?;
                let (kind, member) = args.handle()?;
                let mut constants = Vec::new();
                while !args.0.as_slice().is_empty() {
                    constants.push(args.constant(&self.bootstraps)?);
                }
                self.bootstraps.push(name);
                class.bootstraps.push(Bootstrap { kind, member, args: constants });
            }
            ".attribute" => {
                let it = Attribute::Raw(args.text()?, args.next()?.bytes()?);
                class.fields.last_mut().map_or(&mut class.attributes, |it| &mut it.attributes).push(it);
            }
            ".field" => {
                let (access, name, descriptor) = (args.flags(), args.text()?, args.text()?);
                let mut attributes = Vec::new();
                if !args.0.as_slice().is_empty() {
                    attributes.push(Attribute::ConstantValue(args.constant(&self.bootstraps)?));
                }
                class.fields.push(FieldDef { access, name, descriptor, attributes });
            }
            ".method" => self.method(args)?,
            _ => return Err(AsmError::new(format!("unknown directive: {keyword}"))),
        }
        Ok(())
    }

    fn method(&mut self, args: &mut Args<'_>) -> Result<(), AsmError> {
        let access = args.flags();
        let word = args.next()?;
        let Some((name, descriptor)) = word.split_at_first(b'(') else {
            return Err(AsmError::new(format!("expected name(…)…, found {}", word.plain())));
        };
        let (name, descriptor) = (name.text(), descriptor.text());
        let code = if access & 0x500 == 0 { Some(CodeBuilder::new()) } else { None };
        let def = MethodDef { access, name, descriptor, code, attributes: Vec::new() };
        self.method = Some(MethodText::new(def));
        Ok(())
    }
}
