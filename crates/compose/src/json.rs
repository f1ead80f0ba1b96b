//! A streaming JSON reader, which reads one value at a time, and documents of ajar one method at a time.
//!
//! Strings keep the form in which [`export::json`] writes them. So equal names are equal bytes, whichever program
//! wrote the file, including names with lone surrogates.

use std::fmt;
use std::io::{self, BufRead};

use export::json::unit;

/// A JSON value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// The text of the number, as it is written in the document.
    Number(Box<[u8]>),
    /// The text between the quotes, with its escapes.
    String(Box<[u8]>),
    Array(Vec<Json>),
    Object(Vec<(Box<[u8]>, Json)>),
}

/// The reason why a document cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    /// The file cannot be read.
    Io(io::Error),
    /// The content at this byte offset is invalid.
    Bad(u64, String),
}

impl From<io::Error> for Fault {
    fn from(it: io::Error) -> Self {
        Fault::Io(it)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Io(it) => it.fmt(f),
            Fault::Bad(at, what) => write!(f, "{what} (at byte {at})"),
        }
    }
}

type Result<T> = std::result::Result<T, Fault>;

/// The maximum nesting depth of values; documents of ajar have six levels.
const MAX_DEPTH: usize = 32;

impl Json {
    /// Returns the member with this key, if the value is an object that has one.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|it| *it.0 == *key.as_bytes()).map(|it| &it.1),
            _ => None,
        }
    }

    /// Returns the items of an array; empty for other values.
    pub(super) fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the text between the quotes of a string.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match self {
            Json::String(it) => Some(it),
            _ => None,
        }
    }

    /// Returns the value as a node id; `None` if it is not a number that fits one.
    pub(super) fn number(&self) -> Option<u32> {
        match self {
            Json::Number(it) => std::str::from_utf8(it).ok()?.parse().ok(),
            _ => None,
        }
    }

    /// Returns `text` as a JSON string; the text must not need escapes.
    pub(super) fn plain(text: &str) -> Json {
        Json::String(text.as_bytes().into())
    }

    /// Appends the value, without white space.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend(b"null"),
            Json::Bool(it) => out.extend(if *it { &b"true"[..] } else { b"false" }),
            Json::Number(it) => out.extend(&**it),
            Json::String(it) => quoted(out, it),
            Json::Array(items) => {
                out.push(b'[');
                for (i, it) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    it.write(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    quoted(out, key);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }
}

fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    out.extend(text);
    out.push(b'"');
}

/// The receiver of the parts of a document while the document is read.
pub(super) trait Sink {
    /// Receives the members of the document that precede the methods.
    fn header(&mut self, members: Json) -> std::result::Result<(), String>;
    /// Receives one method.
    fn method(&mut self, method: Json) -> std::result::Result<(), String>;
    /// Receives the members of the document that follow the methods.
    fn end(&mut self, members: Json) -> std::result::Result<(), String>;
}

/// Reads a document, which is a single object or JSON lines.
pub(super) fn read(input: impl BufRead, sink: &mut dyn Sink) -> Result<()> {
    let mut reader = Reader { input, at: 0 };
    let mut members = Vec::new();
    let mut streamed = false;
    reader.expect(b'{', "the document is not a JSON object")?;
    let mut first = true;
    while let Some(key) = reader.key(&mut first)? {
        if &*key == b"methods" && !streamed && reader.after_blanks()? == Some(b'[') {
            streamed = true;
            let at = reader.at;
            sink.header(Json::Object(std::mem::take(&mut members))).map_err(|it| Fault::Bad(at, it))?;
            reader.expect(b'[', "the list of methods is missing")?;
            let mut first = true;
            while reader.more(&mut first, b']')? {
                let at = reader.at;
                let method = reader.value(0)?;
                sink.method(method).map_err(|it| Fault::Bad(at, it))?;
            }
        } else {
            let value = reader.value(0)?;
            members.push((key, value));
        }
    }
    let members = Json::Object(members);
    if streamed {
        sink.end(members).map_err(|it| Fault::Bad(reader.at, it))?;
    } else {
        reader.lines(members, sink)?;
    }
    match reader.after_blanks()? {
        None => Ok(()),
        Some(_) => Err(reader.bad("there is unexpected content after the end of the document")),
    }
}

struct Reader<R> {
    input: R,
    at: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads the lines of a document in JSON lines. `first` is the first line, which was read already.
    fn lines(&mut self, first: Json, sink: &mut dyn Sink) -> Result<()> {
        if record(&first) != Some(b"header") {
            return Err(self.bad("the document has no methods"));
        }
        sink.header(without_record(first)).map_err(|it| Fault::Bad(0, it))?;
        loop {
            if self.after_blanks()?.is_none() {
                return Err(self.bad("the document ends without the line that marks its end"));
            }
            let at = self.at;
            let line = self.value(0)?;
            let done = match record(&line) {
                Some(b"method") => sink.method(without_record(line)),
                Some(b"end") => {
                    return sink.end(without_record(line)).map_err(|it| Fault::Bad(at, it));
                }
                _ => Err("the line is neither a method nor the end of the document".to_owned()),
            };
            done.map_err(|it| Fault::Bad(at, it))?;
        }
    }

    fn bad(&self, what: &str) -> Fault {
        Fault::Bad(self.at, what.to_owned())
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn skip(&mut self) {
        self.input.consume(1);
        self.at += 1;
    }

    fn next(&mut self) -> Result<u8> {
        let it = self.peek()?.ok_or_else(|| self.bad("the document ends unexpectedly"))?;
        self.skip();
        Ok(it)
    }

    /// Skips white space, and returns the next byte without consuming it; `None` at the end of the input.
    fn after_blanks(&mut self) -> Result<Option<u8>> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek()? {
            self.skip();
        }
        self.peek()
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<()> {
        if self.after_blanks()? != Some(byte) {
            return Err(self.bad(what));
        }
        self.skip();
        Ok(())
    }

    /// Consumes the comma before another item, or the closing bracket; returns whether there is another item.
    fn more(&mut self, first: &mut bool, end: u8) -> Result<bool> {
        let is_first = std::mem::replace(first, false);
        match self.after_blanks()? {
            Some(it) if it == end => {
                self.skip();
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.skip();
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            _ => Err(self.bad("a comma or a closing bracket is missing")),
        }
    }

    /// Reads the next key of an object and its colon; returns `None` at the end of the object.
    fn key(&mut self, first: &mut bool) -> Result<Option<Box<[u8]>>> {
        if !self.more(first, b'}')? {
            return Ok(None);
        }
        self.expect(b'"', "a key is missing")?;
        let key = self.string()?;
        self.expect(b':', "a colon is missing")?;
        Ok(Some(key))
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        if depth > MAX_DEPTH {
            return Err(self.bad("values are nested too deeply"));
        }
        match self.after_blanks()? {
            Some(b'{') => {
                self.skip();
                let (mut members, mut first) = (Vec::new(), true);
                while let Some(key) = self.key(&mut first)? {
                    members.push((key, self.value(depth + 1)?));
                }
                Ok(Json::Object(members))
            }
            Some(b'[') => {
                self.skip();
                let (mut items, mut first) = (Vec::new(), true);
                while self.more(&mut first, b']')? {
                    items.push(self.value(depth + 1)?);
                }
                Ok(Json::Array(items))
            }
            Some(b'"') => {
                self.skip();
                Ok(Json::String(self.string()?))
            }
            _ => self.word(),
        }
    }

    /// Reads a number, `null`, `true` or `false`.
    fn word(&mut self) -> Result<Json> {
        let mut word = Vec::new();
        while let Some(it @ (b'0'..=b'9' | b'a'..=b'z' | b'-' | b'+' | b'.' | b'E')) = self.peek()? {
            word.push(it);
            self.skip();
        }
        match &*word {
            b"null" => Ok(Json::Null),
            b"true" => Ok(Json::Bool(true)),
            b"false" => Ok(Json::Bool(false)),
            [b'-' | b'0'..=b'9', ..]
                if str::from_utf8(&word).is_ok_and(|it| it.parse::<f64>().is_ok_and(f64::is_finite)) =>
            {
                Ok(Json::Number(word.into()))
            }
            _ => Err(self.bad("a value is missing")),
        }
    }

    /// Reads a string up to its closing quote; returns the text in the form in which [`export::json`] writes it.
    fn string(&mut self) -> Result<Box<[u8]>> {
        let mut out = Vec::new();
        loop {
            match self.next()? {
                b'"' => return Ok(out.into()),
                b'\\' => {
                    let it = self.escaped()?;
                    unit(&mut out, it);
                }
                it @ 0x20..=0x7f => unit(&mut out, u16::from(it)),
                first @ 0xc2..=0xf4 => {
                    let mut char = vec![first];
                    while let Some(it @ 0x80..=0xbf) = self.peek()? {
                        char.push(it);
                        self.skip();
                    }
                    let text = std::str::from_utf8(&char).map_err(|_| self.bad("a string is not UTF-8"))?;
                    text.encode_utf16().for_each(|it| unit(&mut out, it));
                }
                _ => return Err(self.bad("a string contains an invalid byte")),
            }
        }
    }

    fn escaped(&mut self) -> Result<u16> {
        Ok(match self.next()? {
            it @ (b'"' | b'\\' | b'/') => u16::from(it),
            b'b' => 8,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'u' => {
                let mut acc = 0;
                for _ in 0..4 {
                    let digit = char::from(self.next()?).to_digit(16);
                    acc = acc << 4
                        | digit.ok_or_else(|| {
                            self.bad("a `\\u` escape has fewer than four hexadecimal digits")
                        })? as u16;
                }
                acc
            }
            _ => return Err(self.bad("a string contains an invalid escape")),
        })
    }
}

fn record(it: &Json) -> Option<&[u8]> {
    it.get("record")?.text()
}

fn without_record(it: Json) -> Json {
    match it {
        Json::Object(mut members) => {
            members.retain(|it| &*it.0 != b"record");
            Json::Object(members)
        }
        it => it,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Json> {
        Reader { input: text.as_bytes(), at: 0 }.value(0)
    }

    fn again(text: &str) -> String {
        let mut out = Vec::new();
        value(text).unwrap().write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_in_the_form_of_export() {
        assert_eq!(
            again(r#" { "a" : [ 1 , -2.5e3 , true , null ] , "b" : { } } "#),
            r#"{"a":[1,-2.5e3,true,null],"b":{}}"#
        );
        assert_eq!(
            again(r#""\u0041\/\t\u00e4ä\ud800😀\\\"""#),
            r#""A/\u0009\u00e4\u00e4\ud800\ud83d\ude00\\\"""#
        );
        assert_eq!(again("\"\u{7f}\""), "\"\\u007f\"");
    }

    #[test]
    fn invalid_json_is_refused_at_its_position() {
        for (text, at) in [
            ("[1 2]", 3),
            ("{\"a\" 1}", 5),
            ("\"a", 2),
            ("\"\\x\"", 3),
            ("nul", 3),
            ("\"\u{1}\"", 2),
            ("", 0),
        ] {
            match value(text) {
                Err(Fault::Bad(found, _)) => assert_eq!(found, at, "{text}"),
                it => panic!("{text}: {it:?}"),
            }
        }
        assert!(value(&"[".repeat(100_000)).is_err());
    }
}
