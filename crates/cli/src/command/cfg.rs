//! `ajar cfg`: shows control-flow graphs.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use export::form::{Format, Nodes};
use export::fragment::cfg_fragment;
use export::frame::{Interface, Trailer};
use ide::answer::ClassAnswer;
use ide::profile::{ProfileAnswers, ProfileWork};
use ide::{Graph, Human, MethodName, Needs, Part, Text};
use rustc_hash::FxHashSet;

use crate::args::{CfgArgs, Global, NodesArg};
use crate::pass::{Maker, Pass};
use crate::report::Ended;
use crate::result::{Form, write};
use crate::run::Run;
use crate::settings;
use crate::text::names::Names;
use crate::text::sets::TYPES;
use crate::text::summary::{self, Tally};
use crate::text::throws::reason;
use crate::whole::{self, Loaded};

struct Graphs<'a> {
    form: Form,
    nodes: Nodes,
    whole: &'a ProfileAnswers,
    /// Buffers that workers take for each class and then return, so that the buffers are reused.
    work: Mutex<Vec<ProfileWork>>,
    /// The interface of all graphs that were made so far.
    interface: Mutex<Gathered>,
    tally: Tally,
}

/// The methods that the graphs provide and require, and the exception classes that occur in the graphs.
#[derive(Default)]
struct Gathered {
    provided: Vec<MethodName>,
    needs: Needs,
    types: FxHashSet<Text>,
}

impl Graphs<'_> {
    /// Whether the output contains the interface of the graphs; Graphviz and GraphML output does not.
    fn has_interface(&self) -> bool {
        matches!(self.form, Form::Text(_) | Form::Document(Format::Json | Format::JsonLines))
    }

    fn gather(&self, class: &ClassAnswer, graphs: &[Graph]) {
        let mut needs = Needs::default();
        for (it, graph) in class.methods.iter().zip(graphs) {
            self.whole.needs(&mut needs, it.method, &it.code, graph);
        }
        // Text output does not contain the types.
        let types = if matches!(self.form, Form::Text(_)) { FxHashSet::default() } else { types(graphs) };
        let mut acc = self.interface.lock().unwrap_or_else(PoisonError::into_inner);
        acc.provided.extend(class.methods.iter().map(|it| it.method));
        acc.needs.add(needs);
        acc.types.extend(types);
    }
}

/// Returns the exception classes that occur in the graphs.
fn types(graphs: &[Graph]) -> FxHashSet<Text> {
    let sets = graphs.iter().flat_map(|it| &it.sets).flat_map(|it| it.parts.iter().chain(it.except.iter()));
    let throws = graphs.iter().map(|it| &it.throws);
    let open = throws.clone().flat_map(|it| &it.open).flat_map(|it| it.0.iter().chain(it.1.iter()));
    let parts = sets.chain(throws.flat_map(|it| it.known.iter())).chain(open);
    parts.map(|it| Text(it.class.bytes())).collect()
}

impl Maker for Graphs<'_> {
    const GRAPHS: bool = false;
    const FIGURES: bool = false;

    fn make(&self, place: &str, number: usize, class: &ClassAnswer, out: &mut Vec<u8>) {
        let seen = self.without_ghosts(class);
        let class = seen.as_ref().unwrap_or(class);
        let left = self.work.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut work = left.unwrap_or_else(|| self.whole.work());
        let calls = matches!(self.form, Form::Document(Format::Json | Format::JsonLines));
        let methods = class.methods.iter();
        let graphs: Vec<Graph> =
            methods.map(|it| self.whole.graph(&mut work, it.method, &it.code, calls)).collect();
        let names = Names(&|it| self.whole.has_twin(it));
        if matches!(self.form, Form::Text(_)) {
            let throws = class.methods.iter().filter_map(|it| self.whole.throws(&mut work, it.method));
            throws.for_each(|it| self.tally.add(!it.known.is_empty(), reason(&it, names)));
        }
        if self.has_interface() {
            self.gather(class, &graphs);
        }
        match self.form {
            Form::Text(style) => {
                let describe = &mut |it: &[Part]| self.whole.described(&mut work, it, TYPES);
                crate::text::cfg::class(out, class, &graphs, describe, (names, style));
            }
            Form::Document(format) => cfg_fragment(out, format, self.nodes, place, number, class, &graphs),
        }
        self.work.lock().unwrap_or_else(PoisonError::into_inner).push(work);
    }

    fn notes(&self, class: &ClassAnswer) -> Vec<String> {
        let ghosts = class.methods.iter().filter(|it| self.whole.is_ghost(it.method));
        ghosts
            .map(|it| {
                format!("the code of {} is not written yet, so the method has no graph", Human(it.method))
            })
            .collect()
    }

    fn summary(&self) -> Vec<u8> {
        match self.form {
            Form::Text(style) => self.tally.text(summary::THROWS, style),
            Form::Document(_) => Vec::new(),
        }
    }

    fn finish(&self, trailer: &mut Trailer) {
        if !self.has_interface() {
            return;
        }
        let acc = std::mem::take(&mut *self.interface.lock().unwrap_or_else(PoisonError::into_inner));
        let provided: BTreeSet<MethodName> = acc.provided.into_iter().collect();
        let classes: BTreeSet<Text> = provided.iter().map(|it| it.class).collect();
        trailer.interface = Some(Interface {
            required: self.whole.required(&acc.needs).difference(&provided).copied().collect(),
            quiet: classes.into_iter().filter(|&it| self.whole.is_quiet(it)).collect(),
            types: self.whole.super_types(&acc.types),
            provided: provided.into_iter().collect(),
        });
    }
}

impl Graphs<'_> {
    /// Returns the class without its ghost methods, because the stub code of a ghost must not be shown as its graph;
    /// `None` if the class has no ghost.
    fn without_ghosts(&self, class: &ClassAnswer) -> Option<ClassAnswer> {
        if !class.methods.iter().any(|it| self.whole.is_ghost(it.method)) {
            return None;
        }
        let mut seen = class.clone();
        seen.methods.retain(|it| !self.whole.is_ghost(it.method));
        Some(seen)
    }
}

/// Runs `ajar cfg`.
pub(crate) fn run(args: &CfgArgs, global: &Global) -> anyhow::Result<Ended> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl", "dot", "graphml"])?;
    let run = Run::open(&settings, global, input, &args.select)?;
    let nodes = match args.nodes {
        NodesArg::Blocks => Nodes::Blocks,
        NodesArg::Instructions => Nodes::Instructions,
    };
    let Loaded { answers: whole, known } = whole::answers(&run, &args.world)?;
    let header = whole::composable_header(&run, "cfg", &args.world, &whole);
    let maker = |form| Graphs {
        form,
        nodes,
        whole: &whole,
        work: Mutex::default(),
        interface: Mutex::default(),
        tally: Tally::default(),
    };
    let outcome = write(&run, &Pass::new(&run, &known), header, format, args.output.output.as_ref(), maker)?;
    Ok(Ended::with(outcome, whole))
}
