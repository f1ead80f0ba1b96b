//! Writes code with exceptions: try, finally, synchronized; handlers for random exception-table rows.

use crate::asm::{Label, Pos, Row, opcodes as op};

use super::body::Body;
use super::types::{Ref, Ty};

const CAUGHT: [&str; 14] = [
    "java/lang/ArithmeticException",
    "java/lang/NullPointerException",
    "java/lang/ArrayIndexOutOfBoundsException",
    "java/lang/IndexOutOfBoundsException",
    "java/lang/StringIndexOutOfBoundsException",
    "java/lang/ClassCastException",
    "java/lang/NegativeArraySizeException",
    "java/lang/ArrayStoreException",
    "java/lang/RuntimeException",
    "java/lang/RuntimeException",
    "java/lang/Exception",
    "java/lang/Error",
    "java/lang/Throwable",
    "java/lang/ExceptionInInitializerError",
];

const THROWABLE: Ty = Ty::Ref(Ref::Throwable);

impl Body<'_> {
    /// Picks the name of an exception class to catch; `None` catches everything.
    fn catch_class(&mut self) -> Option<String> {
        let world = self.world;
        let own: Vec<usize> = (0..world.classes.len()).filter(|&it| world.is_throwable(it)).collect();
        match self.rng.below(10) {
            0..3 => self.rng.pick(&own).map(|&it| world.name(it).to_owned()),
            3 | 4 => None,
            _ => Some(self.rng.one(CAUGHT).to_owned()),
        }
    }

    pub(super) fn try_stmt(&mut self) {
        self.trapped(|it| it.block(), |it| it.block());
    }

    /// Writes an expression in a protected range. After an exception, the handler pushes a value of type `ty` instead
    /// of the expression's value, if the stack below the expression was empty; otherwise the handler leaves the
    /// method.
    pub(super) fn try_expr(&mut self, ty: Ty) {
        if self.early {
            return self.leaf(ty);
        }
        self.trapped(|it| it.expr(ty), |it| it.expr(ty));
    }

    /// Writes code whose exceptions are caught and traced. `body` writes the code.
    pub(super) fn guarded(&mut self, body: impl FnOnce(&mut Self)) {
        let (start, end, after) = (self.code.here(), self.code.label(), self.code.label());
        self.code.op(op::NOP);
        body(self);
        self.code.bind(end);
        self.goto(after);
        let handler = self.code.here();
        let class = self.rng.one([None, Some("java/lang/Throwable")]);
        self.code.catch(start, end, handler, class);
        self.trace(Ty::Ref(Ref::Object));
        self.code.op(op::POP).bind(after);
    }

    /// Writes a protected range with one to three handlers. `body` writes the code of the range, `handled` that of
    /// each handler. Rows of inner ranges come first, as javac writes them.
    fn trapped(&mut self, body: impl Fn(&mut Self), handled: impl Fn(&mut Self)) {
        if self.early {
            return body(self);
        }
        let (start, end, after) = (self.code.here(), self.code.label(), self.code.label());
        // An empty range would be rejected.
        self.code.op(op::NOP);
        body(self);
        self.code.bind(end);
        self.goto(after);
        let mut handlers: Vec<Label> = (0..self.rng.range(1, 3)).map(|_| self.code.label()).collect();
        for &handler in &handlers {
            let class = self.catch_class();
            self.code.catch(start, end, handler, class.as_deref());
        }
        // The handlers need not be in the order of their rows.
        if self.rng.chance(15) {
            handlers.reverse();
        }
        for handler in handlers {
            self.code.bind(handler);
            // In a handler, the values that waited on the stack are gone.
            let waiting = std::mem::replace(&mut self.live, 0);
            self.scope(|it| {
                let local = it.new_local(THROWABLE);
                it.store(THROWABLE, local.slot);
                it.load(THROWABLE, local.slot);
                it.trace(THROWABLE);
                it.finish_handler(waiting, after, &handled);
            });
            self.live = waiting;
        }
        self.code.bind(after);
    }

    /// Writes the end of a handler, which rethrows the exception in some cases, and otherwise runs the code that
    /// `handled` writes and continues at `after`. `waiting` is the number of values on the stack below the protected
    /// code; if it is not 0, the handler leaves the method instead of continuing at `after`, because the exception
    /// removed these values.
    fn finish_handler(&mut self, waiting: u32, after: Label, handled: &impl Fn(&mut Self)) {
        if self.rng.chance(15) {
            self.code.op(op::ATHROW);
            return;
        }
        self.pop(THROWABLE);
        if waiting == 0 {
            handled(self);
            self.goto(after);
        } else {
            self.simple_exit();
        }
    }

    fn simple_exit(&mut self) {
        if self.rng.chance(50) {
            self.new_throwable();
            self.code.op(op::ATHROW);
        } else {
            self.leave();
        }
    }

    /// Writes `try … finally` with two copies of the finally block, for the normal and the exceptional path.
    pub(super) fn finally_stmt(&mut self) {
        if self.early {
            return;
        }
        let (start, end, after) = (self.code.here(), self.code.label(), self.code.label());
        self.code.op(op::NOP);
        self.block();
        self.code.bind(end);
        self.block();
        self.goto(after);
        let handler = self.code.here();
        self.code.catch(start, end, handler, None);
        if self.rng.chance(50) {
            // The handler's first instruction is in its own range, as older versions of javac wrote it.
            let stored = self.code.label();
            let waiting = std::mem::replace(&mut self.live, 0);
            self.handle_any(Some((handler, stored)));
            self.live = waiting;
        } else {
            let waiting = std::mem::replace(&mut self.live, 0);
            self.handle_any(None);
            self.live = waiting;
        }
        self.code.bind(after);
    }

    fn handle_any(&mut self, itself: Option<(Label, Label)>) {
        self.scope(|it| {
            let slot = it.hidden_slot(THROWABLE);
            it.store(THROWABLE, slot);
            if let Some((handler, stored)) = itself {
                it.code.bind(stored).catch(handler, stored, handler, None);
            }
            it.block();
            it.load(THROWABLE, slot);
            it.code.op(op::ATHROW);
        });
    }

    /// Writes `synchronized` as javac does: the range of the handler includes the handler's own `monitorexit`.
    pub(super) fn synchronized_stmt(&mut self) {
        if self.early {
            return;
        }
        let object = Ty::Ref(Ref::Object);
        let (after, unlocked) = (self.code.label(), self.code.label());
        self.expr(object);
        let lock = self.hidden_slot(object);
        self.code.op(op::DUP);
        self.store(object, lock);
        self.code.op(op::MONITORENTER);
        let start = self.code.here();
        self.monitors.push(lock);
        self.scope(|it| it.block());
        self.monitors.pop();
        self.load(object, lock);
        self.code.op(op::MONITOREXIT).bind(unlocked);
        self.goto(after);
        let handler = self.code.here();
        let slot = self.hidden_slot(THROWABLE);
        self.store(THROWABLE, slot);
        self.load(object, lock);
        self.code.op(op::MONITOREXIT);
        let end = self.code.here();
        self.load(THROWABLE, slot);
        self.code.op(op::ATHROW).bind(after);
        self.code.catch(start, unlocked, handler, None).catch(handler, end, handler, None);
    }

    /// Writes a jump to a handler that [`Body::shared_handlers`] writes. So the handler may also start with a value
    /// on the stack that is not a caught exception.
    pub(super) fn enter_handler(&mut self) {
        match self.rng.pick(&self.handlers).copied() {
            Some(handler) if self.live == 0 => {
                let skip = self.code.label();
                self.branch(skip);
                self.expr(THROWABLE);
                self.goto(handler);
                self.code.bind(skip);
            }
            _ => self.block(),
        }
    }

    /// Writes, after the body, handlers that several rows share, and random exception-table rows that lead to them
    /// from anywhere: the rows overlap, cross statements and cover handlers, in any order. `fuel` is the local that
    /// limits how often handlers are entered.
    pub(super) fn shared_handlers(&mut self, fuel: u16) {
        let exit = self.code.label();
        // Only positions in the body: from a position in a handler, control could return without using fuel.
        let enterable: Vec<Label> = self.points.iter().filter(|it| it.enterable).map(|it| it.label).collect();
        for handler in self.handlers.clone() {
            self.code.bind(handler);
            let slot = self.hidden_slot(THROWABLE);
            self.store(THROWABLE, slot);
            self.code.push(crate::asm::Insn::Iinc(fuel, -1, false));
            self.load(Ty::Int, fuel);
            self.code.jump(op::IFLT, exit);
            self.load(THROWABLE, slot);
            self.trace(THROWABLE);
            self.pop(THROWABLE);
            self.block();
            match self.rng.pick(&enterable).copied() {
                Some(point) if self.rng.chance(60) => self.goto(point),
                _ if self.rng.chance(40) => {
                    self.load(THROWABLE, slot);
                    self.code.op(op::ATHROW);
                }
                _ => self.goto(exit),
            }
        }
        let last = self.code.here();
        let mut places: Vec<Label> = self.points.iter().map(|it| it.label).collect();
        places.push(last);
        for _ in 0..self.rng.range(2, 8) {
            self.odd_row(&places);
        }
        self.code.bind(exit);
        self.leave();
    }

    fn odd_row(&mut self, places: &[Label]) {
        let n = places.len() as u32;
        if n < 2 {
            return;
        }
        let start = self.rng.below(n - 1);
        let end = start + 1 + self.rng.below(n - start - 1);
        let class = self.catch_class();
        let handler = self.rng.pick(&self.handlers).copied();
        if let (Some(&start), Some(&end), Some(handler)) =
            (places.get(start as usize), places.get(end as usize), handler)
        {
            let class = class.map(|it| it.as_str().into());
            let row = Row { start: Pos::At(start), end: Pos::At(end), handler: Pos::At(handler), class };
            let at = self.rng.below(self.code.rows.len() as u32 + 1) as usize;
            self.code.rows.insert(at, row);
        }
    }
}
