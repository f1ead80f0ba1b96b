//! Solves a program: looks up its calls, builds the system of inclusions, and finds its least solution.

use std::sync::Arc;

use bir::body::CallKind;
use classfile::bootstrap::MethodHandle;
use flow::functional::{Effect, Function};
use flow::natives::{self, Native};
use flow::solver::{Solution, System, solve};
use flow::summary::Source;
use flow::universe::Universe;
use program::hierarchy::ClassId;
use program::members::MethodId;
use rustc_hash::FxHashMap;

use super::dispatch::{self, Dispatches, FunctionSite};
use super::lattice::{Exceptions, Value};
use super::members::declared;
use super::nearness::Nearness;
use super::nodes::Nodes;
use super::program::{Options, Program, WholeProgram, thread_run};
use super::ranks::Ranks;
use super::reach::{reachable, virtual_calls};
use super::reachable::EntryPoint;
use super::reads::Touched;
use super::{constructing, system, throwables};
use crate::summary::CodeSummary;

/// Solves a program. With `entries` its calls go only to receivers that code makes which is reached from there.
pub fn solved(program: Program, options: Options, entries: Option<Vec<EntryPoint>>) -> WholeProgram {
    let mut whole = looked_up(program, options, entries);
    let mut summaries = whole.program.summaries.iter().map(|it| &**it);
    let universe = throwables::universe(&whole.program.hierarchy, options.world, &mut summaries);
    let mut exceptions = Exceptions::new(universe);
    let constructions = constructing::constructions(&whole.program, &whole.dispatches);
    let hierarchy = Arc::clone(&whole.program.hierarchy);
    whole.nodes = Nodes::new(
        hierarchy.ids().map(|it| hierarchy.outline(it).methods.len()),
        whole.program.codes().map(|(id, code)| (id, code.summary.rethrowing.len())),
        whole.functions.len(),
        whole.dispatches.all().len(),
        constructions,
        whole.loading.is_some(),
    );
    whole.system = system::system(&whole, &mut exceptions);
    whole.solution = Some(solve(&whole.system, &mut exceptions));
    whole.exceptions = exceptions;
    whole
}

/// A program with where its calls go, not solved: everything seems to let nothing out.
pub fn looked_up(program: Program, options: Options, entries: Option<Vec<EntryPoint>>) -> WholeProgram {
    let dispatches = Dispatches::new(Arc::clone(&program.hierarchy), options.world);
    let mut whole = WholeProgram {
        program,
        options,
        exceptions: Exceptions::new(Universe::new(&[])),
        dispatches,
        functions: Vec::new(),
        initialized: FxHashMap::default(),
        reachable: None,
        loading: None,
        nodes: Nodes::default(),
        system: System { values: Vec::new(), starts: vec![0], edges: Vec::new() },
        solution: None,
        kept: None,
        changed: FxHashMap::default(),
        ranks: Ranks::default(),
        nearness: Nearness::default(),
        edits: None,
        touched: Touched::default(),
    };
    whole.ask_all();
    if entries.is_some() {
        virtual_calls().into_iter().for_each(|it| _ = whole.ask_virtual(it));
        whole.dispatches.keep_offers();
    }
    let functions: Vec<Function> = whole.functions.iter().map(|it| it.function.clone()).collect();
    whole.dispatches.find_targets(&functions);
    if let Some(entries) = entries {
        let offers = whole.dispatches.take_offers();
        let reachable = reachable(&whole, entries, &offers);
        whole.dispatches.narrow(|dispatch, target| reachable.is_selected(dispatch, target));
        whole.reachable = Some(reachable);
    }
    whole.mark_proxies();
    whole.loading = whole.find_loading();
    whole
}

/// The propagation alone, from scratch: builds and solves the system of a program whose calls are looked up. For benches
/// and tests, which compare it with the solution that the program has.
pub fn propagation(whole: &WholeProgram) -> Solution<Value> {
    let mut summaries = whole.program.summaries.iter().map(|it| &**it);
    let universe = throwables::universe(&whole.program.hierarchy, whole.options.world, &mut summaries);
    let mut exceptions = Exceptions::new(universe);
    let system = system::system(whole, &mut exceptions);
    solve(&system, &mut exceptions)
}

impl WholeProgram {
    /// Asks for every call where it goes, so that each dispatch is known before targets are looked for.
    fn ask_all(&mut self) {
        let program = self.program.clone();
        for (id, code) in program.codes() {
            self.ask_code(id, code);
            self.add_functions(id, code);
        }
        self.ask_virtual(thread_run());
        self.ask_callbacks();
        self.ask_handlers();
        for id in program.methods().filter(|&it| declared(&program.hierarchy, it).flags.is_native()) {
            if let Some(Native { effect: natives::Effect::Calls(methods), .. }) = self.native(id) {
                for &it in methods {
                    self.ask_virtual(it);
                }
            }
        }
    }

    /// Asks for what a method calls and initialises.
    pub(super) fn ask_code(&mut self, id: MethodId, code: &CodeSummary) {
        for item in &code.summary.items {
            match item.source {
                Source::Call(kind, method) | Source::CallOnThis(kind, method) => {
                    self.dispatches.site(id.class, kind, method);
                }
                Source::Construct(method) => {
                    self.dispatches.site(id.class, CallKind::Special, method);
                }
                Source::Initialize(what) if !self.initialized.contains_key(&what) => {
                    let found = self.find_initialized(what).into();
                    self.initialized.insert(what, found);
                }
                _ => {}
            }
        }
        for site in &code.dynamics {
            for effect in &site.effects {
                self.ask_effect(id, effect);
            }
            if let Some(function) = &site.function {
                self.ask_handle(id.class, function.handle);
            }
        }
    }

    /// Adds the function objects that a method makes.
    pub(super) fn add_functions(&mut self, owner: MethodId, code: &CodeSummary) {
        for (i, site) in (0..).zip(&code.dynamics) {
            if let Some(function) = &site.function {
                self.functions.push(FunctionSite { function: function.clone(), owner, site: i });
            }
        }
    }

    fn ask_handle(&mut self, caller: ClassId, handle: MethodHandle) {
        if let Some(kind) = dispatch::handle_call(handle) {
            self.dispatches.site(caller, kind, handle.member);
        }
    }

    fn ask_effect(&mut self, id: MethodId, effect: &Effect) {
        match *effect {
            Effect::Virtual(method) => {
                self.ask_virtual(method);
            }
            Effect::Link(handle) | Effect::Unknown(handle) => self.ask_handle(id.class, handle),
            Effect::Initialize(_) | Effect::InitializeQuietly(_) | Effect::MayFail => {}
        }
    }
}
