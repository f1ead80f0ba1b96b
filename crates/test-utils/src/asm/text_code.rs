//! Parses assembler text inside a method: directives and instructions.

use std::collections::HashMap;

use super::AsmError;
use super::args::{Args, bootstrap_idx};
use super::attribute::Attribute;
use super::class::MethodDef;
use super::code::{CodeBuilder, Insn, Label, Pos, Row, Var};
use super::opcodes::{self as op, Shape};
use super::pool::{Const, Text};
use super::words::Word;

/// A method that is being parsed.
pub(super) struct MethodText {
    def: MethodDef,
    code: CodeBuilder,
    labels: HashMap<Text, Label>,
    throws: Vec<Text>,
}

impl MethodText {
    pub(super) fn new(mut def: MethodDef) -> MethodText {
        let code = def.code.take().unwrap_or_default();
        MethodText { def, code, labels: HashMap::new(), throws: Vec::new() }
    }

    pub(super) fn finish(mut self) -> Result<MethodDef, AsmError> {
        if !self.throws.is_empty() {
            self.def.attributes.push(Attribute::Exceptions(self.throws));
        }
        if !self.code.insns.is_empty() || self.def.access & 0x500 == 0 {
            self.def.code = Some(self.code);
        }
        Ok(self.def)
    }

    pub(super) fn line(&mut self, words: &[Word], bootstraps: &[Text]) -> Result<(), AsmError> {
        let mut words = words;
        while let Some(name) = words.first().and_then(|it| it.strip_end(b':')) {
            let label = self.label(&name.text());
            self.code.bind(label);
            words = words.get(1..).unwrap_or_default();
        }
        let Some(first) = words.first() else { return Ok(()) };
        let keyword = first.plain();
        let mut args = Args::new(words);
        if keyword.starts_with('.') {
            self.directive(&keyword, &mut args)?;
        } else {
            self.insn(&keyword, &mut args, bootstraps)?;
        }
        args.end()
    }

    fn label(&mut self, name: &Text) -> Label {
        if let Some(&label) = self.labels.get(name) {
            return label;
        }
        let label = self.code.label();
        self.labels.insert(name.clone(), label);
        label
    }

    fn target(&mut self, args: &mut Args<'_>) -> Result<Label, AsmError> {
        Ok(self.label(&args.text()?))
    }

    fn pos(&mut self, args: &mut Args<'_>) -> Result<Pos, AsmError> {
        let word = args.next()?;
        match word.plain().strip_prefix('@') {
            Some(raw) if !word.is_quoted() => {
                raw.parse().map(Pos::Raw).map_err(|_| AsmError::new(format!("not an offset: @{raw}")))
            }
            _ => Ok(Pos::At(self.label(&word.text()))),
        }
    }

    fn range(&mut self, args: &mut Args<'_>) -> Result<(Pos, Pos), AsmError> {
        args.keyword("from")?;
        let start = self.pos(args)?;
        args.keyword("to")?;
        Ok((start, self.pos(args)?))
    }

    fn directive(&mut self, keyword: &str, args: &mut Args<'_>) -> Result<(), AsmError> {
        match keyword {
            ".stack" => self.code.max_stack = Some(args.next()?.number_as()?),
            ".locals" => self.code.max_locals = Some(args.next()?.number_as()?),
            ".throws" => self.throws.push(args.text()?),
            ".signature" => self.def.attributes.push(Attribute::Signature(args.text()?)),
            ".attribute" => {
                self.def.attributes.push(Attribute::Raw(args.text()?, args.next()?.bytes()?));
            }
            ".codeattribute" => {
                self.code.attributes.push(Attribute::Raw(args.text()?, args.next()?.bytes()?));
            }
            ".line" => {
                self.code.push(Insn::Line(args.next()?.number_as()?));
            }
            ".bytes" => {
                self.code.push(Insn::Raw(args.next()?.bytes()?));
            }
            ".catch" => {
                let word = args.next()?;
                let class = if word.is("any") { None } else { Some(word.text()) };
                let (start, end) = self.range(args)?;
                args.keyword("using")?;
                let handler = self.pos(args)?;
                self.code.rows.push(Row { start, end, handler, class });
            }
            ".var" => {
                let (slot, name, descriptor) = (args.next()?.number_as()?, args.text()?, args.text()?);
                let (start, end) = self.range(args)?;
                self.code.vars.push(Var { slot, name, descriptor, start, end });
            }
            _ => return Err(AsmError::new(format!("unknown directive in a method: {keyword}"))),
        }
        Ok(())
    }

    // long match: one arm for each operand layout.
    fn insn(&mut self, keyword: &str, args: &mut Args<'_>, bootstraps: &[Text]) -> Result<(), AsmError> {
        let wide = keyword == "wide";
        let name = if wide { args.next()?.plain() } else { keyword.to_owned() };
        let opcode =
            op::by_name(&name).ok_or_else(|| AsmError::new(format!("unknown instruction: {name}")))?;
        let shape = op::info(opcode).map_or(Shape::Plain, |it| it.shape);
        let insn = match shape {
            Shape::Plain | Shape::Prefix => Insn::Plain(opcode),
            Shape::Byte | Shape::Short => Insn::Number(opcode, args.next()?.number_as()?),
            Shape::Local => Insn::Local(opcode, args.next()?.number_as()?, wide),
            Shape::Iinc => Insn::Iinc(args.next()?.number_as()?, args.next()?.number_as()?, wide),
            Shape::Jump | Shape::WideJump => Insn::Jump(opcode, self.target(args)?),
            Shape::Const => {
                let constant: Const = args.constant(bootstraps)?;
                let opcode = if opcode == op::LDC && constant.is_wide() { op::LDC2_W } else { opcode };
                Insn::Ldc(opcode, constant)
            }
            Shape::Field => Insn::Field(opcode, args.field_ref()?),
            Shape::Method => Insn::Call(opcode, args.method_ref()?),
            Shape::Interface => {
                let mut member = args.method_ref()?;
                member.interface = true;
                Insn::Call(opcode, member)
            }
            Shape::Dynamic => {
                let bootstrap = bootstrap_idx(bootstraps, args.next()?)?;
                let word = args.next()?;
                let Some((name, ty)) = word.split_at_first(b'(') else {
                    return Err(AsmError::new(format!("expected name(…)…, found {}", word.plain())));
                };
                Insn::Dynamic(bootstrap, name.text(), ty.text())
            }
            Shape::Type => Insn::Type(opcode, args.text()?),
            Shape::Primitive => Insn::Number(opcode, primitive(args.next()?)?),
            Shape::MultiArray => Insn::MultiArray(args.text()?, args.next()?.number_as()?),
            Shape::Table => {
                let low = args.next()?.number_as()?;
                let mut targets = Vec::new();
                loop {
                    let word = args.next()?;
                    if word.is("default") {
                        break Insn::Table(low, targets, self.target(args)?);
                    }
                    targets.push(self.label(&word.text()));
                }
            }
            Shape::Lookup => self.lookup(args)?,
        };
        self.code.push(insn);
        Ok(())
    }

    fn lookup(&mut self, args: &mut Args<'_>) -> Result<Insn, AsmError> {
        let mut pairs = Vec::new();
        loop {
            let word = args.next()?;
            if word.is("default") {
                return Ok(Insn::Lookup(pairs, self.target(args)?));
            }
            let Some((key, label)) = word.split_off_last(b':') else {
                return Err(AsmError::new(format!("expected key:label, found {}", word.plain())));
            };
            pairs.push((key.number_as()?, self.label(&label.text())));
        }
    }
}

fn primitive(word: &Word) -> Result<i32, AsmError> {
    let names = ["boolean", "char", "float", "double", "byte", "short", "int", "long"];
    match names.iter().zip(4..).find(|it| word.is(it.0)) {
        Some((_, number)) => Ok(number),
        None => word.number_as(),
    }
}
