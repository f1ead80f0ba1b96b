//! Patterns that select methods: `-m p.C.m(int)`, `-m 'p.*'`, `-m 'p/C.m(I)V'`.
//!
//! | written | selects |
//! |---|---|
//! | `p.C.m(int,java.lang.String)` | that method |
//! | `p.C.m` | every `m` of `p.C` |
//! | `p.C` | every method of `p.C` |
//! | `p.C.*`, `*.main`, `p.*Test.test?` | `*` matches any run of characters, `?` matches one |
//! | `p/C.m(I)V` | that method, by its internal name; the descriptor may be left out |
//!
//! A nested class is written `p.C$D` or `p.C.D`.

use std::fmt;

use program::names::{Human, MethodName};

/// A pattern by which the user selects methods, in parsed form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodPattern {
    /// The pattern as the user wrote it.
    pub written: String,
    /// The part of the pattern for the class and method name, with `.` between packages, classes and method.
    name: Box<[u8]>,
    params: Params,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Params {
    Any,
    /// Parameters written as in source code: `(int,java.lang.String)`.
    Human(Box<[u8]>),
    /// Parameters and return type written as a descriptor: `(ILjava/lang/String;)V`.
    Descriptor(Box<[u8]>),
}

impl MethodPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When the pattern names no method or its parenthesis is not closed. The error is the message for the user.
    pub fn parse(written: &str) -> Result<Self, String> {
        let text: String = written.chars().filter(|it| !it.is_whitespace()).collect();
        let (name, params) = match text.find('(') {
            Some(at) => text.split_at(at),
            None => (text.as_str(), ""),
        };
        if name.is_empty() {
            return Err(format!(
                "the pattern `{written}` names no method; write a pattern like p.C.m, p.C.m(int) or p/C.m(I)V"
            ));
        }
        let params = if params.is_empty() {
            Params::Any
        } else if !params.contains(')') {
            return Err(format!("the parameters in the pattern `{written}` have no closing parenthesis"));
        } else if params.ends_with(')') {
            Params::Human(modified_utf8(params))
        } else {
            Params::Descriptor(modified_utf8(params))
        };
        let name = modified_utf8(&name.replace('/', "."));
        Ok(MethodPattern { written: written.to_owned(), name, params })
    }

    /// Whether the pattern selects the method.
    pub fn selects(&self, method: &MethodName) -> bool {
        let class = method.class.0;
        let params = match &self.params {
            Params::Any => true,
            Params::Descriptor(it) => glob(it, method.descriptor.0, false),
            Params::Human(it) => {
                let mut params = Vec::with_capacity(64);
                method.params_bytes(&mut params);
                glob(it, &params, true)
            }
        };
        if !params {
            return false;
        }
        let mut full = Vec::with_capacity(class.len() + method.name.0.len() + 1);
        full.extend(class.iter().map(|&b| if b == b'/' { b'.' } else { b }));
        if self.params == Params::Any && glob(&self.name, &full, true) {
            return true;
        }
        full.push(b'.');
        full.extend(method.name.0);
        glob(&self.name, &full, true)
    }

    /// Whether the pattern selects the method, or its class, if the pattern may omit packages: those of the class, and those
    /// of the classes of parameters. Returns what is selected.
    fn selected_with_packages(&self, method: &MethodName) -> Option<Meant> {
        let params = match &self.params {
            Params::Any => true,
            Params::Descriptor(it) => glob(it, method.descriptor.0, false),
            Params::Human(it) => {
                let mut params = Vec::with_capacity(64);
                method.params_bytes(&mut params);
                let (written, full) = (types(it), types(&params));
                written.len() == full.len() && written.iter().zip(&full).all(|it| is_end(it.0, it.1))
            }
        };
        let class = dotted_class(method);
        if params && self.params == Params::Any && is_end(&self.name, &class) {
            return Some(Meant::Class);
        }
        let is_method = params && is_end(&self.name, &[&class, &b"."[..], method.name.0].concat());
        is_method.then_some(Meant::Method)
    }

    /// Returns the part of the pattern for the name of the method, if the part before it is the name of the method's class,
    /// with or without its package.
    fn member_of_class<'a>(&'a self, method: &MethodName) -> Option<&'a [u8]> {
        // The name of a lambda body has `$`, which is not the end of its class.
        let at = self.name.iter().rposition(|&b| b == b'.')?;
        is_end(&self.name[..at], &dotted_class(method)).then(|| &self.name[at + 1..])
    }

    /// Returns the edit distance between the pattern and the method's name, with or without its package; `None` if the
    /// distance is above `limit`.
    fn distance(&self, method: &MethodName, limit: usize) -> Option<usize> {
        let mut full = Vec::with_capacity(64);
        match self.params {
            Params::Any => {
                full.extend(dotted_class(method));
                full.push(b'.');
                full.extend(method.name.0);
            }
            _ => method.human_bytes(&mut full),
        }
        self.near(&full, method, limit)
    }

    /// Returns the edit distance between the pattern and `full`, which begins with the name of the method's class. If the
    /// distance to `full` without the package is less, returns this one, because users often omit the package when they
    /// guess a name. The result is `None` if the distance is above `limit`.
    fn near(&self, full: &[u8], method: &MethodName, limit: usize) -> Option<usize> {
        let wanted = match &self.params {
            Params::Human(it) => [&*self.name, it].concat(),
            Params::Any | Params::Descriptor(_) => self.name.to_vec(),
        };
        let package = method.class.0.iter().rposition(|&b| b == b'/').map_or(0, |i| i + 1);
        let short = full.get(package..).and_then(|it| edit_distance(&wanted, it, limit));
        edit_distance(&wanted, full, limit).into_iter().chain(short).min()
    }

    /// Whether the pattern has a `*` or `?` in its name.
    fn is_glob(&self) -> bool {
        self.name.iter().any(|it| b"*?".contains(it))
    }
}

/// Returns the name of the method's class with `.` after packages.
fn dotted_class(method: &MethodName) -> Vec<u8> {
    method.class.0.iter().map(|&b| if b == b'/' { b'.' } else { b }).collect()
}

/// Whether two names have the same bytes, each the same number of times.
fn is_anagram(a: &[u8], b: &[u8]) -> bool {
    let sorted = |it: &[u8]| {
        let mut bytes = it.to_vec();
        bytes.sort_unstable();
        bytes
    };
    sorted(a) == sorted(b)
}

/// Returns the types in a list of parameters, such as `(int,p.C)`.
fn types(params: &[u8]) -> Vec<&[u8]> {
    let inner = params.strip_prefix(b"(").unwrap_or(params);
    let inner = inner.strip_suffix(b")").unwrap_or(inner);
    inner.split(|&b| b == b',').collect()
}

/// Whether `full` matches the glob `pattern`, or its part after a package or an outer class does.
fn is_end(pattern: &[u8], full: &[u8]) -> bool {
    glob(pattern, full, true)
        || full.iter().enumerate().any(|(i, b)| b".$".contains(b) && glob(pattern, &full[i + 1..], true))
}

/// Encodes `text` in modified UTF-8, the encoding of class files (JVMS §4.4.7).
fn modified_utf8(text: &str) -> Box<[u8]> {
    let mut out = Vec::with_capacity(text.len());
    for unit in text.encode_utf16() {
        match unit {
            0x01..=0x7f => out.push(unit as u8),
            0 | 0x80..=0x7ff => out.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
            _ => out.extend([
                0xe0 | (unit >> 12) as u8,
                0x80 | ((unit >> 6) & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
    out.into()
}

/// Whether `text` matches the glob `pattern`: `*` matches any run of bytes, and `?` one byte. With `nested`, a `.` of
/// the pattern also matches the `$` before the name of a nested class.
fn glob(pattern: &[u8], text: &[u8], nested: bool) -> bool {
    let (mut p, mut t) = (0, 0);
    // The positions in the pattern and the text at which to continue when the last `*` matches one more byte.
    let mut retry = None;
    while t < text.len() {
        let fits = match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(b'?') => true,
            Some(b'.') => text[t] == b'.' || nested && text[t] == b'$',
            Some(&b) => b == text[t],
            None => false,
        };
        if fits {
            p += 1;
            t += 1;
        } else if let Some((after_star, from)) = retry {
            retry = Some((after_star, from + 1));
            p = after_star;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&b| b == b'*')
}

/// Returns the number of bytes to insert, delete or replace to turn `a` into `b`, ignoring ASCII case; `None` if the
/// number is above `limit`.
fn edit_distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut least = row[0];
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
            least = least.min(row[j + 1]);
        }
        if least > limit {
            return None;
        }
    }
    row.last().copied().filter(|&it| it <= limit)
}

/// The maximum number of methods that a hint names.
const NAMED: usize = 5;

/// How a method is related to a pattern that does not select it, from the nearest relation to the farthest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Relation {
    /// The pattern selects the method if packages are added to it.
    Packages,
    /// The pattern names the class of the method, and nearly its name.
    Typo,
    /// The pattern names the class of the method, and a method that the class does not have. The name of this method
    /// begins with the written name.
    Beginning,
    /// The same for any other method of the class.
    OfClass,
    /// The name of the method or that of its class is near the pattern.
    Similar,
}

/// A method that is related to a pattern. The order is that of the hint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Related {
    relation: Relation,
    distance: usize,
    /// Whose name is near the pattern. At the same distance, a class is nearer than a method.
    kind: Meant,
    method: MethodName,
}

/// Whether the name of a class or that of a method is near a pattern.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Meant {
    Class,
    Method,
}

/// A search for the methods whose names are nearest to a pattern that selects no method. Its text is a hint for the user,
/// such as "; did you mean `p.C.m()`?".
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Nearest {
    /// The nearest methods, from the nearest to the farthest.
    best: Vec<Related>,
    /// Whether there are more related methods than [`NAMED`].
    has_more: bool,
}

impl Nearest {
    /// Takes `method` into account.
    pub fn offer(&mut self, pattern: &MethodPattern, method: &MethodName) {
        let limit = pattern.name.len() / 3 + 1;
        let found = |relation, distance, kind| Some(Related { relation, distance, kind, method: *method });
        let related = if let Some(kind) = pattern.selected_with_packages(method) {
            found(Relation::Packages, 0, kind)
        } else if let Some(name) = pattern.member_of_class(method).filter(|_| !pattern.is_glob()) {
            let distance = edit_distance(name, method.name.0, usize::MAX).unwrap_or(usize::MAX);
            // Swapped letters are the commonest typo, but two edits.
            let distance = if is_anagram(name, method.name.0) { distance.min(1) } else { distance };
            let relation = match distance {
                0 => Relation::OfClass,
                it if it <= name.len().div_ceil(3) => Relation::Typo,
                _ if method.name.0.starts_with(name) => Relation::Beginning,
                _ => Relation::OfClass,
            };
            found(relation, distance, Meant::Method)
        } else {
            let is_class = pattern.params == Params::Any;
            let class = || pattern.near(&dotted_class(method), method, limit);
            let class = is_class.then(class).flatten().map(|it| (it, Meant::Class));
            let near =
                class.into_iter().chain(pattern.distance(method, limit).map(|it| (it, Meant::Method))).min();
            near.and_then(|it| found(Relation::Similar, it.0, it.1))
        };
        self.add(related);
    }

    fn add(&mut self, related: Option<Related>) {
        let Some(it) = related else { return };
        let at = self.best.partition_point(|other| *other < it);
        if self.best.get(at) == Some(&it) {
            return;
        }
        self.best.insert(at, it);
        self.has_more |= self.best.len() > NAMED;
        self.best.truncate(NAMED);
    }

    /// Returns the method whose name is nearest to the pattern; `None` if no method has a name near the pattern.
    pub fn method(&self) -> Option<MethodName> {
        self.best.first().map(|it| it.method)
    }
}

/// Returns the internal name among `names` that is nearest to a class name that the user wrote: that of a class with the
/// written simple name, in any package, else a similar name. Of several classes, one of `java.lang` comes first.
pub fn nearest_class<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = written.replace(['/', '$'], ".");
    let simple = |it: &str| it.rsplit_once('.').map_or(0, |it| it.0.len() + 1);
    let limit = (wanted.len() - simple(&wanted)) / 3;
    let key = |name: &'a str| {
        let full = name.replace(['/', '$'], ".");
        let from = simple(&full);
        let same = full[from..] == wanted[simple(&wanted)..];
        let distances =
            [&full[..], &full[from..]].map(|it| edit_distance(wanted.as_bytes(), it.as_bytes(), limit));
        let near = if same { Some(0) } else { distances.into_iter().flatten().min() };
        near.map(|it| {
            (!same, it, !full.ends_with(&wanted), !full.starts_with("java.lang."), name.len(), name)
        })
    };
    names.filter_map(key).min().map(|it| it.5)
}

/// A pattern that selects no method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoMatch {
    /// The pattern, as the user wrote it.
    pub pattern: String,
    /// The methods whose names are nearest to the pattern.
    pub nearest: Nearest,
}

impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no method matches `{}`", self.pattern)?;
        let Some(first) = self.nearest.best.first() else {
            return f.write_str(", and no method has a similar name");
        };
        let class = |it: &Related| it.method.class.to_string().replace('/', ".");
        // Of a class, all methods are equally near, so those of other classes are not named.
        let is_alike = |it: &&Related| match first.relation {
            Relation::Packages => it.relation == first.relation && it.kind == first.kind,
            Relation::Beginning | Relation::OfClass => it.method.class == first.method.class,
            Relation::Typo | Relation::Similar => *it == first,
        };
        let alike: Vec<&Related> = self.nearest.best.iter().filter(is_alike).collect();
        let name = |it: &&Related| match it.kind {
            Meant::Class => format!("`{}`", class(it)),
            Meant::Method => format!("`{}`", Human(it.method)),
        };
        let mut names: Vec<String> = alike.iter().map(name).collect();
        names.dedup();
        let more = if self.nearest.has_more && alike.len() == NAMED { ", …" } else { "" };
        match (first.relation, first.kind, &names[..]) {
            (Relation::Beginning | Relation::OfClass, ..) => {
                write!(f, ": {} has no such method; it has {}{more}", class(first), names.join(", "))
            }
            (_, Meant::Class, [name]) => write!(f, "; did you mean the class {name}?"),
            (_, Meant::Method, [name]) => write!(f, "; did you mean {name}?"),
            (..) => write!(f, "; did you mean one of {}{more}?", names.join(", ")),
        }
    }
}

impl std::error::Error for NoMatch {}

#[cfg(test)]
mod tests {
    use program::names::Text;

    use super::*;

    fn method(class: &'static str, name: &'static str, descriptor: &'static str) -> MethodName {
        MethodName {
            class: Text(class.as_bytes()),
            name: Text(name.as_bytes()),
            descriptor: Text(descriptor.as_bytes()),
        }
    }

    #[test]
    fn every_written_form_selects_its_methods() {
        let m = method("p/C$D", "m", "(I[Ljava/lang/String;)V");
        let init = method("p/C", "<init>", "()V");
        for yes in [
            "p.C$D.m",
            "p.C.D.m",
            "p.C$D",
            "p.C$D.*",
            "*.m",
            "p.*",
            "p.C$D.m(int,java.lang.String[])",
            "p.C$D.m(int, java.lang.String[])",
            "p.C$D.m(int,*)",
            "p/C$D.m(I[Ljava/lang/String;)V",
            "p/C$D.m",
            "*.?",
        ] {
            assert!(MethodPattern::parse(yes).unwrap().selects(&m), "{yes}");
        }
        for no in
            ["p.C", "m", "p.C$D.m()", "p/C$D.m(I)V", "p.C.m", "p/C$D.m(I[Ljava/lang/String;)I", "p.C$D.mm"]
        {
            assert!(!MethodPattern::parse(no).unwrap().selects(&m), "{no}");
        }
        assert!(MethodPattern::parse("p.C.<init>()").unwrap().selects(&init));
    }

    #[test]
    fn the_error_of_an_invalid_pattern_names_what_is_wrong() {
        assert!(MethodPattern::parse("").unwrap_err().contains("names no method"));
        assert!(MethodPattern::parse("p.C.m(int").unwrap_err().contains("closing parenthesis"));
    }

    #[test]
    fn many_stars_do_not_take_exponential_time() {
        let text = vec![b'a'; 5000];
        assert!(!glob(b"*a*a*a*a*a*a*a*a*b", &text, true));
    }

    /// Each kind of hint, for the pattern on the left.
    #[test]
    fn the_hint_says_what_may_be_meant() {
        let methods = [
            method("p/Exc", "fin", "()V"),
            method("p/Exc", "over", "(I)V"),
            method("p/Exc", "over", "(Ljava/lang/String;)V"),
            method("p/Exc", "div", "(II)I"),
            method("p/Exc", "main", "([Ljava/lang/String;)V"),
            method("p/Exc", "<init>", "()V"),
            method("p/Lam", "main", "()V"),
            method("p/Lam", "lambda$main$0", "()V"),
            method("p/Lam", "lambda$main$1", "()V"),
        ];
        let hint = |written: &str| {
            let pattern = MethodPattern::parse(written).unwrap();
            assert!(!methods.iter().any(|it| pattern.selects(it)), "{written}");
            let mut nearest = Nearest::default();
            methods.iter().for_each(|it| nearest.offer(&pattern, it));
            let text = NoMatch { pattern: pattern.written, nearest }.to_string();
            text.strip_prefix(&format!("no method matches `{written}`")).unwrap().to_owned()
        };
        for (written, wanted) in [
            ("fin", "; did you mean `p.Exc.fin()`?"),
            ("Exc.fin", "; did you mean `p.Exc.fin()`?"),
            ("over", "; did you mean one of `p.Exc.over(int)`, `p.Exc.over(java.lang.String)`?"),
            ("p.Exc.over(String)", "; did you mean `p.Exc.over(java.lang.String)`?"),
            ("p.Exc.fim", "; did you mean `p.Exc.fin()`?"),
            ("p.Exc.mian", "; did you mean `p.Exc.main(java.lang.String[])`?"),
            ("Lam", "; did you mean the class `p.Lam`?"),
            ("p.Lamm", "; did you mean the class `p.Lam`?"),
            (
                "p.Lam.lambda",
                ": p.Lam has no such method; it has `p.Lam.lambda$main$0()`, `p.Lam.lambda$main$1()`, `p.Lam.main()`",
            ),
            (
                "p.Exc.unknown",
                ": p.Exc has no such method; it has `p.Exc.<init>()`, `p.Exc.fin()`, `p.Exc.main(java.lang.String[])`, \
                 `p.Exc.div(int,int)`, `p.Exc.over(int)`, …",
            ),
            ("*.zzz", ", and no method has a similar name"),
            ("spring", ", and no method has a similar name"),
        ] {
            assert_eq!(hint(written), wanted, "{written}");
        }
    }

    #[test]
    fn a_class_is_found_by_its_simple_name_or_a_similar_one() {
        let names =
            ["q/NullPointerException", "java/lang/NullPointerException", "java/io/IOException", "p/C$D"];
        let nearest = |written: &str| nearest_class(written, names.into_iter());
        assert_eq!(nearest("NullPointerException"), Some("java/lang/NullPointerException"));
        assert_eq!(nearest("java.lang.NulPointerException"), Some("java/lang/NullPointerException"));
        assert_eq!(nearest("java.util.IOException"), Some("java/io/IOException"));
        assert_eq!(nearest("p.C.D"), Some("p/C$D"));
        assert_eq!(nearest("java.lang.Foo"), None);
    }

    #[test]
    fn the_nearest_method_of_a_misspelt_name_is_found() {
        let pattern = MethodPattern::parse("p.Ordr.totl").unwrap();
        let mut nearest = Nearest::default();
        for it in
            [method("p/Order", "total", "()I"), method("p/Order", "add", "(I)V"), method("q/X", "y", "()V")]
        {
            nearest.offer(&pattern, &it);
        }
        assert_eq!(nearest.method().unwrap().to_string(), "p/Order.total()I");
        let mut nearest = Nearest::default();
        nearest.offer(&MethodPattern::parse("Order.totle").unwrap(), &method("p/Order", "total", "()I"));
        assert!(nearest.method().is_some());
    }
}
