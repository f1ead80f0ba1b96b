//! Splits lines of the assembler text into words. This module handles quotes, escapes, comments and numbers, but no
//! directives.

use super::AsmError;
use super::pool::Text;

/// A word: its UTF-16 code units, each with a flag that says whether the unit was quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word(Vec<(u16, bool)>);

impl Word {
    /// The text of the word, with quotes removed and escapes replaced.
    pub(super) fn text(&self) -> Text {
        Text::from_units(self.0.iter().map(|it| it.0).collect())
    }

    /// The text of the word as a Rust string, for keywords, numbers and messages; unpaired surrogates are replaced.
    pub(super) fn plain(&self) -> String {
        String::from_utf16_lossy(self.text().units())
    }

    /// Whether the word is this keyword. A quoted word is never a keyword.
    pub(super) fn is(&self, keyword: &str) -> bool {
        !self.is_quoted() && self.plain() == keyword
    }

    /// Whether any part of the word was quoted.
    pub(super) fn is_quoted(&self) -> bool {
        self.0.iter().any(|it| it.1) || self.0.is_empty()
    }

    /// Splits the word at the first unquoted `mark`, with which the second part begins; `None` if there is no such
    /// mark.
    pub(super) fn split_at_first(&self, mark: u8) -> Option<(Word, Word)> {
        let at = self.0.iter().position(|it| *it == (u16::from(mark), false))?;
        let (head, tail) = self.0.split_at(at);
        Some((Word(head.to_vec()), Word(tail.to_vec())))
    }

    /// Splits the word at the last unquoted `mark`, which is in neither part; `None` if there is no such mark.
    pub(super) fn split_off_last(&self, mark: u8) -> Option<(Word, Word)> {
        let at = self.0.iter().rposition(|it| *it == (u16::from(mark), false))?;
        Some((
            Word(self.0.iter().take(at).copied().collect()),
            Word(self.0.iter().skip(at + 1).copied().collect()),
        ))
    }

    /// The word without an unquoted `mark` at its end; `None` if the word does not end with such a mark.
    pub(super) fn strip_end(&self, mark: u8) -> Option<Word> {
        match self.0.split_last() {
            Some((last, rest)) if *last == (u16::from(mark), false) => Some(Word(rest.to_vec())),
            _ => None,
        }
    }

    /// Parses the word as a decimal or hexadecimal number.
    pub(super) fn number(&self) -> Result<i64, AsmError> {
        let plain = self.plain();
        let parsed = match plain.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(|it| it as i64),
            None => plain.parse().ok(),
        };
        parsed.ok_or_else(|| AsmError::new(format!("not a number: {plain}")))
    }

    /// Parses the word as a number that fits `T`.
    pub(super) fn number_as<T: TryFrom<i64>>(&self) -> Result<T, AsmError> {
        T::try_from(self.number()?)
            .map_err(|_| AsmError::new(format!("the number {} is out of range for this place", self.plain())))
    }

    /// Parses the word as bytes, written as `0x` and pairs of hexadecimal digits.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, AsmError> {
        let plain = self.plain();
        let digits: Vec<u32> =
            plain.strip_prefix("0x").unwrap_or(&plain).chars().filter_map(|it| it.to_digit(16)).collect();
        if !plain.starts_with("0x") || digits.len() + 2 != plain.len() || !digits.len().is_multiple_of(2) {
            return Err(AsmError::new(format!("not hexadecimal bytes: {plain}")));
        }
        Ok(digits.chunks(2).map(|it| it.iter().fold(0, |acc, digit| acc * 16 + *digit as u8)).collect())
    }
}

/// Splits a line into words, and drops a comment at the end of the line.
pub(super) fn words(line: &str) -> Result<Vec<Word>, AsmError> {
    let mut out = Vec::new();
    let mut open: Option<Vec<(u16, bool)>> = None;
    let mut chars = line.chars().peekable();
    while let Some(it) = chars.next() {
        if it.is_whitespace() {
            out.extend(open.take().map(Word));
        } else if it == '/' && open.is_none() && chars.peek() == Some(&'/') {
            break;
        } else if it == '"' {
            quoted(&mut chars, open.get_or_insert_with(Vec::new))?;
        } else {
            let mut units = [0; 2];
            let word = open.get_or_insert_with(Vec::new);
            word.extend(it.encode_utf16(&mut units).iter().map(|&unit| (unit, false)));
        }
    }
    out.extend(open.take().map(Word));
    Ok(out)
}

fn quoted(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    word: &mut Vec<(u16, bool)>,
) -> Result<(), AsmError> {
    loop {
        let it = chars.next().ok_or_else(|| AsmError::new("a quoted text has no closing quote"))?;
        match it {
            '"' => return Ok(()),
            '\\' => {
                let escape =
                    chars.next().ok_or_else(|| AsmError::new("a quoted text has no closing quote"))?;
                let unit = match escape {
                    'n' => 10,
                    'r' => 13,
                    't' => 9,
                    '\\' | '"' => escape as u16,
                    'u' => {
                        let digits: String = chars.by_ref().take(4).collect();
                        u16::from_str_radix(&digits, 16).map_err(|_| {
                            AsmError::new(format!("invalid escape in a quoted text: \\u{digits}"))
                        })?
                    }
                    _ => return Err(AsmError::new(format!("invalid escape in a quoted text: \\{escape}"))),
                };
                word.push((unit, true));
            }
            _ => {
                let mut units = [0; 2];
                word.extend(it.encode_utf16(&mut units).iter().map(|&unit| (unit, true)));
            }
        }
    }
}
