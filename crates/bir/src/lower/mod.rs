//! Lowering of a `Code` attribute to BIR, by symbolic execution of the operand stack.
//!
//! The stack holds expressions instead of values ([`symbolic`]); a bytecode instruction yields BIR only where it
//! has an effect, can raise an exception, or branches ([`insns`]). Blocks are emitted context by context in
//! bytecode order. Each begins with the stack that [`classfile::stack::walk`] computed: in the canonical variables
//! `%k0`, `%k1`, … where control joins, or as the block that falls through to it left it. For summaries, much code
//! is omitted ([`lean`]).

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

use crate::body::{Body, ExprId, Instr, InstrId, Row, from_index, instr_id};
use crate::build::{BuildError, Builder, Header};
use crate::positions::Positions;
use lean::Lean;
use symbolic::Stack;

/// A lowered method: its body, and the origin of each of its instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lowered {
    /// The body, which depends on names and content only.
    pub body: Body,
    /// The pcs, lines etc. of the body.
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
/// If the method has no handlers, instructions that obviously raise nothing are omitted: assertions about `this`
/// and constants, and stores of constants and variables into arrays that the method created with a constant length
/// (most of the code of a JDK: tables of locales). String constants are replaced by the empty string, unless the
/// method uses monitors, which may be strings. The body may use the memory of a [recycled](Scratch::recycle) one.
///
/// # Errors
/// As for [`lower`].
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

/// The result of lowering a part of a method. The offset of the fault is set by the caller, which knows the
/// instruction. Boxed, so that results are returned in registers.
type Step<T> = std::result::Result<T, Box<Malformed>>;

/// Creates a fault of the current instruction.
#[cold]
fn fault(what: &'static str) -> Box<Malformed> {
    Box::new(Malformed::new(0, "4.9", Fault::Other(what)))
}

/// Creates the fault for a body that cannot be frozen.
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
    /// The operands of the current instruction.
    args: &'l mut Vec<ExprId>,
    /// The kind of the method's result.
    returns: Option<Kind>,
    /// The pc of each BIR instruction.
    pcs: &'l mut Vec<u16>,
    /// The context of each BIR instruction; empty while there is only one context.
    copies: Vec<u16>,
    temps: u32,
    /// The number of arguments of all call sites and dynamic constants so far.
    dynamic_args: usize,
    /// The bytecode instruction whose result was emitted last: a store directly after it can assign the result to
    /// the local variable.
    fresh: Option<u32>,
    /// The ordinal of the current bytecode instruction.
    at: u32,
    context: Context,
    /// The context, ordinal and first BIR instruction of each emitted bytecode instruction, ascending; empty if the
    /// method has no exception table.
    begins: &'l mut Vec<(Context, u32, u32)>,
    lines: &'l mut Vec<(u16, u16)>,
    /// Whether the texts of string constants are needed.
    texts: bool,
    /// The rules for code that lean lowering omits.
    lean: Option<Lean>,
    /// A cache of the last element class and its array class.
    last_array: Option<(ClassName, ClassName)>,
}

impl Lowerer<'_, '_, '_> {
    #[cold]
    fn locate(&self, it: &Malformed) -> Malformed {
        let pc = self.walk.pc(self.at).index();
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

    /// Emits one block. `falls_in` tells whether control falls through to it from the previously emitted block.
    /// Returns whether control falls through at its end.
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
        // Only exceptions lead here, so a store may take the exception directly from the `catch`.
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

    /// Returns the label of the block of the walk with this index.
    fn block_label(&self, block: usize) -> InstrId {
        from_index(block)
    }

    /// Returns the label of the `catch` before the handler block with this index.
    fn catch_label(&self, block: usize) -> InstrId {
        from_index(self.walk.blocks.len() + block)
    }

    /// Initialises the stack of a block where control joins.
    fn enter(&mut self, block: &Block) {
        let walk = self.walk;
        self.stack.enter(self.b, walk.entry_stack(block), walk.inlined);
    }

    // Assembled in place: copying a value that was just written would stall.
    #[inline(always)]
    fn emit(&mut self, instr: Instr) -> u32 {
        self.pcs.push(self.walk.insns[self.at as usize].0.0 as u16);
        if self.context != 0 || !self.copies.is_empty() {
            self.copies.resize(self.b.len() as usize, 0);
            self.copies.push(self.context.min(u32::from(u16::MAX)) as u16);
        }
        self.b.push(instr)
    }

    /// Returns the index in `begins` of the first instruction of `context` from `ordinal` on.
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
                // A range whose instructions yielded no BIR keeps its row: the row still leads to the handler.
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

/// Returns the line table, sorted and without pcs outside of the code; `lines` is reusable memory.
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

/// Returns whether control can continue after the instruction, in the same context.
fn falls_through(insn: Insn) -> bool {
    !matches!(
        insn,
        Insn::Goto(_) | Insn::Jsr(_) | Insn::Ret(_) | Insn::Switch(_) | Insn::Return(_) | Insn::Throw
    )
}
