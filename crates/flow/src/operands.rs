//! What is known of the values that calls pass: the exact class, the function object, or the parameter of the caller.
//!
//! Only values with one definition are followed: temporaries, parameters that are never assigned, and other variables that
//! are assigned by one instruction.

use std::sync::LazyLock;

use bir::body::{Body, Expr, ExprId, Instr, InstrId, Place, Var, instr_id, ordinal};
use classfile::descriptor::{FieldType, Kind};
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

/// What is known of the operands of one instruction: pairs of the operand's index and what is known, ascending. Unknown
/// operands are left out. The receiver of a call, if it has one, is operand 0; the value that `throw`
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
                self.add(0, receiver, None, &mut acc);
                self.add(receiver.len(), arguments, Some(method), &mut acc);
            }
            Instr::New(_, constructor, arguments) => {
                self.add(1, body.operands(arguments), Some(constructor), &mut acc);
            }
            Instr::Throw(value) => self.add(0, &[value], None, &mut acc),
            _ => {}
        }
        acc.into()
    }

    /// Adds what is known of the operands with the indices from `first` on, which are arguments of `method` if it is given.
    fn add(
        &mut self,
        first: usize,
        operands: &[ExprId],
        method: Option<MethodRef>,
        acc: &mut Vec<(u8, Operand)>,
    ) {
        for (i, &e) in operands.iter().enumerate() {
            let Some(found) = self.operand(e, 0) else { continue };
            // The callee knows as much from its own descriptor.
            let says_nothing = match found {
                Operand::Made(class) | Operand::Final(class) => {
                    is_final(class) && method.and_then(|it| declared(it, i)) == Some(class)
                }
                Operand::Function(_) | Operand::Parameter(_) => false,
            };
            if let Ok(index) = u8::try_from(first + i)
                && !says_nothing
            {
                acc.push((index, found));
            }
        }
    }

    fn operand(&mut self, e: ExprId, depth: usize) -> Option<Operand> {
        let body = self.body;
        let of_type = |it: Option<FieldType<'_>>| final_class(it?).map(Operand::Final);
        match body.exprs[e] {
            Expr::Str(_) => Some(Operand::Made(well_known().string)),
            Expr::Class(_) => Some(Operand::Made(well_known().class)),
            Expr::Cast(class, inner) => {
                let of_class = || is_final(class).then_some(Operand::Final(class));
                self.operand(inner, depth + 1).or_else(of_class)
            }
            Expr::Field(_, field) | Expr::Static(field) => of_type(field.descriptor().field_type()),
            Expr::Var(var) if var.kind() == Kind::Ref && depth < MAX_DEPTH => {
                let id = match self.definition(var)? {
                    Definition::Entry(parameter) => return Some(Operand::Parameter(parameter)),
                    Definition::Instr(id) => id,
                };
                match body.instrs[id] {
                    Instr::Assign(_, value) => self.operand(value, depth + 1),
                    Instr::New(_, constructor, _) => Some(Operand::Made(constructor.class())),
                    Instr::Alloc(_, class) => Some(Operand::Made(class)),
                    Instr::Call(_, _, method, _) => of_type(method.descriptor().method_type()?.ret()),
                    Instr::CallDynamic(_, site, _) => {
                        let dynamic = body.dynamics.get(site as usize)?;
                        match dynamic_site(dynamic).function {
                            Some(_) => Some(Operand::Function(site)),
                            None => of_type(dynamic.descriptor.method_type()?.ret()),
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

/// Returns the class that the descriptor of a method gives for an argument; `None` for an array or a primitive type.
fn declared(method: MethodRef, index: usize) -> Option<ClassName> {
    method.descriptor().method_type()?.params().nth(index)?.class().filter(|it| !it.is_array())
}

/// Returns the class of a variable of this type, if the class is one of those of `java.lang` that are final in each release.
fn final_class(ty: FieldType<'_>) -> Option<ClassName> {
    // Names are interned only if they may be in the list.
    let is_of_java_lang = ty.0.starts_with(b"Ljava/lang/");
    if is_of_java_lang { ty.class().filter(|it| is_final(*it)) } else { None }
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
