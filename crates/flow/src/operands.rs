//! What is known of the values that calls pass: the exact class, the function object, or the parameter of the caller.
//!
//! Only values with one definition are followed: temporaries, parameters that are never assigned, and other variables that
//! are assigned by one instruction.

use std::sync::LazyLock;

use bir::body::{Body, Expr, ExprId, Instr, InstrId, Place, Var, instr_id, ordinal};
use classfile::descriptor::Kind;
use classfile::names::{ClassName, MethodRef};
use rustc_hash::FxHashSet;

use crate::functional::dynamic_site;
use crate::throwables::well_known;

/// What is known of a value that a call passes or that an instruction throws. The value may also be null.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// An object of exactly this class, which the code creates or which is a constant.
    Made(ClassName),
    /// An object of this class, which is final in each release of the platform.
    Final(ClassName),
    /// The function object that the dynamic call site with this index in [`Body::dynamics`] makes.
    Function(u32),
    /// The value that the parameter with this number has at entry of the method. The receiver of an instance method is
    /// parameter 0.
    Parameter(u8),
}

/// What is known of the operands of one instruction: pairs of the operand's index and what is known, ascending. Operands
/// of which nothing is known are left out. The receiver of a call, if it has one, is operand 0; the value that `throw`
/// throws, too.
pub type Operands = Box<[(u8, Operand)]>;

/// Finds what is known of the operands of the calls and throws of one body.
pub struct Definitions<'a> {
    body: &'a Body,
    /// For each variable that is no temporary, the instruction that assigns it; `None` if there are several.
    assigned: Vec<(Place, Option<u32>)>,
    /// For each temporary, the instruction that assigns it.
    temporaries: Vec<u32>,
    is_indexed: bool,
}

/// The maximum number of copies that are followed from a value to its definition.
const MAX_DEPTH: usize = 16;

impl<'a> Definitions<'a> {
    /// Prepares the search in `body`. Nothing is computed until the first question.
    pub fn new(body: &'a Body) -> Self {
        Definitions { body, assigned: Vec::new(), temporaries: Vec::new(), is_indexed: false }
    }

    /// Returns what is known of the operands of an instruction; empty if it is neither a call nor a throw.
    pub fn operands(&mut self, at: InstrId) -> Operands {
        let body = self.body;
        let mut acc = Vec::new();
        match body.instrs[at] {
            Instr::Call(_, kind, method, operands) => {
                let operands = body.operands(operands);
                let (receiver, arguments) = operands.split_at(usize::from(kind.has_receiver()));
                self.add(0, receiver.iter().copied(), |_| None, &mut acc);
                self.arguments(method, receiver.len(), arguments, &mut acc);
            }
            Instr::New(_, constructor, arguments) => {
                self.arguments(constructor, 1, body.operands(arguments), &mut acc);
            }
            Instr::Throw(value) => self.add(0, [value].into_iter(), |_| None, &mut acc),
            _ => {}
        }
        acc.into()
    }

    fn arguments(
        &mut self,
        method: MethodRef,
        first: usize,
        arguments: &[ExprId],
        acc: &mut Vec<(u8, Operand)>,
    ) {
        if arguments.is_empty() {
            return;
        }
        let Some(ty) = method.descriptor().method_type() else { return };
        let declared: Vec<Option<ClassName>> =
            ty.params().map(|it| it.class().filter(|it| !it.is_array())).collect();
        self.add(first, arguments.iter().copied(), |i| declared.get(i).copied().flatten(), acc);
    }

    /// Adds what is known of the operands with the indices from `first` on. `declared` returns the class that the
    /// descriptor of the call gives for an operand.
    fn add(
        &mut self,
        first: usize,
        operands: impl Iterator<Item = ExprId>,
        declared: impl Fn(usize) -> Option<ClassName>,
        acc: &mut Vec<(u8, Operand)>,
    ) {
        for (i, e) in operands.enumerate() {
            // The callee knows as much from its own descriptor.
            let says_nothing = |it: &Operand| match *it {
                Operand::Made(class) | Operand::Final(class) => declared(i) == Some(class) && is_final(class),
                Operand::Function(_) | Operand::Parameter(_) => false,
            };
            let found = self.operand(e, 0).filter(|it| !says_nothing(it));
            acc.extend(found.and_then(|it| Some((u8::try_from(first + i).ok()?, it))));
        }
    }

    fn operand(&mut self, e: ExprId, depth: usize) -> Option<Operand> {
        let body = self.body;
        let of_class = |class: Option<ClassName>| class.filter(|&it| is_final(it)).map(Operand::Final);
        let static_class = |descriptor: classfile::names::Descriptor| {
            of_class(descriptor.field_type().and_then(|it| it.class()))
        };
        match body.exprs[e] {
            Expr::Str(_) => Some(Operand::Made(well_known().string)),
            Expr::Class(_) => Some(Operand::Made(well_known().class)),
            Expr::Cast(class, inner) => self.operand(inner, depth + 1).or_else(|| of_class(Some(class))),
            Expr::Field(_, field) | Expr::Static(field) => static_class(field.descriptor()),
            Expr::Var(var) if var.kind() == Kind::Ref && depth < MAX_DEPTH => {
                let id = match self.definition(var)? {
                    Definition::Entry(parameter) => return Some(Operand::Parameter(parameter)),
                    Definition::Instr(id) => id,
                };
                match body.instrs[id] {
                    Instr::Assign(_, value) => self.operand(value, depth + 1),
                    Instr::New(_, constructor, _) => Some(Operand::Made(constructor.class())),
                    Instr::Alloc(_, class) => Some(Operand::Made(class)),
                    Instr::Call(_, _, method, _) => {
                        of_class(method.descriptor().method_type()?.ret().and_then(|it| it.class()))
                    }
                    Instr::CallDynamic(_, site, _) => {
                        let dynamic = body.dynamics.get(site as usize)?;
                        match dynamic_site(dynamic).function {
                            Some(_) => Some(Operand::Function(site)),
                            None => {
                                of_class(dynamic.descriptor.method_type()?.ret().and_then(|it| it.class()))
                            }
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the definition of a variable, if there is only one.
    fn definition(&mut self, var: Var) -> Option<Definition> {
        self.index();
        let place = var.place();
        match place {
            Place::Temp(it) => {
                let at = *self.temporaries.get(it as usize)?;
                (at != NONE).then(|| Definition::Instr(instr_id(at)))
            }
            Place::Local(slot) => match self.assigned.binary_search_by_key(&place, |it| it.0) {
                Ok(at) => {
                    let only = self.assigned[at].1?;
                    parameter(self.body, slot).is_none().then(|| Definition::Instr(instr_id(only)))
                }
                Err(_) => parameter(self.body, slot).map(Definition::Entry),
            },
            Place::Stack(_) => None,
        }
    }

    fn index(&mut self) {
        if std::mem::replace(&mut self.is_indexed, true) {
            return;
        }
        for (id, instr) in self.body.instrs.iter() {
            let Some(var) = instr.assigned() else { continue };
            match var.place() {
                Place::Temp(it) => {
                    let it = it as usize;
                    if self.temporaries.len() <= it {
                        self.temporaries.resize(it + 1, NONE);
                    }
                    self.temporaries[it] = ordinal(id);
                }
                place @ Place::Local(slot) => {
                    self.assigned.push((place, Some(ordinal(id))));
                    // A long or double also takes the next slot, and destroys what is in the slot before if that is wide.
                    if matches!(var.kind(), Kind::Long | Kind::Double) {
                        self.assigned.push((Place::Local(slot.saturating_add(1)), None));
                    }
                }
                Place::Stack(_) => {}
            }
        }
        self.assigned.sort_unstable();
        // Of several assignments of one place, one entry stays, which says so.
        self.assigned.dedup_by(|b, a| {
            let is_same = a.0 == b.0;
            if is_same {
                a.1 = None;
            }
            is_same
        });
    }
}

const NONE: u32 = u32::MAX;

/// The definition of a value.
enum Definition {
    /// The value that the parameter with this number has at entry.
    Entry(u8),
    /// The instruction that assigns the value.
    Instr(InstrId),
}

/// Returns the number of the parameter of a reference type that a local variable slot has at entry of a method; `None` if
/// it has none.
fn parameter(body: &Body, slot: u16) -> Option<u8> {
    let has_receiver = !body.flags.is_static();
    if has_receiver && slot == 0 {
        return Some(0);
    }
    let mut at = u32::from(has_receiver);
    for (i, it) in body.method.descriptor().method_type()?.params().enumerate() {
        if at == u32::from(slot) {
            let is_ref = it.kind() == Kind::Ref;
            return u8::try_from(i + usize::from(has_receiver)).ok().filter(|_| is_ref);
        }
        at += u32::from(it.kind().words());
    }
    None
}

/// Returns whether the class is one of those of `java.lang` that are final in each release.
fn is_final(class: ClassName) -> bool {
    static FINAL: LazyLock<FxHashSet<ClassName>> = LazyLock::new(|| {
        let names = [
            "String",
            "Class",
            "StringBuilder",
            "StringBuffer",
            "Boolean",
            "Byte",
            "Character",
            "Short",
            "Integer",
            "Long",
            "Float",
            "Double",
        ];
        names.iter().map(|it| ClassName::new(format!("java/lang/{it}").as_bytes())).collect()
    });
    FINAL.contains(&class)
}
