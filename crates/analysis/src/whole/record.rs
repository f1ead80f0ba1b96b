//! Builds a program from class files: parallel workers make one record for each class, then all records are joined.

use std::sync::Arc;

use classfile::error::Result;
use classfile::module::Module;
use classfile::names::{ClassName, Name};
use flow::fuel::{Cancelled, Fuel, uncancelled};
use program::hierarchy::{self, ClassId, Hierarchy, Input, Owner, Problem, ProblemKind, Surroundings};
use program::input::{Role, WorldKind};
use program::outline::Outline;
use rustc_hash::{FxHashMap, FxHashSet};

use super::asserting::packages_without_assertions;
use super::tables::{ClassTable, WholeOptions};
use crate::parts::{BodyKind, ClassParts, MethodPart, PartOptions, Scratch, StageTimes, Wanted};
use crate::summary::{ClassSummary, MethodSummary, method_summary};

/// The part of one class file that the rest of a program needs: the class's outline, the summaries of its methods
/// and, for a `module-info`, its module descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassRecord {
    outline: Arc<Outline>,
    summary: Arc<ClassSummary>,
    /// The module descriptor of a `module-info`; `None` for any other class.
    module: Option<Arc<Module>>,
    /// Whether the class or one of its methods is a ghost.
    is_ghost: bool,
}

impl ClassRecord {
    /// Creates the record of a class from its parts. `module` is `None` unless the class is a `module-info`.
    pub fn new(outline: Arc<Outline>, summary: Arc<ClassSummary>, module: Option<Module>) -> Self {
        let is_ghost = outline.ghost.is_some() || outline.methods.iter().any(|it| it.ghost.is_some());
        ClassRecord { outline, summary, module: module.map(Arc::new), is_ghost }
    }

    /// Returns the outline of the class.
    pub fn outline(&self) -> &Arc<Outline> {
        &self.outline
    }

    /// Returns the name of the class.
    pub fn class(&self) -> ClassName {
        self.outline.class
    }

    /// Returns whether this record, in the place of `before` in a list of records, would shadow the same records as
    /// `before`, and be shadowed by the same records. This is so if both records are of the same class, and both or
    /// neither contain ghosts.
    pub fn stands_like(&self, before: &ClassRecord) -> bool {
        self.is_same_class(before) && self.is_ghost == before.is_ghost
    }

    /// Returns whether both records are of the same class; false if one of them is a module descriptor.
    pub fn is_same_class(&self, before: &ClassRecord) -> bool {
        self.class() == before.class() && !self.outline.flags.is_module() && !before.outline.flags.is_module()
    }

    /// Returns the change that makes this record the definition of `class`, in the role `role`. `class` is `None` if
    /// the program does not have the class yet.
    pub fn change_of(&self, class: Option<ClassId>, role: Role) -> ClassChange {
        ClassChange { class, now: Some((Arc::clone(&self.outline), Arc::clone(&self.summary), role)) }
    }

    /// Returns the number of methods that the class declares.
    pub fn n_methods(&self) -> usize {
        self.outline.methods.len()
    }
}

/// Returns a reduced record, for a class about whose exceptions no question is asked. Only the bodies that may create
/// function objects are read, because these objects may be receivers of calls in any class.
///
/// # Errors
/// If the structure of the class file cannot be read. The class then counts as absent.
pub fn record_of_functions(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord> {
    let parts = ClassParts::read_structure(bytes)?;
    let mut methods = Vec::new();
    let mut read = Vec::new();
    for (i, it) in parts.bodies().enumerate() {
        methods.push(if it == BodyKind::None { MethodSummary::None } else { MethodSummary::Unread });
        read.extend((it == BodyKind::Dynamic).then_some(i));
    }
    if !read.is_empty() {
        let mut numbers = read.iter();
        parts.each_of(&read, scratch, |it, scratch| {
            if let Some(method) = numbers.next().and_then(|&it| methods.get_mut(it)) {
                *method = summary_alone(it, scratch);
            }
        })?;
    }
    joined(bytes, &parts, methods)
}

fn summary_alone(part: MethodPart, scratch: &mut Scratch) -> MethodSummary {
    let summary = method_summary(&part, scratch);
    if let Some(Ok((code, _))) = part.code {
        scratch.recycle(code);
    }
    summary
}

/// Returns the record of a class file. `scratch` is working memory that is reused from one class to the next.
///
/// # Errors
/// If the structure of the class file cannot be read. The class then counts as absent.
pub fn class_record(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord> {
    let parts = ClassParts::read_for_summaries(bytes)?;
    let options = PartOptions { select: &|_| true, wanted: Wanted::Summary, clock: None };
    let mut methods = Vec::new();
    parts.each(&options, scratch, &mut StageTimes::default(), |it, scratch| {
        methods.push(summary_alone(it, scratch));
    })?;
    joined(bytes, &parts, methods)
}

/// Returns the record of a class file whose parts are already read. `methods` are all methods of the class.
///
/// # Errors
/// If an attribute about the module, or the name of a supertype or member cannot be read.
pub fn class_record_of(
    bytes: &[u8],
    parts: &ClassParts<'_>,
    methods: &[MethodPart],
    scratch: &mut Scratch,
) -> Result<ClassRecord> {
    joined(bytes, parts, methods.iter().map(|it| method_summary(it, scratch)).collect())
}

fn joined(bytes: &[u8], parts: &ClassParts<'_>, methods: Vec<MethodSummary>) -> Result<ClassRecord> {
    let outline = parts.outline()?;
    let module = if outline.flags.is_module() { Module::read(bytes)? } else { None };
    let summary = ClassSummary { methods: methods.into(), annotated: parts.annotated() };
    Ok(ClassRecord::new(Arc::new(outline), Arc::new(summary), module))
}

/// Facts about packages in addition to those that the modules of the JDK image declare. Names of packages are in
/// internal form: `sun/nio/ch`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Packages {
    /// The packages that code of any module may use although no module exports them.
    pub add_exports: Vec<String>,
    /// The packages, other than those of the JDK image, that are closed to classes from other containers, each with
    /// the reason.
    pub owners: Vec<(String, Owner)>,
}

impl ClassTable {
    /// Builds the table from the records of classes, in class-path order. Of several records of one class, the first
    /// record without a ghost is used or, if all have ghosts, the first record (`semantics.md` §1).
    pub fn new(records: Vec<(ClassRecord, Role)>, options: &WholeOptions) -> Self {
        ClassTable::with_packages(records, options, &Packages::default())
    }

    /// Builds the table from the records of classes like [`ClassTable::new`], with additional facts about packages.
    pub fn with_packages(
        records: Vec<(ClassRecord, Role)>,
        options: &WholeOptions,
        packages: &Packages,
    ) -> Self {
        uncancelled(|fuel| ClassTable::joined(records, options, packages, fuel))
    }

    /// Builds the table from the records of classes like [`ClassTable::with_packages`], but the work may be
    /// cancelled.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub fn joined(
        records: Vec<(ClassRecord, Role)>,
        options: &WholeOptions,
        packages: &Packages,
        fuel: &mut Fuel<'_>,
    ) -> std::result::Result<Self, Cancelled> {
        let winners = definers(records.iter().map(|it| &it.0).enumerate());
        fuel.ask()?;
        let mut modules = Vec::new();
        let mut passed_over = Vec::new();
        let (mut inputs, mut summaries) = (Vec::new(), Vec::new());
        for (idx, (record, role)) in records.into_iter().enumerate() {
            fuel.spend(2)?;
            let winner = winners.get(&record.outline.class).map(|it| it.by);
            if record.outline.flags.is_module() {
                // A module descriptor on the class path has no effect.
                modules.extend(record.module.filter(|_| role == Role::Jdk).map(Arc::unwrap_or_clone));
            } else if let Some(winner) = winner.filter(|it| *it != idx) {
                passed_over.push((idx, winner));
            } else {
                inputs.push((record.outline, role));
                summaries.push(record.summary);
            }
        }
        let is_declared = options.world == WorldKind::Declared;
        let how = hierarchy::HierarchyOptions {
            world: options.world,
            platform_release: options.release,
            add_exports: packages.add_exports.iter().map(|it| Name::new(it.as_bytes())).collect(),
            owners: packages.owners.iter().map(|it| (Name::new(it.0.as_bytes()), it.1)).collect(),
            names_outside: is_declared && names_outside(&summaries, &winners, fuel)?,
        };
        fuel.ask()?;
        let inputs = inputs.iter().map(|(outline, role)| Input { outline, role: *role });
        let surroundings = Surroundings { modules, options: how };
        let mut cancelled = || fuel.is_cancelled();
        let (modules, how) = (&surroundings.modules, &surroundings.options);
        let hierarchy = Hierarchy::new_cancellable(inputs, modules, how, &mut cancelled).ok_or(Cancelled)?;
        let hierarchy = Arc::new(hierarchy);
        let refused = Arc::new(refused(&hierarchy));
        let passed_over = passed_over.into();
        let (summaries, surroundings) = (Arc::new(summaries), Arc::new(surroundings));
        let without_assertions = match options.system_assertions {
            true => FxHashSet::default(),
            false => packages_without_assertions(&surroundings.modules),
        };
        fuel.ask()?;
        let without_assertions = Arc::new(without_assertions);
        Ok(ClassTable { hierarchy, summaries, refused, passed_over, surroundings, without_assertions })
    }
}

/// The change of one class of a program.
#[derive(Clone, Debug)]
pub struct ClassChange {
    /// The changed class, by its id before the change; `None` if the class is new.
    pub class: Option<ClassId>,
    /// The outline, summary and role of the class after the change; `None` if the class was removed.
    pub now: Option<(Arc<Outline>, Arc<ClassSummary>, Role)>,
}

/// The changes of classes, and the records that are shadowed after the changes ([`ClassTable::passed_over`]).
pub type Changes = (Vec<ClassChange>, Arc<[(usize, usize)]>);

impl ClassTable {
    /// Returns the changes of classes between the records `before`, from which the program was built, and the present
    /// records `now`. Both lists are in class-path order; the records of containers that did not change may be left
    /// out of both. Returns `None` if more than `limit` classes differ, if a module descriptor is among the differing
    /// records, or if several records are of one class.
    pub fn few_changes(
        &self,
        before: &[(ClassRecord, Role)],
        now: &[(ClassRecord, Role)],
        limit: usize,
    ) -> Option<Changes> {
        let same = before.iter().zip(now).take_while(|it| it.0 == it.1).count();
        let (before, after) = (&before[same..], &now[same..]);
        let same_behind = before.iter().rev().zip(after.iter().rev()).take_while(|it| it.0 == it.1).count();
        let before = &before[..before.len() - same_behind];
        let now = &after[..after.len() - same_behind];
        let has_module = before.iter().chain(now).any(|it| it.0.outline.flags.is_module());
        if has_module || !self.passed_over.is_empty() {
            return None;
        }
        let mut old: FxHashMap<ClassName, &(ClassRecord, Role)> =
            before.iter().map(|it| (it.0.class(), it)).collect();
        let mut changes = Vec::new();
        for it in now {
            let class = self.hierarchy.class(it.0.class());
            let before = old.remove(&it.0.class());
            // Another container has a class of this name, or the name occurs twice.
            if class.is_some() != before.is_some() {
                return None;
            }
            if before != Some(it) {
                changes.push(it.0.change_of(class, it.1));
            }
        }
        for (class, _) in old {
            changes.push(ClassChange { class: Some(self.hierarchy.class(class)?), now: None });
        }
        let is_new = |it: &&ClassChange| it.class.is_none();
        let names = changes.iter().filter(is_new).filter_map(|it| Some(it.now.as_ref()?.0.class));
        let distinct: FxHashSet<ClassName> = names.collect();
        let all_distinct = distinct.len() == changes.iter().filter(is_new).count();
        (all_distinct && changes.len() <= limit).then(|| (changes, Arc::default()))
    }

    /// Returns the changes of classes between the program and `records`, which are all present records in class-path
    /// order. Returns `None` if more than `limit` classes differ, or if a module of the platform differs.
    pub fn any_changes(&self, records: &[(ClassRecord, Role)], limit: usize) -> Option<Changes> {
        let modules = records.iter().filter(|it| it.1 == Role::Jdk && it.0.outline.flags.is_module());
        if !modules.filter_map(|it| it.0.module.as_deref()).eq(&self.surroundings.modules) {
            return None;
        }
        let winners = definers(records.iter().map(|it| &it.0).enumerate());
        let mut changes = Vec::new();
        let mut passed_over = Vec::new();
        let mut is_there = vec![false; self.hierarchy.len()];
        for (idx, (record, role)) in records.iter().enumerate() {
            let outline = &record.outline;
            if outline.flags.is_module() {
                continue;
            }
            if let Some(winner) = winners.get(&outline.class).filter(|it| it.by != idx) {
                passed_over.push((idx, winner.by));
                continue;
            }
            let class = self.hierarchy.class(outline.class);
            if let Some(it) = class {
                is_there[it.index()] = true;
                let same = self.hierarchy.outline(it) == outline
                    && self.hierarchy.role(it) == *role
                    && self.summaries.get(it.index()) == Some(&record.summary);
                if same {
                    continue;
                }
            }
            changes.push(record.change_of(class, *role));
        }
        let gone = self.hierarchy.ids().filter(|&it| !is_there[it.index()] && !self.hierarchy.is_vacant(it));
        changes.extend(gone.map(|it| ClassChange { class: Some(it), now: None }));
        (changes.len() <= limit).then(|| (changes, passed_over.into()))
    }
}

/// Returns the classes that every JVM refuses to link because of a fault in their supertypes.
pub(super) fn refused(hierarchy: &Hierarchy) -> FxHashSet<ClassId> {
    let fault = |it: &&Problem| !matches!(it.kind, ProblemKind::Duplicate | ProblemKind::TooManySupertypes);
    let refused = hierarchy.problems().iter().filter(fault);
    refused.filter_map(|it| hierarchy.class(it.class)).collect()
}

/// One of the definitions of a class. `T` identifies the place of the definition: a record, a file or an entry of a
/// library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Definer<T> {
    /// The record, file or entry that contains the definition.
    pub by: T,
    /// Whether the class, or one of its methods, is a ghost in this definition.
    is_ghost: bool,
}

impl<T: Copy> Definer<T> {
    /// Returns which of two definitions of one class takes effect: `self`, or `later`, which comes later on the class
    /// path. `later` takes effect only if `self` contains a ghost and `later` does not.
    pub fn or(self, later: Self) -> Self {
        if self.is_ghost && !later.is_ghost { later } else { self }
    }

    /// Returns the same definition, with its place converted by the function `by`.
    pub fn map<U>(self, by: impl FnOnce(T) -> U) -> Definer<U> {
        Definer { by: by(self.by), is_ghost: self.is_ghost }
    }
}

/// Returns, for each class, which of its definitions takes effect. The records are in class-path order; module
/// descriptors are left out.
pub fn definers<'a, T: Copy>(
    records: impl Iterator<Item = (T, &'a ClassRecord)>,
) -> FxHashMap<ClassName, Definer<T>> {
    let mut acc: FxHashMap<ClassName, Definer<T>> = FxHashMap::default();
    acc.reserve(records.size_hint().0);
    for (by, record) in records {
        if record.outline.flags.is_module() {
            continue;
        }
        let definer = Definer { by, is_ghost: record.is_ghost };
        acc.entry(record.class()).and_modify(|it| *it = it.or(definer)).or_insert(definer);
    }
    acc
}

/// Returns whether code calls a method of a class that is not in `present`, the classes of the program.
fn names_outside(
    summaries: &[Arc<ClassSummary>],
    present: &FxHashMap<ClassName, Definer<usize>>,
    fuel: &mut Fuel<'_>,
) -> std::result::Result<bool, Cancelled> {
    for summary in summaries {
        for it in summary.called_classes() {
            fuel.spend(1)?;
            if !present.contains_key(&it) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
