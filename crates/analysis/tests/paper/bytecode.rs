//! The control flow, raised exceptions and calls of one body, computed from its bytecode with `classfile` alone.
//!
//! The types of thrown values come from a forward analysis of stack and locals, which handles each subroutine once
//! per chain of calls.

use std::collections::{BTreeMap, BTreeSet};

use classfile::code::Code;
use classfile::descriptor::{Elem, FieldType, Kind};
use classfile::insn::{BinOp, Insn, InvokeOp, Pc, StackOp, Switch};
use classfile::names::Descriptor;
use classfile::pool::{Entry, PoolIndex};

/// The origin of a value, as far as needed: its class, the `new` that made it, the handler that caught it, or the
/// `jsr` to which it returns.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Origin {
    Class(String),
    New(u32, String),
    Caught(u32),
    Site(u32),
    Unknown,
}

/// The possible origins of a word of the stack or of the locals. Null has no origin.
type Word = BTreeSet<Origin>;

#[derive(Clone, PartialEq, Default)]
struct Frame {
    stack: Vec<Word>,
    locals: BTreeMap<u16, Word>,
}

/// A row of the exception table.
pub(crate) struct Row {
    pub(crate) range: std::ops::Range<u32>,
    pub(crate) handler: u32,
    pub(crate) class: Option<String>,
}

/// A call, by the names at its instruction.
pub(crate) struct Call {
    pub(crate) is_virtual: bool,
    pub(crate) class: String,
    pub(crate) ns: String,
    /// Whether the call is a constructor call that is merged with its `new`.
    pub(crate) is_new: bool,
}

/// The effects of one body, without those of its callees.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) rows: Vec<Row>,
    pub(crate) next: BTreeMap<u32, BTreeSet<u32>>,
    pub(crate) returns: BTreeSet<u32>,
    /// The raised exceptions: the pc, the class, and whether its subclasses are raised too.
    pub(crate) raises: BTreeSet<(u32, String, bool)>,
    pub(crate) calls: BTreeMap<u32, Call>,
}

fn word(it: Origin) -> Word {
    Word::from([it])
}

fn typed(it: Option<FieldType<'_>>) -> Word {
    word(it.and_then(FieldType::class).map_or(Origin::Unknown, |it| Origin::Class(it.to_string())))
}

/// The state of the analysis of one body.
struct Walk<'a> {
    code: &'a Code<'a, 'a>,
    insns: BTreeMap<u32, (Insn, u32)>,
    frames: BTreeMap<(Vec<u32>, u32), Frame>,
    pending: Vec<(Vec<u32>, u32)>,
    /// The pcs of `new` instructions whose objects are used, other than by stack operations, before their
    /// constructors are called.
    apart: BTreeSet<u32>,
    body: Body,
}

impl Frame {
    fn put(&mut self, kind: Kind, it: Word) {
        self.stack.push(it);
        self.stack.extend((1..kind.words()).map(|_| word(Origin::Unknown)));
    }

    fn top(&self, below: usize) -> Word {
        self.stack[self.stack.len() - 1 - below].clone()
    }

    /// Applies a stack operation such as `dup`, word by word (JVMS §6.5).
    fn shuffle(&mut self, op: StackOp) {
        let (taken, order): (usize, &[usize]) = match op {
            StackOp::Pop => (1, &[]),
            StackOp::Pop2 => (2, &[]),
            StackOp::Dup => (1, &[0, 0]),
            StackOp::DupX1 => (2, &[1, 0, 1]),
            StackOp::DupX2 => (3, &[2, 0, 1, 2]),
            StackOp::Dup2 => (2, &[0, 1, 0, 1]),
            StackOp::Dup2X1 => (3, &[1, 2, 0, 1, 2]),
            StackOp::Dup2X2 => (4, &[2, 3, 0, 1, 2, 3]),
            StackOp::Swap => (2, &[1, 0]),
        };
        let words = self.stack.split_off(self.stack.len() - taken);
        self.stack.extend(order.iter().map(|&it| words[it].clone()));
    }
}

impl Walk<'_> {
    fn take(&mut self, frame: &mut Frame, words: usize) {
        for it in frame.stack.split_off(frame.stack.len() - words) {
            self.used(&it);
        }
    }

    /// Marks the word as used other than by moving it.
    fn used(&mut self, it: &Word) {
        self.apart.extend(it.iter().filter_map(|it| match it {
            Origin::New(pc, _) => Some(*pc),
            _ => None,
        }));
    }

    fn arrive(&mut self, at: (Vec<u32>, u32), frame: Frame) {
        let old = self.frames.get(&at).cloned();
        let mut joined = old.clone().unwrap_or_else(|| frame.clone());
        for (a, b) in joined.stack.iter_mut().zip(&frame.stack) {
            a.extend(b.iter().cloned());
            if a.len() > 1 {
                self.used(&a.clone());
            }
        }
        joined.locals.retain(|slot, it| match frame.locals.get(slot) {
            Some(other) => {
                it.extend(other.iter().cloned());
                true
            }
            None => false,
        });
        if old.as_ref() != Some(&joined) {
            self.frames.insert(at.clone(), joined);
            self.pending.push(at);
        }
    }

    fn raise(&mut self, pc: u32, simple: &str) {
        self.body.raises.insert((pc, format!("java/lang/{simple}"), false));
    }

    fn follow(&mut self, (chain, pc): (Vec<u32>, u32)) {
        let frame = self.frames[&(chain.clone(), pc)].clone();
        for (handler, _) in self.covering(pc) {
            let caught = Frame { stack: vec![word(Origin::Caught(handler))], locals: frame.locals.clone() };
            self.arrive((chain.clone(), handler), caught);
        }
        let (insn, after) = self.insns[&pc];
        let mut frame = frame;
        // A `new` in a subroutine is not merged with its constructor call, because another copy of the subroutine may
        // reach the object; nor is a `new` in a loop whose object stays on the stack.
        let left = frame.stack.iter().flatten().any(|it| matches!(it, Origin::New(at, _) if *at == pc));
        if matches!(insn, Insn::New(_)) && (!chain.is_empty() || left) {
            self.apart.insert(pc);
        }
        self.effect(&mut frame, pc, insn);
        let mut to = vec![(chain.clone(), after)];
        match insn {
            Insn::If(_, it) | Insn::IfInts(_, it) | Insn::IfRefs(_, it) | Insn::IfNull(_, it) => {
                to.push((chain, it.0));
            }
            Insn::Goto(it) => to = vec![(chain, it.0)],
            Insn::Jsr(it) => {
                frame.stack.push(word(Origin::Site(pc)));
                to = vec![([chain, vec![pc]].concat(), it.0)];
            }
            Insn::Ret(slot) => {
                let Some(Origin::Site(site)) = frame.locals[&slot].first().cloned() else { panic!("{pc}") };
                let depth = chain.iter().position(|&it| it == site).unwrap();
                to = vec![(chain[..depth].to_vec(), self.insns[&site].1)];
            }
            Insn::Switch(table) => {
                let it = Switch::read(self.code.bytes, Pc(pc), table).unwrap();
                to = it.cases().map(|it| it.1).chain([it.default]).map(|it| (chain.clone(), it.0)).collect();
            }
            Insn::Return(_) | Insn::Throw => to.clear(),
            _ => {}
        }
        for it in to {
            self.body.next.entry(pc).or_default().insert(it.1);
            self.arrive(it, frame.clone());
        }
    }

    fn covering(&self, pc: u32) -> Vec<(u32, Option<String>)> {
        let rows = self.body.rows.iter().filter(|it| it.range.contains(&pc));
        rows.map(|it| (it.handler, it.class.clone())).collect()
    }

    // long match: one arm per kind of instruction
    fn effect(&mut self, f: &mut Frame, pc: u32, insn: Insn) {
        let pool = self.code.pool();
        let unknown = || word(Origin::Unknown);
        let words = |it: Kind| usize::from(it.words());
        match insn {
            Insn::Nop | Insn::Iinc(..) | Insn::Goto(_) | Insn::Jsr(_) | Insn::Ret(_) => {}
            Insn::Null => f.put(Kind::Ref, Word::new()),
            Insn::Int(_) | Insn::Float(_) => f.put(Kind::Int, unknown()),
            Insn::Long(_) | Insn::Double(_) => f.put(Kind::Long, unknown()),
            Insn::Ldc(index) | Insn::Ldc2(index) => {
                let kind = if matches!(insn, Insn::Ldc2(_)) { Kind::Long } else { Kind::Ref };
                let it = match pool.entry(index).unwrap() {
                    Entry::Dynamic(_, it) => typed(pool.name_and_type(it).unwrap().1.field_type()),
                    _ => unknown(),
                };
                f.put(kind, it);
            }
            Insn::Load(kind, slot) => f.put(kind, f.locals.get(&slot).cloned().unwrap_or_default()),
            Insn::Store(kind, slot) => {
                let it = f.top(words(kind) - 1);
                self.take(f, words(kind));
                f.locals.insert(slot, it);
            }
            Insn::ArrayLoad(elem) => {
                self.raise(pc, "NullPointerException");
                self.raise(pc, "ArrayIndexOutOfBoundsException");
                let of = |it: &Origin| match it {
                    Origin::Class(it) => typed(it.strip_prefix('[').map(|it| FieldType(it.as_bytes()))),
                    _ => unknown(),
                };
                let it = if elem == Elem::Ref { f.top(1).iter().flat_map(of).collect() } else { unknown() };
                self.take(f, 2);
                f.put(elem.kind(), it);
            }
            Insn::ArrayStore(elem) => {
                self.raise(pc, "NullPointerException");
                self.raise(pc, "ArrayIndexOutOfBoundsException");
                if elem == Elem::Ref {
                    self.raise(pc, "ArrayStoreException");
                }
                self.take(f, 2 + words(elem.kind()));
            }
            Insn::Stack(op) => f.shuffle(op),
            Insn::Binary(op, kind) => {
                if matches!(op, BinOp::Div | BinOp::Rem) && matches!(kind, Kind::Int | Kind::Long) {
                    self.raise(pc, "ArithmeticException");
                }
                let shifts = matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Ushr);
                self.take(f, if shifts { 1 } else { words(kind) });
            }
            Insn::Neg(_) => {}
            Insn::Convert(it) => {
                self.take(f, words(it.kinds().0));
                f.put(it.kinds().1, unknown());
            }
            Insn::Compare(it) => {
                self.take(f, 2 * words(it.kind()));
                f.put(Kind::Int, unknown());
            }
            Insn::If(..) | Insn::IfNull(..) | Insn::Switch(_) => self.take(f, 1),
            Insn::IfInts(..) | Insn::IfRefs(..) => self.take(f, 2),
            Insn::Return(kind) => {
                self.body.returns.insert(pc);
                self.take(f, kind.map_or(0, words));
            }
            Insn::GetStatic(index) | Insn::GetField(index) => {
                let (field, kind) = pool.field_ref(index).unwrap();
                if matches!(insn, Insn::GetField(_)) {
                    self.raise(pc, "NullPointerException");
                    self.take(f, 1);
                }
                f.put(kind, typed(field.descriptor().field_type()));
            }
            Insn::PutStatic(index) => self.take(f, words(pool.field_ref(index).unwrap().1)),
            Insn::PutField(index) => {
                self.raise(pc, "NullPointerException");
                self.take(f, 1 + words(pool.field_ref(index).unwrap().1));
            }
            Insn::Invoke(op, index) => self.invoke(f, pc, op, index),
            Insn::InvokeDynamic(index) => self.result(f, pool.call_site_type(index).unwrap().0),
            Insn::New(index) => {
                f.put(Kind::Ref, word(Origin::New(pc, pool.class_name(index).unwrap().to_string())));
            }
            Insn::NewArray(_) | Insn::ANewArray(_) | Insn::MultiANewArray(..) => {
                self.raise(pc, "NegativeArraySizeException");
                let (dims, class) = match insn {
                    Insn::MultiANewArray(index, dims) => (dims, pool.class_name(index).unwrap().to_string()),
                    Insn::ANewArray(index) => {
                        let it = pool.class_name(index).unwrap().to_string();
                        (1, if it.starts_with('[') { format!("[{it}") } else { format!("[L{it};") })
                    }
                    _ => (1, "[I".to_owned()),
                };
                self.take(f, dims.into());
                f.put(Kind::Ref, word(Origin::Class(class)));
            }
            Insn::ArrayLength => {
                self.raise(pc, "NullPointerException");
                self.take(f, 1);
                f.put(Kind::Int, unknown());
            }
            Insn::Throw | Insn::MonitorEnter | Insn::MonitorExit => {
                self.raise(pc, "NullPointerException");
                self.take(f, 1);
            }
            Insn::CheckCast(index) => {
                self.raise(pc, "ClassCastException");
                let class = pool.class_name(index).unwrap().to_string();
                let cast = |it: Origin| match it {
                    Origin::Class(_) | Origin::Unknown => Origin::Class(class.clone()),
                    it => it,
                };
                let it = f.top(0).into_iter().map(cast).collect();
                self.take(f, 1);
                f.put(Kind::Ref, it);
            }
            Insn::InstanceOf(_) => {
                self.take(f, 1);
                f.put(Kind::Int, unknown());
            }
        }
    }

    /// Pops the arguments, and pushes the result.
    fn result(&mut self, f: &mut Frame, descriptor: Descriptor) {
        let it = descriptor.method_type().unwrap();
        self.take(f, it.words() as usize);
        it.ret().into_iter().for_each(|it| f.put(it.kind(), typed(Some(it))));
    }

    fn invoke(&mut self, f: &mut Frame, pc: u32, op: InvokeOp, index: PoolIndex) {
        let method = self.code.pool().method_ref(index).unwrap().0.get();
        let mut call = Call {
            is_virtual: matches!(op, InvokeOp::Virtual | InvokeOp::Interface),
            class: method.class.to_string(),
            ns: format!("{}{}", method.name, method.descriptor),
            is_new: false,
        };
        let params = method.descriptor.method_type().unwrap().words() as usize;
        let made = match f.stack.get(f.stack.len().wrapping_sub(1 + params)).and_then(|it| it.first()) {
            Some(Origin::New(at, _)) if op == InvokeOp::Special => Some(*at),
            _ => None,
        };
        if op != InvokeOp::Static {
            // The receiver is below the arguments. A constructor call on the result of `new` does not count as a use.
            let receiver = f.stack.remove(f.stack.len() - 1 - params);
            if made.is_none() {
                self.used(&receiver);
            }
        }
        self.result(f, method.descriptor);
        if let Some(at) = made {
            for it in f.stack.iter_mut().chain(f.locals.values_mut()) {
                *it = it
                    .iter()
                    .map(|it| match it {
                        Origin::New(pc, class) if *pc == at => Origin::Class(class.clone()),
                        it => it.clone(),
                    })
                    .collect();
            }
            call.is_new = !self.apart.contains(&at);
        }
        if op != InvokeOp::Static && !call.is_new {
            self.raise(pc, "NullPointerException");
        }
        self.body.calls.insert(pc, call);
    }
}

impl Body {
    /// Analyses a body of a method of this class and descriptor.
    pub(crate) fn of(code: &Code<'_, '_>, class: &str, is_static: bool, descriptor: Descriptor) -> Body {
        let mut parameters = BTreeMap::new();
        if !is_static {
            parameters.insert(0, word(Origin::Class(class.to_owned())));
        }
        let mut slot = u16::from(!is_static);
        for it in descriptor.method_type().unwrap().params() {
            parameters.insert(slot, typed(Some(it)));
            slot += it.kind().words();
        }
        let all: Vec<(u32, Insn)> =
            code.instructions().map(|it| it.unwrap()).map(|it| (it.0.0, it.1)).collect();
        let after = all.iter().skip(1).map(|it| it.0).chain([code.bytes.len() as u32]);
        let insns: BTreeMap<u32, (Insn, u32)> =
            all.iter().zip(after).map(|(it, after)| (it.0, (it.1, after))).collect();
        let row = |it: classfile::code::Handler| Row {
            range: it.start.0..it.end.0,
            handler: it.handler.0,
            class: it.catch_type.map(|it| it.to_string()),
        };
        let rows = || code.handlers().map(|it| row(it.unwrap())).collect();
        let mut walk = Walk {
            code,
            insns,
            frames: BTreeMap::new(),
            pending: Vec::new(),
            apart: BTreeSet::new(),
            body: Body::default(),
        };
        // `apart` is complete only at the end of a walk, and it decides which constructor calls are merged.
        loop {
            let known = walk.apart.clone();
            walk.body = Body { rows: rows(), ..Body::default() };
            walk.frames.clear();
            walk.arrive((Vec::new(), 0), Frame { stack: Vec::new(), locals: parameters.clone() });
            while let Some(at) = walk.pending.pop() {
                walk.follow(at);
            }
            if walk.apart == known {
                break;
            }
        }
        walk.thrown();
        walk.body
    }
}

impl Walk<'_> {
    /// Adds the exceptions that the `athrow` instructions throw.
    fn thrown(&mut self) {
        let reached: BTreeSet<u32> = self.frames.keys().map(|it| it.1).collect();
        self.body.rows.retain(|row| reached.range(row.range.clone()).next().is_some());
        let frames = std::mem::take(&mut self.frames);
        for ((_, pc), frame) in frames.iter().filter(|it| matches!(self.insns[&it.0.1].0, Insn::Throw)) {
            let anything = || "java/lang/Throwable".to_owned();
            for origin in frame.top(0) {
                let classes = match origin {
                    Origin::Class(it) | Origin::New(_, it) if !it.starts_with('[') => vec![it],
                    Origin::Caught(handler) => {
                        let rows = self.body.rows.iter().filter(|it| it.handler == handler);
                        rows.map(|it| it.class.clone().unwrap_or_else(anything)).collect()
                    }
                    _ => vec![anything()],
                };
                self.body.raises.extend(classes.into_iter().map(|it| (*pc, it, true)));
            }
        }
    }
}
