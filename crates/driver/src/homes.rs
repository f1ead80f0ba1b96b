//! Finds the JDK, and the files of the modules on a module path.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};

use crate::disk::Disk;
use crate::jdk::{JdkChoice, JdkFiles, JdkFound, JdkInfo};
use crate::problem::Problem;

/// The jars on the boot class path of a JDK 8, in class-path order.
const BOOT_JARS: [&str; 6] = ["resources.jar", "rt.jar", "jsse.jar", "jce.jar", "charsets.jar", "jfr.jar"];

/// Finds the JDK that `choice` designates. Returns `None` if the choice is to use no JDK, or if neither `JAVA_HOME`
/// nor `PATH` leads to one. Fails if the user chose a path that is not a JDK. If `JAVA_HOME` is not a JDK, adds a
/// note and searches `PATH`. `variable` returns the value of an environment variable.
pub(crate) fn find(
    choice: &JdkChoice,
    variable: &dyn Fn(&str) -> Option<OsString>,
    disk: &mut dyn Disk,
    problems: &mut Vec<Problem>,
) -> anyhow::Result<Option<JdkFound>> {
    match choice {
        JdkChoice::None => Ok(None),
        JdkChoice::At(path) => at(path, "--jdk", disk).map(Some),
        JdkChoice::Default => {
            if let Some(home) = variable("JAVA_HOME").filter(|it| !it.is_empty()) {
                let found = utf8(PathBuf::from(home)).and_then(|home| at(&home, "JAVA_HOME", disk));
                match found {
                    Ok(found) => return Ok(Some(found)),
                    Err(error) => {
                        problems.push(Problem::note(
                            "JAVA_HOME",
                            format!("{error:#}; the PATH is searched for a JDK instead"),
                        ));
                    }
                }
            }
            let home = variable("PATH").and_then(|it| home_on_path(&it, disk));
            Ok(home.and_then(|home| at(&home, "PATH", disk).ok()))
        }
    }
}

/// Returns the JDK at `path`, which is the home folder or the image of the JDK; an error if there is no JDK. The
/// result records `found_by`: `--jdk`, `JAVA_HOME` or `PATH`.
fn at(path: &Utf8Path, found_by: &'static str, disk: &mut dyn Disk) -> anyhow::Result<JdkFound> {
    disk.looks_at(path.as_std_path());
    let metadata = std::fs::metadata(path).with_context(|| match path.as_str().parse::<u16>() {
        Ok(_) => format!("{path}: not a JDK: give the home folder of a JDK, not its release"),
        Err(_) => format!("{path}: cannot be opened"),
    })?;
    let (home, files) = if metadata.is_file() {
        let home = path.parent().and_then(Utf8Path::parent).filter(|it| it.join("release").is_file());
        (home.unwrap_or(path), JdkFiles::Image(path.into()))
    } else {
        let files = files_of(path.as_std_path(), disk);
        let Some(files) = files else {
            bail!(
                "{path}: not a JDK: it has neither lib/modules nor lib/rt.jar nor jmods; \
                 give the home of a JDK, an image or `none`"
            );
        };
        (path, files)
    };
    disk.looks_at(home.join("release").as_std_path());
    let release = std::fs::read_to_string(home.join("release"))
        .or_else(|_| std::fs::read_to_string(home.join("../release")))
        .unwrap_or_default();
    let version = release_value(&release, "JAVA_VERSION");
    let from_files = || match &files {
        JdkFiles::Image(image) => disk.feature(image),
        JdkFiles::Archives(_) => None,
    };
    let feature = version.as_deref().and_then(feature_of_version).or_else(from_files);
    let implementor = release_value(&release, "IMPLEMENTOR");
    Ok((JdkInfo { home: home.to_owned(), version, implementor, feature, found_by }, files))
}

/// Returns the files of the class library below `home`; `None` if this folder is not the home of a JDK or JRE.
pub(crate) fn files_of(home: &Path, disk: &mut dyn Disk) -> Option<JdkFiles> {
    let image = home.join("lib/modules");
    disk.looks_at(&image);
    if image.is_file() {
        return Some(JdkFiles::Image(image));
    }
    for lib in ["jre/lib", "lib"].map(|it| home.join(it)) {
        disk.looks_at(&lib.join("rt.jar"));
        if lib.join("rt.jar").is_file() {
            disk.lists(&lib);
            disk.lists(&lib.join("ext"));
            let mut jars: Vec<PathBuf> =
                BOOT_JARS.iter().map(|it| lib.join(it)).filter(|it| it.is_file()).collect();
            jars.extend(files_with_extension(&lib.join("ext"), "jar"));
            return Some(JdkFiles::Archives(jars));
        }
    }
    disk.lists(&home.join("jmods"));
    let jmods = files_with_extension(&home.join("jmods"), "jmod");
    (!jmods.is_empty()).then_some(JdkFiles::Archives(jmods))
}

/// Returns the jars and class folders of the modules on a module path. As for the JVM, each of `paths` is a jar, the
/// folder of one module, or a folder that contains jars and folders of modules.
pub(crate) fn module_files(
    paths: &[Utf8PathBuf],
    disk: &mut dyn Disk,
    problems: &mut Vec<Problem>,
) -> Vec<Utf8PathBuf> {
    let mut acc = Vec::new();
    for path in paths {
        if path.extension() == Some("jmod") {
            let what = "the JVM does not accept jmod files on the module path, so the classes of this file are missing";
            problems.push(Problem::error(path.as_str(), what));
            continue;
        }
        let now = modules_in(path.as_std_path(), disk);
        match disk.keep_list(path.as_std_path(), now) {
            Ok(all) if all.is_empty() => {
                problems.push(Problem::note(
                    path.as_str(),
                    "the folder is on the module path but has no modules, so nothing is read from it",
                ));
            }
            Ok(all) => acc.extend(all.into_iter().filter_map(|it| Utf8PathBuf::from_path_buf(it).ok())),
            // Opening it later reports what is wrong.
            Err(_) => acc.push(path.clone()),
        }
    }
    acc
}

/// Returns the modules for `path`, one entry of a module path: the path itself if it is a file or the folder of one
/// module, otherwise the jars and module folders directly in it, sorted.
fn modules_in(path: &Path, disk: &mut dyn Disk) -> anyhow::Result<Vec<PathBuf>> {
    if is_module(path, disk) || std::fs::metadata(path)?.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    disk.lists(path);
    let mut inside: Vec<PathBuf> = std::fs::read_dir(path)?.flatten().map(|it| it.path()).collect();
    let is_jar = |it: &Path| it.is_file() && it.extension().is_some_and(|it| it == "jar");
    inside.retain(|it| is_jar(it) || it.is_dir() && is_module(it, disk));
    inside.sort();
    Ok(inside)
}

fn is_module(folder: &Path, disk: &mut dyn Disk) -> bool {
    let descriptor = folder.join("module-info.class");
    disk.looks_at(&descriptor);
    descriptor.is_file()
}

/// Returns the files directly in a folder that have this extension, sorted; empty if the folder cannot be listed.
pub(crate) fn files_with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let matches =
        |it: &PathBuf| it.extension().is_some_and(|it| it.eq_ignore_ascii_case(extension)) && it.is_file();
    let mut files: Vec<PathBuf> = entries.flatten().map(|it| it.path()).filter(matches).collect();
    files.sort();
    files
}

/// Adds to `acc` all files in and below a folder: of each folder first the files and folders that come first by name.
/// Symbolic links to folders are not followed. Adds nothing if the folder cannot be listed.
pub(crate) fn files_below(folder: &Path, disk: &mut dyn Disk, acc: &mut Vec<PathBuf>) {
    // A stack is used instead of recursion, because the nesting depth is not limited.
    let mut stack = vec![folder.to_owned()];
    while let Some(path) = stack.pop() {
        if path.is_file() {
            acc.push(path);
            continue;
        }
        let is_link = path != folder && std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink());
        if is_link {
            continue;
        }
        disk.lists(&path);
        let Ok(entries) = std::fs::read_dir(&path) else { continue };
        let mut inside: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
        inside.sort();
        stack.extend(inside.into_iter().rev());
    }
}

/// Returns the home folder of the first JDK whose `java` is in a folder of `path`, the value of `PATH`. Symbolic
/// links are resolved, because such a `java` is usually a link into its JDK. `None` if no JDK is found.
fn home_on_path(path: &OsString, disk: &mut dyn Disk) -> Option<Utf8PathBuf> {
    std::env::split_paths(path).find_map(|folder| {
        disk.looks_at(&folder.join("java"));
        let java = std::fs::canonicalize(folder.join("java")).ok()?;
        let home = java.parent()?.parent()?;
        files_of(home, disk)?;
        utf8(home.to_owned()).ok()
    })
}

fn utf8(path: PathBuf) -> anyhow::Result<Utf8PathBuf> {
    Utf8PathBuf::from_path_buf(path).map_err(|it| anyhow::anyhow!("{}: the path is not UTF-8", it.display()))
}

/// Returns the value of `key` in `text`, the content of the file `release` of a JDK, which has lines `KEY="value"`;
/// `None` if the key is missing or its value is empty.
fn release_value(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let value = line.trim().strip_prefix(key)?.strip_prefix('=')?;
        Some(value.trim_matches('"').to_owned()).filter(|it| !it.is_empty())
    })
}

/// Returns the feature release of a Java version: 8 for `1.8.0_402`, 17 for `17.0.15`, 25 for `25-ea`. `None` if the
/// text does not begin with a number.
fn feature_of_version(version: &str) -> Option<u16> {
    let mut numbers = version.split(|it: char| !it.is_ascii_digit()).map(str::parse::<u16>);
    match numbers.next()?.ok()? {
        1 => numbers.next()?.ok(),
        it => Some(it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_a_feature() {
        assert_eq!(feature_of_version("1.8.0_402"), Some(8));
        assert_eq!(feature_of_version("17.0.15"), Some(17));
        assert_eq!(feature_of_version("25-ea"), Some(25));
        assert_eq!(feature_of_version("x"), None);
    }

    #[test]
    fn a_release_file_has_quoted_values() {
        let text = "IMPLEMENTOR=\"Debian\"\nJAVA_VERSION_DATE=\"2025\"\nJAVA_VERSION=\"17.0.15\"\n";
        assert_eq!(release_value(text, "JAVA_VERSION").as_deref(), Some("17.0.15"));
        assert_eq!(release_value(text, "SOURCE"), None);
    }
}
