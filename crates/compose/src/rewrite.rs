//! Rewrites a method of a document according to the solution.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::facts::{Call, Exceptional, Method, Openness, exceptional};
use super::json::Json;
use super::solve::{Link, Program};
use super::types::{NameId, Names, Part, Piece, Value};

/// Returns the method as it is after composition: calls to methods of other documents have these methods as targets,
/// and the unknown exceptions of such calls are replaced by the exceptions of the targets.
///
/// # Errors
/// Fails if the method has changed since its document was first read.
pub(super) fn rewritten(program: &Program, method: Json) -> Result<Json, String> {
    let unknown = || "the method changed after the document was first read".to_owned();
    let name = method.get("method").and_then(Json::text).and_then(|it| program.names.known(it));
    let number = name.and_then(|it| program.by_name.get(&it)).copied().ok_or_else(unknown)?;
    let facts = program.methods.get(number).ok_or_else(unknown)?;
    let nodes = exceptional(&method)?;
    if nodes.iter().filter(|it| it.is_open).count() != facts.opens.len() {
        return Err(unknown());
    }
    let mut method = method;
    let refined = program.refines.then(|| graph(program, number, facts, &method, &nodes));
    let Json::Object(members) = &mut method else { return Err(unknown()) };
    let (mut new_nodes, mut new_edges) = refined.unzip();
    for (key, value) in members {
        match &**key {
            b"nodes" => *value = new_nodes.take().unwrap_or_else(|| std::mem::replace(value, Json::Null)),
            b"edges" => *value = new_edges.take().unwrap_or_else(|| std::mem::replace(value, Json::Null)),
            b"calls" => calls(program, facts, value)?,
            b"throws" if program.refines => *value = list(&program.names, &program.values[number].known),
            b"throws_open" if program.refines => *value = within(&program.names, &program.values[number]),
            _ => {}
        }
    }
    Ok(method)
}

/// Adds the targets that composition found to the calls, and removes the calls that run no code.
fn calls(program: &Program, facts: &Method, calls: &mut Json) -> Result<(), String> {
    let Json::Array(calls) = calls else { return Ok(()) };
    if calls.len() != facts.calls.len() {
        return Err("the calls of the method changed after the document was first read".to_owned());
    }
    let vanishes = |it: &Call| program.link(facts.name, it) == Link::Nothing;
    for (json, call) in calls.iter_mut().zip(&facts.calls) {
        let link = program.link(facts.name, call);
        let (Link::May(target) | Link::Only(target)) = link else { continue };
        let Json::Object(members) = json else { continue };
        for (key, value) in members {
            match (&**key, &mut *value) {
                (b"targets", Json::Array(targets)) => {
                    targets.push(Json::String(program.names.text(target).into()));
                    targets.sort_by(|a, b| a.text().cmp(&b.text()));
                }
                (b"open", open) => *open = openness(program, call, link, std::mem::replace(open, Json::Null)),
                _ => {}
            }
        }
    }
    let mut kept = facts.calls.iter().map(|it| !vanishes(it));
    calls.retain(|_| kept.next().unwrap_or(true));
    Ok(())
}

/// Returns the reason why a call is still open after composition. If the called class is present now, the reason is
/// that unknown classes may extend it.
fn openness(program: &Program, call: &Call, link: Link, before: Json) -> Json {
    let class = call.declared.and_then(|it| program.by_name.get(&it)).map(|&it| program.methods[it].class);
    match (link, class) {
        (Link::Only(_), _) => Json::Null,
        (_, Some(class)) if call.open == Openness::Outside(class) => {
            reason(&program.names, "overridable", Some(class))
        }
        _ => before,
    }
}

/// Returns the nodes and edges of the method after composition.
fn graph(
    program: &Program,
    number: usize,
    facts: &Method,
    method: &Json,
    exceptional: &[Exceptional],
) -> (Json, Json) {
    let nodes = method.get("nodes").map(Json::items).unwrap_or_default();
    let edges = method.get("edges").map(Json::items).unwrap_or_default();
    let values = program.nodes.get(number).map(Vec::as_slice).unwrap_or_default();
    // For each old node, the ids of its new nodes.
    let mut becomes: Vec<Vec<u32>> = Vec::with_capacity(nodes.len());
    let mut acc: Vec<Json> = Vec::with_capacity(nodes.len());
    let known = known_by_place(program, nodes, exceptional);
    let mut exceptions = exceptional.iter().peekable();
    let mut opens = facts.opens.iter().zip(values);
    for (i, node) in nodes.iter().enumerate() {
        let begin = acc.len() as u32;
        let here = exceptions.next_if(|it| it.id == i);
        let open = here.filter(|it| it.is_open).and_then(|_| opens.next());
        match (here, open) {
            (Some(here), Some((open, Some(value)))) => {
                let already = known.get(&(here.at, here.leaves)).cloned().unwrap_or_default();
                let fresh = value.known.iter().copied().filter(|&it| !program.types.is_in_some(it, &already));
                let fresh: BTreeSet<Part> = fresh.collect();
                if !fresh.is_empty() {
                    acc.push(with_set(program, node, &fresh, None));
                }
                if let Some(piece) = &value.open {
                    let callee = callee(program, facts, open.at).filter(|_| !open.caught);
                    let why = callee.map(|it| reason(&program.names, "callee", Some(it)));
                    let why = why.unwrap_or_else(|| node.get("open").cloned().unwrap_or(Json::Null));
                    acc.push(with_set(program, node, &piece.within, Some((piece, why))));
                }
            }
            _ => acc.push(node.clone()),
        }
        becomes.push((begin..acc.len() as u32).collect());
    }
    for (i, node) in acc.iter_mut().enumerate() {
        set(node, "id", number_of(i as u32));
    }
    (Json::Array(acc), Json::Array(moved(edges, &becomes)))
}

/// Returns the edges of the new graph, sorted by start. `becomes` maps each old node to its new nodes.
fn moved(edges: &[Json], becomes: &[Vec<u32>]) -> Vec<Json> {
    let mut acc: Vec<(u32, Json)> = Vec::with_capacity(edges.len());
    for edge in edges {
        let end = |key: &str| {
            let old = edge.get(key).and_then(Json::number).unwrap_or_default();
            becomes.get(old as usize).map(Vec::as_slice).unwrap_or_default()
        };
        for &from in end("from") {
            for &to in end("to") {
                let mut edge = edge.clone();
                set(&mut edge, "from", number_of(from));
                set(&mut edge, "to", number_of(to));
                acc.push((from, edge));
            }
        }
    }
    acc.sort_by_key(|it| it.0);
    acc.into_iter().map(|it| it.1).collect()
}

/// Returns the known exceptions that each instruction raises, keyed by its node and by whether they leave the method.
fn known_by_place(
    program: &Program,
    nodes: &[Json],
    exceptional: &[Exceptional],
) -> FxHashMap<(u32, bool), BTreeSet<Part>> {
    let mut acc: FxHashMap<(u32, bool), BTreeSet<Part>> = FxHashMap::default();
    for it in exceptional.iter().filter(|it| !it.is_open) {
        let list = nodes.get(it.id).and_then(|it| it.get("exception"));
        acc.entry((it.at, it.leaves)).or_default().extend(known_parts(&program.names, list));
    }
    acc
}

fn known_parts(names: &Names, list: Option<&Json>) -> BTreeSet<Part> {
    let part = |it: &Json| {
        let class = names.known(it.get("type")?.text()?)?;
        Some(Part { class, cone: it.get("cone") == Some(&Json::Bool(true)) })
    };
    list.map(Json::items).unwrap_or_default().iter().filter_map(part).collect()
}

/// Returns a method that is called at node `at` and lets out unknown exceptions: the first by name, if there are
/// several; `None` if there is none.
fn callee(program: &Program, facts: &Method, at: u32) -> Option<NameId> {
    let call = facts.call_at(at).0?;
    let linked = match program.link(facts.name, call) {
        Link::Only(it) => vec![it],
        _ => call.targets.clone(),
    };
    let open = |it: &NameId| {
        let value = program.by_name.get(it).and_then(|&it| program.values.get(it));
        value.is_some_and(|it| it.open.is_some())
    };
    linked.into_iter().filter(open).min_by_key(|&it| program.names.text(it))
}

/// Returns `node` with its exceptions replaced by `parts`. If `open` is given, the new set is open: it excludes the
/// types that the open set in the pair excludes, and has the reason in the pair.
fn with_set(program: &Program, node: &Json, parts: &BTreeSet<Part>, open: Option<(&Piece, Json)>) -> Json {
    let Json::Object(members) = node else { return node.clone() };
    let mut acc = Vec::with_capacity(members.len());
    for (key, value) in members {
        let value = match &**key {
            b"exception" => list(&program.names, parts),
            b"except" => continue,
            b"open" => {
                if let Some((piece, _)) = open.as_ref().filter(|it| !it.0.except.is_empty()) {
                    acc.push((b"except".as_slice().into(), list(&program.names, &piece.except)));
                }
                open.as_ref().map_or(Json::Null, |it| it.1.clone())
            }
            _ => value.clone(),
        };
        acc.push((key.clone(), value));
    }
    Json::Object(acc)
}

fn set(object: &mut Json, key: &str, value: Json) {
    if let Json::Object(members) = object
        && let Some(it) = members.iter_mut().find(|it| *it.0 == *key.as_bytes())
    {
        it.1 = value;
    }
}

fn number_of(it: u32) -> Json {
    Json::Number(it.to_string().into_bytes().into())
}

fn member(key: &str, value: Json) -> (Box<[u8]>, Json) {
    (key.as_bytes().into(), value)
}

fn reason(names: &Names, word: &str, name: Option<NameId>) -> Json {
    let name = name.map_or(Json::Null, |it| Json::String(names.text(it).into()));
    Json::Object(vec![member("reason", Json::plain(word)), member("name", name)])
}

/// Returns classes and cones as a JSON list, sorted by name.
fn list(names: &Names, parts: &BTreeSet<Part>) -> Json {
    let mut parts: Vec<Part> = parts.iter().copied().collect();
    parts.sort_by_key(|it| (names.text(it.class), it.cone));
    let part = |it: Part| {
        let class = Json::String(names.text(it.class).into());
        Json::Object(vec![member("type", class), member("cone", Json::Bool(it.cone))])
    };
    Json::Array(parts.into_iter().map(part).collect())
}

fn within(names: &Names, value: &Value) -> Json {
    let Some(piece) = &value.open else { return Json::Null };
    Json::Object(vec![
        member("within", list(names, &piece.within)),
        member("except", list(names, &piece.except)),
    ])
}
