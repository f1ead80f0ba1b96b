//! Lowering of a `Code` attribute to BIR, by symbolic execution of the operand stack.
//!
//! The stack holds expressions instead of values ([`symbolic`]). A bytecode instruction yields BIR only where it has
//! an effect, can raise an exception, or branches ([`insns`], by the operations of [`machine`]). Blocks are emitted
//! context by context, in bytecode order. Where control joins, a block begins with the stack that
//! [`classfile::stack::walk`] computed, in the canonical variables `%k0`, `%k1`, …. Other blocks begin with the stack
//! at the end of the block that falls through to them. For summaries, much code is omitted ([`lean`]).

mod insns;
mod lean;
mod machine;
mod symbolic;

use classfile::bootstrap::Bootstraps;
use classfile::class::{ClassFile, MemberInfo};
use classfile::code::Code;
use classfile::descriptor::Kind;
use classfile::error::{Fault, Malformed, Result};
use classfile::flags::Flags;
use classfile::insn::Insn;
use classfile::names::MethodRef;
use classfile::stack::{Block, Context, Walk};

use crate::body::{Body, ExprId, Instr, Row, instr_id};
use crate::build::{Builder, Header};
use crate::positions::Positions;
use insns::Lowerer;
use lean::Lean;
use machine::{Step, SymbolicMachine, build_fault, fault, save_resolving};
use symbolic::Stack;

/// A lowered method: its body, and the origin of each of its instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lowered {
    /// The body, which contains no pcs, lines or pool indices.
    pub body: Body,
    /// The pcs, inlined copies and lines of the instructions of the body.
    pub positions: Positions,
}

/// Reusable memory for lowering several methods.
#[derive(Default)]
pub struct Scratch {
    builder: Builder,
    walk: Walk,
    stack: Stack,
    begins: Vec<(Context, u32, u32)>,
    pcs: Vec<u16>,
    args: Vec<ExprId>,
    lines: Vec<(u16, u16)>,
}

impl Scratch {
    /// Makes the memory of a body available to the next call of [`lower_lean`].
    pub fn recycle(&mut self, body: Body) {
        self.builder.recycle(body);
    }
}

/// Like [`lower`], for clients that need only what a body raises, calls and accesses, but no positions.
///
/// If the method has no handlers, instructions that surely raise nothing are omitted: assertions that `this` is not
/// null, assertions about constant divisors and array lengths, and stores of constants and variables into arrays that
/// the method created with a constant length. (Most code of a JDK consists of such stores, which fill tables of
/// locales.) String constants are replaced by the empty string, unless they have the form of class names, or the method
/// uses monitors or reflection: strings may be used as monitors, and may name what reflection runs. The new body may use
/// the memory of a [recycled](Scratch::recycle) body.
///
/// # Errors
/// Fails in the cases in which [`lower`] fails.
pub fn lower_lean<'a>(
    class: &ClassFile<'a>,
    boots: &Bootstraps<'_, 'a>,
    method: &MemberInfo<'_, 'a>,
    code: &Code<'_, 'a>,
    scratch: &mut Scratch,
) -> Result<Body> {
    Ok(lowered(class, boots, method, code, scratch, false)?.body)
}

/// Lowers the body `code` of `method`.
///
/// # Errors
/// Fails if the body cannot be lowered: operands are missing or of the wrong kind, a branch has no valid
/// target, or a constant is missing or of another kind. Other methods of the class are not affected.
pub fn lower<'a>(
    class: &ClassFile<'a>,
    boots: &Bootstraps<'_, 'a>,
    method: &MemberInfo<'_, 'a>,
    code: &Code<'_, 'a>,
    scratch: &mut Scratch,
) -> Result<Lowered> {
    lowered(class, boots, method, code, scratch, true)
}

fn lowered<'a>(
    class: &ClassFile<'a>,
    boots: &Bootstraps<'_, 'a>,
    method: &MemberInfo<'_, 'a>,
    code: &Code<'_, 'a>,
    scratch: &mut Scratch,
    positions: bool,
) -> Result<Lowered> {
    let name = method.member_ref()?;
    let Some(shape) = name.call_shape() else {
        return Err(Malformed::new(method.offset(), "4.3.3", Fault::Grammar("method descriptor")));
    };
    let words = match shape.params_from_last() {
        Some(kinds) => kinds.map(|it| u32::from(it.words())).sum(),
        None => name.descriptor().method_type().map_or(0, |it| it.words()),
    };
    let words = words + u32::from(!method.flags.is_static());
    if words > 255 || words > u32::from(code.max_locals) {
        let fault = Fault::OtherAt("the parameters take more words than max_locals or 255:", words.into());
        return Err(Malformed::new(method.offset(), "4.3.3", fault));
    }
    let Scratch { builder, walk, stack, begins, pcs, args, lines } = scratch;
    walk.run(code, class.major)?;
    let lean = (!positions && walk.ranges.is_empty()).then(|| Lean::new(method.flags, walk));
    builder.clear();
    stack.slots.clear();
    begins.clear();
    pcs.clear();
    let m = SymbolicMachine {
        walk,
        b: builder,
        stack,
        args,
        pcs,
        copies: Vec::new(),
        temps: 0,
        fresh: None,
        at: 0,
        context: 0,
        lean,
    };
    let l = Lowerer {
        m,
        code,
        boots,
        returns: shape.ret(),
        dynamic_args: 0,
        texts: positions || lean::needs_texts(walk, code),
        last_array: None,
    };
    let mut borders: Vec<u32> = l.m.walk.ranges.iter().flat_map(|it| [it.start, it.end]).collect();
    borders.sort_unstable();
    borders.dedup();
    let mut lowerer = BodyLowerer { l, begins, lines, borders };
    lowerer.blocks()?;
    lowerer.finish(name, method.flags, positions)
}

/// Lowers a method, block by block.
struct BodyLowerer<'l, 'c, 'a> {
    l: Lowerer<'l, 'c, 'a>,
    /// For each bytecode instruction that was lowered, its context (the chain of subroutine calls in which it runs),
    /// its ordinal, and the ordinal of its first BIR instruction, ascending. Empty if the method has no exception
    /// table.
    begins: &'l mut Vec<(Context, u32, u32)>,
    lines: &'l mut Vec<(u16, u16)>,
    /// The ordinals of the bytecode instructions at which the range of a row begins or ends, ascending.
    borders: Vec<u32>,
}

impl BodyLowerer<'_, '_, '_> {
    #[cold]
    fn locate(&self, it: &Malformed) -> Malformed {
        let pc = self.l.m.walk.pc(self.l.m.at).index();
        Malformed::new(self.l.code.offset + pc, it.jvms, it.fault.clone())
    }

    fn blocks(&mut self) -> Result<()> {
        self.l.m.b.labels(2 * self.l.m.walk.blocks.len());
        let walk = self.l.m.walk;
        let mut falls_in = false;
        for (i, block) in walk.blocks.iter().enumerate() {
            self.l.m.at = block.first;
            self.l.m.context = block.context;
            falls_in = self.block(i, block, falls_in).map_err(|it| self.locate(&it))?;
        }
        Ok(())
    }

    /// Emits the block with the index `i`. `falls_in` is set if control falls through from the previously emitted
    /// block. Returns whether control falls through at the end of this block.
    fn block(&mut self, i: usize, block: &Block, falls_in: bool) -> Step<bool> {
        let has_rows = !self.l.m.walk.ranges.is_empty();
        if block.is_handler() {
            if falls_in {
                self.l.m.emit(Instr::Goto(self.l.block_label(i)));
            }
            // Rows that cover the first bytecode instruction of a handler cover its `catch`, too.
            self.begins.push((block.context, block.first, self.l.m.b.len()));
            let catch = self.l.catch_label(i);
            self.l.m.b.place(catch);
            let var = symbolic::stack_var(0, Kind::Ref);
            self.l.m.emit(Instr::Catch(var));
        }
        let label = self.l.block_label(i);
        self.l.m.b.place(label);
        let takes_over = falls_in && !block.is_target() && !block.is_handler();
        if !takes_over {
            self.l.m.enter(block);
        }
        // Only exceptions lead here, so a store may take the exception directly from the `catch`.
        let only_caught = block.is_handler() && !block.is_target() && !block.is_fallen_into();
        self.l.m.fresh = only_caught.then(|| block.first.wrapping_sub(1));
        let mut next_border = self.borders.partition_point(|&it| it < block.first);
        for at in block.first..block.end {
            if self.borders.get(next_border) == Some(&at) {
                next_border += 1;
                // The expressions were evaluated by earlier instructions.
                self.l.m.at = at.saturating_sub(1);
                save_resolving(&mut self.l.m)?;
            }
            self.l.m.at = at;
            if has_rows && !(at == block.first && block.is_handler()) {
                self.begins.push((block.context, at, self.l.m.b.len()));
            }
            let insn = self.l.m.walk.insns[at as usize].1;
            self.l.insn(i, insn)?;
        }
        let last = self.l.m.walk.insns[block.end as usize - 1].1;
        let falls = falls_through(last);
        if falls {
            let next = self.l.m.walk.block_at(block.context, block.end);
            let next = next.ok_or_else(|| fault("control runs off the end of the code"))?;
            let to = &self.l.m.walk.blocks[next];
            if to.is_target() || to.is_handler() {
                self.l.m.flush(0)?;
            }
        }
        Ok(falls)
    }

    /// Returns the index of the first entry of `begins` that belongs to `context` and whose ordinal is at least
    /// `ordinal`.
    fn begin(&self, context: Context, ordinal: u32) -> usize {
        self.begins.partition_point(|it| (it.0, it.1) < (context, ordinal))
    }

    fn rows(&self) -> Vec<Row> {
        let mut out = Vec::new();
        if self.l.m.walk.ranges.is_empty() {
            return out;
        }
        let contexts = self.l.m.walk.blocks.last().map_or(0, |it| it.context);
        for (source, range) in self.l.m.walk.ranges.iter().enumerate() {
            for context in 0..=contexts {
                let Some(handler) = self.l.m.walk.block_at(context, range.handler) else { continue };
                if !self.l.m.walk.blocks[handler].is_handler() {
                    continue;
                }
                let catch = self.l.catch_label(handler);
                let start = self.begin(context, range.start);
                // The next context begins where this one ends.
                let end = self.begin(context, range.end);
                // A range whose instructions yielded no BIR keeps its row: the row still leads to the handler.
                if start < end {
                    let bir = |i: usize| self.begins.get(i).map_or(self.l.m.b.len(), |it| it.2);
                    let (start, end) = (instr_id(bir(start)), bir(end));
                    let (catch_type, source) = (range.catch_type, source as u16);
                    out.push(Row { start, end, catch_type, handler: catch, source });
                }
            }
        }
        out
    }

    fn positions(&mut self, unreachable: &[(u32, u32)]) -> Positions {
        Positions {
            pcs: self.l.m.pcs.as_slice().into(),
            copies: std::mem::take(&mut self.l.m.copies).into(),
            lines: lines(self.l.code, self.lines),
            unreachable: unreachable
                .iter()
                .map(|&(from, to)| (self.l.m.walk.pc(from).0 as u16, self.l.m.walk.pc(to).0))
                .collect(),
        }
    }

    fn finish(mut self, method: MethodRef, flags: Flags, kept: bool) -> Result<Lowered> {
        let unreachable = self.l.m.walk.unreachable();
        let positions = if kept { self.positions(&unreachable) } else { Positions::default() };
        let unverified = !self.l.m.walk.inlined;
        let header = Header {
            method,
            flags,
            locals: self.l.code.max_locals,
            unreachable: unreachable.into(),
            unverified,
        };
        let rows = self.rows();
        let body =
            if kept { self.l.m.b.freeze(header, rows) } else { self.l.m.b.freeze_in_place(header, rows) };
        let body = body.map_err(|it| self.locate(&build_fault(it)))?;
        if cfg!(debug_assertions) {
            crate::verify::check(&body);
        }
        Ok(Lowered { body, positions })
    }
}

/// Returns the line table of the code: pairs of pc and line, sorted by pc, without pcs outside of the code. `lines`
/// is memory that is reused.
fn lines(code: &Code<'_, '_>, lines: &mut Vec<(u16, u16)>) -> Box<[(u16, u16)]> {
    lines.clear();
    code.lines().for_each(|(pc, line)| {
        if pc.index() < code.bytes.len() {
            lines.push((pc.0 as u16, line));
        }
    });
    if !lines.is_sorted_by_key(|it| it.0) {
        lines.sort_by_key(|it| it.0);
    }
    lines.as_slice().into()
}

/// Returns whether control can continue directly at the next instruction, which is not the case after a `jsr`.
fn falls_through(insn: Insn) -> bool {
    !matches!(
        insn,
        Insn::Goto(_) | Insn::Jsr(_) | Insn::Ret(_) | Insn::Switch(_) | Insn::Return(_) | Insn::Throw
    )
}
