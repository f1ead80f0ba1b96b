//! Tests that proved assertions hold: random bodies are run along random paths, with exceptions thrown anywhere, and
//! no proved assertion may fail. The interpreter computes values and uses no facts.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use bir::body::{Body, Check, Expr, ExprId, Instr, InstrId, Place, Var, instr_id, ordinal};
use bir::ops::{BinaryOp, Cond, UnOp};
use bir::parse::parse_body;
use bir::print::print;
use classfile::descriptor::Kind;
use classfile::names::ClassName;
use flow::constants::ClassCode;
use flow::facts::{MethodFacts, Wanted, method_facts};
use flow::initializers::OwnClass;
use flow::summary::summary;
use test_utils::rng::Rng;
use test_utils::tier;

/// The code of a class about which nothing is known.
fn no_code() -> &'static ClassCode {
    static NONE: LazyLock<ClassCode> = LazyLock::new(ClassCode::default);
    &NONE
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Value {
    Int(i32),
    Long(i64),
    Null,
    Object(ClassName),
    Array(ClassName, i32),
}

/// The values of variables, by place. The second half of a long has no entry.
#[derive(Default)]
struct Frame {
    places: HashMap<Place, (Kind, Value)>,
}

/// The error of a path that cannot continue: it read a variable that was never written, which real code does not do.
struct Stuck;

impl Frame {
    fn set(&mut self, var: Var, value: Value) {
        if let Place::Local(slot) = var.place() {
            if let Some(before) = slot.checked_sub(1)
                && self.places.get(&Place::Local(before)).is_some_and(|it| it.0.words() == 2)
            {
                self.places.remove(&Place::Local(before));
            }
            if var.kind().words() == 2 {
                self.places.remove(&Place::Local(slot + 1));
            }
        }
        self.places.insert(var.place(), (var.kind(), value));
    }

    fn get(&self, var: Var) -> Result<Value, Stuck> {
        match self.places.get(&var.place()) {
            Some(&(kind, value)) if kind == var.kind() => Ok(value),
            _ => Err(Stuck),
        }
    }
}

struct Run<'a> {
    body: &'a Body,
    facts: &'a MethodFacts,
    rng: &'a mut Rng,
    frame: Frame,
    proved_passed: usize,
}

fn class(name: &str) -> ClassName {
    ClassName::new(name.as_bytes())
}

fn is_a(value: Value, of: ClassName) -> bool {
    match value {
        Value::Null => true,
        Value::Object(it) | Value::Array(it, _) => it == of || of == class("java/lang/Object"),
        Value::Int(_) | Value::Long(_) => false,
    }
}

impl Run<'_> {
    fn any_reference(&mut self) -> Value {
        match self.rng.below(5) {
            0 | 1 => Value::Null,
            2 => Value::Object(class("p/A")),
            3 => Value::Object(class("p/B")),
            _ => {
                let ty = ["[I", "[Ljava/lang/Object;", "[Lp/A;"][self.rng.below(3) as usize];
                Value::Array(class(ty), self.rng.below(4) as i32)
            }
        }
    }

    fn eval(&mut self, e: ExprId) -> Result<Value, Stuck> {
        Ok(match self.body.exprs[e] {
            Expr::Int(it) => Value::Int(it),
            Expr::Long(it) => Value::Long(u64::from(it) as i64),
            Expr::Null => Value::Null,
            Expr::Str(_) => Value::Object(class("java/lang/String")),
            Expr::Var(var) => self.frame.get(var)?,
            // Real code has an assertion before a cast; where there is none, a failing cast ends the path.
            Expr::Cast(of, e) => {
                let value = self.eval(e)?;
                if !is_a(value, of) {
                    return Err(Stuck);
                }
                value
            }
            Expr::InstanceOf(of, e) => {
                let value = self.eval(e)?;
                Value::Int(i32::from(value != Value::Null && is_a(value, of)))
            }
            Expr::Unary(UnOp::Length, e) => match self.eval(e)? {
                Value::Array(_, len) => Value::Int(len),
                _ => return Err(Stuck),
            },
            Expr::Binary(BinaryOp::Compare(_), a, b) => match (self.eval(a)?, self.eval(b)?) {
                (Value::Long(a), Value::Long(b)) => Value::Int(a.cmp(&b) as i32),
                _ => return Err(Stuck),
            },
            Expr::Static(_) => self.any_reference(),
            _ => return Err(Stuck),
        })
    }

    fn int(&mut self, e: ExprId) -> Result<i64, Stuck> {
        match self.eval(e)? {
            Value::Int(it) => Ok(it.into()),
            Value::Long(it) => Ok(it),
            _ => Err(Stuck),
        }
    }

    fn holds(&mut self, check: Check) -> Result<bool, Stuck> {
        Ok(match check {
            Check::NotNull(e) => self.eval(e)? != Value::Null,
            Check::NotZero(_, e) => self.int(e)? != 0,
            Check::NotNegative(e) => self.int(e)? >= 0,
            Check::Cast(of, e) => is_a(self.eval(e)?, of),
            Check::Bound(array, index) => match (self.eval(array)?, self.int(index)?) {
                (Value::Array(_, len), it) => (0..i64::from(len)).contains(&it),
                _ => return Err(Stuck),
            },
            Check::Store(array, value) => match (self.eval(array)?, self.eval(value)?) {
                (Value::Array(of, _), value) if of == class("[Ljava/lang/Object;") => {
                    is_a(value, class("java/lang/Object"))
                }
                (Value::Array(of, _), value) if of == class("[Lp/A;") => is_a(value, class("p/A")),
                _ => return Err(Stuck),
            },
        })
    }

    fn compare(&mut self, cond: Cond, a: ExprId, b: ExprId) -> Result<bool, Stuck> {
        let (a, b) = (self.eval(a)?, self.eval(b)?);
        Ok(match (cond, a, b) {
            (Cond::Eq, a, b) => a == b,
            (Cond::Ne, a, b) => a != b,
            (Cond::Lt, Value::Int(a), Value::Int(b)) => a < b,
            (Cond::Ge, Value::Int(a), Value::Int(b)) => a >= b,
            (Cond::Gt, Value::Int(a), Value::Int(b)) => a > b,
            (Cond::Le, Value::Int(a), Value::Int(b)) => a <= b,
            _ => return Err(Stuck),
        })
    }

    /// Returns the handler that an exception raised at the instruction enters, if any.
    fn handler(&self, at: InstrId) -> Option<InstrId> {
        self.body.rows.iter().find(|it| it.covers(at)).map(|it| it.handler)
    }

    /// Executes one instruction and returns the next; `None` at the end of the path.
    fn step(&mut self, at: InstrId) -> Result<Option<InstrId>, Stuck> {
        let next = instr_id(ordinal(at) + 1);
        // VM errors are raised anywhere, before the effect of the instruction.
        if self.rng.below(30) == 0 {
            return Ok(self.handler(at));
        }
        match self.body.instrs[at] {
            Instr::Assign(var, e) => {
                let value = self.eval(e)?;
                self.frame.set(var, value);
            }
            Instr::Assert(check) => {
                let holds = self.holds(check)?;
                if let Some(proof) = self.facts.proof(at) {
                    let text = print(self.body);
                    assert!(holds, "{at:?} is proved by {proof:?} but failed:\n{text}");
                    self.proved_passed += 1;
                }
                if !holds {
                    return Ok(self.handler(at));
                }
            }
            Instr::New(var, constructor, _) => self.frame.set(var, Value::Object(constructor.class())),
            Instr::NewArray(var, of, len) => {
                let len = self.int(len)?;
                if len < 0 {
                    return Err(Stuck);
                }
                self.frame.set(var, Value::Array(of, len as i32));
            }
            Instr::Call(Some(var), ..) => {
                let value = match var.kind() {
                    Kind::Int => Value::Int(self.rng.below(7) as i32 - 3),
                    Kind::Long => Value::Long(self.rng.below(3) as i64 - 1),
                    _ => self.any_reference(),
                };
                self.frame.set(var, value);
            }
            Instr::Catch(var) => self.frame.set(var, Value::Object(class("p/E"))),
            Instr::Goto(to) => return Ok(Some(to)),
            Instr::If(cond, a, b, to) => {
                return Ok(Some(if self.compare(cond, a, b)? { to } else { next }));
            }
            Instr::Return(_) => return Ok(None),
            _ => return Err(Stuck),
        }
        Ok(Some(next))
    }
}

/// Returns the text of a random body with few variables, so that they interact often.
fn random_text(rng: &mut Rng) -> String {
    let n = 6 + rng.below(24);
    let handlers = rng.below(3);
    let mut text = "method p/C.m(Ljava/lang/Object;)V locals 7 {\n".to_owned();
    let mut temps = 0;
    for at in 0..n {
        let reference = |rng: &mut Rng| match rng.below(8) {
            0 | 1 if temps > 0 => format!("$a{}", rng.below(temps)),
            2 => "%a0".to_owned(),
            3 => "a0".to_owned(),
            it => format!("a{}", 1 + it % 3),
        };
        let (x, y) = (reference(rng), reference(rng));
        let int = ["i5", "i6", "i5", "i6", "i3"][rng.below(5) as usize];
        let number = rng.below(5) as i32 - 1;
        let to = rng.below(n);
        let of = ["p/A", "p/B", "java/lang/Object", "[I"][rng.below(4) as usize];
        let array = ["[I", "[Ljava/lang/Object;", "[Lp/A;"][rng.below(3) as usize];
        // A temporary has one assignment.
        let mut target = |rng: &mut Rng| {
            if rng.below(3) == 0 {
                temps += 1;
                format!("$a{}", temps - 1)
            } else {
                ["a0", "a1", "a2", "a2", "a3", "%a0"][rng.below(6) as usize].to_owned()
            }
        };
        let cond = ["==", "!=", "<", ">=", ">", "<="][rng.below(6) as usize];
        let line = match rng.below(28) {
            0..4 => format!("{} := {x}", target(rng)),
            4 => format!("{} := null", target(rng)),
            5 => format!("{} := \"s\"", target(rng)),
            6 => format!("{} := new {of}.<init>()V ()", if of == "p/A" { target(rng) } else { "a2".into() })
                .replace("new [I", "new p/B"),
            7 | 8 => format!("{} := newarray {array} ({})", target(rng), number.max(0)),
            9 => format!("{} := invokestatic p/D.r()Ljava/lang/Object; ()", target(rng)),
            10 => format!("{} := ::p/D.f:Ljava/lang/Object;", target(rng)),
            11 => format!("{int} := {number}"),
            12 => format!("{int} := invokestatic p/D.i()I ()"),
            13 => format!("l{} := {number}L", rng.below(4)),
            14 => format!("{int} := length({x})"),
            15..18 => format!("assert notnull {x}"),
            18 => format!("assert notzero {int}"),
            19 => format!("assert notnegative {int}"),
            20 => format!(
                "assert bound {x}[{}]",
                if rng.below(2) == 0 { int.into() } else { number.to_string() }
            ),
            21 => format!("assert store {x} <- {y}"),
            22 => format!("assert cast {of} {x}"),
            23 => format!("if ({x} {} null) goto {to}", ["==", "!="][rng.below(2) as usize]),
            24 => format!("if ({int} {cond} {number}) goto {to}"),
            25 => format!("if (instanceof {of} ({x}) != 0) goto {to}"),
            26 => format!("goto {to}"),
            _ => format!("{} := cast {of} ({x})", target(rng)),
        };
        let _ = writeln!(text, "  {at}: {line}");
    }
    let _ = writeln!(text, "  {n}: return");
    for i in 0..handlers {
        let handler = n + 1 + 2 * i;
        let var = ["a1", "%a0"][rng.below(2) as usize];
        let _ = writeln!(text, "  {handler}: catch {var}\n  {}: goto {}", handler + 1, rng.below(n));
    }
    for i in 0..handlers {
        let start = rng.below(n);
        let end = start + 1 + rng.below(n - start);
        let _ = writeln!(text, "  row {start}..{end} catch any goto {} source {i}", n + 1 + 2 * i);
    }
    text.push_str("}\n");
    text
}

fn own_class() -> OwnClass<'static> {
    OwnClass {
        name: class("p/C"),
        super_class: Some(class("java/lang/Object")),
        is_interface: false,
        static_fields: &[],
    }
}

/// Returns the ordinals of the proved assertions of a body.
fn proved(text: &str) -> Vec<u32> {
    let body = parse_body(text).unwrap_or_else(|it| panic!("{it:?}\n{text}"));
    let facts =
        method_facts(&body, &own_class(), &|| no_code(), Wanted::All, &mut flow::facts::Scratch::default());
    facts.proofs.iter().map(|it| ordinal(it.0)).collect()
}

#[test]
fn an_index_that_changed_is_not_proved() {
    let text = "method static p/C.m([II)V locals 2 {
        0: assert notnull a0
        1: assert bound a0[i1]
        2: assert bound a0[i1]
        3: i1 := i1 + 1
        4: assert bound a0[i1]
        5: return
    }\n";
    assert_eq!(proved(text), [2]);
}

#[test]
fn an_array_of_arrays_is_as_long_as_its_first_dimension() {
    let text = "method static p/C.m()V locals 0 {
        0: $a0 := multinewarray [[I (2, 5)
        1: assert bound $a0[1]
        2: assert bound $a0[4]
        3: return
    }\n";
    assert_eq!(proved(text), [1]);
}

#[test]
fn a_proved_assertion_never_fails() {
    let own = own_class();
    let mut rng = Rng::new(1);
    let (mut proved, mut passed, mut by_flow, mut settled) = (0, 0, 0, 0);
    let n = tier::rounds(4_000, 20_000);
    for _ in 0..n {
        let text = random_text(&mut rng);
        let body = parse_body(&text).unwrap_or_else(|it| panic!("{it:?}\n{text}"));
        let facts =
            method_facts(&body, &own, &|| no_code(), Wanted::All, &mut flow::facts::Scratch::default());
        proved += facts.proofs.len();
        let few =
            method_facts(&body, &own, &|| no_code(), Wanted::Summary, &mut flow::facts::Scratch::default());
        let mut scratch = flow::summary::Scratch::default();
        let summaries = [&facts, &few].map(|it| summary(&body, it, &mut scratch));
        assert_eq!(summaries[0], summaries[1], "{text}");
        settled += usize::from(few.proofs.len() < facts.proofs.len());
        by_flow += facts.proofs.iter().filter(|it| matches!(it.1, flow::discharge::Proof::Tested(_))).count();
        if facts.proofs.is_empty() {
            continue;
        }
        for _ in 0..30 {
            let mut run =
                Run { body: &body, facts: &facts, rng: &mut rng, frame: Frame::default(), proved_passed: 0 };
            run.frame.set(Var::local(0, Kind::Ref), Value::Object(class("p/C")));
            let argument = run.any_reference();
            run.frame.set(Var::local(1, Kind::Ref), argument);
            for slot in [2, 3] {
                let value = run.any_reference();
                run.frame.set(Var::local(slot, Kind::Ref), value);
            }
            for slot in [5, 6] {
                let value = Value::Int(run.rng.range(-2, 3));
                run.frame.set(Var::local(slot, Kind::Int), value);
            }
            let value = run.any_reference();
            run.frame.set(Var::new(Place::Stack(0), Kind::Ref), value);
            let mut at = instr_id(0);
            for _ in 0..200 {
                match run.step(at) {
                    Ok(Some(next)) => at = next,
                    Ok(None) | Err(Stuck) => break,
                }
            }
            passed += run.proved_passed;
        }
    }
    eprintln!("{proved} proved, {by_flow} by tests, {settled} settled, passed {passed} times");
    assert!(proved > n / 2 && by_flow > n * 3 / 20 && passed > 5 * n && settled > n / 400);
}
