//! The errors that linking raises: for members that do not exist or are not accessible, and for classes that cannot
//! be linked or instantiated (JVMS §5.3.5, §5.4; `semantics.md` §3.6).

use classfile::names::{ClassName, FieldRef};
use flow::summary::Access;
use flow::throwables::built_in_parent;
use flow::universe::SetId;
use program::hierarchy::{Below, ClassId};
use program::members::access::{may_access_class, may_access_field};
use program::members::resolve::resolve_field;
use program::members::{LinkError, ResolvedField};

use super::lattice::{Exceptions, Value};
use super::tables::CallTable;
use crate::summary::MethodSummary;

/// Returns the exceptions that the VM raises for a link error.
pub(super) fn link_error(ex: &mut Exceptions, error: LinkError) -> Value {
    let class = ClassName::new(error.exception().as_bytes());
    // For conflicting default methods, different releases raise different subclasses.
    let conflict = error == LinkError::ConflictingDefaults;
    Value::known(if conflict { ex.universe.cone(class) } else { ex.universe.exact(class) })
}

/// Returns the error that the creation of an object of this class raises (JVMS §6.5.new); `None` if the creation
/// succeeds.
pub(super) fn object_error(calls: &CallTable, class: ClassName) -> Option<LinkError> {
    let hierarchy = &calls.classes.hierarchy;
    let Some(id) = hierarchy.class(class) else {
        return calls.options.link_errors.then_some(LinkError::NoClassDefFound);
    };
    let flags = hierarchy.outline(id).flags;
    (flags.is_abstract() || flags.is_interface()).then_some(LinkError::Instantiation)
}

/// Returns the link error that an access of a field in code of the class `caller` raises; `None` if no error follows
/// from the present classes. Under `--link-errors`, the access of a field whose class is absent is an error, too.
pub(super) fn field_error(
    calls: &CallTable,
    caller: ClassId,
    field: FieldRef,
    access: Access,
) -> Option<LinkError> {
    let it = field.get();
    let hierarchy = &calls.classes.hierarchy;
    let wants_static = match access {
        Access::GetStatic | Access::PutStatic => true,
        Access::Get | Access::Put => false,
    };
    // Most accessed fields belong to the caller, where only the kind of access, static or not, can be wrong.
    if it.class == hierarchy.name(caller)
        && let Some(index) = hierarchy.field(caller, it.name, it.descriptor)
    {
        let field = hierarchy.outline(caller).fields.get(index as usize)?;
        return (field.flags.is_static() != wants_static).then_some(LinkError::IncompatibleClassChange);
    }
    match resolve_field(hierarchy, it.class, it.name, it.descriptor) {
        ResolvedField::Error(error) => Some(error),
        ResolvedField::Unknown { .. } => calls.options.link_errors.then_some(LinkError::NoClassDefFound),
        ResolvedField::Field(id) => {
            let is_static = id.of(hierarchy).is_some_and(|it| it.flags.is_static());
            if is_static != wants_static {
                return Some(LinkError::IncompatibleClassChange);
            }
            let allowed = may_access_class(hierarchy, caller, it.class) != Below::No
                && may_access_field(hierarchy, caller, it.class, id) != Below::No;
            (!allowed).then_some(LinkError::IllegalAccess)
        }
    }
}

/// Returns the errors that linking a class raises: errors for supertypes that the class may not have (JVMS §5.3.5).
/// Under `--link-errors`, also errors for absent supertypes, and for absent classes that the exception tables name,
/// because the verifier loads these classes.
pub(super) fn class_errors(calls: &CallTable, ex: &mut Exceptions, class: ClassId) -> SetId {
    let hierarchy = &calls.classes.hierarchy;
    let mut acc = SetId::EMPTY;
    let mut add = |ex: &mut Exceptions, name: &[u8]| {
        let it = ex.universe.exact(ClassName::new(name));
        acc = ex.universe.join(acc, it);
    };
    if hierarchy.supers(class).iter().any(|it| calls.classes.refused.contains(it)) {
        // Which of the two errors is raised depends on the release.
        add(ex, b"java/lang/IncompatibleClassChangeError");
        add(ex, b"java/lang/VerifyError");
    }
    let is_absent = |it: ClassName| hierarchy.class(it).is_none() && built_in_parent(it).is_none();
    if calls.options.link_errors
        && (hierarchy.outside_above(class).is_some() || caught_classes(calls, class).any(is_absent))
    {
        add(ex, b"java/lang/NoClassDefFoundError");
    }
    acc
}

/// Returns the classes that the exception tables in the code of a class name as catch types.
fn caught_classes(calls: &CallTable, class: ClassId) -> impl Iterator<Item = ClassName> + '_ {
    let rows = calls.classes.methods_of(class).filter_map(|it| match calls.classes.summary(it) {
        MethodSummary::Known(code) => Some(code.summary.contexts.iter().flat_map(|it| &it.rows)),
        MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => None,
    });
    rows.flatten().filter_map(|it| it.class)
}
