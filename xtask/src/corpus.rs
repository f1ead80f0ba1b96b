//! `cargo xtask corpus TIER` fetches the third-party packages listed in `test-data/corpora.tsv` through their
//! ordinary clients (`apt-get download`, `pip download`, `npm pack`), checks their hashes and unpacks their jars into
//! the git-ignored folder `corpus/TIER`. A `manifest.tsv` in this folder lists the jars for tests and benches. No
//! package is installed or committed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use crate::jdk;

const LIST: &str = "test-data/corpora.tsv";
const MANIFEST: &str = "manifest.tsv";
const MANIFEST_HEADER: &str = "kind\tname\tversion\tarchive_sha256\tstate\tpath\tsha256\tbytes\n";
const JDK: &str = "jdk";

/// The client that fetches a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Apt,
    Pip,
    Npm,
}

/// A package with jars, which is a line of the list `test-data/corpora.tsv`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Package {
    tier: String,
    kind: Kind,
    name: String,
    version: String,
    sha256: String,
}

/// The archive of a package, as downloaded.
struct Archive {
    file: PathBuf,
    version: String,
    sha256: String,
    /// Whether the downloaded version differs from the one in the list of packages, which is an error unless
    /// `--any-version` is given.
    drifted: bool,
}

/// Fetches the packages of a tier (a named group of packages) and writes the manifest of the tier; for the tier
/// `jdk`, lists the JDKs of this machine instead. Prints the path of the manifest. With `any_version`, other versions
/// than the listed ones are accepted.
pub(crate) fn run(root: &Path, tier: &str, any_version: bool) -> Result<()> {
    let folder = root.join("corpus").join(tier);
    if tier == JDK {
        std::fs::create_dir_all(&folder)?;
        return write_manifest(&folder, &jdk_rows()?);
    }
    let list = std::fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let packages = select(&parse(&list)?, tier)?;
    let downloads = root.join("corpus").join("archives");
    std::fs::create_dir_all(&downloads)?;
    std::fs::create_dir_all(&folder)?;
    let mut client = Client { downloads, any_version, updated: false };
    let mut rows = String::new();
    let mut failed = Vec::new();
    for package in &packages {
        match fetch_and_unpack(&mut client, package, &folder) {
            Ok(row) => rows.push_str(&row),
            Err(error) => {
                eprintln!("xtask: {} {}: {error:#}", package.name, package.version);
                failed.push(package.name.as_str());
            }
        }
    }
    write_manifest(&folder, &rows)?;
    if !failed.is_empty() {
        bail!("{} of {} packages of tier {tier} failed: {}", failed.len(), packages.len(), failed.join(", "));
    }
    Ok(())
}

/// Fetches one package of a tier, in any version, and returns its folder. The manifest of the tier is not changed.
pub(crate) fn package(root: &Path, tier: &str, name: &str) -> Result<PathBuf> {
    let folder = root.join("corpus").join(tier);
    let list = std::fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let packages = select(&parse(&list)?, tier)?;
    let package = packages.iter().find(|it| it.name == name);
    let package = package.with_context(|| format!("tier {tier} has no package {name}"))?;
    let downloads = root.join("corpus").join("archives");
    std::fs::create_dir_all(&downloads)?;
    std::fs::create_dir_all(&folder)?;
    let mut client = Client { downloads, any_version: true, updated: false };
    fetch_and_unpack(&mut client, package, &folder)?;
    Ok(folder.join(&package.name))
}

fn write_manifest(folder: &Path, rows: &str) -> Result<()> {
    let path = folder.join(MANIFEST);
    std::fs::write(&path, format!("{MANIFEST_HEADER}{rows}"))?;
    println!("{}: {} rows", path.display(), rows.lines().count());
    Ok(())
}

fn parse(list: &str) -> Result<Vec<Package>> {
    let mut packages = Vec::new();
    for (at, line) in list.lines().enumerate().filter(|(_, it)| !it.starts_with('#') && !it.is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[tier, kind, name, version, sha256, _] = fields.as_slice() else {
            bail!("{LIST}:{}: the line has {} fields, 6 are expected", at + 1, fields.len());
        };
        let kind = match kind {
            "apt" => Kind::Apt,
            "pip" => Kind::Pip,
            "npm" => Kind::Npm,
            _ => bail!("{LIST}:{}: unknown kind `{kind}`", at + 1),
        };
        if sha256.len() != 64 || !sha256.bytes().all(|it| it.is_ascii_hexdigit()) {
            bail!("{LIST}:{}: `{sha256}` is not a SHA-256 hash", at + 1);
        }
        let [tier, name, version, sha256] = [tier, name, version, sha256].map(str::to_string);
        packages.push(Package { tier, kind, name, version, sha256 });
    }
    Ok(packages)
}

/// Returns the packages of a tier; an error if there are none. The tier `medium` contains the tier `small`.
fn select(packages: &[Package], tier: &str) -> Result<Vec<Package>> {
    let wanted = |it: &&Package| it.tier == tier || (tier == "medium" && it.tier == "small");
    let chosen: Vec<Package> = packages.iter().filter(wanted).cloned().collect();
    if chosen.is_empty() {
        let mut tiers: Vec<&str> = packages.iter().map(|it| it.tier.as_str()).chain([JDK]).collect();
        tiers.sort_unstable();
        tiers.dedup();
        bail!("no tier `{tier}`; there are: {}", tiers.join(", "));
    }
    Ok(chosen)
}

fn fetch_and_unpack(client: &mut Client, package: &Package, folder: &Path) -> Result<String> {
    let archive = client.fetch(package)?;
    let target = folder.join(&package.name);
    unpack(package.kind, &archive, &target)?;
    let mut jars = Vec::new();
    find_jars(&target, &mut jars)?;
    if jars.is_empty() {
        bail!("{} contains no jar", archive.file.display());
    }
    jars.sort();
    let state = if archive.drifted { "drift" } else { "ok" };
    let kind = format!("{:?}", package.kind).to_lowercase();
    let mut rows = String::new();
    for jar in jars {
        let (sha256, bytes) = (sha256(&jar)?, std::fs::metadata(&jar)?.len());
        let path = jar.strip_prefix(folder)?.display();
        let Archive { version, sha256: of_archive, .. } = &archive;
        writeln!(
            rows,
            "{kind}\t{}\t{version}\t{of_archive}\t{state}\t{path}\t{sha256}\t{bytes}",
            package.name
        )?;
    }
    Ok(rows)
}

/// Downloads archives of packages into one folder that all tiers share.
struct Client {
    downloads: PathBuf,
    any_version: bool,
    updated: bool,
}

impl Client {
    fn fetch(&mut self, package: &Package) -> Result<Archive> {
        let suffix = match package.kind {
            Kind::Apt => "deb",
            Kind::Pip => "tar.gz",
            Kind::Npm => "tgz",
        };
        let file = self.downloads.join(format!("{}-{}.{suffix}", package.name, file_name(&package.version)));
        if !file.is_file() || sha256(&file)? != package.sha256 {
            let fetched = match package.kind {
                Kind::Apt => self.fetch_apt(package, &file),
                Kind::Pip => self.fetch_pip(package),
                Kind::Npm => self.fetch_npm(package),
            };
            if let Err(error) = fetched {
                if package.kind != Kind::Apt || !self.any_version {
                    return Err(error);
                }
                return self.fetch_apt_candidate(package);
            }
        }
        let found = sha256(&file)?;
        if found != package.sha256 {
            // Delete the file, so that the next run does not use it.
            std::fs::remove_file(&file)?;
            bail!("the SHA-256 hash is {found}, but {LIST} requires {}", package.sha256);
        }
        Ok(Archive { file, version: package.version.clone(), sha256: found, drifted: false })
    }

    fn fetch_apt(&mut self, package: &Package, file: &Path) -> Result<()> {
        let spec = format!("{}={}", package.name, package.version);
        if self.apt_download(&spec, file).is_err() {
            self.update()?;
            self.apt_download(&spec, file).context(
                "apt has no package of the listed version; `--any-version` accepts the version that apt has",
            )?;
        }
        Ok(())
    }

    fn fetch_apt_candidate(&mut self, package: &Package) -> Result<Archive> {
        let file = self.downloads.join(format!("{}.any.deb", package.name));
        if !file.is_file() {
            self.apt_download(&package.name, &file)?;
        }
        let version =
            output(Command::new("dpkg-deb").arg("-f").arg(&file).arg("Version"))?.trim().to_string();
        Ok(Archive { sha256: sha256(&file)?, file, version, drifted: true })
    }

    /// Downloads the Debian package `spec` to `file`. `apt-get download` chooses the file name, so it runs in an
    /// empty folder.
    fn apt_download(&self, spec: &str, file: &Path) -> Result<()> {
        let folder = self.downloads.join("incoming");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let mut command = Command::new("apt-get");
        command.args(["-o", "APT::Sandbox::User=root", "download", "-qq", spec]).current_dir(&folder);
        output(&mut command)?;
        let entry =
            std::fs::read_dir(&folder)?.next().ok_or_else(|| anyhow!("apt-get downloaded nothing"))??;
        std::fs::rename(entry.path(), file)?;
        std::fs::remove_dir_all(&folder)?;
        Ok(())
    }

    fn update(&mut self) -> Result<()> {
        if !self.updated {
            output(Command::new("apt-get").args(["update", "-qq"]))
                .context("cannot refresh the package lists")?;
            self.updated = true;
        }
        Ok(())
    }

    fn fetch_pip(&self, package: &Package) -> Result<()> {
        let requirements = self.downloads.join(format!("{}.req", package.name));
        let Package { name, version, sha256, .. } = package;
        std::fs::write(&requirements, format!("{name}=={version} --hash=sha256:{sha256}\n"))?;
        let mut command = Command::new("python3");
        command.args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
            "--no-binary",
            ":all:",
        ]);
        command.args(["--require-hashes", "--disable-pip-version-check", "-d"]).arg(&self.downloads);
        output(command.arg("-r").arg(&requirements)).map(drop)
    }

    fn fetch_npm(&self, package: &Package) -> Result<()> {
        let spec = format!("{}@{}", package.name, package.version);
        output(Command::new("npm").args(["pack", "--silent", &spec]).current_dir(&self.downloads)).map(drop)
    }
}

/// Returns a version as part of a file name. Debian versions may contain `:`, which is escaped, and `+` and `~`,
/// which are allowed.
fn file_name(version: &str) -> String {
    version.replace(':', "%3a")
}

/// Unpacks the jars of an archive into the folder `target`. Does nothing if the file `.from` in the folder contains
/// the hash of this archive, because the jars were unpacked by an earlier call.
fn unpack(kind: Kind, archive: &Archive, target: &Path) -> Result<()> {
    let mark = target.join(".from");
    if std::fs::read_to_string(&mark).is_ok_and(|it| it == archive.sha256) {
        return Ok(());
    }
    let _ = std::fs::remove_dir_all(target);
    std::fs::create_dir_all(target)?;
    match kind {
        Kind::Apt => output(Command::new("dpkg-deb").arg("-x").arg(&archive.file).arg(target))?,
        Kind::Pip | Kind::Npm => {
            let mut command = Command::new("tar");
            command.arg("xzf").arg(&archive.file).arg("-C").arg(target);
            output(command.args(["--strip-components=1", "--wildcards", "*.jar"]))?
        }
    };
    std::fs::write(&mark, &archive.sha256)?;
    Ok(())
}

/// Collects the jars and wars in a folder. Symbolic links are skipped, because Debian packages have two names for
/// most jars.
fn find_jars(folder: &Path, jars: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            find_jars(&path, jars)?;
        } else if kind.is_file() && path.extension().is_some_and(|it| it == "jar" || it == "war") {
            jars.push(path);
        }
    }
    Ok(())
}

/// Returns the rows of the manifest for the JDKs of this machine, whose classes are not copied but read where they
/// are.
fn jdk_rows() -> Result<String> {
    let mut rows = String::new();
    for jdk in jdk::find_all() {
        let (sha256, bytes) = (sha256(&jdk.library)?, std::fs::metadata(&jdk.library)?.len());
        let name = jdk.home.file_name().map_or_else(|| "jdk".into(), |it| it.to_string_lossy());
        writeln!(rows, "jdk\t{name}\t{}\t-\tok\t{}\t{sha256}\t{bytes}", jdk.version, jdk.library.display())?;
    }
    if rows.is_empty() {
        bail!("no JDK found: set JAVA_HOME, or install one");
    }
    Ok(rows)
}

fn sha256(file: &Path) -> Result<String> {
    let text = output(Command::new("sha256sum").arg("--").arg(file))?;
    // coreutils prints a backslash first if it had to escape the file name.
    let sum = text.trim_start_matches('\\').split(' ').next().unwrap_or_default();
    Ok(sum.to_string())
}

/// Runs a command to its end, and returns its standard output. If the command fails, the error contains what the
/// command wrote to standard error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {name}; is it installed?"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{name} failed ({}): {}", output.status, said.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of {name} is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "0908baf60ba5791e0fd8d86b075b610c47211fbc93a922362ed642257b834b9c";

    #[test]
    fn a_tier_has_its_lines_and_medium_includes_small() {
        let list = format!(
            "# head\nsmall\tapt\ta\t1:2\t{SUM}\t3\nmedium\tnpm\tb\t2\t{SUM}\t4\nlarge\tpip\tc\t3\t{SUM}\t5\n"
        );
        let packages = parse(&list).unwrap();
        let names = |tier| -> Vec<String> {
            select(&packages, tier).unwrap().into_iter().map(|it| it.name).collect()
        };
        assert_eq!(names("small"), ["a"]);
        assert_eq!(names("medium"), ["a", "b"]);
        assert_eq!(names("large"), ["c"]);
        let error = select(&packages, "huge").unwrap_err().to_string();
        assert_eq!(error, "no tier `huge`; there are: jdk, large, medium, small");
    }

    #[test]
    fn an_error_in_a_list_names_its_line() {
        let error = |list: &str| parse(list).unwrap_err().to_string();
        assert_eq!(
            error("# x\nsmall\tapt\ta\n"),
            "test-data/corpora.tsv:2: the line has 3 fields, 6 are expected"
        );
        assert_eq!(error(&format!("s\tftp\ta\t1\t{SUM}\t3")), "test-data/corpora.tsv:1: unknown kind `ftp`");
        assert_eq!(error("s\tapt\ta\t1\tabc\t3"), "test-data/corpora.tsv:1: `abc` is not a SHA-256 hash");
    }

    #[test]
    fn the_committed_list_is_valid() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let packages = parse(&std::fs::read_to_string(root.join(LIST)).unwrap()).unwrap();
        let small = select(&packages, "small").unwrap();
        let names: Vec<&str> = small.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["jasmin-sable", "cup", "jflex"]);
    }

    #[test]
    fn sha256_of_known_inputs() {
        let folder = std::env::temp_dir().join(format!("ajar-corpus-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("x.txt");
        std::fs::write(&file, "abc").unwrap();
        let found = sha256(&file).unwrap();
        assert_eq!(found, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
