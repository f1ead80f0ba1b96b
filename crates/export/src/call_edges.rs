//! A call graph as a list of edges: one line for each target of each call, with fields separated by tabs.
//!
//! | field | content |
//! |---|---|
//! | caller | the calling method, `p/C.m(I)V` |
//! | pc | the position of the call in the bytecode; empty if it is not known |
//! | callee | the called method, or `?` for methods that were not read |
//! | kind | the kind of the call, as in JSON |
//! | note | `possible` for a target that depends on missing classes; for the callee `?` the cause: the reason and, after a colon, the class or method that it names; otherwise empty |
//!
//! Names are escaped like the contents of JSON strings. Lines that begin with `#` hold the header and, at the end, the
//! parts that were left out. A call that certainly fails has no edge.

use ide::answer::MethodAnswer;
use ide::{Call, MethodName};

use crate::frame::{Header, Trailer, header_lines, trailer_lines};
use crate::json::{method_name, number, string};
use crate::json_whole::{optional_name, why_named, why_word};

/// Returns the lines of the header without their `# `.
pub fn settings_lines(header: &Header) -> Vec<String> {
    header_lines(header)
}

/// Appends the lines of the header.
pub(crate) fn begin(out: &mut Vec<u8>, header: &Header) {
    comments(out, &header_lines(header));
}

/// Appends the parts that were left out.
pub(crate) fn end(out: &mut Vec<u8>, trailer: &Trailer) {
    comments(out, &trailer_lines(trailer));
}

fn comments(out: &mut Vec<u8>, lines: &[String]) {
    for it in lines {
        out.extend(b"# ");
        unquoted(out, |out| string(out, it));
        out.push(b'\n');
    }
}

/// Appends the edges of a method.
pub(crate) fn edges(out: &mut Vec<u8>, caller: MethodName, answer: Option<&MethodAnswer>, calls: &[Call]) {
    for call in calls {
        let pc = answer.zip(call.instr).and_then(|(answer, instr)| answer.positions.pc(instr));
        let mut edge = |callee: &dyn Fn(&mut Vec<u8>), note: &dyn Fn(&mut Vec<u8>)| {
            let start = out.len();
            unquoted(out, |out| method_name(out, caller));
            if out.get(start) == Some(&b'#') {
                out.splice(start..=start, b"\\u0023".iter().copied());
            }
            out.push(b'\t');
            if let Some(pc) = pc {
                number(out, pc);
            }
            out.push(b'\t');
            callee(out);
            out.push(b'\t');
            out.extend(call.kind.name().as_bytes());
            out.push(b'\t');
            note(out);
            out.push(b'\n');
        };
        for &it in &call.targets {
            edge(&|out| unquoted(out, |out| method_name(out, it)), &|_| ());
        }
        for &it in &call.possible {
            edge(&|out| unquoted(out, |out| method_name(out, it)), &|out| out.extend(b"possible"));
        }
        if let Some(why) = call.open {
            let note = |out: &mut Vec<u8>| {
                out.extend(why_word(why).as_bytes());
                if let Some(it) = why_named(why) {
                    out.push(b':');
                    unquoted(out, |out| optional_name(out, Some(it)));
                }
            };
            edge(&|out| out.push(b'?'), &note);
        }
    }
}

/// Appends the JSON string that `write` appends, without its quotes.
fn unquoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    out.pop();
    if out.len() > start {
        out.remove(start);
    }
}
