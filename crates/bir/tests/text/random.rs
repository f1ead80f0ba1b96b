//! Random well-formed bodies with every instruction and expression, odd names and odd numbers.

use bir::body::{
    Body, CallKind, Check, Expr, ExprId, Instr, InstrId, Operands, Place, Row, SwitchTable, Var,
};
use bir::body::{instr_id, ordinal};
use bir::build::{Builder, Header};
use bir::ops::{BinOp, BinaryOp, CmpOp, Cond, Conv, Elem, Kind, UnOp};
use classfile::bootstrap::{Dynamic, HandleKind, Loadable, MethodHandle};
use classfile::flags::Flags;
use classfile::names::{ClassName, Descriptor, MemberRef, Name};
use test_utils::rng::Rng;

const LOCALS: u16 = 300;
const KINDS: [Kind; 5] = [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Ref];

/// Names that are hard to parse: quotes, line ends, lone surrogates, NUL, overlong encodings, keywords.
const NAMES: [&[u8]; 26] = [
    b"m",
    b"<init>",
    b"lambda$0",
    b"we ird",
    b"quo\"te",
    b"new\nline",
    b"back\\slash",
    b"\xed\xa0\x80",
    b"a\xed\xb0\x80b",
    b"\xed\xa0\xbd\xed\xb8\x80",
    b"nul\xc0\x80",
    b"\xc1\x81overlong",
    b"\xc3\xa9t\xc3\xa9",
    b"any",
    b"static",
    b"x->y",
    b"-",
    b"a-b",
    b"a-",
    b"//",
    b"i0",
    b"0x1",
    b"",
    b"}",
    b"\xe2\x80\xae\xcc\x81",
    b"itf",
];

/// Returns a random body.
pub(crate) fn body(rng: &mut Rng) -> Body {
    let mut it =
        Gen { rng, b: Builder::new(), temps: Vec::new(), next_temp: 0, dynamics: Vec::new(), catches: 0 };
    it.body()
}

struct Gen<'r> {
    rng: &'r mut Rng,
    b: Builder,
    temps: Vec<Var>,
    next_temp: u32,
    dynamics: Vec<(u32, Option<Kind>)>,
    /// The first label of a handler; handlers come last.
    catches: u32,
}

impl Gen<'_> {
    fn body(&mut self) -> Body {
        let main = 1 + self.rng.below(40);
        let handlers = self.rng.below(4);
        self.catches = main + 1;
        let descriptor = self.method_descriptor(None);
        let ret = descriptor.method_type().and_then(|it| it.ret()).map(|it| it.kind());
        for number in 0..main + 1 + 2 * handlers {
            let label = self.b.label();
            assert_eq!(ordinal(label), number, "labels count as instructions do");
        }
        for _ in 0..main {
            let it = self.instr();
            self.push(it);
        }
        let value = ret.map(|kind| self.expr(kind, 3));
        self.push(Instr::Return(value));
        for _ in 0..handlers {
            let var = self.fresh(Kind::Ref);
            let var = self.rng.one([var, Var::new(Place::Stack(0), Kind::Ref)]);
            self.push(Instr::Catch(var));
            let to = self.target();
            self.push(Instr::Goto(to));
        }
        let rows = self.rows(main, handlers);
        let header = Header {
            method: MemberRef::new(self.class(), self.name(), descriptor),
            flags: Flags(self.rng.bits() as u16),
            locals: LOCALS,
            unreachable: if self.rng.chance(30) { [(1, 4), (9, u32::MAX)].into() } else { Box::default() },
            unverified: self.rng.chance(20),
        };
        self.b.freeze(header, rows).expect("labels are placed")
    }

    fn push(&mut self, instr: Instr) {
        let number = self.b.len();
        self.b.place(instr_id(number));
        self.b.push(instr);
    }

    fn rows(&mut self, main: u32, handlers: u32) -> Vec<Row> {
        let mut rows = Vec::new();
        for i in 0..handlers {
            for _ in 0..1 + self.rng.below(2) {
                let start = self.rng.below(main);
                let end = start + self.rng.below(main + 2 - start);
                let class = self.class();
                let catch_type = self.rng.one([None, Some(class), Some(ClassName::new(b"any"))]);
                let handler = instr_id(self.catches + 2 * i);
                rows.push(Row { start: instr_id(start), end, catch_type, handler, source: i as u16 });
            }
        }
        rows
    }

    fn target(&mut self) -> InstrId {
        instr_id(self.rng.below(self.catches))
    }

    fn name(&mut self) -> Name {
        Name::new(self.rng.one(NAMES))
    }

    fn class(&mut self) -> ClassName {
        match self.rng.below(5) {
            0 => self.array(),
            1 => ClassName::new(b"java/lang/Object"),
            2 => ClassName::new(&[&b"p/"[..], self.rng.one(NAMES)].concat()),
            _ => ClassName(self.name()),
        }
    }

    fn array(&mut self) -> ClassName {
        let kind = self.rng.one(KINDS);
        ClassName::new(&[b"[", &self.field_descriptor(kind)[..]].concat())
    }

    fn field_descriptor(&mut self, kind: Kind) -> Vec<u8> {
        match kind {
            Kind::Int => vec![self.rng.one([b'I', b'Z', b'B', b'C', b'S'])],
            Kind::Long => b"J".to_vec(),
            Kind::Float => b"F".to_vec(),
            Kind::Double => b"D".to_vec(),
            Kind::Ref => match self.rng.below(3) {
                0 => b"[[I".to_vec(),
                1 => b"Lp/C;".to_vec(),
                _ => [&b"Lq/"[..], self.rng.one(NAMES), b";"].concat(),
            },
        }
    }

    fn method_descriptor(&mut self, params: Option<&[Kind]>) -> Descriptor {
        let some: Vec<Kind> = (0..self.rng.below(4)).map(|_| self.rng.one(KINDS)).collect();
        let mut out = b"(".to_vec();
        for &kind in params.unwrap_or(&some) {
            out.extend(self.field_descriptor(kind));
        }
        out.push(b')');
        if self.rng.chance(30) {
            out.push(b'V');
        } else {
            let kind = self.rng.one(KINDS);
            out.extend(self.field_descriptor(kind));
        }
        Descriptor::new(&out)
    }

    fn field(&mut self, kind: Kind) -> MemberRef {
        let descriptor = Descriptor::new(&self.field_descriptor(kind));
        MemberRef::new(self.class(), self.name(), descriptor)
    }

    fn fresh(&mut self, kind: Kind) -> Var {
        let var = match self.rng.below(4) {
            0 => Var::local(self.rng.below(u32::from(LOCALS) - 1) as u16, kind),
            1 => Var::new(Place::Stack(self.rng.below(70_000) as u16), kind),
            _ => {
                self.next_temp += 1 + self.rng.below(3);
                Var::new(Place::Temp(self.next_temp), kind)
            }
        };
        self.temps.push(var);
        var
    }

    fn var(&mut self, kind: Kind) -> Var {
        let of_kind: Vec<Var> = self.temps.iter().copied().filter(|it| it.kind() == kind).collect();
        *self.rng.pick(&of_kind).unwrap_or(&Var::local(0, kind))
    }

    fn float(&mut self) -> u32 {
        let any = self.rng.bits() as u32;
        self.rng.one([
            any,
            0,
            0x8000_0000,
            0x7fc0_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7f80_0001,
            1,
            0x3fc0_0000,
            0x7f7f_ffff,
        ])
    }

    fn double(&mut self) -> u64 {
        let any = self.rng.bits();
        let nans = [0x7ff8_0000_0000_0000, 0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000];
        let ends = [f64::MIN_POSITIVE.to_bits(), f64::MAX.to_bits(), 1, f64::NEG_INFINITY.to_bits()];
        let nan = self.rng.one(nans);
        let end = self.rng.one(ends);
        self.rng.one([any, nan, end, 1.5f64.to_bits(), 1e23f64.to_bits(), (-0.0f64).to_bits()])
    }

    fn int(&mut self) -> i32 {
        let any = self.rng.bits() as i32;
        self.rng.one([0, -1, 1, i32::MIN, i32::MAX, any])
    }

    fn handle(&mut self) -> MethodHandle {
        let kind = HandleKind::from_number(1 + self.rng.below(9) as u8).expect("1 to 9");
        let field = matches!(kind.word(), "getField" | "getStatic" | "putField" | "putStatic");
        let kind_of = self.rng.one(KINDS);
        let member = if field {
            self.field(kind_of)
        } else {
            MemberRef::new(self.class(), self.name(), self.method_descriptor(None))
        };
        MethodHandle { kind, member, interface: !field && self.rng.chance(30) }
    }

    fn dynamic(&mut self, depth: u32, descriptor: Descriptor) -> Dynamic {
        let args = (0..self.rng.below(4)).map(|_| self.loadable(depth)).collect();
        Dynamic { name: self.name(), descriptor, bootstrap: self.handle(), args }
    }

    fn loadable(&mut self, depth: u32) -> Loadable {
        match self.rng.below(9) {
            0 => Loadable::Int(self.int()),
            1 => Loadable::Long(self.rng.bits() as i64),
            2 => Loadable::Float(self.float()),
            3 => Loadable::Double(self.double()),
            4 => Loadable::Str(self.name()),
            5 => Loadable::Class(self.class()),
            6 => Loadable::MethodType(self.method_descriptor(None)),
            7 if depth > 0 => {
                let descriptor = Descriptor::new(&self.field_descriptor(Kind::Ref));
                Loadable::Dynamic(Box::new(self.dynamic(depth - 1, descriptor)))
            }
            _ => Loadable::MethodHandle(self.handle()),
        }
    }

    /// Returns an expression of this kind; at depth 0, one that does not read the heap.
    fn expr(&mut self, kind: Kind, depth: u32) -> ExprId {
        let deep = depth > 0;
        let it = match self.rng.below(if deep { 9 } else { 3 }) {
            0 => self.constant(kind),
            1 | 2 => Expr::Var(self.var(kind)),
            3 => Expr::Static(self.field(kind)),
            4 => Expr::Field(self.expr(Kind::Ref, depth - 1), self.field(kind)),
            5 => {
                let elem = match kind {
                    Kind::Int => self.rng.one([Elem::Byte, Elem::Char, Elem::Short, Elem::Int]),
                    Kind::Long => Elem::Long,
                    Kind::Float => Elem::Float,
                    Kind::Double => Elem::Double,
                    Kind::Ref => Elem::Ref,
                };
                Expr::Elem(elem, self.expr(Kind::Ref, depth - 1), self.expr(Kind::Int, depth - 1))
            }
            _ => self.operator(kind, depth),
        };
        self.b.expr(it)
    }

    fn constant(&mut self, kind: Kind) -> Expr {
        match kind {
            Kind::Int => Expr::Int(self.int()),
            Kind::Long => Expr::Long(self.rng.bits().into()),
            Kind::Float => Expr::Float(self.float()),
            Kind::Double => Expr::Double(self.double().into()),
            Kind::Ref => match self.rng.below(5) {
                0 => Expr::Str(self.name()),
                1 => Expr::Class(self.class()),
                2 => Expr::MethodType(self.method_descriptor(None)),
                3 => {
                    let it = self.handle();
                    Expr::MethodHandle(self.b.handle(it))
                }
                _ => Expr::Null,
            },
        }
    }

    fn operator(&mut self, kind: Kind, depth: u32) -> Expr {
        use Conv::{D2f, D2i, D2l, F2d, F2i, F2l, I2b, I2c, I2d, I2f, I2l, I2s, L2d, L2f, L2i};
        let below = depth - 1;
        if kind == Kind::Ref {
            return Expr::Cast(self.class(), self.expr(Kind::Ref, below));
        }
        match self.rng.below(if kind == Kind::Int { 5 } else { 3 }) {
            0 => Expr::Unary(UnOp::Neg(kind), self.expr(kind, below)),
            1 => {
                let conv = match kind {
                    Kind::Int => self.rng.one([L2i, F2i, D2i, I2b, I2c, I2s]),
                    Kind::Long => self.rng.one([I2l, F2l, D2l]),
                    Kind::Float => self.rng.one([I2f, L2f, D2f]),
                    _ => self.rng.one([I2d, L2d, F2d]),
                };
                Expr::Unary(UnOp::Conv(conv), self.expr(conv.kinds().0, below))
            }
            2 => {
                use BinOp::{Add, And, Div, Mul, Or, Rem, Shl, Shr, Sub, Ushr, Xor};
                let any = self.rng.one([Add, Sub, Mul, Div, Rem, Shl, Shr, Ushr, And, Or, Xor]);
                let real = self.rng.one([Add, Sub, Mul, Div, Rem]);
                let op = if matches!(kind, Kind::Int | Kind::Long) { any } else { real };
                let op = BinaryOp::Arith(op, kind);
                let (left, right, _) = op.kinds();
                Expr::Binary(op, self.expr(left, below), self.expr(right, below))
            }
            3 => {
                let op = self.rng.one([CmpOp::Lcmp, CmpOp::Fcmpl, CmpOp::Fcmpg, CmpOp::Dcmpl, CmpOp::Dcmpg]);
                let e = self.expr(op.kind(), below);
                Expr::Binary(BinaryOp::Compare(op), e, self.expr(op.kind(), below))
            }
            _ if self.rng.chance(50) => Expr::Unary(UnOp::Length, self.expr(Kind::Ref, below)),
            _ => Expr::InstanceOf(self.class(), self.expr(Kind::Ref, below)),
        }
    }

    fn args(&mut self, descriptor: Descriptor, receiver: bool) -> Operands {
        let ty = descriptor.method_type().expect("a method descriptor");
        let kinds: Vec<Kind> =
            receiver.then_some(Kind::Ref).into_iter().chain(ty.params().map(|it| it.kind())).collect();
        let list: Vec<ExprId> = kinds.into_iter().map(|kind| self.expr(kind, 3)).collect();
        self.b.operands(&list).expect("few operands")
    }

    fn result(&mut self, kind: Option<Kind>) -> Option<Var> {
        kind.filter(|_| self.rng.chance(80)).map(|kind| self.fresh(kind))
    }

    fn check(&mut self) -> Check {
        let a = self.expr(Kind::Ref, 0);
        match self.rng.below(6) {
            0 => Check::NotNull(a),
            1 => Check::Bound(a, self.expr(Kind::Int, 0)),
            2 => Check::Store(a, self.expr(Kind::Ref, 0)),
            3 => {
                let kind = self.rng.one([Kind::Int, Kind::Long]);
                Check::NotZero(kind, self.expr(kind, 0))
            }
            4 => Check::NotNegative(self.expr(Kind::Int, 0)),
            _ => Check::Cast(self.class(), a),
        }
    }

    fn call(&mut self) -> Instr {
        use CallKind::{Interface, Special, SpecialInterface, Static, StaticInterface, Virtual};
        let kind = self.rng.one([Virtual, Interface, Special, SpecialInterface, Static, StaticInterface]);
        let descriptor = self.method_descriptor(None);
        let method = MemberRef::new(self.class(), self.name(), descriptor);
        let args = self.args(descriptor, kind.has_receiver());
        let ret = descriptor.method_type().and_then(|it| it.ret()).map(|it| it.kind());
        Instr::Call(self.result(ret), kind, method, args)
    }

    fn call_dynamic(&mut self) -> Instr {
        let descriptor = self.method_descriptor(None);
        let it = self.dynamic(2, descriptor);
        let site = self.b.dynamic(it);
        let ret = descriptor.method_type().and_then(|it| it.ret()).map(|it| it.kind());
        let args = self.args(descriptor, false);
        Instr::CallDynamic(self.result(ret), site, args)
    }

    fn const_dynamic(&mut self) -> Instr {
        // One constant may be loaded at several places.
        if let Some(&(site, Some(kind))) = self.dynamics.last()
            && self.rng.chance(50)
        {
            return Instr::ConstDynamic(self.fresh(kind), site);
        }
        let kind = self.rng.one(KINDS);
        let descriptor = Descriptor::new(&self.field_descriptor(kind));
        let it = self.dynamic(2, descriptor);
        let site = self.b.dynamic(it);
        self.dynamics.push((site, Some(kind)));
        Instr::ConstDynamic(self.fresh(kind), site)
    }

    fn table(&mut self, default: bool) -> u32 {
        let n = self.rng.below(4);
        let mut keys: Vec<i32> = (0..n).map(|_| self.int()).collect();
        keys.push(7);
        keys.sort_unstable();
        keys.dedup();
        let cases = keys.into_iter().map(|key| (key, self.target())).collect();
        let default = default.then(|| self.target());
        self.b.switch(SwitchTable { cases, default })
    }

    // long match: one arm per instruction
    fn instr(&mut self) -> Instr {
        let kind = self.rng.one(KINDS);
        match self.rng.below(22) {
            0 | 1 => {
                let e = self.expr(kind, 5);
                Instr::Assign(self.fresh(kind), e)
            }
            2 => Instr::SetField(self.expr(Kind::Ref, 3), self.field(kind), self.expr(kind, 3)),
            3 => Instr::SetStatic(self.field(kind), self.expr(kind, 3)),
            4 => {
                let a = self.expr(Kind::Ref, 3);
                Instr::SetElem(Elem::Char, a, self.expr(Kind::Int, 3), self.expr(Kind::Int, 3))
            }
            5 => Instr::MayInit(self.class()),
            6 | 7 => Instr::Assert(self.check()),
            8 => {
                let some: Vec<Kind> = (0..self.rng.below(4)).map(|_| self.rng.one(KINDS)).collect();
                let params: Vec<u8> = some.iter().flat_map(|&kind| self.field_descriptor(kind)).collect();
                let descriptor = Descriptor::new(&[b"(", &params[..], b")V"].concat());
                let args = self.args(descriptor, false);
                let method = MemberRef::new(self.class(), Name::new(b"<init>"), descriptor);
                Instr::New(self.fresh(Kind::Ref), method, args)
            }
            9 => Instr::Alloc(self.fresh(Kind::Ref), self.class()),
            10 => {
                let e = self.expr(Kind::Int, 3);
                Instr::NewArray(self.fresh(Kind::Ref), self.array(), e)
            }
            11 => {
                let list = [self.expr(Kind::Int, 3), self.expr(Kind::Int, 3)];
                let list = self.b.operands(&list).expect("few operands");
                Instr::MultiNewArray(self.fresh(Kind::Ref), ClassName::new(b"[[[J"), list)
            }
            12 | 13 => self.call(),
            14 => self.call_dynamic(),
            15 => self.const_dynamic(),
            16 => Instr::MonitorEnter(self.expr(Kind::Ref, 2)),
            17 => Instr::MonitorExit(self.expr(Kind::Ref, 2)),
            18 => Instr::Throw(self.expr(Kind::Ref, 2)),
            19 => {
                let cond = self.rng.one([Cond::Eq, Cond::Ne, Cond::Lt, Cond::Ge, Cond::Gt, Cond::Le]);
                let refs = matches!(cond, Cond::Eq | Cond::Ne) && self.rng.chance(50);
                let kind = if refs { Kind::Ref } else { Kind::Int };
                let a = self.expr(kind, 2);
                Instr::If(cond, a, self.expr(kind, 2), self.target())
            }
            20 => {
                let e = self.expr(Kind::Int, 2);
                if self.rng.chance(50) {
                    Instr::Switch(e, self.table(true))
                } else {
                    Instr::Ret(e, self.table(false))
                }
            }
            _ => Instr::Goto(self.target()),
        }
    }
}
