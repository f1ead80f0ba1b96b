//! Parser for BIR text, the inverse of [`crate::print`], which also documents the grammar: `parse(print(b)) == b`.
//!
//! The parser panics on no text: nesting, depth and numbers are limited. The parsed body need not be well formed in
//! other respects, see [`crate::verify`].

mod cursor;
pub mod error;
pub mod expr;
mod instr;

use classfile::flags::Flags;

use crate::body::{Body, Row, instr_id};
use crate::build::{BuildError, Header};
use crate::parse::cursor::{Cursor, Result};
use crate::parse::error::ParseError;
use crate::parse::expr::Exprs;
use crate::words::{self, meaning};

/// The maximum length of a text in bytes, so that ids fit into 32 bits.
const MAX_TEXT: usize = 1 << 30;

/// Parses all methods of the text.
///
/// # Errors
/// Fails at the first position that is not valid BIR text.
pub fn parse(text: &str) -> std::result::Result<Vec<Body>, ParseError> {
    let mut exprs = Exprs::new(Cursor::new(text));
    if text.len() > MAX_TEXT {
        return exprs.cur.error(format!("a text of at most {MAX_TEXT} bytes"));
    }
    let mut bodies = Vec::new();
    exprs.cur.lines();
    while !exprs.cur.rest().is_empty() {
        bodies.push(method(&mut exprs)?);
        exprs.cur.lines();
    }
    Ok(bodies)
}

/// Parses a text with a single method.
///
/// # Errors
/// Fails if the text is not valid BIR text, or does not contain exactly one method.
pub fn parse_body(text: &str) -> std::result::Result<Body, ParseError> {
    let mut bodies = parse(text)?;
    match (bodies.pop(), bodies.is_empty()) {
        (Some(body), true) => Ok(body),
        _ => Err(ParseError::new(text, 0, "exactly one method")),
    }
}

/// The rows, unreachable ranges and used labels of the body that is being parsed.
struct Tables {
    rows: Vec<Row>,
    unreachable: Vec<(u32, u32)>,
    /// The labels that are used, each with its position in the text.
    labels: Vec<(u32, usize)>,
}

fn method(p: &mut Exprs<'_>) -> Result<Body> {
    p.clear();
    let start = p.cur.pos();
    let mut header = header(p)?;
    let mut tables = Tables { rows: Vec::new(), unreachable: Vec::new(), labels: Vec::new() };
    let mut dynamics = 0;
    p.cur.lines();
    while !p.cur.eat("}") {
        line(p, &mut tables, &mut dynamics)?;
        if !p.cur.at_line_end() {
            return p.cur.error("the end of the line");
        }
        p.cur.lines();
    }
    if let Some(&(_, at)) = tables.labels.iter().find(|it| it.0 >= p.builder.len()) {
        return p.cur.error_at(at, "the label of an instruction of this method");
    }
    header.unreachable = tables.unreachable.into();
    match p.builder.freeze(header, tables.rows) {
        Ok(body) => Ok(body),
        Err(BuildError::TooLarge) => {
            p.cur.error_at(start, "a method with fewer expressions, operands or instructions")
        }
        Err(BuildError::Label(it)) => p.cur.error_at(start, format!("an instruction with the label {it}")),
    }
}

fn header(p: &mut Exprs<'_>) -> Result<Header> {
    p.cur.expect_word("method")?;
    let mut flags = 0;
    loop {
        let word = p.cur.peek_word();
        // A class may have the name of a flag; then the word is followed by more of its name.
        if !p.cur.rest()[word.len()..].starts_with([' ', '\t']) {
            break;
        }
        if let Some(flag) = meaning(&words::FLAGS, word) {
            p.cur.eat_word(word);
            flags |= flag;
        } else if word.starts_with("0x") {
            flags |= p.cur.hex(u16::MAX.into())? as u16;
        } else {
            break;
        }
    }
    let method = p.cur.method_ref()?;
    p.cur.expect_word("locals")?;
    let locals = p.cur.number("a number of local variables")?;
    let unverified = p.cur.eat_word("unverified");
    p.cur.expect("{")?;
    Ok(Header { method, flags: Flags(flags), locals, unreachable: Box::default(), unverified })
}

fn line(p: &mut Exprs<'_>, tables: &mut Tables, dynamics: &mut u32) -> Result<()> {
    if p.cur.eat_word("dynamic") {
        if p.cur.peek_word() != dynamics.to_string() {
            return p.cur.error(format!("the number {dynamics}"));
        }
        p.cur.number::<u32>("a number")?;
        p.cur.expect("=")?;
        let it = p.dynamic()?;
        p.builder.dynamic(it);
        *dynamics += 1;
        return Ok(());
    }
    if p.cur.eat_word("row") {
        return row(p, tables);
    }
    if p.cur.eat_word("unreachable") {
        let (start, end) = range(p)?;
        tables.unreachable.push((start, end));
        return Ok(());
    }
    let number = p.builder.len();
    if p.cur.peek_word() != number.to_string() {
        return p.cur.error(format!("`{number}:` and an instruction, `row`, `unreachable` or `}}`"));
    }
    p.cur.number::<u32>("a number")?;
    p.cur.expect(":")?;
    let instr = instr::instr(p, *dynamics, &mut tables.labels)?;
    // Labels are numbered like instructions, so each instruction has the label of its own number.
    let label = p.builder.label();
    p.builder.place(label);
    p.builder.push(instr);
    Ok(())
}

fn range(p: &mut Exprs<'_>) -> Result<(u32, u32)> {
    let start = p.cur.number("the first number of a range")?;
    p.cur.expect("..")?;
    let at = p.cur.pos();
    let end = p.cur.number("the number after the last instruction of a range")?;
    if end < start {
        p.cur.error_at(at, format!("a number that is at least {start}"))
    } else {
        Ok((start, end))
    }
}

fn row(p: &mut Exprs<'_>, tables: &mut Tables) -> Result<()> {
    let at = p.cur.pos();
    let (start, end) = range(p)?;
    if end > p.builder.len() {
        return p.cur.error_at(at, "a range of instructions that are written above this line");
    }
    p.cur.expect_word("catch")?;
    let catch_type = if p.cur.at_quote() || p.cur.peek_word() != "any" {
        Some(p.cur.class()?)
    } else {
        let rest = &p.cur.rest()[3..];
        if rest.starts_with([' ', '\t']) {
            p.cur.eat_word("any");
            None
        } else {
            Some(p.cur.class()?)
        }
    };
    p.cur.expect_word("goto")?;
    let handler = instr::label(p, &mut tables.labels)?;
    p.cur.expect_word("source")?;
    let source = p.cur.number("the number of a row")?;
    tables.rows.push(Row { start: instr_id(start), end, catch_type, handler, source });
    Ok(())
}
