//! Checks the citations in comments and pages: each cited page exists and has the cited section or rule, and papers
//! are cited by title.

use std::collections::BTreeSet;

use super::prose::prose;
use super::{Checkout, Violation};

/// A part of a page that a citation refers to.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// A section by its number: `§3`.
    Section(String),
    /// An item of a numbered list, by the number of the section and the number of the item: `§3.7`.
    Item(String, String),
    /// A rule by its number: `rule 3`.
    Rule(String),
    /// A section by its heading: `"Ground rules"`.
    Heading(String),
}

/// The parts of a page that citations can refer to.
#[derive(Default)]
struct Page {
    /// The numbers of sections, such as 3 for `## 3. Exceptions`.
    sections: BTreeSet<String>,
    /// The numbers of the items of numbered lists, each after the number of its section.
    items: BTreeSet<(String, String)>,
    /// The numbers of the items below a heading with the word `rules`.
    rules: BTreeSet<String>,
    headings: BTreeSet<String>,
}

/// Checks that every page that a comment or page cites is in the repository and has the cited section. Also checks
/// that no text or PDF file outside the repository, such as a paper, is cited by its file name.
pub(super) fn citations(checkout: &Checkout, violations: &mut Vec<Violation>) {
    for (file, text) in checkout.tree.texts() {
        for prose in prose(file, text) {
            for (at, word) in words(&prose.text) {
                let mut wrong = |what: String, fix: &str| {
                    violations.push(Violation {
                        file: file.to_string(),
                        line: prose.line(at),
                        check: "citations",
                        what,
                        why: "a citation that leads nowhere makes readers distrust all others".into(),
                        fix: fix.to_string(),
                    });
                };
                if word.ends_with(".txt") || word.ends_with(".pdf") {
                    let name = format!("/{}", word.rsplit('/').next().unwrap_or(word));
                    if !checkout.tree.contains(word) && !checkout.tree.paths().any(|it| it.ends_with(&name)) {
                        wrong(
                            format!("the text cites `{word}`, which is not in the repository"),
                            "cite a paper by its title and section, other documents by a page below docs",
                        );
                    }
                    continue;
                }
                if !word.ends_with(".md") {
                    continue;
                }
                let Some(page) = page_text(checkout, file, word) else {
                    wrong(
                        format!("the text cites `{word}`, which is not in the repository"),
                        "add the page to docs, or explain here what the reader must know",
                    );
                    continue;
                };
                let page = read_page(page);
                for part in parts(&prose.text[at + word.len()..]) {
                    if !page.has(&part) {
                        wrong(
                            format!("the text cites {} of `{word}`, which does not exist there", part.name()),
                            "cite the section or rule as the page numbers it",
                        );
                    }
                }
            }
        }
    }
}

/// Returns the words of a text that may be names of files, with their byte offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_end = |it: char| it.is_whitespace() || "`()[]<>\"',;:*".contains(it);
    text.split(is_end).filter_map(move |it| {
        let at = it.as_ptr() as usize - text.as_ptr() as usize;
        let word = it.trim_end_matches('.');
        let is_path = !word.starts_with('.') || word.starts_with("./") || word.starts_with("../");
        (word.contains('.') && is_path && !word.contains("//")).then_some((at, word))
    })
}

/// Returns the text of the page that `file` cites as `word`: a path from the root, from `docs`, or from the folder of
/// the file. `None` if there is no such page.
fn page_text<'a>(checkout: &'a Checkout, file: &str, word: &str) -> Option<&'a str> {
    let folder = file.rsplit_once('/').map_or("", |it| it.0);
    let word = word.trim_start_matches("./");
    [word.to_string(), format!("docs/{word}"), format!("{folder}/{word}")]
        .iter()
        .find_map(|it| checkout.tree.text(it))
}

/// Returns the parts of a page that a citation names. `text` is the text after the name of the page; it starts with
/// the parts, such as `§1, §3.7 and "Heading"` or `, rule 3`.
fn parts(text: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches('`');
    loop {
        let before = rest.len();
        rest = rest.trim_start_matches([' ', ',']);
        let is_apart = rest.len() < before;
        rest = ["and ", "or ", "to "].iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
        let number = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
        if let Some(after) = rest.strip_prefix('§') {
            let section = number(after);
            rest = &after[section.len()..];
            let item = rest.strip_prefix('.').map(number).unwrap_or_default();
            if item.is_empty() {
                found.push(Part::Section(section));
            } else {
                rest = &rest[1 + item.len()..];
                found.push(Part::Item(section, item));
            }
        } else if let Some(after) = ["rules ", "rule "].iter().find_map(|it| rest.strip_prefix(it)) {
            let rule = number(after);
            rest = &after[rule.len()..];
            found.push(Part::Rule(rule));
        } else if let Some((heading, after)) =
            rest.strip_prefix('"').filter(|_| is_apart).and_then(|it| it.split_once('"'))
        {
            found.push(Part::Heading(heading.to_string()));
            rest = after;
        } else {
            return found;
        }
    }
}

impl Part {
    fn name(&self) -> String {
        match self {
            Part::Section(it) => format!("§{it}"),
            Part::Item(section, it) => format!("§{section}.{it}"),
            Part::Rule(it) => format!("rule {it}"),
            Part::Heading(it) => format!("\"{it}\""),
        }
    }
}

impl Page {
    fn has(&self, part: &Part) -> bool {
        match part {
            Part::Section(it) => self.sections.contains(it),
            Part::Item(section, it) => self.items.contains(&(section.clone(), it.clone())),
            Part::Rule(it) => self.rules.contains(it),
            Part::Heading(it) => self.headings.contains(it),
        }
    }
}

fn read_page(text: &str) -> Page {
    let mut page = Page::default();
    let (mut section, mut has_rules) = (String::new(), false);
    for line in text.lines() {
        let number: String =
            line.trim_start_matches(['#', ' ']).chars().take_while(char::is_ascii_digit).collect();
        if line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim();
            page.headings.insert(heading.to_string());
            has_rules = heading.to_lowercase().contains("rules");
            section = number;
            page.sections.insert(section.clone());
        } else if !number.is_empty() && line[number.len()..].starts_with(". ") {
            if has_rules {
                page.rules.insert(number.clone());
            }
            page.items.insert((section.clone(), number));
        }
    }
    page.sections.remove("");
    page
}
