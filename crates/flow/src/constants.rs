//! A backward search for the constants from which a value is computed: strings, also concatenated ones, class objects,
//! arrays of class objects, and method types.
//!
//! From a use of the value, the search goes to all definitions that reach it. Within the class of the body, it goes on
//! from a parameter to the arguments of calls, from a field to the values that are stored in it, and from a call to the
//! values that the method returns. The search says whether it found all values ([`Search::is_all`]).

use std::collections::VecDeque;
use std::sync::LazyLock;

use bir::body::{Body, Expr, ExprId, Instr, InstrId, Place, Var, instr_id, ordinal};
use classfile::bootstrap::Loadable;
use classfile::descriptor::Kind;
use classfile::names::{ClassName, FieldRef, MethodRef};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::reaching::{Reaching, Source};
use crate::thrown::class_of;

/// The code of all methods of one class, indexed for searches that go from one method to another.
#[derive(Default)]
pub struct ClassCode {
    bodies: Vec<Body>,
    /// The body of each method, as an index into `bodies`.
    methods: FxHashMap<MethodRef, u32>,
    /// For each method of the class that its code calls, the calls.
    calls: FxHashMap<MethodRef, Vec<At>>,
    /// For each field of the class, the instructions that store a value in it.
    stores: FxHashMap<FieldRef, Vec<At>>,
    /// The fields that have no value but those that this code stores.
    constants: FxHashSet<FieldRef>,
}

impl ClassCode {
    /// Indexes the bodies of a class, which must have the texts of their string constants. `constants` are the static
    /// final fields of the class without the attribute `ConstantValue`: only code of the class can store a value in them
    /// (JVMS §6.5.putstatic).
    pub fn new(bodies: Vec<Body>, constants: impl IntoIterator<Item = FieldRef>) -> Self {
        let mut acc = ClassCode { constants: constants.into_iter().collect(), ..ClassCode::default() };
        for (body, code) in (0..).zip(&bodies) {
            let class = code.method.class();
            acc.methods.insert(code.method, body);
            for (instr, it) in code.instrs.iter() {
                let at = At { body: Some(body), instr };
                match *it {
                    Instr::Call(_, _, method, _) | Instr::New(_, method, _) if method.class() == class => {
                        acc.calls.entry(method).or_default().push(at);
                    }
                    Instr::SetField(_, field, _) | Instr::SetStatic(field, _) if field.class() == class => {
                        acc.stores.entry(field).or_default().push(at);
                    }
                    _ => {}
                }
            }
        }
        ClassCode { bodies, ..acc }
    }
}

/// The classes of the JDK whose methods the search follows.
struct Classes {
    class: ClassName,
    method_type: ClassName,
    builder: ClassName,
    buffer: ClassName,
    string: ClassName,
}

static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
    let class = |it: &str| ClassName::new(it.as_bytes());
    Classes {
        class: class("java/lang/Class"),
        method_type: class("java/lang/invoke/MethodType"),
        builder: class("java/lang/StringBuilder"),
        buffer: class("java/lang/StringBuffer"),
        string: class("java/lang/String"),
    }
});

/// The maximum number of values that are followed from one body.
const MAX_ASKED: usize = 768;
/// The maximum number of different values of one expression.
pub(crate) const MAX_VALUES: usize = 16;
/// The maximum number of calls that are followed from a value to the values from which it is computed.
const MAX_DEPTH: usize = 24;
/// The maximum number of instructions and values that are visited to find the values of one builder.
const MAX_STEPS: usize = 2048;
/// The maximum length of a string in bytes; names of classes are shorter.
const MAX_LENGTH: usize = 1024;

/// An instruction of the body where the search began, or of a body of its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct At {
    /// The index of the body in the code of the class; `None` for the body where the search began.
    body: Option<u32>,
    instr: InstrId,
}

/// A search for constants that begins in one body.
pub(crate) struct Search<'a> {
    body: &'a Body,
    reaching: Reaching<'a>,
    class: &'a dyn Fn() -> &'a ClassCode,
    /// Searches in bodies of the class, by their indices.
    others: FxHashMap<u32, Reaching<'a>>,
    /// The number of values that were followed so far.
    asked: usize,
    /// Whether the values that were found since this flag was set are all values that exist at run time.
    pub(crate) is_all: bool,
    /// Whether null was among the strings that were found since this flag was cleared.
    has_null: bool,
}

/// A definition of a value: what computes the value.
pub(crate) enum Found<'a> {
    Expr(Expr),
    Call(MethodRef, &'a [ExprId]),
    New,
    Dynamic(u32, &'a [ExprId]),
    Array(Var, ExprId),
    Other,
}

impl<'a> Search<'a> {
    /// Prepares a search from `body`. `class` returns the code of the body's class.
    pub(crate) fn new(body: &'a Body, class: &'a dyn Fn() -> &'a ClassCode) -> Self {
        let reaching = Reaching::new(body);
        Search {
            body,
            reaching,
            class,
            others: FxHashMap::default(),
            asked: 0,
            is_all: true,
            has_null: false,
        }
    }

    /// Returns the place of an instruction of the body where the search began.
    pub(crate) fn here(instr: InstrId) -> At {
        At { body: None, instr }
    }

    /// Returns the body in which `at` is.
    pub(crate) fn body(&self, at: At) -> &'a Body {
        let other = at.body.and_then(|it| (self.class)().bodies.get(it as usize));
        other.unwrap_or(self.body)
    }

    /// Records that some values were not found.
    fn lose<T: Default>(&mut self) -> T {
        self.is_all = false;
        T::default()
    }

    /// Limits the number of values.
    pub(crate) fn limit<T>(&mut self, mut values: Vec<T>) -> Vec<T> {
        if values.len() > MAX_VALUES {
            values.truncate(MAX_VALUES);
            self.is_all = false;
        }
        values
    }

    /// Runs a search for a value that may stay unknown: an unknown result does not clear `is_all`.
    pub(crate) fn optional<T>(&mut self, search: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let was_all = self.is_all;
        let result = search(self);
        self.is_all = if result.is_some() { self.is_all } else { was_all };
        result
    }

    fn sources(&mut self, at: At, e: ExprId) -> Vec<Source> {
        let body = self.body(at);
        let reaching = match at.body {
            None => &mut self.reaching,
            Some(it) => self.others.entry(it).or_insert_with(|| Reaching::new(body)),
        };
        let mut sources: Vec<Source> = Vec::new();
        let mut is_cut = false;
        reaching.sources(at.instr, e, |source, _| {
            if sources.contains(&source) {
                return;
            }
            match sources.len() < MAX_VALUES {
                true => sources.push(source),
                false => is_cut = true,
            }
        });
        self.is_all &= !is_cut;
        sources
    }

    /// Returns the definitions of the value of an expression at the instruction `at`.
    pub(crate) fn found(&mut self, at: At, e: ExprId, depth: usize) -> Vec<(At, Found<'a>)> {
        self.asked += 1;
        if self.asked > MAX_ASKED || depth > MAX_DEPTH {
            return self.lose();
        }
        let body = self.body(at);
        let mut acc = Vec::new();
        for source in self.sources(at, e) {
            let (instr, found) = match source {
                Source::Expr(e) => (at.instr, Found::Expr(body.exprs[e])),
                Source::Instr(id, Some(e)) => (id, Found::Expr(body.exprs[e])),
                Source::Instr(id, None) => match body.instrs[id] {
                    Instr::Call(_, _, method, operands) => (id, Found::Call(method, body.operands(operands))),
                    Instr::New(..) => (id, Found::New),
                    Instr::CallDynamic(_, site, operands) => {
                        (id, Found::Dynamic(site, body.operands(operands)))
                    }
                    Instr::ConstDynamic(_, site) => (id, Found::Dynamic(site, &[])),
                    Instr::NewArray(array, _, length) => (id, Found::Array(array, length)),
                    _ => (id, Found::Other),
                },
                Source::Entry(var) => {
                    // Code of other classes may call the method, too.
                    self.is_all = false;
                    acc.extend(self.arguments(body, var, depth + 1));
                    continue;
                }
                Source::Unknown => (at.instr, Found::Other),
            };
            let at = At { instr, ..at };
            let within = match found {
                Found::Expr(Expr::Field(_, field) | Expr::Static(field)) => {
                    self.stored(body, field, depth + 1)
                }
                Found::Call(method, _) => self.returned(body, method, depth + 1),
                Found::Expr(_) | Found::New | Found::Dynamic(..) | Found::Array(..) | Found::Other => None,
            };
            match within {
                Some(it) => acc.extend(it),
                None => acc.push((at, found)),
            }
        }
        self.limit(acc)
    }

    /// Returns the definitions of the arguments that code of the class passes for the parameter which the variable is at
    /// entry of `body`.
    fn arguments(&mut self, body: &Body, var: Var, depth: usize) -> Vec<(At, Found<'a>)> {
        let Some(parameter) = parameter_index(body, var) else { return Vec::new() };
        let calls = (self.class)().calls.get(&body.method).map_or(&[][..], |it| it);
        let mut acc = Vec::new();
        for &at in calls {
            let caller = self.body(at);
            let (operands, skipped) = match caller.instrs[at.instr] {
                Instr::Call(_, kind, _, it) => (it, usize::from(kind.has_receiver())),
                Instr::New(_, _, it) => (it, 0),
                _ => continue,
            };
            if let Some(&argument) = caller.operands(operands).get(skipped + parameter) {
                acc.extend(self.found(at, argument, depth));
            }
            if acc.len() > MAX_VALUES {
                break;
            }
        }
        acc
    }

    /// Returns the definitions of the values that code of the class stores in one of its fields; `None` if there are none.
    fn stored(&mut self, body: &Body, field: FieldRef, depth: usize) -> Option<Vec<(At, Found<'a>)>> {
        if field.class() != body.method.class() {
            return None;
        }
        let code = (self.class)();
        let stores = code.stores.get(&field)?;
        self.is_all &= code.constants.contains(&field);
        let mut acc = Vec::new();
        for &at in stores {
            if let Instr::SetField(_, _, value) | Instr::SetStatic(_, value) = self.body(at).instrs[at.instr]
            {
                acc.extend(self.found(at, value, depth));
            }
            if acc.len() > MAX_VALUES {
                break;
            }
        }
        Some(acc)
    }

    /// Returns the definitions of the values that a method of the class returns; `None` if the class has no such code.
    fn returned(&mut self, body: &Body, method: MethodRef, depth: usize) -> Option<Vec<(At, Found<'a>)>> {
        if method.class() != body.method.class() {
            return None;
        }
        let code = (self.class)();
        let &index = code.methods.get(&method)?;
        let callee = code.bodies.get(index as usize)?;
        // A subclass may override other methods.
        self.is_all &= callee.flags.is_static() || callee.flags.is_private();
        let mut acc = Vec::new();
        for (instr, it) in callee.instrs.iter() {
            if let Instr::Return(Some(value)) = *it {
                acc.extend(self.found(At { body: Some(index), instr }, value, depth));
            }
            if acc.len() > MAX_VALUES {
                break;
            }
        }
        Some(acc)
    }

    /// Returns the values of a string.
    pub(crate) fn strings(&mut self, at: At, e: ExprId, depth: usize) -> Vec<Vec<u8>> {
        let known = &*CLASSES;
        let mut acc: Vec<Vec<u8>> = Vec::new();
        for (at, found) in self.found(at, e, depth) {
            let depth = depth + 1;
            match found {
                Found::Expr(Expr::Str(text)) => acc.push(text.bytes().to_vec()),
                Found::Expr(Expr::Null) => self.has_null = true,
                Found::Call(method, operands) => {
                    let it = method.get();
                    match (it.name.bytes(), operands) {
                        (b"toString", &[of]) if it.class == known.builder || it.class == known.buffer => {
                            acc.extend(self.built(at, of, depth));
                        }
                        (b"concat", &[left, right]) if it.class == known.string => {
                            let left = self.strings(at, left, depth);
                            let right = self.strings(at, right, depth);
                            acc.extend(self.concatenated(&left, &right));
                        }
                        (b"intern" | b"toString", &[of]) if it.class == known.string => {
                            acc.extend(self.strings(at, of, depth));
                        }
                        (b"valueOf", &[of]) if it.class == known.string => {
                            acc.extend(self.texts(at, of, depth));
                        }
                        (b"trim", &[of]) if it.class == known.string => {
                            acc.extend(self.strings(at, of, depth).iter().map(|it| trimmed(it)));
                        }
                        (b"getName", &[of]) if it.class == known.class => {
                            let classes = self.classes(at, of, depth);
                            let names = classes.iter().map(|it| name_of_class(it));
                            acc.extend(names);
                        }
                        _ => self.lose(),
                    }
                }
                Found::Dynamic(site, operands) => acc.extend(self.joined(at, site, operands, depth)),
                Found::Expr(_) | Found::New | Found::Array(..) | Found::Other => self.lose(),
            }
        }
        self.limit(acc)
    }

    /// Returns the texts of a string where null becomes the text `null`, as in a concatenation.
    fn texts(&mut self, at: At, e: ExprId, depth: usize) -> Vec<Vec<u8>> {
        let had_null = std::mem::take(&mut self.has_null);
        let mut texts = self.strings(at, e, depth);
        texts.extend(self.has_null.then(|| b"null".to_vec()));
        self.has_null = had_null;
        texts
    }

    /// Returns the values of a concatenation by `StringConcatFactory`. In the recipe, a character 1 stands for an operand
    /// and a character 2 for a constant.
    fn joined(&mut self, at: At, site: u32, operands: &[ExprId], depth: usize) -> Vec<Vec<u8>> {
        let Some(site) = self.body(at).dynamics.get(site as usize) else { return self.lose() };
        let it = site.bootstrap.member.get();
        if it.class.bytes() != b"java/lang/invoke/StringConcatFactory" {
            return self.lose();
        }
        let mut operands = operands.iter();
        let mut acc = vec![Vec::new()];
        let recipe: Vec<u8> = match (it.name.bytes(), site.args.first()) {
            (b"makeConcatWithConstants", Some(Loadable::Str(it))) => it.bytes().to_vec(),
            (b"makeConcat", _) => vec![1; operands.len()],
            _ => return self.lose(),
        };
        let mut constants = site.args.iter().skip(1);
        for byte in recipe {
            let next = match byte {
                1 => match operands.next() {
                    Some(&it) => self.texts(at, it, depth),
                    None => self.lose(),
                },
                2 => match constants.next() {
                    Some(Loadable::Str(it)) => vec![it.bytes().to_vec()],
                    _ => self.lose(),
                },
                it => vec![vec![it]],
            };
            acc = self.concatenated(&acc, &next);
        }
        acc
    }

    /// Returns all strings that consist of one of `left` and one of `right`.
    fn concatenated(&mut self, left: &[Vec<u8>], right: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let pairs = left.iter().flat_map(|left| right.iter().map(move |right| [&left[..], right].concat()));
        let all: Vec<Vec<u8>> = pairs.take(MAX_VALUES + 1).collect();
        let n_all = all.len();
        let short: Vec<Vec<u8>> = all.into_iter().filter(|it| it.len() <= MAX_LENGTH).collect();
        self.is_all &= short.len() == n_all;
        self.limit(short)
    }

    /// Returns values that a `StringBuilder` or `StringBuffer` has at the instruction `at`. They are never all values,
    /// because other code may change the builder.
    fn built(&mut self, at: At, e: ExprId, depth: usize) -> Vec<Vec<u8>> {
        self.is_all = false;
        match self.new_builder(at, e, depth) {
            // The builder of another method has other changes.
            Some(made) if made.body == at.body => self.appended(made, at, depth + 1),
            Some(_) | None => Vec::new(),
        }
    }

    /// Returns the values with which a new builder begins.
    fn initial(&mut self, made: At, operands: &[ExprId], depth: usize) -> Vec<Vec<u8>> {
        match *operands {
            [] => vec![Vec::new()],
            [text] => match self.strings(made, text, depth + 1) {
                // The argument is the capacity.
                it if it.is_empty() && matches!(self.body(made).exprs[text], Expr::Int(_)) => {
                    vec![Vec::new()]
                }
                it => it,
            },
            _ => Vec::new(),
        }
    }

    /// Returns the values that the builder which the instruction `made` creates has at the instruction `at`, on the paths
    /// from one to the other on which no exception is raised.
    fn appended(&mut self, made: At, at: At, depth: usize) -> Vec<Vec<u8>> {
        let body = self.body(made);
        let Instr::New(_, _, operands) = body.instrs[made.instr] else { return Vec::new() };
        let next = ordinal(made.instr) + 1;
        let initial = self.initial(made, body.operands(operands), depth);
        // Short paths come first, so that a loop that appends does not hide the paths that leave it.
        let mut pending: VecDeque<(u32, Vec<u8>)> = initial.into_iter().map(|it| (next, it)).collect();
        let mut seen: FxHashSet<(u32, Vec<u8>)> = FxHashSet::default();
        let mut appends: FxHashMap<u32, Option<Vec<Vec<u8>>>> = FxHashMap::default();
        let mut acc = Vec::new();
        while let Some((number, text)) = pending.pop_front() {
            if number == ordinal(at.instr) {
                acc.push(text);
                continue;
            }
            if number as usize >= body.instrs.len() || seen.len() == MAX_STEPS || acc.len() == MAX_VALUES {
                break;
            }
            if !seen.insert((number, text.clone())) {
                continue;
            }
            let instr = &body.instrs[instr_id(number)];
            let more = match appends.get(&number) {
                Some(it) => it.clone(),
                None => {
                    let it = self.append(At { instr: instr_id(number), ..made }, made, depth);
                    appends.insert(number, it.clone());
                    it
                }
            };
            let texts = match more {
                Some(more) => self.concatenated(&[text], &more),
                None => vec![text],
            };
            for text in texts {
                body.jumps(instr, |to| pending.push_back((ordinal(to), text.clone())));
                if instr.falls_through() {
                    pending.push_back((number + 1, text));
                }
            }
        }
        acc
    }

    /// Returns the texts that the instruction may append to the builder which the instruction `made` creates; `None` if
    /// it does not change the builder.
    fn append(&mut self, at: At, made: At, depth: usize) -> Option<Vec<Vec<u8>>> {
        let body = self.body(at);
        let Instr::Call(_, _, method, operands) = body.instrs[at.instr] else { return None };
        let &[builder, ref rest @ ..] = body.operands(operands) else { return None };
        if !is_of_builder(method) || rest.is_empty() || self.new_builder(at, builder, depth + 1) != Some(made)
        {
            return None;
        }
        // Of other changes nothing is known, so the paths end there.
        Some(match *rest {
            [text] if is_append(method) => self.strings(at, text, depth + 1),
            _ => Vec::new(),
        })
    }

    /// Returns the instruction that creates the builder that is the value of `e`, if there is only one.
    fn new_builder(&mut self, at: At, e: ExprId, depth: usize) -> Option<At> {
        let found = self.found(at, e, depth);
        let [(at, ref found)] = found[..] else { return None };
        match *found {
            Found::New => Some(at),
            Found::Call(method, &[builder, _]) if is_append(method) => {
                self.new_builder(at, builder, depth + 1)
            }
            Found::Expr(_) | Found::Call(..) | Found::Dynamic(..) | Found::Array(..) | Found::Other => None,
        }
    }

    /// Returns the values of a class object, as field descriptors.
    pub(crate) fn classes(&mut self, at: At, e: ExprId, depth: usize) -> Vec<Vec<u8>> {
        let known = &*CLASSES;
        let mut acc: Vec<Vec<u8>> = Vec::new();
        for (at, found) in self.found(at, e, depth) {
            let depth = depth + 1;
            match found {
                Found::Expr(Expr::Class(class)) => acc.push(descriptor(class)),
                Found::Expr(Expr::Null) => {}
                Found::Expr(Expr::Static(field)) if field.get().name.bytes() == b"TYPE" => {
                    match primitive(field.class()) {
                        Some(it) => acc.push(vec![it]),
                        None => self.lose(),
                    }
                }
                Found::Call(method, operands) => {
                    let it = method.get();
                    let is_name = it.descriptor.bytes().starts_with(b"(Ljava/lang/String;");
                    match (it.name.bytes(), operands) {
                        (b"forName", &[name]) if it.class == known.class && is_name => {
                            acc.extend(self.classes_of_name(at, name, depth));
                        }
                        // What another loader finds may be another class.
                        (b"forName", &[name, ..]) if it.class == known.class && is_name => {
                            self.is_all = false;
                            acc.extend(self.classes_of_name(at, name, depth));
                        }
                        (b"loadClass" | b"findClass", &[_, name, ..]) if is_name => {
                            self.is_all = false;
                            acc.extend(self.classes_of_name(at, name, depth));
                        }
                        (b"asSubclass", &[class, _]) if it.class == known.class => {
                            acc.extend(self.classes(at, class, depth));
                        }
                        (b"getClass", &[of]) => {
                            let body = self.body(at);
                            for source in self.sources(at, of) {
                                match class_of(body, source) {
                                    Some((class, true)) => acc.push(descriptor(class)),
                                    Some((_, false)) | None => self.lose(),
                                }
                            }
                        }
                        _ => self.lose(),
                    }
                }
                Found::Expr(_) | Found::New | Found::Dynamic(..) | Found::Array(..) | Found::Other => {
                    self.lose()
                }
            }
        }
        self.limit(acc)
    }

    fn classes_of_name(&mut self, at: At, name: ExprId, depth: usize) -> Vec<Vec<u8>> {
        let names = self.strings(at, name, depth);
        names.iter().filter_map(|it| class_of_name(it)).map(descriptor).collect()
    }

    /// Returns the descriptors of the classes in an array, one after another; `None` if they are not known.
    pub(crate) fn array(&mut self, at: At, e: ExprId, depth: usize) -> Option<Vec<u8>> {
        let found = self.found(at, e, depth);
        let [(made, ref found)] = found[..] else { return self.lose() };
        let (array, length) = match *found {
            Found::Expr(Expr::Null) => return Some(Vec::new()),
            Found::Array(array, length) if made.body == at.body => (array, length),
            Found::Expr(_)
            | Found::Array(..)
            | Found::Call(..)
            | Found::New
            | Found::Dynamic(..)
            | Found::Other => return self.lose(),
        };
        let body = self.body(made);
        let Expr::Int(length @ 0..=255) = body.exprs[length] else { return self.lose() };
        let mut elements: Vec<Option<Vec<u8>>> = vec![None; length as usize];
        let of_array = Expr::Var(array);
        self.is_all &= body.exprs[e] == of_array;
        for instr in (ordinal(made.instr) + 1..ordinal(at.instr)).map(instr_id) {
            let (of, index, value) = match body.instrs[instr] {
                Instr::SetElem(_, of, index, value) => (of, index, value),
                Instr::Assert(_) => continue,
                // Code that has the array may change its elements.
                ref it => {
                    body.instr_exprs(it, |it| self.is_all &= body.exprs[it] != of_array);
                    continue;
                }
            };
            if body.exprs[of] != of_array {
                continue;
            }
            let Expr::Int(index) = body.exprs[index] else { return self.lose() };
            let mut classes = self.classes(At { instr, ..made }, value, depth + 1);
            let class = classes.pop().filter(|_| classes.is_empty())?;
            let element = elements.get_mut(usize::try_from(index).ok()?)?;
            // Of two stores, either may be the last.
            if element.replace(class).is_some() {
                return self.lose();
            }
        }
        Some(elements.into_iter().collect::<Option<Vec<Vec<u8>>>>()?.concat())
    }

    /// Returns the parameter types of a method type, one after another; `None` if they are not known.
    pub(crate) fn method_type(&mut self, at: At, e: ExprId, depth: usize) -> Option<Vec<u8>> {
        let found = self.found(at, e, depth);
        let [(at, ref found)] = found[..] else { return self.lose() };
        match *found {
            Found::Expr(Expr::MethodType(it)) => Some(parameters(it.bytes())?.to_vec()),
            Found::Call(method, operands) if method.class() == CLASSES.method_type => {
                if method.name().bytes() != b"methodType" {
                    return self.lose();
                }
                let is_array = method.get().descriptor.bytes().contains(&b'[');
                let mut acc = Vec::new();
                for (i, &it) in operands.iter().enumerate().skip(1) {
                    if is_array && i + 1 == operands.len() {
                        acc.extend(self.array(at, it, depth + 1)?);
                        continue;
                    }
                    let mut classes = self.classes(at, it, depth + 1);
                    acc.extend(classes.pop().filter(|_| classes.is_empty())?);
                }
                Some(acc)
            }
            Found::Expr(_)
            | Found::Call(..)
            | Found::New
            | Found::Dynamic(..)
            | Found::Array(..)
            | Found::Other => self.lose(),
        }
    }
}

/// Returns the index of the parameter that a variable is at entry of a method, not counting the receiver; `None` if the
/// variable is no parameter of a reference type.
fn parameter_index(body: &Body, var: Var) -> Option<usize> {
    let Place::Local(slot) = var.place() else { return None };
    let mut at = u32::from(!body.flags.is_static());
    for (index, it) in body.method.descriptor().method_type()?.params().enumerate() {
        if at == u32::from(slot) {
            return (var.kind() == Kind::Ref).then_some(index);
        }
        at += u32::from(it.kind().words());
    }
    None
}

fn is_of_builder(method: MethodRef) -> bool {
    method.class() == CLASSES.builder || method.class() == CLASSES.buffer
}

fn is_append(method: MethodRef) -> bool {
    is_of_builder(method) && method.name().bytes() == b"append"
}

/// Returns the text without the characters up to the space at its ends, as `String.trim` does.
fn trimmed(text: &[u8]) -> Vec<u8> {
    let is_kept = |it: &u8| *it > b' ';
    let start = text.iter().position(is_kept).unwrap_or(text.len());
    let end = text.iter().rposition(is_kept).map_or(start, |it| it + 1);
    text[start..end].to_vec()
}

fn replaced(text: &[u8], from: u8, to: u8) -> Vec<u8> {
    text.iter().map(|&it| if it == from { to } else { it }).collect()
}

/// Returns the class of this name, which is written with dots. Returns `None` if no class outside an array has the name.
pub(crate) fn class_of_name(name: &[u8]) -> Option<ClassName> {
    let is_part = |it: &[u8]| !it.is_empty() && !it.iter().any(|it| matches!(it, b'/' | b';' | b'['));
    name.split(|it| *it == b'.').all(is_part).then(|| ClassName::new(&replaced(name, b'.', b'/')))
}

/// Returns the name that `Class.getName` returns for the class of a field descriptor.
fn name_of_class(descriptor: &[u8]) -> Vec<u8> {
    match class_name(descriptor) {
        Some(it) => replaced(it.bytes(), b'/', b'.'),
        // The names of primitive types and arrays are names of no class that can be found by its name.
        None => replaced(descriptor, b'/', b'.'),
    }
}

/// Returns the field descriptor of a class or array.
fn descriptor(class: ClassName) -> Vec<u8> {
    if class.is_array() { class.bytes().to_vec() } else { [b"L", class.bytes(), b";"].concat() }
}

/// Returns the class of a field descriptor; `None` if that is an array or a primitive type.
pub(crate) fn class_name(descriptor: &[u8]) -> Option<ClassName> {
    Some(ClassName::new(descriptor.strip_prefix(b"L")?.strip_suffix(b";")?))
}

/// Returns the part of a method descriptor between the parentheses.
pub(crate) fn parameters(descriptor: &[u8]) -> Option<&[u8]> {
    let end = descriptor.iter().position(|it| *it == b')')?;
    descriptor.get(1..end)
}

/// Returns the descriptor of the primitive type, or of `void`, whose class object is the field `TYPE` of this class.
fn primitive(class: ClassName) -> Option<u8> {
    Some(match class.bytes() {
        b"java/lang/Boolean" => b'Z',
        b"java/lang/Byte" => b'B',
        b"java/lang/Character" => b'C',
        b"java/lang/Short" => b'S',
        b"java/lang/Integer" => b'I',
        b"java/lang/Long" => b'J',
        b"java/lang/Float" => b'F',
        b"java/lang/Double" => b'D',
        b"java/lang/Void" => b'V',
        _ => return None,
    })
}
