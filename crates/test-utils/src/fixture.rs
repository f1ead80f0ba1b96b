//! The fixture language: the text of several files in one string.
//!
//! ```text
//! //- /p/A.jasm jdk:exceptions
//! .class public super p/A
//! //- /p/B.ajar
//! …
//! ```
//! A line `//- PATH META…` starts a file. Text before the first header belongs to a file named `/main`, unless it is
//! blank. Indentation common to all lines is kept; directives of `.jasm` files ignore it.

use crate::asm::{self, AsmError, Assembled};

/// One file of a fixture: a test input, written as one text that contains several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixtureFile {
    /// The path of the file, with a leading slash.
    pub path: String,
    /// The words that follow the path in the header line of the file, such as `jdk:exceptions`.
    pub meta: Vec<String>,
    /// The lines of the file, without its header.
    pub text: String,
    /// The number of the fixture's line at which the text of this file starts, counted from 1.
    pub line: u32,
}

/// Splits a fixture into its files.
pub fn files(fixture: &str) -> Vec<FixtureFile> {
    let main = FixtureFile { path: "/main".to_owned(), meta: Vec::new(), text: String::new(), line: 1 };
    let mut out = vec![main];
    for (idx, line) in fixture.lines().enumerate() {
        if let Some(header) = line.trim_start().strip_prefix("//- ") {
            let mut words = header.split_whitespace().map(str::to_owned);
            let path = words.next().unwrap_or_default();
            let file = FixtureFile { path, meta: words.collect(), text: String::new(), line: idx as u32 + 2 };
            out.push(file);
        } else if let Some(file) = out.last_mut() {
            file.text.push_str(line);
            file.text.push('\n');
        }
    }
    out.retain(|it| it.path != "/main" || !it.text.trim().is_empty());
    out
}

/// Assembles every file of a fixture whose name ends with `.jasm`, and the file `/main` if it exists. Line numbers in
/// errors refer to the fixture.
pub fn classes(fixture: &str) -> Result<Vec<Assembled>, AsmError> {
    let mut out = Vec::new();
    for file in files(fixture) {
        if file.path == "/main" || file.path.ends_with(".jasm") {
            let assembled = asm::assemble(&file.text)
                .map_err(|err| AsmError { line: err.line + file.line - 1, ..err })?;
            out.extend(assembled);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_split_files() {
        let found = files("//- /p/A.jasm jdk:exceptions\n.class p/A\n//- /x.txt\nhello\n");
        let seen: Vec<_> = found.iter().map(|it| (it.path.as_str(), it.meta.len(), it.line)).collect();
        assert_eq!(seen, [("/p/A.jasm", 1, 2), ("/x.txt", 0, 4)]);
        let classes = classes("//- /p/A.jasm\n.class p/A\n//- /x.txt\nhello\n").expect("assembles");
        assert_eq!(classes.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["p/A"]);
    }

    #[test]
    fn errors_have_lines_of_the_fixture() {
        let err =
            classes("//- /a.jasm\n.class A\n//- /b.jasm\n.class B\n.bogus\n").expect_err("bogus directive");
        assert_eq!((err.line, err.message.as_str()), (5, "unknown directive: .bogus"));
    }
}
