//! A zip writer in which every field can be wrong, and text listings of archives.
#![allow(dead_code)]

pub(crate) mod image;

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use driver::container::{LoadedContainer, Scratch};
use driver::problem::Problem;
use driver::world::list_archive;

/// An archive under construction.
#[derive(Default)]
pub(crate) struct ZipWriter {
    pub(crate) bytes: Vec<u8>,
    pub(crate) directory: Vec<u8>,
    pub(crate) count: u16,
}

/// An entry; `None` stands for the correct value.
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) local_name: Option<&'a [u8]>,
    pub(crate) data: &'a [u8],
    pub(crate) method: u16,
    pub(crate) flags: u16,
    pub(crate) crc: Option<u32>,
    pub(crate) size: Option<u32>,
    pub(crate) zip64: bool,
}

/// The content of the end record; `None` stands for the correct value.
#[derive(Default)]
pub(crate) struct End<'a> {
    pub(crate) comment: &'a [u8],
    pub(crate) count: Option<u16>,
    pub(crate) shift: u32,
    pub(crate) zip64: bool,
}

pub(crate) fn entry<'a>(name: &'a str, data: &'a [u8]) -> Entry<'a> {
    let name = name.as_bytes();
    Entry { name, local_name: None, data, method: 8, flags: 0, crc: None, size: None, zip64: false }
}

/// Writes an archive of deflated entries.
pub(crate) fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::default();
    for (name, data) in entries {
        writer.add(entry(name, data));
    }
    writer.end(&End::default())
}

pub(crate) fn deflate(data: &[u8]) -> Vec<u8> {
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
    let mut out = vec![0; compressor.deflate_compress_bound(data.len())];
    let length = compressor.deflate_compress(data, &mut out).unwrap();
    out.truncate(length);
    out
}

impl ZipWriter {
    pub(crate) fn add(&mut self, entry: Entry<'_>) -> &mut ZipWriter {
        let stored = if entry.method == 8 { deflate(entry.data) } else { entry.data.to_vec() };
        let crc = entry.crc.unwrap_or_else(|| crc32fast::hash(entry.data));
        let size = entry.size.unwrap_or(entry.data.len() as u32);
        let offset = self.bytes.len() as u32;
        let local_name = entry.local_name.unwrap_or(entry.name);
        let mut extra = Vec::new();
        let mut sizes = [stored.len() as u32, size];
        if entry.zip64 {
            extra.extend_from_slice(&[1, 0, 16, 0]);
            extra.extend_from_slice(&u64::from(size).to_le_bytes());
            extra.extend_from_slice(&(stored.len() as u64).to_le_bytes());
            sizes = [u32::MAX; 2];
        }
        let common = |out: &mut Vec<u8>, name: &[u8]| {
            words(out, &[20, entry.flags, entry.method, 0, 0x21]);
            for it in [crc, sizes[0], sizes[1]] {
                out.extend_from_slice(&it.to_le_bytes());
            }
            words(out, &[name.len() as u16, extra.len() as u16]);
        };
        self.bytes.extend_from_slice(b"PK\x03\x04");
        common(&mut self.bytes, local_name);
        for it in [local_name, &extra, &stored] {
            self.bytes.extend_from_slice(it);
        }
        self.directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        common(&mut self.directory, entry.name);
        words(&mut self.directory, &[0, 0, 0, 0, 0]);
        self.directory.extend_from_slice(&offset.to_le_bytes());
        self.directory.extend_from_slice(entry.name);
        self.directory.extend_from_slice(&extra);
        self.count = self.count.wrapping_add(1);
        self
    }

    pub(crate) fn end(&self, end: &End<'_>) -> Vec<u8> {
        let mut out = self.bytes.clone();
        out.extend_from_slice(&self.directory);
        let (mut size, mut offset) = (self.directory.len() as u32, self.bytes.len() as u32 + end.shift);
        let mut count = end.count.unwrap_or(self.count);
        if end.zip64 {
            let at = out.len() as u64;
            out.extend_from_slice(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
            for it in [self.count.into(), self.count.into(), u64::from(size), u64::from(offset)] {
                out.extend_from_slice(&it.to_le_bytes());
            }
            out.extend_from_slice(b"PK\x06\x07\0\0\0\0");
            out.extend_from_slice(&at.to_le_bytes());
            out.extend_from_slice(&[1, 0, 0, 0]);
            (size, offset, count) = (u32::MAX, u32::MAX, u16::MAX);
        }
        out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        words(&mut out, &[count, count]);
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&offset.to_le_bytes());
        words(&mut out, &[end.comment.len() as u16]);
        out.extend_from_slice(end.comment);
        out
    }
}

fn words(out: &mut Vec<u8>, words: &[u16]) {
    out.extend(words.iter().flat_map(|it| it.to_le_bytes()));
}

/// Lists an archive: one line per class, `role root|path = content`, then the problems.
pub(crate) fn listing(bytes: Vec<u8>) -> String {
    match list_archive("t", bytes, 17) {
        Ok((containers, problems)) => text(&containers, &problems),
        Err(what) => format!("error: {what}\n"),
    }
}

pub(crate) fn text(containers: &[Arc<LoadedContainer>], problems: &[Problem]) -> String {
    let mut out = String::new();
    let mut scratch = Scratch::new();
    for container in containers {
        writeln!(out, "{} {}", container.role.name(), container.name).unwrap();
        for entry in &container.classes {
            let content = match container.bytes(entry, &mut scratch) {
                Ok(it) => {
                    let note = it.note.map(|it| format!(" [{it}]")).unwrap_or_default();
                    let shown = String::from_utf8_lossy(it.bytes.get(..20).unwrap_or(it.bytes)).into_owned();
                    assert_eq!(it.bytes.len() as u64, entry.size);
                    format!("{shown}{note}")
                }
                Err(problem) => problem.to_string(),
            };
            let display = container.display(entry);
            assert!(display.ends_with(entry.member()), "{display}");
            writeln!(out, "  {}|{} = {content}", entry.root(), entry.path()).unwrap();
        }
    }
    for problem in problems {
        writeln!(out, "{problem}").unwrap();
    }
    out
}

/// The homes of the installed JDKs, sorted by name. If there is none, tests are skipped, but not in CI.
pub(crate) fn jdks() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter_map(|it| std::fs::canonicalize(it.join("java")).ok());
    homes.extend(on_path.filter_map(|it| Some(it.parent()?.parent()?.to_owned())));
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    homes.extend(installed.map(|it| it.path()));
    homes.retain(|it| it.join("lib/modules").is_file());
    let mut homes: Vec<PathBuf> = homes.iter().filter_map(|it| std::fs::canonicalize(it).ok()).collect();
    homes.sort();
    homes.dedup();
    if homes.is_empty() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI must have a JDK");
        eprintln!("skipped: no JDK found");
    }
    homes
}
