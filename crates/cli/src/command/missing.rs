//! `ajar missing`: shows missing classes, with hints where they may be found.

use std::io::Write;

use driver::nearby::nearby;
use export::frame::Trailer;
use export::missing::missing_json;
use ide::Missing;
use ide::Role;
use ide::hints::{Around, AroundJdk, Hint, hints};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::args::{Global, MissingArgs, SelectArgs, WorldArgs};
use crate::output::Output;
use crate::report::Ended;
use crate::run::Run;
use crate::text::missing::Checked;
use crate::text::style::Style;
use crate::whole::{self, Loaded};
use crate::{settings, text};

/// The maximum number of containers listed in the hints about one missing class.
const CONTAINERS: usize = 3;

/// Runs `ajar missing`.
pub(crate) fn run(args: &MissingArgs, global: &Global) -> anyhow::Result<Ended> {
    let (input, format) = (&args.input, args.output_format.as_ref());
    let settings = settings::resolve(global, &input.class_path, &input.platform, format)?;
    let format = settings::format(&settings, &["text", "json"])?;
    let run = Run::open(&settings, global, input, &SelectArgs { methods: Vec::new() })?;
    let world = WorldArgs::default();
    let Loaded { answers: whole, known } = whole::whole(&run, &world)?;
    let missing = with_hints(&run, whole.missing());
    let header = whole::header(&run, "missing", &world);
    let trailer = known.trailer(&run);
    let mut out = Output::open(args.output.output.as_ref())?;
    let bytes = if format == "json" {
        missing_json(&header, &missing, &trailer)
    } else {
        let style = Style { color: settings::colored(&settings, out.is_terminal()) };
        let mut bytes = text::header(&header, "", style);
        text::missing::list(&mut bytes, &missing, checked(&run), style);
        bytes
    };
    out.write_all(&bytes)?;
    out.finish()?;
    Ok(Ended::with(run.end(&trailer, known.outcome), whole))
}

/// Returns the numbers of classes of the program and of its libraries.
fn checked(run: &Run<'_>) -> Checked {
    let in_libraries = run.world().classes().filter(|it| it.0.analysed_role() == Role::Lib).count();
    Checked { classes: run.shown(&mut Trailer::default()).len(), in_libraries }
}

fn with_hints(run: &Run<'_>, missing: Vec<Missing>) -> Vec<(Missing, Vec<Hint>)> {
    let path = |it: &Missing| format!("{}.class", it.class);
    let wanted: FxHashSet<String> = missing.iter().map(path).collect();
    let mut archives = nearby(run.spec(), run.world(), &wanted);
    let packages: FxHashSet<&str> = wanted.iter().map(|it| package(it)).collect();
    let mut unreadable: FxHashMap<&str, String> = FxHashMap::default();
    let mut containers: FxHashMap<&str, Vec<String>> = FxHashMap::default();
    let mut jdk_packages: FxHashSet<&str> = FxHashSet::default();
    for (container, entry) in run.world().classes().filter(|it| it.0.has_paths) {
        let package = package(entry.path());
        if !packages.contains(package) {
            continue;
        }
        // If there is a class file at the path of a missing class, it cannot be read or defines another class.
        if wanted.contains(entry.path()) {
            unreadable.entry(entry.path()).or_insert_with(|| container.display(entry));
        } else if container.platform || container.role == Role::Jdk {
            jdk_packages.insert(package);
        } else if !package.is_empty() {
            let names = containers.entry(package).or_default();
            if names.len() < CONTAINERS && !names.contains(&container.name) {
                names.push(container.name.clone());
            }
        }
    }
    let unresolved: FxHashMap<&str, &str> =
        run.closing.unresolved.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    let has_jdk = run.world().jdk.is_some();
    let hints_for = |it: Missing| {
        let path = path(&it);
        let package = package(&path);
        let jdk = AroundJdk { release: run.world().release, has_package: jdk_packages.contains(package) };
        let around = Around {
            unreadable: unreadable.get(path.as_str()).cloned(),
            archives: archives.remove(&path).unwrap_or_default(),
            containers: containers.get(package).cloned().unwrap_or_default(),
            unresolved: unresolved.get(package).map(|it| (*it).to_owned()),
            jdk: has_jdk.then_some(jdk),
        };
        let hints = hints(it.class, around);
        (it, hints)
    };
    missing.into_iter().map(hints_for).collect()
}

/// Returns the package of a path: `p/q` for `p/q/C.class`.
fn package(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}
