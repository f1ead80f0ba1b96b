//! Lists the classes of inputs, or measures how long that takes: `list [--time] [--jdk HOME] INPUT...`.

use std::time::Instant;

use driver::container::Scratch;
use driver::jdk::JdkChoice;
use driver::world::{WorldSpec, load};

fn main() -> anyhow::Result<()> {
    let mut spec = WorldSpec {
        inputs: vec![],
        class_path: vec![],
        module_path: vec![],
        jdk: JdkChoice::None,
        release: None,
    };
    let mut args = std::env::args().skip(1);
    let mut time = false;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--time" => time = true,
            "--jdk" => spec.jdk = args.next().map_or(JdkChoice::Default, |it| JdkChoice::parse(&it)),
            _ => spec.inputs.push(arg.into()),
        }
    }
    let start = Instant::now();
    let world = load(&spec)?;
    let listed = start.elapsed();
    let mut scratch = Scratch::new();
    let (mut n, mut sum, mut bytes) = (0u64, 0u128, 0u64);
    for (container, entry) in world.classes() {
        n += 1;
        match container.identity(entry, &mut scratch) {
            Ok(it) => sum ^= it.hash,
            Err(error) => println!("{error}"),
        }
    }
    let hashed = start.elapsed() - listed;
    for (container, entry) in world.classes() {
        match container.bytes(entry, &mut scratch) {
            Ok(it) => {
                bytes += it.bytes.len() as u64;
                if !time {
                    let crc = crc32fast::hash(it.bytes);
                    println!(
                        "{} {crc:08x} {} {}",
                        container.role.name(),
                        entry.path(),
                        container.display(entry)
                    );
                }
                if let Some(note) = it.note {
                    println!("{note}");
                }
            }
            Err(error) => println!("{error}"),
        }
    }
    let read = start.elapsed() - listed - hashed;
    for problem in &world.problems {
        println!("{problem}");
    }
    println!("release {} jdk {:?}", world.release, world.jdk.map(|it| it.description()));
    println!("{n} classes, {bytes} bytes, hash {sum:032x}; list {listed:?} hash {hashed:?} read {read:?}");
    println!("peak {:?} own {:?}", driver::usage::peak_memory(), driver::usage::own_memory());
    Ok(())
}
