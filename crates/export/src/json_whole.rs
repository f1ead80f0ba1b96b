//! Whole-program answers as JSON objects, one per line.

use ide::answer::MethodAnswer;
use ide::{Anchor, Anchored, Call, MethodName, Origin, Part, Step, Text, Throws, Why};

use crate::json::{array, boolean, key, method_name, number, optional_number, string, texts};

/// Appends a call and its targets. `lines` is set for JSON lines, where each object has a member `record`.
pub(crate) fn call(
    out: &mut Vec<u8>,
    lines: bool,
    place: &str,
    caller: MethodName,
    answer: Option<&MethodAnswer>,
    it: &Call,
) {
    out.push(b'{');
    if lines {
        key(out, "record");
        string(out, "call");
    }
    key(out, "caller");
    method_name(out, caller);
    key(out, "place");
    string(out, place);
    let positions = answer.zip(it.instr);
    key(out, "pc");
    optional_number(out, positions.and_then(|(answer, instr)| answer.positions.pc(instr)));
    key(out, "line");
    optional_number(out, positions.and_then(|(answer, instr)| answer.positions.line(instr)));
    call_members(out, it);
    out.push(b'}');
}

/// Appends the members that describe a call and its targets.
pub(crate) fn call_members(out: &mut Vec<u8>, it: &Call) {
    key(out, "kind");
    string(out, it.kind.name());
    key(out, "declared");
    match it.declared {
        Some(it) => method_name(out, it),
        None => out.extend(b"null"),
    }
    key(out, "targets");
    array(out, &it.targets, |out, it| method_name(out, *it));
    key(out, "possible");
    array(out, &it.possible, |out, it| method_name(out, *it));
    key(out, "glue");
    array(out, &it.glue, |out, it| texts(out, &[*it]));
    key(out, "errors");
    array(out, &it.errors, |out, it| texts(out, &[*it]));
    key(out, "open");
    match it.open {
        Some(it) => why(out, it),
        None => out.extend(b"null"),
    }
}

/// Appends the exceptions that leave a method. `lines` is set for JSON lines.
pub(crate) fn throws(out: &mut Vec<u8>, lines: bool, place: &str, it: &Throws) {
    out.push(b'{');
    if lines {
        key(out, "record");
        string(out, "method");
    }
    key(out, "method");
    method_name(out, it.method);
    key(out, "place");
    string(out, place);
    key(out, "throws");
    parts(out, &it.known);
    key(out, "open");
    match &it.open {
        None => {
            out.extend(b"null");
            key(out, "because");
            out.extend(b"[]");
        }
        Some(open) => {
            open_set(out, &open.within, &open.except);
            key(out, "because");
            array(out, &open.because, |out, it| step(out, *it));
        }
    }
    if !it.anchors.is_empty() {
        key(out, "apart");
        array(out, &it.anchors, anchor);
    }
    if it.too_many_calls > 0 {
        key(out, "calls_not_apart");
        number(out, it.too_many_calls);
    }
    out.push(b'}');
}

/// Appends what is set apart: a call on unknown objects, or an initialiser.
fn anchor(out: &mut Vec<u8>, it: &Anchor) {
    out.push(b'{');
    match it.of {
        Anchored::Call(method) => {
            key(out, "call");
            method_name(out, method);
        }
        Anchored::Initializer(class) => {
            key(out, "initializer");
            texts(out, &[class]);
        }
    }
    key(out, "throws");
    parts(out, &it.known);
    key(out, "open");
    boolean(out, it.is_open);
    out.push(b'}');
}

/// Appends the bounds of an open set of exceptions: the types that contain the set, and the types excluded from it.
pub(crate) fn open_set(out: &mut Vec<u8>, within: &[Part], except: &[Part]) {
    out.push(b'{');
    key(out, "within");
    parts(out, within);
    key(out, "except");
    parts(out, except);
    out.push(b'}');
}

/// Appends a list of classes and cones.
pub(crate) fn parts(out: &mut Vec<u8>, parts: &[Part]) {
    array(out, parts, part);
}

/// Appends a class or cone.
pub(crate) fn part(out: &mut Vec<u8>, it: &Part) {
    out.push(b'{');
    key(out, "type");
    texts(out, &[Text(it.class.bytes())]);
    key(out, "cone");
    boolean(out, it.cone);
    out.push(b'}');
}

/// Appends one step of an explanation.
pub(crate) fn step(out: &mut Vec<u8>, it: Step) {
    if let Step::Open(it) = it {
        return why(out, it);
    }
    reason(out, step_word(it), step_name(it));
}

/// Returns the word by which JSON output names the kind of a step.
pub(crate) fn step_word(it: Step) -> &'static str {
    match it {
        Step::Method(_) => "method",
        Step::Dispatch(_) => "call",
        Step::Initializer(_) => "initializer",
        Step::Loading(_) => "load",
        Step::Glue(_) => "function",
        Step::Rethrown(_) => "rethrown",
        Step::Raised(_) => "raised",
        Step::Open(_) => "open",
    }
}

/// Returns the class or method that a step names, if it names one.
pub(crate) fn step_name(it: Step) -> Option<Named> {
    match it {
        Step::Method(it) | Step::Dispatch(it) | Step::Loading(it) | Step::Rethrown(it) => {
            Some(Named::Method(it))
        }
        Step::Initializer(it) | Step::Glue(it) => Some(Named::Class(it)),
        Step::Raised(Origin::NativeRow(it) | Origin::Signature(it)) => Some(Named::Method(it)),
        Step::Raised(_) => None,
        Step::Open(it) => why_named(it),
    }
}

/// Appends the reason why an answer is open.
pub(crate) fn why(out: &mut Vec<u8>, it: Why) {
    reason(out, why_word(it), why_named(it));
}

/// Returns the class or method named by the reason why an answer is open; `None` if the reason names none.
pub(crate) fn why_name(it: Why) -> Option<String> {
    why_named(it).map(|it| match it {
        Named::Class(it) => it.to_string(),
        Named::Method(it) => it.to_string(),
    })
}

/// Returns the class or method named by the reason why an answer is open; `None` if the reason names none.
pub(crate) fn why_named(it: Why) -> Option<Named> {
    match it {
        Why::Outside(it) | Why::Overridable(it) | Why::Initializer(it) => Some(Named::Class(it)),
        Why::SignaturePolymorphic | Why::Function | Why::Reflection => None,
        Why::Bootstrap(it)
        | Why::Native(it)
        | Why::MissingCode(it)
        | Why::Ghost(it)
        | Why::LetsOut(it)
        | Why::Caught(it) => Some(Named::Method(it)),
    }
}

/// Returns the word by which JSON output names the reason why an answer is open.
pub(crate) fn why_word(it: Why) -> &'static str {
    match it {
        Why::Outside(_) => "outside",
        Why::Overridable(_) => "overridable",
        Why::Initializer(_) => "initializer",
        Why::SignaturePolymorphic => "signature-polymorphic",
        Why::Bootstrap(_) => "unknown-bootstrap",
        Why::Native(_) => "native",
        Why::MissingCode(_) => "missing-code",
        Why::Ghost(_) => "ghost",
        Why::LetsOut(_) => "callee",
        Why::Caught(_) => "caught",
        Why::Function => "function",
        Why::Reflection => "reflection",
    }
}

/// The class or method that a reason names.
pub(crate) enum Named {
    Class(Text),
    Method(MethodName),
}

fn reason(out: &mut Vec<u8>, word: &str, name: Option<Named>) {
    out.push(b'{');
    key(out, "reason");
    string(out, word);
    key(out, "name");
    optional_name(out, name);
    out.push(b'}');
}

/// Appends the name of a class or method, or `null`.
pub(crate) fn optional_name(out: &mut Vec<u8>, name: Option<Named>) {
    match name {
        Some(Named::Class(it)) => texts(out, &[it]),
        Some(Named::Method(it)) => method_name(out, it),
        None => out.extend(b"null"),
    }
}
