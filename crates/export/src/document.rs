//! A document: a header, fragments, and at the end what was left out.

use std::io::{self, Write};

use ide::{Fault, MethodId};

use crate::json::{array, key, number, optional_number, string};
use crate::json_method::method_name;
use crate::{dot, graphml};

/// The formats for machines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// One JSON object.
    Json,
    /// One JSON object a line: a header, one for each method, and an end.
    JsonLines,
    /// Graphviz: one `digraph` a method, in one stream.
    Dot,
    /// GraphML: one `graph` a method.
    GraphMl,
}

/// What an answer rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The command that was asked: `cfg`, `bir` or `stats`.
    pub command: &'static str,
    /// The version of ajar.
    pub version: &'static str,
    /// The JDK whose class library was used, and how it was found.
    pub jdk: Option<String>,
    /// The Java release for which multi-release jars were read.
    pub release: u16,
    /// The world assumed: `open`.
    pub world: &'static str,
    /// The groups of VM errors that the graphs count.
    pub vm_error_groups: Vec<&'static str>,
    /// What was assumed besides, a sentence each.
    pub assumptions: Vec<&'static str>,
    /// The containers in class-path order: name and role.
    pub containers: Vec<(String, &'static str)>,
}

/// What was left out, and what is odd.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trailer {
    /// Classes that could not be read.
    pub failed_classes: Vec<FailedClass>,
    /// Methods whose code could not be read.
    pub failed_methods: Vec<FailedMethod>,
    /// What is odd although nothing is lost: place and text.
    pub notes: Vec<(String, String)>,
}

/// A class that could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedClass {
    /// Where: `outer.jar!/p/C.class`.
    pub place: String,
    /// What is wrong, without a full stop.
    pub reason: String,
    /// Offset in the class file, when the fault is in it.
    pub offset: Option<u32>,
    /// The rule of the JVMS that is broken, when the fault is in the class file.
    pub jvms: Option<&'static str>,
}

/// A method whose code could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedMethod {
    /// Where: `outer.jar!/p/C.class`.
    pub place: String,
    /// The method.
    pub method: MethodId,
    /// Why.
    pub fault: Fault,
}

/// A document that is being written.
pub struct Document<W> {
    out: W,
    format: Format,
    empty: bool,
}

impl<W: Write> Document<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn begin(mut out: W, format: Format, header: &Header) -> io::Result<Self> {
        let mut text = Vec::new();
        match format {
            Format::Json => {
                header_members(&mut text, header);
                text.extend(b",\n\"methods\":[\n");
            }
            Format::JsonLines => {
                header_members(&mut text, header);
                // The record's kind comes first, as readers of lines look at it first.
                text.splice(1..1, b"\"record\":\"header\",".iter().copied());
                text.extend(b"}\n");
            }
            Format::Dot => dot::header(&mut text, header),
            Format::GraphMl => graphml::header(&mut text, header),
        }
        out.write_all(&text)?;
        Ok(Document { out, format, empty: true })
    }

    /// Writes a fragment. Empty ones leave no trace.
    ///
    /// # Errors
    /// Those of the output.
    pub fn fragment(&mut self, fragment: &[u8]) -> io::Result<()> {
        if fragment.is_empty() {
            return Ok(());
        }
        if self.format == Format::Json && !self.empty {
            self.out.write_all(b",\n")?;
        }
        self.empty = false;
        self.out.write_all(fragment)
    }

    /// Writes what was left out and ends the document.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(mut self, trailer: &Trailer) -> io::Result<W> {
        let mut text = Vec::new();
        match self.format {
            Format::Json => {
                text.extend(b"\n],\n");
                trailer_members(&mut text, trailer);
                text.extend(b"}\n");
            }
            Format::JsonLines => {
                text.extend(b"{\"record\":\"end\",");
                trailer_members(&mut text, trailer);
                text.extend(b"}\n");
            }
            Format::Dot => dot::trailer(&mut text, trailer),
            Format::GraphMl => graphml::trailer(&mut text, trailer),
        }
        self.out.write_all(&text)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Appends an open object with the members of the header.
pub(crate) fn header_members(out: &mut Vec<u8>, header: &Header) {
    out.push(b'{');
    key(out, "ajar");
    string(out, header.version);
    key(out, "command");
    string(out, header.command);
    key(out, "jdk");
    match &header.jdk {
        Some(it) => string(out, it),
        None => out.extend(b"null"),
    }
    key(out, "release");
    number(out, header.release);
    key(out, "world");
    string(out, header.world);
    key(out, "vm_error_groups");
    array(out, &header.vm_error_groups, |out, it| string(out, it));
    key(out, "assumptions");
    array(out, &header.assumptions, |out, it| string(out, it));
    key(out, "containers");
    array(out, &header.containers, |out, (name, role)| {
        out.push(b'{');
        key(out, "name");
        string(out, name);
        key(out, "role");
        string(out, role);
        out.push(b'}');
    });
}

/// Appends the members of the trailer, without a comma before them.
pub(crate) fn trailer_members(out: &mut Vec<u8>, trailer: &Trailer) {
    out.extend(b"\"failed_classes\":");
    array(out, &trailer.failed_classes, |out, it| {
        out.push(b'{');
        key(out, "place");
        string(out, &it.place);
        key(out, "reason");
        string(out, &it.reason);
        key(out, "offset");
        optional_number(out, it.offset);
        key(out, "jvms");
        match it.jvms {
            Some(it) => string(out, it),
            None => out.extend(b"null"),
        }
        out.push(b'}');
    });
    key(out, "failed_methods");
    array(out, &trailer.failed_methods, |out, it| {
        out.push(b'{');
        key(out, "method");
        method_name(out, it.method);
        key(out, "place");
        string(out, &it.place);
        key(out, "reason");
        string(out, &it.fault.what);
        key(out, "offset");
        number(out, it.fault.offset);
        key(out, "jvms");
        string(out, it.fault.jvms);
        out.push(b'}');
    });
    key(out, "notes");
    array(out, &trailer.notes, |out, (place, text)| {
        out.push(b'{');
        key(out, "place");
        string(out, place);
        key(out, "text");
        string(out, text);
        out.push(b'}');
    });
}

/// What the header and trailer of the graph formats say, one line each.
pub(crate) fn header_lines(header: &Header) -> Vec<String> {
    let jdk = header.jdk.as_deref().unwrap_or("none");
    let mut lines = vec![
        format!("ajar {} {}", header.version, header.command),
        format!("jdk: {jdk}; release {}", header.release),
        format!("world: {}; VM error groups: {}", header.world, header.vm_error_groups.join(", ")),
    ];
    lines.extend(header.assumptions.iter().map(|it| format!("assumed: {it}")));
    lines
}

/// See [`header_lines`].
pub(crate) fn trailer_lines(trailer: &Trailer) -> Vec<String> {
    let classes =
        trailer.failed_classes.iter().map(|it| format!("failed class: {}: {}", it.place, it.reason));
    let methods = trailer
        .failed_methods
        .iter()
        .map(|it| format!("failed method: {}: {}: {}", it.place, it.method, it.fault));
    let notes = trailer.notes.iter().map(|(place, text)| format!("note: {place}: {text}"));
    classes.chain(methods).chain(notes).collect()
}
