//! Compares the present containers of a program with the containers that its solution was made from.

use std::sync::Arc;

use flow::fuel::{Cancelled, Fuel};
use program::input::Role;
use rustc_hash::FxHashMap;

use crate::tiers::{ClassKey, Tier};
use crate::whole::maintained::MAX_CHANGED;
use crate::whole::record::{ClassChange, ClassRecord};
use crate::whole::tables::ClassTable;

/// The difference between the present containers of a program and the containers that the program was built from.
pub(crate) struct Difference {
    pub(crate) changes: Vec<ClassChange>,
    /// The present list of shadowed records, each with the record that shadows it ([`ClassTable::passed_over`]);
    /// `None` if the list did not change.
    pub(crate) passed_over: Option<Arc<[(usize, usize)]>>,
}

/// A class whose record changed: the key of its file (`None` for a class of a library), the new record, and the role
/// of its container.
type Changed<'a> = (Option<ClassKey>, &'a ClassRecord, Role);

/// Returns the classes whose records changed, if nothing else changed; otherwise `None`. Nothing else changed if the
/// same files are in the same positions, and each changed class shadows, and is shadowed by, the same records as
/// before. `passed_over` has a pair for each shadowed record: the number of the record, counted over all containers,
/// and the number of the record that shadows it.
fn changed_in_place<'a>(
    before: &[Tier],
    now: &'a [Tier],
    passed_over: &[(usize, usize)],
) -> Option<Vec<Changed<'a>>> {
    let (mut acc, mut first) = (Vec::new(), 0);
    let is_alone = |it: usize| !passed_over.iter().any(|&(one, other)| one == it || other == it);
    if before.len() != now.len() {
        return None;
    }
    for (before, now) in before.iter().zip(now) {
        if before.role != now.role || before.records.len() != now.records.len() {
            return None;
        }
        let number = first;
        first += now.records.len();
        // Most containers share their records with the previous state; such records need not be compared.
        if Arc::ptr_eq(&before.records, &now.records) {
            continue;
        }
        for (number, ((key, before), (now_key, record))) in
            (number..).zip(before.records.iter().zip(&*now.records))
        {
            if key != now_key {
                return None;
            }
            // The record of a class that was not read again shares its data, so comparing it compares addresses only.
            if before != record {
                // A record without a key belongs to a library; shadowing is not tracked for the classes of libraries.
                let is_in_place =
                    if is_alone(number) { record.is_same_class(before) } else { record.stands_like(before) };
                if key.is_none() || !is_in_place {
                    return None;
                }
                acc.push((*key, record, now.role));
            }
        }
    }
    Some(acc)
}

/// Returns the containers that changed, as two lists: first their old states, then their new states. If the number of
/// containers changed, the lists have all containers.
fn differing(before: &[Tier], now: &[Tier]) -> (Vec<Tier>, Vec<Tier>) {
    if before.len() != now.len() {
        return (before.to_vec(), now.to_vec());
    }
    let differs = |it: &(&Tier, &Tier)| it.0.role != it.1.role || !Arc::ptr_eq(&it.0.records, &it.1.records);
    before.iter().zip(now).filter(differs).map(|it| (it.0.clone(), it.1.clone())).unzip()
}

pub(crate) fn all_records(
    tiers: &[Tier],
    fuel: &mut Fuel<'_>,
) -> Result<Vec<(ClassRecord, Role)>, Cancelled> {
    let mut acc = Vec::with_capacity(tiers.iter().map(|it| it.records.len()).sum());
    for tier in tiers {
        for (_, record) in tier.records.iter() {
            fuel.spend(4)?;
            acc.push((record.clone(), tier.role));
        }
    }
    Ok(acc)
}

/// Returns the class files that are shadowed by another file of the same class, each with the number of the record of
/// the shadowing file. Records are numbered consecutively over all containers.
pub(crate) fn shadowed(classes: &ClassTable, tiers: &[Tier]) -> FxHashMap<ClassKey, usize> {
    if classes.passed_over.is_empty() {
        return FxHashMap::default();
    }
    let keys: Vec<Option<ClassKey>> = tiers.iter().flat_map(|it| it.records.iter().map(|it| it.0)).collect();
    let passed_over = classes.passed_over.iter();
    passed_over.filter_map(|&(idx, by)| Some(((*keys.get(idx)?)?, by))).collect()
}

/// Returns the difference between the containers `before` and the containers `now`. `None` if a program that was
/// built from `before` cannot be updated by this difference and must be rebuilt.
pub(crate) fn difference(
    classes: &ClassTable,
    shadowed: &FxHashMap<ClassKey, usize>,
    before: &[Tier],
    now: &[Tier],
    fuel: &mut Fuel<'_>,
) -> Result<Option<Difference>, Cancelled> {
    let Some(changed) = changed_in_place(before, now, &classes.passed_over) else {
        let (some_before, some_now) = differing(before, now);
        let (some_before, some_now) = (all_records(&some_before, fuel)?, all_records(&some_now, fuel)?);
        let mut changes = classes.few_changes(&some_before, &some_now, MAX_CHANGED);
        if changes.is_none() {
            changes = classes.any_changes(&all_records(now, fuel)?, MAX_CHANGED);
        }
        return Ok(
            changes.map(|(changes, passed_over)| Difference { changes, passed_over: Some(passed_over) })
        );
    };
    // Changes of shadowed classes have no effect.
    let is_seen = |it: &&Changed<'_>| it.0.is_none_or(|it| !shadowed.contains_key(&it));
    let changes = changed.iter().filter(is_seen);
    let changes: Vec<ClassChange> =
        changes.map(|(_, it, role)| it.change_of(classes.hierarchy.class(it.class()), *role)).collect();
    Ok((changes.len() <= MAX_CHANGED).then_some(Difference { changes, passed_over: None }))
}
