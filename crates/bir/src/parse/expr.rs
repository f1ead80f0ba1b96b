//! Parser for expressions and constants.

use classfile::bootstrap::{Dynamic, HandleKind, Loadable, MethodHandle};

use crate::body::{Expr, ExprId, MAX_TEMP, Place, Var, index};
use crate::build::Builder;
use crate::ops::{BinaryOp, Kind, UnOp};
use crate::parse::cursor::{Cursor, Result};
use crate::print::atoms::{CANONICAL_NAN_D, CANONICAL_NAN_F};
use crate::words::{self, meaning};

/// The maximum depth of expressions in BIR text. Lowering cuts expressions at a smaller depth.
pub const MAX_DEPTH: usize = 256;
/// The maximum nesting of parentheses and dynamic constants. It suffices for every expression of depth [`MAX_DEPTH`].
const MAX_NESTING: usize = 2 * MAX_DEPTH;

/// Parses the expressions of one body into its builder.
pub(super) struct Exprs<'t> {
    pub(super) cur: Cursor<'t>,
    pub(super) builder: Builder,
    /// The depth of each expression in the builder, by index.
    depths: Vec<u16>,
    nesting: usize,
}

impl<'t> Exprs<'t> {
    pub(super) fn new(cur: Cursor<'t>) -> Self {
        Exprs { cur, builder: Builder::new(), depths: Vec::new(), nesting: 0 }
    }

    /// Removes the content of the previous body, keeping memory for reuse.
    pub(super) fn clear(&mut self) {
        self.builder.clear();
        self.depths.clear();
    }

    fn add(&mut self, expr: Expr) -> Result<ExprId> {
        let mut depth = 0;
        expr.operands(|it| {
            let of = self.depths.get(index(it)).copied().unwrap_or(0);
            depth = depth.max(of + 1);
        });
        if usize::from(depth) > MAX_DEPTH {
            return self.cur.error(format!("an expression no deeper than {MAX_DEPTH}"));
        }
        self.depths.push(depth);
        Ok(self.builder.expr(expr))
    }

    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting >= MAX_NESTING {
            return self.cur.error(format!("nesting no deeper than {MAX_NESTING}"));
        }
        self.nesting += 1;
        let out = f(self)?;
        self.nesting -= 1;
        Ok(out)
    }

    /// Consumes a variable if one comes next; returns `None` otherwise.
    pub(super) fn try_var(&mut self) -> Result<Option<Var>> {
        let start = self.cur.pos();
        let sigil = if self.cur.eat("%") {
            b'%'
        } else if self.cur.eat("$") {
            b'$'
        } else {
            b' '
        };
        let word = self.cur.word_here();
        let kind = word.chars().next().and_then(Kind::from_letter);
        let digits = word.get(1..).filter(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()));
        let (Some(kind), Some(digits)) = (kind, digits) else {
            if sigil != b' ' {
                return self.cur.error("a kind letter (i l f d a) and a number");
            }
            self.cur.set_pos(start);
            return Ok(None);
        };
        let place = match sigil {
            b'%' => digits.parse().ok().map(Place::Stack),
            b'$' => digits.parse().ok().filter(|it| *it <= MAX_TEMP).map(Place::Temp),
            _ => digits.parse().ok().map(Place::Local),
        };
        let Some(place) = place else { return self.cur.error("a variable with a smaller number") };
        self.cur.set_pos(self.cur.pos() + word.len());
        Ok(Some(Var::new(place, kind)))
    }

    pub(super) fn var(&mut self) -> Result<Var> {
        match self.try_var()? {
            Some(it) => Ok(it),
            None => self.cur.error("a variable"),
        }
    }

    /// Consumes the suffix of an operator, which names the kind of the operands, and returns this kind; int if there
    /// is no suffix.
    pub(super) fn kind(&mut self) -> Kind {
        let kind = meaning(&words::KINDS, self.cur.word_here()).unwrap_or(Kind::Int);
        if kind != Kind::Int {
            self.cur.set_pos(self.cur.pos() + 1);
        }
        kind
    }

    pub(super) fn expr(&mut self) -> Result<ExprId> {
        let left = self.operand()?;
        let word = self.cur.peek_word();
        let op = if let Some(op) = meaning(&words::COMPARE, word) {
            self.cur.eat_word(word);
            BinaryOp::Compare(op)
        } else if let Some(it) = words::ARITH.iter().find(|it| self.cur.eat(it.1)) {
            BinaryOp::Arith(it.0, self.kind())
        } else {
            return Ok(left);
        };
        let right = self.operand()?;
        self.add(Expr::Binary(op, left, right))
    }

    pub(super) fn operand(&mut self) -> Result<ExprId> {
        let (operand, index) = self.operand_and_index()?;
        if index.is_some() { self.cur.error("`:` and an element type") } else { Ok(operand) }
    }

    /// Parses an operand. If an index in brackets without an element type follows, also parses and returns that
    /// index; otherwise returns `None` as the index.
    pub(super) fn operand_and_index(&mut self) -> Result<(ExprId, Option<ExprId>)> {
        let mut base = self.primary()?;
        loop {
            if self.cur.eat("->") {
                let field = self.cur.field_ref()?;
                base = self.add(Expr::Field(base, field))?;
            } else if self.cur.eat("[") {
                let index = self.nested(Self::expr)?;
                self.cur.expect("]")?;
                // After `assert bound`, `:=` may only follow in texts that are invalid anyway.
                if !self.cur.rest().starts_with(':') {
                    return Ok((base, Some(index)));
                }
                self.cur.expect(":")?;
                let word = self.cur.peek_word();
                let Some(&elem) = words::ELEMS.iter().find(|it| it.word() == word) else {
                    return self.cur.error("an element type");
                };
                self.cur.eat_word(word);
                base = self.add(Expr::Elem(elem, base, index))?;
            } else {
                return Ok((base, None));
            }
        }
    }

    fn in_parens(&mut self) -> Result<ExprId> {
        self.cur.expect("(")?;
        let e = self.nested(Self::expr)?;
        self.cur.expect(")")?;
        Ok(e)
    }

    fn primary(&mut self) -> Result<ExprId> {
        if let Some(var) = self.try_var()? {
            return self.add(Expr::Var(var));
        }
        self.cur.blanks();
        if self.cur.rest().starts_with('(') {
            return self.in_parens();
        }
        if self.cur.eat("::") {
            let field = self.cur.field_ref()?;
            return self.add(Expr::Static(field));
        }
        let word = self.cur.peek_word();
        if let Some(op) = unary(word) {
            self.cur.eat_word(word);
            let e = self.in_parens()?;
            return self.add(Expr::Unary(op, e));
        }
        if word == "cast" || word == "instanceof" {
            self.cur.eat_word(word);
            let class = self.cur.class()?;
            let e = self.in_parens()?;
            return self.add(if word == "cast" { Expr::Cast(class, e) } else { Expr::InstanceOf(class, e) });
        }
        if self.cur.eat_word("null") {
            return self.add(Expr::Null);
        }
        let constant = match self.constant()? {
            None => return self.cur.error("an expression"),
            Some(it) => it,
        };
        let expr = match constant {
            Loadable::Int(it) => Expr::Int(it),
            Loadable::Long(it) => Expr::Long((it as u64).into()),
            Loadable::Float(it) => Expr::Float(it),
            Loadable::Double(it) => Expr::Double(it.into()),
            Loadable::Str(it) => Expr::Str(it),
            Loadable::Class(it) => Expr::Class(it),
            Loadable::MethodType(it) => Expr::MethodType(it),
            Loadable::MethodHandle(it) => Expr::MethodHandle(self.builder.handle(it)),
            Loadable::Dynamic(_) => return self.cur.error("an expression"),
        };
        self.add(expr)
    }

    /// Parses a constant if one comes next; returns `None` otherwise.
    fn constant(&mut self) -> Result<Option<Loadable>> {
        if self.cur.at_quote() {
            return self.cur.string().map(|it| Some(Loadable::Str(it)));
        }
        if self.cur.rest().starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return self.numeral().map(Some);
        }
        let word = self.cur.peek_word();
        let start = self.cur.pos();
        self.cur.eat_word(word);
        Ok(Some(match word {
            "Infinityf" => Loadable::Float(f32::INFINITY.to_bits()),
            "Infinityd" => Loadable::Double(f64::INFINITY.to_bits()),
            "NaNf" => Loadable::Float(CANONICAL_NAN_F),
            "NaNd" => Loadable::Double(CANONICAL_NAN_D),
            "floatbits" => Loadable::Float(self.bits(u32::MAX.into())? as u32),
            "doublebits" => Loadable::Double(self.bits(u64::MAX)?),
            "class" => Loadable::Class(self.cur.class()?),
            "methodtype" => {
                self.cur.blanks();
                Loadable::MethodType(self.cur.descriptor()?)
            }
            "handle" => Loadable::MethodHandle(self.handle()?),
            "dynamic" => {
                self.cur.expect("(")?;
                let it = self.nested(Self::dynamic)?;
                self.cur.expect(")")?;
                Loadable::Dynamic(Box::new(it))
            }
            _ => {
                self.cur.set_pos(start);
                return Ok(None);
            }
        }))
    }

    fn bits(&mut self, max: u64) -> Result<u64> {
        self.cur.expect("(")?;
        let bits = self.cur.hex(max)?;
        self.cur.expect(")")?;
        Ok(bits)
    }

    fn numeral(&mut self) -> Result<Loadable> {
        let start = self.cur.pos();
        let digits = self.cur.decimal();
        let suffix = self.cur.word_here();
        let fits = match suffix {
            "" => digits.parse().ok().map(Loadable::Int),
            "L" => digits.parse().ok().map(Loadable::Long),
            "f" => {
                digits.parse::<f32>().ok().filter(|it| it.is_finite()).map(|it| Loadable::Float(it.to_bits()))
            }
            "d" => digits
                .parse::<f64>()
                .ok()
                .filter(|it| it.is_finite())
                .map(|it| Loadable::Double(it.to_bits())),
            "Infinityf" if digits == "-" => Some(Loadable::Float(f32::NEG_INFINITY.to_bits())),
            "Infinityd" if digits == "-" => Some(Loadable::Double(f64::NEG_INFINITY.to_bits())),
            _ => None,
        };
        match fits {
            Some(it) => {
                self.cur.eat_word(suffix);
                Ok(it)
            }
            None => self.cur.error_at(start, "a number that fits its type"),
        }
    }

    pub(super) fn dynamic(&mut self) -> Result<Dynamic> {
        self.cur.blanks();
        let name = self.cur.name()?;
        if self.cur.rest().starts_with(':') {
            self.cur.set_pos(self.cur.pos() + 1);
        }
        let descriptor = self.cur.descriptor()?;
        self.cur.expect_word("by")?;
        let bootstrap = self.handle()?;
        self.cur.expect("[")?;
        let mut args = Vec::new();
        while !self.cur.eat("]") {
            if !args.is_empty() {
                self.cur.expect(",")?;
            }
            match self.constant()? {
                Some(it) => args.push(it),
                None => return self.cur.error("a constant"),
            }
        }
        Ok(Dynamic { name, descriptor, bootstrap, args: args.into() })
    }

    fn handle(&mut self) -> Result<MethodHandle> {
        use HandleKind::{GetField, GetStatic, PutField, PutStatic};
        let word = self.cur.peek_word();
        let Some(kind) = (1..=9).filter_map(HandleKind::from_number).find(|it| it.word() == word) else {
            return self.cur.error("a kind of method handle");
        };
        self.cur.eat_word(word);
        let member = match kind {
            GetField | GetStatic | PutField | PutStatic => self.cur.field_ref()?,
            _ => self.cur.method_ref()?,
        };
        Ok(MethodHandle { kind, member, interface: self.cur.eat_word("itf") })
    }
}

fn unary(word: &str) -> Option<UnOp> {
    if word == "length" {
        return Some(UnOp::Length);
    }
    if let Some(conv) = meaning(&words::CONV, word) {
        return Some(UnOp::Conv(conv));
    }
    meaning(&words::KINDS, word.strip_prefix("neg")?).map(UnOp::Neg)
}
