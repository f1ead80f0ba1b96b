//! Printing of numbers, names and quoted text.

use std::fmt::{self, Write};

use classfile::mutf8;
use classfile::names::{ClassName, Descriptor, FieldRef, MethodRef, Name};

use crate::words;

pub(crate) fn write_float(out: &mut dyn Write, bits: u32) -> fmt::Result {
    let value = f32::from_bits(bits);
    if value.is_finite() {
        write!(out, "{value:?}f")
    } else if value.is_infinite() {
        out.write_str(if value > 0.0 { "Infinityf" } else { "-Infinityf" })
    } else if bits == CANONICAL_NAN_F {
        out.write_str("NaNf")
    } else {
        write!(out, "floatbits({bits:#010x})")
    }
}

/// The bits of `Float.NaN`, printed as `NaNf`.
pub(crate) const CANONICAL_NAN_F: u32 = 0x7fc0_0000;
/// The bits of `Double.NaN`, printed as `NaNd`.
pub(crate) const CANONICAL_NAN_D: u64 = 0x7ff8_0000_0000_0000;

pub(crate) fn write_double(out: &mut dyn Write, bits: u64) -> fmt::Result {
    let value = f64::from_bits(bits);
    if value.is_finite() {
        write!(out, "{value:?}d")
    } else if value.is_infinite() {
        out.write_str(if value > 0.0 { "Infinityd" } else { "-Infinityd" })
    } else if bits == CANONICAL_NAN_D {
        out.write_str("NaNd")
    } else {
        write!(out, "doublebits({bits:#018x})")
    }
}

/// Writes `p/C.m(I)V`, each part quoted on its own where needed.
pub(crate) fn write_method(out: &mut dyn Write, method: MethodRef) -> fmt::Result {
    let it = method.get();
    write_class(out, it.class)?;
    out.write_char('.')?;
    write_name(out, it.name)?;
    // Nothing but the parenthesis separates the descriptor from the name.
    let fits = it.descriptor.bytes().first() == Some(&b'(');
    if fits { write_descriptor(out, it.descriptor) } else { write_quoted(out, it.descriptor.0) }
}

/// Writes `p/C.f:I`, each part quoted on its own where needed.
pub(crate) fn write_field(out: &mut dyn Write, field: FieldRef) -> fmt::Result {
    let it = field.get();
    write_class(out, it.class)?;
    out.write_char('.')?;
    write_name(out, it.name)?;
    out.write_char(':')?;
    let fits = it.descriptor.bytes().first() != Some(&b'(');
    if fits { write_descriptor(out, it.descriptor) } else { write_quoted(out, it.descriptor.0) }
}

/// Writes a class or array type, quoted where needed.
pub(crate) fn write_class(out: &mut dyn Write, it: ClassName) -> fmt::Result {
    write_bare_or_quoted(out, it.0, words::is_bare(it.bytes(), words::in_class))
}

pub(crate) fn write_name(out: &mut dyn Write, it: Name) -> fmt::Result {
    write_bare_or_quoted(out, it, words::is_bare(it.bytes(), words::in_name))
}

pub(crate) fn write_descriptor(out: &mut dyn Write, it: Descriptor) -> fmt::Result {
    let text = it.bytes();
    let bare = match text.strip_prefix(b"(").map(|it| it.splitn(2, |&b| b == b')').collect::<Vec<_>>()) {
        Some(parts) => match parts[..] {
            [params, ret] => {
                (params.is_empty() || words::is_bare(params, words::in_class))
                    && words::is_bare(ret, words::in_class)
            }
            _ => false,
        },
        None => words::is_bare(text, words::in_class),
    };
    write_bare_or_quoted(out, it.0, bare)
}

fn write_bare_or_quoted(out: &mut dyn Write, it: Name, bare: bool) -> fmt::Result {
    if bare {
        out.write_str(std::str::from_utf8(it.bytes()).unwrap_or_default())
    } else {
        write_quoted(out, it)
    }
}

pub(crate) fn write_quoted(out: &mut dyn Write, it: Name) -> fmt::Result {
    let bytes = it.bytes();
    out.write_char('"')?;
    if mutf8::encode(mutf8::units(bytes)) == bytes {
        for c in char::decode_utf16(mutf8::units(bytes)) {
            match c {
                Ok(c) => write_char(out, c)?,
                Err(e) => write!(out, "\\u{:04x}", e.unpaired_surrogate())?,
            }
        }
    } else {
        // An overlong encoding denotes the same text by other bytes, and is a different name.
        for &b in bytes {
            if b.is_ascii() { write_char(out, char::from(b))? } else { write!(out, "\\x{b:02x}")? }
        }
    }
    out.write_char('"')
}

fn write_char(out: &mut dyn Write, c: char) -> fmt::Result {
    match c {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\t' => out.write_str("\\t"),
        '\r' => out.write_str("\\r"),
        '\'' => out.write_char('\''),
        // Rust's debug form escapes characters that are not printable or not visible.
        _ if c.escape_debug().len() == 1 => out.write_char(c),
        _ => {
            let mut buf = [0; 2];
            c.encode_utf16(&mut buf).iter().try_for_each(|u| write!(out, "\\u{u:04x}"))
        }
    }
}
