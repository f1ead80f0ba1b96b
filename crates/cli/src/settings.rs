//! From flags to settings: the command line over environment over file over defaults, and what a command makes of them.

use anyhow::{Context, bail};
use camino::Utf8PathBuf;
use driver::config::{Color, Origin, Overrides, Settings};
use driver::jdk::JdkChoice;
use driver::world::split_class_path;

use crate::args::{Global, PlatformArgs};

/// All formats; each command has some of them.
const FORMATS: [&str; 5] = ["text", "json", "jsonl", "dot", "graphml"];

/// The settings of a run.
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
        trust_sealed: platform.trust_sealed.then_some(true),
        jdk: platform.jdk.as_deref().map(JdkChoice::parse),
        release: platform.release,
        threads: platform.threads.map(usize::from),
        output_format: output_format.cloned(),
        color: global.color.as_deref().map(Color::parse).transpose()?,
    };
    Settings::resolve(&overrides, &current_folder()?, &|name| std::env::var(name).ok())
}

/// The files on which the settings depend, whether they are there or not.
pub(crate) fn files() -> anyhow::Result<Vec<Utf8PathBuf>> {
    Ok(driver::config::places(&current_folder()?))
}

fn current_folder() -> anyhow::Result<Utf8PathBuf> {
    let folder = std::env::current_dir().context("the current folder cannot be read")?;
    Utf8PathBuf::from_path_buf(folder)
        .map_err(|it| anyhow::anyhow!("{}: the current folder is not UTF-8", it.display()))
}

/// The format that a command writes. A format that file or environment ask for and that the command does not have is
/// meant for other commands.
pub(crate) fn format<'a>(settings: &'a Settings, formats: &[&str]) -> anyhow::Result<&'a str> {
    let Some(format) = &settings.output_format.value else { return Ok("text") };
    if formats.contains(&format.as_str()) {
        return Ok(format);
    }
    let origin = &settings.output_format.origin;
    if !FORMATS.contains(&format.as_str()) || matches!(origin, Origin::CommandLine(_)) {
        bail!("`{format}` ({origin}) is no output format of this command; it has {}", formats.join(", "));
    }
    Ok("text")
}

/// Whether to colour what goes to stdout.
pub(crate) fn colored(settings: &Settings, to_terminal: bool) -> bool {
    match settings.color.value {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => to_terminal,
    }
}
