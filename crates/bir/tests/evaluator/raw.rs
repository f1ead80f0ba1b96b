//! Bytecode with resolved constants, for the bytecode interpreter.

use classfile::bootstrap::{Bootstraps, Dynamic, Loadable};
use classfile::class::ClassFile;
use classfile::code::{Code, Handler};
use classfile::error::Result;
use classfile::insn::{Insn, Pc, Switch};
use classfile::names::{ClassName, MemberRef};
use rustc_hash::FxHashMap;

pub(crate) struct Raw {
    /// The pc, the instruction, and its resolved constant.
    pub(crate) insns: Vec<(u32, Insn, Operand)>,
    /// The index of the instruction at each pc.
    pub(crate) at: FxHashMap<u32, usize>,
    pub(crate) handlers: Vec<Handler>,
}

pub(crate) enum Operand {
    None,
    Member(MemberRef),
    Class(ClassName),
    Constant(Loadable),
    Site(Dynamic),
    /// The keys with their targets, and the default.
    Table(Vec<(i32, u32)>, u32),
}

pub(crate) fn decode(class: &ClassFile<'_>, boots: &Bootstraps<'_, '_>, code: &Code<'_, '_>) -> Result<Raw> {
    let pool = &class.pool;
    let (mut insns, mut at) = (Vec::new(), FxHashMap::default());
    for it in code.instructions() {
        let (pc, insn) = it?;
        let operand = match insn {
            Insn::Ldc(index) | Insn::Ldc2(index) => Operand::Constant(boots.loadable(index)?),
            Insn::GetStatic(index)
            | Insn::PutStatic(index)
            | Insn::GetField(index)
            | Insn::PutField(index) => Operand::Member(pool.field_ref(index)?.0),
            Insn::Invoke(_, index) => Operand::Member(pool.method_ref(index)?.0),
            Insn::InvokeDynamic(index) => Operand::Site(boots.call_site(index)?),
            Insn::New(index)
            | Insn::ANewArray(index)
            | Insn::MultiANewArray(index, _)
            | Insn::CheckCast(index)
            | Insn::InstanceOf(index) => Operand::Class(pool.class_name(index)?),
            Insn::Switch(is_table) => table(code.bytes, pc, is_table),
            _ => Operand::None,
        };
        at.insert(pc.0, insns.len());
        insns.push((pc.0, insn, operand));
    }
    let handlers = code.handlers().collect::<Result<_>>()?;
    Ok(Raw { insns, at, handlers })
}

fn table(code: &[u8], pc: Pc, is_table: bool) -> Operand {
    match Switch::read(code, pc, is_table) {
        Ok(it) => Operand::Table(it.cases().map(|(key, to)| (key, to.0)).collect(), it.default.0),
        Err(_) => Operand::None,
    }
}
