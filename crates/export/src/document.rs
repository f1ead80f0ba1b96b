//! A document: a header, fragments (the answers about one class each), and a trailer that lists the parts that were
//! left out.

use std::io::{self, Write};

use crate::form::Format;
use crate::frame::{Header, Trailer, header_members, trailer_members};
use crate::{call_edges, call_graph, call_graphml, dot, graphml};

/// Appends the header as the first line of JSON lines.
pub(crate) fn header_line(out: &mut Vec<u8>, header: &Header) {
    let start = out.len() + 1;
    header_members(out, header);
    // The record kind comes first, because readers of lines look at it first.
    out.splice(start..start, b"\"record\":\"header\",".iter().copied());
    out.extend(b"}\n");
}

/// A document that is being written.
pub struct Document<W> {
    out: W,
    format: Format,
    empty: bool,
    /// Whether the document has a single graph for all classes (a call graph), and not a graph for each method.
    one_graph: bool,
    /// The nodes already written to the single graph of the document; used for the format GraphML only.
    nodes: call_graphml::Nodes,
}

impl<W: Write> Document<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Fails if `out` fails.
    pub fn begin(mut out: W, format: Format, header: &Header) -> io::Result<Self> {
        let mut text = Vec::new();
        let one_graph = header.command == "calls";
        match format {
            Format::Json => {
                header_members(&mut text, header);
                text.extend(b",\n\"");
                text.extend(header.list().as_bytes());
                text.extend(b"\":[\n");
            }
            Format::JsonLines => header_line(&mut text, header),
            Format::Dot => {
                dot::header(&mut text, header);
                if one_graph {
                    call_graph::begin(&mut text);
                }
            }
            Format::GraphMl if one_graph => call_graphml::begin(&mut text, header),
            Format::GraphMl => graphml::header(&mut text, header),
            Format::Edges => call_edges::begin(&mut text, header),
        }
        out.write_all(&text)?;
        Ok(Document { out, format, empty: true, one_graph, nodes: call_graphml::Nodes::default() })
    }

    /// Writes a fragment: the answers about one class. An empty fragment has no effect.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn fragment(&mut self, fragment: &[u8]) -> io::Result<()> {
        if fragment.is_empty() {
            return Ok(());
        }
        if self.format == Format::Json && !self.empty {
            self.out.write_all(b",\n")?;
        }
        self.empty = false;
        if self.format == Format::GraphMl && self.one_graph {
            return self.out.write_all(&self.nodes.once(fragment));
        }
        self.out.write_all(fragment)
    }

    /// Writes the trailer, which lists the parts that were left out, and ends the document.
    ///
    /// # Errors
    /// Fails if the output fails.
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
            Format::Dot => {
                if self.one_graph {
                    call_graph::end(&mut text);
                }
                dot::trailer(&mut text, trailer);
            }
            Format::GraphMl => {
                if self.one_graph {
                    call_graphml::end(&mut text);
                }
                graphml::trailer(&mut text, trailer);
            }
            Format::Edges => call_edges::end(&mut text, trailer),
        }
        self.out.write_all(&text)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
