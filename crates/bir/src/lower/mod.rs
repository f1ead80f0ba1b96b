//! From a `Code` attribute to BIR, by symbolic execution of the operand stack.
//!
//! The stack holds expressions instead of values ([`symbolic`]); an instruction of the bytecode becomes
//! BIR only where it has an effect, can raise or branches ([`insns`]). Blocks are emitted context by
//! context in the order of the bytecode, each beginning with the stack that
//! [`classfile::stack::walk`] found there: in the canonical variables `%k0`, `%k1`, … where control
//! joins, or as it was left by the block that falls through to here. For summaries much is left out ([`lean`]).

mod insns;
mod lean;
mod symbolic;

use classfile::bootstrap::Bootstraps;
use classfile::class::{ClassFile, MemberInfo};
use classfile::code::Code;
use classfile::descriptor::Kind;
use classfile::error::{Fault, Malformed, Result};
use classfile::flags::Flags;
use classfile::insn::Insn;
use classfile::names::{ClassName, MethodRef};
use classfile::stack::{Block, Context, Walk};

use crate::body::{Body, ExprId, Instr, InstrId, Row, instr_id};
use crate::build::{BuildError, Builder, Header};
use crate::positions::Positions;
use lean::Lean;
use symbolic::Stack;

/// A lowered method: its body, and where each instruction of it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lowered {
    /// The body, a function of names and content alone.
    pub body: Body,
    /// Pcs, lines and the like.
    pub positions: Positions,
}

/// Memory that lowering one method leaves for the next.
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
    /// Leaves the memory of a body to the next one of [`lower_lean`].
    pub fn recycle(&mut self, body: Body) {
        self.builder.recycle(body);
    }
}

/// As [`lower`], for who wants to know no more of a body than what it raises, calls and accesses, and not where its
/// instructions stand. Where no handler can see it, what raises nothing at a glance is left out: assertions about `this`
/// and constants, stores of constants and variables into arrays that the method made with a constant length (most
/// of the code of a JDK: tables of locales). Strings are empty, unless there are monitors, which may be strings. The body may
/// take the memory of one that was [recycled](Scratch::recycle).
///
/// # Errors
/// See [`lower`].
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
/// When the body cannot be lowered: operands are missing or of the wrong kind, a branch leads nowhere,
/// a constant is missing or of another kind. The class is none the worse for it.
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
        let fault = Fault::OtherAt("parameters do not fit into max_locals or 255 words:", words.into());
        return Err(Malformed::new(method.offset(), "4.3.3", fault));
    }
    let Scratch { builder, walk, stack, begins, pcs, args, lines } = scratch;
    walk.run(code, class.major)?;
    let lean = (!positions && walk.ranges.is_empty()).then(|| Lean::new(method.flags, walk));
    builder.clear();
    stack.slots.clear();
    begins.clear();
    pcs.clear();
    let mut lowerer = Lowerer {
        code,
        boots,
        walk,
        b: builder,
        stack,
        args,
        returns: shape.ret(),
        pcs,
        copies: Vec::new(),
        temps: 0,
        dynamic_args: 0,
        fresh: None,
        at: 0,
        context: 0,
        begins,
        lines,
        texts: positions || lean::has_monitors(walk),
        lean,
        last_array: None,
    };
    lowerer.blocks()?;
    lowerer.finish(name, method.flags, positions)
}

/// Result of lowering a part: the fault's offset is set by the caller, who knows the instruction. Boxed, so
/// that what is returned fits into registers.
type Step<T> = std::result::Result<T, Box<Malformed>>;

/// A fault of the instruction at hand.
#[cold]
fn fault(what: &'static str) -> Box<Malformed> {
    Box::new(Malformed::new(0, "4.9", Fault::Other(what)))
}

/// A body that its tables cannot hold.
#[cold]
fn build_fault(it: BuildError) -> Box<Malformed> {
    fault(match it {
        BuildError::TooLarge => "method is too large for its BIR",
        BuildError::Label(_) => "branch to code that control cannot reach",
    })
}

struct Lowerer<'l, 'c, 'a> {
    code: &'l Code<'c, 'a>,
    boots: &'l Bootstraps<'c, 'a>,
    walk: &'l Walk,
    b: &'l mut Builder,
    stack: &'l mut Stack,
    /// Operands of the instruction at hand.
    args: &'l mut Vec<ExprId>,
    /// The kind of what the method returns.
    returns: Option<Kind>,
    /// Pc of each BIR instruction.
    pcs: &'l mut Vec<u16>,
    /// Context of each BIR instruction, while there is more than one.
    copies: Vec<u16>,
    temps: u32,
    /// Arguments of the call sites and dynamic constants so far.
    dynamic_args: usize,
    /// The bytecode instruction whose result was the last thing emitted: a store right behind it can
    /// take the result itself.
    fresh: Option<u32>,
    /// Ordinal of the bytecode instruction at hand.
    at: u32,
    context: Context,
    /// Context, ordinal and first BIR instruction of each bytecode instruction emitted, ascending; none when
    /// there are no rows to be placed.
    begins: &'l mut Vec<(Context, u32, u32)>,
    lines: &'l mut Vec<(u16, u16)>,
    /// Whether texts of string constants are wanted.
    texts: bool,
    /// What is left out, if anything.
    lean: Option<Lean>,
    /// The type of arrays of the last element type that was asked for.
    last_array: Option<(ClassName, ClassName)>,
}

impl Lowerer<'_, '_, '_> {
    #[cold]
    fn locate(&self, it: &Malformed) -> Malformed {
        let pc = self.walk.pc(self.at).0 as usize;
        Malformed::new(self.code.offset + pc, it.jvms, it.fault.clone())
    }

    fn blocks(&mut self) -> Result<()> {
        self.b.labels(2 * self.walk.blocks.len());
        let walk = self.walk;
        let mut falls_in = false;
        for (i, block) in walk.blocks.iter().enumerate() {
            self.at = block.first;
            self.context = block.context;
            falls_in = self.block(i, block, falls_in).map_err(|it| self.locate(&it))?;
        }
        Ok(())
    }

    /// Emits one block; `falls_in` says that control falls through to it from what was emitted last.
    /// Returns whether it falls through itself.
    fn block(&mut self, i: usize, block: &Block, falls_in: bool) -> Step<bool> {
        if block.is_handler() {
            if falls_in {
                self.emit(Instr::Goto(self.block_label(i)));
            }
            let catch = self.catch_label(i);
            self.b.place(catch);
            let var = symbolic::stack_var(0, Kind::Ref);
            self.emit(Instr::Catch(var));
        }
        let label = self.block_label(i);
        self.b.place(label);
        let takes_over = falls_in && !block.is_target() && !block.is_handler();
        if !takes_over {
            self.enter(block);
        }
        // Only exceptions lead here, so a store may take the exception from the `catch` itself.
        let only_caught = block.is_handler() && !block.is_target() && !block.is_fallen_into();
        self.fresh = only_caught.then(|| block.first.wrapping_sub(1));
        let has_rows = !self.walk.ranges.is_empty();
        for at in block.first..block.end {
            self.at = at;
            if has_rows {
                self.begins.push((block.context, at, self.b.len()));
            }
            let insn = self.walk.insns[at as usize].1;
            self.insn(i, insn)?;
        }
        let last = self.walk.insns[block.end as usize - 1].1;
        let falls = falls_through(last);
        if falls {
            let next = self.walk.block_at(block.context, block.end);
            let next = next.ok_or_else(|| fault("control runs off the end of the code"))?;
            let to = &self.walk.blocks[next];
            if to.is_target() || to.is_handler() {
                self.flush(0)?;
            }
        }
        Ok(falls)
    }

    /// Label of the block of the walk with this index.
    fn block_label(&self, block: usize) -> InstrId {
        instr_id(block as u32)
    }

    /// Label of the `catch` before the handler block with this index.
    fn catch_label(&self, block: usize) -> InstrId {
        instr_id((self.walk.blocks.len() + block) as u32)
    }

    /// Sets up the stack of a block where control joins.
    fn enter(&mut self, block: &Block) {
        let walk = self.walk;
        self.stack.enter(self.b, walk.entry_stack(block), walk.inlined);
    }

    // Put together in place: a copy of what was just written would have to wait for it.
    #[inline(always)]
    fn emit(&mut self, instr: Instr) -> u32 {
        self.pcs.push(self.walk.insns[self.at as usize].0.0 as u16);
        if self.context != 0 || !self.copies.is_empty() {
            self.copies.resize(self.b.len() as usize, 0);
            self.copies.push(self.context.min(u32::from(u16::MAX)) as u16);
        }
        self.b.push(instr)
    }

    /// Where in `begins` the instructions of `context` from `ordinal` on stand.
    fn begin(&self, context: Context, ordinal: u32) -> usize {
        self.begins.partition_point(|it| (it.0, it.1) < (context, ordinal))
    }

    fn rows(&self) -> Vec<Row> {
        let mut out = Vec::new();
        if self.walk.ranges.is_empty() {
            return out;
        }
        let contexts = self.walk.blocks.last().map_or(0, |it| it.context);
        for (source, range) in self.walk.ranges.iter().enumerate() {
            for context in 0..=contexts {
                let Some(handler) = self.walk.block_at(context, range.handler) else { continue };
                if !self.walk.blocks[handler].is_handler() {
                    continue;
                }
                let catch = self.catch_label(handler);
                let start = self.begin(context, range.start);
                // The next context begins where this one ends.
                let end = self.begin(context, range.end);
                // A range of instructions that came to nothing keeps its row: it still leads to the handler.
                if start < end {
                    let bir = |i: usize| self.begins.get(i).map_or(self.b.len(), |it| it.2);
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
            pcs: self.pcs.as_slice().into(),
            copies: std::mem::take(&mut self.copies).into(),
            lines: lines(self.code, self.lines),
            unreachable: unreachable
                .iter()
                .map(|&(from, to)| (self.walk.pc(from).0 as u16, self.walk.pc(to).0))
                .collect(),
        }
    }

    fn finish(mut self, method: MethodRef, flags: Flags, kept: bool) -> Result<Lowered> {
        let unreachable = self.walk.unreachable();
        let positions = if kept { self.positions(&unreachable) } else { Positions::default() };
        let unverified = !self.walk.inlined;
        let header = Header {
            method,
            flags,
            locals: self.code.max_locals,
            unreachable: unreachable.into(),
            unverified,
        };
        let rows = self.rows();
        let body = if kept { self.b.freeze(header, rows) } else { self.b.freeze_in_place(header, rows) };
        let body = body.map_err(|it| self.locate(&build_fault(it)))?;
        if cfg!(debug_assertions) {
            crate::verify::check(&body);
        }
        Ok(Lowered { body, positions })
    }
}

/// The line table, sorted and without pcs that are outside the code; `lines` is memory for it.
fn lines(code: &Code<'_, '_>, lines: &mut Vec<(u16, u16)>) -> Box<[(u16, u16)]> {
    lines.clear();
    code.lines().for_each(|(pc, line)| {
        if (pc.0 as usize) < code.bytes.len() {
            lines.push((pc.0 as u16, line));
        }
    });
    if !lines.is_sorted_by_key(|it| it.0) {
        lines.sort_by_key(|it| it.0);
    }
    lines.as_slice().into()
}

/// Whether control can go on behind the instruction, in the same context.
fn falls_through(insn: Insn) -> bool {
    !matches!(
        insn,
        Insn::Goto(_) | Insn::Jsr(_) | Insn::Ret(_) | Insn::Switch(_) | Insn::Return(_) | Insn::Throw
    )
}
