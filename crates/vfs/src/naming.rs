//! Display paths of files and archive members, such as `outer.jar!/inner.jar!/p/C.class`.

use std::borrow::Cow;
use std::fmt::Write;

/// The separator between an archive and its member in a display path.
pub const MEMBER_SEPARATOR: &str = "!/";

/// Returns the display path of a member of an archive: `container!/member`. A leading slash of the member's name is
/// kept, so that the members `/p/C.class` and `p/C.class` have different paths.
pub fn member_path(container: &str, member: &str) -> String {
    let mut path = String::with_capacity(container.len() + MEMBER_SEPARATOR.len() + member.len());
    path.push_str(container);
    path.push_str(MEMBER_SEPARATOR);
    path.push_str(member);
    path
}

/// Returns a file name as text: UTF-8 is unchanged, and each invalid byte becomes `\xNN`.
pub fn name_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    Cow::Owned(text)
}

/// Returns whether a file or archive member may be a class file, because its name ends in `.class`. The JVM requires
/// this spelling, so `Upper.CLASS` is no class file.
pub fn is_class_name(name: &str) -> bool {
    name.ends_with(".class")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_nest() {
        let inner = member_path("outer.jar", "inner.jar");
        assert_eq!(member_path(&inner, "p/C.class"), "outer.jar!/inner.jar!/p/C.class");
        assert_eq!(member_path("a.jar", "/C.class"), "a.jar!//C.class");
    }

    #[test]
    fn invalid_bytes_are_escaped() {
        assert_eq!(name_text(b"p/C.class"), "p/C.class");
        assert_eq!(name_text("ü".as_bytes()), "ü");
        assert_eq!(name_text(b"\xfc\xff.class"), "\\xFC\\xFF.class");
    }

    #[test]
    fn class_names_end_in_class() {
        assert!(is_class_name("p/C.class"));
        assert!(!is_class_name("Dir.class/"));
        assert!(!is_class_name("Upper.CLASS"));
        assert!(!is_class_name("Hello.class.bak"));
    }
}
