//! `ajar cfg`: control-flow graphs.

use export::form::Nodes;
use export::fragment::cfg_fragment;
use ide::answer::ClassAnswer;

use crate::args::{CfgArgs, Global, NodesArg};
use crate::report::Outcome;
use crate::result::{Form, write};
use crate::run::{Maker, Run};
use crate::settings;

/// What graphs of single methods rest on.
const ASSUMPTIONS: [&str; 1] = ["what a callee lets out is an open part: exceptions are not yet propagated"];

struct Graphs {
    form: Form,
    nodes: Nodes,
}

impl Maker for Graphs {
    const GRAPHS: bool = true;
    const FIGURES: bool = false;

    fn make(&self, place: &str, number: usize, class: &ClassAnswer, out: &mut Vec<u8>) {
        match self.form {
            Form::Text(style) => crate::text::cfg::class(out, class, style),
            Form::Document(format) => cfg_fragment(out, format, self.nodes, place, number, class),
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &CfgArgs, global: &Global) -> anyhow::Result<Outcome> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json", "jsonl", "dot", "graphml"])?;
    let run = Run::open(&settings, global, input, &args.select)?;
    let nodes = match args.nodes {
        NodesArg::Blocks => Nodes::Blocks,
        NodesArg::Instructions => Nodes::Instructions,
    };
    let header = run.header("cfg", &ASSUMPTIONS);
    write(&run, header, format, args.output.output.as_ref(), |form| Graphs { form, nodes })
}
