//! Solves a program: looks up its calls, builds the system of inclusions, and finds its least solution.

use std::sync::Arc;

use bir::body::CallKind;
use classfile::bootstrap::MethodHandle;
use flow::fuel::{Cancelled, Fuel, uncancelled};
use flow::functional::{Effect, Function};
use flow::natives::{self, Native};
use flow::solver::{Solution, System, solve_cancellable};
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
    uncancelled(|fuel| solved_cancellable(program, options, entries, fuel))
}

/// As [`solved`].
///
/// # Errors
/// When the work is not wanted any more.
pub fn solved_cancellable(
    program: Program,
    options: Options,
    entries: Option<Vec<EntryPoint>>,
    fuel: &mut Fuel<'_>,
) -> Result<WholeProgram, Cancelled> {
    let mut whole = looked_up_cancellable(program, options, entries, fuel)?;
    let universe = universe(&whole, fuel)?;
    fuel.ask()?;
    let mut exceptions = Exceptions::new(universe);
    let constructions = constructing::constructions(&whole.program, &whole.dispatches, fuel)?;
    let hierarchy = Arc::clone(&whole.program.hierarchy);
    whole.nodes = Nodes::new(
        hierarchy.ids().map(|it| hierarchy.outline(it).methods.len()),
        whole.program.codes().map(|(id, code)| (id, code.summary.rethrowing.len())),
        whole.functions.len(),
        whole.dispatches.all().len(),
        constructions,
        whole.loading.is_some(),
        fuel,
    )?;
    fuel.ask()?;
    whole.system = system::system(&whole, &mut exceptions, fuel)?;
    whole.solution = Some(solve_cancellable(&whole.system, &mut exceptions, fuel)?);
    whole.exceptions = exceptions;
    Ok(whole)
}

fn universe(whole: &WholeProgram, fuel: &mut Fuel<'_>) -> Result<Universe, Cancelled> {
    let mut summaries = whole.program.summaries.iter().map(|it| &**it);
    throwables::universe(&whole.program.hierarchy, whole.options.world, &mut summaries, fuel)
}

/// A program with where its calls go, not solved: everything seems to let nothing out.
pub fn looked_up(program: Program, options: Options, entries: Option<Vec<EntryPoint>>) -> WholeProgram {
    uncancelled(|fuel| looked_up_cancellable(program, options, entries, fuel))
}

fn looked_up_cancellable(
    program: Program,
    options: Options,
    entries: Option<Vec<EntryPoint>>,
    fuel: &mut Fuel<'_>,
) -> Result<WholeProgram, Cancelled> {
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
        preparing: None,
        stale: None,
        changed: FxHashMap::default(),
        ranks: Ranks::default(),
        nearness: Nearness::default(),
        edits: None,
        touched: Touched::default(),
        included: FxHashMap::default(),
    };
    whole.ask_all(fuel)?;
    if entries.is_some() {
        whole.ask_upcalls();
        whole.dispatches.keep_offers();
    }
    let functions: Vec<Function> = whole.functions.iter().map(|it| it.function.clone()).collect();
    whole.dispatches.find_targets(&functions, fuel)?;
    if let Some(entries) = entries {
        fuel.ask()?;
        let offers = whole.dispatches.take_offers();
        let reachable = reachable(&whole, entries, &offers, fuel)?;
        whole.dispatches.narrow(|dispatch, target| reachable.is_selected(dispatch, target));
        whole.reachable = Some(reachable);
        fuel.ask()?;
    }
    whole.mark_proxies(fuel)?;
    whole.loading = whole.find_loading();
    fuel.ask()?;
    Ok(whole)
}

/// The propagation alone, from scratch: builds and solves the system of a program whose calls are looked up. For benches
/// and tests, which compare it with the solution that the program has.
pub fn propagation(whole: &WholeProgram) -> Solution<Value> {
    uncancelled(|fuel| {
        let mut exceptions = Exceptions::new(universe(whole, fuel)?);
        let system = system::system(whole, &mut exceptions, fuel)?;
        solve_cancellable(&system, &mut exceptions, fuel)
    })
}

impl WholeProgram {
    /// Asks for every call where it goes, so that each dispatch is known before targets are looked for.
    fn ask_all(&mut self, fuel: &mut Fuel<'_>) -> Result<(), Cancelled> {
        let program = self.program.clone();
        fuel.ask()?;
        for (id, code) in program.codes() {
            fuel.spend(2 + code.summary.items.len() as u32)?;
            self.ask_code(id, code);
            self.add_functions(id, code);
        }
        self.ask_virtual(thread_run());
        self.ask_callbacks();
        self.ask_handlers();
        for id in program.methods() {
            fuel.spend(1)?;
            if !declared(&program.hierarchy, id).flags.is_native() {
                continue;
            }
            if let Some(Native { effect: natives::Effect::Calls(methods), .. }) = self.native(id) {
                for &it in methods {
                    self.ask_virtual(it);
                }
            }
        }
        Ok(())
    }

    /// Asks for the dispatches of what the VM calls, where it is searched what is reached.
    pub(super) fn ask_upcalls(&mut self) {
        virtual_calls().into_iter().for_each(|it| _ = self.ask_virtual(it));
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
