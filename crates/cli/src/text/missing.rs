//! Missing classes as text.

use std::fmt::Write;

use ide::hints::Hint;
use ide::{Human, MethodName, Missing};
use rustc_hash::FxHashSet;

use crate::report::count;
use crate::text::style::{Ink, Style};
use crate::text::why::dotted;

/// The maximum number of names listed on a line; machine-readable formats contain all names.
const NAMED: usize = 4;

/// The numbers of classes that the list of missing classes is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Checked {
    /// The number of classes of the program, whose names of other classes are checked.
    pub(crate) classes: usize,
    /// The number of classes in libraries, whose names of other classes are not checked.
    pub(crate) in_libraries: usize,
}

/// Appends the missing classes, and what was not checked. The classes that make the most answers imprecise come first.
pub(crate) fn list(out: &mut Vec<u8>, missing: &[(Missing, Vec<Hint>)], checked: Checked, style: Style) {
    let mut text = String::new();
    if missing.is_empty() {
        let classes = count(checked.classes, "class", "classes");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "no class is missing that code, supertypes or `throws` clauses of the program ({classes}) name"
        );
    }
    let mut order: Vec<&(Missing, Vec<Hint>)> = missing.iter().collect();
    order.sort_by_key(|(it, _)| {
        (std::cmp::Reverse(it.widened.len()), std::cmp::Reverse(it.used_by.len()), it.class)
    });
    for (it, hints) in order {
        one(&mut text, it, hints, style);
    }
    if !missing.is_empty() {
        let distinct = |of: &dyn Fn(&Missing) -> &[MethodName]| {
            missing.iter().flat_map(|it| of(&it.0)).collect::<FxHashSet<_>>().len()
        };
        let classes = count(missing.len(), "class is", "classes are");
        let needed = count(distinct(&|it| &it.used_by), "method", "methods");
        let widened = count(distinct(&|it| &it.widened), "method", "methods");
        let summary =
            format!("// {classes} missing, needed by {needed}; calls in {widened} may run any method");
        let _ = writeln!(text, "\n{}", style.text(Ink::Dim, &summary));
    }
    let mut rest = "// not checked: names in annotations and descriptors".to_owned();
    if checked.in_libraries > 0 {
        let classes = count(checked.in_libraries, "class", "classes");
        rest.push_str(&format!("; libraries ({classes}): name a library as an input to check it"));
    }
    let _ = writeln!(text, "{}", style.text(Ink::Dim, &rest));
    out.extend(text.as_bytes());
}

fn one(out: &mut String, it: &Missing, hints: &[Hint], style: Style) {
    out.push_str(&style.text(Ink::Bold, &dotted(it.class)));
    out.push('\n');
    let mut line = |ink: Ink, text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {}", style.text(ink, &text));
    };
    if !it.supertype_of.is_empty() {
        let names: Vec<String> = it.supertype_of.iter().map(|it| dotted(*it)).collect();
        line(Ink::Yellow, format!("a supertype of {}", some(&names)));
    }
    if !it.widened.is_empty() {
        let names: Vec<String> = it.widened.iter().map(|it| Human(*it).to_string()).collect();
        let (methods_have, names) = (count(it.widened.len(), "method has", "methods have"), some(&names));
        line(Ink::Yellow, format!("{methods_have} calls that may run any method: {names}"));
    }
    let names: Vec<String> = it.called.iter().map(|it| Human(*it).to_string()).collect();
    if !names.is_empty() {
        line(Ink::Dim, format!("called: {}", some(&names)));
    }
    let names: Vec<String> = it.used_by.iter().map(|it| Human(*it).to_string()).collect();
    if !names.is_empty() {
        let what = count(names.len(), "method", "methods");
        line(Ink::Dim, format!("needed by {what}: {}", some(&names)));
    }
    for it in hints {
        line(Ink::Blue, format!("hint: {}", hint(it)));
    }
}

/// Returns the text of a hint about where the missing class may be found.
fn hint(it: &Hint) -> String {
    match it {
        Hint::Unreadable(place) => {
            format!("{place} is at the path of the class, but cannot be read as this class")
        }
        Hint::Archive(archive) => format!("{archive} has the class, but is not on the class path"),
        Hint::Container(name) => {
            format!(
                "{name} has other classes of the package: perhaps another version of {name} has the class"
            )
        }
        Hint::NoJdk(Some(module)) => {
            format!("the class is part of the JDK (module {module}): add a JDK with --jdk HOME")
        }
        Hint::NoJdk(None) => "the class may be part of the JDK: add a JDK with --jdk HOME".to_owned(),
        Hint::OtherJdk(Some(module)) => {
            format!(
                "the JDK has the package (module {module}), but not the class; another release may have the class"
            )
        }
        Hint::OtherJdk(None) => {
            "the class is named like an internal class of a JDK; another release may have the class"
                .to_owned()
        }
        Hint::Module(module) => {
            format!(
                "the class is part of module {module}, but the JDK lacks the package of the class; \
                 a later release or another image may have the package"
            )
        }
        Hint::NotResolved(module) => {
            format!(
                "the class is part of module {module} of the JDK, which is not resolved by default: \
                 add the module with --add-modules {module}"
            )
        }
        Hint::Removed(release, Some(artifact)) => {
            format!(
                "the class was part of the JDK before release {release}; \
                 on Maven Central, {artifact} has the class"
            )
        }
        Hint::Removed(release, None) => format!("the class was part of the JDK before release {release}"),
    }
}

fn some(names: &[String]) -> String {
    let mut text = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        let _ = write!(text, " and {} more", names.len() - NAMED);
    }
    text
}
