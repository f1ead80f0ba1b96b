//! Entry points, and paths from them to methods, as text.

use std::fmt::Write;

use ide::entries::{Entry, EntryReason, Start, WayTo};
use ide::{Human, MethodName};

use crate::args::WorldArg;
use crate::report::count;
use crate::text::names::Names;
use crate::text::style::{Ink, Style};
use crate::text::why::dotted;

/// The text about a method that is not reached.
const UNREACHED: &str =
    "the method is not reached from the entry points, under the assumptions that the first lines name";

/// Appends entry points, one per line; with `why`, each is followed by a line with its reason.
/// `by_default` tells whether no entry points were named on the command line.
pub(crate) fn list(out: &mut Vec<u8>, entries: &[Entry], (why, by_default): (bool, bool), style: Style) {
    let mut text = String::new();
    for it in entries {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", style.text(Ink::Bold, &Human(it.method).to_string()));
        if why {
            let _ = writeln!(text, "  {}", reason(it.why));
        }
    }
    if !entries.is_empty() {
        let n = count(entries.len(), "entry point", "entry points");
        let is_library = entries.iter().all(|it| is_of_library(it.why));
        let kind = match (is_library, by_default) {
            (true, true) => " of a library, because a launcher runs no method of the program",
            (true, false) => " of a library",
            (false, _) => "",
        };
        let hint = if why { "" } else { "; --why says why each is one" };
        let rest = "// not listed: methods that unseen code runs only by way of objects that it gets, such as call-backs and \
            lambda bodies; -m says whether a method is reached";
        let _ = writeln!(text, "\n{}", style.text(Ink::Dim, &format!("// {n}{kind}{hint}\n{rest}")));
    }
    if entries.is_empty() {
        text.push_str("no entry point: no method that a launcher runs, and none that unseen code can call\n");
    }
    out.extend(text.as_bytes());
}

/// Returns whether the method is an entry point because code that uses a library may run it.
fn is_of_library(why: EntryReason) -> bool {
    match why {
        EntryReason::Callable
        | EntryReason::Constructible
        | EntryReason::Overridable
        | EntryReason::Initializer => true,
        EntryReason::Main(_)
        | EntryReason::MainObject(_)
        | EntryReason::MainClass(_)
        | EntryReason::Agent(_)
        | EntryReason::Service(_)
        | EntryReason::Selected => false,
    }
}

/// Appends for each method a path of calls to it from an entry point, or that the method is not reached.
pub(crate) fn ways(
    out: &mut Vec<u8>,
    ways: &[(MethodName, WayTo)],
    about: &dyn Fn(MethodName) -> &'static str,
    world: WorldArg,
    (names, style): (Names<'_>, Style),
) {
    let mut text = String::new();
    for (method, way) in ways {
        let place = style.text(Ink::Dim, about(*method));
        let _ = writeln!(text, "{}{place}", style.text(Ink::Bold, &names.of(*method)));
        let Some((start, way)) = way else {
            let _ = writeln!(text, "  {}\n", style.text(Ink::Dim, UNREACHED));
            continue;
        };
        for it in way.iter().rev().skip(1) {
            let _ = writeln!(text, "  <- {}", names.of(*it));
        }
        let start = match start {
            Start::Entry(why) => format!("entry point: {}", reason(*why)),
            Start::Vm => "the VM runs the method by itself".to_owned(),
            Start::Outside if world == WorldArg::Closed => {
                "code that was not read may run the method".to_owned()
            }
            Start::Outside => {
                "perhaps classes that were not read run the method; --world closed assumes that there are none".to_owned()
            }
        };
        let _ = writeln!(text, "  <- {start}\n");
    }
    out.extend(text.as_bytes());
}

/// Returns the reason why a method is an entry point.
pub(crate) fn reason(why: EntryReason) -> String {
    match why {
        EntryReason::Main(class) => {
            format!("the launcher runs this method when it starts the class {}", dotted(class))
        }
        EntryReason::MainObject(class) => {
            format!(
                "the launcher uses this constructor to create the object on which it calls `main` of the class {}",
                dotted(class)
            )
        }
        EntryReason::MainClass(class) => {
            format!("the launcher runs this initialiser when it starts the class {}", dotted(class))
        }
        EntryReason::Agent(attribute) => {
            format!("the manifest names the class of this method in the attribute {attribute}")
        }
        EntryReason::Service(service) => {
            format!("ServiceLoader uses this method to create a provider of the service {}", dotted(service))
        }
        EntryReason::Callable => "unseen code may call this method".to_owned(),
        EntryReason::Constructible => "unseen code may create objects with this constructor".to_owned(),
        EntryReason::Overridable => {
            "unseen code may call this method, or override it and call it by `super`".to_owned()
        }
        EntryReason::Initializer => "unseen code may initialise the class, which runs this method".to_owned(),
        EntryReason::Selected => "the method is named on the command line".to_owned(),
    }
}
