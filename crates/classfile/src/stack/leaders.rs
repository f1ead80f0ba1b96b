//! Decodes all instructions of a body and finds where blocks begin, checking the rules of the JVMS that hold for
//! every instruction, reachable or not (§4.9.1).

use super::effect::ends_block;
use super::{NONE, Range, Walk};
use crate::code::Code;
use crate::error::{Fault, Malformed, Result};
use crate::insn::{Insn, Pc, Switch};

/// The flag of an instruction at which a block begins.
pub(super) const LEADER: u8 = 1;
/// The flag of an instruction that is the target of a branch, or at which control continues after a subroutine.
pub(super) const TARGET: u8 = 2;
/// The flag of an instruction at which the handler of an exception-table row begins.
pub(super) const HANDLER: u8 = 4;
/// The flag of an instruction to which control falls through from the instruction before.
pub(super) const FALLEN_INTO: u8 = 8;

/// Decodes the instructions of `code`, and stores in `walk` the instructions, their ordinals, the leaders (the
/// instructions at which blocks begin) and the exception table. `major` is the major version of the class file.
pub(super) fn decode(walk: &mut Walk, code: &Code<'_, '_>, major: u16) -> Result<()> {
    let Walk { insns, ordinals, leaders, branches, .. } = walk;
    insns.clear();
    ordinals.clear();
    ordinals.resize(code.bytes.len() + 1, NONE);
    leaders.clear();
    branches.clear();
    let mut has_jsr = false;
    let mut leader = LEADER;
    for it in code.instructions() {
        let (pc, insn) = it?;
        let ordinal = insns.len() as u32;
        ordinals[pc.index()] = ordinal;
        leaders.push(leader);
        leader = 0;
        if ends_block(insn) {
            leader = LEADER;
            match insn {
                Insn::Return(_) | Insn::Throw => {}
                Insn::Ret(_) => has_jsr = true,
                Insn::Jsr(_) => {
                    has_jsr = true;
                    // The `ret` of the subroutine returns to the next instruction.
                    leader |= TARGET;
                    branches.push(ordinal);
                }
                _ => branches.push(ordinal),
            }
        }
        insns.push((pc, insn));
    }
    leaders.push(leader);
    walk.has_jsr = has_jsr;
    if walk.has_jsr && major > 50 {
        let is_jsr = |it: &&(Pc, Insn)| matches!(it.1, Insn::Jsr(_) | Insn::Ret(_));
        let at = walk.insns.iter().find(is_jsr).map_or(0, |it| it.0.0);
        let fault =
            Fault::OtherAt("jsr and ret are not allowed in a class file of major version", major.into());
        return Err(Malformed::new(code.offset + at as usize, "4.9.1", fault));
    }
    targets(walk, code)?;
    ranges(walk, code)
}

/// Marks the targets of branches as leaders (instructions at which blocks begin).
fn targets(walk: &mut Walk, code: &Code<'_, '_>) -> Result<()> {
    let Walk { insns, ordinals, leaders, branches, .. } = walk;
    for &branch in &*branches {
        let (pc, insn) = insns[branch as usize];
        let mut bad = None;
        let mut to = |target: Pc| match ordinals.get(target.index()) {
            Some(&it) if it != NONE => leaders[it as usize] |= LEADER | TARGET,
            _ => bad = Some(target),
        };
        match insn {
            Insn::If(_, t) | Insn::IfInts(_, t) | Insn::IfRefs(_, t) | Insn::IfNull(_, t) => to(t),
            Insn::Goto(t) | Insn::Jsr(t) => to(t),
            Insn::Switch(table) => {
                if let Ok(switch) = Switch::read(code.bytes, pc, table) {
                    to(switch.default);
                    switch.cases().for_each(|it| to(it.1));
                }
            }
            _ => {}
        }
        if let Some(target) = bad {
            let fault = Fault::OtherAt(
                "a branch leads to a pc that is not the start of an instruction:",
                i64::from(target.0 as i32),
            );
            return Err(Malformed::new(code.offset + pc.index(), "4.9.1", fault));
        }
    }
    Ok(())
}

fn ranges(walk: &mut Walk, code: &Code<'_, '_>) -> Result<()> {
    walk.ranges.clear();
    let n = walk.insns.len() as u32;
    let behind = code.bytes.len() as u32;
    let error = |what, row: usize| {
        let fault = Fault::OtherAt(what, row as i64);
        Err(Malformed::new(code.offset + code.bytes.len(), "4.7.3", fault))
    };
    for row in code.handlers() {
        let row = row?;
        let at = |pc: Pc| walk.ordinals.get(pc.index()).copied().filter(|&it| it != NONE);
        let end = if row.end.0 == behind { Some(n) } else { at(row.end) };
        let (Some(start), Some(end), Some(handler)) = (at(row.start), end, at(row.handler)) else {
            return error(
                "a row of the exception table refers to a pc that is not the start of an instruction: row",
                walk.ranges.len(),
            );
        };
        if row.start >= row.end {
            return error(
                "a row of the exception table is empty or ends before it starts: row",
                walk.ranges.len(),
            );
        }
        walk.leaders[handler as usize] |= LEADER | HANDLER;
        if walk.has_jsr {
            // A handler observes exactly the return addresses that locals hold within the range.
            walk.leaders[start as usize] |= LEADER;
            walk.leaders[end as usize] |= LEADER;
        }
        walk.ranges.push(Range { start, end, handler, catch_type: row.catch_type });
    }
    Ok(())
}
