//! Java arithmetic (JVMS §6.5), written from the specification.

use bir::ops::{BinOp, BinaryOp, CmpOp, Cond, Conv, Kind, UnOp};

use crate::value::Value;
use Value::{Double, Float, Int, Long};

/// Returns the result, or the fault of the operand.
pub(crate) fn unary(op: UnOp, it: Value) -> Result<Value, String> {
    Ok(match (op, it) {
        (UnOp::Neg(Kind::Int), Int(a)) => Int(a.wrapping_neg()),
        (UnOp::Neg(Kind::Long), Long(a)) => Long(a.wrapping_neg()),
        (UnOp::Neg(Kind::Float), Float(a)) => Float(-a),
        (UnOp::Neg(Kind::Double), Double(a)) => Double(-a),
        (UnOp::Conv(conv), it) => return convert(conv, it),
        _ => return Err(format!("{op:?} of {it:?}")),
    })
}

fn convert(conv: Conv, it: Value) -> Result<Value, String> {
    // In Rust, `as` from floating point saturates and maps NaN to zero, as in Java.
    Ok(match (conv, it) {
        (Conv::I2l, Int(a)) => Long(a.into()),
        (Conv::I2f, Int(a)) => Float(a as f32),
        (Conv::I2d, Int(a)) => Double(a.into()),
        (Conv::L2i, Long(a)) => Int(a as i32),
        (Conv::L2f, Long(a)) => Float(a as f32),
        (Conv::L2d, Long(a)) => Double(a as f64),
        (Conv::F2i, Float(a)) => Int(a as i32),
        (Conv::F2l, Float(a)) => Long(a as i64),
        (Conv::F2d, Float(a)) => Double(a.into()),
        (Conv::D2i, Double(a)) => Int(a as i32),
        (Conv::D2l, Double(a)) => Long(a as i64),
        (Conv::D2f, Double(a)) => Float(a as f32),
        (Conv::I2b, Int(a)) => Int((a as i8).into()),
        (Conv::I2c, Int(a)) => Int((a as u16).into()),
        (Conv::I2s, Int(a)) => Int((a as i16).into()),
        _ => return Err(format!("{conv:?} of {it:?}")),
    })
}

/// Returns the result, or the fault of the operands. A zero divisor is a fault, because an assertion excludes it.
pub(crate) fn binary(op: BinaryOp, a: Value, b: Value) -> Result<Value, String> {
    let found = match (op, a, b) {
        (BinaryOp::Arith(op, Kind::Int), Int(a), Int(b)) => ints(op, a, b).map(Int),
        (BinaryOp::Arith(op @ (BinOp::Shl | BinOp::Shr | BinOp::Ushr), Kind::Long), Long(a), Int(b)) => {
            Some(Long(match op {
                BinOp::Shl => a.wrapping_shl(b as u32),
                BinOp::Shr => a.wrapping_shr(b as u32),
                _ => (a as u64).wrapping_shr(b as u32) as i64,
            }))
        }
        (BinaryOp::Arith(op, Kind::Long), Long(a), Long(b)) => longs(op, a, b).map(Long),
        (BinaryOp::Arith(op, Kind::Float), Float(a), Float(b)) => match op {
            BinOp::Add => Some(Float(a + b)),
            BinOp::Sub => Some(Float(a - b)),
            BinOp::Mul => Some(Float(a * b)),
            BinOp::Div => Some(Float(a / b)),
            BinOp::Rem => Some(Float(a % b)),
            _ => None,
        },
        (BinaryOp::Arith(op, Kind::Double), Double(a), Double(b)) => match op {
            BinOp::Add => Some(Double(a + b)),
            BinOp::Sub => Some(Double(a - b)),
            BinOp::Mul => Some(Double(a * b)),
            BinOp::Div => Some(Double(a / b)),
            BinOp::Rem => Some(Double(a % b)),
            _ => None,
        },
        (BinaryOp::Compare(op), a, b) => compare(op, a, b),
        _ => None,
    };
    found.ok_or_else(|| format!("{op:?} of {a:?} and {b:?}"))
}

fn ints(op: BinOp, a: i32, b: i32) -> Option<i32> {
    Some(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div | BinOp::Rem if b == 0 => return None,
        BinOp::Div => a.wrapping_div(b),
        BinOp::Rem => a.wrapping_rem(b),
        BinOp::Shl => a.wrapping_shl(b as u32),
        BinOp::Shr => a.wrapping_shr(b as u32),
        BinOp::Ushr => (a as u32).wrapping_shr(b as u32) as i32,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    })
}

fn longs(op: BinOp, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div | BinOp::Rem if b == 0 => return None,
        BinOp::Div => a.wrapping_div(b),
        BinOp::Rem => a.wrapping_rem(b),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl | BinOp::Shr | BinOp::Ushr => return None,
    })
}

fn compare(op: CmpOp, a: Value, b: Value) -> Option<Value> {
    let (order, unordered) = match (op, a, b) {
        (CmpOp::Lcmp, Long(a), Long(b)) => (Some(a.cmp(&b)), 0),
        (CmpOp::Fcmpl, Float(a), Float(b)) => (a.partial_cmp(&b), -1),
        (CmpOp::Fcmpg, Float(a), Float(b)) => (a.partial_cmp(&b), 1),
        (CmpOp::Dcmpl, Double(a), Double(b)) => (a.partial_cmp(&b), -1),
        (CmpOp::Dcmpg, Double(a), Double(b)) => (a.partial_cmp(&b), 1),
        _ => return None,
    };
    Some(Int(order.map_or(unordered, |it| it as i32)))
}

/// Returns whether a branch on these operands is taken.
pub(crate) fn holds(cond: Cond, a: Value, b: Value) -> Result<bool, String> {
    Ok(match (a, b) {
        (Int(a), Int(b)) => match cond {
            Cond::Eq => a == b,
            Cond::Ne => a != b,
            Cond::Lt => a < b,
            Cond::Ge => a >= b,
            Cond::Gt => a > b,
            Cond::Le => a <= b,
        },
        (Value::Ref(a), Value::Ref(b)) if cond == Cond::Eq => a == b,
        (Value::Ref(a), Value::Ref(b)) if cond == Cond::Ne => a != b,
        _ => return Err(format!("{a:?} {cond:?} {b:?}")),
    })
}
