//! Computes `max_stack` and `max_locals` for bodies that do not set them.
//!
//! The computed stack depth is never too small for code that verifies. If depths differ where control joins, the
//! largest one counts. The effect of raw bytes is unknown, so a body with raw bytes should set `max_stack` itself.

use std::collections::HashMap;

use super::code::{CodeBuilder, Insn, Label, Pos};
use super::opcodes as op;
use super::slots::{arg_slots, value_slots};

/// The greatest depth of the operand stack on any path through the body, in slots, at most 65535.
pub(super) fn max_stack(body: &CodeBuilder) -> u16 {
    let places: HashMap<Label, usize> = body
        .insns
        .iter()
        .enumerate()
        .filter_map(|(idx, it)| if let Insn::Bind(label) = it { Some((*label, idx)) } else { None })
        .collect();
    let mut seen: Vec<Option<i64>> = vec![None; body.insns.len()];
    let mut work: Vec<(usize, i64)> = vec![(0, 0)];
    for row in &body.rows {
        if let Pos::At(label) = row.handler {
            work.extend(places.get(&label).map(|&it| (it, 1)));
        } else {
            // A raw offset of a handler may be anywhere.
            work.extend((0..body.insns.len()).map(|it| (it, 1)));
        }
    }
    let mut max = 1;
    while let Some((idx, depth)) = work.pop() {
        let Some(old) = seen.get_mut(idx) else { continue };
        if old.is_some_and(|it| it >= depth) || depth > 65_535 {
            continue;
        }
        *old = Some(depth);
        let Some(insn) = body.insns.get(idx) else { continue };
        let after = depth_after(insn, depth);
        for label in targets(insn) {
            work.extend(places.get(label).map(|&it| (it, after)));
        }
        if falls_through(insn) {
            // The code after a `jsr` starts without the return address on the stack.
            let after = if is_jsr(insn) { depth } else { after };
            work.push((idx + 1, after));
        }
        max = max.max(after);
    }
    // A subroutine may leave a value on the stack, and each call may find the values of all other calls below it.
    let n_jsrs = body.insns.iter().filter(|it| is_jsr(it)).count();
    u16::try_from(max.saturating_add(2 * n_jsrs as i64)).unwrap_or(u16::MAX)
}

/// One more than the highest used local variable slot; the `n_args` slots of the parameters count as used.
pub(super) fn max_locals(body: &CodeBuilder, n_args: u32) -> u16 {
    let mut max = n_args;
    for it in &body.insns {
        max = max.max(match it {
            Insn::Local(opcode, slot, _) => u32::from(*slot) + if is_wide_local(*opcode) { 2 } else { 1 },
            Insn::Iinc(slot, ..) => u32::from(*slot) + 1,
            Insn::Plain(opcode) => short_form(*opcode)
                .map_or(0, |(general, slot)| u32::from(slot) + if is_wide_local(general) { 2 } else { 1 }),
            _ => 0,
        });
    }
    u16::try_from(max).unwrap_or(u16::MAX)
}

fn is_wide_local(opcode: u8) -> bool {
    matches!(opcode, op::LLOAD | op::DLOAD | op::LSTORE | op::DSTORE)
}

/// The general opcode and the slot of one of the opcodes `iload_0` to `astore_3`; `None` for other opcodes.
fn short_form(opcode: u8) -> Option<(u8, u8)> {
    match opcode {
        op::ILOAD_0..=op::ALOAD_3 => {
            let it = opcode - op::ILOAD_0;
            Some((op::ILOAD + it / 4, it % 4))
        }
        op::ISTORE_0..=op::ASTORE_3 => {
            let it = opcode - op::ISTORE_0;
            Some((op::ISTORE + it / 4, it % 4))
        }
        _ => None,
    }
}

/// The depth of the operand stack after the instruction, in slots, if `depth` is the depth before it.
fn depth_after(insn: &Insn, depth: i64) -> i64 {
    let opcode = match insn {
        Insn::Bind(_) | Insn::Line(_) | Insn::Raw(_) => return depth,
        Insn::Plain(opcode) | Insn::Number(opcode, _) | Insn::Local(opcode, ..) => *opcode,
        Insn::Jump(opcode, _) | Insn::Type(opcode, _) => *opcode,
        Insn::Iinc(..) => op::IINC,
        Insn::Ldc(_, constant) => return depth + if constant.is_wide() { 2 } else { 1 },
        Insn::Table(..) | Insn::Lookup(..) => op::TABLESWITCH,
        Insn::MultiArray(_, dims) => return (depth - i64::from(*dims)).max(0) + 1,
        Insn::Field(opcode, member) => {
            let value = i64::from(value_slots(&member.descriptor));
            let after = match *opcode {
                op::GETSTATIC => depth + value,
                op::PUTSTATIC => depth - value,
                op::GETFIELD => depth - 1 + value,
                _ => depth - 1 - value,
            };
            return after.max(0);
        }
        Insn::Call(opcode, member) => {
            let receiver = i64::from(*opcode != op::INVOKESTATIC);
            let args = i64::from(arg_slots(member.descriptor.units())) + receiver;
            return (depth - args).max(0) + i64::from(value_slots(&member.descriptor));
        }
        Insn::Dynamic(_, _, ty) => {
            let args = i64::from(arg_slots(ty.units()));
            return (depth - args).max(0) + i64::from(value_slots(ty));
        }
    };
    let delta = op::info(opcode).map_or(0, |it| i64::from(it.delta));
    (depth + delta).max(0)
}

fn targets(insn: &Insn) -> Vec<&Label> {
    match insn {
        Insn::Jump(_, label) => vec![label],
        Insn::Table(_, labels, default) => labels.iter().chain([default]).collect(),
        Insn::Lookup(pairs, default) => pairs.iter().map(|it| &it.1).chain([default]).collect(),
        _ => Vec::new(),
    }
}

fn is_jsr(insn: &Insn) -> bool {
    matches!(insn, Insn::Jump(op::JSR | op::JSR_W, _))
}

fn falls_through(insn: &Insn) -> bool {
    match insn {
        Insn::Jump(op::GOTO | op::GOTO_W, _) | Insn::Table(..) | Insn::Lookup(..) => false,
        Insn::Local(op::RET, ..) => false,
        Insn::Plain(opcode) => !matches!(*opcode, op::IRETURN..=op::RETURN | op::ATHROW),
        _ => true,
    }
}
