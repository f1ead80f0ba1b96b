//! How the containers of a program differ from those that it was made of.

use std::sync::Arc;

use flow::fuel::{Cancelled, Fuel};
use program::input::Role;
use rustc_hash::FxHashMap;

use crate::tiers::{ClassKey, Tier};
use crate::whole::maintained::MAX_CHANGED;
use crate::whole::record::{ClassChange, ClassRecord};
use crate::whole::tables::ClassTable;

/// How containers differ from those that a program was made of.
pub(crate) struct Difference {
    pub(crate) changes: Vec<ClassChange>,
    /// The records that do not count, as in [`ClassTable::passed_over`]; none if they are as before.
    pub(crate) passed_over: Option<Arc<[(usize, usize)]>>,
}

/// A class whose record is another one now, and its container's role.
type Changed<'a> = (Option<ClassKey>, &'a ClassRecord, Role);

/// The classes that changed, if that is all that did: the same files are where they were, and each class stands as before to
/// others of its name. `passed_over` has a pair of numbers for each record that does not count, because another one of its class
/// does: its own, and that of the other.
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
        // Most containers are the same value: nothing in them is looked at.
        if Arc::ptr_eq(&before.records, &now.records) {
            continue;
        }
        for (number, ((key, before), (now_key, record))) in
            (number..).zip(before.records.iter().zip(&*now.records))
        {
            if key != now_key {
                return None;
            }
            // What was not read again is the same value, and costs no more than a look at its address.
            if before != record {
                // Of a library nobody says which of its classes are shadowed.
                let stands =
                    if is_alone(number) { record.is_same_class(before) } else { record.stands_like(before) };
                if key.is_none() || !stands {
                    return None;
                }
                acc.push((*key, record, now.role));
            }
        }
    }
    Some(acc)
}

/// The containers without those that are the same values as before; all if some came or went.
fn differing(before: &[Tier], now: &[Tier]) -> (Vec<Tier>, Vec<Tier>) {
    if before.len() != now.len() {
        return (before.to_vec(), now.to_vec());
    }
    let is_other = |it: &(&Tier, &Tier)| it.0.role != it.1.role || !Arc::ptr_eq(&it.0.records, &it.1.records);
    before.iter().zip(now).filter(is_other).map(|it| (it.0.clone(), it.1.clone())).unzip()
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

/// The class files that another one of the same class shadows.
pub(crate) fn shadowed(classes: &ClassTable, tiers: &[Tier]) -> FxHashMap<ClassKey, usize> {
    if classes.passed_over.is_empty() {
        return FxHashMap::default();
    }
    let keys: Vec<Option<ClassKey>> = tiers.iter().flat_map(|it| it.records.iter().map(|it| it.0)).collect();
    let passed_over = classes.passed_over.iter();
    passed_over.filter_map(|&(idx, by)| Some(((*keys.get(idx)?)?, by))).collect()
}

/// How these containers differ from those before; none if that cannot be taken in.
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
    // What is shadowed nobody sees.
    let is_seen = |it: &&Changed<'_>| it.0.is_none_or(|it| !shadowed.contains_key(&it));
    let changes = changed.iter().filter(is_seen);
    let changes: Vec<ClassChange> =
        changes.map(|(_, it, role)| it.change_of(classes.hierarchy.class(it.class()), *role)).collect();
    Ok((changes.len() <= MAX_CHANGED).then_some(Difference { changes, passed_over: None }))
}
