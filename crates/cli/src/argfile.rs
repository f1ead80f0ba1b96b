//! Arguments in the style of javac: `@file` is replaced by the arguments in the file, and `-cp` has one dash.

use std::ffi::OsString;

use anyhow::Context;

/// Returns the command line with each `@file` replaced by the arguments in the file, and `-cp` by `--class-path`,
/// because clap has no long flags with one dash.
///
/// # Errors
/// A file that cannot be read, or a quote in it that is not closed.
pub(crate) fn expand(arguments: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    let mut out = Vec::with_capacity(arguments.len());
    for (i, argument) in arguments.into_iter().enumerate() {
        match argument.to_str().and_then(|it| it.strip_prefix('@')) {
            Some(literal) if i > 0 && literal.starts_with('@') => out.push(literal.into()),
            Some(file) if i > 0 => {
                let text =
                    std::fs::read_to_string(file).with_context(|| format!("@{file}: cannot be read"))?;
                // Like in javac, `@` has no meaning inside the file.
                out.extend(words(&text).with_context(|| format!("@{file}"))?.into_iter().map(OsString::from));
            }
            _ => out.push(argument),
        }
    }
    let mut options = true;
    for it in &mut out {
        options &= it != "--";
        if options && (it == "-cp" || it == "-classpath") {
            *it = "--class-path".into();
        }
    }
    Ok(out)
}

/// Splits the text of an argument file into words at white space. Words may be quoted with `"` or `'`. Inside quotes,
/// `\n`, `\t`, `\r` and `\f` are control characters, a backslash before an end of line skips the end of line and the
/// blanks after it, and before any other character it stands for that character. A `#` at the start of a word begins
/// a comment.
///
/// # Errors
/// A quote that is not closed.
fn words(text: &str) -> anyhow::Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '#') if word.is_none() => while chars.next_if(|&it| it != '\n').is_some() {},
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_ascii_whitespace() => words.extend(word.take()),
            (Some(q), c) if q == c => quote = None,
            (Some(_), '\\') => {
                let word = word.get_or_insert_default();
                match chars.next() {
                    Some('n') => word.push('\n'),
                    Some('t') => word.push('\t'),
                    Some('r') => word.push('\r'),
                    Some('f') => word.push('\u{c}'),
                    Some('\n') => while chars.next_if(|&it| it == ' ' || it == '\t').is_some() {},
                    Some(it) => word.push(it),
                    None => {}
                }
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    anyhow::ensure!(quote.is_none(), "a quoted argument has no closing quote");
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_like_in_javac() {
        let text =
            "-cp \"a b.jar:c.jar\" # libraries\n'it''s' \"tab\\there\" C:\\x a#b \"\" \"long \\\n   er\"\n";
        let expected = ["-cp", "a b.jar:c.jar", "its", "tab\there", "C:\\x", "a#b", "", "long er"];
        assert_eq!(words(text).unwrap(), expected);
        assert!(words("'open").is_err());
    }

    #[test]
    fn the_class_path_may_have_one_dash() {
        let given = ["ajar", "cfg", "-cp", "a.jar", "@@x", "--", "-cp"];
        let out = expand(given.map(OsString::from).to_vec()).unwrap();
        assert_eq!(out, ["ajar", "cfg", "--class-path", "a.jar", "@x", "--", "-cp"]);
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let error = expand(["ajar", "@no/such"].map(OsString::from).to_vec()).unwrap_err();
        assert!(format!("{error:#}").starts_with("@no/such: cannot be read"), "{error:#}");
    }
}
