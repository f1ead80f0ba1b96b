//! Writes the seeds of all targets into `corpus/`: the classes of `test-data`, their BIR, and small archives and
//! images. To be run in `fuzz/`: `cargo run --release --bin seeds`.

#[path = "../../../crates/driver/tests/common/mod.rs"]
mod common;

use std::path::Path;

use bir::lower::{Scratch, lower};
use bir::print::print;
use classfile::bootstrap::Bootstraps;
use classfile::class::ClassFile;
use common::{End, Entry, ZipWriter, entry, zip};

fn main() -> std::io::Result<()> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-data");
    let mut classes = Vec::new();
    collect(&data, &mut classes)?;
    for (i, bytes) in classes.iter().enumerate() {
        put("class", &i.to_string(), bytes)?;
        put("text", &i.to_string(), text(bytes).as_bytes())?;
    }
    archives(&classes)?;
    put("image", "little", &common::image::sample(false))?;
    put("image", "big", &common::image::sample(true))?;
    put("image", "long", &common::image::with_long_names())
}

/// Collects all class files in `folder` that are small enough to be mutated often.
fn collect(folder: &Path, out: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?.flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, out)?;
        } else if path.extension().is_some_and(|it| it == "class") {
            let bytes = std::fs::read(&path)?;
            if bytes.len() < 4096 {
                out.push(bytes);
            }
        }
    }
    Ok(())
}

fn put(target: &str, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("seed-{name}")), bytes)
}

/// The BIR of the methods that can be lowered.
fn text(bytes: &[u8]) -> String {
    let mut out = String::new();
    let Ok(class) = ClassFile::parse(bytes) else { return out };
    let Ok(boots) = Bootstraps::of(&class) else { return out };
    let mut scratch = Scratch::default();
    for method in class.methods() {
        if let Ok(Some(code)) = method.code()
            && let Ok(it) = lower(&class, &boots, &method, &code, &mut scratch)
        {
            out.push_str(&print(&it.body));
        }
    }
    out
}

fn archives(classes: &[Vec<u8>]) -> std::io::Result<()> {
    let class = classes.first().map(Vec::as_slice).unwrap_or_default();
    let other = classes.get(1).map(Vec::as_slice).unwrap_or_default();
    let lib = zip(&[("p/L.class", other)]);
    let manifest = b"Manifest-Version: 1.0\r\nMulti-Release: true\r\nClass-Path: a.jar b\r\n .jar\r\n";
    put("archive", "plain", &zip(&[("p/A.class", class), ("B.class", other)]))?;
    let versions =
        [("META-INF/MANIFEST.MF", &manifest[..]), ("A.class", class), ("META-INF/versions/9/A.class", other)];
    put("archive", "versions", &zip(&versions))?;
    let index = &b"- \"BOOT-INF/lib/l.jar\"\n"[..];
    let boot =
        [("BOOT-INF/classes/A.class", class), ("BOOT-INF/lib/l.jar", &lib), ("BOOT-INF/classpath.idx", index)];
    put("archive", "boot", &zip(&boot))?;
    let war = zip(&[("WEB-INF/classes/A.class", class), ("WEB-INF/lib/l.jar", &lib)]);
    put("archive", "ear", &zip(&[("META-INF/application.xml", b""), ("a.war", &war), ("lib/l.jar", &lib)]))?;
    let mut odd = ZipWriter::default();
    odd.add(Entry { method: 0, ..entry("A.class", class) });
    odd.add(Entry { zip64: true, ..entry("B.class", other) });
    odd.add(Entry { crc: Some(1), ..entry("A.class", other) });
    put("archive", "odd", &odd.end(&End { zip64: true, comment: b"PK\x05\x06", ..End::default() }))?;
    put("archive", "jmod", &[b"JM\x01\x00".to_vec(), zip(&[("classes/p/A.class", class)])].concat())
}
