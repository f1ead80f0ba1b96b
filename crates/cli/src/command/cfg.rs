//! `ajar cfg`: control-flow graphs.

use std::sync::{Mutex, PoisonError};

use export::form::{Format, Nodes};
use export::fragment::cfg_fragment;
use ide::Graph;
use ide::answer::ClassAnswer;
use ide::whole::{Whole, Work};

use crate::args::{CfgArgs, Global, NodesArg};
use crate::report::Outcome;
use crate::result::{Form, write};
use crate::run::{Maker, Run};
use crate::{settings, whole};

struct Graphs<'a> {
    form: Form,
    nodes: Nodes,
    whole: &'a Whole,
    /// What workers that are done with a class left.
    work: Mutex<Vec<Work>>,
}

impl Maker for Graphs<'_> {
    const GRAPHS: bool = false;
    const FIGURES: bool = false;

    fn make(&self, place: &str, number: usize, class: &ClassAnswer, out: &mut Vec<u8>) {
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
    let whole = whole::whole(&mut run, &args.world)?;
    let header = whole::header(&run, "cfg", &args.world);
    write(&run, header, format, args.output.output.as_ref(), |form| Graphs {
        form,
        nodes,
        whole,
        work: Mutex::default(),
    })
}
