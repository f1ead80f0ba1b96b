//! What reflective code of the platform runs because reached code names classes: bootstrap methods, and code that gets
//! class objects and creates objects of these classes or initialises them.

use classfile::names::ClassName;
use flow::passed::Passed;
use program::hierarchy::{ClassId, Hierarchy};
use program::input::Role;
use program::members::MethodId;

use super::asked::{Question, questions};
use super::search::{Event, Search};
use crate::summary::MethodSummary;
use crate::whole::reachable::From;
use crate::whole::reflected::named;

/// Adds to the search what the classes that a method names may cause to run. `event` is the event that the search just
/// processed.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    let method = match event {
        Event::Method(it) => it,
        Event::Made(class, _) => {
            let methods = search.waiting.remove(&class).unwrap_or_default();
            return methods.into_iter().for_each(|(method, from)| search.method(method, from));
        }
        Event::Function(_) | Event::Stream(..) => return,
    };
    let calls = search.calls;
    if calls.classes.ghost(method).is_some() {
        return;
    }
    let MethodSummary::Known(code) = calls.classes.summary(method) else { return };
    let from = From::Method(method);
    let class = calls.classes.hierarchy.name(method.class);
    // The descriptors of the platform's modules name all providers of services. Those that are used are found where
    // code names a service.
    if class.bytes().starts_with(b"jdk/internal/module/SystemModules") {
        return;
    }
    search.bootstraps.extend(code.dynamics.iter().flat_map(|it| &it.modelled).map(|it| (*it, from)));
    code.summary.passed.iter().for_each(|it| passed(search, method.class, *it, from));
    if is_of_program(&calls.classes.hierarchy, method.class) {
        if code.summary.passed.contains(&Passed::UnknownService) {
            for (class, from) in search.asked.ask(Question::Service) {
                providers(search, class, from);
            }
        }
        for question in questions(code) {
            search.asked.ask(question).into_iter().for_each(|(class, from)| created(search, class, from));
        }
    }
    for it in &code.summary.reflected {
        let it = named(search.hierarchy(), *it);
        it.initialized.into_iter().for_each(|it| search.initialize(it, from));
        it.made.into_iter().for_each(|it| search.made(it, from));
        it.methods.into_iter().for_each(|it| search.method(it, from));
        for (class, method) in it.selected {
            match search.is_made(class) {
                true => search.method(method, from),
                false => search.waiting.entry(class).or_default().push((method, from)),
            }
        }
    }
}

/// Adds to the search the bootstrap methods of the JDK that dynamic call sites and constants of reached code run. They run
/// much code of the platform that calls methods of any object. The paths to reached methods are easier to understand if
/// they lead there only where no other path exists, so this happens after all other code has been found.
pub(super) fn bootstraps(search: &mut Search<'_>) {
    for (method, from) in std::mem::take(&mut search.bootstraps) {
        let class = search.hierarchy().class(method.class());
        class.into_iter().for_each(|it| search.initialize(it, from));
        search.named_method(method, from);
    }
}

/// Adds to the search the code that may run because reached code of the class `by` gives a class to other code, which may
/// initialise the class or create its objects by reflection. `from` is how control reaches the code that passes the class.
fn passed(search: &mut Search<'_>, by: ClassId, it: Passed, from: From) {
    let hierarchy = search.hierarchy();
    let is_of_program = is_of_program(hierarchy, by);
    let (name, question) = match it {
        Passed::Constant(name) => (name, Question::Service),
        Passed::Service(name) => {
            return hierarchy.class(name).into_iter().for_each(|it| providers(search, it, from));
        }
        Passed::Elements(name) => (name, Question::Elements),
        Passed::MethodType(name) => (name, Question::MethodType),
        Passed::UnknownService => return,
    };
    let Some(class) = hierarchy.class(name) else { return };
    match question {
        Question::Service => {
            // Any class may be a service, but a program that loads services does not thereby create objects below each
            // class that it names.
            let may_be_service = is_of_program && hierarchy.outline(class).flags.is_abstract();
            let is_asked = may_be_service && search.asked.add(question, class, from);
            if is_asked || is_used_service(search, name) {
                providers(search, class, from);
            }
            if !is_used_service(search, name) {
                created(search, class, from);
            }
        }
        Question::Elements | Question::MethodType => {
            if is_of_program && search.asked.add(question, class, from) {
                created(search, class, from);
            }
        }
        Question::EnumConstants => {}
    }
}

/// Returns whether code of this class belongs to the program, not to the platform.
fn is_of_program(hierarchy: &Hierarchy, class: ClassId) -> bool {
    hierarchy.role(class) != Role::Jdk
}

/// Returns whether a module of the platform loads providers of this service.
fn is_used_service(search: &Search<'_>, class: ClassName) -> bool {
    let modules = &search.calls.classes.surroundings.modules;
    modules.iter().any(|module| module.uses.contains(&class))
}

/// Adds to the search the code that runs if code of unknown intent has the class object of this class: the class may
/// be initialised and its objects created. `from` is how control reaches that code.
pub(super) fn created(search: &mut Search<'_>, class: ClassId, from: From) {
    let hierarchy = search.hierarchy();
    search.initialize(class, from);
    let outline = hierarchy.outline(class);
    if !outline.flags.is_abstract() && !outline.flags.is_interface() {
        search.made(class, from);
    }
    for (index, method) in outline.methods.iter().enumerate() {
        // The platform finds the constants of an enum by its method `values`.
        if method.name.bytes() == b"<init>" || method.name.bytes() == b"values" {
            search.method(MethodId::new(class, index), from);
        }
    }
}

/// Adds to the search the code that creates the providers of a service. `from` is how control reaches the code that
/// loads the service.
fn providers(search: &mut Search<'_>, service: ClassId, from: From) {
    search.hierarchy().subtypes(service).into_iter().for_each(|it| provider(search, it, from));
}

/// Adds to the search the code by which `ServiceLoader` creates an object of the class, if the class can be a
/// provider. `from` is how control reaches the code that loads the service.
fn provider(search: &mut Search<'_>, class: ClassId, from: From) {
    let hierarchy = search.hierarchy();
    let outline = hierarchy.outline(class);
    for (index, method) in outline.methods.iter().enumerate() {
        let takes_nothing = method.descriptor.bytes().starts_with(b"()");
        let is_constructor = method.name.bytes() == b"<init>" && !outline.flags.is_abstract();
        let is_provider = method.name.bytes() == b"provider" && method.flags.is_static();
        if !takes_nothing || !(is_constructor || is_provider) {
            continue;
        }
        search.initialize(class, from);
        if is_constructor {
            search.made(class, from);
        }
        search.method(MethodId::new(class, index), from);
    }
}
