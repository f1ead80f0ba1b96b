//! The code that reflective calls run whose class or member the caller names by constants.

use classfile::names::{ClassName, Name};
use flow::reflected::Reflected;
use program::hierarchy::{ClassId, Hierarchy};
use program::members::MethodId;
use program::members::select::{select, selectable};
use program::outline::Method;
use rustc_hash::FxHashSet;

/// What a reflective call does with one class or member.
#[derive(Default)]
pub(super) struct Named {
    /// The classes that the call initialises, with their superclasses.
    pub(super) initialized: Vec<ClassId>,
    /// The class of which the call creates an object.
    pub(super) made: Option<ClassId>,
    /// The methods that the call may run whatever the receiver is, in no particular order.
    pub(super) methods: Vec<MethodId>,
    /// The methods that the call may run on receivers of certain classes: pairs of the class and the method.
    pub(super) selected: Vec<(ClassId, MethodId)>,
    /// Whether the call surely runs nothing else, apart from code of absent classes.
    pub(super) is_all: bool,
    /// The class, if it is absent, or the absent class above it that may declare the member.
    pub(super) absent: Option<ClassName>,
}

/// The maximum number of methods that a named method may select. If there are more, the name says little, and none is
/// listed.
const MAX_SELECTED: usize = 64;

/// Returns what a reflective call does with a class or member, as far as present classes tell.
pub(super) fn named(hierarchy: &Hierarchy, it: Reflected) -> Named {
    let mut acc = Named { is_all: true, ..Named::default() };
    match it {
        Reflected::Class(class) => {
            let id = hierarchy.class(class);
            acc.absent = id.is_none().then_some(class);
            acc.initialized.extend(id);
        }
        Reflected::Constructor(class, types) => {
            let Some(class) = hierarchy.class(class) else { return Named { absent: Some(class), ..acc } };
            let outline = hierarchy.outline(class);
            // A method handle may initialise a class before it refuses to create an object.
            acc.initialized.push(class);
            if outline.flags.is_abstract() || outline.flags.is_interface() {
                return acc;
            }
            acc.made = Some(class);
            let constructors = outline.methods.iter().enumerate();
            let fitting = constructors.filter(|it| it.1.name.bytes() == b"<init>" && takes(it.1, types));
            acc.methods.extend(fitting.map(|it| MethodId::new(class, it.0)));
        }
        Reflected::Method(class, name, types) => {
            let Some(class) = hierarchy.class(class) else { return Named { absent: Some(class), ..acc } };
            if name.bytes().starts_with(b"<") {
                return acc;
            }
            // The objects that lambdas make may implement an interface.
            acc.is_all = !hierarchy.outline(class).flags.is_interface();
            acc.absent = hierarchy.outside_above(class);
            let is_extensible = hierarchy.may_have_unknown_subtypes(class);
            for &above in hierarchy.supers(class) {
                for (index, it) in hierarchy.outline(above).methods.iter().enumerate() {
                    if it.name != name || !takes(it, types) {
                        continue;
                    }
                    let method = MethodId::new(above, index);
                    if it.flags.is_static() || it.flags.is_private() {
                        acc.initialized.extend(it.flags.is_static().then_some(above));
                        acc.methods.push(method);
                        continue;
                    }
                    acc.is_all &= !is_extensible || it.flags.is_final();
                    for below in hierarchy.subtypes(class) {
                        let is_abstract = hierarchy.outline(below).flags.is_abstract();
                        if !is_abstract {
                            let selected = select(hierarchy, below, method);
                            let all = selectable(hierarchy, below, method, selected);
                            acc.selected.extend(all.into_iter().map(|it| (below, it)));
                        }
                    }
                }
            }
            let distinct: FxHashSet<MethodId> = acc.selected.iter().map(|it| it.1).collect();
            if distinct.len() > MAX_SELECTED {
                acc.is_all = false;
                acc.selected.clear();
            }
        }
    }
    acc
}

/// Returns whether a method has these parameter types, if they are known.
fn takes(method: &Method, types: Option<Name>) -> bool {
    types.is_none_or(|types| {
        let text = method.descriptor.bytes().strip_prefix(b"(");
        let rest = text.and_then(|it| it.strip_prefix(types.bytes()));
        rest.is_some_and(|it| it.first() == Some(&b')'))
    })
}
