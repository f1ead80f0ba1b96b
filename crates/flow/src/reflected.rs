//! The classes and members that a body names by constants when it uses reflection or looks up method handles.
//!
//! Each constant is searched backward from the reflective call, through all definitions that reach it within the body:
//! strings, also concatenated ones, class objects, arrays of class objects, method types, and the objects that stand
//! for members. A value that is not found adds nothing. So the result never says that a reflective call runs nothing
//! else.

use std::collections::VecDeque;
use std::sync::LazyLock;

use bir::body::{Body, Expr, ExprId, Instr, InstrId, Var, instr_id, ordinal};
use classfile::bootstrap::{HandleKind, Loadable};
use classfile::names::{ClassName, MethodRef, Name, is_reflective};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::reaching::{Reaching, Source};
use crate::thrown::class_of;

/// A class or member that reflective code of a body names by constants. The parameter types of a member are
/// the text of its descriptor between the parentheses; `None` if they are not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reflected {
    /// The class is initialised.
    Class(ClassName),
    /// An object of the class is created by a constructor with these parameter types.
    Constructor(ClassName, Option<Name>),
    /// A method of the class or of its supertypes is invoked that has this name and these parameter types.
    Method(ClassName, Name, Option<Name>),
}

/// Calls `f` with each class or member that the body names by constants in a reflective call, and with this call. An
/// item may occur several times.
pub fn reflected(body: &Body, f: &mut dyn FnMut(InstrId, Reflected)) {
    let mut search = None;
    for (id, instr) in body.instrs.iter() {
        let Instr::Call(_, _, method, operands) = *instr else { continue };
        let Some(site) = site(method) else { continue };
        let search = search.get_or_insert_with(|| Search { body, reaching: Reaching::new(body), asked: 0 });
        let Some(&first) = body.operands(operands).first() else { continue };
        match site {
            Site::Initializes => {
                let of_name = search.named(id, first).into_iter();
                of_name.for_each(|it| f(id, Reflected::Class(it)));
            }
            Site::InitializesClass => {
                let classes = body.operands(operands).get(1).map(|&it| search.classes(id, it, 0));
                for class in classes.iter().flatten().filter_map(|it| class_name(it)) {
                    f(id, Reflected::Class(class));
                }
            }
            Site::Creates => {
                for class in search.classes(id, first, 0).iter().filter_map(|it| class_name(it)) {
                    f(id, Reflected::Constructor(class, Some(Name::new(b""))));
                }
            }
            Site::Invokes => search.members(id, first, 0).into_iter().for_each(|it| f(id, it)),
        }
    }
}

/// What a reflective call does with the class or member that its receiver or argument stands for.
#[derive(Clone, Copy)]
enum Site {
    /// Initialises the class whose name is the first argument.
    Initializes,
    /// Initialises the class that is the second operand.
    InitializesClass,
    /// Creates an object of the class that is the receiver.
    Creates,
    /// Invokes the member that is the receiver.
    Invokes,
}

/// The classes of the JDK whose methods are searched for.
struct Classes {
    class: ClassName,
    handle: ClassName,
    handles: ClassName,
    lookup: ClassName,
    method_type: ClassName,
    builder: ClassName,
    buffer: ClassName,
    string: ClassName,
}

static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
    let class = |it: &str| ClassName::new(it.as_bytes());
    Classes {
        class: class("java/lang/Class"),
        handle: class("java/lang/invoke/MethodHandle"),
        handles: class("java/lang/invoke/MethodHandles"),
        lookup: class("java/lang/invoke/MethodHandles$Lookup"),
        method_type: class("java/lang/invoke/MethodType"),
        builder: class("java/lang/StringBuilder"),
        buffer: class("java/lang/StringBuffer"),
        string: class("java/lang/String"),
    }
});

fn site(method: MethodRef) -> Option<Site> {
    let it = method.get();
    if !is_reflective(it.class.bytes(), it.name.bytes()) {
        return None;
    }
    let by_name = it.descriptor.bytes().starts_with(b"(Ljava/lang/String;");
    match it.name.bytes() {
        b"forName" => by_name.then_some(Site::Initializes),
        b"ensureInitialized" => Some(Site::InitializesClass),
        b"newInstance" if it.class == CLASSES.class => Some(Site::Creates),
        _ => Some(Site::Invokes),
    }
}

/// The maximum number of values that are followed in one body.
const MAX_ASKED: usize = 512;
/// The maximum number of different values of one expression.
const MAX_VALUES: usize = 16;
/// The maximum number of calls that are followed from a value to the values from which it is computed.
const MAX_DEPTH: usize = 24;
/// The maximum number of instructions and values that are visited to find the values of one builder.
const MAX_STEPS: usize = 2048;
/// The maximum length of a string in bytes; names of classes are shorter.
const MAX_LENGTH: usize = 1024;

/// A search for constants in one body.
struct Search<'a> {
    body: &'a Body,
    reaching: Reaching<'a>,
    /// The number of values that were followed so far.
    asked: usize,
}

/// A definition of a value: the instruction at which the value is computed, and what computes it.
enum Found<'a> {
    Expr(ExprId),
    Call(MethodRef, &'a [ExprId]),
    New,
    Dynamic(u32, &'a [ExprId]),
    Array(Var, ExprId),
    Other,
}

impl<'a> Search<'a> {
    /// Returns the definitions of the value of an expression at the instruction `at`.
    fn found(&mut self, at: InstrId, e: ExprId, depth: usize) -> Vec<(InstrId, Found<'a>)> {
        self.asked += 1;
        if self.asked > MAX_ASKED || depth > MAX_DEPTH {
            return Vec::new();
        }
        let body = self.body;
        let mut sources: Vec<Source> = Vec::new();
        self.reaching.sources(at, e, |source, _| {
            if !sources.contains(&source) && sources.len() < MAX_VALUES {
                sources.push(source);
            }
        });
        let found = |source| match source {
            Source::Expr(e) => (at, Found::Expr(e)),
            Source::Instr(id, Some(e)) => (id, Found::Expr(e)),
            Source::Instr(id, None) => match body.instrs[id] {
                Instr::Call(_, _, method, operands) => (id, Found::Call(method, body.operands(operands))),
                Instr::New(..) => (id, Found::New),
                Instr::CallDynamic(_, site, operands) => (id, Found::Dynamic(site, body.operands(operands))),
                Instr::NewArray(array, _, length) => (id, Found::Array(array, length)),
                _ => (id, Found::Other),
            },
            Source::Entry(_) | Source::Unknown => (at, Found::Other),
        };
        sources.into_iter().map(found).collect()
    }

    /// Returns the values of a string.
    fn strings(&mut self, at: InstrId, e: ExprId, depth: usize) -> Vec<Vec<u8>> {
        let known = &*CLASSES;
        let mut acc: Vec<Vec<u8>> = Vec::new();
        for (at, found) in self.found(at, e, depth) {
            match found {
                Found::Expr(e) => {
                    if let Expr::Str(text) = self.body.exprs[e] {
                        acc.push(text.bytes().to_vec());
                    }
                }
                Found::Call(method, operands) => {
                    let it = method.get();
                    match (it.name.bytes(), operands) {
                        (b"toString", &[of]) if it.class == known.builder || it.class == known.buffer => {
                            acc.extend(self.built(at, of, depth + 1));
                        }
                        (b"concat", &[left, right]) if it.class == known.string => {
                            let left = self.strings(at, left, depth + 1);
                            acc.extend(concatenated(&left, &self.strings(at, right, depth + 1)));
                        }
                        (b"intern" | b"toString" | b"trim" | b"valueOf", &[of])
                            if it.class == known.string =>
                        {
                            acc.extend(self.strings(at, of, depth + 1));
                        }
                        (b"getName", &[of]) if it.class == known.class => {
                            let classes = self.classes(at, of, depth + 1);
                            let names = classes.iter().filter_map(|it| class_name(it));
                            acc.extend(names.map(|it| replaced(it.bytes(), b'/', b'.')));
                        }
                        _ => {}
                    }
                }
                Found::Dynamic(site, operands) => acc.extend(self.joined(at, site, operands, depth + 1)),
                Found::New | Found::Array(..) | Found::Other => {}
            }
        }
        acc.truncate(MAX_VALUES);
        acc
    }

    /// Returns the values of a concatenation by `StringConcatFactory`. In the recipe, a character 1 stands for an operand
    /// and a character 2 for a constant.
    fn joined(&mut self, at: InstrId, site: u32, operands: &[ExprId], depth: usize) -> Vec<Vec<u8>> {
        let Some(site) = self.body.dynamics.get(site as usize) else { return Vec::new() };
        let it = site.bootstrap.member.get();
        if it.class.bytes() != b"java/lang/invoke/StringConcatFactory" {
            return Vec::new();
        }
        let mut operands = operands.iter();
        let mut acc = vec![Vec::new()];
        let recipe: Vec<u8> = match (it.name.bytes(), site.args.first()) {
            (b"makeConcatWithConstants", Some(Loadable::Str(it))) => it.bytes().to_vec(),
            (b"makeConcat", _) => vec![1; operands.len()],
            _ => return Vec::new(),
        };
        let mut constants = site.args.iter().skip(1);
        for byte in recipe {
            let next = match byte {
                1 => operands.next().map(|&it| self.strings(at, it, depth)).unwrap_or_default(),
                2 => match constants.next() {
                    Some(Loadable::Str(it)) => vec![it.bytes().to_vec()],
                    _ => Vec::new(),
                },
                it => vec![vec![it]],
            };
            acc = concatenated(&acc, &next);
        }
        acc
    }

    /// Returns the values that a `StringBuilder` or `StringBuffer` has at the instruction `at`.
    fn built(&mut self, at: InstrId, e: ExprId, depth: usize) -> Vec<Vec<u8>> {
        match self.new_builder(at, e, depth) {
            Some(made) => self.appended(made, at, depth + 1),
            None => Vec::new(),
        }
    }

    /// Returns the values with which a new builder begins.
    fn initial(&mut self, made: InstrId, operands: &[ExprId], depth: usize) -> Vec<Vec<u8>> {
        match *operands {
            [] => vec![Vec::new()],
            [text] => match self.strings(made, text, depth + 1) {
                // The argument is the capacity.
                it if it.is_empty() && matches!(self.body.exprs[text], Expr::Int(_)) => vec![Vec::new()],
                it => it,
            },
            _ => Vec::new(),
        }
    }

    /// Returns the values that the builder which the instruction `made` creates has at the instruction `at`, on the paths
    /// from one to the other on which no exception is raised.
    fn appended(&mut self, made: InstrId, at: InstrId, depth: usize) -> Vec<Vec<u8>> {
        let body = self.body;
        let Instr::New(_, _, operands) = body.instrs[made] else { return Vec::new() };
        let next = ordinal(made) + 1;
        let initial = self.initial(made, body.operands(operands), depth);
        // Short paths come first, so that a loop that appends does not hide the paths that leave it.
        let mut pending: VecDeque<(u32, Vec<u8>)> = initial.into_iter().map(|it| (next, it)).collect();
        let mut seen: FxHashSet<(u32, Vec<u8>)> = FxHashSet::default();
        let mut appends: FxHashMap<u32, Option<Vec<Vec<u8>>>> = FxHashMap::default();
        let mut acc = Vec::new();
        while let Some((number, text)) = pending.pop_front() {
            if number == ordinal(at) {
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
                    let it = self.append(instr_id(number), made, depth);
                    appends.insert(number, it.clone());
                    it
                }
            };
            let texts = match more {
                Some(more) => concatenated(&[text], &more),
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
    fn append(&mut self, id: InstrId, made: InstrId, depth: usize) -> Option<Vec<Vec<u8>>> {
        let Instr::Call(_, _, method, operands) = self.body.instrs[id] else { return None };
        let &[builder, ref rest @ ..] = self.body.operands(operands) else { return None };
        if !is_of_builder(method) || rest.is_empty() || self.new_builder(id, builder, depth + 1) != Some(made)
        {
            return None;
        }
        // Of other changes nothing is known, so the paths end there.
        Some(match *rest {
            [text] if is_append(method) => self.strings(id, text, depth + 1),
            _ => Vec::new(),
        })
    }

    /// Returns the instruction that creates the builder that is the value of `e`, if there is only one.
    fn new_builder(&mut self, at: InstrId, e: ExprId, depth: usize) -> Option<InstrId> {
        let found = self.found(at, e, depth);
        let [(id, ref found)] = found[..] else { return None };
        match *found {
            Found::New => Some(id),
            Found::Call(method, &[builder, _]) if is_append(method) => {
                self.new_builder(id, builder, depth + 1)
            }
            Found::Expr(_) | Found::Call(..) | Found::Dynamic(..) | Found::Array(..) | Found::Other => None,
        }
    }

    /// Returns the names of the classes whose names are values of a string.
    fn named(&mut self, at: InstrId, e: ExprId) -> Vec<ClassName> {
        self.strings(at, e, 0).iter().filter_map(|it| class_of_name(it)).collect()
    }

    /// Returns the values of a class object, as field descriptors.
    fn classes(&mut self, at: InstrId, e: ExprId, depth: usize) -> Vec<Vec<u8>> {
        let known = &*CLASSES;
        let body = self.body;
        let mut acc: Vec<Vec<u8>> = Vec::new();
        for (at, found) in self.found(at, e, depth) {
            match found {
                Found::Expr(e) => match body.exprs[e] {
                    Expr::Class(class) => acc.push(descriptor(class)),
                    Expr::Static(field) => acc.extend(
                        primitive(field.get().class)
                            .filter(|_| field.get().name.bytes() == b"TYPE")
                            .map(|it| vec![it]),
                    ),
                    _ => {}
                },
                Found::Call(method, operands) => {
                    let it = method.get();
                    let is_name = it.descriptor.bytes().starts_with(b"(Ljava/lang/String;");
                    match (it.name.bytes(), operands) {
                        (b"forName", &[name, ..]) if it.class == known.class && is_name => {
                            let names = self.strings(at, name, depth + 1);
                            acc.extend(names.iter().filter_map(|it| class_of_name(it)).map(descriptor));
                        }
                        (b"loadClass" | b"findClass", &[_, name, ..]) if is_name => {
                            let names = self.strings(at, name, depth + 1);
                            acc.extend(names.iter().filter_map(|it| class_of_name(it)).map(descriptor));
                        }
                        (b"asSubclass", &[class, _]) if it.class == known.class => {
                            acc.extend(self.classes(at, class, depth + 1));
                        }
                        (b"getClass", &[of]) => {
                            let mut found = Vec::new();
                            self.reaching.sources(at, of, |source, _| found.push(source));
                            let exact =
                                found.into_iter().filter_map(|it| class_of(body, it).filter(|it| it.1));
                            acc.extend(exact.map(|it| descriptor(it.0)));
                        }
                        _ => {}
                    }
                }
                Found::New | Found::Dynamic(..) | Found::Array(..) | Found::Other => {}
            }
        }
        acc.truncate(MAX_VALUES);
        acc
    }

    /// Returns the descriptors of the classes in an array, one after another; `None` if they are not known.
    fn array(&mut self, at: InstrId, e: ExprId, depth: usize) -> Option<Vec<u8>> {
        let found = self.found(at, e, depth);
        let [(made, ref found)] = found[..] else { return None };
        let (array, length) = match *found {
            Found::Expr(e) => return (self.body.exprs[e] == Expr::Null).then(Vec::new),
            Found::Array(array, length) => (array, length),
            Found::Call(..) | Found::New | Found::Dynamic(..) | Found::Other => return None,
        };
        let Expr::Int(length @ 0..=255) = self.body.exprs[length] else { return None };
        let mut elements: Vec<Option<Vec<u8>>> = vec![None; length as usize];
        for id in (ordinal(made) + 1..ordinal(at)).map(instr_id) {
            let Instr::SetElem(_, of, index, value) = self.body.instrs[id] else { continue };
            if self.body.exprs[of] != Expr::Var(array) {
                continue;
            }
            let Expr::Int(index) = self.body.exprs[index] else { return None };
            let mut classes = self.classes(id, value, depth + 1);
            let class = classes.pop().filter(|_| classes.is_empty())?;
            *elements.get_mut(usize::try_from(index).ok()?)? = Some(class);
        }
        Some(elements.into_iter().collect::<Option<Vec<Vec<u8>>>>()?.concat())
    }

    /// Returns the parameter types of a method type, one after another; `None` if they are not known.
    fn method_type(&mut self, at: InstrId, e: ExprId, depth: usize) -> Option<Vec<u8>> {
        let found = self.found(at, e, depth);
        let [(at, ref found)] = found[..] else { return None };
        match *found {
            Found::Expr(e) => match self.body.exprs[e] {
                Expr::MethodType(it) => Some(parameters(it.bytes())?.to_vec()),
                _ => None,
            },
            Found::Call(method, operands) if method.class() == CLASSES.method_type => {
                if method.name().bytes() != b"methodType" {
                    return None;
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
            Found::Call(..) | Found::New | Found::Dynamic(..) | Found::Array(..) | Found::Other => None,
        }
    }

    /// Returns the members that the value of an expression stands for: an object of `java.lang.reflect`, or a method
    /// handle.
    fn members(&mut self, at: InstrId, e: ExprId, depth: usize) -> Vec<Reflected> {
        let known = &*CLASSES;
        let mut acc = Vec::new();
        for (at, found) in self.found(at, e, depth) {
            let (method, operands) = match found {
                Found::Call(method, operands) => (method.get(), operands),
                Found::Expr(e) => {
                    acc.extend(self.constant_handle(e));
                    continue;
                }
                Found::New | Found::Dynamic(..) | Found::Array(..) | Found::Other => continue,
            };
            let depth = depth + 1;
            match (method.name.bytes(), operands) {
                (b"getMethod" | b"getDeclaredMethod", &[class, name, types])
                    if method.class == known.class =>
                {
                    let types = self.array(at, types, depth);
                    acc.extend(self.methods(at, (class, name), types.as_deref(), depth));
                }
                (b"getConstructor" | b"getDeclaredConstructor", &[class, types])
                    if method.class == known.class =>
                {
                    let types = self.array(at, types, depth);
                    acc.extend(self.constructors(at, class, types.as_deref(), depth));
                }
                (b"findVirtual" | b"findStatic" | b"findSpecial", &[_, class, name, of_type, ..])
                    if method.class == known.lookup =>
                {
                    let types = self.method_type(at, of_type, depth);
                    acc.extend(self.methods(at, (class, name), types.as_deref(), depth));
                }
                (b"findConstructor", &[_, class, of_type]) if method.class == known.lookup => {
                    let types = self.method_type(at, of_type, depth);
                    acc.extend(self.constructors(at, class, types.as_deref(), depth));
                }
                (b"unreflect" | b"unreflectSpecial" | b"unreflectConstructor", &[_, of, ..])
                    if method.class == known.lookup =>
                {
                    acc.extend(self.members(at, of, depth));
                }
                // Other methods of the handle, or of MethodHandles, make a handle that calls the first one.
                (_, &[of, ..]) if method.class == known.handle || method.class == known.handles => {
                    acc.extend(self.members(at, of, depth));
                }
                _ => {}
            }
        }
        acc.truncate(MAX_VALUES);
        acc
    }

    fn constant_handle(&self, e: ExprId) -> Option<Reflected> {
        let Expr::MethodHandle(it) = self.body.exprs[e] else { return None };
        let handle = self.body.handles.get(it as usize)?;
        let member = handle.member.get();
        let types = || Some(Name::new(parameters(member.descriptor.bytes())?));
        match handle.kind {
            HandleKind::GetField | HandleKind::PutField => None,
            HandleKind::GetStatic | HandleKind::PutStatic => Some(Reflected::Class(member.class)),
            HandleKind::NewInvokeSpecial => Some(Reflected::Constructor(member.class, types())),
            HandleKind::InvokeVirtual
            | HandleKind::InvokeStatic
            | HandleKind::InvokeSpecial
            | HandleKind::InvokeInterface => Some(Reflected::Method(member.class, member.name, types())),
        }
    }

    fn methods(
        &mut self,
        at: InstrId,
        (class, name): (ExprId, ExprId),
        types: Option<&[u8]>,
        depth: usize,
    ) -> Vec<Reflected> {
        let names = self.strings(at, name, depth);
        let classes = self.classes(at, class, depth);
        let mut acc = Vec::new();
        for class in classes.iter().filter_map(|it| class_name(it)) {
            acc.extend(names.iter().map(|it| Reflected::Method(class, Name::new(it), types.map(Name::new))));
        }
        acc
    }

    fn constructors(
        &mut self,
        at: InstrId,
        class: ExprId,
        types: Option<&[u8]>,
        depth: usize,
    ) -> Vec<Reflected> {
        let classes = self.classes(at, class, depth);
        let classes = classes.iter().filter_map(|it| class_name(it));
        classes.map(|it| Reflected::Constructor(it, types.map(Name::new))).collect()
    }
}

fn is_of_builder(method: MethodRef) -> bool {
    method.class() == CLASSES.builder || method.class() == CLASSES.buffer
}

fn is_append(method: MethodRef) -> bool {
    is_of_builder(method) && method.name().bytes() == b"append"
}

/// Returns all strings that consist of one of `left` and one of `right`.
fn concatenated(left: &[Vec<u8>], right: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| [&left[..], right].concat()));
    pairs.filter(|it| it.len() <= MAX_LENGTH).take(MAX_VALUES).collect()
}

fn replaced(text: &[u8], from: u8, to: u8) -> Vec<u8> {
    text.iter().map(|&it| if it == from { to } else { it }).collect()
}

/// Returns the class of this name, which is written with dots. Returns `None` if no class outside an array has the name.
fn class_of_name(name: &[u8]) -> Option<ClassName> {
    let is_part = |it: &[u8]| !it.is_empty() && !it.iter().any(|it| matches!(it, b'/' | b';' | b'['));
    name.split(|it| *it == b'.').all(is_part).then(|| ClassName::new(&replaced(name, b'.', b'/')))
}

/// Returns the field descriptor of a class or array.
fn descriptor(class: ClassName) -> Vec<u8> {
    if class.is_array() { class.bytes().to_vec() } else { [b"L", class.bytes(), b";"].concat() }
}

/// Returns the class of a field descriptor; `None` if that is an array or a primitive type.
fn class_name(descriptor: &[u8]) -> Option<ClassName> {
    Some(ClassName::new(descriptor.strip_prefix(b"L")?.strip_suffix(b";")?))
}

/// Returns the part of a method descriptor between the parentheses.
fn parameters(descriptor: &[u8]) -> Option<&[u8]> {
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
