//! For each class, the classes that name it in their code, which must be analysed again when the class is removed or
//! added.

use classfile::names::ClassName;
use flow::summary::Initialized;
use program::hierarchy::ClassId;
use program::outline::{Method, Outline};
use rustc_hash::FxHashMap;

use crate::summary::{ClassSummary, CodeSummary, MethodSummary};
use crate::whole::actions::{Called, MadeObject, Raises, all_actions};
use crate::whole::implicit::{RuntimeObjects, made_by_call};
use crate::whole::promises::{Promised, promises};

/// The classes that the code of one class names, in separate lists for the ways in which the names are used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::whole) struct Named {
    /// The classes that the code resolves: whose members it uses, which it initialises, or which casts, `instanceof`,
    /// arrays and constants name. For an array type, its element class is listed.
    classes: Vec<ClassName>,
    /// The types that the class throws, catches, or names in throws clauses.
    throwables: Vec<ClassName>,
    /// The classes whose names in the code matter only if other code makes these classes throwable types. The names
    /// occur in promises of ghosts, and as catch types of rows that cover only exceptions that may arise at any
    /// instruction.
    if_types: Vec<ClassName>,
    /// Whether the code creates objects of classes that are made at run time, such as proxies.
    makes_objects: bool,
}

/// For each class, the classes that name it, in ascending order of ids. Many classes name `java/lang/Object`, so a
/// change of a class updates only the lists of names that the change added or removed.
type Namers = FxHashMap<ClassName, Vec<ClassId>>;

/// The names of classes in the code of each class, and for each name the classes in whose code it occurs.
#[derive(Default)]
pub(in crate::whole) struct Mentions {
    named: Vec<Named>,
    by_name: Namers,
    throwing: Namers,
    if_types: Namers,
    /// The classes whose code creates objects of classes that are made at run time, ascending.
    makers: Vec<ClassId>,
    /// The throwable types that some class has begun or ceased to name since the last call of
    /// [`Mentions::take_touched`].
    touched: Vec<ClassName>,
}

impl Named {
    /// Returns the classes that a class names in its code, its throws clauses and its ghosts' promises.
    pub(in crate::whole) fn by(outline: &Outline, summary: &ClassSummary) -> Named {
        let mut acc = Named::default();
        for method in &outline.methods {
            acc.throwables.extend(&method.throws);
        }
        let ghosts = outline.methods.iter().filter_map(|it| it.ghost.as_ref()).chain(&outline.ghost);
        for it in ghosts.flat_map(promises) {
            match it {
                Promised::Everything => {}
                Promised::Type(name) => acc.if_types.extend(name.classes()),
            }
        }
        for (method, code) in outline.methods.iter().zip(&summary.methods) {
            if let MethodSummary::Known(code) = code {
                acc.code(code);
                acc.parameters(method, code.summary.used_parameters);
            }
        }
        for list in [&mut acc.classes, &mut acc.throwables, &mut acc.if_types] {
            list.sort_unstable_by_key(address);
            list.dedup();
        }
        acc
    }

    fn code(&mut self, code: &CodeSummary) {
        for action in all_actions(code) {
            action.method().into_iter().for_each(|it| self.class(it.class()));
            if let Some(Called::Instruction(_, it) | Called::OnThis(_, it)) = action.calls {
                self.makes_objects |= made_by_call(it) != RuntimeObjects::default();
            }
            if let Some(what) = action.initializes {
                self.class(match what {
                    Initialized::Class(it) | Initialized::ClassOrAbove(it) | Initialized::Implemented(it) => {
                        it
                    }
                    Initialized::OwnerOfField(it) | Initialized::OwnerOfMethod(it, _) => it.class(),
                });
            }
            match action.makes {
                Some(MadeObject::ByNew(class) | MadeObject::ByHandle(class)) => self.class(class),
                None => {}
            }
            match action.raises {
                Raises::Exact(class) | Raises::Cone(class) => self.throwables.push(class),
                Raises::Receiver(it) => {
                    self.class(it.class);
                    self.class(it.interface);
                }
                Raises::Caught(_) | Raises::NullReceiver | Raises::LinkFailure | Raises::Nothing => {}
            }
        }
        for (field, _) in &code.summary.fields {
            self.class(field.class());
        }
        code.summary.constant_classes(&mut |it| self.class(it));
        for constant in code.dynamics.iter().flat_map(|it| &it.resolves) {
            constant.classes(&mut |it| self.class(it));
        }
        for function in code.dynamics.iter().filter_map(|it| it.function.as_ref()) {
            self.class(function.handle.member.class());
        }
        let rows = code.summary.contexts.iter().flat_map(|it| &it.rows);
        let bare = code.summary.bare.iter();
        self.throwables.extend(rows.clone().filter_map(|it| it.class));
        self.if_types.extend(bare.clone().filter_map(|it| it.class));
        // Whether the class of a row is accessible matters, too.
        rows.chain(bare).filter_map(|it| it.class).for_each(|it| self.class(it));
    }

    /// Adds the types of the parameters on whose values a method's exceptions may depend: calls on them have one target if
    /// the class is final.
    fn parameters(&mut self, method: &Method, used: u64) {
        let has_receiver = usize::from(!method.flags.is_static());
        let Some(ty) = method.descriptor.method_type().filter(|_| used >> has_receiver != 0) else { return };
        for (i, it) in ty.params().enumerate() {
            let bit = u32::try_from(i + has_receiver).unwrap_or(u32::MAX);
            if used.checked_shr(bit).is_some_and(|it| it & 1 != 0) {
                it.class().into_iter().for_each(|it| self.class(it));
            }
        }
    }

    fn class(&mut self, name: ClassName) {
        self.classes.extend(name.element());
    }
}

impl Mentions {
    /// Frees this index in small steps: each step of the returned iterator frees one list.
    pub(in crate::whole) fn freeing(self) -> impl Iterator<Item = ()> {
        let Mentions { named, by_name, throwing, if_types, .. } = self;
        let by_name = by_name.into_iter().chain(throwing).chain(if_types);
        named.into_iter().map(drop).chain(by_name.map(drop))
    }

    /// Replaces the recorded names in the code of the class `class` by `named`, or removes them if `named` is `None`.
    pub(in crate::whole) fn set(&mut self, class: ClassId, named: Option<Named>) {
        if self.named.len() <= class.index() {
            self.named.resize_with(class.index() + 1, Named::default);
        }
        let now = named.unwrap_or_default();
        let before = std::mem::replace(&mut self.named[class.index()], now);
        let now = &self.named[class.index()];
        if before == *now {
            return;
        }
        update(&mut self.by_name, class, &before.classes, &now.classes, |_| {});
        let touched = |it| self.touched.push(it);
        update(&mut self.throwing, class, &before.throwables, &now.throwables, touched);
        update(&mut self.if_types, class, &before.if_types, &now.if_types, |_| {});
        match (self.makers.binary_search(&class), now.makes_objects) {
            (Err(at), true) => self.makers.insert(at, class),
            (Ok(at), false) => _ = self.makers.remove(at),
            (Err(_), false) | (Ok(_), true) => {}
        }
    }

    /// Returns the classes whose code resolves the class `name`.
    pub(in crate::whole) fn of(&self, name: ClassName) -> &[ClassId] {
        self.by_name.get(&name).map(|it| &**it).unwrap_or_default()
    }

    /// Returns the classes whose code creates objects of classes that are made at run time, such as proxies.
    pub(in crate::whole) fn makers(&self) -> &[ClassId] {
        &self.makers
    }

    /// Returns the classes that throw or catch the class `name`, or name it in a throws clause.
    pub(in crate::whole) fn throwing(&self, name: ClassName) -> &[ClassId] {
        self.throwing.get(&name).map(|it| &**it).unwrap_or_default()
    }

    /// Returns the classes that name the class `name` in a way that matters only if `name` is a throwable type for
    /// another reason.
    pub(in crate::whole) fn if_type(&self, name: ClassName) -> &[ClassId] {
        self.if_types.get(&name).map(|it| &**it).unwrap_or_default()
    }

    /// Returns the throwable types that some class has begun or ceased to name since the last call of this function.
    /// Duplicates are possible.
    pub(in crate::whole) fn take_touched(&mut self) -> Vec<ClassName> {
        std::mem::take(&mut self.touched)
    }
}

/// Updates the lists `namers` after the names in the code of `class` changed from `before` to `now`. `before` and
/// `now` are sorted by [`address`]. Calls `on_change` for each name that was added or removed.
fn update(
    namers: &mut Namers,
    class: ClassId,
    before: &[ClassName],
    now: &[ClassName],
    mut on_change: impl FnMut(ClassName),
) {
    let is_in = |list: &[ClassName], it: &ClassName| list.binary_search_by_key(&address(it), address).is_ok();
    for it in before.iter().filter(|it| !is_in(now, it)) {
        on_change(*it);
        let classes = namers.entry(*it).or_default();
        if let Ok(at) = classes.binary_search(&class) {
            classes.remove(at);
        }
    }
    for it in now.iter().filter(|it| !is_in(before, it)) {
        on_change(*it);
        let classes = namers.entry(*it).or_default();
        if let Err(at) = classes.binary_search(&class) {
            classes.insert(at, class);
        }
    }
}

/// Returns the memory address of a name's bytes. The address is the sort key of lists that are only searched.
fn address(name: &ClassName) -> *const u8 {
    name.bytes().as_ptr()
}
