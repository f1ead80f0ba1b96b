//! The entry points of a program and the methods reached from them, as one JSON document.

use ide::entries::{Entry, EntryReason, Start, WayTo};
use ide::{MethodName, Text};

use crate::frame::{Header, Trailer, header_members, trailer_members};
use crate::json::{array, key, method_name, string, texts};

/// Returns the JSON document with the entry points.
pub fn entries_json(header: &Header, entries: &[Entry], trailer: &Trailer) -> Vec<u8> {
    let mut out = Vec::new();
    header_members(&mut out, header);
    key(&mut out, "entries");
    array(&mut out, entries, |out, it| {
        out.push(b'{');
        key(out, "method");
        method_name(out, it.method);
        key(out, "why");
        reason(out, it.why);
        out.push(b'}');
    });
    out.push(b',');
    trailer_members(&mut out, trailer);
    out.extend(b"}\n");
    out
}

/// Returns the JSON document with the path of calls to each method, from an entry point, the VM or missing code.
pub fn ways_json(header: &Header, ways: &[(MethodName, WayTo)], trailer: &Trailer) -> Vec<u8> {
    let mut out = Vec::new();
    header_members(&mut out, header);
    key(&mut out, "methods");
    array(&mut out, ways, |out, (method, way)| {
        out.push(b'{');
        key(out, "method");
        method_name(out, *method);
        key(out, "start");
        match way {
            None => out.extend(b"null"),
            Some((Start::Entry(why), _)) => reason(out, *why),
            Some((Start::Vm, _)) => words(out, "vm", None),
            Some((Start::Outside, _)) => words(out, "outside", None),
        }
        key(out, "way");
        let methods = way.as_ref().map(|it| it.1.as_slice()).unwrap_or_default();
        array(out, methods, |out, it| method_name(out, *it));
        out.push(b'}');
    });
    out.push(b',');
    trailer_members(&mut out, trailer);
    out.extend(b"}\n");
    out
}

/// Appends the reason why a method is an entry point.
pub(crate) fn reason(out: &mut Vec<u8>, why: EntryReason) {
    match why {
        EntryReason::Main(it) => words(out, "main", Some(it)),
        EntryReason::MainObject(it) => words(out, "main-object", Some(it)),
        EntryReason::MainClass(it) => words(out, "main-class", Some(it)),
        EntryReason::Agent(it) => words(out, "agent", Some(it)),
        EntryReason::Service(it) => words(out, "service", Some(it)),
        EntryReason::Callable => words(out, "callable", None),
        EntryReason::Constructible => words(out, "constructible", None),
        EntryReason::Overridable => words(out, "overridable", None),
        EntryReason::Initializer => words(out, "initializer", None),
        EntryReason::Selected => words(out, "selected", None),
    }
}

fn words(out: &mut Vec<u8>, word: &str, name: Option<Text>) {
    out.push(b'{');
    key(out, "reason");
    string(out, word);
    key(out, "name");
    match name {
        Some(it) => texts(out, &[it]),
        None => out.extend(b"null"),
    }
    out.push(b'}');
}
