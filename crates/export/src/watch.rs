//! Continuously updated answers as JSON lines: a header, then for each cycle (a change of the inputs and the update
//! of the answer) the changes of the answer and a summary.

use ide::difference::{Changed, End, EndKind, Fact, Need, Raised, Reaches};
use ide::{EdgeKind, MethodName};

use crate::document::header_line;
use crate::entries::reason;
use crate::explain::explanation_fragment;
use crate::form::Format;
use crate::frame::Header;
use crate::json::{array, boolean, key, method_name, number, optional_number, string, texts};
use crate::{json_whole, words};

/// The summary of a cycle, that is, of one update of the answer after a change of the inputs.
#[derive(Clone, Debug, Default)]
pub struct Cycle {
    /// The number of the cycle, from 1 for the first answer.
    pub generation: u64,
    /// The reason for the update: `start` (the first answer), `changed`, `rescan` or `settings`.
    pub reason: &'static str,
    /// The files and folders that changed.
    pub changed: Vec<String>,
    /// The number of classes parsed for this update, and the number of all classes.
    pub classes: (usize, usize),
    /// The number of methods of the parsed classes, and the number of all methods.
    pub methods: (usize, usize),
    /// The number of facts that were added to the answer.
    pub added: usize,
    /// The number of facts that were removed from the answer.
    pub removed: usize,
    /// The time from the first event about the change to the updated answer, in milliseconds.
    pub milliseconds: u64,
    /// The problems that did not exist in the previous cycle, each with place and description.
    pub problems: Vec<(String, String)>,
}

/// Returns the line about the inputs and settings of the answers.
pub fn header(header: &Header) -> Vec<u8> {
    let mut out = Vec::new();
    header_line(&mut out, header);
    out
}

/// Appends a line about an added or removed fact.
pub fn changed(out: &mut Vec<u8>, generation: u64, it: &Changed) {
    out.extend(b"{");
    key(out, "record");
    string(out, "change");
    key(out, "generation");
    number(out, generation as i64);
    key(out, "change");
    string(out, if it.added { "added" } else { "removed" });
    key(out, "method");
    optional_method(out, it.method);
    key(out, "pc");
    optional_number(out, it.pc);
    key(out, "line");
    optional_number(out, it.line);
    key(out, "fact");
    fact(out, &it.fact);
    out.extend(b"}\n");
}

/// Appends the summary of a cycle.
pub fn cycle(out: &mut Vec<u8>, it: &Cycle) {
    out.extend(b"{");
    key(out, "record");
    string(out, "cycle");
    key(out, "generation");
    number(out, it.generation as i64);
    key(out, "reason");
    string(out, it.reason);
    key(out, "changed");
    array(out, &it.changed, |out, it| string(out, it));
    let counts = [
        ("classes_read", it.classes.0),
        ("classes", it.classes.1),
        ("methods_read", it.methods.0),
        ("methods", it.methods.1),
        ("added", it.added),
        ("removed", it.removed),
    ];
    for (name, n) in counts {
        key(out, name);
        number(out, n as i64);
    }
    key(out, "milliseconds");
    number(out, it.milliseconds as i64);
    key(out, "problems");
    array(out, &it.problems, |out, (place, what)| {
        out.push(b'{');
        key(out, "place");
        string(out, place);
        key(out, "what");
        string(out, what);
        out.push(b'}');
    });
    out.extend(b"}\n");
}

fn fact(out: &mut Vec<u8>, it: &Fact) {
    out.push(b'{');
    key(out, "kind");
    match it {
        Fact::Method => string(out, "method"),
        Fact::Instruction(text) => {
            string(out, "instruction");
            key(out, "instr");
            string(out, text);
        }
        Fact::Explained(it) => {
            string(out, "explanation");
            key(out, "explanation");
            explanation_fragment(out, Format::Json, it);
        }
        Fact::Entry(why) => {
            string(out, "entry");
            key(out, "why");
            reason(out, *why);
        }
        Fact::Call { kind, declared, to } => {
            string(out, "call");
            key(out, "call");
            string(out, kind.name());
            key(out, "declared");
            optional_method(out, *declared);
            reaches(out, *to);
        }
        Fact::LetsOut(part) => {
            string(out, "throws");
            key(out, "type");
            texts(out, &[ide::Text(part.class.bytes())]);
            key(out, "cone");
            boolean(out, part.cone);
        }
        Fact::Open { within, except, because } => {
            string(out, "open");
            key(out, "open");
            json_whole::open_set(out, within, except);
            key(out, "because");
            match because {
                Some(it) => json_whole::step(out, *it),
                None => out.extend(b"null"),
            }
        }
        Fact::Edge { from, to, kind, labels } => {
            string(out, "edge");
            key(out, "edge");
            string(out, words::edge_kind(*kind));
            if let EdgeKind::Case(it) = kind {
                key(out, "case");
                number(out, *it);
            }
            key(out, "labels");
            array(out, labels, |out, it| optional_method(out, *it));
            key(out, "from");
            end(out, from);
            key(out, "to");
            end(out, to);
        }
        Fact::Missing { class, need } => {
            string(out, "missing");
            key(out, "class");
            texts(out, &[*class]);
            key(out, "need");
            let (word, method) = match need {
                Need::Class => ("class", None),
                Need::SupertypeOf(_) => ("supertype_of", None),
                Need::UsedBy(it) => ("used_by", Some(*it)),
                Need::Called(it) => ("called", Some(*it)),
                Need::Widened(it) => ("widened", Some(*it)),
            };
            string(out, word);
            key(out, "of");
            match need {
                Need::SupertypeOf(it) => texts(out, &[*it]),
                _ => optional_method(out, method),
            }
        }
    }
    out.push(b'}');
}

fn reaches(out: &mut Vec<u8>, it: Reaches) {
    let word = match it {
        Reaches::Target(_) => "target",
        Reaches::Possible(_) => "possible",
        Reaches::Glue(_) => "glue",
        Reaches::Error(_) => "error",
        Reaches::Open(_) => "open",
        Reaches::Nothing => "nothing",
    };
    key(out, "reaches");
    string(out, word);
    key(out, "to");
    match it {
        Reaches::Target(it) | Reaches::Possible(it) => method_name(out, it),
        Reaches::Glue(it) | Reaches::Error(it) => texts(out, &[it]),
        Reaches::Open(it) => json_whole::why(out, it),
        Reaches::Nothing => out.extend(b"null"),
    }
}

fn end(out: &mut Vec<u8>, it: &End) {
    out.push(b'{');
    key(out, "instr");
    string(out, &it.instr);
    key(out, "pc");
    optional_number(out, it.pc);
    key(out, "kind");
    let (word, set) = match &it.kind {
        EndKind::Normal => ("normal", None),
        EndKind::Exceptional(it) => ("exceptional", Some(it)),
        EndKind::Return => ("return", None),
        EndKind::ExceptionalReturn(it) => ("exceptional-return", Some(it)),
    };
    string(out, word);
    key(out, "exception");
    match set {
        Some(it) => raised(out, it),
        None => out.extend(b"null"),
    }
    out.push(b'}');
}

fn raised(out: &mut Vec<u8>, it: &Raised) {
    out.push(b'{');
    key(out, "within");
    json_whole::parts(out, &it.parts);
    key(out, "except");
    json_whole::parts(out, &it.except);
    key(out, "open");
    match it.open {
        Some(it) => json_whole::why(out, it),
        None => out.extend(b"null"),
    }
    out.push(b'}');
}

fn optional_method(out: &mut Vec<u8>, it: Option<MethodName>) {
    match it {
        Some(it) => method_name(out, it),
        None => out.extend(b"null"),
    }
}
