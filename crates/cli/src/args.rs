//! The command line: commands, arguments and flags, with their help texts.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use ide::entries::Receivers;

/// Appends the exit codes to the text at the end of a help page. Each paragraph is one line of the text, because clap wraps
/// the lines at the width of the terminal.
macro_rules! page_end {
    ($text:literal) => {
        concat!(
            $text,
            "\n\nExit codes: 0 success, also if parts of the input could not be read or classes are missing; 2 error in \
             arguments, configuration or I/O, or with --strict a part of the input that was left out; 101 bug of ajar."
        )
    };
}

/// Appends the forms of method patterns to the help of a flag.
macro_rules! pattern_help {
    ($text:literal) => {
        concat!(
            $text,
            " Patterns: `p.C.m(int,java.lang.String)`, `p.C.m`; `p.C` for all methods of the class; `p.C.*` also for those of its \
             nested classes; `p.*` for the package and all below it; `*Test.test?`; internal names, such as `p/C.m(I)V`. A \
             nested class is `p.C.D` or `p.C$D`. The body of a lambda is `p.C.lambda$main$0`; a shell needs single quotes \
             around `$`."
        )
    };
}

const EXAMPLE: &str = page_end!(
    "\
Examples:
  ajar cfg app.jar -cp 'lib/*' -m 'shop.Order.total'   the graph of one method, as text
  ajar cfg app.jar --output-format dot | dot -Tsvg -O  a picture of each method
  ajar bir app.jar -m 'shop.*'                         stackless code of the classes of a package
  ajar stats app.war --output-format json              sizes, processor time and memory

Marks in text answers: `!` an exception or error that code which was read may cause, `?` what code that was not read may \
add, `C+` the class C or any of its subclasses, `->` what runs next or may run. The first lines of each answer explain the \
marks that it uses, and name its settings and assumptions.

VM errors: the first line of each answer names the kinds of errors that it covers besides those that code raises by itself: \
`initialisation` (such as ExceptionInInitializerError), `linking` (the link errors that follow from present classes; all \
with --link-errors), and `asynchronous` (with --async-errors).

JSON: the schemas in the folder crates/export/schemas of ajar's sources describe the fields."
);

/// The end of the help of `ajar watch`.
const WATCHING: &str = page_end!(
    "\
Examples:
  ajar watch throws classes -m 'shop.*'    each change of the exceptions of the package
  ajar watch calls classes --once          wait for one change; the flags of `watch` may come at the end

The first lines of each text answer name its settings and assumptions."
);

/// The end of the help about answers about exceptions: what the marks in text mean.
const EXCEPTION_MARKS: &str = page_end!(
    "\
Marks: `!` exceptions that code which was read may throw; `?` exceptions that code which was not read may add; `C+` the \
class C or any of its subclasses; in `ajar throws --apart`, `~` a call on an object of unknown class, or an initialiser: \
what it throws, unless it is caught. The summary at the end counts the methods by kind of answer.

VM errors: the first line of the answer names the kinds of errors that it covers besides those that code raises by itself: \
`initialisation` (such as ExceptionInInitializerError), `linking` (the link errors that follow from present classes; all \
with --link-errors), and `asynchronous` (with --async-errors)."
);

/// The end of the help of `ajar cfg`: how to read instructions and the end of the answer.
const GRAPHS: &str = page_end!(
    "\
Instructions: `a0` or `i1` is the local variable 0 or 1 with the letter of its kind: `a` reference, `i` int, `l` long, `f` \
float, `d` double. `$a0` is a temporary, and `%a0` an entry of the operand stack. `:=` assigns. `mayinit C` may run the \
initialiser of the class C. `assert X` raises an exception if X does not hold; `// proved` after it means that X always holds. \
Instructions that only move values on the operand stack are not shown, so the pcs have gaps.

Marks: `!` exceptions that code which was read may throw; `?` exceptions that code which was not read may add; `C+` the \
class C or any of its subclasses. The summary at the end counts the methods by kind of answer.

For `ajar compose`: the answer provides the graphs of the methods that it shows, and requires those of all other methods, \
except methods of the JDK, that these may run. The last lines say so: `provides 1 method, requires 6 methods of other parts`.

VM errors: the first line of the answer names the kinds of errors that it covers besides those that code raises by itself: \
`initialisation` (such as ExceptionInInitializerError), `linking` (the link errors that follow from present classes; all \
with --link-errors), and `asynchronous` (with --async-errors)."
);

/// The end of the help about answers about calls: what the marks in text mean.
const CALL_MARKS: &str = page_end!(
    "\
Marks: `->` a method that the call may run; `?>` a method that it may run, if a class that was not read inherits it; `?` the call may \
run code that was not read; `!` a link error. The summary at the end counts the methods by kind of answer.

Reflective calls show the members that constants name, and `?` if other code may run."
);

/// The end of the help about missing classes: the places where their names are searched.
const MISSING_COUNTED: &str = page_end!(
    "\
Checked are the classes that code, supertypes and `throws` clauses of the inputs name. Not checked are the names in \
annotations and descriptors, and those in libraries: name a library as an input to check it."
);

/// The end of the help of `ajar config`: the origins of settings.
const ORIGINS: &str = "\
Origins, from the strongest to the weakest: `--FLAG on the command line`; `AJAR_NAME in the environment` (also NO_COLOR for \
colours); the path of the file `ajar.toml`, which is searched in the current folder and in its parent folders; `default`. After \
`default:` stands the rule by which the value was found.";

/// The end of the help of other commands.
const OTHER: &str = page_end!("The first lines of each text answer name its settings and assumptions.");

/// Analyses Java programs, also if some of their classes are missing: control-flow graphs, call targets, exceptions.
///
/// ajar reads class files; it needs no source, no build and no JVM. Inputs are jars, wars, Spring Boot jars, class
/// folders, class files, and JDK homes or images. `@FILE` is replaced by the arguments in the file, like in javac.
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
    /// Show the control-flow graph of each method, with the exceptions that its instructions raise.
    #[command(after_help = GRAPHS)]
    Cfg(CfgArgs),
    /// Show the methods that each call may run.
    #[command(after_help = CALL_MARKS)]
    Calls(CallsArgs),
    /// Show the exceptions that may leave each method.
    #[command(after_help = EXCEPTION_MARKS)]
    Throws(ThrowsArgs),
    /// Show why a method may throw an exception, or why a call may run a method.
    #[command(after_help = EXCEPTION_MARKS)]
    Explain(ExplainArgs),
    /// Show the missing classes, the methods that need them, and the methods whose calls are less precise without them.
    #[command(after_help = MISSING_COUNTED)]
    Missing(MissingArgs),
    /// Keep an answer current while jars and class folders change, and print each change of the answer.
    #[command(after_help = WATCHING)]
    Watch(WatchArgs),
    /// Show the entry points of the program, and whether methods are reached from them.
    #[command(after_help = OTHER)]
    Entries(EntriesArgs),
    /// Combine graphs that were extracted separately: calls between the parts are linked, and unknown exceptions of
    /// these calls are replaced by the exceptions of the called methods.
    Compose(ComposeArgs),
    /// Show methods as stackless code (BIR).
    #[command(after_help = OTHER)]
    Bir(BirArgs),
    /// Show the size of the program and the processor time and memory of its analysis.
    #[command(after_help = OTHER)]
    Stats(StatsArgs),
    /// Show the value and origin of each setting.
    #[command(after_help = ORIGINS)]
    Config(ConfigArgs),
    /// Print a script that completes the arguments of ajar in a shell.
    Completions(CompletionsArgs),
}

#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Print the result without progress, notes, and the list of what could not be read. The first lines of the result,
    /// which name its settings, stay.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more on stderr: the opened containers, and all notes instead of at most 10.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Exit with code 2 if a part of the input was left out of the result: a class or method that cannot be read, or
    /// an entry of the class path that does not exist. Missing classes are not counted. The result is the same.
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// When to colour text [default: auto, which means on a terminal and without NO_COLOR].
    #[arg(long, global = true, value_name = "WHEN", value_parser = ["auto", "always", "never"])]
    pub(crate) color: Option<String>,
}

/// The inputs of an analysis.
#[derive(Args, Debug)]
pub(crate) struct InputArgs {
    /// The program: jars, wars, folders, class files, JDK homes or images. `FOLDER/*` stands for all jars in the
    /// folder.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<Utf8PathBuf>,
    /// Libraries of the program, which are analysed but not shown; also written `-cp`. `FOLDER/*` stands for all jars
    /// in the folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) class_path: Vec<String>,
    #[command(flatten)]
    pub(crate) platform: PlatformArgs,
}

/// The platform that the program runs on, and the number of threads of ajar.
#[derive(Args, Debug)]
pub(crate) struct PlatformArgs {
    /// Modules of the program, and folders of modules, analysed as libraries. It is assumed that unseen classes are
    /// not in the packages of these modules, and do not extend classes that the modules do not export.
    #[arg(long, value_name = "PATH")]
    pub(crate) module_path: Vec<String>,
    /// Export a package of the JDK or of a module to all code, like the same flag of `java`; may be repeated.
    #[arg(long, value_name = "MODULE/PACKAGE", value_parser = driver::config::exported_package)]
    pub(crate) add_exports: Vec<String>,
    /// Modules that are resolved besides the default ones, separated by commas, like the same flag of `java`: names,
    /// such as `jdk.incubator.vector`, or `ALL-SYSTEM` for all modules of the JDK; may be repeated.
    #[arg(long, value_name = "MODULE,...", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) add_modules: Vec<String>,
    /// Trust manifests that seal packages: unseen classes are assumed not to be in sealed packages.
    #[arg(long)]
    pub(crate) trust_sealed: bool,
    /// The JDK whose class library the program uses: its home folder, an image, or `none`. With `none`, the classes of
    /// the JDK count as missing, so their supertypes are unknown [default: JAVA_HOME, else the JDK of the `java` on the PATH,
    /// else none].
    #[arg(long, value_name = "HOME")]
    pub(crate) jdk: Option<String>,
    /// The Java release that runs the program. It selects classes in multi-release jars, and the rules of the VM and its
    /// native methods [default: the release of the JDK, else 25].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) release: Option<u16>,
    /// The number of threads [default: one per processor]. The output does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

/// The methods that are shown.
#[derive(Args, Debug)]
pub(crate) struct SelectArgs {
    #[arg(short, long = "method", value_name = "PATTERN", help = pattern_help!("Show only the methods that match the pattern; may be repeated."))]
    pub(crate) methods: Vec<String>,
}

/// The assumptions of answers about a whole program.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WorldArgs {
    /// The rules of the analysis: with `jvm`, answers cover everything that a JVM may do; `paper` follows the paper
    /// about CONFLEX, and its answers may miss some behaviour.
    #[arg(long, value_enum, default_value_t = ProfileArg::Jvm)]
    pub(crate) profile: ProfileArg,
    /// The classes that may exist besides the inputs, libraries and JDK: any (`open`), only those that present
    /// classes name (`declared`), none (`closed`) [default: open; for profile `paper`, only `declared` is supported].
    #[arg(long, value_enum)]
    pub(crate) world: Option<WorldArg>,
    /// Assume that unseen code throws only unchecked exceptions and those in the `throws` clause of its method.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) assume: Option<AssumeArg>,
    /// Include the linkage errors that missing classes may cause, and the exceptions that class loaders of the
    /// program throw where a class is resolved. By default, only linkage errors that follow from present classes are
    /// included.
    #[arg(long)]
    pub(crate) link_errors: bool,
    /// Include StackOverflowError, OutOfMemoryError, InternalError and ThreadDeath, which any instruction may raise.
    #[arg(long)]
    pub(crate) async_errors: bool,
    /// Count the assertions of the JDK's own classes, as with `java -esa`: they may run code and fail. Without this flag,
    /// only the assertions of other classes do; before Java 9, those of all classes.
    #[arg(long)]
    pub(crate) system_assertions: bool,
    /// Restrict call targets to receivers that are created in code that is reached from the entry points (rapid type
    /// analysis), and leave out methods that are not reached. Assumes that reflection runs only what constants name
    /// and code that is also reached without reflection.
    #[arg(long)]
    pub(crate) rta: bool,
    /// Leave out methods that are not reached from these entry points: `app` (the methods that a launcher runs:
    /// `main`, agents, services), `library` (the methods that unseen code can call), or a method pattern like that of
    /// `-m`; may be repeated. Without `--rta`, calls go to all their targets (class hierarchy analysis) [default with
    /// `--rta`: app; library if a launcher runs no method].
    #[arg(long, value_name = "PRESET|PATTERN")]
    pub(crate) entry: Vec<String>,
}

impl WorldArgs {
    /// The classes whose objects count as receivers in the search for code that is reached from the entry points;
    /// `None` if there is no such search, so that all code counts as reached.
    pub(crate) fn receivers(&self) -> Option<Receivers> {
        match (self.rta, self.entry.is_empty()) {
            (true, _) => Some(Receivers::Created),
            (false, false) => Some(Receivers::Any),
            (false, true) => None,
        }
    }

    /// Returns the arguments without the search for reached code, for answers that only list entry points.
    pub(crate) fn without_search(&self) -> WorldArgs {
        WorldArgs { rta: false, entry: Vec::new(), ..self.clone() }
    }

    /// The flag that leaves methods out of the result if they are not reached.
    pub(crate) fn reaching_flag(&self) -> &'static str {
        if self.rta { "--rta" } else { "--entry" }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum ProfileArg {
    #[default]
    /// Answers cover everything that a JVM of Java 8 to 25 may do, whatever the missing classes are.
    Jvm,
    /// The rules of CONFLEX: exception types are enumerated, every check of the stackless code may fail, initialisers
    /// and dynamic call sites are ignored, and methods of the JDK throw what their `throws` clauses declare.
    Paper,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum WorldArg {
    /// Any number of unseen classes, which may do anything that Java allows.
    Open,
    /// All class names and the class hierarchy are known, only code may be missing.
    Declared,
    /// No class exists besides the inputs, libraries and JDK.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum AssumeArg {
    /// Unseen code throws only unchecked exceptions and those in its `throws` clause.
    Contract,
}

/// The destination of the result.
#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// Write the result to this file instead of stdout. The file appears when the result is complete.
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
    /// The format of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl", "dot", "graphml"])]
    pub(crate) output_format: Option<String>,
    /// The nodes of Graphviz output (`--output-format dot`): basic blocks, or single instructions.
    #[arg(long, value_enum, default_value_t = NodesArg::Blocks)]
    pub(crate) nodes: NodesArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum NodesArg {
    /// Basic blocks, which are easier to read.
    Blocks,
    /// One node for each instruction and for each set of exceptions.
    Instructions,
}

#[derive(Args, Debug)]
pub(crate) struct CallsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Show the calls, in all methods of the program, that may run the selected methods. Calls in libraries and in the
    /// JDK are not searched; name a library as an input to search it.
    #[arg(long, requires = "methods")]
    pub(crate) callers: bool,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// The format of the result [default: text]. `edges` has one line for each edge, between comment lines that start
    /// with `#`. Its fields are separated by tabs: caller, pc, callee, kind and note. The kind is as in JSON, such as
    /// `virtual` or `clinit`. The callee `?` stands for code that was not read; the note then is the cause, such as
    /// `outside:p/C` for the missing class p.C. The note `possible` means that the edge depends on missing classes.
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl", "dot", "graphml", "edges"])]
    pub(crate) output_format: Option<String>,
    /// Show only the edges that are in this answer and not in a saved one, or the reverse. The file is an earlier
    /// result of `--output-format edges` or `jsonl`. Edges are compared without their pc.
    #[arg(long, value_name = "SAVED", conflicts_with = "output_format")]
    pub(crate) against: Option<Utf8PathBuf>,
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
    /// The format of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The exceptions and calls that are explained.
#[derive(Args, Debug)]
pub(crate) struct ExplainedArgs {
    #[arg(short, long = "method", value_name = "PATTERN[@PC]", required = true, help = pattern_help!("The methods to explain. \
        `p.C.m@12` selects the instruction at pc 12: the targets of its calls, and the exceptions that it raises, including \
        those that a handler catches."))]
    pub(crate) method: String,
    /// Explain only exceptions of this class and its subclasses.
    #[arg(long, value_name = "CLASS", conflicts_with = "target")]
    pub(crate) exception: Option<String>,
    /// Explain only calls that may run the methods that match the pattern.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) target: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct MissingArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The format of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    /// Clear the terminal each time before changes of the answer are printed.
    #[arg(long, global = true)]
    pub(crate) clear: bool,
    /// Exit when the answer was updated after the first change of a file. The answer at the start does not count as an
    /// update.
    #[arg(long, global = true)]
    pub(crate) once: bool,
    /// Check the files for changes at this interval, in milliseconds, instead of waiting for notifications of the
    /// system. Needed for folders without notifications, such as network drives.
    #[arg(long, global = true, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..))]
    pub(crate) poll: Option<u64>,
    #[command(subcommand)]
    pub(crate) answer: WatchedArgs,
}

/// The answer that is kept current.
#[derive(Subcommand, Debug)]
pub(crate) enum WatchedArgs {
    /// Watch the edges of control-flow graphs.
    Cfg(WatchedMethodsArgs),
    /// Watch the methods that each call may run.
    Calls(WatchedCallsArgs),
    /// Watch the exceptions that may leave each method.
    Throws(WatchedMethodsArgs),
    /// Watch the missing classes.
    Missing(WatchedClassesArgs),
    /// Watch the entry points of the program.
    Entries(WatchedEntriesArgs),
    /// Watch the stackless code (BIR) of methods.
    Bir(WatchedBodiesArgs),
    /// Watch why methods may throw exceptions, and why calls may run methods.
    Explain(WatchedExplanationsArgs),
}

#[derive(Args, Debug)]
pub(crate) struct WatchedEntriesArgs {
    #[command(flatten)]
    pub(crate) classes: WatchedClassesArgs,
    /// The entry points: `app`, `library`, or a method pattern, like `--entry` of `ajar entries`; may be repeated.
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
    /// Show the calls, in all methods of the program, that may run the selected methods.
    #[arg(long, requires = "methods")]
    pub(crate) callers: bool,
}

#[derive(Args, Debug)]
pub(crate) struct WatchedClassesArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The format of the changes [default: text]. Output as `jsonl` begins with the first answer, each fact of which
    /// is printed as a new fact.
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "jsonl"])]
    pub(crate) output_format: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct EntriesArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[arg(short, long = "method", value_name = "PATTERN", help = pattern_help!("Show whether the methods that match the pattern \
        are reached, each with a call path from an entry point; may be repeated."))]
    pub(crate) methods: Vec<String>,
    /// The entry points: `app` (the methods that a launcher runs: `main`, agents, services), `library` (the methods
    /// that unseen code can call), or a method pattern like that of `-m`; may be repeated [default: app; library if a
    /// launcher runs no method].
    #[arg(long, value_name = "PRESET|PATTERN")]
    pub(crate) entry: Vec<String>,
    /// Show why each method is an entry point.
    #[arg(long, conflicts_with = "methods")]
    pub(crate) why: bool,
    /// With `-m`: calls go only to receivers that are created in code that is reached from the entry points (rapid
    /// type analysis). By default, calls go to all their targets (class hierarchy analysis).
    #[arg(long, requires = "methods")]
    pub(crate) rta: bool,
    /// With `-m`: the classes that may exist besides the inputs, libraries and JDK.
    #[arg(long, value_enum, default_value_t = WorldArg::Open, requires = "methods")]
    pub(crate) world: WorldArg,
    /// The format of the result [default: text].
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
    /// Set apart what comes from calls on objects of unknown classes, such as `Iterator.next()`, and from initialisers: name
    /// these calls, each with what present code throws there, instead of adding all exceptions to the answer. A method with
    /// more than 8 such calls is answered as without this flag.
    #[arg(long)]
    pub(crate) apart: bool,
    /// The format of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "jsonl"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ComposeArgs {
    /// Results of `ajar cfg` as JSON or JSON lines, for parts of one program that have no method in common, extracted
    /// with the same JDK and settings. If two of the results are about the same class, or have it among their
    /// libraries, its class file must be the same for both.
    #[arg(required = true, num_args = 2.., value_name = "DOCUMENT")]
    pub(crate) documents: Vec<Utf8PathBuf>,
    /// The format of the result. The result can be an input of another `ajar compose`.
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
    /// The format of the result [default: text].
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
    /// The format of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    /// Libraries of the program; also written `-cp`. `FOLDER/*` stands for all jars in the folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) class_path: Vec<String>,
    #[command(flatten)]
    pub(crate) platform: PlatformArgs,
    /// The format of the result [default: text].
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub(crate) output_format: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell to print the script for.
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
