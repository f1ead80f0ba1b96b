//! The runs of a generated program on a JVM, and the names of classes and methods with which their results are
//! compared.

use crate::jvm::{Arg, Case};

use super::{Body, CallKind, Structure};

/// The receiver of a call in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receiver {
    /// The call has no receiver.
    None,
    Type(usize),
    Function(usize),
    Exception(usize),
}

/// A call in the generated program, with all runs that make this call.
#[derive(Clone, Debug)]
pub struct RunGroup {
    /// The method that contains the call: `p/C.c0(Lp/I;)V`.
    pub caller: String,
    /// The runs of the call. For each receiver, there is one run for each initialiser that can fail, in which that
    /// initialiser fails, and one run in which no initialiser fails.
    pub runs: Vec<Run>,
    /// Whether the runs show every exception that a method reached by the call can throw, provided that no class of
    /// the program is missing.
    pub is_complete: bool,
}

/// One run of a program: it makes one call, and at most one initialiser fails.
#[derive(Clone, Debug)]
pub struct Run {
    /// The method call that starts the run.
    pub case: Case,
    /// The method that the case calls: `p/Call0.r0(I)V`.
    pub method: String,
    /// The class of the exception that an initialiser throws in this run, provided that the run reaches that
    /// initialiser; `None` if no initialiser fails in this run.
    pub failing: Option<String>,
}

impl Structure {
    pub(super) fn receivers(&self, call: usize) -> Vec<Receiver> {
        match self.calls[call].kind {
            CallKind::Virtual(named, _) => {
                let types = self.concrete_below(named).into_iter().map(Receiver::Type);
                let is_below = |it: &usize| self.above(self.functions[*it].interface).contains(&named);
                let functions = (0..self.functions.len()).filter(is_below).map(Receiver::Function);
                types.chain(functions).collect()
            }
            CallKind::Raise(of) => {
                let below = |it: &usize| self.is_exception_below(*it, of);
                (0..self.exceptions.len()).filter(below).map(Receiver::Exception).collect()
            }
            CallKind::Static(_) | CallKind::New(..) | CallKind::Private(_) => vec![Receiver::None],
        }
    }

    pub(super) fn is_exception_below(&self, it: usize, of: usize) -> bool {
        it == of || self.exceptions[it].parent.is_ok_and(|it| self.is_exception_below(it, of))
    }

    /// Pairs of class names: each throwable class of the program, and its superclass.
    pub fn thrown_classes(&self) -> Vec<(String, String)> {
        let mut acc = Vec::new();
        for (i, it) in self.exceptions.iter().enumerate() {
            let parent = it.parent.map_or_else(str::to_owned, |it| self.exception(it));
            acc.push((self.exception(i), parent));
        }
        acc
    }

    /// Whether some initialiser throws exceptions of this class.
    pub fn is_failure(&self, class: &str) -> bool {
        (0..self.types.len()).any(|it| self.failure(it) == class)
    }

    /// For each call of the program: all runs that make the call, and the method that contains it. The runs differ in
    /// the receiver and in the initialiser that fails.
    pub fn runs(&self) -> Vec<RunGroup> {
        (0..self.calls.len()).map(|it| self.group(it)).collect()
    }

    fn group(&self, call: usize) -> RunGroup {
        let class = self.call_name(call);
        let mut runs = Vec::new();
        let failing = (0..self.types.len()).filter(|it| self.types[*it].has_initializer);
        let numbers: Vec<Option<usize>> = std::iter::once(None).chain(failing.map(Some)).collect();
        for n in 0..self.receivers(call).len() {
            for &number in &numbers {
                let (method, descriptor) = (format!("r{n}"), "(I)V".to_owned());
                let name = format!("{class}.{method}{descriptor}");
                let args = vec![Arg::Int(number.map_or(0, |it| it as i32 + 1))];
                let case = Case { class: class.clone(), method, descriptor, args };
                runs.push(Run { case, method: name, failing: number.map(|it| self.failure(it)) });
            }
        }
        let caller = format!("{}.c{call}({})V", self.caller_name(call), self.parameter(call));
        RunGroup { caller, runs, is_complete: self.is_complete(call) }
    }

    /// Whether the runs of the call show everything that each method reached by the call can do.
    fn is_complete(&self, call: usize) -> bool {
        match self.calls[call].kind {
            CallKind::Virtual(_, name) => self.is_plain(name),
            CallKind::Static(_) | CallKind::Private(_) | CallKind::New(_, false) => true,
            CallKind::New(of, true) => {
                let chain = std::iter::successors(Some(of), |it| self.types[*it].parent);
                let constructors = chain.map_while(|it| self.types[it].constructor);
                let mut calls = constructors.filter(|it| *it != Body::Nothing);
                // If a constructor throws, the ones after it are not reached.
                match (calls.next(), calls.next()) {
                    (None, _) => true,
                    (Some(Body::OnThis(name)), None) => self.is_plain(name),
                    _ => false,
                }
            }
            // The call can throw a class and all its subclasses, and the VM has more of those than the program.
            CallKind::Raise(_) => false,
        }
    }

    /// Whether no method of this name calls another method on `this`. If one did, the target of the inner call would
    /// depend on the receiver of the outer call.
    fn is_plain(&self, name: char) -> bool {
        let mut methods = self.types.iter().flat_map(|it| &it.methods).filter(|it| it.name == name);
        methods.all(|it| !matches!(it.body, Body::OnThis(_) | Body::OnReplaced(..)))
    }
}
