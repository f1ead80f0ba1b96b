//! `classpath.idx` of an unpacked Spring Boot archive: the class-path order of its libraries. The loader ignores the
//! index of a packed archive.

/// The file name of the index, which is in `BOOT-INF/` of a jar or `WEB-INF/` of a war.
pub const CLASSPATH_INDEX_NAME: &str = "classpath.idx";

/// Returns the paths of the libraries that the index lists, in its order and relative to the archive. A line has the
/// form `- "BOOT-INF/lib/a.jar"`; lines of another form are skipped. Skipping is safe, because the index only orders
/// the libraries and excludes none; the loader refuses to start with such a line.
pub fn parse(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let name = |line: &str| {
        Some(line.trim().strip_prefix("- ")?.trim().strip_prefix('"')?.strip_suffix('"')?.to_owned())
    };
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_jars_in_order() {
        let index = b"- \"BOOT-INF/lib/b.jar\"\r\n- \"BOOT-INF/lib/sub/a.jar\"\n# note\n- c.jar\n\n";
        assert_eq!(parse(index), ["BOOT-INF/lib/b.jar", "BOOT-INF/lib/sub/a.jar"]);
        assert!(parse(b"\xff\xfe").is_empty());
    }
}
