//! A second implementation of Fig. 4, as simple as possible: it uses sets of names, and draws every graph from
//! scratch until nothing changes. It shares bodies and the types of thrown values with the tested code, but no rule.

use std::collections::{BTreeMap, BTreeSet};

use bir::body::{CallKind, Instr, InstrId, ordinal};
use classfile::flags::Flags;
use flow::thrown::Term;

use crate::gamma::{Gamma, parts};
use analysis::parts::MethodCode;

/// A node: pc, exception, and whether it is a return node.
pub(crate) type Point = (u32, Option<String>, bool);
/// An edge with its label; `None` is ε.
pub(crate) type Edge = (Point, Option<String>, Point);
/// A graph, as its set of edges.
pub(crate) type Edges = BTreeSet<Edge>;

struct Method {
    flags: Flags,
    throws: Vec<String>,
    handlers: Option<Vec<String>>,
    code: Option<MethodCode>,
}

struct Class {
    super_class: Option<String>,
    interfaces: Vec<String>,
    api: bool,
    methods: BTreeMap<String, Method>,
}

/// An environment.
pub(crate) struct Reference {
    classes: BTreeMap<String, Class>,
    /// Whether the environment is closed: then no method of the program may be unavailable, except native ones.
    closed: bool,
    exceptions: BTreeSet<String>,
}

impl Reference {
    pub(crate) fn new(gamma: &Gamma, closed: bool) -> Self {
        let mut classes = BTreeMap::new();
        for class in &gamma.classes {
            let (parts, methods) = parts(&class.bytes);
            let outline = parts.outline().unwrap();
            let codes = methods.into_iter().map(|it| it.code.and_then(Result::ok).map(|it| it.0));
            let methods = outline.methods.iter().zip(codes).map(|(it, code)| {
                let handlers = it.ghost.as_ref().or(outline.ghost.as_ref()).map(|it| {
                    it.handlers
                        .iter()
                        .flat_map(|it| it.iter())
                        .map(|it| it.to_string().replace('.', "/"))
                        .collect()
                });
                let method = Method {
                    flags: it.flags,
                    throws: it.throws.iter().map(|it| it.to_string()).collect(),
                    handlers,
                    code,
                };
                (format!("{}{}", it.name, it.descriptor), method)
            });
            let methods = methods.collect();
            classes.entry(outline.class.to_string()).or_insert(Class {
                super_class: outline.super_class.map(|it| it.to_string()),
                interfaces: outline.interfaces.iter().map(|it| it.to_string()).collect(),
                api: class.api,
                methods,
            });
        }
        let mut acc = Reference { classes, closed, exceptions: BTreeSet::new() };
        acc.exceptions =
            acc.classes.keys().filter(|it| acc.below(it, "java/lang/Throwable")).cloned().collect();
        acc
    }

    /// Whether a <: b.
    pub(crate) fn below(&self, a: &str, b: &str) -> bool {
        a == b
            || self.classes.get(a).is_some_and(|it| {
                it.super_class.iter().chain(&it.interfaces).any(|above| self.below(above, b))
            })
    }

    pub(crate) fn cone(&self, x: &str) -> BTreeSet<String> {
        self.exceptions.iter().filter(|it| self.below(it, x)).cloned().collect()
    }

    /// Whether the method is in dom(Γ^M) or belongs to the API.
    fn defines(&self, class: &str, ns: &str) -> bool {
        let Some(class) = self.classes.get(class) else { return false };
        class.methods.get(ns).is_some_and(|it| class.api || !it.flags.is_abstract())
    }

    fn closest(&self, class: &str, ns: &str) -> BTreeSet<String> {
        let name = |it: &str| format!("{it}.{ns}");
        let mut interfaces = Vec::new();
        let mut at = Some(class.to_owned());
        while let Some(class) = at {
            if self.defines(&class, ns) {
                return BTreeSet::from([name(&class)]);
            }
            let Some(it) = self.classes.get(&class) else { return BTreeSet::from([name(&class)]) };
            interfaces.extend(it.interfaces.clone());
            at = it.super_class.clone();
        }
        while !interfaces.is_empty() {
            let found: BTreeSet<String> =
                interfaces.iter().filter(|it| self.defines(it, ns)).map(|it| name(it)).collect();
            if !found.is_empty() {
                return found;
            }
            interfaces = interfaces.iter().flat_map(|it| self.classes[it].interfaces.clone()).collect();
        }
        BTreeSet::new()
    }

    pub(crate) fn mca(&self, is_virtual: bool, class: &str, ns: &str) -> BTreeSet<String> {
        let mut acc = self.closest(class, ns);
        if is_virtual {
            let below = self.classes.keys().filter(|it| self.defines(it, ns) && self.below(it, class));
            acc.extend(below.map(|it| format!("{it}.{ns}")));
        }
        acc
    }

    fn split(method: &str) -> (&str, &str) {
        let end = method.find('(').unwrap();
        let dot = method[..end].rfind('.').unwrap();
        (&method[..dot], &method[dot + 1..])
    }

    /// Returns the available methods with their code.
    fn available(&self) -> impl Iterator<Item = (String, &MethodCode)> {
        self.classes.iter().filter(|it| !it.1.api).flat_map(|(class, it)| {
            it.methods.iter().filter_map(move |(ns, it)| {
                let code = it.code.as_ref().filter(|_| it.handlers.is_none() && !it.flags.is_abstract())?;
                Some((format!("{class}.{ns}"), code))
            })
        })
    }

    /// Returns all graphs, by method.
    pub(crate) fn graphs(&self) -> BTreeMap<String, Edges> {
        let mut graphs: BTreeMap<String, Edges> = self.available().map(|it| (it.0, Edges::new())).collect();
        loop {
            let next: BTreeMap<String, Edges> =
                self.available().map(|(name, code)| (name, self.graph(code, &graphs))).collect();
            if next == graphs {
                return graphs;
            }
            graphs = next;
        }
    }

    /// Returns N of one callee: its label and its exceptions.
    fn n(&self, method: &str, graphs: &BTreeMap<String, Edges>) -> (Option<String>, BTreeSet<String>) {
        if let Some(graph) = graphs.get(method) {
            let out = graph.iter().filter(|it| it.2.2).filter_map(|it| it.2.1.clone());
            return (Some(method.to_owned()), out.collect());
        }
        let (class, ns) = Self::split(method);
        let class = self.classes.get(class);
        if let Some(class) = class.filter(|it| it.api) {
            return (None, class.methods[ns].throws.iter().flat_map(|it| self.cone(it)).collect());
        }
        if method == "java/lang/Object.<init>()V" || (method.starts_with('[') && ns.starts_with("clone")) {
            return (None, BTreeSet::new());
        }
        let native = class.is_some_and(|it| it.methods[ns].flags.is_native());
        assert!(!self.closed || native || method.starts_with("java/"), "{method} is not available");
        let mut all = self.exceptions.clone();
        for x in class.and_then(|it| it.methods[ns].handlers.as_ref()).into_iter().flatten() {
            // A simple name is the name of a class in java.lang.
            let simple = format!("java/lang/{x}");
            let never = match x.as_str() {
                "any" => self.exceptions.clone(),
                x if self.exceptions.contains(x) => self.cone(x),
                _ => self.cone(&simple),
            };
            all.retain(|it| !never.contains(it));
        }
        (Some(method.to_owned()), all)
    }

    fn h(&self, acc: &mut Edges, code: &MethodCode, pc: InstrId, x: &str, label: &Option<String>) {
        let from = (ordinal(pc), None, false);
        let row = code
            .body
            .rows
            .iter()
            .find(|it| it.covers(pc) && it.catch_type.is_none_or(|it| self.below(x, &it.to_string())));
        match row {
            None => _ = acc.insert((from, label.clone(), (ordinal(pc), Some(x.to_owned()), true))),
            Some(row) => {
                let node = (ordinal(pc), Some(x.to_owned()), false);
                acc.insert((from, label.clone(), node.clone()));
                acc.insert((node, None, (ordinal(row.handler), None, false)));
            }
        }
    }

    fn graph(&self, code: &MethodCode, graphs: &BTreeMap<String, Edges>) -> Edges {
        let mut acc = Edges::new();
        let body = &code.body;
        for (pc, instr) in body.instrs.iter() {
            let at = |to: u32| (to, None::<String>, false);
            let here = at(ordinal(pc));
            body.jumps(instr, |to| _ = acc.insert((here.clone(), None, at(ordinal(to)))));
            let next = at(ordinal(pc) + 1);
            match instr {
                Instr::Return(_) => _ = acc.insert((here, None, (ordinal(pc), None, true))),
                Instr::Throw(_) => {
                    for (_, term) in code.facts.thrown(pc) {
                        let types = match term {
                            Term::Exact(it) | Term::Cone(it) => vec![it.to_string()],
                            Term::Caught(handler) => {
                                let rows = body.rows.iter().filter(|it| it.handler == *handler);
                                let all = "java/lang/Throwable".to_owned();
                                rows.map(|it| it.catch_type.map_or(all.clone(), |it| it.to_string()))
                                    .collect()
                            }
                        };
                        for x in types.iter().flat_map(|it| self.cone(it)) {
                            self.h(&mut acc, code, pc, &x, &None);
                        }
                    }
                }
                Instr::Assert(check) => {
                    acc.insert((here, None, next));
                    self.h(&mut acc, code, pc, &String::from_utf8_lossy(check.exception()), &None);
                }
                Instr::New(_, method, _) | Instr::Call(_, _, method, _) => {
                    let is_new = matches!(instr, Instr::New(..));
                    let virtual_ =
                        matches!(instr, Instr::Call(_, CallKind::Virtual | CallKind::Interface, ..));
                    let it = method.get();
                    let ns = format!("{}{}", it.name, it.descriptor);
                    for n in self.mca(virtual_, &it.class.to_string(), &ns) {
                        let (label, mut out) = self.n(&n, graphs);
                        acc.insert((here.clone(), label.clone(), next.clone()));
                        if is_new {
                            out.insert("java/lang/NullPointerException".to_owned());
                        }
                        out.iter().for_each(|x| self.h(&mut acc, code, pc, x, &label));
                    }
                }
                _ if instr.falls_through() => _ = acc.insert((here, None, next)),
                _ => {}
            }
        }
        acc
    }
}
