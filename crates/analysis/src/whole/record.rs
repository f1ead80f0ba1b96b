//! From class files to a program: one record a class, made by as many workers as there are, then joined.

use std::sync::Arc;

use classfile::error::Result;
use classfile::module::Module;
use classfile::names::{ClassName, Name};
use flow::fuel::{Cancelled, Fuel, uncancelled};
use program::hierarchy::{self, ClassId, Hierarchy, Input, Owner, Problem, ProblemKind, Surroundings};
use program::input::{Role, WorldKind};
use program::outline::Outline;
use rustc_hash::{FxHashMap, FxHashSet};

use super::tables::{ClassTable, Options};
use crate::parts::{BodyKind, ClassParts, MethodPart, PartOptions, Scratch, StageTimes, Wanted};
use crate::summary::{ClassSummary, MethodSummary, method_summary};

/// What the rest of a program must know of one class file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassRecord {
    outline: Arc<Outline>,
    summary: Arc<ClassSummary>,
    /// For a `module-info`.
    module: Option<Arc<Module>>,
    /// Whether it, or a method of it, is a ghost.
    is_ghost: bool,
}

impl ClassRecord {
    /// The record of a class whose parts are known; `module` for a `module-info`.
    pub fn new(outline: Arc<Outline>, summary: Arc<ClassSummary>, module: Option<Module>) -> Self {
        let is_ghost = outline.ghost.is_some() || outline.methods.iter().any(|it| it.ghost.is_some());
        ClassRecord { outline, summary, module: module.map(Arc::new), is_ghost }
    }

    /// What others see of its class.
    pub fn outline(&self) -> &Arc<Outline> {
        &self.outline
    }

    /// Its class.
    pub fn class(&self) -> ClassName {
        self.outline.class
    }

    /// Whether it stands before and behind the same records as `before` does in its place: it is of the same class, and as
    /// much of a ghost.
    pub fn stands_like(&self, before: &ClassRecord) -> bool {
        self.is_same_class(before) && self.is_ghost == before.is_ghost
    }

    /// Whether it is of the same class as `before`. Never so of modules.
    pub fn is_same_class(&self, before: &ClassRecord) -> bool {
        self.class() == before.class() && !self.outline.flags.is_module() && !before.outline.flags.is_module()
    }

    /// That the class `class`, none if it was not there, is this now.
    pub fn change_of(&self, class: Option<ClassId>, role: Role) -> ClassChange {
        ClassChange { class, now: Some((Arc::clone(&self.outline), Arc::clone(&self.summary), role)) }
    }

    /// How many methods the class declares.
    pub fn n_methods(&self) -> usize {
        self.outline.methods.len()
    }
}

/// As [`class_record`], for a class of which nobody asks what its methods let out. Only bodies are read that may make
/// objects of functions, which may be receivers of a call anywhere.
///
/// # Errors
/// See [`class_record`].
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

/// Takes one class apart. `scratch` is memory that one class leaves for the next.
///
/// # Errors
/// When the structure of the file cannot be read: the class is then outside.
pub fn class_record(bytes: &[u8], scratch: &mut Scratch) -> Result<ClassRecord> {
    let parts = ClassParts::read_for_summaries(bytes)?;
    let options = PartOptions { select: &|_| true, wanted: Wanted::Summary, clock: None };
    let mut methods = Vec::new();
    parts.each(&options, scratch, &mut StageTimes::default(), |it, scratch| {
        methods.push(summary_alone(it, scratch));
    })?;
    joined(bytes, &parts, methods)
}

/// The record of a class that has been taken apart: `methods` are all of it.
///
/// # Errors
/// See [`class_record`].
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
    let summary = ClassSummary { methods: methods.into() };
    Ok(ClassRecord::new(Arc::new(outline), Arc::new(summary), module))
}

/// What is known of packages besides what the modules of the JDK image say. Names are internal: `sun/nio/ch`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Packages {
    /// Packages that code of any module may use although no module exports them.
    pub add_exports: Vec<String>,
    /// Packages of classes outside the JDK image in which no class from elsewhere lies.
    pub owners: Vec<(String, Owner)>,
}

impl ClassTable {
    /// Joins the classes, in class-path order. Of two with one name the first counts, but a ghost stands back behind
    /// one that is none, wherever that stands (`semantics.md` §1).
    pub fn new(records: Vec<(ClassRecord, Role)>, options: &Options) -> Self {
        ClassTable::with_packages(records, options, &Packages::default())
    }

    /// As [`ClassTable::new`], with what is known of packages besides.
    pub fn with_packages(records: Vec<(ClassRecord, Role)>, options: &Options, packages: &Packages) -> Self {
        uncancelled(|fuel| ClassTable::joined(records, options, packages, fuel))
    }

    /// As [`ClassTable::with_packages`].
    ///
    /// # Errors
    /// When the work is not wanted any more.
    pub fn joined(
        records: Vec<(ClassRecord, Role)>,
        options: &Options,
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
                // A descriptor on the class path closes nothing.
                modules.extend(record.module.filter(|_| role == Role::Jdk).map(Arc::unwrap_or_clone));
            } else if let Some(winner) = winner.filter(|it| *it != idx) {
                passed_over.push((idx, winner));
            } else {
                inputs.push((record.outline, role));
                summaries.push(record.summary);
            }
        }
        let is_declared = options.world == WorldKind::Declared;
        let how = hierarchy::Options {
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
        fuel.ask()?;
        Ok(ClassTable { hierarchy, summaries, refused, passed_over, surroundings })
    }
}

/// What became of one class.
#[derive(Clone, Debug)]
pub struct ClassChange {
    /// The class before the change; `None` if there was none.
    pub class: Option<ClassId>,
    /// What the class is now; `None` if it is gone.
    pub now: Option<(Arc<Outline>, Arc<ClassSummary>, Role)>,
}

/// What became of classes, and which records others stand before: see [`ClassTable::passed_over`].
pub type Changes = (Vec<ClassChange>, Arc<[(usize, usize)]>);

impl ClassTable {
    /// The classes that are not the same in the records `now` as in the records `before`, of which the program was made; both are
    /// in class-path order, and containers that did not change may be left out of both. `None` if more than `limit` classes
    /// differ, if modules do, or if two records of the program are of one class.
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
            // There is one of its name elsewhere, or it comes twice.
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

    /// The classes that are not the same in `records` as in the program; these are all records that there are now, in
    /// class-path order. `None` if more than `limit` classes differ, or if modules of the platform do.
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

/// The classes that no JVM links.
pub(super) fn refused(hierarchy: &Hierarchy) -> FxHashSet<ClassId> {
    let fault = |it: &&Problem| !matches!(it.kind, ProblemKind::Duplicate | ProblemKind::TooManySupertypes);
    let refused = hierarchy.problems().iter().filter(fault);
    refused.filter_map(|it| hierarchy.class(it.class)).collect()
}

/// Something that defines a class: a record, a file, an entry of a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Definer<T> {
    /// What defines it.
    pub by: T,
    /// Whether the class, or a method of it, is a ghost there.
    is_ghost: bool,
}

impl<T: Copy> Definer<T> {
    /// Of two definitions of one class, this one earlier on the class path, the one that counts: code replaces a ghost.
    pub fn or(self, later: Self) -> Self {
        if self.is_ghost && !later.is_ghost { later } else { self }
    }

    /// The same definition, said in another way.
    pub fn map<U>(self, by: impl FnOnce(T) -> U) -> Definer<U> {
        Definer { by: by(self.by), is_ghost: self.is_ghost }
    }
}

/// For each class the definition that counts among these, in class-path order. Modules are no classes.
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

/// Whether code calls a method of a class that is not there.
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
