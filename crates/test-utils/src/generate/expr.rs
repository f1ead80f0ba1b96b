//! Expressions of any type: leaves, operators, conversions, conditions.

use crate::asm::{Const, Insn, Label, opcodes as op};

use super::body::Body;
use super::types::{Elem, Ref, Ty};

impl Body<'_> {
    /// Writes code that pushes a value of type `ty`.
    pub(super) fn expr(&mut self, ty: Ty) {
        self.spend(1);
        if self.depth >= 5 || self.is_full() {
            return self.leaf(ty);
        }
        self.depth += 1;
        match self.rng.below(100) {
            0..22 => self.leaf(ty),
            22..29 => self.conditional(ty),
            29..37 => self.call_for(ty),
            37..45 => self.read_field(ty),
            45..53 => self.assignment(ty),
            53..58 => {
                self.expr(ty);
                self.trace(ty);
            }
            58..62 => self.shuffle(Some(ty)),
            62..64 => self.loop_expr(ty),
            64..67 => self.switch_expr(ty),
            67 => self.parallel_join(ty),
            68 => self.parallel_loop(ty),
            69..71 => self.try_expr(ty),
            71..73 => self.statement_then(ty),
            73..75 => self.overwritten_local(ty),
            75..77 if self.style.subroutines => self.sub_expr(ty),
            _ => self.operator(ty),
        }
        self.depth -= 1;
    }

    /// Writes code that pushes a simple value of type `ty`: a local, a constant or a new object.
    pub(super) fn leaf(&mut self, ty: Ty) {
        self.spend(1);
        if self.rng.chance(65)
            && let Some(local) = self.readable(ty)
        {
            return self.load(local.ty, local.slot);
        }
        match ty {
            Ty::Ref(Ref::Array(elem)) if self.rng.chance(97) => {
                let n = self.usual_length();
                self.code.int(n);
                if elem == Elem::Ints {
                    self.code.op(op::ICONST_3).push(Insn::MultiArray("[[I".into(), 2));
                } else {
                    self.new_array(elem);
                }
            }
            Ty::Ref(Ref::Class(class)) if self.rng.chance(96) => self.new_of(class),
            Ty::Ref(Ref::Throwable) => self.new_throwable(),
            Ty::Ref(Ref::Object) if self.rng.chance(90) => {
                let it = self.rng.one([Ref::Str, Ref::Array(Elem::Int), Ref::Class(self.owner)]);
                self.leaf(Ty::Ref(it));
            }
            _ => self.constant(ty),
        }
    }

    /// Writes an operator whose result has the type `ty`, with its operands.
    fn operator(&mut self, ty: Ty) {
        match ty {
            Ty::Int => self.int_operator(),
            Ty::Ref(it) => self.ref_operator(it),
            _ => self.wide_operator(ty),
        }
    }

    pub(super) fn pair(&mut self, first: Ty, second: Ty) {
        self.expr(first);
        self.under(1, |it| it.expr(second));
    }

    fn int_operator(&mut self) {
        match self.rng.below(16) {
            0..6 => {
                self.pair(Ty::Int, Ty::Int);
                let opcode = self.rng.one([
                    op::IADD,
                    op::ISUB,
                    op::IMUL,
                    op::IDIV,
                    op::IREM,
                    op::ISHL,
                    op::ISHR,
                    op::IUSHR,
                    op::IAND,
                    op::IOR,
                    op::IXOR,
                ]);
                self.nonzero(Ty::Int, opcode);
                self.code.op(opcode);
            }
            6 => {
                self.expr(Ty::Int);
                let opcode = self.rng.one([op::INEG, op::I2B, op::I2C, op::I2S]);
                self.code.op(opcode);
            }
            7 | 8 => {
                let (ty, opcode) =
                    self.rng.one([(Ty::Long, op::L2I), (Ty::Float, op::F2I), (Ty::Double, op::D2I)]);
                self.expr(ty);
                self.code.op(opcode);
            }
            9 | 10 => self.comparison(),
            11 => {
                let elem = self.world.elem(self.rng);
                self.expr(Ty::Ref(Ref::Array(elem)));
                self.code.op(op::ARRAYLENGTH);
            }
            12 => {
                self.expr(Ty::Ref(Ref::Object));
                let name = self.any_ref_name();
                self.code.ty(op::INSTANCEOF, &name);
            }
            13 => self.string_query(),
            _ => {
                let elem =
                    self.rng.one([Elem::Int, Elem::Int, Elem::Byte, Elem::Boolean, Elem::Char, Elem::Short]);
                self.read_element(elem);
            }
        }
    }

    /// If `opcode` is a division or remainder, in most cases writes code that makes the divisor on the stack nonzero.
    fn nonzero(&mut self, ty: Ty, opcode: u8) {
        if matches!(opcode, op::IDIV | op::IREM) && self.rng.chance(85) {
            match ty {
                Ty::Int => self.code.op(op::ICONST_1).op(op::IOR),
                Ty::Long => self.code.op(op::LCONST_1).op(op::LOR),
                _ => return,
            };
        }
    }

    /// Writes a comparison of two longs, floats or doubles (`lcmp`, `fcmpl`, `fcmpg`, `dcmpl` or `dcmpg`), with its
    /// operands.
    fn comparison(&mut self) {
        let (ty, opcode) = self.rng.one([
            (Ty::Long, op::LCMP),
            (Ty::Float, op::FCMPL),
            (Ty::Float, op::FCMPG),
            (Ty::Double, op::DCMPL),
            (Ty::Double, op::DCMPG),
        ]);
        self.pair(ty, ty);
        self.code.op(opcode);
    }

    fn string_query(&mut self) {
        let string = "java/lang/String";
        self.expr(Ty::Ref(Ref::Str));
        match self.rng.below(3) {
            0 => self.code.call(op::INVOKEVIRTUAL, string, "length", "()I"),
            1 => {
                if self.rng.chance(60) {
                    // Make sure that the string is not empty.
                    self.code.ldc(Const::Str("xyz".into()));
                    let ty = "(Ljava/lang/String;)Ljava/lang/String;";
                    self.code.call(op::INVOKEVIRTUAL, string, "concat", ty);
                }
                self.under(1, |it| it.index());
                self.code.call(op::INVOKEVIRTUAL, string, "charAt", "(I)C")
            }
            _ => {
                self.under(1, |it| it.expr(Ty::Ref(Ref::Object)));
                self.code.call(op::INVOKEVIRTUAL, string, "equals", "(Ljava/lang/Object;)Z")
            }
        };
    }

    /// Writes an operator on longs, floats or doubles, with its operands.
    fn wide_operator(&mut self, ty: Ty) {
        let family = ty.family();
        match self.rng.below(10) {
            0..4 => {
                self.pair(ty, ty);
                let opcode = self.rng.one([op::IADD, op::ISUB, op::IMUL, op::IDIV, op::IREM]);
                self.nonzero(ty, opcode);
                self.code.op(opcode + family);
            }
            4 => {
                self.expr(ty);
                self.code.op(op::INEG + family);
            }
            5 | 6 if ty == Ty::Long => {
                if self.rng.chance(50) {
                    self.pair(Ty::Long, Ty::Int);
                    let opcode = self.rng.one([op::LSHL, op::LSHR, op::LUSHR]);
                    self.code.op(opcode);
                } else {
                    self.pair(Ty::Long, Ty::Long);
                    let opcode = self.rng.one([op::LAND, op::LOR, op::LXOR]);
                    self.code.op(opcode);
                }
            }
            7 => {
                let elem = match ty {
                    Ty::Long => Elem::Long,
                    Ty::Float => Elem::Float,
                    _ => Elem::Double,
                };
                self.read_element(elem);
            }
            _ => {
                let from = self.rng.one([Ty::Int, Ty::Long, Ty::Float, Ty::Double]);
                self.expr(from);
                self.convert(from, ty);
            }
        }
    }

    /// Writes conversions of the value on the stack from one primitive type to another.
    pub(super) fn convert(&mut self, from: Ty, to: Ty) {
        let table = [
            [0, op::I2L, op::I2F, op::I2D],
            [op::L2I, 0, op::L2F, op::L2D],
            [op::F2I, op::F2L, 0, op::F2D],
            [op::D2I, op::D2L, op::D2F, 0],
        ];
        let row = table.get(usize::from(from.family()));
        match row.and_then(|it| it.get(usize::from(to.family()))) {
            Some(&opcode) if opcode != 0 => {
                self.code.op(opcode);
            }
            _ => {}
        }
    }

    fn ref_operator(&mut self, it: Ref) {
        match it {
            Ref::Str if self.rng.chance(40) => {
                self.expr(Ty::Ref(Ref::Str));
                // One operand is a constant, so that loops cannot make strings grow without limit.
                self.code.ldc(Const::Str("+".into()));
                let ty = "(Ljava/lang/String;)Ljava/lang/String;";
                self.code.call(op::INVOKEVIRTUAL, "java/lang/String", "concat", ty);
            }
            Ref::Object if self.style.class_constants && self.rng.chance(20) => {
                let name = self.any_ref_name();
                self.code.ldc(Const::Class(name.as_str().into()));
            }
            Ref::Object => {
                let ty = self.any_ref();
                self.expr(Ty::Ref(ty));
            }
            Ref::Array(elem) if self.rng.chance(70) => self.fresh_array(elem),
            Ref::Class(class) if self.rng.chance(60) => self.new_object(class),
            Ref::Throwable => self.new_throwable(),
            _ if self.rng.chance(50) => {
                let elem = match it {
                    Ref::Str => Elem::Str,
                    Ref::Class(it) => Elem::Class(it),
                    Ref::Array(Elem::Int) => Elem::Ints,
                    _ => return self.leaf(Ty::Ref(it)),
                };
                self.read_element(elem);
            }
            _ => {
                self.expr(Ty::Ref(Ref::Object));
                self.cast(it);
            }
        }
    }

    /// Writes a cast of the value on the stack, in most cases after an `instanceof` test.
    fn cast(&mut self, to: Ref) {
        let name = self.world.ref_name(to);
        let (good, end) = (self.code.label(), self.code.label());
        let asks = self.rng.chance(85);
        if asks {
            self.code.op(op::DUP).ty(op::INSTANCEOF, &name).jump(op::IFNE, good).op(op::POP);
            self.leaf(Ty::Ref(to));
            self.goto(end);
            self.code.bind(good);
        }
        self.code.ty(op::CHECKCAST, &name).bind(end);
    }

    /// Picks a random reference type.
    pub(super) fn any_ref(&mut self) -> Ref {
        match self.rng.below(4) {
            0 => Ref::Str,
            1 => Ref::Array(self.world.elem(self.rng)),
            _ => Ref::Class(self.rng.below(self.world.classes.len() as u32) as usize),
        }
    }

    pub(super) fn any_ref_name(&mut self) -> String {
        let it = self.any_ref();
        self.world.ref_name(it)
    }

    /// Writes a jump to `target` under a random condition.
    pub(super) fn branch(&mut self, target: Label) {
        match self.rng.below(8) {
            0..2 => {
                self.expr(Ty::Int);
                let opcode = op::IFEQ + self.rng.below(6) as u8;
                self.code.jump(opcode, target);
            }
            2 | 3 => {
                self.pair(Ty::Int, Ty::Int);
                let opcode = op::IF_ICMPEQ + self.rng.below(6) as u8;
                self.code.jump(opcode, target);
            }
            4 => {
                self.expr(Ty::Ref(Ref::Object));
                let opcode = self.rng.one([op::IFNULL, op::IFNONNULL]);
                self.code.jump(opcode, target);
            }
            5 => {
                self.pair(Ty::Ref(Ref::Object), Ty::Ref(Ref::Object));
                let opcode = self.rng.one([op::IF_ACMPEQ, op::IF_ACMPNE]);
                self.code.jump(opcode, target);
            }
            6 => {
                self.comparison();
                let opcode = op::IFEQ + self.rng.below(6) as u8;
                self.code.jump(opcode, target);
            }
            _ => {
                // A conjunction: two edges to the same label.
                let other = self.code.label();
                self.expr(Ty::Int);
                self.code.jump(op::IFEQ, other);
                self.expr(Ty::Int);
                self.code.jump(op::IFNE, target).bind(other);
            }
        }
    }

    fn conditional(&mut self, ty: Ty) {
        let (other, end) = (self.code.label(), self.code.label());
        self.branch(other);
        self.expr(ty);
        self.goto(end);
        self.code.bind(other);
        self.expr(ty);
        self.code.bind(end);
    }
}
