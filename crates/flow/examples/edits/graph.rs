//! A synthetic call graph in three layers: at the bottom, methods that many others call; above them, a strongly
//! connected component of about a seventh of all methods; above this, the rest.

use std::ops::Range;

use flow::solver::{FunctionId, NodeId};

use crate::sets::{ATOMS, Sets};

/// A xorshift generator of random numbers.
pub(crate) struct Random(pub u64);

impl Random {
    /// Returns a random number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % u64::from(n.max(1))) as u32
    }

    fn any(&mut self, range: &Range<u32>) -> u32 {
        range.start + self.below(range.end - range.start)
    }

    fn percent(&mut self, n: u32) -> bool {
        self.below(100) < n
    }
}

/// The kinds of edits of the call graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    MiddleThrow,
    UpperThrow,
    LowThrow,
    MiddleRemove,
    MiddleAdd,
    MiddleRetarget,
    LowRetarget,
    UpperRetarget,
    LowUp,
    Class,
    Leaf,
    New,
}

/// All kinds of edits with their names in the output.
pub(crate) const KINDS: [(Kind, &str); 12] = [
    (Kind::MiddleThrow, "component: throw"),
    (Kind::UpperThrow, "upper: throw"),
    (Kind::LowThrow, "low: throw"),
    (Kind::MiddleRemove, "component: remove call"),
    (Kind::MiddleAdd, "component: add call"),
    (Kind::MiddleRetarget, "component: retarget call"),
    (Kind::LowRetarget, "low: retarget call"),
    (Kind::UpperRetarget, "upper: retarget call"),
    (Kind::Class, "class: 30 % of calls and throws"),
    (Kind::Leaf, "leaf with many callers: throw"),
    (Kind::New, "type that no method threw"),
    (Kind::LowUp, "low calls up into the component"),
];

struct Method {
    throws: Vec<u32>,
    calls: Vec<(u32, u32)>,
}

/// A synthetic program: methods with the exceptions that they throw and their calls, in three layers.
pub(crate) struct Program {
    pub(crate) random: Random,
    methods: Vec<Method>,
    low: Range<u32>,
    middle: Range<u32>,
    upper: Range<u32>,
}

impl Program {
    /// Creates a program with `n` methods.
    pub(crate) fn new(n: u32) -> Self {
        let (a, b) = (n * 2 / 5, n * 2 / 5 + n * 2 / 15);
        let mut program = Program {
            random: Random(88_172_645_463_325_252),
            methods: Vec::new(),
            low: 0..a,
            middle: a..b,
            upper: b..n,
        };
        for i in 0..n {
            let method = program.method(i);
            program.methods.push(method);
        }
        program
    }

    fn method(&mut self, i: u32) -> Method {
        let n_calls = (0..40).take_while(|_| self.random.percent(80)).count();
        let mut calls: Vec<_> = (0..n_calls).filter_map(|_| self.call(i)).collect();
        if self.middle.contains(&i) {
            let next = if i + 1 == self.middle.end { self.middle.start } else { i + 1 };
            calls.push((next, if self.random.percent(10) { 2 } else { 0 }));
        }
        let n_throws = if self.random.percent(12) { 1 + self.random.below(3) } else { 0 };
        Method { throws: (0..n_throws).map(|_| self.throw()).collect(), calls }
    }

    /// Returns a random exception type. A few types are chosen often, most of them almost never.
    fn throw(&mut self) -> u32 {
        if self.random.percent(2) { self.random.below(ATOMS - 64) } else { self.random.below(24) }
    }

    fn call(&mut self, i: u32) -> Option<(u32, u32)> {
        let kind = self.random.below(100);
        let near = |random: &mut Random, range: &Range<u32>| {
            i.saturating_sub(1 + random.below(300)).max(range.start)
        };
        let to = if i < self.low.end {
            match kind {
                _ if i == 0 => return None,
                0..2 => (i + self.random.below(20)).min(self.low.end - 1),
                2..50 => near(&mut self.random, &self.low),
                _ => self.random.below(i),
            }
        } else if i < self.middle.end {
            match kind {
                0..30 => self.random.any(&self.low),
                30..65 => near(&mut self.random, &self.middle),
                _ => self.random.any(&self.middle),
            }
        } else {
            match kind {
                0..30 => self.random.any(&self.middle),
                30..60 => self.random.any(&self.low),
                _ if i == self.upper.start => return None,
                60..80 => near(&mut self.random, &self.upper),
                _ => self.random.any(&(self.upper.start..i)),
            }
        };
        Some((to, self.function()))
    }

    fn function(&mut self) -> u32 {
        match self.random.below(1000) {
            0..24 => 1,
            24..48 => 2,
            48..80 => 3 + self.random.below(Sets::FUNCTIONS - 3),
            _ => 0,
        }
    }

    /// Returns the number of calls in the program.
    pub(crate) fn n_edges(&self) -> usize {
        self.methods.iter().map(|it| it.calls.len()).sum()
    }

    /// Returns the set of exceptions that a method itself throws, and its calls.
    pub(crate) fn node(&self, sets: &mut Sets, i: u32) -> (u32, Vec<(NodeId, FunctionId)>) {
        let method = &self.methods[i as usize];
        let calls = method.calls.iter().map(|&(to, function)| (NodeId(to), FunctionId(function)));
        (sets.of(&method.throws), calls.collect())
    }

    /// Makes a random edit of the given kind, and returns the edited methods.
    pub(crate) fn edit(&mut self, kind: Kind) -> Vec<u32> {
        let range = match kind {
            Kind::LowThrow | Kind::LowRetarget | Kind::LowUp => &self.low,
            Kind::UpperThrow | Kind::UpperRetarget => &self.upper,
            Kind::Class | Kind::New => &(0..self.upper.end),
            Kind::Leaf => &(0..1_000),
            _ => &self.middle,
        };
        let i = self.random.any(range);
        match kind {
            Kind::MiddleThrow | Kind::UpperThrow | Kind::LowThrow | Kind::Leaf => self.toggle_throw(i, 0),
            Kind::New => self.toggle_throw(i, ATOMS - 64),
            Kind::MiddleRemove => {
                let calls = &mut self.methods[i as usize].calls;
                if !calls.is_empty() {
                    calls.swap_remove(self.random.below(calls.len() as u32) as usize);
                }
            }
            Kind::MiddleAdd => {
                let to = self.random.any(&self.middle);
                let call = (to, self.function());
                self.methods[i as usize].calls.push(call);
            }
            Kind::LowUp => {
                let to = self.random.any(&self.middle);
                let calls = &mut self.methods[i as usize].calls;
                let up = calls.iter().position(|it| self.middle.contains(&it.0));
                match up {
                    Some(it) => _ = calls.swap_remove(it),
                    None => calls.push((to, 0)),
                }
            }
            Kind::MiddleRetarget | Kind::LowRetarget | Kind::UpperRetarget => self.retarget(i, 1),
            Kind::Class => {
                let first = i / 10 * 10;
                for it in first..first + 10 {
                    let n = self.methods[it as usize].calls.len() as u32;
                    self.retarget(it, (n * 3).div_ceil(10));
                    if self.random.percent(30) {
                        self.toggle_throw(it, 0);
                    }
                }
                return (first..first + 10).collect();
            }
        }
        vec![i]
    }

    fn toggle_throw(&mut self, i: u32, from: u32) {
        let it = if from > 0 { from + self.random.below(ATOMS - from) } else { self.throw() };
        let throws = &mut self.methods[i as usize].throws;
        if throws.is_empty() {
            throws.push(it);
        } else {
            throws.clear();
        }
    }

    fn retarget(&mut self, i: u32, n: u32) {
        for _ in 0..n {
            let Some(call) = self.call(i) else { continue };
            let calls = &mut self.methods[i as usize].calls;
            if !calls.is_empty() {
                let at = self.random.below(calls.len() as u32) as usize;
                calls[at] = call;
            }
        }
    }
}
