//! `classpath.idx` of a Spring Boot archive: the class-path order of its inner jars.

/// The file name of the index, which is in `BOOT-INF/` of a jar or `WEB-INF/` of a war.
pub const CLASSPATH_INDEX_NAME: &str = "classpath.idx";

/// Returns the names of the inner jars that the index lists, in its order. A line has the form
/// `- "BOOT-INF/lib/a.jar"`; lines of another form are skipped. Skipping is safe, because the index only orders the
/// jars and excludes none. Old versions of Spring Boot wrote only the file name of a jar, which is then in the folder
/// `lib`.
pub fn parse(bytes: &[u8], lib: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let name = |line: &str| {
        let name = line.trim().strip_prefix("- ")?.trim().strip_prefix('"')?.strip_suffix('"')?;
        Some(if name.contains('/') { name.to_owned() } else { format!("{lib}{name}") })
    };
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_jars_in_order() {
        let index = b"- \"BOOT-INF/lib/b.jar\"\r\n- \"a.jar\"\n# note\n- c.jar\n\n";
        assert_eq!(parse(index, "BOOT-INF/lib/"), ["BOOT-INF/lib/b.jar", "BOOT-INF/lib/a.jar"]);
        assert!(parse(b"\xff\xfe", "").is_empty());
    }
}
