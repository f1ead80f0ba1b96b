//! Parser for instructions.

use crate::body::{Check, Expr, Instr, InstrId, Operands, SwitchTable, Var, instr_id};
use crate::parse::cursor::Result;
use crate::parse::expr::Exprs;
use crate::words;

/// Parses a label, and records its position in the text. Whether the label exists is known only at the end of the
/// method.
pub(super) fn label(p: &mut Exprs<'_>, labels: &mut Vec<(u32, usize)>) -> Result<InstrId> {
    p.cur.blanks();
    let at = p.cur.pos();
    let number = p.cur.number("a label")?;
    labels.push((number, at));
    Ok(instr_id(number))
}

/// Parses an instruction of a body with `dynamics` dynamic constants and call sites.
pub(super) fn instr(p: &mut Exprs<'_>, dynamics: u32, labels: &mut Vec<(u32, usize)>) -> Result<Instr> {
    let word = p.cur.peek_word();
    if word.starts_with("invoke") {
        return call(p, None, dynamics);
    }
    let start = p.cur.pos();
    p.cur.eat_word(word);
    Ok(match word {
        "mayinit" => Instr::MayInit(p.cur.class()?),
        "assert" => Instr::Assert(check(p)?),
        "monitorenter" => Instr::MonitorEnter(p.expr()?),
        "monitorexit" => Instr::MonitorExit(p.expr()?),
        "throw" => Instr::Throw(p.expr()?),
        "return" if p.cur.at_line_end() => Instr::Return(None),
        "return" => Instr::Return(Some(p.expr()?)),
        "goto" => Instr::Goto(label(p, labels)?),
        "if" => branch(p, labels)?,
        "switch" => {
            let e = p.expr()?;
            Instr::Switch(e, table(p, labels)?)
        }
        "ret" => {
            let e = p.expr()?;
            Instr::Ret(e, table(p, labels)?)
        }
        "catch" => Instr::Catch(p.var()?),
        _ => {
            p.cur.set_pos(start);
            assignment(p, dynamics)?
        }
    })
}

fn branch(p: &mut Exprs<'_>, labels: &mut Vec<(u32, usize)>) -> Result<Instr> {
    p.cur.expect("(")?;
    let left = p.operand()?;
    let Some(&(cond, _)) = words::COND.iter().find(|it| p.cur.eat(it.1)) else {
        return p.cur.error("a comparison (== != < >= > <=)");
    };
    let right = p.operand()?;
    p.cur.expect(")")?;
    p.cur.expect_word("goto")?;
    Ok(Instr::If(cond, left, right, label(p, labels)?))
}

fn table(p: &mut Exprs<'_>, labels: &mut Vec<(u32, usize)>) -> Result<u32> {
    p.cur.expect("{")?;
    let (mut cases, mut default) = (Vec::new(), None);
    while !p.cur.eat("}") {
        if default.is_some() {
            return p.cur.error("`}`");
        }
        if !cases.is_empty() {
            p.cur.expect(",")?;
        }
        if p.cur.eat_word("default") {
            p.cur.expect(":")?;
            default = Some(label(p, labels)?);
        } else {
            p.cur.blanks();
            let at = p.cur.pos();
            let Ok(key) = p.cur.decimal().parse() else { return p.cur.error_at(at, "an int or `default`") };
            p.cur.expect(":")?;
            cases.push((key, label(p, labels)?));
        }
    }
    Ok(p.builder.switch(SwitchTable { cases: cases.into(), default }))
}

fn args(p: &mut Exprs<'_>) -> Result<Operands> {
    p.cur.expect("(")?;
    let start = p.cur.pos();
    let mut list = Vec::new();
    while !p.cur.eat(")") {
        if !list.is_empty() {
            p.cur.expect(",")?;
        }
        list.push(p.expr()?);
    }
    match p.builder.operands(&list) {
        Ok(it) => Ok(it),
        Err(_) => p.cur.error_at(start, "fewer operands"),
    }
}

fn site(p: &mut Exprs<'_>, dynamics: u32) -> Result<u32> {
    p.cur.expect("#")?;
    let at = p.cur.pos();
    let site = p.cur.number("the number of a `dynamic` line")?;
    if site < dynamics {
        Ok(site)
    } else {
        p.cur.error_at(at, "the number of a `dynamic` line of this method")
    }
}

fn call(p: &mut Exprs<'_>, var: Option<Var>, dynamics: u32) -> Result<Instr> {
    if p.cur.eat_word("invokedynamic") {
        let site = site(p, dynamics)?;
        return Ok(Instr::CallDynamic(var, site, args(p)?));
    }
    let word = p.cur.peek_word();
    // Of two words with a common prefix, the longer one is taken.
    let fits =
        |it: &&(_, &'static str)| it.1.split('-').next() == Some(word) && p.cur.rest().starts_with(it.1);
    let Some(&(kind, word)) = words::CALL.iter().filter(fits).max_by_key(|it| it.1.len()) else {
        return p.cur.error("a call");
    };
    p.cur.set_pos(p.cur.pos() + word.len());
    let method = p.cur.method_ref()?;
    Ok(Instr::Call(var, kind, method, args(p)?))
}

fn check(p: &mut Exprs<'_>) -> Result<Check> {
    let word = p.cur.peek_word();
    let start = p.cur.pos();
    p.cur.eat_word(word);
    Ok(match word {
        "notnull" => Check::NotNull(p.expr()?),
        "notnegative" => Check::NotNegative(p.expr()?),
        "bound" => match p.operand_and_index()? {
            (array, Some(index)) => Check::Bound(array, index),
            (_, None) => return p.cur.error("an index in brackets"),
        },
        "store" => {
            let array = p.operand()?;
            p.cur.expect("<-")?;
            Check::Store(array, p.operand()?)
        }
        "cast" => {
            let class = p.cur.class()?;
            Check::Cast(class, p.expr()?)
        }
        _ if word.starts_with("notzero") => {
            p.cur.set_pos(start + "notzero".len());
            Check::NotZero(p.kind(), p.expr()?)
        }
        _ => {
            p.cur.set_pos(start);
            return p.cur.error("a check (notnull, bound, store, notzero, notnegative, cast)");
        }
    })
}

/// Parses an instruction that begins with the variable, field or element to which it assigns.
fn assignment(p: &mut Exprs<'_>, dynamics: u32) -> Result<Instr> {
    p.cur.blanks();
    let at = p.cur.pos();
    let target = match p.operand_and_index()? {
        (it, None) => p.builder.get(it),
        _ => return p.cur.error("`:` and an element type"),
    };
    p.cur.expect(":=")?;
    match target {
        Expr::Var(var) => value(p, var, dynamics),
        Expr::Field(base, field) => Ok(Instr::SetField(base, field, p.expr()?)),
        Expr::Static(field) => Ok(Instr::SetStatic(field, p.expr()?)),
        Expr::Elem(elem, array, index) => Ok(Instr::SetElem(elem, array, index, p.expr()?)),
        _ => p.cur.error_at(at, "a variable, field or element"),
    }
}

fn value(p: &mut Exprs<'_>, var: Var, dynamics: u32) -> Result<Instr> {
    let word = p.cur.peek_word();
    if word.starts_with("invoke") {
        return call(p, Some(var), dynamics);
    }
    let start = p.cur.pos();
    p.cur.eat_word(word);
    Ok(match word {
        "new" => {
            let method = p.cur.method_ref()?;
            Instr::New(var, method, args(p)?)
        }
        "alloc" => Instr::Alloc(var, p.cur.class()?),
        "newarray" => {
            let class = p.cur.class()?;
            p.cur.expect("(")?;
            let length = p.expr()?;
            p.cur.expect(")")?;
            Instr::NewArray(var, class, length)
        }
        "multinewarray" => {
            let class = p.cur.class()?;
            Instr::MultiNewArray(var, class, args(p)?)
        }
        "constdynamic" => Instr::ConstDynamic(var, site(p, dynamics)?),
        _ => {
            p.cur.set_pos(start);
            Instr::Assign(var, p.expr()?)
        }
    })
}
