//! JSON values, written directly to bytes.
//!
//! Names in class files are sequences of UTF-16 units that need not be valid Unicode. JSON can represent them
//! (`"\ud800"`), but a Rust string cannot, so strings are written from modified UTF-8. All output is ASCII.

use std::io::Write;

use ide::{MethodName, Text};

/// Appends `"key":`, preceded by a comma unless the member is the first of its object.
pub(crate) fn key(out: &mut Vec<u8>, key: &str) {
    if !matches!(out.last(), None | Some(b'{')) {
        out.push(b',');
    }
    out.push(b'"');
    out.extend(key.as_bytes());
    out.extend(b"\":");
}

/// Appends a JSON string that is the concatenation of several texts.
pub(crate) fn texts(out: &mut Vec<u8>, texts: &[Text]) {
    out.push(b'"');
    for text in texts {
        part(out, *text);
    }
    out.push(b'"');
}

/// Appends the text to a JSON string whose closing quote is not written yet.
fn part(out: &mut Vec<u8>, text: Text) {
    let plain = |b: &u8| (0x20..0x7f).contains(b) && *b != b'"' && *b != b'\\';
    if text.0.iter().all(plain) {
        out.extend(text.0);
    } else {
        text.units().for_each(|it| unit(out, it));
    }
}

/// Appends a JSON string.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    if text.bytes().all(|b| (0x20..0x7f).contains(&b) && b != b'"' && b != b'\\') {
        out.extend(text.as_bytes());
    } else {
        text.encode_utf16().for_each(|it| unit(out, it));
    }
    out.push(b'"');
}

/// Appends one UTF-16 unit to a JSON string whose closing quote is not written yet.
pub fn unit(out: &mut Vec<u8>, unit: u16) {
    match unit {
        0x22 => out.extend(b"\\\""),
        0x5c => out.extend(b"\\\\"),
        0x0a => out.extend(b"\\n"),
        0x20..=0x7e => out.push(unit as u8),
        // Writing to a vector cannot fail.
        _ => drop(write!(out, "\\u{unit:04x}")),
    }
}

/// Appends a number.
pub(crate) fn number(out: &mut Vec<u8>, number: impl Into<i64>) {
    let number = number.into();
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend(&digits[at..]);
}

/// Appends a number, or `null`.
pub(crate) fn optional_number(out: &mut Vec<u8>, it: Option<impl Into<i64>>) {
    match it {
        Some(it) => number(out, it),
        None => out.extend(b"null"),
    }
}

/// Appends the name of a method as a JSON string: `"p/C.m(I)V"`.
pub(crate) fn method_name(out: &mut Vec<u8>, it: MethodName) {
    texts(out, &[it.class, Text(b"."), it.name, it.descriptor]);
}

/// Appends `true` or `false`.
pub(crate) fn boolean(out: &mut Vec<u8>, it: bool) {
    out.extend(if it { &b"true"[..] } else { b"false" });
}

/// Appends a JSON array; `item` appends each of its items.
pub(crate) fn array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut item: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (i, it) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        item(out, it);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(f: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_that_are_not_unicode_are_preserved() {
        // A, a lone surrogate, newline, quote, and NUL, in modified UTF-8.
        let text = Text(b"A\xed\xa0\x80\n\"\xc0\x80");
        assert_eq!(written(|out| texts(out, &[text, Text(b".m")])), r#""A\ud800\n\"\u0000.m""#);
        assert_eq!(written(|out| string(out, "\u{1F600}\\")), r#""\ud83d\ude00\\""#);
    }

    #[test]
    fn numbers_have_all_their_digits() {
        for it in [0, -1, 42, i64::MIN, i64::MAX] {
            assert_eq!(written(|out| number(out, it)), it.to_string());
        }
    }

    #[test]
    fn members_are_separated_by_commas() {
        let text = written(|out| {
            out.push(b'{');
            key(out, "a");
            array(out, [1, 2], number);
            key(out, "b");
            optional_number(out, None::<i64>);
            out.push(b'}');
        });
        assert_eq!(text, r#"{"a":[1,2],"b":null}"#);
    }
}
