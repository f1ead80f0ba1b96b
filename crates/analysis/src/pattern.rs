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

    /// Returns the edit distance between the pattern and the method's name, for the hint "did you mean"; `None` if
    /// the distance is above `limit`.
    pub fn distance(&self, method: &MethodName, limit: usize) -> Option<usize> {
        let mut full = Vec::with_capacity(64);
        match self.params {
            Params::Any => {
                full.extend(method.class.0.iter().map(|&b| if b == b'/' { b'.' } else { b }));
                full.push(b'.');
                full.extend(method.name.0);
            }
            _ => method.human_bytes(&mut full),
        }
        let wanted = match &self.params {
            Params::Human(it) => [&*self.name, it].concat(),
            _ => self.name.to_vec(),
        };
        let least = edit_distance(&wanted, &full, limit);
        // Users often omit the package when they guess a name.
        let simple = method.class.0.iter().rposition(|&b| b == b'/').map_or(0, |i| i + 1);
        let short = full.get(simple..).and_then(|it| edit_distance(&wanted, it, limit));
        match (least, short) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
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

/// A search for the method whose name is nearest to a pattern that selects no method.
#[derive(Clone, Debug, Default)]
pub struct Nearest {
    best: Option<(usize, MethodName)>,
}

impl Nearest {
    /// Makes `method` the nearest method if its name is nearer to the pattern than the name of the nearest method so
    /// far.
    pub fn offer(&mut self, pattern: &MethodPattern, method: &MethodName) {
        let limit = self.best.map_or(pattern.name.len() / 2 + 2, |it| it.0);
        if let Some(distance) = pattern.distance(method, limit) {
            let candidate = (distance, *method);
            if self.best.is_none_or(|it| candidate < it) {
                self.best = Some(candidate);
            }
        }
    }

    /// Takes over the nearest method of another search if its name is nearer to the pattern.
    pub fn merge(&mut self, other: Nearest) {
        if let Some(it) = other.best
            && self.best.is_none_or(|mine| it < mine)
        {
            self.best = Some(it);
        }
    }

    /// Returns the method whose name is nearest to the pattern; `None` if no method has a name near the pattern.
    pub fn method(&self) -> Option<MethodName> {
        self.best.map(|it| it.1)
    }
}

/// A pattern that selects no method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoMatch {
    /// The pattern, as the user wrote it.
    pub pattern: String,
    /// The method whose name is nearest to the pattern; `None` if no method has a name near the pattern.
    pub nearest: Option<MethodName>,
}

impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no method matches `{}`", self.pattern)?;
        match self.nearest {
            Some(it) => write!(f, "; did you mean `{}`?", Human(it)),
            None => f.write_str(", and no method has a similar name"),
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
