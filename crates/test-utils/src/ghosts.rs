//! Turns methods of class files into ghosts (methods whose code is not written yet) by adding annotations.

use std::collections::BTreeMap;

/// Returns the class file with the annotation `GhostComponent` on some methods. `ghosts` maps each of these methods,
/// such as `p/C.m()V`, to the exceptions that the method promises never to throw. Panics if the class file is
/// truncated; no error is returned, because only tests make these files.
pub fn with_ghosts(bytes: &[u8], ghosts: &BTreeMap<String, Vec<String>>) -> Vec<u8> {
    let mut texts: BTreeMap<usize, String> = BTreeMap::new();
    let mut classes: BTreeMap<usize, usize> = BTreeMap::new();
    let (count, mut at, mut index) = (two(bytes, 8), 10, 1);
    while index < count {
        let tag = bytes[at];
        if tag == 1 {
            let len = two(bytes, at + 1);
            texts.insert(index, String::from_utf8_lossy(&bytes[at + 3..at + 3 + len]).into_owned());
        } else if tag == 7 {
            classes.insert(index, two(bytes, at + 1));
        }
        at += match tag {
            1 => 3 + two(bytes, at + 1),
            3 | 4 | 9..=12 | 17 | 18 => 5,
            5 | 6 => 9,
            15 => 4,
            _ => 3,
        };
        index += if matches!(tag, 5 | 6) { 2 } else { 1 };
    }
    let pool_end = at;
    let class = texts[&classes[&two(bytes, at + 2)]].clone();
    at += 8 + 2 * two(bytes, at + 6);
    let skip_attributes = |mut at: usize| {
        let n = two(bytes, at);
        at += 2;
        for _ in 0..n {
            at += 6 + four(bytes, at + 2);
        }
        at
    };
    let n_fields = two(bytes, at);
    at += 2;
    for _ in 0..n_fields {
        at = skip_attributes(at + 6);
    }
    let mut pool: Vec<String> =
        vec!["RuntimeInvisibleAnnotations".into(), "LGhostComponent;".into(), "handlers".into()];
    let n_methods = two(bytes, at);
    at += 2;
    let mut rest = bytes[pool_end..at].to_vec();
    for _ in 0..n_methods {
        let end = skip_attributes(at + 6);
        let name = format!("{class}.{}{}", texts[&two(bytes, at + 2)], texts[&two(bytes, at + 4)]);
        rest.extend(&bytes[at..at + 6]);
        let ghost = ghosts.get(&name);
        let n = two(bytes, at + 6) + usize::from(ghost.is_some());
        rest.extend((n as u16).to_be_bytes());
        rest.extend(&bytes[at + 8..end]);
        if let Some(handlers) = ghost {
            let short = |it: usize| (it as u16).to_be_bytes();
            let mut content = [short(1), short(count + 1), short(1), short(count + 2)].concat();
            content.push(b'[');
            content.extend(short(handlers.len()));
            for it in handlers {
                content.push(b's');
                content.extend(short(count + pool.len()));
                pool.push(it.clone());
            }
            rest.extend(short(count));
            rest.extend((content.len() as u32).to_be_bytes());
            rest.extend(content);
        }
        at = end;
    }
    rest.extend(&bytes[at..]);
    let mut out = bytes[..8].to_vec();
    out.extend(((count + pool.len()) as u16).to_be_bytes());
    out.extend(&bytes[10..pool_end]);
    for it in pool {
        out.push(1);
        out.extend((it.len() as u16).to_be_bytes());
        out.extend(it.as_bytes());
    }
    out.extend(rest);
    out
}

fn two(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1])
}

fn four(bytes: &[u8], at: usize) -> usize {
    two(bytes, at) << 16 | two(bytes, at + 2)
}
