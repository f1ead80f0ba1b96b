//! Printer for BIR text, which [`crate::parse`] reads back: `parse(print(b)) == b`.
//!
//! There is one line per instruction. Blanks separate words, and `//` starts a comment up to the end of its line.
//!
//! ```text
//! text     = { method }
//! method   = "method" { FLAG | HEX } methodref "locals" NUM [ "unverified" ] "{" NL { line NL } "}"
//! line     = "dynamic" NUM "=" dynamic                      numbered from 0, before the instructions
//!          | NUM ":" instr                                  numbered from 0; the number is the label
//!          | "row" NUM ".." NUM "catch" ( class | "any" ) "goto" NUM "source" NUM
//!          | "unreachable" NUM ".." NUM                     ordinals of bytecode instructions
//! instr    = operand ":=" expr                              variable, field, static field or element
//!          | var ":=" "new" methodref args | var ":=" "alloc" class
//!          | var ":=" "newarray" class "(" expr ")" | var ":=" "multinewarray" class args
//!          | [ var ":=" ] CALL methodref args | [ var ":=" ] "invokedynamic" "#" NUM args
//!          | var ":=" "constdynamic" "#" NUM
//!          | "mayinit" class | "assert" check | "monitorenter" expr | "monitorexit" expr
//!          | "throw" expr | "return" [ expr ] | "goto" NUM
//!          | "if" "(" operand COND operand ")" "goto" NUM
//!          | "switch" expr table | "ret" expr table | "catch" var
//! check    = "notnull" expr | "bound" operand "[" expr "]" | "store" operand "<-" operand
//!          | "notzero" [KIND] expr | "notnegative" expr | "cast" class expr
//! table    = "{" [ case { "," case } ] "}"      case = ( INT | "default" ) ":" NUM
//! args     = "(" [ expr { "," expr } ] ")"
//! expr     = operand [ ( ARITH [KIND] | COMPARE ) operand ]
//! operand  = primary { "->" fieldref | "[" expr "]" ":" ELEM }
//! primary  = "(" expr ")" | var | "::" fieldref | constant
//!          | "neg" [KIND] "(" expr ")" | CONV "(" expr ")" | "length" "(" expr ")"
//!          | "cast" class "(" expr ")" | "instanceof" class "(" expr ")"
//! constant = INT | INT "L" | REAL "f" | REAL "d" | [ "-" ] "Infinity" ( "f" | "d" ) | "NaN" ( "f" | "d" )
//!          | "floatbits" "(" HEX ")" | "doublebits" "(" HEX ")" | "null" | STRING | "class" class
//!          | "methodtype" descriptor | "handle" handle | "dynamic" "(" dynamic ")"   (last: arguments only)
//! dynamic  = name ( descriptor | ":" descriptor ) "by" handle "[" [ constant { "," constant } ] "]"
//! handle   = KINDWORD ( fieldref | methodref ) [ "itf" ]
//! var      = LETTER NUM | "%" LETTER NUM | "$" LETTER NUM     local, stack, temporary; LETTER of i l f d a
//! ```
//! `methodref` is `class.name(I)V`, `fieldref` is `class.name:I`, without blanks. `FLAG`, `CALL`, `COND`, `ARITH`,
//! `COMPARE`, `CONV` and `KIND` are the tables of `words.rs`, `ELEM` is [`crate::ops::Elem::word`], `KINDWORD` is
//! [`classfile::bootstrap::HandleKind::word`]. `KIND` directly follows its word and is empty for ints.
//!
//! Names, classes and descriptors are unquoted if they consist of `A-Z a-z 0-9 _ $ < > -` (classes and descriptors
//! also of `/ ; [`), contain neither `->` nor `//`, do not end with a dash and do not start with a slash. Others
//! are quoted like strings, with the escapes `\"`, `\\`, `\n`, `\t`, `\r`, `\uXXXX` for one UTF-16 unit, and `\xXX`
//! for one byte of a name that is not the shortest modified UTF-8 of its text. A class named `any` is quoted in
//! rows.

pub(crate) mod atoms;

use std::fmt::{self, Write};

use classfile::bootstrap::{Dynamic, HandleKind, Loadable, MethodHandle};
use classfile::flags::Flags;
use classfile::names::ClassName;

use crate::body::{Body, Check, Expr, ExprId, Instr, InstrId, Operands, ordinal};
use crate::ops::{BinaryOp, UnOp};
use crate::print::atoms::{
    write_class, write_descriptor, write_double, write_field, write_float, write_method, write_name,
    write_quoted,
};
use crate::words::{self, word};

/// A function that appends the text of the comment after an instruction to the string; no comment is written if the
/// string stays empty.
pub type Comment<'a> = &'a mut dyn FnMut(InstrId, &mut String);

/// Returns the body as text, without comments.
pub fn print(body: &Body) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, body, None);
    out
}

/// Writes the body as text, line by line. `comment` gives the comment for each instruction; `None` for no comments.
pub fn write(out: &mut dyn Write, body: &Body, mut comment: Option<Comment<'_>>) -> fmt::Result {
    header(out, body)?;
    for (i, dynamic) in body.dynamics.iter().enumerate() {
        write!(out, "  dynamic {i} = ")?;
        write_dynamic(out, dynamic)?;
        out.write_char('\n')?;
    }
    let width = decimals(body.instrs.len().saturating_sub(1));
    let (mut line, mut note) = (String::new(), String::new());
    for (id, instr) in body.instrs.iter() {
        line.clear();
        write!(line, "  {:width$}: ", ordinal(id))?;
        write_instr(&mut line, body, instr)?;
        if let Some(comment) = &mut comment {
            note.clear();
            comment(id, &mut note);
            write_note(&mut line, &note)?;
        }
        line.push('\n');
        out.write_str(&line)?;
    }
    for row in &body.rows {
        write!(out, "  row {}..{} catch ", ordinal(row.start), row.end)?;
        match row.catch_type {
            Some(it) if it.bytes() == b"any" => out.write_str("\"any\"")?,
            Some(it) => write_class(out, it)?,
            None => out.write_str("any")?,
        }
        writeln!(out, " goto {} source {}", ordinal(row.handler), row.source)?;
    }
    for (start, end) in &body.unreachable {
        writeln!(out, "  unreachable {start}..{end}")?;
    }
    out.write_str("}\n")
}

/// Returns one instruction as text.
pub fn instr(body: &Body, id: InstrId) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_instr(&mut out, body, &body.instrs[id]);
    out
}

/// Returns one expression as text.
pub fn expr(body: &Body, id: ExprId) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_expr(&mut out, body, id);
    out
}

fn decimals(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Appends the comment to the line. All comments begin in the same column, except after an instruction that is too
/// long for that.
fn write_note(line: &mut String, note: &str) -> fmt::Result {
    const COLUMN: usize = 48;
    if note.is_empty() {
        return Ok(());
    }
    let pad = COLUMN.saturating_sub(line.chars().count()).max(2);
    write!(line, "{:pad$}// ", "")?;
    for c in note.chars() {
        line.push(if c.is_control() { ' ' } else { c });
    }
    Ok(())
}

fn header(out: &mut dyn Write, body: &Body) -> fmt::Result {
    out.write_str("method ")?;
    let Flags(mut rest) = body.flags;
    for (flag, word) in words::FLAGS {
        if rest & flag != 0 {
            write!(out, "{word} ")?;
            rest &= !flag;
        }
    }
    if rest != 0 {
        write!(out, "{rest:#06x} ")?;
    }
    write_method(out, body.method)?;
    write!(out, " locals {}", body.locals)?;
    out.write_str(if body.unverified { " unverified {\n" } else { " {\n" })
}

/// Writes one instruction, without its ordinal.
// long match: one arm per instruction
pub fn write_instr(out: &mut dyn Write, body: &Body, instr: &Instr) -> fmt::Result {
    match *instr {
        Instr::Assign(var, e) => {
            write!(out, "{var} := ")?;
            write_expr(out, body, e)
        }
        Instr::SetField(e, field, value) => {
            write_base(out, body, e, false)?;
            out.write_str("->")?;
            write_field(out, field)?;
            out.write_str(" := ")?;
            write_expr(out, body, value)
        }
        Instr::SetStatic(field, value) => {
            out.write_str("::")?;
            write_field(out, field)?;
            out.write_str(" := ")?;
            write_expr(out, body, value)
        }
        Instr::SetElem(elem, array, index, value) => {
            write_element(out, body, array, index)?;
            write!(out, ":{} := ", elem.word())?;
            write_expr(out, body, value)
        }
        Instr::MayInit(class) => {
            out.write_str("mayinit ")?;
            write_class(out, class)
        }
        Instr::Assert(check) => write_check(out, body, check),
        Instr::New(var, method, args) => {
            write!(out, "{var} := new ")?;
            write_method(out, method)?;
            write_args(out, body, args)
        }
        Instr::Alloc(var, class) => {
            write!(out, "{var} := alloc ")?;
            write_class(out, class)
        }
        Instr::NewArray(var, class, length) => {
            write!(out, "{var} := newarray ")?;
            write_class(out, class)?;
            out.write_str(" (")?;
            write_expr(out, body, length)?;
            out.write_char(')')
        }
        Instr::MultiNewArray(var, class, lengths) => {
            write!(out, "{var} := multinewarray ")?;
            write_class(out, class)?;
            write_args(out, body, lengths)
        }
        Instr::Call(var, kind, method, args) => {
            if let Some(var) = var {
                write!(out, "{var} := ")?;
            }
            write!(out, "{} ", word(&words::CALL, kind))?;
            write_method(out, method)?;
            write_args(out, body, args)
        }
        Instr::CallDynamic(var, site, args) => {
            if let Some(var) = var {
                write!(out, "{var} := ")?;
            }
            write!(out, "invokedynamic #{site}")?;
            write_args(out, body, args)
        }
        Instr::ConstDynamic(var, site) => write!(out, "{var} := constdynamic #{site}"),
        Instr::MonitorEnter(e) => with_word(out, body, "monitorenter", e),
        Instr::MonitorExit(e) => with_word(out, body, "monitorexit", e),
        Instr::Throw(e) => with_word(out, body, "throw", e),
        Instr::Return(None) => out.write_str("return"),
        Instr::Return(Some(e)) => with_word(out, body, "return", e),
        Instr::Goto(to) => write!(out, "goto {}", ordinal(to)),
        Instr::If(cond, a, b, to) => {
            out.write_str("if (")?;
            write_operand(out, body, a)?;
            write!(out, " {} ", word(&words::COND, cond))?;
            write_operand(out, body, b)?;
            write!(out, ") goto {}", ordinal(to))
        }
        Instr::Switch(e, table) => {
            with_word(out, body, "switch", e)?;
            write_table(out, body, table)
        }
        Instr::Ret(e, table) => {
            with_word(out, body, "ret", e)?;
            write_table(out, body, table)
        }
        Instr::Catch(var) => write!(out, "catch {var}"),
    }
}

fn with_word(out: &mut dyn Write, body: &Body, word: &str, e: ExprId) -> fmt::Result {
    write!(out, "{word} ")?;
    write_expr(out, body, e)
}

fn write_check(out: &mut dyn Write, body: &Body, check: Check) -> fmt::Result {
    match check {
        Check::NotNull(e) => with_word(out, body, "assert notnull", e),
        Check::Bound(array, index) => {
            out.write_str("assert bound ")?;
            write_element(out, body, array, index)
        }
        Check::Store(array, value) => {
            out.write_str("assert store ")?;
            write_operand(out, body, array)?;
            out.write_str(" <- ")?;
            write_operand(out, body, value)
        }
        Check::NotZero(kind, e) => {
            write!(out, "assert notzero{} ", word(&words::KINDS, kind))?;
            write_expr(out, body, e)
        }
        Check::NotNegative(e) => with_word(out, body, "assert notnegative", e),
        Check::Cast(class, e) => {
            out.write_str("assert cast ")?;
            write_class(out, class)?;
            out.write_char(' ')?;
            write_expr(out, body, e)
        }
    }
}

fn write_table(out: &mut dyn Write, body: &Body, table: u32) -> fmt::Result {
    let Some(table) = body.switches.get(table as usize) else { return out.write_str(" {}") };
    let mut sep = " { ";
    for (key, to) in &table.cases {
        write!(out, "{sep}{key}: {}", ordinal(*to))?;
        sep = ", ";
    }
    if let Some(to) = table.default {
        write!(out, "{sep}default: {}", ordinal(to))?;
        sep = ", ";
    }
    out.write_str(if sep == ", " { " }" } else { " { }" })
}

fn write_args(out: &mut dyn Write, body: &Body, args: Operands) -> fmt::Result {
    let mut sep = " (";
    for &e in body.operands(args) {
        out.write_str(sep)?;
        write_expr(out, body, e)?;
        sep = ", ";
    }
    out.write_str(if sep == ", " { ")" } else { " ()" })
}

/// Writes an expression. The recursion depth is bounded, because the parser and lowering limit the depth of
/// expressions.
pub fn write_expr(out: &mut dyn Write, body: &Body, id: ExprId) -> fmt::Result {
    match body.exprs[id] {
        Expr::Int(it) => write!(out, "{it}"),
        Expr::Long(it) => write!(out, "{}L", u64::from(it) as i64),
        Expr::Float(bits) => write_float(out, bits),
        Expr::Double(bits) => write_double(out, bits.into()),
        Expr::Null => out.write_str("null"),
        Expr::Str(it) => write_quoted(out, it),
        Expr::Class(it) => {
            out.write_str("class ")?;
            write_class(out, it)
        }
        Expr::MethodType(it) => {
            out.write_str("methodtype ")?;
            write_descriptor(out, it)
        }
        Expr::MethodHandle(it) => {
            out.write_str("handle ")?;
            body.handles.get(it as usize).map_or(Ok(()), |it| write_handle(out, it))
        }
        Expr::Var(var) => write!(out, "{var}"),
        Expr::Unary(op, e) => {
            match op {
                UnOp::Neg(kind) => write!(out, "neg{}(", word(&words::KINDS, kind))?,
                UnOp::Conv(conv) => write!(out, "{}(", word(&words::CONV, conv))?,
                UnOp::Length => out.write_str("length(")?,
            }
            write_expr(out, body, e)?;
            out.write_char(')')
        }
        Expr::Binary(op, a, b) => {
            write_operand(out, body, a)?;
            match op {
                BinaryOp::Arith(op, kind) => {
                    write!(out, " {}{} ", word(&words::ARITH, op), word(&words::KINDS, kind))?;
                }
                BinaryOp::Compare(op) => write!(out, " {} ", word(&words::COMPARE, op))?,
            }
            write_operand(out, body, b)
        }
        Expr::Cast(class, e) => write_typed(out, body, "cast", class, e),
        Expr::InstanceOf(class, e) => write_typed(out, body, "instanceof", class, e),
        Expr::Field(e, field) => {
            write_base(out, body, e, false)?;
            out.write_str("->")?;
            write_field(out, field)
        }
        Expr::Static(field) => {
            out.write_str("::")?;
            write_field(out, field)
        }
        Expr::Elem(elem, array, index) => {
            write_element(out, body, array, index)?;
            write!(out, ":{}", elem.word())
        }
    }
}

fn write_typed(out: &mut dyn Write, body: &Body, word: &str, class: ClassName, e: ExprId) -> fmt::Result {
    write!(out, "{word} ")?;
    write_class(out, class)?;
    out.write_str(" (")?;
    write_expr(out, body, e)?;
    out.write_char(')')
}

fn write_element(out: &mut dyn Write, body: &Body, array: ExprId, index: ExprId) -> fmt::Result {
    write_base(out, body, array, true)?;
    out.write_char('[')?;
    write_expr(out, body, index)?;
    out.write_char(']')
}

fn write_parens(out: &mut dyn Write, body: &Body, id: ExprId) -> fmt::Result {
    out.write_char('(')?;
    write_expr(out, body, id)?;
    out.write_char(')')
}

fn write_operand(out: &mut dyn Write, body: &Body, id: ExprId) -> fmt::Result {
    match body.exprs[id] {
        Expr::Binary(..) => write_parens(out, body, id),
        _ => write_expr(out, body, id),
    }
}

/// Writes the base of a field access, or of an element access if `of_element`. Parentheses are written if the
/// unquoted descriptor at the end of the base would absorb the bracket after it.
fn write_base(out: &mut dyn Write, body: &Body, id: ExprId, of_element: bool) -> fmt::Result {
    match body.exprs[id] {
        Expr::Var(_) | Expr::Null | Expr::Elem(..) => write_expr(out, body, id),
        Expr::Field(..) | Expr::Static(_) if !of_element => write_expr(out, body, id),
        _ => write_parens(out, body, id),
    }
}

/// Writes a call site or dynamic constant in the form of a `dynamic` line.
pub fn write_dynamic(out: &mut dyn Write, it: &Dynamic) -> fmt::Result {
    write_name(out, it.name)?;
    if it.descriptor.bytes().first() != Some(&b'(') {
        out.write_char(':')?;
    }
    write_descriptor(out, it.descriptor)?;
    out.write_str(" by ")?;
    write_handle(out, &it.bootstrap)?;
    out.write_str(" [")?;
    for (i, arg) in it.args.iter().enumerate() {
        out.write_str(if i == 0 { "" } else { ", " })?;
        write_loadable(out, arg)?;
    }
    out.write_char(']')
}

fn write_loadable(out: &mut dyn Write, it: &Loadable) -> fmt::Result {
    match it {
        Loadable::Int(it) => write!(out, "{it}"),
        Loadable::Long(it) => write!(out, "{it}L"),
        Loadable::Float(bits) => write_float(out, *bits),
        Loadable::Double(bits) => write_double(out, *bits),
        Loadable::Str(it) => write_quoted(out, *it),
        Loadable::Class(it) => {
            out.write_str("class ")?;
            write_class(out, *it)
        }
        Loadable::MethodType(it) => {
            out.write_str("methodtype ")?;
            write_descriptor(out, *it)
        }
        Loadable::MethodHandle(it) => {
            out.write_str("handle ")?;
            write_handle(out, it)
        }
        Loadable::Dynamic(it) => {
            out.write_str("dynamic (")?;
            write_dynamic(out, it)?;
            out.write_char(')')
        }
    }
}

fn write_handle(out: &mut dyn Write, it: &MethodHandle) -> fmt::Result {
    use HandleKind::{GetField, GetStatic, PutField, PutStatic};
    write!(out, "{} ", it.kind.word())?;
    match it.kind {
        GetField | GetStatic | PutField | PutStatic => write_field(out, it.member)?,
        _ => write_method(out, it.member)?,
    }
    out.write_str(if it.interface { " itf" } else { "" })
}
