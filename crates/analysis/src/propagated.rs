//! The whole program as queries: summaries per class, one solution for all of it, and what each class gets of it.
//!
//! The solution is one query around the solver that starts from scratch (`engine.md`, rules 2 and 3): it runs again
//! whenever an outline or a summary changed, and what stays equal in its answers stops there, class by class.

use std::sync::Arc;

use classfile::module::Module;
use program::db::Db;
use program::input::{ClassFile, World};
use program::outline::outline;

use crate::facts::{Code, facts};
use crate::parts::Scratch;
use crate::summary::{ClassSummary, MethodSummary, code_summary};
use crate::whole::answers::Throws;
use crate::whole::members::method_id;
use crate::whole::program::{Options, Program, WholeProgram};
use crate::whole::record::ClassRecord;
use crate::whole::solved::solved;

/// A solved program. Two are equal when they are the same value: comparing all of it would cost more than reading it.
#[derive(Clone)]
pub struct Propagated(Arc<WholeProgram>);

impl PartialEq for Propagated {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for Propagated {
    type Target = WholeProgram;

    fn deref(&self) -> &WholeProgram {
        &self.0
    }
}

/// What the rest of a program must know of the code of a class; none for a class that is outside.
///
/// **Reads:** `facts`.
/// **Stays when:** bodies change in what nobody else can see: branches, arithmetic, fields, assertions that stay proved.
/// **Cost:** linear in the code; kept for ever.
/// **Approximates:** as `facts`.
/// **Test:** `equal_summary_keeps_callers`.
#[salsa::tracked]
pub fn summary(db: &dyn Db, class: ClassFile) -> Option<Arc<ClassSummary>> {
    let facts = facts(db, class).as_ref().ok()?;
    let mut scratch = Scratch::default();
    let mut of = |code: &Code| match code {
        Code::None => MethodSummary::None,
        Code::Failed => MethodSummary::Missing,
        Code::Known(code) => MethodSummary::Known(Box::new(code_summary(code, &mut scratch))),
    };
    Some(Arc::new(ClassSummary { methods: facts.methods.iter().map(|it| of(&it.code)).collect() }))
}

/// The module that a `module-info` declares.
///
/// **Reads:** the bytes of the class.
/// **Stays when:** what it exports and contains does.
/// **Cost:** next to nothing; kept for ever.
/// **Approximates:** one that cannot be read declares nothing, so closes nothing.
/// **Test:** `a_new_throw_reaches_callers_and_nobody_else`.
#[salsa::tracked]
pub fn module(db: &dyn Db, class: ClassFile) -> Option<Module> {
    Module::read(class.bytes(db)).ok().flatten()
}

/// The program with where its calls go and what its methods let out.
///
/// **Reads:** the containers and settings of the world, `outline`, `summary`, and `module` of each class.
/// **Stays when:** every outline and summary does.
/// **Cost:** the whole program, seconds for a JDK; one value, kept until the next.
/// **Approximates:** as `semantics.md` §3 and §4 say.
/// **Test:** `equal_summary_keeps_callers`.
#[salsa::tracked]
pub fn propagated(db: &dyn Db, world: World) -> Propagated {
    let settings = world.settings(db);
    let options = Options {
        world: settings.world,
        release: Some(settings.release),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
    };
    let mut records = Vec::new();
    for &container in world.containers(db) {
        let role = container.role(db);
        for &class in container.classes(db) {
            let Ok(outline) = outline(db, class) else { continue };
            let Some(summary) = summary(db, class) else { continue };
            let module = outline.flags.is_module().then(|| module(db, class).clone()).flatten();
            records.push((ClassRecord::new(Arc::clone(outline), Arc::clone(summary), module), role));
        }
    }
    Propagated(Arc::new(solved(Program::new(records, &options), options, None)))
}

/// What the methods of a class let out, in file order; empty for a class that is outside or shadowed.
///
/// **Reads:** `propagated`, `outline`.
/// **Stays when:** the sets of its methods and the reasons for their open parts do.
/// **Cost:** a search through the solution for each open part; kept for ever.
/// **Approximates:** nothing.
/// **Test:** `a_new_throw_reaches_callers_and_nobody_else`.
#[salsa::tracked]
pub fn throws(db: &dyn Db, world: World, class: ClassFile) -> Arc<[Throws]> {
    let whole = propagated(db, world);
    let Ok(outline) = outline(db, class) else { return Arc::default() };
    let hierarchy = &whole.program.hierarchy;
    let winner = hierarchy.class(outline.class).filter(|&it| hierarchy.outline(it) == outline);
    let Some(id) = winner else { return Arc::default() };
    let mut exceptions = whole.exceptions.clone();
    (0..outline.methods.len()).map(|it| whole.throws(&mut exceptions, method_id(id, it))).collect()
}
