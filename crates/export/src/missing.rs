//! The absent classes, as one JSON document.

use ide::hints::Hint;
use ide::{MethodName, Missing};

use crate::frame::{Header, Trailer, header_members, trailer_members};
use crate::json::{array, key, method_name, optional_number, string, texts};

/// Returns the JSON document with the missing classes, each with hints where the class may be found.
pub fn missing_json(header: &Header, missing: &[(Missing, Vec<Hint>)], trailer: &Trailer) -> Vec<u8> {
    let mut out = Vec::new();
    header_members(&mut out, header);
    key(&mut out, "missing");
    array(&mut out, missing, |out, (it, hints)| {
        out.push(b'{');
        key(out, "class");
        texts(out, &[it.class]);
        key(out, "supertype_of");
        array(out, &it.supertype_of, |out, it| texts(out, &[*it]));
        methods(out, "called", &it.called);
        methods(out, "used_by", &it.used_by);
        methods(out, "widened", &it.widened);
        key(out, "hints");
        array(out, hints, hint);
        out.push(b'}');
    });
    out.push(b',');
    trailer_members(&mut out, trailer);
    out.extend(b"}\n");
    out
}

fn methods(out: &mut Vec<u8>, name: &str, methods: &[MethodName]) {
    key(out, name);
    array(out, methods, |out, it| method_name(out, *it));
}

fn hint(out: &mut Vec<u8>, it: &Hint) {
    let (kind, name) = match it {
        Hint::Unreadable(it) => ("unreadable", Some(it.as_str())),
        Hint::Archive(it) => ("archive", Some(it.as_str())),
        Hint::Container(it) => ("container", Some(it.as_str())),
        Hint::NoJdk(it) => ("no-jdk", *it),
        Hint::OtherJdk(it) => ("other-jdk", *it),
        Hint::Module(it) => ("module", Some(*it)),
        Hint::NotResolved(it) => ("unresolved-module", Some(it.as_str())),
        Hint::Removed(_, it) => ("removed", *it),
    };
    let release = match it {
        Hint::Removed(it, _) => Some(*it),
        _ => None,
    };
    out.push(b'{');
    key(out, "hint");
    string(out, kind);
    key(out, "name");
    match name {
        Some(it) => string(out, it),
        None => out.extend(b"null"),
    }
    key(out, "release");
    optional_number(out, release);
    out.push(b'}');
}
