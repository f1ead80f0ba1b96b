//! Compares the edges of a call graph with those of a saved answer of `ajar calls`.
//!
//! An edge is compared without the pc of its call, so code that only moves changes no edge.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};

use anyhow::{Context, bail};
use camino::Utf8Path;
use export::call_edges::settings_lines;
use export::frame::Header;
use ide::MethodName;
use serde_json::Value;

use crate::report::count;
use crate::text::style::{Ink, Style};

/// An edge of a call graph without the position of its call: caller, callee, kind and note, as in the output format
/// `edges`, but with unescaped names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Edge {
    caller: String,
    callee: String,
    kind: String,
    note: String,
}

/// A saved answer.
#[derive(Default)]
pub(crate) struct Saved {
    /// The lines of its header.
    settings: Vec<String>,
    edges: BTreeSet<Edge>,
}

impl Saved {
    /// Reads a saved answer in the format `edges` or `jsonl`.
    ///
    /// # Errors
    /// A file that cannot be read, or that has neither format.
    pub(crate) fn read(path: &Utf8Path) -> anyhow::Result<Saved> {
        let file = File::open(path).with_context(|| format!("{path}: cannot be read"))?;
        let mut saved = Saved::default();
        for (number, line) in (1..).zip(BufReader::new(file).lines()) {
            let line = line.with_context(|| format!("{path}: cannot be read"))?;
            saved.line(&line).with_context(|| {
                format!("{path}: line {number} is not part of an answer of `ajar calls --output-format edges` or `jsonl`")
            })?;
        }
        if saved.settings.is_empty() {
            bail!(
                "{path}: the file has no header, so it is not an answer of `ajar calls --output-format edges` or `jsonl`"
            );
        }
        Ok(saved)
    }

    fn line(&mut self, line: &str) -> anyhow::Result<()> {
        if let Some(it) = line.strip_prefix("# ") {
            // The comments at the end are about parts that were left out.
            let at_end = ["failed class: ", "failed method: ", "note: ", "warning: "];
            if !at_end.iter().any(|start| it.starts_with(start)) {
                self.settings.push(text(it)?);
            }
            return Ok(());
        }
        if !line.starts_with('{') {
            self.edges.insert(edge(line)?);
            return Ok(());
        }
        let value: Value = serde_json::from_str(&parseable(line))?;
        match value["record"].as_str() {
            Some("header") => self.settings = header_of(&value),
            Some("call") => self.call(&value).context("a member is missing")?,
            Some("end") => {}
            Some(_) | None => bail!("the record is of another kind"),
        }
        Ok(())
    }

    fn call(&mut self, value: &Value) -> Option<()> {
        let (caller, kind) = (value["caller"].as_str()?, value["kind"].as_str()?);
        let mut add = |callee: &str, note: &str| {
            let [caller, callee, kind, note] = [caller, callee, kind, note].map(str::to_owned);
            self.edges.insert(Edge { caller, callee, kind, note });
        };
        for (list, note) in [("targets", ""), ("possible", "possible")] {
            for it in value[list].as_array()? {
                add(it.as_str()?, note);
            }
        }
        if let Some(reason) = value["open"]["reason"].as_str() {
            match value["open"]["name"].as_str() {
                Some(name) => add("?", &format!("{reason}:{name}")),
                None => add("?", reason),
            }
        }
        Some(())
    }
}

impl Edge {
    /// Returns whether the edge is part of an answer about the methods that `selects` accepts: their calls or, with
    /// `callers`, the calls that may run them.
    pub(crate) fn is_about(&self, callers: bool, selects: &dyn Fn(&MethodName) -> bool) -> bool {
        let method = if callers { &self.callee } else { &self.caller };
        MethodName::read(method).is_some_and(|it| selects(&it))
    }
}

/// Returns the edge in a line of the format `edges`.
pub(crate) fn edge(line: &str) -> anyhow::Result<Edge> {
    let [caller, _pc, callee, kind, note] = line.split('\t').collect::<Vec<_>>()[..] else {
        bail!("the line does not have five fields separated by tabs");
    };
    Ok(Edge { caller: text(caller)?, callee: text(callee)?, kind: kind.to_owned(), note: text(note)? })
}

/// Returns the text of which `escaped` is the content of a JSON string.
fn text(escaped: &str) -> anyhow::Result<String> {
    if !escaped.contains('\\') {
        return Ok(escaped.to_owned());
    }
    Ok(serde_json::from_str(&parseable(&format!("\"{escaped}\"")))?)
}

/// Returns the JSON text with escaped surrogates replaced by their digits, because strings of Rust cannot hold the lone
/// surrogates that names may have.
fn parseable(json: &str) -> String {
    json.replace("\\ud", "\\\\ud")
}

/// Returns the lines of a header in JSON, in the form of the format `edges`.
fn header_of(value: &Value) -> Vec<String> {
    let text = |key: &str| value[key].as_str().unwrap_or("none").to_owned();
    let list = |key: &str| -> Vec<String> {
        let items = value[key].as_array().into_iter().flatten();
        items.filter_map(|it| it.as_str()).map(str::to_owned).collect()
    };
    let mut lines = vec![
        format!("ajar {} {}", text("ajar"), text("command")),
        format!("jdk: {}; release {}", text("jdk"), value["release"]),
        format!(
            "profile: {}; world: {}; VM error groups: {}",
            text("profile"),
            text("world"),
            list("vm_error_groups").join(", ")
        ),
    ];
    lines.extend(list("assumptions").into_iter().map(|it| format!("assumed: {it}")));
    lines
}

/// The edges that are in an answer and not in a saved one, and the reverse; added up class by class.
pub(crate) struct Comparison<'a> {
    /// Tells which edges are compared.
    is_wanted: &'a dyn Fn(&Edge) -> bool,
    saved: Saved,
    came: BTreeSet<Edge>,
    seen: BTreeSet<Edge>,
}

impl<'a> Comparison<'a> {
    /// Starts a comparison of the edges that `is_wanted` accepts with those of a saved answer.
    pub(crate) fn new(mut saved: Saved, is_wanted: &'a dyn Fn(&Edge) -> bool) -> Self {
        saved.edges.retain(is_wanted);
        Comparison { is_wanted, saved, came: BTreeSet::new(), seen: BTreeSet::new() }
    }

    /// Takes in lines of the format `edges`.
    ///
    /// # Errors
    /// A line that is not an edge.
    pub(crate) fn take(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        for line in std::str::from_utf8(lines)?.lines() {
            let edge = edge(line)?;
            if !(self.is_wanted)(&edge) {
                continue;
            }
            if self.saved.edges.remove(&edge) {
                self.seen.insert(edge);
            } else if !self.seen.contains(&edge) {
                self.came.insert(edge);
            }
        }
        Ok(())
    }

    /// Returns a line for each setting in which the answers differ.
    pub(crate) fn other_settings(&self, header: &Header) -> Vec<String> {
        let now = settings_lines(header);
        let gone = self.saved.settings.iter().filter(|it| !now.contains(it));
        let come = now.iter().filter(|it| !self.saved.settings.contains(it));
        gone.map(|it| format!("only the saved answer has: {it}"))
            .chain(come.map(|it| format!("only this answer has: {it}")))
            .collect()
    }

    /// Returns the text of the comparison: the edges by caller, those that came marked `+`, those that are gone `-`.
    pub(crate) fn text(self, style: Style) -> Vec<u8> {
        let mut text = String::new();
        let (n_came, n_gone) = (self.came.len(), self.saved.edges.len());
        let came = self.came.iter().map(|it| (it, '+', Ink::Blue));
        let mut all: Vec<_> = came.chain(self.saved.edges.iter().map(|it| (it, '-', Ink::Red))).collect();
        all.sort_by_key(|it| (&it.0.caller, it.1 == '-', it.0));
        let mut caller = None;
        for (edge, sign, ink) in all {
            if caller != Some(&edge.caller) {
                if caller.is_some() {
                    text.push('\n');
                }
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{}", style.text(Ink::Bold, &edge.caller));
                caller = Some(&edge.caller);
            }
            let note = if edge.note.is_empty() { String::new() } else { format!(", {}", edge.note) };
            let line = format!("{sign} -> {} ({}{note})", edge.callee, edge.kind);
            let _ = writeln!(text, "  {}", style.text(ink, &line));
        }
        if caller.is_some() {
            text.push('\n');
        }
        let summary = format!("// {} came, {n_gone} went\n", count(n_came, "edge", "edges"));
        text.push_str(&style.text(Ink::Dim, &summary));
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_have_the_same_edges() {
        let mut lines = Saved::default();
        lines.line("# ajar 1 calls").unwrap();
        lines.line("# note: a: b").unwrap();
        lines.line("p/A.\\ud800()V\t3\tp/B.b\\t()V\tvirtual\t").unwrap();
        lines.line("p/A.\\ud800()V\t\t?\tvirtual\toutside:p/X").unwrap();
        lines.line("p/A.\\ud800()V\t3\tp/C.b()V\tvirtual\tpossible").unwrap();
        let mut json = Saved::default();
        json.line(
            r#"{"record":"call","caller":"p/A.\ud800()V","kind":"virtual","targets":["p/B.b\t()V"],"possible":["p/C.b()V"],"open":{"reason":"outside","name":"p/X"}}"#,
        )
        .unwrap();
        assert_eq!(lines.edges, json.edges);
        assert_eq!((lines.edges.len(), &*lines.settings), (3, &["ajar 1 calls".to_owned()][..]));
        assert!(lines.line("p/A.a()V\t3").is_err());
        assert!(lines.line("{\"record\":\"method\"}").is_err());
    }

    #[test]
    fn a_moved_call_is_no_change() {
        let mut saved = Saved::default();
        saved.line("A.a()V\t3\tB.b()V\tstatic\t").unwrap();
        saved.line("A.a()V\t6\tC.c()V\tstatic\t").unwrap();
        let mut comparison = Comparison::new(saved, &|_| true);
        comparison.take(b"A.a()V\t9\tB.b()V\tstatic\t\nA.a()V\t12\tB.b()V\tstatic\t\n").unwrap();
        comparison.take(b"A.a()V\t9\tD.d()V\tstatic\t\n").unwrap();
        let text = String::from_utf8(comparison.text(Style { color: false })).unwrap();
        assert_eq!(
            text,
            "A.a()V\n  + -> D.d()V (static)\n  - -> C.c()V (static)\n\n// 1 edge came, 1 went\n"
        );
    }
}
