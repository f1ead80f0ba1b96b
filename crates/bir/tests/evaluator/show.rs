//! Values in the format of the harness's trace class (`test-data/harness/ajar/T.java`).

use std::fmt::Write;

use classfile::mutf8;
use classfile::names::ClassName;

use crate::value::{Heap, ObjId, Payload, Value};

/// Formats a value like `T.show` and `T.t`.
pub(crate) fn show(heap: &Heap, it: Value) -> String {
    match it {
        Value::Int(it) => format!("I {it}"),
        Value::Long(it) => format!("J {it}"),
        Value::Float(it) => format!("F {}", float(it)),
        Value::Double(it) => format!("D {}", double(it)),
        Value::Ref(it) => {
            let mut out = String::new();
            reference(heap, &mut out, it, 0);
            out
        }
    }
}

fn float(it: f32) -> String {
    format!("{:08x}", if it.is_nan() { 0x7fc0_0000 } else { it.to_bits() })
}

fn double(it: f64) -> String {
    format!("{:016x}", if it.is_nan() { 0x7ff8_0000_0000_0000 } else { it.to_bits() })
}

/// Returns the name of a class as from `Class.getName`, but with slashes.
pub(crate) fn name(class: ClassName) -> String {
    let text = char::decode_utf16(mutf8::units(class.bytes())).collect::<Result<String, _>>();
    text.unwrap_or_else(|_| class.to_string())
}

/// Returns `Class.getSimpleName`, assuming the names that compilers give to nested and local classes.
pub(crate) fn simple_name(class: ClassName) -> String {
    let name = name(class);
    let last = name.rsplit(['/', '$']).next().unwrap_or_default();
    last.trim_start_matches(|it: char| it.is_ascii_digit()).to_owned()
}

pub(crate) fn quote(units: &[u16]) -> String {
    let mut out = "\"".to_owned();
    for &unit in units {
        match u8::try_from(unit) {
            Ok(b'\n') => out.push_str("\\n"),
            Ok(it @ (b'"' | b'\\')) => out.extend(['\\', char::from(it)]),
            Ok(it @ b' '..=b'~') => out.push(char::from(it)),
            _ => write!(out, "\\u{unit:04x}").expect("strings take all"),
        }
    }
    out.push('"');
    out
}

fn reference(heap: &Heap, out: &mut String, it: Option<ObjId>, depth: u32) {
    let Some(id) = it else { return out.push_str("null") };
    let object = heap.get(id);
    match &object.payload {
        Payload::Text(it) if object.class.bytes() == b"java/lang/String" => out.push_str(&quote(it)),
        Payload::Class(it) => write!(out, "class {}", name(*it)).expect("strings take all"),
        Payload::Array(it) => {
            out.push_str(&name(object.class));
            if depth == 3 {
                return out.push_str("{...}");
            }
            out.push('{');
            for (i, &it) in it.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                match it {
                    Value::Int(it) => write!(out, "{it}").expect("strings take all"),
                    Value::Long(it) => write!(out, "{it}").expect("strings take all"),
                    Value::Float(it) => out.push_str(&float(it)),
                    Value::Double(it) => out.push_str(&double(it)),
                    Value::Ref(it) => reference(heap, out, it, depth + 1),
                }
            }
            out.push('}');
        }
        _ => write!(out, "L {}", name(object.class)).expect("strings take all"),
    }
}
