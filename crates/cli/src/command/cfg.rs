//! `ajar cfg`: control-flow graphs.

use std::sync::{Mutex, PoisonError};

use export::form::{Format, Nodes};
use export::fragment::cfg_fragment;
use ide::answer::ClassAnswer;
use ide::profile::{Answers, ProfileWork};
use ide::{Graph, Human};

use crate::args::{CfgArgs, Global, NodesArg};
use crate::report::Outcome;
use crate::result::{Form, write};
use crate::run::{Maker, Run};
use crate::{settings, whole};

struct Graphs<'a> {
    form: Form,
    nodes: Nodes,
    whole: &'a Answers,
    /// What workers that are done with a class left.
    work: Mutex<Vec<ProfileWork>>,
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
        self.work.lock().unwrap_or_else(PoisonError::into_inner).push(work);
        match self.form {
            Form::Text(style) => crate::text::cfg::class(out, class, &graphs, style),
            Form::Document(format) => cfg_fragment(out, format, self.nodes, place, number, class, &graphs),
        }
    }

    fn notes(&self, class: &ClassAnswer) -> Vec<String> {
        let ghosts = class.methods.iter().filter(|it| self.whole.is_ghost(it.method));
        ghosts.map(|it| format!("{} is not written yet: it has no graph", Human(it.method))).collect()
    }
}

impl Graphs<'_> {
    /// The class without the methods whose code is not written yet: what stands for it is not to be drawn.
    fn without_ghosts(&self, class: &ClassAnswer) -> Option<ClassAnswer> {
        if !class.methods.iter().any(|it| self.whole.is_ghost(it.method)) {
            return None;
        }
        let mut seen = class.clone();
        seen.methods.retain(|it| !self.whole.is_ghost(it.method));
        Some(seen)
    }
}

/// Runs the command.
pub(crate) fn run(args: &CfgArgs, global: &Global) -> anyhow::Result<Outcome> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl", "dot", "graphml"])?;
    let mut run = Run::open(&settings, global, input, &args.select)?;
    let nodes = match args.nodes {
        NodesArg::Blocks => Nodes::Blocks,
        NodesArg::Instructions => Nodes::Instructions,
    };
    let whole = whole::answers(&mut run, &args.world)?;
    let header = whole::header(&run, "cfg", &args.world);
    write(&run, header, format, args.output.output.as_ref(), |form| Graphs {
        form,
        nodes,
        whole: &whole,
        work: Mutex::default(),
    })
}
