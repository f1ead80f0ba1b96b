//! The inputs of a command, opened: the world, the patterns of the methods that are selected, and the settings.

use std::time::{Duration, Instant};

use anyhow::bail;
use driver::config::Settings;
use driver::container::{ClassEntry, LoadedContainer, Scratch};
use driver::packages::{Closing, settle};
use driver::problem::Severity;
use driver::shown::shown;
use driver::world::{LoadedWorld, WorldSpec, load};
use export::frame::{Header, Trailer};
use ide::answer::declared_methods;
use ide::pattern::{MethodPattern, Nearest, NoMatch};
use ide::{MethodName, Text};

use crate::args::{Global, InputArgs, SelectArgs};
use crate::report;

/// What the settings and inputs ask to be opened.
pub(crate) fn spec(settings: &Settings, input: &InputArgs) -> WorldSpec {
    WorldSpec {
        inputs: input.inputs.clone(),
        class_path: settings.class_path.value.clone(),
        module_path: settings.module_path.value.clone(),
        jdk: settings.jdk.value.clone(),
        release: settings.release.value,
    }
}

/// The opened inputs of a command.
pub(crate) struct Run<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) global: &'a Global,
    spec: WorldSpec,
    world: LoadedWorld,
    /// Which packages are closed, and what was assumed for it.
    pub(crate) closing: Closing,
    patterns: Vec<MethodPattern>,
    /// How long opening and listing took.
    pub(crate) opening: Duration,
}

/// A class that the result shows.
pub(crate) struct ShownClass<'a> {
    /// Its number among the classes that are shown.
    pub(crate) number: usize,
    pub(crate) container: &'a LoadedContainer,
    pub(crate) entry: &'a ClassEntry,
}

impl<'a> Run<'a> {
    /// Parses the patterns and opens the inputs.
    pub(crate) fn open(
        settings: &'a Settings,
        global: &'a Global,
        input: &InputArgs,
        select: &SelectArgs,
    ) -> anyhow::Result<Self> {
        let begin = Instant::now();
        let spec = spec(settings, input);
        // Before anything is opened: a pattern that is malformed needs no world.
        let patterns = patterns(&select.methods)?;
        let mut world = load(&spec)?;
        let closing = settle(&mut world, settings);
        let run = Run { settings, global, spec, world, closing, patterns, opening: begin.elapsed() };
        if global.verbose {
            run.print_containers();
        }
        Ok(run)
    }

    /// Whether it was reported already that what is at the place cannot be read.
    pub(crate) fn is_reported(&self, place: &str) -> bool {
        self.world.problems.iter().any(|it| it.severity == Severity::Error && it.place == place)
    }

    /// What was asked to be opened.
    pub(crate) fn spec(&self) -> &WorldSpec {
        &self.spec
    }

    /// The world that was opened.
    pub(crate) fn world(&self) -> &LoadedWorld {
        &self.world
    }

    /// The header of a result that makes these assumptions.
    pub(crate) fn header(&self, command: &'static str, assumptions: &[&str]) -> Header {
        header(&self.world, command, assumptions)
    }

    fn print_containers(&self) {
        for it in &self.world.containers {
            let n = it.classes.len();
            eprintln!("{:>4} {:>7} {}", it.role.name(), n, it.name);
        }
    }

    /// The classes of the program in order, without those that the JVM would not find; these are added to the trailer.
    pub(crate) fn shown(&self, trailer: &mut Trailer) -> Vec<ShownClass<'_>> {
        let shown = shown(&self.world);
        trailer.notes.extend(shown.left_out);
        let class = |(number, (container, entry)): (usize, (usize, usize))| {
            let container = &*self.world.containers[container];
            ShownClass { number, container, entry: &container.classes[entry] }
        };
        shown.classes.into_iter().enumerate().map(class).collect()
    }

    /// The number of patterns.
    pub(crate) fn n_patterns(&self) -> usize {
        self.patterns.len()
    }

    /// Whether some pattern selects the method, or there is none.
    pub(crate) fn selects(&self, method: &MethodName) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|it| it.selects(method))
    }

    /// [`Run::selects`]; notes in `matched` which patterns select it.
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

    /// Checks that each pattern selected something.
    ///
    /// # Errors
    /// A pattern that selects nothing, with the nearest method. The trailer is printed before: a class that could not be read
    /// may have the method.
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
        Err(NoMatch { pattern: pattern.written.clone(), nearest: nearest.method() }.into())
    }
}

/// The header of a result about a world, with the assumptions that it makes.
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

/// The note about a class that lies at this path, if the JVM does not look for the class there.
pub(crate) fn defines_elsewhere(path: &str, class: Text) -> Option<String> {
    let path = path.strip_suffix(".class")?;
    let name = class.to_string();
    (path != name).then(|| format!("defines the class {name}, which the JVM does not look for here"))
}
