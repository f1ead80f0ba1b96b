//! Extracts the text that people read in the files of a checkout, comments and pages, with its line numbers.

/// A block of comment lines or the text of a page, with its lines joined to one. `starts` has an entry for each
/// original line: the byte offset in `text` at which the line begins, and the number of the line in the file.
#[derive(Default)]
pub(super) struct Prose {
    pub(super) text: String,
    starts: Vec<(usize, usize)>,
}

impl Prose {
    fn push(&mut self, line: usize, text: &str) {
        self.starts.push((self.text.len(), line));
        self.text.push_str(text);
        self.text.push(' ');
    }

    /// Returns the number of the line of the file that contains the byte at offset `at` of the text.
    pub(super) fn line(&self, at: usize) -> usize {
        self.starts.iter().rev().find(|it| it.0 <= at).map_or(1, |it| it.1)
    }
}

/// Returns the blocks of comments of a file, or a page as one block.
pub(super) fn prose(file: &str, text: &str) -> Vec<Prose> {
    let lines = text.lines().enumerate().map(|(at, it)| (at + 1, it));
    if file.ends_with(".md") {
        let mut all = Prose::default();
        lines.for_each(|(line, it)| all.push(line, it));
        return vec![all];
    }
    let mark = match file.rsplit_once('.').map(|it| it.1) {
        Some("rs" | "java") => "//",
        Some("toml" | "tsv" | "sh" | "yml") => "#",
        _ => return Vec::new(),
    };
    let mut found: Vec<Prose> = Vec::new();
    let mut last = 0;
    for (line, content) in lines {
        // A comment after code starts after a blank. The characters `//` in a string rarely follow a blank.
        let Some(at) = content.find(mark).filter(|&it| it == 0 || content[..it].ends_with(' ')) else {
            continue;
        };
        if last == 0 || line > last + 1 || !content[..at].trim().is_empty() {
            found.push(Prose::default());
        }
        if let Some(prose) = found.last_mut() {
            let text = content[at..].trim_start_matches(['/', '!', '#']);
            prose.push(line, text.trim());
        }
        last = line;
    }
    found
}
