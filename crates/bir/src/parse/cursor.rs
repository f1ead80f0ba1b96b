//! A position in a text, and the lexical elements that are independent of BIR: words, numbers, names, strings.

use classfile::mutf8;
use classfile::names::{ClassName, Descriptor, FieldRef, MemberRef, MethodRef, Name};

use crate::parse::error::ParseError;
use crate::words;

/// The result of a parser step.
pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// A position in a text that is being parsed.
pub(super) struct Cursor<'t> {
    text: &'t str,
    pos: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { text, pos: 0 }
    }

    pub(super) fn pos(&self) -> usize {
        self.pos
    }

    pub(super) fn set_pos(&mut self, pos: usize) {
        self.pos = pos;
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    pub(super) fn error<T>(&self, expected: impl Into<String>) -> Result<T> {
        self.error_at(self.pos, expected)
    }

    pub(super) fn error_at<T>(&self, at: usize, expected: impl Into<String>) -> Result<T> {
        Err(ParseError::new(self.text, at, expected))
    }

    /// Skips blanks and a comment, but not the end of the line.
    pub(super) fn blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r')) {
            self.pos += 1;
        }
        if self.rest().starts_with("//") {
            self.pos += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Skips blanks, comments and ends of lines.
    pub(super) fn lines(&mut self) {
        self.blanks();
        while self.byte() == Some(b'\n') {
            self.pos += 1;
            self.blanks();
        }
    }

    /// Skips blanks and a comment; returns whether the line, the text or the method (at `}`) ends there.
    pub(super) fn at_line_end(&mut self) -> bool {
        self.blanks();
        matches!(self.byte(), None | Some(b'\n' | b'}'))
    }

    /// Skips blanks, and consumes `symbol` if that comes next. Returns whether `symbol` was consumed.
    pub(super) fn eat(&mut self, symbol: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(symbol);
        if found {
            self.pos += symbol.len();
        }
        found
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.eat(symbol) { Ok(()) } else { self.error(format!("`{symbol}`")) }
    }

    /// Skips blanks, and returns the letters and digits that come next. They are not consumed.
    pub(super) fn peek_word(&mut self) -> &'t str {
        self.blanks();
        self.word_here()
    }

    /// Returns the letters and digits at the position, without skipping blanks. They are not consumed.
    pub(super) fn word_here(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.bytes().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Skips blanks, and consumes `word` if that comes next as a whole word. Returns whether `word` was consumed.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.pos += word.len();
        }
        found
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { self.error(format!("`{word}`")) }
    }

    /// Parses an unsigned number; `what` describes the expected number in the error message.
    pub(super) fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.peek_word();
        let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        match word.parse() {
            Ok(it) if digits => {
                self.pos += word.len();
                Ok(it)
            }
            _ => self.error(what),
        }
    }

    /// Parses a hexadecimal number `0x…` of at most `max`.
    pub(super) fn hex(&mut self, max: u64) -> Result<u64> {
        let word = self.peek_word();
        let digits = word.strip_prefix("0x").filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|it| u64::from_str_radix(it, 16).ok()) {
            Some(it) if it <= max => {
                self.pos += word.len();
                Ok(it)
            }
            _ => self.error(format!("a number from 0x0 to {max:#x}")),
        }
    }

    /// Consumes a decimal number with optional sign, fraction and exponent, and returns its text.
    pub(super) fn decimal(&mut self) -> &'t str {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| {
            bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
        };
        let mut end = usize::from(bytes.first() == Some(&b'-'));
        end += digits(end);
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if bytes.get(end) == Some(&b'e') {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
            if digits(end + 1 + sign) > 0 {
                end += 1 + sign + digits(end + 1 + sign);
            }
        }
        self.pos += end;
        &rest[..end]
    }

    pub(super) fn at_quote(&mut self) -> bool {
        self.blanks();
        self.byte() == Some(b'"')
    }

    /// Parses a string in quotes.
    pub(super) fn string(&mut self) -> Result<Name> {
        self.expect("\"")?;
        let start = self.pos;
        let mut out = Vec::new();
        loop {
            let at = self.pos;
            let Some(c) = self.rest().chars().next() else { return self.error("`\"`") };
            self.pos += c.len_utf8();
            match c {
                '"' => break,
                '\n' => return self.error_at(at, "`\"` before the end of the line"),
                '\\' => self.escape(&mut out)?,
                _ => out.extend(mutf8::encode(c.encode_utf16(&mut [0; 2]).iter().copied())),
            }
        }
        if !mutf8::is_valid(&out) {
            return self.error_at(start, "bytes that are modified UTF-8");
        }
        Ok(Name::new(&out))
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let at = self.pos;
        let Some(c) = self.byte() else { return self.error("an escape") };
        // The byte is skipped only if it is ASCII.
        match c {
            b'"' | b'\\' => out.push(c),
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'u' | b'x' => {
                let n = if c == b'u' { 4 } else { 2 };
                let digits = self.text.get(at + 1..at + 1 + n).unwrap_or_default();
                let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
                let Some(unit) = u16::from_str_radix(digits, 16).ok().filter(|_| is_hex) else {
                    return self.error_at(at + 1, format!("{n} hexadecimal digits"));
                };
                if c == b'u' {
                    out.extend(mutf8::encode([unit].into_iter()));
                } else {
                    out.push(unit as u8);
                }
                self.pos += n;
            }
            _ => return self.error("one of the escapes \\\" \\\\ \\n \\t \\r \\uXXXX \\xXX"),
        }
        self.pos += 1;
        Ok(())
    }

    /// Consumes unquoted characters up to the first that is not safe, or up to `->` or a comment.
    fn bare(&mut self, is_safe: fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let ends =
            |i: usize| !is_safe(bytes[i]) || bytes[i..].starts_with(b"->") || bytes[i..].starts_with(b"//");
        let end = (0..bytes.len()).find(|&i| ends(i)).unwrap_or(bytes.len());
        self.pos += end;
        &rest[..end]
    }

    fn name_of(&mut self, what: &str, is_safe: fn(u8) -> bool) -> Result<Name> {
        if self.byte() == Some(b'"') {
            return self.string();
        }
        match self.bare(is_safe) {
            "" => self.error(what),
            it => Ok(Name::new(it.as_bytes())),
        }
    }

    pub(super) fn class(&mut self) -> Result<ClassName> {
        self.blanks();
        self.name_of("a class", words::in_class).map(ClassName)
    }

    pub(super) fn name(&mut self) -> Result<Name> {
        self.name_of("a name", words::in_name)
    }

    /// Parses the descriptor of a method or field. A quoted descriptor may be any text.
    pub(super) fn descriptor(&mut self) -> Result<Descriptor> {
        let start = self.pos;
        if self.byte() == Some(b'(') {
            self.pos += 1;
            self.bare(words::in_class);
            self.expect(")")?;
            if self.bare(words::in_class).is_empty() {
                return self.error("a result type");
            }
            return Ok(Descriptor::new(&self.text.as_bytes()[start..self.pos]));
        }
        self.name_of("a descriptor", words::in_class).map(Descriptor)
    }

    fn class_and_name(&mut self) -> Result<(ClassName, Name)> {
        let class = self.class()?;
        if !self.rest().starts_with('.') {
            return self.error("`.` and a name");
        }
        self.pos += 1;
        Ok((class, self.name()?))
    }

    pub(super) fn method_ref(&mut self) -> Result<MethodRef> {
        let (class, name) = self.class_and_name()?;
        if !matches!(self.byte(), Some(b'(' | b'"')) {
            return self.error("a method descriptor");
        }
        Ok(MemberRef::new(class, name, self.descriptor()?))
    }

    pub(super) fn field_ref(&mut self) -> Result<FieldRef> {
        let (class, name) = self.class_and_name()?;
        if !self.rest().starts_with(':') {
            return self.error("`:` and a descriptor");
        }
        self.pos += 1;
        if self.byte() == Some(b'(') {
            return self.error("a field descriptor");
        }
        Ok(MemberRef::new(class, name, self.descriptor()?))
    }
}
