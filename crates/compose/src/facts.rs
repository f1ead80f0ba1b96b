//! The facts of one method of a document that composition needs: compact, so that all methods of a program fit in
//! memory.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::json::Json;
use super::types::{NameId, Names, Part, Piece};

/// The facts of a method that composition needs.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: NameId,
    pub(super) class: NameId,
    /// The number of the document that contains the method.
    pub(super) document: usize,
    pub(super) is_constructor: bool,
    pub(super) access: Access,
    /// The exceptions that are known to leave the method.
    pub(super) known: BTreeSet<Part>,
    pub(super) calls: Vec<Call>,
    /// The nodes with open sets, in document order.
    pub(super) opens: Vec<Open>,
    /// For each normal node with calls, the known exceptions of these calls, whether or not the method catches them.
    pub(super) known_at: FxHashMap<u32, BTreeSet<Part>>,
}

/// The access flags that decide whether a call that names this method certainly runs exactly this method.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Access {
    pub(super) is_public: bool,
    pub(super) is_static: bool,
    pub(super) is_final: bool,
    pub(super) is_private: bool,
    pub(super) class_is_public: bool,
    pub(super) class_is_final: bool,
    pub(super) class_is_interface: bool,
}

/// A call and its targets.
#[derive(Debug)]
pub(super) struct Call {
    /// The id of the node of the call instruction, which is a normal node; `None` for a call without an instruction.
    pub(super) node: Option<u32>,
    pub(super) kind: Kind,
    pub(super) declared: Option<NameId>,
    pub(super) targets: Vec<NameId>,
    /// Whether the members `targets` and `open` of the document describe all targets of the call.
    pub(super) is_plain: bool,
    pub(super) open: Openness,
}

/// The kind of a call, as far as composition distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Static,
    Special,
    Virtual,
    Interface,
    Other,
}

/// Whether a call may go to unknown methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Openness {
    No,
    /// The call may go to unknown methods, because this class is absent.
    Outside(NameId),
    /// The call may go to unknown methods, because the initialiser of this class is absent.
    Initializer(NameId),
    Yes,
}

/// A node with an open set.
#[derive(Debug)]
pub(super) struct Open {
    /// The id of the normal node that raises the exceptions.
    pub(super) at: u32,
    /// Whether the exceptions leave the method.
    pub(super) leaves: bool,
    /// Whether the exceptions were caught before and are thrown again.
    pub(super) caught: bool,
    pub(super) set: Piece,
}

/// An exceptional node of a document.
pub(super) struct Exceptional {
    /// The index of the node.
    pub(super) id: usize,
    /// The id of the normal node that raises the exceptions.
    pub(super) at: u32,
    pub(super) leaves: bool,
    pub(super) is_open: bool,
}

/// Returns the error `what` about a missing or malformed part of a method.
fn odd<T>(what: &str) -> Result<T, String> {
    Err(what.to_owned())
}

/// Returns the exceptional nodes of a method.
pub(super) fn exceptional(method: &Json) -> Result<Vec<Exceptional>, String> {
    let (Some(Json::Array(nodes)), Some(Json::Array(edges))) = (method.get("nodes"), method.get("edges"))
    else {
        return odd("the method has no list of nodes or no list of edges");
    };
    let mut raised: FxHashMap<u32, u32> = FxHashMap::default();
    for edge in edges {
        let ends = (edge.get("from").and_then(Json::number), edge.get("to").and_then(Json::number));
        let (Some(from), Some(to)) = ends else {
            return odd("an edge of the method has no valid `from` or `to`");
        };
        if from as usize >= nodes.len() || to as usize >= nodes.len() {
            return odd("an edge of the method leads from or to a node that the method does not have");
        }
        if edge.get("kind").and_then(Json::text) == Some(b"exception") {
            raised.entry(to).or_insert(from);
        }
    }
    let mut acc = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        if node.get("id").and_then(Json::number) != Some(i as u32) {
            return odd("the id of a node differs from the node's index in the method");
        }
        let leaves = match node.get("kind").and_then(Json::text) {
            Some(b"exceptional") => false,
            Some(b"exceptional-return") => true,
            Some(b"normal" | b"return") => continue,
            _ => return odd("a node of the method has no valid kind"),
        };
        let Some(&at) = raised.get(&(i as u32)) else {
            return odd("no edge of the method leads to one of its nodes with exceptions");
        };
        // Missing members must not be mistaken for empty ones.
        let Some(open) = node.get("open") else { return odd("a node with exceptions has no member `open`") };
        let Some(Json::Array(_)) = node.get("exception") else {
            return odd("a node with exceptions has no list `exception`");
        };
        let is_open = *open != Json::Null;
        acc.push(Exceptional { id: i, at, leaves, is_open });
    }
    Ok(acc)
}

/// Returns the exceptions (classes and cones) in a JSON list.
pub(super) fn parts(names: &mut Names, list: Option<&Json>) -> Result<BTreeSet<Part>, String> {
    let part = |it: &Json| {
        let (Some(class), Some(Json::Bool(cone))) = (it.get("type").and_then(Json::text), it.get("cone"))
        else {
            return odd("an exception of the method has no valid `type` or `cone`");
        };
        Ok(Part { class: names.id(class), cone: *cone })
    };
    list.map(Json::items).unwrap_or_default().iter().map(part).collect()
}

impl Method {
    /// Returns the call at a node if there is exactly one, and whether there is any call at the node.
    pub(super) fn call_at(&self, node: u32) -> (Option<&Call>, bool) {
        // Calls are in the order of their instructions, which is that of their nodes.
        let start = self.calls.partition_point(|it| it.node.is_none_or(|it| it < node));
        let mut here = self.calls[start..].iter().take_while(|it| it.node == Some(node));
        match (here.next(), here.next()) {
            (None, _) => (None, false),
            (first, None) => (first, true),
            _ => (None, true),
        }
    }

    /// Reads the facts of a method.
    pub(super) fn read(names: &mut Names, method: &Json, document: usize) -> Result<Method, String> {
        let Some(text) = method.get("method").and_then(Json::text) else {
            return odd("the method has no valid name");
        };
        let Some((class, rest)) = split(text) else { return odd("the method has no valid name") };
        let nodes = method.get("nodes").map(Json::items).unwrap_or_default();
        let Some(Json::Array(calls)) = method.get("calls") else {
            return odd("the method has no list of calls");
        };
        let calls: Vec<Call> = calls.iter().map(|it| Call::read(names, it)).collect::<Result<_, _>>()?;
        // Calls must be sorted by node for `call_at`.
        if !calls.is_sorted_by_key(|it| it.node) {
            return odd("the calls of the method are not sorted by node");
        }
        let (mut known, mut opens) = (BTreeSet::new(), Vec::new());
        let mut known_at: FxHashMap<u32, BTreeSet<Part>> =
            calls.iter().filter_map(|it| Some((it.node?, BTreeSet::new()))).collect();
        for it in exceptional(method)? {
            let Some(node) = nodes.get(it.id) else { continue };
            let within = parts(names, node.get("exception"))?;
            if it.is_open {
                let reason = node.get("open").and_then(|it| it.get("reason")).and_then(Json::text);
                let set = Piece { within, except: parts(names, node.get("except"))? };
                opens.push(Open { at: it.at, leaves: it.leaves, caught: reason == Some(b"caught"), set });
            } else {
                if let Some(all) = known_at.get_mut(&it.at) {
                    all.extend(&within);
                }
                if it.leaves {
                    known.extend(within);
                }
            }
        }
        Ok(Method {
            name: names.id(text),
            class: names.id(class),
            document,
            is_constructor: rest.starts_with(b"<init>"),
            access: Access::read(method),
            known,
            calls,
            opens,
            known_at,
        })
    }
}

/// Splits `p/C.m(I)V` into the class, and the name with descriptor.
pub(super) fn split(method: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = method.iter().position(|&it| it == b'(')?;
    let dot = method[..end].iter().rposition(|&it| it == b'.')?;
    Some((&method[..dot], &method[dot + 1..]))
}

impl Access {
    fn read(method: &Json) -> Access {
        let has = |list: &str, word: &str| {
            let words = method.get(list).map(Json::items).unwrap_or_default();
            words.iter().any(|it| it.text() == Some(word.as_bytes()))
        };
        Access {
            is_public: has("access", "public"),
            is_static: has("access", "static"),
            is_final: has("access", "final"),
            is_private: has("access", "private"),
            class_is_public: has("class_access", "public"),
            class_is_final: has("class_access", "final"),
            class_is_interface: has("class_access", "interface"),
        }
    }
}

impl Call {
    fn read(names: &mut Names, call: &Json) -> Result<Call, String> {
        let is_empty = |key: &str| call.get(key).is_some_and(|it| it.items().is_empty());
        let mut targets = Vec::new();
        for it in call.get("targets").map(Json::items).unwrap_or_default() {
            let Some(text) = it.text() else { return odd("a target of a call is not a string") };
            targets.push(names.id(text));
        }
        let kind = match call.get("kind").and_then(Json::text) {
            Some(b"static") => Kind::Static,
            Some(b"special") => Kind::Special,
            Some(b"virtual") => Kind::Virtual,
            Some(b"interface") => Kind::Interface,
            Some(_) => Kind::Other,
            None => return odd("a call has no valid kind"),
        };
        let open = match call.get("open") {
            Some(Json::Null) => Openness::No,
            Some(open) => {
                match (open.get("reason").and_then(Json::text), open.get("name").and_then(Json::text)) {
                    (Some(b"outside"), Some(name)) => Openness::Outside(names.id(name)),
                    (Some(b"initializer"), Some(name)) => Openness::Initializer(names.id(name)),
                    _ => Openness::Yes,
                }
            }
            None => return odd("a call has no member `open`"),
        };
        Ok(Call {
            node: call.get("node").and_then(Json::number),
            kind,
            declared: call.get("declared").and_then(Json::text).map(|it| names.id(it)),
            targets,
            is_plain: is_empty("glue") && is_empty("possible"),
            open,
        })
    }
}
