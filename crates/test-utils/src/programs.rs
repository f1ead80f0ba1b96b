//! The hand-written programs of `test-data`, with the results of their methods on the JVM, so that tests need no JDK.
//!
//! The file `expected.txt` beside the classes has one block for each case: `case CLASS.METHOD DESCRIPTOR`, then the
//! output of the harness. `tests/programs.rs` compares it with every JDK and rewrites it on request.

use std::path::Path;

use crate::jvm::{self, Answer, Case};

/// A case for each static method without parameters of the classes directly in `root`, ordered by class and then in
/// file order.
pub fn cases(root: &Path) -> std::io::Result<Vec<Case>> {
    let mut names: Vec<String> = std::fs::read_dir(root)?
        .flatten()
        .filter_map(|it| it.file_name().to_str()?.strip_suffix(".class").map(str::to_owned))
        .collect();
    names.sort();
    let mut out = Vec::new();
    for class in names {
        let bytes = std::fs::read(root.join(format!("{class}.class")))?;
        let methods = static_methods(&bytes)
            .ok_or_else(|| std::io::Error::other(format!("{class}.class: the file is truncated")))?;
        for (method, descriptor) in methods {
            if descriptor.starts_with("()") && !method.starts_with('<') {
                out.push(Case { class: class.clone(), method, descriptor, args: Vec::new() });
            }
        }
    }
    Ok(out)
}

/// The cases in the file `root/expected.txt`, with their answers.
pub fn expected(root: &Path) -> std::io::Result<Vec<(Case, Answer)>> {
    let text = std::fs::read_to_string(root.join("expected.txt"))?;
    let cases = text.lines().filter_map(|it| it.strip_prefix("case ")).filter_map(|it| {
        let (name, descriptor) = it.split_once(' ')?;
        let (class, method) = name.rsplit_once('.')?;
        let (class, method, descriptor) = (class.to_owned(), method.to_owned(), descriptor.to_owned());
        Some(Case { class, method, descriptor, args: Vec::new() })
    });
    Ok(cases.zip(jvm::answers(&text)).collect())
}

/// The content of `expected.txt` for these cases and answers.
pub fn render(answers: &[(Case, Answer)]) -> String {
    answers
        .iter()
        .map(|(case, answer)| {
            format!("case {}.{} {}\n{answer}end\n", case.class, case.method, case.descriptor)
        })
        .collect()
}

/// The names and descriptors of the static methods of a class file (JVMS §4.1); `None` if the file is truncated.
fn static_methods(class: &[u8]) -> Option<Vec<(String, String)>> {
    let mut bytes = class.get(8..)?;
    let n_pool = number(&mut bytes, 2)?;
    let mut texts = vec![String::new()];
    while texts.len() < n_pool {
        let tag = number(&mut bytes, 1)?;
        let mut text = String::new();
        match tag {
            1 => {
                let n = number(&mut bytes, 2)?;
                text = String::from_utf8_lossy(take(&mut bytes, n)?).into_owned();
            }
            5 | 6 => texts.push(String::new()),
            _ => {}
        }
        let rest = match tag {
            1 => 0,
            3 | 4 | 9..=12 | 17 | 18 => 4,
            5 | 6 => 8,
            15 => 3,
            _ => 2,
        };
        take(&mut bytes, rest)?;
        texts.push(text);
    }
    take(&mut bytes, 6)?;
    let n_interfaces = number(&mut bytes, 2)?;
    take(&mut bytes, 2 * n_interfaces)?;
    let mut found = Vec::new();
    for _fields_then_methods in 0..2 {
        found.clear();
        for _ in 0..number(&mut bytes, 2)? {
            let access = number(&mut bytes, 2)?;
            let (name, descriptor) = (number(&mut bytes, 2)?, number(&mut bytes, 2)?);
            for _ in 0..number(&mut bytes, 2)? {
                number(&mut bytes, 2)?;
                let n = number(&mut bytes, 4)?;
                take(&mut bytes, n)?;
            }
            // Neither private nor synthetic, because bodies of lambdas are no cases.
            if access & 0x100a == 0x8 {
                found.push((texts.get(name)?.clone(), texts.get(descriptor)?.clone()));
            }
        }
    }
    Some(found)
}

fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(n)?;
    *bytes = tail;
    Some(head)
}

fn number(bytes: &mut &[u8], n: usize) -> Option<usize> {
    Some(take(bytes, n)?.iter().fold(0, |acc, &it| acc << 8 | usize::from(it)))
}
