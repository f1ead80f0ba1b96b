//! Reads the words after a directive or mnemonic as names, members, constants and flags.

use super::AsmError;
use super::pool::{Const, Member, Text};
use super::words::Word;

/// The words of a line after its first word, read one by one.
pub(super) struct Args<'a>(std::slice::Iter<'a, Word>);

impl<'a> Args<'a> {
    pub(super) fn new(words: &'a [Word]) -> Args<'a> {
        let mut it = words.iter();
        it.next();
        Args(it)
    }

    pub(super) fn next(&mut self) -> Result<&'a Word, AsmError> {
        self.0.next().ok_or_else(|| AsmError::new("a word is missing at the end of the line"))
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

    /// Whether all words have been read.
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    /// Reads all access flags that follow, given by name or number, and combines them.
    pub(super) fn flags(&mut self) -> u16 {
        let mut flags = 0;
        while let Some(flag) = self.0.as_slice().first().and_then(flag) {
            flags |= flag;
            self.0.next();
        }
        flags
    }

    pub(super) fn optional(&mut self) -> Result<Option<Text>, AsmError> {
        let it = self.next()?;
        Ok(if it.is("none") { None } else { Some(it.text()) })
    }

    /// Reads a field reference: `owner.name` and a descriptor. The keyword `interface` precedes them if the owner is
    /// an interface.
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

    /// Reads a method handle: its kind, as a word, and its member.
    pub(super) fn handle(&mut self) -> Result<(u8, Member), AsmError> {
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
        let kind: u8 =
            kind.ok_or_else(|| AsmError::new(format!("unknown kind of method handle: {}", word.plain())))?;
        let mut member = if kind <= 4 { self.field_ref()? } else { self.method_ref()? };
        member.interface |= kind == 9;
        Ok((kind, member))
    }

    /// Reads a constant in the notation of `ldc`.
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

/// The index of the bootstrap method to which `word` refers, either by the method's name or by its index.
pub(super) fn bootstrap_idx(bootstraps: &[Text], word: &Word) -> Result<u16, AsmError> {
    let text = word.text();
    match bootstraps.iter().position(|it| *it == text).and_then(|it| u16::try_from(it).ok()) {
        Some(it) => Ok(it),
        None => word.number_as().map_err(|_| {
            AsmError::new(format!("no bootstrap method has the name or index {}", word.plain()))
        }),
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
