//! Measures the watching of files: `watching [CLASSES]`. The watched files are a folder of class files (5000 by
//! default), a jar and a war of 60 MB each. Prints the time from the end of writing to the updated world, including
//! the settle time, and the time of an examination in which no file changed. Each time is the median of nine.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use driver::jdk::JdkChoice;
use driver::watch::{Watch, WatchOptions};
use driver::world::WorldSpec;

fn main() -> anyhow::Result<()> {
    let classes = std::env::args().nth(1).map_or(Ok(5000), |it| it.parse::<usize>())?;
    let root =
        Utf8PathBuf::from_path_buf(std::env::temp_dir()).ok().context("a folder with a printable name")?;
    let root = root.join(format!("watching-{}", std::process::id()));
    std::fs::create_dir_all(&root)?;
    let done = measure(&root, classes);
    std::fs::remove_dir_all(&root)?;
    done
}

fn measure(root: &Utf8Path, classes: usize) -> anyhow::Result<()> {
    let mut random = 1u64;
    for number in 0..classes {
        let path = root.join(format!("classes/p{}/C{number}.class", number % 97));
        std::fs::create_dir_all(path.parent().context("a parent")?)?;
        std::fs::write(path, noise(&mut random, 3000))?;
    }
    let content = root.join("content");
    for number in 0..4000 {
        let path = content.join(format!("p{}/C{number}.class", number % 53));
        std::fs::create_dir_all(path.parent().context("a parent")?)?;
        std::fs::write(path, noise(&mut random, 15_000))?;
    }
    let jars = [0, 1].map(|it| root.join(format!("{it}.jar")));
    let wars = [0, 1].map(|it| root.join(format!("{it}.war")));
    for (jar, war) in jars.iter().zip(&wars) {
        std::fs::write(content.join("p1/C1.class"), noise(&mut random, 15_000))?;
        zip(&content, jar)?;
        let inner = root.join("inner");
        std::fs::create_dir_all(inner.join("WEB-INF/lib"))?;
        std::fs::create_dir_all(inner.join("WEB-INF/classes"))?;
        std::fs::write(inner.join("WEB-INF/classes/D.class"), noise(&mut random, 15_000))?;
        if !inner.join("WEB-INF/lib/a.jar").is_file() {
            std::fs::copy(jar, inner.join("WEB-INF/lib/a.jar"))?;
        }
        zip(&inner, war)?;
    }
    let (jar, war) = (root.join("lib/x.jar"), root.join("lib/x.war"));
    std::fs::create_dir_all(root.join("lib"))?;
    std::fs::copy(&jars[0], &jar)?;
    std::fs::copy(&wars[0], &war)?;
    let spec = WorldSpec {
        inputs: vec![root.join("classes")],
        class_path: vec![jar.clone(), war.clone()],
        module_path: vec![],
        jdk: JdkChoice::None,
        release: None,
    };
    let begin = Instant::now();
    let (mut watch, world) = Watch::new(spec, vec![], WatchOptions::default())?;
    println!("{:>8.1?} to begin, {} classes", begin.elapsed(), world.classes().count());
    report("a class file", &mut watch, |_| {
        std::fs::write(root.join("classes/p1/C1.class"), noise(&mut random, 3000))?;
        Ok(())
    })?;
    report("a jar, written in place", &mut watch, |round| {
        let bytes = std::fs::read(&jars[(round + 1) % 2])?;
        let mut file = std::fs::File::create(&jar)?;
        file.write_all(&bytes)?;
        Ok(())
    })?;
    report("a jar, moved", &mut watch, |round| {
        std::fs::copy(&jars[round % 2], root.join("new.tmp"))?;
        std::fs::rename(root.join("new.tmp"), &jar)?;
        Ok(())
    })?;
    report("a war with a large jar", &mut watch, |round| {
        std::fs::copy(&wars[(round + 1) % 2], root.join("new.tmp"))?;
        std::fs::rename(root.join("new.tmp"), &war)?;
        Ok(())
    })
}

fn report(
    what: &str,
    watch: &mut Watch,
    mut write: impl FnMut(usize) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut times = Vec::new();
    for round in 0..9 {
        write(round)?;
        let begin = Instant::now();
        let cycle = watch.next(Some(begin + Duration::from_secs(60)))?;
        ensure!(cycle.is_some_and(|it| it.kept.is_empty()), "{what}: nothing came");
        times.push(begin.elapsed());
    }
    times.sort();
    println!("{:>8.1?} {what} ({:.1?} to {:.1?})", times[4], times[0], times[8]);
    Ok(())
}

fn zip(folder: &Utf8Path, archive: &Utf8Path) -> anyhow::Result<()> {
    let mut command = Command::new("jar");
    command.arg("--create").arg("--file").arg(archive).arg("-C").arg(folder).arg(".");
    let status = command.stdout(Stdio::null()).status().context("jar")?;
    ensure!(status.success(), "{archive} cannot be made");
    Ok(())
}

/// Returns bytes that cannot be compressed.
fn noise(random: &mut u64, length: usize) -> Vec<u8> {
    let mut next = || {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        random.to_le_bytes()
    };
    // The content must not be that of a class file, because an incomplete class file would not be accepted.
    let mut bytes = b"noise".to_vec();
    while bytes.len() < length {
        bytes.extend_from_slice(&next());
    }
    bytes
}
