//! From class files to a program: one record a class, made by as many workers as there are, then joined.

use std::sync::Arc;

use bir::lower::Scratch;
use classfile::error::Result;
use classfile::module::Module;
use classfile::names::ClassName;
use flow::summary::Source;
use program::hierarchy::{self, Hierarchy, Input, Problem, ProblemKind};
use program::input::{Role, WorldKind};
use program::outline::Outline;
use rustc_hash::FxHashSet;

use super::program::{Options, Program};
use crate::parts::{ClassParts, MethodPart, PartOptions, StageTimes};
use crate::summary::{ClassSummary, MethodSummary, class_summary};

/// What the rest of a program must know of one class file.
#[derive(Clone, Debug)]
pub struct ClassRecord {
    outline: Arc<Outline>,
    summary: Arc<ClassSummary>,
    /// For a `module-info`.
    module: Option<Module>,
}

impl ClassRecord {
    /// The record of a class whose parts are known; `module` for a `module-info`.
    pub fn new(outline: Arc<Outline>, summary: Arc<ClassSummary>, module: Option<Module>) -> Self {
        ClassRecord { outline, summary, module }
    }
}

/// Takes one class apart. `scratch` is memory that one class leaves for the next.
///
/// # Errors
/// When the structure of the file cannot be read: the class is then outside.
pub fn class_record(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord> {
    let parts = ClassParts::read(bytes)?;
    let options = PartOptions { positions: false, select: &|_| true, clock: None };
    let methods = parts.methods(&options, scratch, &mut StageTimes::default())?;
    class_record_of(bytes, &parts, &methods)
}

/// The record of a class that has been taken apart: `methods` are all of it.
///
/// # Errors
/// See [`class_record`].
pub fn class_record_of(bytes: &[u8], parts: &ClassParts<'_>, methods: &[MethodPart]) -> Result<ClassRecord> {
    let outline = parts.outline()?;
    let module = if outline.flags.is_module() { Module::read(bytes)? } else { None };
    Ok(ClassRecord { outline: Arc::new(outline), summary: Arc::new(class_summary(methods)), module })
}

impl Program {
    /// Joins the classes, in class-path order. Of two with one name the first counts, but a ghost stands back behind
    /// one that is none, wherever that stands (`semantics.md` §1).
    pub fn new(records: Vec<(ClassRecord, Role)>, options: &Options) -> Self {
        let real: FxHashSet<ClassName> =
            records.iter().filter(|it| !is_ghost(&it.0.outline)).map(|it| it.0.outline.class).collect();
        let mut modules = Vec::new();
        let mut seen = FxHashSet::default();
        let (mut inputs, mut summaries) = (Vec::new(), Vec::new());
        for (record, role) in records {
            let class = record.outline.class;
            if let Some(module) = record.module {
                // A descriptor on the class path closes nothing.
                if role == Role::Jdk {
                    modules.push(module);
                }
            } else if (!is_ghost(&record.outline) || !real.contains(&class)) && seen.insert(class) {
                inputs.push((record.outline, role));
                summaries.push(record.summary);
            }
        }
        let how = hierarchy::Options {
            world: options.world,
            platform_release: options.release,
            add_exports: Box::default(),
            names_outside: options.world == WorldKind::Declared && names_outside(&summaries, &seen),
        };
        let inputs = inputs.iter().map(|(outline, role)| Input { outline, role: *role });
        let hierarchy = Arc::new(Hierarchy::new(inputs, &modules, &how));
        let fault =
            |it: &&Problem| !matches!(it.kind, ProblemKind::Duplicate | ProblemKind::TooManySupertypes);
        let refused = hierarchy.problems().iter().filter(fault);
        let refused = refused.filter_map(|it| hierarchy.class(it.class)).collect();
        Program { hierarchy, summaries: summaries.into(), refused: Arc::new(refused) }
    }
}

/// Whether code calls a method of a class that is not there.
fn names_outside(summaries: &[Arc<ClassSummary>], present: &FxHashSet<ClassName>) -> bool {
    let methods = summaries.iter().flat_map(|it| &it.methods);
    let items = methods.filter_map(|it| match it {
        MethodSummary::Known(code) => Some(&code.summary.items),
        _ => None,
    });
    items.flatten().any(|it| match it.source {
        Source::Call(_, method) | Source::CallOnThis(_, method) | Source::Construct(method) => {
            !method.class().is_array() && !present.contains(&method.class())
        }
        _ => false,
    })
}

fn is_ghost(it: &Outline) -> bool {
    it.ghost.is_some() || it.methods.iter().any(|it| it.ghost.is_some())
}
