//! The opened inputs of a command: the world, the patterns for the selected methods, and the settings.

use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use driver::config::Settings;
use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::packages::{Closing, settle};
use driver::problem::Severity;
use driver::shown::shown;
use driver::world::{LoadedWorld, WorldSpec, load};
use export::frame::{Header, Trailer};
use ide::answer::declared_methods;
use ide::pattern::{MethodPattern, Nearest, NoMatch};
use ide::{Human, MethodName, Role};
use rustc_hash::FxHashSet;

use crate::args::{Global, InputArgs, SelectArgs};
use crate::report::{self, Outcome};

/// Returns the paths and options for opening the inputs, from the settings and the arguments.
///
/// # Errors
/// An input that is Java source, or a method pattern instead of an input.
pub(crate) fn spec(settings: &Settings, input: &InputArgs) -> anyhow::Result<WorldSpec> {
    if let Some(source) = input.inputs.iter().find(|it| it.extension() == Some("java")) {
        bail!(
            "{source}: the file is Java source, and ajar reads only compiled classes; compile it, for example by `javac -d classes {source}`, and give ajar the folder `classes`"
        );
    }
    if let Some(pattern) = input.inputs.iter().find(|it| !it.exists() && is_like_a_pattern(it.as_str())) {
        bail!("{pattern}: there is no such file or folder; to select methods, write `-m '{pattern}'`");
    }
    Ok(WorldSpec {
        inputs: input.inputs.clone(),
        class_path: settings.class_path.value.clone(),
        module_path: settings.module_path.value.clone(),
        jdk: settings.jdk.value.clone(),
        release: settings.release.value,
    })
}

/// Whether the text is rather a method pattern, such as `p.C.m(int)`, than the path of a file or folder.
fn is_like_a_pattern(text: &str) -> bool {
    let fits = |it: char| it.is_alphanumeric() || "_$.*?<>(),[]".contains(it);
    let extensions = ["jar", "war", "ear", "zip", "class", "jmod"];
    let is_file = text.rsplit_once('.').is_none_or(|it| extensions.contains(&it.1));
    !is_file && !text.starts_with('.') && text.chars().all(fits)
}

/// The opened inputs of a command.
pub(crate) struct Run<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) global: &'a Global,
    spec: WorldSpec,
    world: LoadedWorld,
    /// Facts about packages to which no unseen class belongs, and the assumptions behind these facts.
    pub(crate) closing: Closing,
    patterns: Vec<MethodPattern>,
    /// The time that opening and listing the inputs took.
    pub(crate) opening: Duration,
}

/// A class that the result shows.
pub(crate) struct ShownClass<'a> {
    /// The index of the class among the shown classes.
    pub(crate) number: usize,
    pub(crate) container: &'a LoadedContainer,
    pub(crate) entry: &'a ClassEntry,
}

impl<'a> Run<'a> {
    /// Parses the patterns and opens the inputs.
    ///
    /// # Errors
    /// A malformed pattern, an input that cannot be opened, or inputs that all have no classes.
    pub(crate) fn open(
        settings: &'a Settings,
        global: &'a Global,
        input: &InputArgs,
        select: &SelectArgs,
    ) -> anyhow::Result<Self> {
        let begin = Instant::now();
        let spec = spec(settings, input)?;
        // Patterns are parsed first, so that a malformed one is reported without opening anything.
        let patterns = patterns(&select.methods)?;
        let mut world = load(&spec)?;
        if !world.has_program {
            return Err(no_program(&world));
        }
        let closing = settle(&mut world, settings)?;
        let run = Run { settings, global, spec, world, closing, patterns, opening: begin.elapsed() };
        if global.verbose {
            run.print_containers();
        }
        Ok(run)
    }

    /// Whether the opening of the inputs already found an error at this place, for example that the file cannot be
    /// read.
    pub(crate) fn is_reported(&self, place: &str) -> bool {
        self.world.problems.iter().any(|it| it.severity == Severity::Error && it.place == place)
    }

    /// The paths and options with which the inputs were opened.
    pub(crate) fn spec(&self) -> &WorldSpec {
        &self.spec
    }

    /// The opened inputs: their containers and classes.
    pub(crate) fn world(&self) -> &LoadedWorld {
        &self.world
    }

    /// Returns the header of a result of the command. The result is based on these assumptions.
    pub(crate) fn header(&self, command: &'static str, assumptions: &[&str]) -> Header {
        header(&self.world, command, assumptions)
    }

    fn print_containers(&self) {
        for it in &self.world.containers {
            let n = it.classes.len();
            let classes = if n == 1 { "class" } else { "classes" };
            eprintln!("{:>4} {n:>7} {classes:<7} {}", it.role.name(), it.name);
            if let Some(text) = it.versions_note() {
                eprintln!("note: {}: {text}", it.name);
            }
        }
    }

    /// Returns the classes of the program in class-path order, without those that the JVM would not find. Adds a note
    /// to the trailer for each class that is left out.
    pub(crate) fn shown(&self, trailer: &mut Trailer) -> Vec<ShownClass<'_>> {
        let shown = shown(&self.world);
        trailer.notes.extend(shown.left_out);
        let class = |(number, (container, entry)): (usize, (usize, usize))| {
            let container = &*self.world.containers[container];
            ShownClass { number, container, entry: &container.classes[entry] }
        };
        shown.classes.into_iter().enumerate().map(class).collect()
    }

    /// Prints the report at the end of a run that ended with `outcome`. Returns the outcome of the run, which with
    /// `--strict` also depends on the parts that were left out.
    pub(crate) fn end(&self, trailer: &Trailer, outcome: Outcome) -> Outcome {
        report::end(trailer, self.nothing_read(trailer), self.global, outcome)
    }

    /// Returns whether the inputs have classes, and none of them could be read according to the trailer.
    fn nothing_read(&self, trailer: &Trailer) -> bool {
        let failed: FxHashSet<&str> = trailer.failed_classes.iter().map(|it| &*it.place).collect();
        if failed.is_empty() {
            return false;
        }
        let shown = self.shown(&mut Trailer::default());
        !shown.is_empty() && shown.iter().all(|it| failed.contains(&*it.container.display(it.entry)))
    }

    /// The patterns for methods.
    pub(crate) fn patterns(&self) -> &[MethodPattern] {
        &self.patterns
    }

    /// The number of patterns for methods.
    pub(crate) fn n_patterns(&self) -> usize {
        self.patterns.len()
    }

    /// Whether a pattern selects the method. Without patterns, every method is selected.
    pub(crate) fn selects(&self, method: &MethodName) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|it| it.selects(method))
    }

    /// Like [`Run::selects`]; also sets the elements of `matched` whose patterns select the method.
    pub(crate) fn selects_noting(&self, method: &MethodName, matched: &mut [bool]) -> bool {
        let mut any = self.patterns.is_empty();
        for (pattern, matched) in self.patterns.iter().zip(matched) {
            if pattern.selects(method) {
                *matched = true;
                any = true;
            }
        }
        any
    }

    /// Checks that each pattern selected a method.
    ///
    /// # Errors
    /// A pattern that selects no method. The error names the methods with the most similar names. The trailer is
    /// printed first, as a class that could not be read may have the method.
    pub(crate) fn check_patterns(
        &self,
        matched: &[bool],
        classes: &[ShownClass<'_>],
        trailer: &Trailer,
    ) -> anyhow::Result<()> {
        let unmatched = self.patterns.iter().zip(matched).find(|it| !it.1).map(|it| it.0);
        let Some(pattern) = unmatched else { return Ok(()) };
        report::print(trailer, self.global);
        let mut nearest = Nearest::default();
        let mut scratch = Scratch::default();
        for it in classes {
            if let Ok(class) = it.container.bytes(it.entry, &mut scratch) {
                declared_methods(class.bytes).iter().for_each(|it| nearest.offer(pattern, it));
            }
        }
        if classes.is_empty() {
            bail!("no method matches `{}`: the inputs hold no class", pattern.written);
        }
        if let Some((method, role)) = self.library_method(pattern) {
            let (of, input) = match role {
                Role::Jdk => ("the JDK", "the JDK"),
                Role::Lib | Role::App => ("a library", "the library"),
            };
            bail!(
                "no method of the inputs matches `{}`, but {} of {of} does; this command answers only for the inputs: use `ajar explain` or `ajar entries`, or name {input} as an input",
                pattern.written,
                Human(method)
            );
        }
        Err(NoMatch { pattern: pattern.written.clone(), nearest }.into())
    }
}

/// Returns the error of inputs that all have no classes. Prints first, if there are several reasons, what is wrong with each.
fn no_program(world: &LoadedWorld) -> anyhow::Error {
    let reasons: Vec<_> = world.problems.iter().filter(|it| it.severity != Severity::Note).collect();
    if let [it] = reasons[..] {
        return anyhow!("{}: {}", it.place, it.what);
    }
    reasons.iter().for_each(|it| eprintln!("{it}"));
    anyhow!("the inputs have no class files")
}

impl Run<'_> {
    /// Returns a method of a library or of the JDK that the pattern selects, with the role of its class. Finds only
    /// methods of classes whose names the pattern writes out.
    fn library_method(&self, pattern: &MethodPattern) -> Option<(MethodName, Role)> {
        let written = pattern.written.replace('/', ".");
        let names = |path: &str| {
            let class = path.strip_suffix(".class").unwrap_or(path).replace('/', ".");
            written.strip_prefix(&class).is_some_and(|it| it.is_empty() || it.starts_with(['.', '(']))
        };
        let mut scratch = Scratch::default();
        let others = self.world.classes().filter(|it| it.0.role != Role::App && names(it.1.path()));
        for (container, entry) in others {
            let Ok(class) = container.bytes(entry, &mut scratch) else { continue };
            if let Some(it) = declared_methods(class.bytes).into_iter().find(|it| pattern.selects(it)) {
                return Some((it, container.role));
            }
        }
        None
    }
}

/// Returns the header of a result about the opened inputs in `world`. The result is based on these assumptions.
pub(crate) fn header(world: &LoadedWorld, command: &'static str, assumptions: &[&str]) -> Header {
    Header {
        command,
        version: env!("CARGO_PKG_VERSION"),
        jdk: world.jdk.as_ref().map(driver::jdk::JdkInfo::description),
        release: world.release,
        profile: "jvm",
        world: "open",
        names: None,
        vm_error_groups: vec!["init"],
        assumptions: assumptions.iter().map(|it| (*it).to_owned()).collect(),
        apart: false,
        containers: world.containers.iter().map(|it| (it.name.clone(), it.role.name())).collect(),
    }
}

/// Parses method patterns.
///
/// # Errors
/// A malformed pattern.
pub(crate) fn patterns(texts: &[String]) -> anyhow::Result<Vec<MethodPattern>> {
    texts.iter().map(|it| MethodPattern::parse(it)).collect::<Result<_, _>>().map_err(anyhow::Error::msg)
}
