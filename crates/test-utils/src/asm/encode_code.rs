//! Encodes bodies as bytes: two passes over the instructions, then the tables of `Code`. The first pass computes the
//! offsets of labels.

use std::collections::HashMap;

use super::AsmError;
use super::code::{CodeBuilder, Insn, Label, Pos};
use super::depth;
use super::opcodes as op;
use super::pool::Pool;
use super::put::{put_attribute, put_attributes, put_count};
use super::slots::arg_slots;

type Labels = HashMap<Label, u32>;

/// The content of the `Code` attribute. `n_args` is the number of slots that the parameters take.
pub(super) fn code(body: &CodeBuilder, pool: &mut Pool, n_args: u32) -> Result<Vec<u8>, AsmError> {
    let mut labels = Labels::new();
    pass(body, pool, &mut labels, None)?;
    let mut lines = Vec::new();
    let bytes = pass(body, pool, &mut labels.clone(), Some((&labels, &mut lines)))?;
    let max_stack = body.max_stack.unwrap_or_else(|| depth::max_stack(body));
    let max_locals = body.max_locals.unwrap_or_else(|| depth::max_locals(body, n_args));
    let mut out = Vec::new();
    out.extend(max_stack.to_be_bytes());
    out.extend(max_locals.to_be_bytes());
    let n = u32::try_from(bytes.len())
        .map_err(|_| AsmError::new("the code of the method takes 4 GiB or more"))?;
    out.extend(n.to_be_bytes());
    out.extend(bytes);
    put_count(&mut out, body.rows.len())?;
    for row in &body.rows {
        for pos in [row.start, row.end, row.handler] {
            out.extend(offset(&labels, pos)?.to_be_bytes());
        }
        out.extend(row.class.as_ref().map_or(Ok(0), |it| pool.class(it))?.to_be_bytes());
    }
    put_tables(&mut out, body, pool, &labels, &lines)?;
    Ok(out)
}

fn put_tables(
    out: &mut Vec<u8>,
    body: &CodeBuilder,
    pool: &mut Pool,
    labels: &Labels,
    lines: &[(u16, u16)],
) -> Result<(), AsmError> {
    let n_tables = usize::from(!lines.is_empty()) + usize::from(!body.vars.is_empty());
    put_count(out, body.attributes.len() + n_tables)?;
    if !lines.is_empty() {
        let mut table = Vec::new();
        put_count(&mut table, lines.len())?;
        for (pc, line) in lines {
            table.extend(pc.to_be_bytes());
            table.extend(line.to_be_bytes());
        }
        put_attribute(out, pool, &"LineNumberTable".into(), &table)?;
    }
    if !body.vars.is_empty() {
        let mut table = Vec::new();
        put_count(&mut table, body.vars.len())?;
        for it in &body.vars {
            let start = offset(labels, it.start)?;
            let length = offset(labels, it.end)?.wrapping_sub(start);
            for number in [start, length, pool.utf8(&it.name)?, pool.utf8(&it.descriptor)?, it.slot] {
                table.extend(number.to_be_bytes());
            }
        }
        put_attribute(out, pool, &"LocalVariableTable".into(), &table)?;
    }
    put_attributes(out, pool, &body.attributes)
}

fn offset(labels: &Labels, pos: Pos) -> Result<u16, AsmError> {
    match pos {
        Pos::Raw(it) => Ok(it),
        Pos::At(label) => {
            let it = labels
                .get(&label)
                .ok_or_else(|| AsmError::new("a label is used, but is bound nowhere in the method"))?;
            u16::try_from(*it)
                .map_err(|_| AsmError::new("a label in a table of the method is beyond offset 65535"))
        }
    }
}

/// Encodes the instructions once. The first pass (`known` is `None`) stores the offsets of labels in `found`. The
/// second pass gets these offsets as `known`, computes the distances of branches, and collects the line table.
fn pass(
    body: &CodeBuilder,
    pool: &mut Pool,
    found: &mut Labels,
    mut known: Option<(&Labels, &mut Vec<(u16, u16)>)>,
) -> Result<Vec<u8>, AsmError> {
    let mut out = Vec::new();
    for it in &body.insns {
        let pc = u32::try_from(out.len())
            .map_err(|_| AsmError::new("the code of the method takes 4 GiB or more"))?;
        match it {
            Insn::Bind(label) => {
                if found.insert(*label, pc).is_some() && known.is_none() {
                    return Err(AsmError::new("a label is bound twice in the method"));
                }
            }
            Insn::Line(line) => {
                if let Some((_, lines)) = &mut known {
                    lines.push((u16::try_from(pc).unwrap_or(u16::MAX), *line));
                }
            }
            _ => insn(&mut out, it, pool, known.as_ref().map(|it| (it.0, pc)))?,
        }
    }
    Ok(out)
}

/// The distance from an instruction to a label. `labels` holds the offsets of labels and the pc of the instruction;
/// while it is `None`, the distance is 0.
fn distance(labels: Option<(&Labels, u32)>, label: Label) -> Result<i32, AsmError> {
    let Some((labels, pc)) = labels else { return Ok(0) };
    let target = labels
        .get(&label)
        .ok_or_else(|| AsmError::new("a label is used, but is bound nowhere in the method"))?;
    i32::try_from(i64::from(*target) - i64::from(pc))
        .map_err(|_| AsmError::new("a branch offset does not fit into 32 bits"))
}

// long match: one arm for each form of instruction.
fn insn(
    out: &mut Vec<u8>,
    it: &Insn,
    pool: &mut Pool,
    labels: Option<(&Labels, u32)>,
) -> Result<(), AsmError> {
    match it {
        Insn::Plain(opcode) => out.push(*opcode),
        Insn::Number(opcode, value) => {
            out.push(*opcode);
            match *opcode {
                op::SIPUSH => out.extend(short(*value)?.to_be_bytes()),
                op::BIPUSH => {
                    let value = i8::try_from(*value)
                        .map_err(|_| AsmError::new("an operand does not fit into 8 bits"))?;
                    out.extend(value.to_be_bytes());
                }
                _ => out.push(
                    u8::try_from(*value).map_err(|_| AsmError::new("an operand does not fit into 8 bits"))?,
                ),
            }
        }
        Insn::Local(opcode, slot, wide) => local(out, *opcode, *slot, *wide),
        Insn::Iinc(slot, by, wide) => match (u8::try_from(*slot), i8::try_from(*by)) {
            (Ok(slot), Ok(by)) if !wide => out.extend([op::IINC, slot, by as u8]),
            _ => {
                out.extend([op::WIDE, op::IINC]);
                out.extend(slot.to_be_bytes());
                out.extend(by.to_be_bytes());
            }
        },
        Insn::Jump(opcode, label) => {
            let distance = distance(labels, *label)?;
            out.push(*opcode);
            if matches!(*opcode, op::GOTO_W | op::JSR_W) {
                out.extend(distance.to_be_bytes());
            } else {
                out.extend(short(distance)?.to_be_bytes());
            }
        }
        Insn::Ldc(opcode, constant) => {
            let idx = pool.constant(constant)?;
            match (*opcode, u8::try_from(idx)) {
                (op::LDC, Ok(idx)) => out.extend([op::LDC, idx]),
                (op::LDC, Err(_)) => indexed(out, op::LDC_W, idx),
                (opcode, _) => indexed(out, opcode, idx),
            }
        }
        Insn::Field(opcode, member) => indexed(out, *opcode, pool.field(member)?),
        Insn::Call(opcode, member) => {
            indexed(out, *opcode, pool.method(member)?);
            if *opcode == op::INVOKEINTERFACE {
                let count = arg_slots(member.descriptor.units()) + 1;
                out.extend([u8::try_from(count).unwrap_or(u8::MAX), 0]);
            }
        }
        Insn::Dynamic(bootstrap, name, ty) => {
            indexed(out, op::INVOKEDYNAMIC, pool.dynamic_call(*bootstrap, name, ty)?);
            out.extend([0, 0]);
        }
        Insn::Type(opcode, class) => indexed(out, *opcode, pool.class(class)?),
        Insn::MultiArray(class, dims) => {
            indexed(out, op::MULTIANEWARRAY, pool.class(class)?);
            out.push(*dims);
        }
        Insn::Table(..) | Insn::Lookup(..) => switch(out, it, labels)?,
        Insn::Raw(bytes) => out.extend_from_slice(bytes),
        Insn::Bind(_) | Insn::Line(_) => {}
    }
    Ok(())
}

fn local(out: &mut Vec<u8>, opcode: u8, slot: u16, wide: bool) {
    match u8::try_from(slot) {
        Ok(slot) if !wide => out.extend([opcode, slot]),
        _ => {
            out.extend([op::WIDE, opcode]);
            out.extend(slot.to_be_bytes());
        }
    }
}

fn switch(out: &mut Vec<u8>, it: &Insn, labels: Option<(&Labels, u32)>) -> Result<(), AsmError> {
    out.push(if matches!(it, Insn::Table(..)) { op::TABLESWITCH } else { op::LOOKUPSWITCH });
    while !out.len().is_multiple_of(4) {
        out.push(0);
    }
    match it {
        Insn::Table(low, targets, default) => {
            out.extend(distance(labels, *default)?.to_be_bytes());
            let n = i32::try_from(targets.len())
                .map_err(|_| AsmError::new("a switch has more than 2^31 - 1 targets"))?;
            out.extend(low.to_be_bytes());
            out.extend(low.wrapping_add(n).wrapping_sub(1).to_be_bytes());
            for target in targets {
                out.extend(distance(labels, *target)?.to_be_bytes());
            }
        }
        Insn::Lookup(pairs, default) => {
            out.extend(distance(labels, *default)?.to_be_bytes());
            let n = i32::try_from(pairs.len())
                .map_err(|_| AsmError::new("a switch has more than 2^31 - 1 targets"))?;
            out.extend(n.to_be_bytes());
            for (key, target) in pairs {
                out.extend(key.to_be_bytes());
                out.extend(distance(labels, *target)?.to_be_bytes());
            }
        }
        _ => {}
    }
    Ok(())
}

fn indexed(out: &mut Vec<u8>, opcode: u8, idx: u16) {
    out.push(opcode);
    out.extend(idx.to_be_bytes());
}

fn short(value: i32) -> Result<i16, AsmError> {
    i16::try_from(value).map_err(|_| AsmError::new("an operand or branch offset does not fit into 16 bits"))
}
