//! Text output for people.

pub(crate) mod bir;
pub(crate) mod calls;
pub(crate) mod cfg;
pub(crate) mod entries;
pub(crate) mod explain;
pub(crate) mod interface;
pub(crate) mod legend;
pub(crate) mod missing;
pub(crate) mod names;
pub(crate) mod sets;
pub(crate) mod style;
pub(crate) mod summary;
pub(crate) mod throws;
pub(crate) mod watch;
pub(crate) mod why;

use compose::ALL_LINK_ERRORS;
use export::frame::Header;

use style::{Ink, Style};

/// Returns the lines that precede a result: JDK, release, world, assumptions, and the legend of its marks.
pub(crate) fn header(header: &Header, legend: &str, style: Style) -> Vec<u8> {
    let jdk = header.jdk.as_deref().unwrap_or("no JDK");
    // In other worlds, code of absent classes counts as unknown code.
    let is_partial = *header.world == *"closed" && header.assumptions.iter().all(|it| it != ALL_LINK_ERRORS);
    let groups: Vec<&str> = header.vm_error_groups.iter().map(|it| group(it, is_partial)).collect();
    let groups = groups.join(", ");
    let profile =
        if header.profile == "jvm" { String::new() } else { format!("profile {}; ", header.profile) };
    let errors = if groups.is_empty() { "none" } else { &groups };
    let Header { version, release, world, .. } = header;
    let mut text =
        format!("// ajar {version}: {jdk}; release {release}; {profile}world {world}; VM errors: {errors}\n");
    for it in &header.assumptions {
        text.push_str(&format!("// assumed: {it}\n"));
    }
    if header.apart {
        text.push_str(&format!("// {}\n", legend::APART));
    }
    if !legend.is_empty() {
        text.push_str(&format!("// {legend}\n"));
    }
    text.push('\n');
    style.text(Ink::Dim, &text).into_bytes()
}

/// Returns the text for a group of errors of the VM. `is_partial` tells whether link errors because of absent classes
/// are left out.
fn group(name: &str, is_partial: bool) -> &str {
    match name {
        "link" if is_partial => "linking of present classes (of all: --link-errors)",
        "init" => "initialisation",
        "link" => "linking",
        "async" => "asynchronous",
        it => it,
    }
}
