//! Finds the classes that override final methods, which the JVM refuses to load (JVMS §5.3.5).

use classfile::names::ClassName;
use rustc_hash::FxHashSet;

use super::class::{Class, ClassId, Link, slice};
use super::member_index::MemberIndex;
use super::{Hierarchy, Problem, ProblemKind};
use crate::outline::{Method, Outline};

/// Finds again which of the classes `changed` override final methods. `names` are the classes that an edit added or
/// removed, and `changed` the classes whose supertypes changed, whose ids may be vacant.
pub(super) fn renew_overrides(all: &mut Hierarchy, names: &[ClassName], changed: &[ClassId]) {
    let mut found = Vec::new();
    let changed: Vec<ClassId> = changed.iter().copied().filter(|it| !all.is_vacant(*it)).collect();
    for &it in &changed {
        overrides_of(it, &all.classes, &all.links, &all.methods, &mut found);
    }
    if found.is_empty() && all.problems.iter().all(|it| it.kind != ProblemKind::FinalMethod) {
        return;
    }
    let mut stale: FxHashSet<ClassName> = names.iter().copied().collect();
    stale.extend(changed.iter().map(|it| all.classes[it.index()].outline.class));
    let is_kept = |it: &&Problem| it.kind != ProblemKind::FinalMethod || !stale.contains(&it.class);
    found.extend(all.problems.iter().filter(is_kept));
    found.sort_by_key(|it| (it.class.bytes(), it.kind, it.other.bytes()));
    found.dedup();
    all.problems = found.into();
}

/// Appends to `problems` each superclass with a final method that the class overrides (JVMS §5.3.5). HotSpot examines
/// the methods that are neither private nor static (`check_final_method_override`).
fn overrides_of(
    class: ClassId,
    classes: &[Class],
    links: &[Link],
    methods: &MemberIndex,
    problems: &mut Vec<Problem>,
) {
    let superclass = |it: ClassId| {
        let it = &classes[it.index()];
        slice(links, &it.links).first().filter(|_| it.has_super).copied()
    };
    let outline: &Outline = &classes[class.index()].outline;
    let mut at = superclass(class);
    // Cycles of supertypes are cut, so the loop ends.
    while let Some(Link::Present(above)) = at {
        let owner: &Outline = &classes[above.index()].outline;
        let is_overridden = |it: &Method| {
            it.flags.is_final()
                && !it.flags.is_private()
                && !it.flags.is_static()
                && (it.flags.is_public()
                    || it.flags.is_protected()
                    || owner.class.package() == outline.class.package())
                && methods.get(class, it.name, it.descriptor).is_some_and(|own| {
                    let flags = outline.methods[own as usize].flags;
                    !flags.is_private() && !flags.is_static()
                })
        };
        if owner.methods.iter().any(|it| it.name.bytes() != b"<init>" && is_overridden(it)) {
            let (class, other) = (outline.class, owner.class);
            problems.push(Problem { class, kind: ProblemKind::FinalMethod, other });
        }
        at = superclass(above);
    }
}
