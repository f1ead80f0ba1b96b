//! Parses `META-INF/MANIFEST.MF` (JAR specification, "JAR Manifest") like the JDK: the attributes of the main
//! section, and which packages the other sections seal.

use std::borrow::Cow;

use crate::naming::name_text;

/// The name of the manifest inside an archive.
pub const MANIFEST_NAME: &str = "META-INF/MANIFEST.MF";

/// The parsed content of a manifest.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manifest {
    /// The attributes of the main section, in file order.
    pub attributes: Vec<Attribute>,
    /// The numbers (from 1) of the malformed lines of the main section.
    pub bad_lines: Vec<usize>,
    /// For each section after the main one that has a `Name` and a `Sealed` attribute, the name (of a package or a
    /// file), and whether the value of `Sealed` is `true`. If two sections have the same name, the later section
    /// takes precedence.
    pub sealed: Vec<(String, bool)>,
}

/// An attribute of a manifest, written as `name: value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// The name of the attribute as written in the file; case is ignored when names are compared.
    pub name: String,
    /// The value of the attribute, with its continuation lines joined.
    pub value: String,
    /// Whether the value has no continuation lines, and its line ends with a line terminator.
    pub is_plain: bool,
}

impl Manifest {
    /// Parses a manifest. Sections end at empty lines; malformed lines after the main section are ignored.
    pub fn parse(bytes: &[u8]) -> Manifest {
        let mut lines = lines(bytes).enumerate().peekable();
        let mut manifest = Manifest::default();
        manifest.attributes = section(&mut lines, &mut manifest.bad_lines);
        let mut ignored = Vec::new();
        while lines.peek().is_some() {
            let attributes = section(&mut lines, &mut ignored);
            let value = |name: &str| {
                let found = attributes.iter().rev().find(|it| it.name.eq_ignore_ascii_case(name));
                found.map(|it| it.value.as_str())
            };
            if let (Some(name), Some(sealed)) = (value("Name"), value("Sealed")) {
                manifest.sealed.push((name.to_owned(), sealed.eq_ignore_ascii_case("true")));
            }
        }
        manifest
    }

    /// Returns whether the package, such as `p/q`, is sealed. The attribute `Sealed` of the package's own section
    /// determines this; if the section or the attribute is missing, `Sealed` of the main section does.
    pub fn is_sealed(&self, package: &str) -> bool {
        let own = self.sealed.iter().rev().find(|it| it.0.strip_suffix('/') == Some(package));
        match own {
            Some((_, it)) => *it,
            None => self.value("Sealed").is_some_and(|it| it.eq_ignore_ascii_case("true")),
        }
    }

    /// Returns the words in the value of the attribute with this name in the main section; no words if there is no
    /// such attribute.
    pub fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        self.value(name).unwrap_or("").split_ascii_whitespace()
    }

    /// Returns the value of the attribute with this name in the main section; `None` if there is no such attribute.
    /// If the name occurs several times, the last value is returned, as in the JDK.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.attribute(name).map(|it| it.value.as_str())
    }

    /// Returns whether the manifest makes its archive multi-release, by `Multi-Release: true` on a single line. The
    /// JDK searches for exactly this text (ignoring case), followed by a line end. So a value that has continuation
    /// lines or other white space has no effect.
    pub fn is_multi_release(&self) -> bool {
        self.attribute("Multi-Release").is_some_and(|it| it.is_plain && it.value.eq_ignore_ascii_case("true"))
    }

    /// Returns the entries of the attribute `Class-Path`, which are relative URLs; no entries if there is no such
    /// attribute.
    pub fn class_path(&self) -> impl Iterator<Item = &str> {
        self.words("Class-Path")
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().rev().find(|it| it.name.eq_ignore_ascii_case(name))
    }
}

/// The file or folder that an entry of `Class-Path` names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassPathFile {
    /// The path, which is relative to the folder of the jar or absolute. It has `..` only at its start.
    pub path: String,
    /// Whether the JVM expects a folder there, because the URL ends in a slash; otherwise it expects an archive, whatever
    /// the extension. A path that leads to the other kind of file is ignored.
    pub is_folder: bool,
}

/// Converts an entry of `Class-Path` to the path of a file or folder, as the JVM resolves the entry as a URL: `file:`
/// and a fragment are removed, escapes such as `%20` are decoded, and `.` and `..` are removed together with the name
/// before them, whether or not that folder exists. Returns `None` for a URL of another scheme or with a host, or if the
/// decoded path is not UTF-8.
pub fn class_path_file(entry: &str) -> Option<ClassPathFile> {
    let entry = entry.split_once('#').map_or(entry, |it| it.0);
    let rest = match entry.get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("file:") => entry.get(5..).unwrap_or(""),
        _ => entry,
    };
    let rest = match rest.strip_prefix("//") {
        // Two slashes begin the name of a host.
        Some(path) if !path.starts_with('/') => return None,
        Some(path) => path,
        None => rest,
    };
    let scheme_end = rest.find([':', '/']).filter(|&it| rest.as_bytes().get(it) == Some(&b':'));
    // A single letter before the colon is a Windows drive.
    if scheme_end.is_some_and(|it| it > 1) {
        return None;
    }
    let is_absolute = rest.starts_with('/');
    let mut segments: Vec<&str> = Vec::new();
    let mut is_folder = true;
    for segment in rest.split('/') {
        is_folder = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|it| *it != "..") => _ = segments.pop(),
            ".." if is_absolute => {}
            it => segments.push(it),
        }
    }
    let path = match (is_absolute, segments.as_slice()) {
        (true, segments) => format!("/{}", segments.join("/")),
        (false, []) => ".".to_owned(),
        (false, segments) => segments.join("/"),
    };
    Some(ClassPathFile { path: decoded(&path)?, is_folder })
}

/// Decodes escapes such as `%20`; `None` if the result is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let hex = |it: Option<u8>| it.and_then(|it| (it as char).to_digit(16));
        match (byte, hex(ahead.next()), hex(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

/// Reads one section and the empty line at its end, and returns the attributes of the section. Adds the numbers (from
/// 1) of the malformed lines to `bad_lines`.
fn section<'a>(
    lines: &mut impl Iterator<Item = (usize, (&'a [u8], bool))>,
    bad_lines: &mut Vec<usize>,
) -> Vec<Attribute> {
    let mut raw: Vec<(Vec<u8>, Vec<u8>, bool)> = Vec::new();
    let mut may_continue = false;
    for (number, (line, is_ended)) in lines {
        if line.is_empty() {
            break;
        }
        if let Some(rest) = line.strip_prefix(b" ") {
            match raw.last_mut().filter(|_| may_continue) {
                Some((_, value, is_plain)) => {
                    value.extend_from_slice(rest);
                    *is_plain = false;
                }
                // A fold inside a header name is illegal: there is no value to continue yet.
                None => bad_lines.push(number + 1),
            }
            continue;
        }
        may_continue = false;
        match split_header(line) {
            Some((name, value)) => {
                may_continue = true;
                raw.push((name.to_vec(), value.to_vec(), is_ended));
            }
            None => bad_lines.push(number + 1),
        }
    }
    // Folds may split a character, so bytes are converted to text only here.
    let attribute = |(name, value, is_plain): (Vec<u8>, Vec<u8>, bool)| Attribute {
        name: text(&name),
        value: text(&value),
        is_plain,
    };
    raw.into_iter().map(attribute).collect()
}

/// Returns the lines of a manifest, each with whether a line terminator (`\r\n`, `\n` or `\r`) follows. Only the last
/// line may have none.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.iter().position(|&it| it == b'\n' || it == b'\r').unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after.strip_prefix(b"\r\n").or_else(|| after.get(1..)).unwrap_or(&[]);
        Some((line, !after.is_empty()))
    })
}

/// Splits a line `name: value` into name and value; `None` if the line has another form. The space after the colon is
/// required, and a name consists of letters, digits, `-` and `_`.
fn split_header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|&it| it == b':')?;
    let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?);
    let legal = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    if name.is_empty() || !name.iter().all(legal) {
        return None;
    }
    Some((name, value.strip_prefix(b" ")?))
}

fn text(bytes: &[u8]) -> String {
    match name_text(bytes) {
        Cow::Borrowed(it) => it.to_owned(),
        Cow::Owned(it) => it,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_section_ends_at_the_empty_line() {
        let it = Manifest::parse(
            b"Manifest-Version: 1.0\r\nMain-Class: Hello\r\n\r\nName: x\r\nMulti-Release: true\r\n",
        );
        assert_eq!(it.value("main-class"), Some("Hello"));
        assert_eq!(it.value("Name"), None);
        assert!(!it.is_multi_release());
        assert!(it.bad_lines.is_empty());
    }

    #[test]
    fn values_may_be_folded_even_inside_a_character() {
        let mut bytes = b"Class-Path: lib-greeter.jar mis\r\n sing.jar \xc3\r\n ".to_vec();
        bytes.extend_from_slice(b"\xbc.jar\n");
        let it = Manifest::parse(&bytes);
        assert_eq!(it.class_path().collect::<Vec<_>>(), ["lib-greeter.jar", "missing.jar", "ü.jar"]);
    }

    #[test]
    fn packages_are_sealed_by_their_own_section_or_by_the_main_one() {
        let it = Manifest::parse(
            b"Sealed: TRUE\n\nName: p/q/\nSealed: false\n\nName: r/\nSHA: x\n\n\nName: p/q/C.class\nSealed: true\n",
        );
        assert!(it.is_sealed("p") && it.is_sealed("r"));
        assert!(!it.is_sealed("p/q"));
        let it = Manifest::parse(b"A: 1\r\n\r\nname: p/q\r\n /\r\nsealed: tr\r\n ue");
        assert!(it.is_sealed("p/q"));
        assert!(!it.is_sealed("p"));
        assert!(!Manifest::parse(b"Sealed: yes\n").is_sealed("p"));
    }

    #[test]
    fn multi_release_is_exact() {
        let multi = |text: &str| Manifest::parse(text.as_bytes()).is_multi_release();
        assert!(multi("Manifest-Version: 1.0\nMulti-Release: true\n"));
        assert!(multi("multi-release: TRUE\r"));
        assert!(!multi("Multi-Release: true"));
        assert!(!multi("Multi-Release: true\nMulti-Release: false\n"));
        assert!(!multi("Multi-Release: true \n"));
        assert!(!multi("Multi-Release: false\n"));
        assert!(!multi("Multi-Release: tr\n ue\n"));
        assert!(!multi("Multi-Rel\r\n ease: true\r\n"));
        assert!(!multi(""));
    }

    #[test]
    fn lines_that_are_not_headers_are_listed() {
        let it = Manifest::parse(b"A: 1\r\nno header\r\n ease: true\r\nB:2\r\n x\r\nC: 3");
        assert_eq!(it.bad_lines, [2, 3, 4, 5]);
        assert_eq!(it.value("C"), Some("3"));
    }

    #[test]
    fn class_path_entries_are_urls() {
        let named = |entry: &str| {
            let it = class_path_file(entry)?;
            Some(format!("{}{}", it.path, if it.is_folder { " (folder)" } else { "" }))
        };
        let cases = [
            ("lib/a%20b.jar", "lib/a b.jar"),
            ("file:/opt/x.jar", "/opt/x.jar"),
            ("FILE:///opt/x.jar", "/opt/x.jar"),
            ("file:lib/x.jar", "lib/x.jar"),
            ("50%.jar", "50%.jar"),
            ("a%4", "a%4"),
            ("lib/%2e%2E/x.jar", "lib/../x.jar"),
            ("none/../lib//./x.jar#part", "lib/x.jar"),
            ("../../none/../x.jar", "../../x.jar"),
            ("/../x.jar", "/x.jar"),
            ("dir", "dir"),
            ("dir/", "dir (folder)"),
            ("none/../dir/.", "dir (folder)"),
            (".", ". (folder)"),
            ("..", ".. (folder)"),
            ("dir/..", ". (folder)"),
            ("/", "/ (folder)"),
        ];
        for (entry, want) in cases {
            assert_eq!(named(entry).as_deref(), Some(want), "{entry}");
        }
        for entry in ["http://host/x.jar", "//host/x.jar", "file://host/x.jar", "jar:file:/x.jar!/", "%ff"] {
            assert_eq!(named(entry), None, "{entry}");
        }
    }
}
