//! Explanations as JSON objects: the chain of facts that leads to an exception or a call.

use ide::explain::{ExplainedCall, ExplainedException, Explanation, Fact, Spot};
use ide::silent::{CodeKind, ProofKind, Silent};
use ide::{Call, CallWord, MethodName, Origin, Step};

use crate::form::Format;
use crate::json::{array, boolean, key, method_name, number, optional_number, string, texts};
use crate::json_whole::{call_members, open_set, optional_name, part, parts, step_name, step_word, why_word};

/// Appends an explanation. Appends nothing for graph formats, which cannot represent explanations.
pub fn explanation_fragment(out: &mut Vec<u8>, format: Format, it: &Explanation) {
    if !matches!(format, Format::Json | Format::JsonLines) {
        return;
    }
    out.push(b'{');
    key(out, "record");
    match it {
        Explanation::Exception(it) => exception(out, it),
        Explanation::Call(it) => call(out, it),
        Explanation::Unreached(it) => unreached(out, *it),
        Explanation::Silent(it) => silent(out, it),
    }
    out.push(b'}');
    if format == Format::JsonLines {
        out.push(b'\n');
    }
}

fn unreached(out: &mut Vec<u8>, method: MethodName) {
    string(out, "unreached");
    key(out, "method");
    method_name(out, method);
}

fn silent(out: &mut Vec<u8>, it: &Silent) {
    string(out, "nothing");
    key(out, "method");
    method_name(out, it.method);
    key(out, "code");
    string(
        out,
        match it.code {
            CodeKind::Present => "present",
            CodeKind::Promise => "ghost",
            CodeKind::Native => "native",
            CodeKind::Abstract => "abstract",
        },
    );
    key(out, "proved");
    array(out, &it.proved, |out, &(proof, n)| {
        out.push(b'{');
        key(out, "fact");
        string(out, proof_word(proof));
        key(out, "checks");
        number(out, n as i64);
        out.push(b'}');
    });
    key(out, "caught");
    parts(out, &it.caught);
    key(out, "calls");
    array(out, &it.calls, |out, it| method_name(out, *it));
}

fn proof_word(it: ProofKind) -> &'static str {
    match it {
        ProofKind::Receiver => "receiver",
        ProofKind::Created => "created",
        ProofKind::Tested => "tested",
        ProofKind::Constant => "constant",
        ProofKind::Caught => "caught",
        ProofKind::Length => "length",
        ProofKind::Type => "type",
        ProofKind::EveryPath => "every-path",
    }
}

fn exception(out: &mut Vec<u8>, it: &ExplainedException) {
    string(out, "exception");
    spot_members(out, &it.spot);
    key(out, "what");
    match &it.what {
        Some(it) => {
            part(out, it);
            key(out, "open");
            out.extend(b"null");
        }
        None => {
            out.extend(b"null");
            key(out, "open");
            open_set(out, &it.within, &it.except);
        }
    }
    key(out, "chain");
    array(out, &it.chain, fact);
}

fn fact(out: &mut Vec<u8>, it: &Fact) {
    out.push(b'{');
    key(out, "fact");
    string(out, step_word(it.step));
    key(out, "name");
    optional_name(out, step_name(it.step));
    key(out, "by");
    match it.step {
        Step::Raised(it) => string(out, origin(it)),
        Step::Open(it) => string(out, why_word(it)),
        _ => out.extend(b"null"),
    }
    key(out, "rule");
    match rule(it.step) {
        Some(it) => string(out, it),
        None => out.extend(b"null"),
    }
    key(out, "at");
    match &it.spot {
        Some(it) => {
            out.push(b'{');
            spot_members(out, it);
            out.push(b'}');
        }
        None => out.extend(b"null"),
    }
    out.push(b'}');
}

fn spot_members(out: &mut Vec<u8>, it: &Spot) {
    key(out, "method");
    method_name(out, it.method);
    key(out, "place");
    optional_string(out, it.place.as_deref());
    key(out, "pc");
    optional_number(out, it.pc);
    key(out, "line");
    optional_number(out, it.line);
    key(out, "text");
    optional_string(out, it.text.as_deref());
}

fn optional_string(out: &mut Vec<u8>, it: Option<&str>) {
    match it {
        Some(it) => string(out, it),
        None => out.extend(b"null"),
    }
}

fn call(out: &mut Vec<u8>, it: &ExplainedCall) {
    string(out, "call");
    spot_members(out, &it.spot);
    call_members(out, &it.call);
    key(out, "rule");
    string(out, call_rule(&it.call));
    key(out, "because");
    array(out, &it.targets, |out, it| {
        out.push(b'{');
        key(out, "target");
        method_name(out, it.method);
        key(out, "possible");
        boolean(out, it.possible);
        key(out, "receivers");
        array(out, &it.receivers, |out, it| {
            out.push(b'{');
            key(out, "class");
            texts(out, &[it.class]);
            key(out, "chain");
            array(out, &it.chain, |out, it| texts(out, &[*it]));
            out.push(b'}');
        });
        out.push(b'}');
    });
}

fn origin(it: Origin) -> &'static str {
    match it {
        Origin::Instruction => "instruction",
        Origin::Linking => "linking",
        Origin::Conversion => "conversion",
        Origin::NativeRow(_) => "native-row",
        Origin::Signature(_) => "signature",
        Origin::Vm => "vm",
    }
}

/// Returns the rule that justifies a fact: a section of the JVMS, the contract of a class, or one of ajar's tables.
/// `None` for a fact that states why an answer is open.
fn rule(it: Step) -> Option<&'static str> {
    Some(match it {
        Step::Method(_) | Step::Rethrown(_) => "JVMS 2.10",
        Step::Dispatch(_) => "JVMS 5.4.6",
        Step::Initializer(_) => "JVMS 5.5",
        Step::Loading(_) => "JVMS 5.3.2",
        Step::Glue(_) | Step::Raised(Origin::Conversion) => "LambdaMetafactory",
        Step::Raised(Origin::Instruction) => "JVMS 6.5",
        Step::Raised(Origin::Linking) => "JVMS 5.4",
        Step::Raised(Origin::NativeRow(_)) => "table of native methods",
        Step::Raised(Origin::Signature(_)) => "throws clause",
        Step::Raised(Origin::Vm) => "JVMS 6.3",
        Step::Open(_) => return None,
    })
}

/// Returns the rule that determines the targets of a call.
fn call_rule(it: &Call) -> &'static str {
    match it.kind {
        // A load without a call instruction.
        CallWord::Load if it.declared.is_none() => "JVMS 5.3.2",
        CallWord::Virtual | CallWord::Interface => "JVMS 5.4.6",
        CallWord::Special => "JVMS 6.5.invokespecial",
        CallWord::Static => "JVMS 6.5.invokestatic",
        CallWord::Dynamic => "JVMS 6.5.invokedynamic",
        CallWord::Clinit => "JVMS 5.5",
        CallWord::Bootstrap => "JVMS 5.4.3.6",
        CallWord::Native => "table of native methods",
        CallWord::Thread | CallWord::Callback | CallWord::Privileged | CallWord::Load => {
            "tables of native methods and of what the JDK calls back"
        }
        CallWord::Reflect => "java.lang.reflect",
        CallWord::Serialization => "Java Object Serialization Specification",
        CallWord::Finalizer => "JLS 12.6",
        CallWord::Unseen => "none: its code is not there",
    }
}
