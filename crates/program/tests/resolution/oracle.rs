//! Compares resolution, access control and selection with what the JVM does for every call of random programs.
//!
//! `RESOLUTION_WORLDS` and `RESOLUTION_FROM` set the number of programs and the first seed; `RESOLUTION_DUMP` names
//! a folder for the class files.

use std::sync::Arc;

use classfile::names::{Descriptor, Name};
use program::hierarchy::{Below, Hierarchy};
use program::input::Role;
use program::members::access::{may_access_class, may_access_field, may_access_method};
use program::members::resolve::{resolve_field, resolve_method};
use program::members::select::{select, select_interface, special_target};
use program::members::{LinkError, MethodId, ResolvedField, ResolvedMethod, Selected};
use program::outline::class_outline;
use test_utils::asm::Assembled;
use test_utils::jdk;
use test_utils::jvm::{self, Case, Outcome};
use test_utils::tier;

use crate::generate::{Call, FIELD_TYPE, Generated, How, METHOD_TYPE, generate};
use crate::world::{World, class, id, world};

/// Returns the seeds of the programs; their number is `fast` or `full`, depending on the test tier.
pub(crate) fn seeds(fast: u64, full: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let first = number("RESOLUTION_FROM").unwrap_or(0);
    first..first + number("RESOLUTION_WORLDS").unwrap_or(tier::rounds(fast, full))
}

fn assemble(it: &Generated) -> Vec<Assembled> {
    let one = |it: &test_utils::asm::ClassBuilder| Assembled {
        name: String::from_utf16_lossy(it.name.units()),
        bytes: it.finish().expect("assembles"),
    };
    it.classes.iter().map(one).collect()
}

/// Returns the outlines of a generated program, with `Object`.
pub(crate) fn outlines(it: &Generated) -> World {
    let mut out = world("");
    for it in assemble(it) {
        out.classes.push((Arc::new(class_outline(&it.bytes).expect("readable")), Role::App));
    }
    out
}

/// Predicts the result of a call: the name of the method that runs, or the error.
fn predict(h: &Hierarchy, call: &Call) -> Result<String, LinkError> {
    let (caller, owner) = (id(h, &call.caller), class(&call.owner));
    let refuse = |it: Below| match it {
        Below::Yes => Ok(()),
        Below::No => Err(LinkError::IllegalAccess),
        Below::Unknown => panic!("no class is absent"),
    };
    refuse(may_access_class(h, caller, owner))?;
    let name = Name::new(call.name.as_bytes());
    if call.how == How::GetStatic {
        let field = match resolve_field(h, owner, name, Descriptor::new(FIELD_TYPE.as_bytes())) {
            ResolvedField::Field(it) => it,
            ResolvedField::Error(it) => return Err(it),
            it @ ResolvedField::Unknown { .. } => panic!("{it:?}"),
        };
        refuse(may_access_field(h, caller, owner, field))?;
        let is_static = field.of(h).is_some_and(|it| it.flags.is_static());
        let shown = format!("{}.{name}", h.name(field.class));
        return if is_static { Ok(shown) } else { Err(LinkError::IncompatibleClassChange) };
    }
    let descriptor = Descriptor::new(METHOD_TYPE.as_bytes());
    let method = |it| match it {
        ResolvedMethod::Method(it) => Ok(it),
        ResolvedMethod::Error(it) => Err(it),
        it => panic!("{it:?}"),
    };
    let resolved = method(resolve_method(h, owner, name, descriptor, call.interface))?;
    refuse(may_access_method(h, caller, owner, resolved))?;
    let is_static = resolved.of(h).is_some_and(|it| it.flags.is_static());
    if is_static != (call.how == How::Static) {
        return Err(LinkError::IncompatibleClassChange);
    }
    let receiver = id(h, &call.receiver);
    let runs = match call.how {
        How::Virtual => selected(select(h, receiver, resolved))?,
        How::Interface => selected(select_interface(h, receiver, owner, resolved))?,
        How::Special => method(special_target(h, caller, owner, name, descriptor, call.interface))?,
        How::Static | How::GetStatic => resolved,
    };
    Ok(format!("{}.{name}", h.name(runs.class)))
}

fn selected(it: Selected) -> Result<MethodId, LinkError> {
    match it {
        Selected::Method(it) => Ok(it),
        Selected::Error(it) => Err(it),
        it @ Selected::Unknown { .. } => panic!("{it:?}"),
    }
}

/// Converts the result that a call had in the JVM to the name of the method that ran, or the error.
fn observed(it: &Outcome) -> String {
    match it {
        // The result of Object.toString contains an @; no method name does.
        Outcome::Result(it) if it.contains('@') => "java/lang/Object.toString".to_owned(),
        Outcome::Result(it) => it.trim_matches('"').to_owned(),
        // A message may follow the class name.
        Outcome::Throw(it) => it.split(' ').next().unwrap_or_default().to_owned(),
        Outcome::Timeout => "timeout".to_owned(),
    }
}

#[test]
fn the_jvm_agrees() {
    let Some(_) = jdk::at_least(17) else { return };
    let generated: Vec<Generated> = seeds(40, 150).map(|it| generate(it, 30)).collect();
    let classes: Vec<Assembled> = generated.iter().flat_map(assemble).collect();
    let case = |it: &Call| Case {
        class: it.caller.clone(),
        method: "run".to_owned(),
        descriptor: METHOD_TYPE.to_owned(),
        args: Vec::new(),
    };
    let cases: Vec<Case> = generated.iter().flat_map(|it| &it.calls).map(case).collect();
    for jdk in jdk::all().iter().filter(|it| it.version >= 17) {
        let answers = jvm::run(jdk, &classes, &cases).expect("the harness runs");
        let mut answers = answers.iter();
        let (mut failures, mut seen) = (Vec::new(), std::collections::BTreeMap::<String, u32>::new());
        for it in &generated {
            let h = outlines(it).open();
            assert_eq!(h.problems(), [], "the world loads");
            for call in &it.calls {
                let observed = observed(&answers.next().expect("an answer").outcome);
                let (ours, kind) = match predict(&h, call) {
                    Ok(it) => (it, "runs"),
                    Err(it) => (it.exception().to_owned(), it.exception()),
                };
                // See `LinkError::ConflictingDefaults`.
                let is_old_conflict = jdk.version < 25
                    && call.how == How::Interface
                    && observed == LinkError::AbstractMethod.exception()
                    && predict(&h, call) == Err(LinkError::ConflictingDefaults);
                // If the verifier refuses the caller, the call yields no information.
                let kind = if observed == "java/lang/VerifyError" { "VerifyError" } else { kind };
                *seen.entry(format!("{:?} {kind}", call.how)).or_default() += 1;
                if observed != ours && !is_old_conflict && kind != "VerifyError" {
                    failures.push(format!("{call:?}: JVM {observed}, ours {ours}"));
                }
            }
        }
        if generated.len() >= 100 {
            assert!(seen.len() >= 23 && seen.values().all(|it| *it >= 2), "every way to end: {seen:#?}");
        }
        if let Some(root) = std::env::var_os("RESOLUTION_DUMP") {
            jvm::write_classes(root.as_ref(), &classes).expect("the folder can be written");
        }
        let shown = failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
        assert!(failures.is_empty(), "{} calls differ on JDK {}\n{shown}", failures.len(), jdk.version);
    }
}
