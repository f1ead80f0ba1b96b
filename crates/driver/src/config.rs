//! The configuration. Options on the command line take precedence over environment variables, these over the nearest
//! `ajar.toml`, and that file over the defaults. The origin of each setting is kept, and `ajar config` shows it.

use std::fmt;

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use toml::Value;

use crate::jdk::{JdkChoice, JdkInfo};
use crate::world::{DEFAULT_RELEASE, split_class_path};

/// The settings of a run of ajar. Each comes from the command line, the environment or `ajar.toml`, or is a built-in
/// default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// `class-path`: the archives and class folders of the program's libraries.
    pub class_path: Setting<Vec<Utf8PathBuf>>,
    /// `module-path`: the entries of the module path. Each entry is a module, or a folder of modules.
    pub module_path: Setting<Vec<Utf8PathBuf>>,
    /// `add-exports`: the packages that are treated as exported although their modules do not export them, each
    /// written `module/package`.
    pub add_exports: Setting<Vec<String>>,
    /// `add-modules`: the modules that are root modules besides the default ones, by name; also `ALL-DEFAULT`,
    /// `ALL-SYSTEM` and `ALL-MODULE-PATH`.
    pub add_modules: Setting<Vec<String>>,
    /// `trust-sealed`: whether the packages that the manifest of a jar declares sealed are assumed to have no classes
    /// besides those in the inputs.
    pub trust_sealed: Setting<bool>,
    /// `jdk`: the JDK whose class library is used.
    pub jdk: Setting<JdkChoice>,
    /// `release`: the Java release for which entries of multi-release jars are selected; `None` means the release of
    /// the JDK.
    pub release: Setting<Option<u16>>,
    /// `threads`: the number of worker threads.
    pub threads: Setting<usize>,
    /// `output-format`: the output format; `None` means the default format of the command.
    pub output_format: Setting<Option<String>>,
    /// `color`: when the output is coloured.
    pub color: Setting<Color>,
}

/// The value of a setting, and where the value was set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting<T> {
    /// The value of the setting.
    pub value: T,
    /// Where the value was set.
    pub origin: Origin,
}

/// Where the value of a setting was set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The value is the built-in default.
    Default,
    /// The value follows from a default rule, which is this text.
    Rule(&'static str),
    /// The value was set in the `ajar.toml` at this path.
    File(Utf8PathBuf),
    /// The value was set by the environment variable with this name.
    Environment(String),
    /// The value was set by the command-line flag with this name.
    CommandLine(String),
}

/// When the output is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Color {
    /// The output is coloured if it goes to a terminal.
    Auto,
    /// The output is always coloured.
    Always,
    /// The output is never coloured.
    Never,
}

/// The settings given on the command line; `None` for each setting that is not given there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    /// `--class-path`: the libraries of the program. If the option is given several times, the paths of all its
    /// occurrences, in order.
    pub class_path: Option<Vec<Utf8PathBuf>>,
    /// `--module-path`: the entries of the module path. If the option is given several times, the paths of all its
    /// occurrences, in order.
    pub module_path: Option<Vec<Utf8PathBuf>>,
    /// `--add-exports`: the packages that are treated as exported, each written `module/package`.
    pub add_exports: Option<Vec<String>>,
    /// `--add-modules`: the modules that are root modules besides the default ones.
    pub add_modules: Option<Vec<String>>,
    /// `--trust-sealed`: whether the packages that the manifest of a jar declares sealed are assumed to have no
    /// classes besides those in the inputs.
    pub trust_sealed: Option<bool>,
    /// `--jdk`: the JDK whose class library is used.
    pub jdk: Option<JdkChoice>,
    /// `--release`: the Java release for which entries of multi-release jars are selected.
    pub release: Option<u16>,
    /// `--threads`: the number of worker threads.
    pub threads: Option<usize>,
    /// `--output-format`: the name of the output format.
    pub output_format: Option<String>,
    /// `--color`: when the output is coloured.
    pub color: Option<Color>,
}

/// One line of the output of `ajar config`: a setting with its origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The key of the setting, as in `ajar.toml`.
    pub key: &'static str,
    /// The value of the setting, as text.
    pub value: String,
    /// Where the value was set.
    pub origin: Origin,
}

/// The name of the configuration file.
pub const FILE_NAME: &str = "ajar.toml";

/// The keys of `ajar.toml`, in the order in which `ajar config` lists them.
pub const KEYS: [&str; 10] = [
    "class-path",
    "module-path",
    "add-exports",
    "add-modules",
    "trust-sealed",
    "jdk",
    "release",
    "threads",
    "output-format",
    "color",
];

impl Settings {
    /// Returns the settings of a run: each from the command line (`overrides`), else from the environment, else from
    /// `ajar.toml`, else the default. `ajar.toml` is searched in `folder` and then in the folders above it.
    /// `variable` returns the value of an environment variable. A mistake in the file or the environment is an error,
    /// even if the command line overrides the setting.
    pub fn resolve(
        overrides: &Overrides,
        folder: &Utf8Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Settings> {
        let mut settings = defaults();
        if let Some(path) = nearest_file(folder) {
            let text = std::fs::read_to_string(&path).with_context(|| format!("{path}: cannot be read"))?;
            apply_file(&mut settings, &text, &path).with_context(|| path.to_string())?;
        }
        apply_environment(&mut settings, variable)?;
        apply_command_line(&mut settings, overrides);
        Ok(settings)
    }

    /// Returns each setting with its origin, for the output of `ajar config`. `jdk` is the JDK that these settings lead to. A
    /// default that depends on it is shown as its value, and the rule behind it as the origin.
    pub fn rows(&self, jdk: Option<&JdkInfo>) -> Vec<Row> {
        let unset = |it: Option<String>, text: &str| it.unwrap_or_else(|| text.to_owned());
        let paths = |it: &[Utf8PathBuf]| it.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(":");
        let (jdk_path, jdk_origin) = match (&self.jdk.value, jdk) {
            (JdkChoice::Default, found) => {
                let path = found.map_or("none", |it| it.home.as_str());
                (path.to_owned(), Origin::Rule("JAVA_HOME, else the JDK of the java on the PATH, else none"))
            }
            (JdkChoice::None, _) => ("none".to_owned(), self.jdk.origin.clone()),
            (JdkChoice::At(path), _) => (path.to_string(), self.jdk.origin.clone()),
        };
        let (release, release_origin) = match self.release.value {
            Some(it) => (it, self.release.origin.clone()),
            None => {
                let of_jdk = jdk.and_then(|it| it.feature);
                (of_jdk.unwrap_or(DEFAULT_RELEASE), Origin::Rule("that of the JDK, else 25"))
            }
        };
        let row =
            |index: usize, value, origin: &Origin| Row { key: KEYS[index], value, origin: origin.clone() };
        vec![
            row(0, paths(&self.class_path.value), &self.class_path.origin),
            row(1, paths(&self.module_path.value), &self.module_path.origin),
            row(2, self.add_exports.value.join(" "), &self.add_exports.origin),
            row(3, self.add_modules.value.join(","), &self.add_modules.origin),
            row(4, self.trust_sealed.value.to_string(), &self.trust_sealed.origin),
            row(5, jdk_path, &jdk_origin),
            row(6, release.to_string(), &release_origin),
            row(7, self.threads.value.to_string(), &self.threads.origin),
            row(
                8,
                unset(self.output_format.value.clone(), "that of the command"),
                &self.output_format.origin,
            ),
            row(9, self.color.value.to_string(), &self.color.origin),
        ]
    }
}

impl Color {
    /// Parses `auto`, `always` or `never`; any other text is an error.
    pub fn parse(text: &str) -> anyhow::Result<Color> {
        match text {
            "auto" => Ok(Color::Auto),
            "always" => Ok(Color::Always),
            "never" => Ok(Color::Never),
            _ => bail!("`{text}` is not one of auto, always, never"),
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Color::Auto => "auto",
            Color::Always => "always",
            Color::Never => "never",
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Rule(it) => write!(f, "default: {it}"),
            Origin::File(path) => write!(f, "{path}"),
            Origin::Environment(name) => write!(f, "{name} in the environment"),
            Origin::CommandLine(flag) => write!(f, "{flag} on the command line"),
        }
    }
}

impl<T> Setting<T> {
    fn set(&mut self, value: T, origin: Origin) {
        *self = Setting { value, origin };
    }
}

fn defaults() -> Settings {
    fn default<T>(value: T) -> Setting<T> {
        Setting { value, origin: Origin::Default }
    }
    Settings {
        class_path: default(Vec::new()),
        module_path: default(Vec::new()),
        add_exports: default(Vec::new()),
        add_modules: default(Vec::new()),
        trust_sealed: default(false),
        jdk: default(JdkChoice::Default),
        release: default(None),
        threads: default(std::thread::available_parallelism().map_or(1, |it| it.get())),
        output_format: default(None),
        color: default(Color::Auto),
    }
}

/// Returns the path of the `ajar.toml` in `folder` or, if there is none, in the nearest parent folder that has one;
/// `None` if no folder has one.
fn nearest_file(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    places(folder).pop().filter(|it| it.is_file())
}

/// Returns the paths at which `ajar.toml` is searched: in `folder` and its parent folders, up to and including the
/// first path that exists. Long-running commands such as `ajar watch` watch these paths for changes.
pub fn places(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut acc = Vec::new();
    for it in folder.ancestors() {
        acc.push(it.join(FILE_NAME));
        if acc.last().is_some_and(|it| it.is_file()) {
            break;
        }
    }
    acc
}

/// Parses `text`, the content of the `ajar.toml` at `path`, and sets its values in `settings`. Relative paths in the
/// text are relative to the folder of the file.
fn apply_file(settings: &mut Settings, text: &str, path: &Utf8Path) -> anyhow::Result<()> {
    let table: toml::Table = text.parse()?;
    let folder = path.parent().unwrap_or(Utf8Path::new(""));
    for (key, value) in &table {
        let origin = Origin::File(path.to_owned());
        let result = match key.as_str() {
            "class-path" => strings(value)
                .map(|it| settings.class_path.set(it.iter().map(|it| folder.join(it)).collect(), origin)),
            "module-path" => strings(value)
                .map(|it| settings.module_path.set(it.iter().map(|it| folder.join(it)).collect(), origin)),
            "add-exports" => strings(value)
                .and_then(|it| it.into_iter().map(exported_package).collect())
                .map(|it| settings.add_exports.set(it, origin)),
            "add-modules" => strings(value)
                .map(|it| it.into_iter().flat_map(module_names).collect())
                .map(|it| settings.add_modules.set(it, origin)),
            "trust-sealed" => boolean(value).map(|it| settings.trust_sealed.set(it, origin)),
            "jdk" => string(value).map(|it| {
                let choice = match JdkChoice::parse(it) {
                    JdkChoice::At(path) => JdkChoice::At(folder.join(path)),
                    it => it,
                };
                settings.jdk.set(choice, origin);
            }),
            "release" => number(value).map(|it| settings.release.set(Some(it), origin)),
            "threads" => number(value).map(|it: u16| settings.threads.set(it.into(), origin)),
            "output-format" => {
                string(value).map(|it| settings.output_format.set(Some(it.to_owned()), origin))
            }
            "color" => string(value).and_then(Color::parse).map(|it| settings.color.set(it, origin)),
            _ => return Err(unknown_key(key)),
        };
        result.with_context(|| format!("the key `{key}`"))?;
    }
    Ok(())
}

fn apply_environment(
    settings: &mut Settings,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<()> {
    // NO_COLOR (no-color.org) is applied first, so that our own variable takes precedence.
    if variable("NO_COLOR").is_some_and(|it| !it.is_empty()) {
        settings.color.set(Color::Never, Origin::Environment("NO_COLOR".to_owned()));
    }
    for key in KEYS {
        let name = format!("AJAR_{}", key.replace('-', "_").to_ascii_uppercase());
        let Some(text) = variable(&name).filter(|it| !it.is_empty()) else { continue };
        let origin = Origin::Environment(name.clone());
        let context = || format!("the environment variable {name}");
        match key {
            "class-path" => settings.class_path.set(split_class_path(&text), origin),
            "module-path" => settings.module_path.set(split_class_path(&text), origin),
            "add-exports" => {
                let all = text.split([',', ' ']).filter(|it| !it.is_empty());
                let all = all.map(exported_package).collect::<anyhow::Result<_>>().with_context(context)?;
                settings.add_exports.set(all, origin);
            }
            "add-modules" => settings.add_modules.set(module_names(&text), origin),
            "trust-sealed" => match text.as_str() {
                "true" => settings.trust_sealed.set(true, origin),
                "false" => settings.trust_sealed.set(false, origin),
                _ => return Err(anyhow!("expected true or false, found `{text}`")).with_context(context),
            },
            "jdk" => settings.jdk.set(JdkChoice::parse(&text), origin),
            "release" => settings.release.set(Some(text_number(&text).with_context(context)?), origin),
            "threads" => settings.threads.set(text_number(&text).with_context(context)?.into(), origin),
            "output-format" => settings.output_format.set(Some(text), origin),
            _ => settings.color.set(Color::parse(&text).with_context(context)?, origin),
        }
    }
    Ok(())
}

fn apply_command_line(settings: &mut Settings, overrides: &Overrides) {
    let origin = |flag: &str| Origin::CommandLine(flag.to_owned());
    if let Some(it) = &overrides.class_path {
        settings.class_path.set(it.clone(), origin("--class-path"));
    }
    if let Some(it) = &overrides.module_path {
        settings.module_path.set(it.clone(), origin("--module-path"));
    }
    if let Some(it) = &overrides.add_exports {
        settings.add_exports.set(it.clone(), origin("--add-exports"));
    }
    if let Some(it) = &overrides.add_modules {
        settings.add_modules.set(it.clone(), origin("--add-modules"));
    }
    if let Some(it) = overrides.trust_sealed {
        settings.trust_sealed.set(it, origin("--trust-sealed"));
    }
    if let Some(it) = &overrides.jdk {
        settings.jdk.set(it.clone(), origin("--jdk"));
    }
    if let Some(it) = overrides.release {
        settings.release.set(Some(it), origin("--release"));
    }
    if let Some(it) = overrides.threads {
        settings.threads.set(it, origin("--threads"));
    }
    if let Some(it) = &overrides.output_format {
        settings.output_format.set(Some(it.clone()), origin("--output-format"));
    }
    if let Some(it) = overrides.color {
        settings.color.set(it, origin("--color"));
    }
}

/// Returns the part `module/package` of a value of `add-exports`; an error if the value does not have this form. A
/// list of target modules after `=`, as in the option `--add-exports` of `java`, is permitted and ignored, because
/// unknown code can be in any module.
pub fn exported_package(text: &str) -> anyhow::Result<String> {
    let it = text.split_once('=').map_or(text, |it| it.0);
    match it.split_once('/') {
        Some((module, package)) if !module.is_empty() && !package.is_empty() => Ok(it.to_owned()),
        _ => bail!("expected MODULE/PACKAGE, found `{text}`"),
    }
}

/// Returns the names in a value of `add-modules`, which are separated by commas as in the option of `java`. Empty names
/// are dropped, as by `java`.
pub fn module_names(text: &str) -> Vec<String> {
    text.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

fn boolean(value: &Value) -> anyhow::Result<bool> {
    value.as_bool().ok_or_else(|| anyhow!("expected true or false, found {}", value.type_str()))
}

fn string(value: &Value) -> anyhow::Result<&str> {
    value.as_str().ok_or_else(|| anyhow!("expected a string, found {}", value.type_str()))
}

fn strings(value: &Value) -> anyhow::Result<Vec<&str>> {
    let array =
        value.as_array().ok_or_else(|| anyhow!("expected an array of strings, found {}", value.type_str()));
    array?.iter().map(string).collect()
}

fn number(value: &Value) -> anyhow::Result<u16> {
    let number = value.as_integer().and_then(|it| u16::try_from(it).ok()).filter(|&it| it > 0);
    number.ok_or_else(|| anyhow!("expected a number from 1 to 65535, found {value}"))
}

fn text_number(text: &str) -> anyhow::Result<u16> {
    text.parse()
        .ok()
        .filter(|&it| it > 0)
        .ok_or_else(|| anyhow!("expected a number from 1 to 65535, found `{text}`"))
}

fn unknown_key(key: &str) -> anyhow::Error {
    match nearest_name(key, KEYS) {
        Some(nearest) => anyhow!("unknown key `{key}`; did you mean `{nearest}`?"),
        None => anyhow!("unknown key `{key}`; the keys are {}", KEYS.join(", ")),
    }
}

/// Returns the name that is nearest to the one that the user wrote; `None` if no name is similar.
pub fn nearest_name<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = names.into_iter().map(|it| (distance(written, it), it)).min();
    nearest.filter(|it| it.0 <= it.1.len() / 2).map(|it| it.1)
}

/// Returns the edit distance (Levenshtein) between two texts, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(file: &str, environment: &[(&str, &str)], overrides: Overrides) -> String {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let inner = root.join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(root.join("a").join(FILE_NAME), file).unwrap();
        // This file is farther away, so it is never read.
        std::fs::write(root.join(FILE_NAME), "nonsense = 1").unwrap();
        let variable = |name: &str| environment.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let text = match Settings::resolve(&overrides, &inner, &variable) {
            Ok(settings) => {
                let set = settings
                    .rows(None)
                    .into_iter()
                    .filter(|it| !matches!(it.origin, Origin::Default | Origin::Rule(_)));
                set.map(|it| format!("{} = {} ({})\n", it.key, it.value, it.origin)).collect()
            }
            Err(error) => format!("{error:#}"),
        };
        text.replace(root.as_str(), "ROOT")
    }

    #[test]
    fn command_line_over_environment_over_file() {
        let file =
            "class-path = ['lib/a.jar', '/b.jar']\njdk = 'jdk'\nrelease = 11\nthreads = 3\ncolor = 'always'";
        let environment =
            [("AJAR_RELEASE", "17"), ("AJAR_THREADS", "2"), ("NO_COLOR", "1"), ("AJAR_JDK", "")];
        let overrides = Overrides { threads: Some(1), ..Overrides::default() };
        assert_eq!(
            settings(file, &environment, overrides),
            "class-path = ROOT/a/lib/a.jar:/b.jar (ROOT/a/ajar.toml)\n\
             jdk = ROOT/a/jdk (ROOT/a/ajar.toml)\n\
             release = 17 (AJAR_RELEASE in the environment)\n\
             threads = 1 (--threads on the command line)\n\
             color = never (NO_COLOR in the environment)\n"
        );
    }

    #[test]
    fn what_closes_and_opens_packages_is_set_everywhere() {
        let file = "module-path = ['mods']\nadd-exports = ['m/p=ALL-UNNAMED']\nadd-modules = ['a.b,c', 'ALL-SYSTEM']\ntrust-sealed = true";
        assert_eq!(
            settings(file, &[], Overrides::default()),
            "module-path = ROOT/a/mods (ROOT/a/ajar.toml)\n\
             add-exports = m/p (ROOT/a/ajar.toml)\n\
             add-modules = a.b,c,ALL-SYSTEM (ROOT/a/ajar.toml)\n\
             trust-sealed = true (ROOT/a/ajar.toml)\n"
        );
        let environment = [
            ("AJAR_MODULE_PATH", "x:y"),
            ("AJAR_ADD_EXPORTS", "m/p,n/q.r=a"),
            ("AJAR_ADD_MODULES", ",d,"),
            ("AJAR_TRUST_SEALED", "false"),
        ];
        let overrides = Overrides { add_exports: Some(vec!["o/s".to_owned()]), ..Overrides::default() };
        assert_eq!(
            settings(file, &environment, overrides),
            "module-path = x:y (AJAR_MODULE_PATH in the environment)\n\
             add-exports = o/s (--add-exports on the command line)\n\
             add-modules = d (AJAR_ADD_MODULES in the environment)\n\
             trust-sealed = false (AJAR_TRUST_SEALED in the environment)\n"
        );
    }

    #[test]
    fn without_settings_everything_is_default() {
        assert_eq!(settings("", &[], Overrides::default()), "");
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        let error = |file| settings(file, &[], Overrides::default());
        assert_eq!(
            error("clas_path = []"),
            "ROOT/a/ajar.toml: unknown key `clas_path`; did you mean `class-path`?"
        );
        assert_eq!(error("Colour = 1"), "ROOT/a/ajar.toml: unknown key `Colour`; did you mean `color`?");
        assert_eq!(
            error("zzzzzzzzz = 1"),
            "ROOT/a/ajar.toml: unknown key `zzzzzzzzz`; the keys are class-path, module-path, add-exports, add-modules, trust-sealed, jdk, release, threads, output-format, color"
        );
    }

    #[test]
    fn errors_about_wrong_values_name_the_place() {
        let error = |file| settings(file, &[], Overrides::default());
        assert_eq!(
            error("threads = 0"),
            "ROOT/a/ajar.toml: the key `threads`: expected a number from 1 to 65535, found 0"
        );
        assert_eq!(
            error("add-exports = ['java.base']"),
            "ROOT/a/ajar.toml: the key `add-exports`: expected MODULE/PACKAGE, found `java.base`"
        );
        assert_eq!(
            error("trust-sealed = 1"),
            "ROOT/a/ajar.toml: the key `trust-sealed`: expected true or false, found integer"
        );
        assert_eq!(
            settings("", &[("AJAR_TRUST_SEALED", "yes")], Overrides::default()),
            "the environment variable AJAR_TRUST_SEALED: expected true or false, found `yes`"
        );
        assert_eq!(
            error("class-path = 'a'"),
            "ROOT/a/ajar.toml: the key `class-path`: expected an array of strings, found string"
        );
        assert_eq!(
            error("color = 'red'"),
            "ROOT/a/ajar.toml: the key `color`: `red` is not one of auto, always, never"
        );
        assert_eq!(
            settings("", &[("AJAR_RELEASE", "x")], Overrides::default()),
            "the environment variable AJAR_RELEASE: expected a number from 1 to 65535, found `x`"
        );
        assert!(error("a = ").starts_with("ROOT/a/ajar.toml: TOML parse error at line 1"));
    }

    #[test]
    fn distances() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("JDK", "jdk"), 0);
    }
}
