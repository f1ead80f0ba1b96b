//! Fig. 4 for closed environments with MCA over bytecode: the second implementation of Theorem 1, which shares only
//! `classfile` with the first. Where several BIR instructions stand for one bytecode instruction, its pc stands for
//! all of them.

use std::collections::{BTreeMap, BTreeSet};

use classfile::class::ClassFile;
use classfile::flags::Flags;

use crate::bytecode::{Body, Call, Row};

/// An edge: pc, label (`None` is ε), and target.
pub(crate) type Edge = (u32, Option<String>, To);

/// The target of an edge.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum To {
    Next(u32),
    Return,
    /// The method's exceptional exit, with the exception.
    Leaves(String),
    /// A handler, with the exception and the pc of the handler.
    Handler(String, u32),
}

struct Method {
    flags: Flags,
    throws: Vec<String>,
    body: Option<Body>,
}

struct Class {
    super_class: Option<String>,
    interfaces: Vec<String>,
    api: bool,
    methods: BTreeMap<String, Method>,
}

/// A closed environment.
pub(crate) struct Closed {
    classes: BTreeMap<String, Class>,
    exceptions: BTreeSet<String>,
}

impl Closed {
    /// Builds the environment of these class files; the flag says whether the class belongs to the API.
    pub(crate) fn new<'a>(files: impl Iterator<Item = (&'a [u8], bool)>) -> Closed {
        let mut acc = Closed { classes: BTreeMap::new(), exceptions: BTreeSet::new() };
        for (bytes, api) in files {
            let class = ClassFile::parse(bytes).unwrap();
            let name = class.this_class().unwrap().to_string();
            if acc.classes.contains_key(&name) {
                continue;
            }
            let interfaces = class.interfaces().map(|it| it.unwrap().to_string()).collect();
            let super_class = class.super_class().unwrap().map(|it| it.to_string());
            let methods = class.methods().map(|it| {
                let (method, code) = (it.member_ref().unwrap().get(), it.code().unwrap());
                let is_static = it.flags.is_static();
                let code = code.filter(|_| !api);
                let body = code.map(|it| Body::of(&it, &name, is_static, method.descriptor));
                let throws = it.attributes().class_list(b"Exceptions").unwrap();
                let throws = throws.into_iter().map(|it| it.to_string()).collect();
                (format!("{}{}", method.name, method.descriptor), Method { flags: it.flags, throws, body })
            });
            let methods = methods.collect();
            acc.classes.insert(name, Class { super_class, interfaces, api, methods });
        }
        let all = acc.classes.keys().filter(|it| acc.below(it, "java/lang/Throwable"));
        acc.exceptions = all.cloned().collect();
        acc
    }

    fn below(&self, a: &str, b: &str) -> bool {
        a == b
            || self
                .classes
                .get(a)
                .is_some_and(|it| it.super_class.iter().chain(&it.interfaces).any(|it| self.below(it, b)))
    }

    fn cone(&self, x: &str) -> BTreeSet<String> {
        self.exceptions.iter().filter(|it| self.below(it, x)).cloned().collect()
    }

    /// Returns the method c.ns if it is in dom(Γ^M) or belongs to the API.
    fn method(&self, class: &str, ns: &str) -> Option<&Method> {
        let class = self.classes.get(class)?;
        class.methods.get(ns).filter(|it| class.api || !it.flags.is_abstract())
    }

    /// Returns the closest super-types that have the method; an absent class is assumed to have it.
    fn closest(&self, class: &str, ns: &str) -> BTreeSet<String> {
        let has = |it: &&String| !self.classes.contains_key(*it) || self.method(it, ns).is_some();
        let (mut at, mut level) = (Some(class.to_owned()), Vec::new());
        while let Some(class) = at {
            if has(&&class) {
                return BTreeSet::from([class]);
            }
            level.extend(self.classes[&class].interfaces.clone());
            at = self.classes[&class].super_class.clone();
        }
        while !level.is_empty() {
            let found: BTreeSet<String> = level.iter().filter(has).cloned().collect();
            if !found.is_empty() {
                return found;
            }
            level = level.iter().flat_map(|it| self.classes[it].interfaces.clone()).collect();
        }
        BTreeSet::new()
    }

    /// Returns MCA of a call, as the classes of the methods.
    fn mca(&self, call: &Call) -> BTreeSet<String> {
        let mut acc = self.closest(&call.class, &call.ns);
        if call.is_virtual {
            let defines = |it: &&String| self.method(it, &call.ns).is_some() && self.below(it, &call.class);
            acc.extend(self.classes.keys().filter(defines).cloned());
        }
        acc
    }

    /// Returns the graphs of all methods; `kept` has the pcs of each method that are nodes.
    pub(crate) fn graphs(&self, kept: &BTreeMap<String, BTreeSet<u32>>) -> BTreeMap<String, BTreeSet<Edge>> {
        let bodies: Vec<(String, &Body)> = self
            .classes
            .iter()
            .flat_map(|(class, it)| it.methods.iter().map(move |it| (class, it)))
            .filter_map(|(class, it)| Some((format!("{class}.{}", it.0), it.1.body.as_ref()?)))
            .collect();
        let mut lets_out: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        loop {
            let mut graphs = BTreeMap::new();
            for (name, body) in &bodies {
                graphs.insert(name.clone(), self.graph(body, &lets_out, &kept[name]));
            }
            let leaves = |it: &Edge| match &it.2 {
                To::Leaves(x) => Some(x.clone()),
                _ => None,
            };
            let next: BTreeMap<&str, BTreeSet<String>> =
                bodies.iter().map(|it| (&*it.0, graphs[&it.0].iter().filter_map(leaves).collect())).collect();
            if next == lets_out {
                return graphs;
            }
            lets_out = next;
        }
    }

    /// Returns N of one callee: its label and its exceptions.
    fn n(
        &self,
        class: &str,
        ns: &str,
        lets_out: &BTreeMap<&str, BTreeSet<String>>,
    ) -> (Option<String>, BTreeSet<String>) {
        let name = format!("{class}.{ns}");
        match self.method(class, ns) {
            Some(it) if it.body.is_some() => {
                let out = lets_out.get(&*name).cloned().unwrap_or_default();
                (Some(name), out)
            }
            Some(it) if self.classes[class].api => {
                (None, it.throws.iter().flat_map(|it| self.cone(it)).collect())
            }
            // The callee is a native method, or a method of an absent class.
            found => {
                let quiet = name == "java/lang/Object.<init>()V"
                    || (class.starts_with('[') && ns.starts_with("clone"));
                let api = class.starts_with("java/") || class.starts_with('[');
                assert!(api || found.is_some_and(|it| it.flags.is_native()), "{name} is missing");
                let all = if quiet { BTreeSet::new() } else { self.exceptions.clone() };
                ((!api).then_some(name), all)
            }
        }
    }

    fn graph(
        &self,
        body: &Body,
        lets_out: &BTreeMap<&str, BTreeSet<String>>,
        kept: &BTreeSet<u32>,
    ) -> BTreeSet<Edge> {
        let mut acc: BTreeSet<Edge> = body.returns.iter().map(|&it| (it, None, To::Return)).collect();
        let mut h = |pc: u32, x: &str, label: &Option<String>| {
            let catches = |it: &&Row| it.class.as_ref().is_none_or(|it| self.below(x, it));
            let row = body.rows.iter().filter(|it| it.range.contains(&pc)).find(catches);
            let to = row.map_or(To::Leaves(x.to_owned()), |it| To::Handler(x.to_owned(), it.handler));
            acc.insert((pc, label.clone(), to));
        };
        for (pc, x, is_cone) in &body.raises {
            let all = if *is_cone { self.cone(x) } else { BTreeSet::from([x.clone()]) };
            all.iter().for_each(|x| h(*pc, x, &None));
        }
        let mut labels: BTreeMap<u32, BTreeSet<Option<String>>> = BTreeMap::new();
        for (&pc, call) in &body.calls {
            let labels = labels.entry(pc).or_default();
            for class in self.mca(call) {
                let (label, mut out) = self.n(&class, &call.ns, lets_out);
                out.extend(call.is_new.then(|| "java/lang/NullPointerException".to_owned()));
                out.iter().for_each(|x| h(pc, x, &label));
                labels.insert(label);
            }
        }
        // A call without targets does not return.
        let mut next = body.next.clone();
        next.retain(|pc, _| labels.get(pc).is_none_or(|it| !it.is_empty()));
        for (from, to) in contracted(&next, kept) {
            for label in labels.get(&from).unwrap_or(&BTreeSet::from([None])) {
                acc.insert((from, label.clone(), To::Next(to)));
            }
        }
        acc
    }
}

/// Returns the edges between kept pcs: an edge into another pc is continued along the edges of that pc. Self-loops
/// are left out.
pub(crate) fn contracted(next: &BTreeMap<u32, BTreeSet<u32>>, kept: &BTreeSet<u32>) -> BTreeSet<(u32, u32)> {
    let mut edges = BTreeSet::new();
    for (&from, first) in next.iter().filter(|it| kept.contains(it.0)) {
        let (mut seen, mut pending) = (BTreeSet::new(), Vec::from_iter(first.iter().copied()));
        while let Some(to) = pending.pop() {
            if kept.contains(&to) {
                edges.insert((from, to));
            } else if seen.insert(to) {
                pending.extend(next.get(&to).into_iter().flatten());
            }
        }
    }
    edges.retain(|it| it.0 != it.1);
    edges
}
