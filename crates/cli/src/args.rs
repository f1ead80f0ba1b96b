//! The flags.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

const EXAMPLE: &str = "\
Examples:
  ajar cfg app.jar -cp 'lib/*' -m 'shop.Order.total'   the graph of one method, as text
  ajar cfg app.jar --output-format dot | dot -Tsvg -O  a picture of each method
  ajar bir app.jar -m 'shop.*'                         stackless forms
  ajar stats app.war --output-format json              what there is and what it costs

Exit codes: 0 fine, 2 usage, configuration or I/O, 101 a bug of ajar.";

/// Answers questions about Java programs of which some parts are missing.
///
/// It reads class files: no source, no build and no JVM needed. Inputs are jars, wars, Spring Boot jars, class folders,
/// class files, and JDK homes or images; `@FILE` stands for the arguments in a file, as javac has it.
#[derive(Parser, Debug)]
#[command(name = "ajar", version, after_help = EXAMPLE, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Show control-flow graphs with the exceptions that arise in each method.
    Cfg(CfgArgs),
    /// Show where calls may go.
    Calls(CallsArgs),
    /// Show what methods may let out.
    Throws(ThrowsArgs),
    /// Show why a method lets something out, or why a call goes somewhere.
    Explain(ExplainArgs),
    /// Show which classes are not there, who needs them, and what that costs.
    Missing(MissingArgs),
    /// Keep an answer current while jars and class folders change, and print what changes.
    Watch(WatchArgs),
    /// Show where the program starts, and what is reached from there.
    Entries(EntriesArgs),
    /// Put graphs that were extracted apart together: the calls from one to another are linked, and what is known now of the
    /// exceptions behind them takes the place of what was open.
    Compose(ComposeArgs),
    /// Show the stackless form of methods.
    Bir(BirArgs),
    /// Show what there is and what analysing it costs.
    Stats(StatsArgs),
    /// Show each setting and where it comes from.
    Config(ConfigArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Show results only: no notes, no progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more on stderr: containers, notes about single classes, times.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// When to colour text [default: on a terminal; NO_COLOR turns it off].
    #[arg(long, global = true, value_name = "WHEN", value_parser = ["auto", "always", "never"])]
    pub(crate) color: Option<String>,
}

/// What is looked at.
#[derive(Args, Debug)]
pub(crate) struct InputArgs {
    /// The program: jars, wars, folders, class files, JDK homes or images. `FOLDER/*` is all jars in the folder.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<Utf8PathBuf>,
    /// Libraries of the program, analysed but not reported; also written `-cp`. `FOLDER/*` is all jars in the folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) class_path: Vec<String>,
    #[command(flatten)]
    pub(crate) platform: PlatformArgs,
}

/// The platform that the program runs on, and ours.
#[derive(Args, Debug)]
pub(crate) struct PlatformArgs {
    /// Modules of the program, and folders of them, analysed as libraries. Nobody outside adds classes to their packages
    /// or extends classes that they do not export.
    #[arg(long, value_name = "PATH")]
    pub(crate) module_path: Vec<String>,
    /// Export a package of the JDK or of a module to all code, as the flag of `java` does; may be repeated.
    #[arg(long, value_name = "MODULE/PACKAGE", value_parser = driver::config::exported_package)]
    pub(crate) add_exports: Vec<String>,
    /// Believe manifests that seal packages: no class from elsewhere is added to these.
    #[arg(long)]
    pub(crate) trust_sealed: bool,
    /// JDK whose class library the program uses: its home, an image, or `none` [default: JAVA_HOME, else the `java` on
    /// the PATH, else none].
    #[arg(long, value_name = "HOME")]
    pub(crate) jdk: Option<String>,
    /// Java release for which multi-release jars are read [default: that of the JDK, else 25].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) release: Option<u16>,
    /// Number of threads [default: one a processor]. The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

/// Which methods are shown.
#[derive(Args, Debug)]
pub(crate) struct SelectArgs {
    /// Show these methods only; may be repeated. `p.C.m(int,java.lang.String)`, `p.C.m`, `p.C`, `p.C.*`, `*Test.test?`,
    /// or internal names: `p/C.m(I)V`.
    #[arg(short, long = "method", value_name = "PATTERN")]
    pub(crate) methods: Vec<String>,
}

/// What answers about a whole program rest on.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WorldArgs {
    /// By which rules answers are made: sound for what a JVM does (`jvm`), or as the paper behind ajar has them, which
    /// promises nothing (`paper`).
    #[arg(long, value_enum, default_value_t = ProfileArg::Jvm)]
    pub(crate) profile: ProfileArg,
    /// Which classes may exist besides those that are there: any (`open`), only those that are named (`declared`), none
    /// (`closed`) [default: open; for profile `paper`, which knows no other, declared].
    #[arg(long, value_enum)]
    pub(crate) world: Option<WorldArg>,
    /// Assume that code nobody has seen keeps the `throws` clause of its method, and lets out only unchecked exceptions
    /// besides.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) assume: Option<AssumeArg>,
    /// Count errors of linking for classes that are absent too, and what class loaders of the program let out where a class is
    /// resolved; without this only those that present classes decide.
    #[arg(long)]
    pub(crate) link_errors: bool,
    /// Count StackOverflowError, OutOfMemoryError, InternalError and ThreadDeath, which can come anywhere.
    #[arg(long)]
    pub(crate) async_errors: bool,
    /// Narrow calls to receivers that are made by code which can be reached from the entry points (rapid type analysis);
    /// methods that are not reached are left out. Assumes that reflection runs nothing else.
    #[arg(long)]
    pub(crate) rta: bool,
    /// Where the program starts: `app` (what a launcher runs: `main`, agents, services), `library` (what code that is not
    /// there can use), or methods as `-m` has them; may be repeated [default: app, or library if nothing can be launched].
    #[arg(long, value_name = "PRESET|PATTERN", requires = "rta")]
    pub(crate) entry: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum ProfileArg {
    #[default]
    /// What a JVM of Java 8 to 25 may do, in every completion of the program.
    Jvm,
    /// CONFLEX: its rules over enumerated exception types, all assertions kept, initialisers and dynamic call sites
    /// passed over, methods of the platform by their `throws` clauses.
    Paper,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum WorldArg {
    /// Any number of unknown classes, which do all that Java lets them.
    Open,
    /// All names and the hierarchy are known, code may be missing.
    Declared,
    /// What is not there does not exist.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum AssumeArg {
    /// Declared `throws` clauses are kept.
    Contract,
}

/// Where the result goes.
#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// Write the result to this file instead of stdout; it appears when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CfgArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl", "dot", "graphml"])]
    pub(crate) output_format: Option<String>,
    /// What a node is in Graphviz output: a basic block, or a node of the definition.
    #[arg(long, value_enum, default_value_t = NodesArg::Blocks)]
    pub(crate) nodes: NodesArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum NodesArg {
    /// Basic blocks, for people.
    Blocks,
    /// One node an instruction and one for each set of exceptions.
    Instructions,
}

#[derive(Args, Debug)]
pub(crate) struct CallsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Show the calls that may go to the selected methods, wherever in the program they are.
    #[arg(long, requires = "methods")]
    pub(crate) callers: bool,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl", "dot", "graphml"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) explained: ExplainedArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What is explained.
#[derive(Args, Debug)]
pub(crate) struct ExplainedArgs {
    /// The methods, as `-m` has them elsewhere; `p.C.m@12` is one instruction, by its pc: where its calls go, and what
    /// it raises, before the handlers around it.
    #[arg(short, long = "method", value_name = "PATTERN[@PC]", required = true)]
    pub(crate) method: String,
    /// Only exceptions of this class and its subclasses.
    #[arg(long, value_name = "CLASS", conflicts_with = "target")]
    pub(crate) exception: Option<String>,
    /// Only calls that go to these methods, and why.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) target: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct MissingArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    /// Clear the terminal before what a cycle changed.
    #[arg(long)]
    pub(crate) clear: bool,
    /// End after the first change.
    #[arg(long)]
    pub(crate) once: bool,
    /// Look at the files every so many milliseconds instead of waiting for events: for folders that have none, such as
    /// network drives.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..))]
    pub(crate) poll: Option<u64>,
    #[command(subcommand)]
    pub(crate) answer: WatchedArgs,
}

/// What is kept current.
#[derive(Subcommand, Debug)]
pub(crate) enum WatchedArgs {
    /// The edges of control-flow graphs.
    Cfg(WatchedMethodsArgs),
    /// Where calls may go.
    Calls(WatchedCallsArgs),
    /// What methods may let out.
    Throws(WatchedMethodsArgs),
    /// Which classes are not there.
    Missing(WatchedClassesArgs),
    /// Where the program starts.
    Entries(WatchedEntriesArgs),
    /// The stackless form of methods.
    Bir(WatchedBodiesArgs),
    /// Why methods let out what they do, and why calls go where they go.
    Explain(WatchedExplanationsArgs),
}

#[derive(Args, Debug)]
pub(crate) struct WatchedEntriesArgs {
    #[command(flatten)]
    pub(crate) classes: WatchedClassesArgs,
    /// Where the program starts: as `ajar entries` has it; may be repeated.
    #[arg(long, value_name = "PRESET|PATTERN")]
    pub(crate) entry: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct WatchedBodiesArgs {
    #[command(flatten)]
    pub(crate) classes: WatchedClassesArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
}

#[derive(Args, Debug)]
pub(crate) struct WatchedExplanationsArgs {
    #[command(flatten)]
    pub(crate) classes: WatchedClassesArgs,
    #[command(flatten)]
    pub(crate) explained: ExplainedArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
}

#[derive(Args, Debug)]
pub(crate) struct WatchedMethodsArgs {
    #[command(flatten)]
    pub(crate) classes: WatchedClassesArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
}

#[derive(Args, Debug)]
pub(crate) struct WatchedCallsArgs {
    #[command(flatten)]
    pub(crate) methods: WatchedMethodsArgs,
    /// Show the calls that may go to the selected methods, wherever in the program they are.
    #[arg(long, requires = "methods")]
    pub(crate) callers: bool,
}

#[derive(Args, Debug)]
pub(crate) struct WatchedClassesArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Form of what is printed [default: text]. As JSON lines the first answer is printed too, as facts that are all new.
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "jsonl"])]
    pub(crate) output_format: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct EntriesArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Show whether these methods are reached, each with the way from where control starts; may be repeated.
    #[arg(short, long = "method", value_name = "PATTERN")]
    pub(crate) methods: Vec<String>,
    /// Where the program starts: `app` (what a launcher runs: `main`, agents, services), `library` (what code that is not
    /// there can use), or methods as `-m` has them; may be repeated [default: app, or library if nothing can be launched].
    #[arg(long, value_name = "PRESET|PATTERN")]
    pub(crate) entry: Vec<String>,
    /// Say why each method is an entry point.
    #[arg(long, conflicts_with = "methods")]
    pub(crate) why: bool,
    /// For `-m`: which classes may exist besides those that are there.
    #[arg(long, value_enum, default_value_t = WorldArg::Open)]
    pub(crate) world: WorldArg,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ThrowsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ComposeArgs {
    /// Results of `ajar cfg` as JSON or JSON lines, of parts that have no method in common, extracted with the same JDK and
    /// settings. What they say must be of one program: a class that two of them saw is the same class.
    #[arg(required = true, num_args = 2.., value_name = "DOCUMENT")]
    pub(crate) documents: Vec<Utf8PathBuf>,
    /// Form of the result, which is a document like those that are read.
    #[arg(long, value_name = "FORMAT", value_parser = ["json", "jsonl"], default_value = "json")]
    pub(crate) output_format: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct BirArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    /// Libraries of the program; also written `-cp`.
    #[arg(long, value_name = "PATH")]
    pub(crate) class_path: Vec<String>,
    #[command(flatten)]
    pub(crate) platform: PlatformArgs,
    /// Form of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_flag_is_documented() {
        let mut command = Cli::command();
        command.build();
        for sub in command.get_subcommands().filter(|it| it.get_name() != "help") {
            assert!(sub.get_about().is_some(), "{}", sub.get_name());
            for flag in sub.get_arguments() {
                assert!(flag.get_help().is_some(), "{} {}", sub.get_name(), flag.get_id());
            }
        }
        command.debug_assert();
    }
}
