//! Evaluation of each BIR instruction, as documented in `bir::body`.
//!
//! It relies on no invariant: on an operand that an assertion should have excluded (null, an index out of bounds, a
//! zero divisor, an uninitialised class, a variable without value), it aborts with a message.

use bir::body::{Body, CallKind, Check, Expr, ExprId, Instr, Operands, SwitchTable, Var, instr_id, ordinal};
use bir::ops::UnOp;
use classfile::names::{ClassName, MemberRef};

use crate::frame::Frame;
use crate::machine::{Event, Machine};
use crate::numeric;
use crate::state::{Step, Stop, abort};
use crate::value::{NULL, ObjId, Value};

const ILLEGAL_MONITOR: &[u8] = b"java/lang/IllegalMonitorStateException";

/// The continuation after an instruction.
pub(crate) enum Next {
    On,
    To(u32),
    Return(Option<Value>),
}

impl Machine<'_> {
    /// Returns the class whose initialiser a `mayinit` runs: the class itself for `new`; for static members, the
    /// class that declares the member (`bir` knows no other class). The use after the `mayinit` decides between the
    /// two.
    pub(crate) fn to_initialise(&self, body: &Body, at: u32, class: ClassName) -> ClassName {
        for number in at + 1..body.instrs.len() as u32 {
            let instr = &body.instrs[instr_id(number)];
            let mut found = None;
            body.instr_exprs(instr, |e| self.static_use(body, e, class, &mut found));
            match *instr {
                Instr::SetStatic(field, _) if field.class() == class => {
                    found = found.or(Some(self.declaring_field(field)));
                }
                Instr::Call(_, CallKind::Static | CallKind::StaticInterface, method, _)
                    if method.class() == class =>
                {
                    found = found.or(Some(self.world().method(method).map_or(class, |it| it.0.class())));
                }
                _ => {}
            }
            if let Some(it) = found {
                return it;
            }
            let stops = match *instr {
                Instr::New(_, method, _) => method.class() == class,
                Instr::Alloc(_, it) | Instr::MayInit(it) => it == class,
                Instr::If(..) => true,
                _ => !instr.falls_through(),
            };
            if stops {
                break;
            }
        }
        class
    }

    pub(crate) fn static_use(&self, body: &Body, e: ExprId, class: ClassName, found: &mut Option<ClassName>) {
        let expr = body.exprs[e];
        if let Expr::Static(field) = expr
            && field.class() == class
            && found.is_none()
        {
            *found = Some(self.declaring_field(field));
        }
        expr.operands(|e| self.static_use(body, e, class, found));
    }

    pub(crate) fn declaring_field(&self, field: MemberRef) -> ClassName {
        let it = field.get();
        self.world().field(it.class, it.name, it.descriptor).map_or(it.class, |it| it.0.class())
    }

    /// Runs a body; returns its result and the monitors still held.
    pub(crate) fn bir(&mut self, body: &Body, args: Vec<Value>) -> (Step<Option<Value>>, Vec<ObjId>) {
        let mut frame = Frame::default();
        let mut slot = 0;
        for it in args {
            if let Err(why) = frame.store(Var::local(slot, it.kind()), it) {
                return (abort(why), Vec::new());
            }
            slot += it.kind().words();
        }
        let out = self.instructions(body, &mut frame);
        (out, frame.monitors)
    }

    fn instructions(&mut self, body: &Body, frame: &mut Frame) -> Step<Option<Value>> {
        let mut at = 0;
        // The exception on its way to a `catch`.
        let mut caught = None;
        loop {
            self.spend()?;
            if at as usize >= body.instrs.len() {
                return abort(format!("{}: control runs off the end", body.method));
            }
            let instr = &body.instrs[instr_id(at)];
            let next = match instr {
                Instr::Catch(var) => match Option::take(&mut caught) {
                    Some(id) => {
                        frame.drop_stack();
                        frame.store(*var, Value::Ref(Some(id))).map(|()| Next::On).map_err(Stop::Abort)
                    }
                    None => abort("catch without exception"),
                },
                _ => self.instr(body, frame, at, instr),
            };
            match next {
                Ok(Next::On) => at += 1,
                Ok(Next::To(to)) => at = to,
                Ok(Next::Return(it)) => return Ok(it),
                Err(Stop::Abort(why)) if why.contains("\n  in ") => return Err(Stop::Abort(why)),
                Err(Stop::Abort(why)) => {
                    let text = bir::print::instr(body, instr_id(at));
                    return abort(format!(
                        "{why}\n  in {} at {at}: {text}\n{}",
                        body.method,
                        bir::print::print(body)
                    ));
                }
                Err(Stop::Throw(id)) => {
                    let row = body.rows.iter().find(|row| {
                        row.covers(instr_id(at))
                            && row.catch_type.is_none_or(|it| self.state.is_instance(id, it))
                    });
                    let Some(row) = row else { return Err(Stop::Throw(id)) };
                    caught = Some(id);
                    at = ordinal(row.handler);
                }
            }
        }
    }

    // long match: one arm per instruction
    pub(crate) fn instr(&mut self, body: &Body, frame: &mut Frame, at: u32, instr: &Instr) -> Step<Next> {
        match *instr {
            Instr::Assign(var, e) => {
                let value = self.eval(body, frame, e)?;
                return assign(frame, var, value);
            }
            Instr::SetField(e, field, value) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else {
                    return abort("a field of null is set");
                };
                let value = self.eval(body, frame, value)?;
                self.write_field(field, id, value)?;
            }
            Instr::SetStatic(field, value) => {
                let value = self.eval(body, frame, value)?;
                self.write_static(field, value)?;
            }
            Instr::SetElem(elem, array, index, value) => {
                let array = self.eval(body, frame, array)?;
                let index = self.eval(body, frame, index)?;
                let value = self.eval(body, frame, value)?;
                self.set_element(elem, array, index, value)?;
            }
            Instr::MayInit(class) => {
                let class = self.to_initialise(body, at, class);
                self.initialise(class)?;
            }
            Instr::Assert(check) => self.check(body, frame, check)?,
            Instr::New(var, method, args) => {
                self.demand_initialised(method.class())?;
                let args = self.args(body, frame, args)?;
                let id = self.allocate(method.class())?;
                let args = [Value::Ref(Some(id))].into_iter().chain(args).collect();
                self.call(CallKind::Special, method, args, Some(body.method.class()))?;
                return assign(frame, var, Value::Ref(Some(id)));
            }
            Instr::Alloc(var, class) => {
                self.demand_initialised(class)?;
                let id = self.allocate(class)?;
                return assign(frame, var, Value::Ref(Some(id)));
            }
            Instr::NewArray(var, class, length) => {
                let length = self.eval(body, frame, length)?;
                let array = self.array(class, &[length])?;
                return assign(frame, var, array);
            }
            Instr::MultiNewArray(var, class, lengths) => {
                let lengths = self.args(body, frame, lengths)?;
                let array = self.array(class, &lengths)?;
                return assign(frame, var, array);
            }
            Instr::Call(var, kind, method, args) => {
                let args = self.args(body, frame, args)?;
                let result = self.call(kind, method, args, Some(body.method.class()))?;
                if let Some(var) = var {
                    let Some(value) = result else { return abort("a call returns nothing") };
                    return assign(frame, var, value);
                }
            }
            Instr::CallDynamic(var, site, args) => {
                let args = self.args(body, frame, args)?;
                let value = self.call_site(&body.dynamics[site as usize], args)?;
                if let (Some(var), Some(value)) = (var, value) {
                    return assign(frame, var, value);
                }
            }
            Instr::ConstDynamic(var, site) => {
                let value = self.dynamic_constant(body.method.class(), &body.dynamics[site as usize])?;
                return assign(frame, var, value);
            }
            Instr::MonitorEnter(e) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else {
                    return abort("monitorenter on null");
                };
                self.log(Event::Enter);
                self.state.heap.get_mut(id).locks += 1;
                frame.monitors.push(id);
            }
            Instr::MonitorExit(e) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else {
                    return abort("monitorexit on null");
                };
                self.log(Event::Exit);
                let Some(i) = frame.monitors.iter().rposition(|it| *it == id) else {
                    return self.raise(ILLEGAL_MONITOR);
                };
                frame.monitors.remove(i);
                self.state.heap.get_mut(id).locks -= 1;
            }
            Instr::Throw(e) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else { return abort("null is thrown") };
                return Err(Stop::Throw(id));
            }
            Instr::Return(None) => return Ok(Next::Return(None)),
            Instr::Return(Some(e)) => {
                let value = self.eval(body, frame, e)?;
                let text = body.method.descriptor().bytes();
                let ret = text.iter().position(|&b| b == b')').map_or(&b""[..], |i| &text[i + 1..]);
                return Ok(Next::Return(Some(value.narrowed(ret))));
            }
            Instr::Goto(to) => return Ok(Next::To(ordinal(to))),
            Instr::If(cond, a, b, to) => {
                let a = self.eval(body, frame, a)?;
                let b = self.eval(body, frame, b)?;
                if numeric::holds(cond, a, b).map_err(Stop::Abort)? {
                    return Ok(Next::To(ordinal(to)));
                }
            }
            Instr::Switch(e, table) | Instr::Ret(e, table) => {
                let Value::Int(key) = self.eval(body, frame, e)? else {
                    return abort("switch on a value that is not an int");
                };
                return jump(&body.switches[table as usize], key);
            }
            Instr::Catch(_) => return abort("catch without exception"),
        }
        Ok(Next::On)
    }

    pub(crate) fn args(&mut self, body: &Body, frame: &Frame, list: Operands) -> Step<Vec<Value>> {
        body.operands(list).iter().map(|&e| self.eval(body, frame, e)).collect()
    }

    pub(crate) fn check(&mut self, body: &Body, frame: &Frame, check: Check) -> Step<()> {
        let holds = match check {
            Check::NotNull(e) => matches!(self.eval(body, frame, e)?, Value::Ref(Some(_))),
            Check::Bound(array, index) => {
                let array = self.eval(body, frame, array)?;
                let index = self.eval(body, frame, index)?;
                let Value::Ref(Some(id)) = array else { return abort("bound of null") };
                let Some(elements) = self.state.heap.array(id) else {
                    return abort("bound of a value that is not an array");
                };
                matches!(index, Value::Int(it) if usize::try_from(it).is_ok_and(|it| it < elements.len()))
            }
            Check::Store(array, value) => {
                let array = self.eval(body, frame, array)?;
                let value = self.eval(body, frame, value)?;
                let Value::Ref(Some(array)) = array else { return abort("store into null") };
                self.fits(array, value)?
            }
            Check::NotZero(_, e) => !matches!(self.eval(body, frame, e)?, Value::Int(0) | Value::Long(0)),
            Check::NotNegative(e) => matches!(self.eval(body, frame, e)?, Value::Int(0..)),
            Check::Cast(class, e) => {
                let value = self.eval(body, frame, e)?;
                self.casts(class, value)?
            }
        };
        if holds { Ok(()) } else { self.raise(check.exception()) }
    }

    pub(crate) fn eval(&mut self, body: &Body, frame: &Frame, e: ExprId) -> Step<Value> {
        Ok(match body.exprs[e] {
            Expr::Int(it) => Value::Int(it),
            Expr::Long(it) => Value::Long(u64::from(it) as i64),
            Expr::Float(it) => Value::Float(f32::from_bits(it)),
            Expr::Double(it) => Value::Double(f64::from_bits(it.into())),
            Expr::Null => NULL,
            Expr::Str(it) => self.state.string(it),
            Expr::Class(it) => Value::Ref(Some(self.state.class_object(it))),
            Expr::MethodType(_) | Expr::MethodHandle(_) => return abort("method handles are not evaluated"),
            Expr::Var(var) => frame.load(var).map_err(Stop::Abort)?,
            Expr::Unary(UnOp::Length, e) => match self.eval(body, frame, e)? {
                Value::Ref(Some(id)) => match self.state.heap.array(id) {
                    Some(it) => Value::Int(it.len() as i32),
                    None => return abort("length of a value that is not an array"),
                },
                _ => return abort("length of null"),
            },
            Expr::Unary(op, e) => {
                let value = self.eval(body, frame, e)?;
                numeric::unary(op, value).map_err(Stop::Abort)?
            }
            Expr::Binary(op, a, b) => {
                let a = self.eval(body, frame, a)?;
                let b = self.eval(body, frame, b)?;
                numeric::binary(op, a, b).map_err(Stop::Abort)?
            }
            Expr::Cast(class, e) => {
                let value = self.eval(body, frame, e)?;
                if !self.casts(class, value)? {
                    return abort("a cast that fails without assertion");
                }
                value
            }
            Expr::InstanceOf(class, e) => match self.eval(body, frame, e)? {
                Value::Ref(None) => Value::Int(0),
                value => Value::Int(self.casts(class, value)?.into()),
            },
            Expr::Field(e, field) => {
                let Value::Ref(Some(id)) = self.eval(body, frame, e)? else {
                    return abort("a field of null is read");
                };
                self.read_field(field, id)?
            }
            Expr::Static(field) => self.read_static(field)?,
            Expr::Elem(elem, array, index) => {
                let array = self.eval(body, frame, array)?;
                let index = self.eval(body, frame, index)?;
                self.element(elem, array, index)?
            }
        })
    }
}

fn assign(frame: &mut Frame, var: Var, value: Value) -> Step<Next> {
    frame.store(var, value).map_err(Stop::Abort)?;
    Ok(Next::On)
}

fn jump(table: &SwitchTable, key: i32) -> Step<Next> {
    let found = table.cases.iter().find(|it| it.0 == key).map(|it| it.1).or(table.default);
    match found {
        Some(to) => Ok(Next::To(ordinal(to))),
        None => abort("ret to nowhere"),
    }
}
