//! Parses assembler text: directives for classes, fields and methods. The module `text_code` parses the lines inside
//! a method.

use super::args::Args;
use super::attribute::{Attribute, Inner};
use super::class::{Bootstrap, ClassBuilder, FieldDef, MethodDef};
use super::code::CodeBuilder;
use super::pool::Text;
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
            let class = open.as_mut().ok_or_else(|| {
                at(AsmError::new("the line is before the first .class, so it belongs to no class"))
            })?;
            class.line(&words).map_err(at)?;
        }
    }
    if let Some(done) = open {
        classes.push(done.finish()?);
    }
    Ok(classes)
}

/// A class that is being parsed.
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
            return Err(AsmError::new("the last method of the class has no .end"));
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

    // long match: one arm for each directive.
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
                while !args.is_empty() {
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
                if !args.is_empty() {
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
