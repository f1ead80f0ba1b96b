//! Reads everything in one class, however broken: returns a list of faults and never panics.

use bir::lower::{Scratch, lower};
use bir::parse::parse_body;
use bir::print::print;
use bir::verify::verify;
use classfile::bootstrap::Bootstraps;
use classfile::class::ClassFile;
use classfile::code::Code;
use classfile::error::Malformed;

/// The result of reading a class.
#[derive(Default)]
pub(crate) struct Reading {
    /// The faults, each prefixed with the method that cannot be lowered, or with `class`.
    pub(crate) faults: Vec<String>,
    /// The number of bodies that were lowered.
    pub(crate) lowered: usize,
}

/// Reads and lowers a class. Lowered bodies must be well formed and, if `texts` is set, survive printing and
/// parsing.
pub(crate) fn read(name: &str, bytes: &[u8], texts: bool) -> Reading {
    let mut out = Reading::default();
    let class = match ClassFile::parse(bytes) {
        Ok(it) => it,
        Err(fault) => {
            assert!(fault.offset as usize <= bytes.len(), "{name}: {fault}");
            out.faults.push(format!("class: {fault}"));
            return out;
        }
    };
    outline(&class, &mut out.faults);
    let boots = match Bootstraps::of(&class) {
        Ok(it) => it,
        Err(fault) => {
            out.faults.push(format!("class: {fault}"));
            return out;
        }
    };
    let mut scratch = Scratch::default();
    for method in class.methods() {
        let lowered = match method.code() {
            Ok(Some(code)) => {
                body(&code);
                lower(&class, &boots, &method, &code, &mut scratch)
            }
            Ok(None) if method.flags.is_native() || method.flags.is_abstract() => continue,
            Ok(None) => {
                out.faults.push("method: no Code attribute".to_owned());
                continue;
            }
            Err(fault) => Err(fault),
        };
        let method = method.name().map_or("?".to_owned(), |it| it.to_string());
        match lowered {
            Ok(it) => {
                out.lowered += 1;
                let problems = verify(&it.body);
                assert!(problems.is_empty(), "{name}.{method}: {problems:?}\n{}", print(&it.body));
                if !texts {
                    continue;
                }
                let text = print(&it.body);
                let again = parse_body(&text).unwrap_or_else(|it| panic!("{name}.{method}: {it}\n{text}"));
                assert!(again == it.body, "{name}.{method}\n{text}");
            }
            Err(fault) => {
                assert!(fault.offset as usize <= bytes.len(), "{name}.{method}: {fault}");
                out.faults.push(format!("{method}: {fault}"));
            }
        }
    }
    out
}

/// Reads what an outline needs, each part regardless of faults in the others.
fn outline(class: &ClassFile<'_>, faults: &mut Vec<String>) {
    let mut note = |what: Option<Malformed>| faults.extend(what.map(|it| format!("class: {it}")));
    note(class.this_class().err());
    note(class.super_class().err());
    class.interfaces().for_each(|it| note(it.err()));
    for it in class.fields().chain(class.methods()) {
        note(it.name().err());
        note(it.descriptor().err());
        it.attributes().for_each(|it| note(it.err()));
        note(it.attributes().class_list(b"Exceptions").err());
        it.attributes().annotations();
        it.attributes().text(b"Signature");
    }
    let attributes = class.attributes();
    attributes.for_each(|it| note(it.err()));
    note(attributes.nest_host().err());
    note(attributes.class_list(b"NestMembers").err());
    note(attributes.class_list(b"PermittedSubclasses").err());
    attributes.annotations();
    attributes.text(b"SourceFile");
}

/// Reads the parts of a body that lowering does not.
fn body(code: &Code<'_, '_>) {
    assert!(code.lines().count() <= code.pool().bytes().len());
    code.handlers().for_each(drop);
    assert!(code.instructions().count() <= code.bytes.len());
}
