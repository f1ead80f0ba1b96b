//! Text for XML and for Graphviz, which allow neither control characters nor lone surrogates.
//!
//! Characters that are not allowed are shown as `\uXXXX`, as in all output for people. A backslash in a name is
//! doubled, so that different names remain different.

use std::fmt::{self, Write};

/// Appends `text` with XML markup characters escaped, for element content, attributes, and Graphviz's HTML-like
/// labels.
pub(crate) fn xml(out: &mut Vec<u8>, text: impl fmt::Display) {
    // Writing to a vector cannot fail.
    let _ = write!(Xml(out), "{text}");
}

/// Appends `text` as a quoted Graphviz id.
pub(crate) fn dot_id(out: &mut Vec<u8>, text: impl fmt::Display) {
    out.push(b'"');
    let _ = write!(DotId(out), "{text}");
    out.push(b'"');
}

struct Xml<'a>(&'a mut Vec<u8>);
struct DotId<'a>(&'a mut Vec<u8>);

/// Returns whether the character is allowed in XML 1.0 (production 2, `Char`) and visible in an editor.
fn is_legal(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Returns whether the text needs no escapes in XML and Graphviz, which is the usual case.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|it| (b' '..0x7f).contains(&it) && !matches!(it, b'&' | b'<' | b'>' | b'"' | b'\\'))
}

fn push(out: &mut Vec<u8>, c: char) {
    if is_legal(c) {
        out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        let _ = std::io::Write::write_fmt(out, format_args!("\\u{:04x}", c as u32));
    }
}

impl Write for Xml<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if is_plain(text) {
            self.0.extend(text.as_bytes());
            return Ok(());
        }
        for c in text.chars() {
            match c {
                '&' => self.0.extend(b"&amp;"),
                '<' => self.0.extend(b"&lt;"),
                '>' => self.0.extend(b"&gt;"),
                '"' => self.0.extend(b"&quot;"),
                c => push(self.0, c),
            }
        }
        Ok(())
    }
}

impl Write for DotId<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if is_plain(text) {
            self.0.extend(text.as_bytes());
            return Ok(());
        }
        for c in text.chars() {
            match c {
                '"' => self.0.extend(b"\\\""),
                // In a label, Graphviz interprets `\N` etc. as escapes.
                '\\' => self.0.extend(b"\\\\"),
                c => push(self.0, c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ide::Text;

    use super::*;

    #[test]
    fn characters_not_allowed_in_xml_are_escaped() {
        let mut out = Vec::new();
        xml(&mut out, Text(b"<a&\"\xed\xa0\x80\n\xef\xbf\xbf"));
        assert_eq!(String::from_utf8(out).unwrap(), r"&lt;a&amp;&quot;\ud800\n\uffff");
    }

    #[test]
    fn graphviz_ids_are_quoted() {
        let mut out = Vec::new();
        dot_id(&mut out, Text(b"a\"b\\"));
        assert_eq!(String::from_utf8(out).unwrap(), r#""a\"b\\\\""#);
    }
}
