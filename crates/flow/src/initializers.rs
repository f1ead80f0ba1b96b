//! The `mayinit` instructions of a method that run no initialiser: those for the method's own class or its
//! superclass.
//!
//! A method of a class C runs only after the initialisation of C and of C's superclasses has begun (JVMS §5.5). If
//! the initialisation failed, and an instance leaked before, a `mayinit` instruction for C raises
//! NoClassDefFoundError. So this exception remains possible. Methods of an interface are different: a superclass's
//! initialiser may call a default method before the interface is initialised.
//!
//! A `mayinit` instruction initialises the class that *declares* the accessed member, and an inherited static field
//! may be declared by an interface. The superinterfaces of C are not known here. So a `mayinit` before an access to a
//! static field qualifies only if C itself declares the field (JVMS §5.4.3.2 searches C first). Static methods are
//! not inherited from interfaces (JVMS §5.4.3.3).

use bir::body::{Body, Expr, ExprId, Instr, InstrId};
use classfile::names::{ClassName, Descriptor, FieldRef, Name};

/// The parts of a method's own class on which facts about the method may depend, besides the method's body: the
/// header and the static fields.
#[derive(Clone, Copy, Debug)]
pub struct OwnClass<'a> {
    /// The name of the class.
    pub name: ClassName,
    /// The direct superclass of the class; `None` for `java/lang/Object`.
    pub super_class: Option<ClassName>,
    /// Whether the class is an interface.
    pub is_interface: bool,
    /// The name and descriptor of each static field that the class declares.
    pub static_fields: &'a [(Name, Descriptor)],
}

impl OwnClass<'_> {
    fn declares(&self, field: FieldRef) -> bool {
        let field = field.get();
        field.class == self.name && self.static_fields.contains(&(field.name, field.descriptor))
    }
}

/// Working memory for [`without_initializer`], reused from one method to the next.
#[derive(Default)]
pub struct Scratch {
    /// The `mayinit` instructions for the method's own class or its superclass. The flag is `true` while it is
    /// assumed that the instruction runs no initialiser.
    found: Vec<(InstrId, bool)>,
    pending: Vec<ExprId>,
}

/// Returns the `mayinit` instructions of `body` that run no initialiser and can raise no exception but
/// NoClassDefFoundError, ascending. `class` is the class of the method; `scratch` is working memory.
pub fn without_initializer(body: &Body, class: &OwnClass<'_>, scratch: &mut Scratch) -> Box<[InstrId]> {
    if class.is_interface {
        return Box::default();
    }
    let slot = |it: ClassName| {
        if it == class.name { Some(0) } else { (Some(it) == class.super_class).then_some(1) }
    };
    let Scratch { found, pending } = scratch;
    found.clear();
    // Index in `found` of the latest `mayinit` of the class and of the superclass.
    let mut latest: [Option<usize>; 2] = [None; 2];
    for (id, instr) in body.instrs.iter() {
        if let Instr::MayInit(it) = *instr
            && let Some(slot) = slot(it)
        {
            latest[slot] = Some(found.len());
            found.push((id, true));
        }
        if found.is_empty() {
            continue;
        }
        // An access follows its own `mayinit` in the order of instructions, before the next one of the same class.
        let mut access = |field: FieldRef| {
            if let Some(slot) = slot(field.class())
                && let Some(at) = latest[slot]
                && !class.declares(field)
            {
                found[at].1 = false;
            }
        };
        if let Instr::SetStatic(field, _) = *instr {
            access(field);
        }
        body.instr_exprs(instr, |e| pending.push(e));
        while let Some(e) = pending.pop() {
            if let Expr::Static(field) = body.exprs[e] {
                access(field);
            }
            body.exprs[e].operands(|it| pending.push(it));
        }
    }
    found.iter().filter(|it| it.1).map(|it| it.0).collect()
}
