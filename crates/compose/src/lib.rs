//! Composition of separately extracted graphs: the disjoint union of de Carvalho Gomes, Picoco and Gurov, *Sound
//! Control Flow Graph Extraction from Incomplete Java Bytecode Programs*, §2.1. In addition, calls from one part to
//! methods of another part are linked.
//!
//! Documents of `ajar cfg` are read twice. [`Composer::add`] collects the facts that must be known of all methods
//! together; [`Composer::copy`] writes the methods of a document one by one, and refuses a document that has
//! changed in between. `solve` computes the changes to the methods and states why they are sound; `rewrite` applies
//! them.

mod facts;
mod json;
mod rewrite;
mod solve;
mod types;

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Write};

use export::form::Format;
use export::json::unit;
use facts::Method;
use json::{Fault, Json, Sink};
use rewrite::rewritten;
use solve::Program;
use types::NameId;

/// The assumption that documents contain if they were extracted with `--link-errors`.
pub const ALL_LINK_ERRORS: &str = "errors of linking are counted for classes that are absent too";

/// The assumption that documents contain if they were extracted with `--rta` or `--entry`.
pub const REACHED: &str = "reflection without class constants, object streams of the JDK itself, method handles that code looks up, unknown bootstrap methods and native methods of unknown effect run nothing that is not reached otherwise from the entry points";

/// The header members that must be equal in all parts of a program, each with its name for messages.
const SETTINGS: [(&str, &str); 7] = [
    ("jdk", "JDK"),
    ("release", "release"),
    ("profile", "profile"),
    ("world", "world"),
    ("names", "hash of known names"),
    ("vm_error_groups", "list of VM error groups"),
    ("assumptions", "list of assumptions"),
];

/// The reason why documents cannot be composed.
#[derive(Debug)]
pub enum ComposeError {
    /// The document cannot be read.
    Input(io::Error),
    /// The result cannot be written.
    Output(io::Error),
    /// A document is refused. The text names the document, the fault and its position.
    Refused(String),
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComposeError::Input(it) | ComposeError::Output(it) => it.fmt(f),
            ComposeError::Refused(it) => f.write_str(it),
        }
    }
}

impl std::error::Error for ComposeError {}

/// A composition in progress.
pub struct Composer {
    version: &'static str,
    /// The header of the first document, and the place of that document.
    header: Option<(String, Json)>,
    containers: Vec<Json>,
    program: Program,
    /// The places of the documents, by document number.
    places: Vec<String>,
    /// A hash of the content of each document.
    said: Vec<u64>,
    required: BTreeSet<NameId>,
    /// Violated assumptions: what a document assumes about a method of another document, and what is false there.
    /// Each is a pair of the place of the first document and a description.
    broken: Vec<(String, String)>,
    /// The concatenated lists of all documents, for each name in [`LEFT_OUT`].
    left_out: [Vec<Json>; 4],
}

/// The names of the lists at the end of each document. The composed document has the concatenation of the lists of
/// all documents.
const LEFT_OUT: [&str; 4] = ["failed_classes", "failed_methods", "warnings", "notes"];

impl Composer {
    /// Creates an empty composition. `version` is the version of ajar. Documents of other versions are refused,
    /// because their members may differ in name or meaning.
    pub fn new(version: &'static str) -> Self {
        Composer {
            version,
            header: None,
            containers: Vec::new(),
            program: Program::default(),
            places: Vec::new(),
            said: Vec::new(),
            required: BTreeSet::new(),
            broken: Vec::new(),
            left_out: Default::default(),
        }
    }

    /// Reads the facts of a document.
    ///
    /// # Errors
    /// Fails if the document cannot be read, is not a document of `ajar cfg`, or does not fit the documents added
    /// before.
    pub fn add(&mut self, place: &str, input: impl BufRead) -> Result<(), ComposeError> {
        self.places.push(place.to_owned());
        let mut adding = Adding { composer: self, said: DefaultHasher::new() };
        json::read(input, &mut adding).map_err(|it| refused(place, it))?;
        let said = adding.said.finish();
        self.said.push(said);
        Ok(())
    }

    /// Solves the composition of all added documents. After that, the documents can be copied.
    pub fn solve(&mut self) {
        self.program.refines = self.header.as_ref().is_some_and(|(_, header)| {
            let counted = header.get("assumptions").map(Json::items).unwrap_or_default();
            let all = counted.iter().any(|it| it.text() == Some(ALL_LINK_ERRORS.as_bytes()));
            !all && header.get("profile").and_then(Json::text) == Some(b"jvm")
        });
        self.program.solve();
        let text = |it: NameId| String::from_utf8_lossy(self.program.names.text(it)).into_owned();
        for it in self.program.breaches() {
            let mut out: Vec<String> = it.known.iter().map(|it| text(it.class)).collect();
            out.sort();
            out.extend(it.more.then(|| "unknown exceptions".to_owned()));
            let place = self.places.get(it.caller.document).cloned().unwrap_or_default();
            let (caller, callee, out) = (text(it.caller.name), text(it.callee), out.join(", "));
            let what = format!(
                "the graph of {caller} was computed as if {callee} never threw {out}, but it can; \
                 run `ajar cfg` again for the classes of this document"
            );
            self.broken.push((place, what));
        }
    }

    /// Returns the violated assumptions: what a document assumes about a method of another document, and what is
    /// false there. Each is a pair of the place of the first document and a description. At these places, the
    /// composed document is not sound for the whole program.
    pub fn broken(&self) -> &[(String, String)] {
        &self.broken
    }

    /// Writes the part of the composed document before the methods.
    ///
    /// # Errors
    /// Fails if `out` fails.
    pub fn begin(&self, out: &mut impl Write, format: Format) -> io::Result<()> {
        let Some((_, Json::Object(members))) = &self.header else { return Ok(()) };
        let mut members = members.clone();
        for (key, value) in &mut members {
            match &**key {
                b"command" => *value = Json::plain("compose"),
                b"containers" => *value = Json::Array(self.containers.clone()),
                _ => {}
            }
        }
        let mut text = Vec::new();
        if format == Format::JsonLines {
            members.insert(0, (b"record".as_slice().into(), Json::plain("header")));
        }
        Json::Object(members).write(&mut text);
        if format == Format::Json {
            text.pop();
            text.extend(b",\n\"methods\":[\n");
        } else {
            text.push(b'\n');
        }
        out.write_all(&text)
    }

    /// Writes the methods of an added document, as they are after composition. `first` is `true` as long as no method
    /// has been written to `out`.
    ///
    /// # Errors
    /// Fails if `out` fails, or if the document has changed since it was added; the output is then invalid.
    pub fn copy(
        &self,
        place: &str,
        input: impl BufRead,
        out: &mut impl Write,
        format: Format,
        first: &mut bool,
    ) -> Result<(), ComposeError> {
        let said = DefaultHasher::new();
        let mut copying = Copying { program: &self.program, out, format, first, said, failed: None };
        let done = json::read(input, &mut copying);
        if let Some(it) = copying.failed {
            return Err(ComposeError::Output(it));
        }
        // The document was well-formed when it was first read.
        let now = match done {
            Ok(()) => copying.said.finish(),
            Err(Fault::Bad(at, what)) => {
                return Err(changed(place, &format!(" (now, the content at byte {at} is wrong: {what})")));
            }
            Err(it) => return Err(refused(place, it)),
        };
        let mut said = self.places.iter().zip(&self.said);
        if said.any(|(at, said)| at == place && *said == now) { Ok(()) } else { Err(changed(place, "")) }
    }

    /// Writes the part of the composed document after the methods.
    ///
    /// # Errors
    /// Fails if `out` fails.
    pub fn end(&self, out: &mut impl Write, format: Format) -> io::Result<()> {
        let names = &self.program.names;
        let string = |it: NameId| Json::String(names.text(it).into());
        let member = |key: &str, value: Json| (key.as_bytes().into(), value);
        let provided = self.program.methods.iter().map(|it| it.name);
        let is_provided = |it: &NameId| self.program.by_name.contains_key(it);
        // I = (I1+ ∪ I2+, (I1− ∪ I2−) ∖ (I1+ ∪ I2+), …): Ie is part of the methods.
        let required = self.required.iter().copied().filter(|it| !is_provided(it));
        let sorted = |ids: Vec<NameId>| {
            let mut ids = ids;
            ids.sort_by_key(|&it| names.text(it));
            Json::Array(ids.into_iter().map(string).collect())
        };
        let interface = vec![
            member("provided", sorted(provided.collect())),
            member("required", sorted(required.collect())),
        ];
        let mut types: Vec<(NameId, NameId)> =
            self.program.types.supers.iter().map(|it| (*it.0, *it.1)).collect();
        types.sort_by_key(|it| names.text(it.0));
        let types = types.into_iter().map(|(class, above)| {
            Json::Object(vec![member("type", string(class)), member("super", string(above))])
        });
        let mut members = Vec::new();
        for (key, list) in LEFT_OUT.iter().zip(&self.left_out) {
            members.push(member(key, Json::Array(list.clone())));
        }
        if let Some((_, Json::Array(notes))) = members.last_mut() {
            let note = |(place, text): &(String, String)| {
                Json::Object(vec![member("place", quoted(place)), member("text", quoted(text))])
            };
            notes.extend(self.broken.iter().map(note));
        }
        members.push(member("interface", Json::Object(interface)));
        members.push(member("quiet", sorted(self.program.quiet.iter().copied().collect())));
        members.push(member("types", Json::Array(types.collect())));
        let mut text = Vec::new();
        if format == Format::JsonLines {
            members.insert(0, member("record", Json::plain("end")));
            Json::Object(members).write(&mut text);
        } else {
            text.extend(b"\n],\n");
            let mut object = Vec::new();
            Json::Object(members).write(&mut object);
            text.extend(object.get(1..).unwrap_or_default());
        }
        text.push(b'\n');
        out.write_all(&text)
    }

    fn header(&mut self, header: Json) -> Result<(), String> {
        let text = |key: &str| header.get(key).and_then(Json::text).map(String::from_utf8_lossy);
        match text("ajar") {
            Some(it) if it == self.version => {}
            Some(it) => {
                let own = self.version;
                return Err(format!(
                    "the document was written by ajar {it}, but this is ajar {own}; extract the document again"
                ));
            }
            None => return Err("the file is not a document of ajar".to_owned()),
        }
        match text("command") {
            Some(it) if it == "cfg" || it == "compose" => {}
            it => {
                let it = it.unwrap_or_default();
                return Err(format!(
                    "the document is the result of `ajar {it}`; only results of `ajar cfg` can be composed"
                ));
            }
        }
        let assumed = header.get("assumptions").map(Json::items).unwrap_or_default();
        if assumed.iter().any(|it| it.text() == Some(REACHED.as_bytes())) {
            return Err(
                "the document covers only the methods reached in its own part (--rta or --entry), and other parts may reach more; extract the document again without --rta and --entry"
                    .to_owned(),
            );
        }
        if let Some((first, before)) = &self.header {
            for (key, words) in SETTINGS {
                let (one, other) = (setting(before, key), setting(&header, key));
                if one == other {
                    continue;
                }
                if key == "names" {
                    return Err(format!(
                        "the classes and methods that the document knows differ from those of {first}: in a world that \
                         is not open, all parts must know the same classes and methods; use ghosts where code is \
                         missing"
                    ));
                }
                return Err(format!(
                    "the {words} is {other}, but {one} in {first}; extract both documents with the same settings"
                ));
            }
        }
        for it in header.get("containers").map(Json::items).unwrap_or_default() {
            if !self.containers.contains(it) {
                self.containers.push(it.clone());
            }
        }
        if self.header.is_none() {
            let place = self.places.last().cloned().unwrap_or_default();
            self.header = Some((place, header));
        }
        Ok(())
    }

    fn method(&mut self, method: &Json) -> Result<(), String> {
        let method = Method::read(&mut self.program.names, method, self.places.len() - 1)?;
        let number = self.program.methods.len();
        if let Some(&before) = self.program.by_name.get(&method.name) {
            let name = String::from_utf8_lossy(self.program.names.text(method.name)).into_owned();
            let before = self.program.methods.get(before).and_then(|it| self.places.get(it.document));
            let other = before.map_or("", String::as_str);
            return Err(format!(
                "{name} is in {other} already: the parts of a program must not have a method in common"
            ));
        }
        self.program.by_name.insert(method.name, number);
        self.program.methods.push(method);
        Ok(())
    }

    fn trailer(&mut self, trailer: &Json) -> Result<(), String> {
        let (Some(interface), Some(types)) = (trailer.get("interface"), trailer.get("types")) else {
            return Err("the document has no interface at its end".to_owned());
        };
        for it in interface.get("required").map(Json::items).unwrap_or_default() {
            if let Some(text) = it.text() {
                self.required.insert(self.program.names.id(text));
            }
        }
        for it in trailer.get("quiet").map(Json::items).unwrap_or_default() {
            if let Some(text) = it.text() {
                self.program.quiet.insert(self.program.names.id(text));
            }
        }
        let names = &mut self.program.names;
        for it in types.items() {
            let ends = (it.get("type").and_then(Json::text), it.get("super").and_then(Json::text));
            let (Some(class), Some(above)) = ends else { continue };
            let (id, above) = (names.id(class), names.id(above));
            let before = *self.program.types.supers.entry(id).or_insert(above);
            if before != above {
                let text = |it: NameId| String::from_utf8_lossy(names.text(it)).into_owned();
                return Err(format!(
                    "{} extends {} in this document, but {} in another: the documents cannot be parts of one program",
                    text(id),
                    text(above),
                    text(before)
                ));
            }
        }
        for (key, list) in LEFT_OUT.iter().zip(&mut self.left_out) {
            list.extend(trailer.get(key).map(Json::items).unwrap_or_default().iter().cloned());
        }
        Ok(())
    }
}

/// Returns `text` as a JSON string, with escapes where needed.
fn quoted(text: &str) -> Json {
    let mut out = Vec::new();
    text.encode_utf16().for_each(|it| unit(&mut out, it));
    Json::String(out.into())
}

/// Returns the text of a setting in the header. The text of the setting `jdk` is returned without the way in which
/// the JDK was found.
fn setting(header: &Json, key: &str) -> String {
    let mut out = Vec::new();
    header.get(key).unwrap_or(&Json::Null).write(&mut out);
    let text = String::from_utf8_lossy(&out).into_owned();
    match text.rsplit_once(", by ") {
        Some((jdk, _)) if key == "jdk" => format!("{jdk}\""),
        _ => text,
    }
}

fn refused(place: &str, fault: Fault) -> ComposeError {
    match fault {
        Fault::Io(it) => ComposeError::Input(it),
        Fault::Bad(..) => ComposeError::Refused(format!("{place}: {fault}")),
    }
}

fn changed(place: &str, how: &str) -> ComposeError {
    ComposeError::Refused(format!("{place}: the document changed during composition{how}; compose again"))
}

/// The sink for the first reading of a document, which collects the facts of its methods.
struct Adding<'a> {
    composer: &'a mut Composer,
    /// The hash of the content read so far.
    said: DefaultHasher,
}

impl Sink for Adding<'_> {
    fn header(&mut self, members: Json) -> Result<(), String> {
        members.hash(&mut self.said);
        self.composer.header(members)
    }

    fn method(&mut self, method: Json) -> Result<(), String> {
        method.hash(&mut self.said);
        self.composer.method(&method)
    }

    fn end(&mut self, members: Json) -> Result<(), String> {
        members.hash(&mut self.said);
        self.composer.trailer(&members)
    }
}

/// The sink for the second reading of a document, which writes the methods as they are after composition.
struct Copying<'a, W> {
    program: &'a Program,
    out: &'a mut W,
    format: Format,
    first: &'a mut bool,
    /// The hash of the content read so far.
    said: DefaultHasher,
    /// The error with which writing the result failed, if it failed.
    failed: Option<io::Error>,
}

impl<W: Write> Sink for Copying<'_, W> {
    fn header(&mut self, members: Json) -> Result<(), String> {
        members.hash(&mut self.said);
        Ok(())
    }

    fn method(&mut self, method: Json) -> Result<(), String> {
        method.hash(&mut self.said);
        let method = rewritten(self.program, method)?;
        let mut text = Vec::new();
        let is_first = std::mem::replace(self.first, false);
        match (self.format, method) {
            (Format::JsonLines, Json::Object(mut members)) => {
                members.insert(0, (b"record".as_slice().into(), Json::plain("method")));
                Json::Object(members).write(&mut text);
                text.push(b'\n');
            }
            (_, method) => {
                if !is_first {
                    text.extend(b",\n");
                }
                method.write(&mut text);
            }
        }
        self.out.write_all(&text).map_err(|it| {
            let what = it.to_string();
            self.failed = Some(it);
            what
        })
    }

    fn end(&mut self, members: Json) -> Result<(), String> {
        members.hash(&mut self.said);
        Ok(())
    }
}
