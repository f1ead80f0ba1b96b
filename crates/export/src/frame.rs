//! The header and trailer of a document: inputs and settings of the answers, and the parts that were left out.

use ide::{Fault, MethodName, Text};

use crate::json::{array, boolean, key, method_name, number, optional_number, string, texts};

/// The inputs and settings on which an answer depends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The command: `cfg`, `bir`, `stats` etc.
    pub command: &'static str,
    /// The version of ajar.
    pub version: &'static str,
    /// The JDK whose class library was used, and how the JDK was found; `None` without a JDK.
    pub jdk: Option<String>,
    /// The Java release for which multi-release jars were read.
    pub release: u16,
    /// The rules of the analysis: `jvm`, which is sound, or `paper`, whose answers may miss behaviour.
    pub profile: &'static str,
    /// The assumed world: `open`, `declared` or `closed`.
    pub world: &'static str,
    /// A hash of the names of classes and methods that the program defines; `None` in the open world, and for results
    /// that cannot be composed.
    pub names: Option<u64>,
    /// The groups of VM errors that the graphs include.
    pub vm_error_groups: Vec<&'static str>,
    /// The assumptions of the answers besides profile and world, one sentence each.
    pub assumptions: Vec<String>,
    /// Whether the answers set apart what calls on objects of unknown classes let out.
    pub apart: bool,
    /// The containers in class-path order, each with its name and role.
    pub containers: Vec<(String, &'static str)>,
}

/// The parts that were left out, and notes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trailer {
    /// The classes that could not be read.
    pub failed_classes: Vec<FailedClass>,
    /// The methods whose code could not be read.
    pub failed_methods: Vec<FailedMethod>,
    /// Notes about the inputs, each with the place and the text.
    pub notes: Vec<(String, String)>,
    /// Parts of the input that do not exist and are left out, as by the JVM; each with the place and the text.
    pub warnings: Vec<(String, String)>,
    /// The interface of the graphs; `None` for documents without graphs.
    pub interface: Option<Interface>,
}

/// The interface of the graphs in a document, except for the exceptions that leave each method, which are listed
/// with the method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    /// The methods that have graphs, sorted by text.
    pub provided: Vec<MethodName>,
    /// The methods without graphs on which the provided methods depend, sorted by text.
    pub required: Vec<MethodName>,
    /// The classes of provided methods whose initialisation runs no code, sorted by text.
    pub quiet: Vec<Text>,
    /// Pairs of class and direct superclass, as far as known: for the exceptions that the graphs name, and for all
    /// their superclasses.
    pub types: Vec<(Text, Text)>,
}

/// A class that could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedClass {
    /// The place of the class: `outer.jar!/p/C.class`.
    pub place: String,
    /// The text of the fault, without a full stop at its end.
    pub reason: String,
    /// The offset in the class file, if the fault is in it.
    pub offset: Option<u32>,
    /// The violated section of the JVMS, if the fault is in the class file.
    pub jvms: Option<&'static str>,
}

/// A method whose code could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedMethod {
    /// The place of the class: `outer.jar!/p/C.class`.
    pub place: String,
    /// The name of the method.
    pub method: MethodName,
    /// The reason why the code could not be read.
    pub fault: Fault,
}

impl Header {
    /// Returns the name of the member that holds the list of results in a JSON document.
    pub(crate) fn list(&self) -> &'static str {
        match self.command {
            "calls" => "calls",
            "explain" => "explanations",
            _ => "methods",
        }
    }
}

/// Begins an object and appends the members of the header.
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
    key(out, "profile");
    string(out, header.profile);
    key(out, "world");
    string(out, header.world);
    if let Some(it) = header.names {
        key(out, "names");
        string(out, &format!("{it:016x}"));
    }
    key(out, "vm_error_groups");
    array(out, &header.vm_error_groups, |out, it| string(out, it));
    key(out, "assumptions");
    array(out, &header.assumptions, |out, it| string(out, it));
    if header.apart {
        key(out, "apart");
        boolean(out, true);
    }
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
    for (name, list) in [("notes", &trailer.notes), ("warnings", &trailer.warnings)] {
        key(out, name);
        array(out, list, |out, (place, text)| {
            out.push(b'{');
            key(out, "place");
            string(out, place);
            key(out, "text");
            string(out, text);
            out.push(b'}');
        });
    }
    if let Some(it) = &trailer.interface {
        interface_members(out, it);
    }
}

fn interface_members(out: &mut Vec<u8>, it: &Interface) {
    key(out, "interface");
    out.push(b'{');
    key(out, "provided");
    array(out, &it.provided, |out, it| method_name(out, *it));
    key(out, "required");
    array(out, &it.required, |out, it| method_name(out, *it));
    out.push(b'}');
    key(out, "quiet");
    array(out, &it.quiet, |out, it| texts(out, &[*it]));
    key(out, "types");
    array(out, &it.types, |out, (class, above)| {
        out.push(b'{');
        key(out, "type");
        texts(out, &[*class]);
        key(out, "super");
        texts(out, &[*above]);
        out.push(b'}');
    });
}

/// Returns the header as lines of text, for graph formats.
pub(crate) fn header_lines(header: &Header) -> Vec<String> {
    let jdk = header.jdk.as_deref().unwrap_or("none");
    let mut lines = vec![
        format!("ajar {} {}", header.version, header.command),
        format!("jdk: {jdk}; release {}", header.release),
        format!(
            "profile: {}; world: {}; VM error groups: {}",
            header.profile,
            header.world,
            header.vm_error_groups.join(", ")
        ),
    ];
    lines.extend(header.assumptions.iter().map(|it| format!("assumed: {it}")));
    lines
}

/// Returns the trailer as lines of text, for graph formats.
pub(crate) fn trailer_lines(trailer: &Trailer) -> Vec<String> {
    let classes =
        trailer.failed_classes.iter().map(|it| format!("failed class: {}: {}", it.place, it.reason));
    let methods = trailer
        .failed_methods
        .iter()
        .map(|FailedMethod { place, method, fault }| format!("failed method: {place}: {method}: {fault}"));
    let notes = trailer.notes.iter().map(|(place, text)| format!("note: {place}: {text}"));
    let warnings = trailer.warnings.iter().map(|(place, text)| format!("warning: {place}: {text}"));
    classes.chain(methods).chain(notes).chain(warnings).collect()
}
