//! Resolves the settings of a command: flags override the environment, which overrides the settings file, which
//! overrides the defaults.

use anyhow::{Context, bail};
use camino::Utf8PathBuf;
use driver::config::{Color, Origin, Overrides, Settings, module_names};
use driver::jdk::JdkChoice;
use driver::world::split_class_path;

use crate::args::{Global, PlatformArgs};

/// All output formats; each command supports some of them.
const FORMATS: [&str; 6] = ["text", "json", "jsonl", "dot", "graphml", "edges"];

/// Resolves the settings of a run.
///
/// # Errors
/// A malformed setting, or a settings file or current folder that cannot be read.
pub(crate) fn resolve(
    global: &Global,
    class_path: &[String],
    platform: &PlatformArgs,
    output_format: Option<&String>,
) -> anyhow::Result<Settings> {
    let paths =
        |it: &[String]| (!it.is_empty()).then(|| it.iter().flat_map(|it| split_class_path(it)).collect());
    let overrides = Overrides {
        class_path: paths(class_path),
        module_path: paths(&platform.module_path),
        add_exports: (!platform.add_exports.is_empty()).then(|| platform.add_exports.clone()),
        add_modules: (!platform.add_modules.is_empty())
            .then(|| platform.add_modules.iter().flat_map(|it| module_names(it)).collect()),
        trust_sealed: platform.trust_sealed.then_some(true),
        jdk: platform.jdk.as_deref().map(JdkChoice::parse),
        release: platform.release,
        threads: platform.threads.map(usize::from),
        output_format: output_format.cloned(),
        color: global.color.as_deref().map(Color::parse).transpose()?,
    };
    Settings::resolve(&overrides, &current_folder()?, &|name| std::env::var(name).ok())
}

/// Returns the files on which the settings depend, including those that do not exist.
pub(crate) fn files() -> anyhow::Result<Vec<Utf8PathBuf>> {
    Ok(driver::config::places(&current_folder()?))
}

fn current_folder() -> anyhow::Result<Utf8PathBuf> {
    let folder = std::env::current_dir().context("the current folder cannot be read")?;
    Utf8PathBuf::from_path_buf(folder)
        .map_err(|it| anyhow::anyhow!("{}: the path of the current folder is not valid UTF-8", it.display()))
}

/// Returns the output format of a command that supports `formats`. A format that the settings file or the environment
/// sets, and that only other commands support, is ignored: the command writes text.
///
/// # Errors
/// An unknown format, or one on the command line that the command does not support.
pub(crate) fn format<'a>(settings: &'a Settings, formats: &[&str]) -> anyhow::Result<&'a str> {
    let Some(format) = &settings.output_format.value else { return Ok("text") };
    if formats.contains(&format.as_str()) {
        return Ok(format);
    }
    let origin = &settings.output_format.origin;
    if !FORMATS.contains(&format.as_str()) || matches!(origin, Origin::CommandLine(_)) {
        bail!(
            "`{format}` ({origin}) is not an output format of this command; choose one of: {}",
            formats.join(", ")
        );
    }
    Ok("text")
}

/// Whether text on stdout is coloured.
pub(crate) fn colored(settings: &Settings, to_terminal: bool) -> bool {
    match settings.color.value {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => to_terminal,
    }
}
