//! Short descriptions of sets of exceptions, for text that people read. Machine-readable output has the whole sets.

use classfile::names::ClassName;
use flow::universe::{Parent, Part, SetId, Universe};
use program::names::Text;

/// A short description of a set of exceptions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Described {
    /// Classes and cones that, together with `more`, contain the set.
    pub parts: Vec<Part>,
    /// The numbers of further classes and cones, by the nearest of `Error`, `RuntimeException`, `Exception` and
    /// `Throwable` above them.
    pub more: Vec<(Text, usize)>,
    /// Classes and cones within `parts` that are not in the set.
    pub except: Vec<Part>,
    /// The number of further such classes and cones.
    pub n_except: usize,
}

impl Described {
    /// Returns the description that lists all classes and cones of a set.
    pub fn plain(parts: &[Part]) -> Self {
        Described { parts: parts.to_vec(), ..Described::default() }
    }
}

/// The classes by which further classes are counted, most special first.
const TOPS: [&[u8]; 4] =
    [b"java/lang/Error", b"java/lang/RuntimeException", b"java/lang/Exception", b"java/lang/Throwable"];

/// Returns a description of the set that consists of these classes and cones. It lists at most `limit` of them, or of
/// those that are not in the set if these are fewer.
pub fn described(universe: &mut Universe, parts: &[Part], limit: usize) -> Described {
    let mut set = SetId::EMPTY;
    for it in parts {
        if universe.type_of(it.class).is_none() {
            return shortened(universe, (parts.to_vec(), Vec::new()), limit);
        }
        let part = if it.cone { universe.cone(it.class) } else { universe.exact(it.class) };
        set = universe.join(set, part);
    }
    described_set(universe, set, parts, limit)
}

/// Returns a description of a set, like [`described`]; `parts` are the smallest classes and cones that contain the set.
/// In contrast to these, the description can leave out a known class of a cone that the set contains only in part.
pub fn described_set(universe: &mut Universe, set: SetId, parts: &[Part], limit: usize) -> Described {
    let lists = match complement(universe, set, parts) {
        Some((top, except)) => (vec![top], except),
        None => (parts.to_vec(), Vec::new()),
    };
    shortened(universe, lists, limit)
}

/// Returns the description with these lists, of which at most `limit` elements are kept. The others are counted.
fn shortened(universe: &Universe, lists: (Vec<Part>, Vec<Part>), limit: usize) -> Described {
    let (mut parts, mut except) = lists;
    let mut more: Vec<(Text, usize)> = Vec::new();
    for it in parts.drain(limit.min(parts.len())..) {
        let top = above(universe, it.class).find(|it| TOPS.contains(&it.bytes()));
        let top = Text(top.unwrap_or(it.class).bytes());
        match more.iter_mut().find(|it| it.0 == top) {
            Some(it) => it.1 += 1,
            None => more.push((top, 1)),
        }
    }
    let n_except = except.drain(limit.min(except.len())..).count();
    Described { parts, more, except, n_except }
}

/// Returns the class and its known superclasses.
fn above(universe: &Universe, class: ClassName) -> impl Iterator<Item = ClassName> + '_ {
    std::iter::successors(Some(class), |&it| match universe.parent(it) {
        Some(Parent::Class(it)) => Some(it),
        Some(Parent::Root | Parent::Unknown) | None => None,
    })
}

/// Describes a set of exceptions by what it lacks: the smallest cone that contains all of `parts`, and the classes and
/// cones that lie in this cone and wholly outside of `set`, sorted by name. Returns `None` if `parts` itself is not
/// longer.
fn complement(universe: &mut Universe, set: SetId, parts: &[Part]) -> Option<(Part, Vec<Part>)> {
    let (first, others) = parts.split_first().filter(|it| !it.1.is_empty())?;
    let mut tops: Vec<ClassName> = above(universe, first.class).collect();
    for it in others {
        let of_it: Vec<ClassName> = above(universe, it.class).collect();
        tops.retain(|it| of_it.contains(it));
    }
    let top = *tops.first()?;
    universe.type_of(top)?;
    let all = universe.cone(top);
    let missing = universe.minus(all, set);
    let except = universe.known_parts_within(missing);
    (1 + except.len() < parts.len()).then_some((Part { class: top, cone: true }, except))
}

#[cfg(test)]
mod tests {
    use flow::universe::Throwable;

    use super::*;

    fn named(name: &str) -> ClassName {
        ClassName::new(name.as_bytes())
    }

    fn universe() -> Universe {
        let ty = |class, parent: Option<&str>| Throwable {
            class: named(class),
            parent: parent.map_or(Parent::Root, |it| Parent::Class(named(it))),
            extensible: true,
        };
        let runtime = "java/lang/RuntimeException";
        Universe::new(&[
            ty("java/lang/Throwable", None),
            ty("java/lang/Error", Some("java/lang/Throwable")),
            ty("java/lang/Exception", Some("java/lang/Throwable")),
            ty(runtime, Some("java/lang/Exception")),
            ty("A", Some(runtime)),
            ty("B", Some(runtime)),
            ty("C", Some("java/lang/Exception")),
            ty("D", Some("java/lang/Exception")),
        ])
    }

    fn parts(names: &[&str]) -> Vec<Part> {
        let part = |it: &&str| Part { class: named(it.trim_end_matches('+')), cone: it.ends_with('+') };
        names.iter().map(part).collect()
    }

    fn text(names: &[&str], limit: usize) -> String {
        let it = described(&mut universe(), &parts(names), limit);
        let list = |all: &[Part]| {
            let one = |it: &Part| format!("{}{}", it.class, if it.cone { "+" } else { "" });
            all.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        let more: Vec<String> = it.more.iter().map(|it| format!("{}*{}", it.1, it.0)).collect();
        format!("{} | {} | {} | {}", list(&it.parts), more.join(" "), list(&it.except), it.n_except)
    }

    #[test]
    fn a_set_is_described_by_what_it_lacks_if_this_is_shorter() {
        let all_but_runtime = ["C+", "D+", "java/lang/Error+", "java/lang/Exception", "java/lang/Throwable"];
        assert_eq!(text(&all_but_runtime, 9), "java/lang/Throwable+ |  | java/lang/RuntimeException+ | 0");
        assert_eq!(text(&["A+", "C+"], 9), "A+ C+ |  |  | 0");
        assert_eq!(text(&["A+"], 9), "A+ |  |  | 0");
    }

    #[test]
    fn the_rest_of_a_long_set_is_counted() {
        assert_eq!(
            text(&["A+", "C+", "B", "java/lang/Error+"], 1),
            "A+ | 1*java/lang/Exception 1*java/lang/RuntimeException 1*java/lang/Error |  | 0"
        );
    }
}
