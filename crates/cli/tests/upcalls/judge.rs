//! Judges the answers of ajar by the stacks of a run.

use std::collections::{BTreeMap, BTreeSet};

use crate::world::{Answers, Frame, Program, Said, Stack, class_of, unshifted};

/// How ajar explains the call of a generated method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum How {
    /// The call in the program names the method.
    Named,
    /// Each call on the way through the JDK names the next method.
    NamedInside,
    /// The call in the program is open.
    Marked,
    /// A call of the JDK on the way is open, and those before it name the next method.
    MarkedInside,
    /// The calling method is not reached, so a mark explains it.
    Above,
    /// A mark explains the call that initialised the class of the method or made an object of it.
    Assumed,
}

/// What was found over all programs.
#[derive(Default, Debug)]
pub(crate) struct Counts {
    /// The number of different calls by kind of program and by explanation.
    pub(crate) explained: BTreeMap<(&'static str, How), usize>,
    /// The number of methods that ran.
    pub(crate) ran: usize,
    /// The number of methods that are reached and did not run.
    pub(crate) idle: usize,
    /// The methods that ran and are not reached, by kind of program.
    pub(crate) unreached: BTreeMap<&'static str, BTreeSet<String>>,
    /// The number of methods that the JVM never calls, by whether they are reached.
    pub(crate) never: BTreeMap<bool, usize>,
    /// The calls without an explanation, by kind of program.
    pub(crate) faults: Vec<(&'static str, String)>,
}

/// A call to explain: the stack from the called method to the next generated method, or to the bottom.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Observed {
    stack: Stack,
    /// Whether the last frame is of a generated method.
    has_site: bool,
    kind: &'static str,
}

/// Judges the answers about some programs.
pub(crate) fn judge(
    mut answers: Answers<'_>,
    programs: &[Program],
    stacks: &BTreeSet<Stack>,
    counts: &mut Counts,
) {
    let packages: BTreeSet<&str> = programs.iter().map(|it| it.package.as_str()).collect();
    let is_of = |it: &Frame| it.method.split('/').next().is_some_and(|it| packages.contains(it));
    let (mut all, mut ran) = (BTreeSet::new(), BTreeSet::new());
    for stack in stacks.iter().filter(|it| is_of(&it[0])) {
        let stack = unshifted(stack, |it| answers.is_own(it));
        let end = (1..stack.len()).find(|&it| answers.is_own(&stack[it].method));
        // Services of a part are also loaded by programs of other parts.
        if end.is_some_and(|it| !is_of(&stack[it])) {
            continue;
        }
        ran.insert(stack[0].method.clone());
        let kind = kind(programs, &stack);
        let stack = stack[..end.map_or(stack.len(), |it| it + 1)].to_vec();
        all.insert(Observed { stack, has_site: end.is_some(), kind });
    }
    // Constructors and initialisers come first, because they tell which classes are made by calls with marks.
    let (makers, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|it| it.stack[0].method.contains(".<"));
    let mut marked = BTreeSet::new();
    for it in makers.iter().chain(&others).filter(|it| it.stack.len() > 1) {
        let callee = &it.stack[0].method;
        match explained(&mut answers, it, &marked) {
            Ok(how) => {
                if how > How::NamedInside && callee.contains(".<") {
                    marked.insert(class_of(callee).to_owned());
                }
                *counts.explained.entry((it.kind, how)).or_default() += 1;
                if !answers.reached.contains(callee) && !is_values(callee) {
                    counts.unreached.entry(it.kind).or_default().insert(callee.clone());
                }
            }
            Err(why) => counts.faults.push((it.kind, format!("{why}: {}", shown(&it.stack)))),
        }
    }
    counts.ran += ran.len();
    counts.idle += answers.reached.difference(&ran).count();
    for it in programs.iter().flat_map(|it| &it.never).filter(|it| answers.has_class_of(it)) {
        if ran.contains(it) {
            counts.faults.push(("generator", format!("{it} ran, although it should never run")));
        }
        *counts.never.entry(answers.reached.contains(it)).or_default() += 1;
    }
}

/// Whether this is the method `values` of an enum. The JDK calls it by reflection for sets and maps of enums. It only
/// copies an array, and no rule says when it is reached.
fn is_values(method: &str) -> bool {
    method.contains(".values()[L")
}

/// The kind of the item whose method is on the stack.
fn kind(programs: &[Program], stack: &Stack) -> &'static str {
    for frame in stack {
        for program in programs {
            let main = format!("{}/Main.", program.package);
            let Some(method) = frame.method.strip_prefix(&main) else { continue };
            let name = method.split('(').next().unwrap();
            if let Some(it) = program.items.iter().find(|it| it.0 == name) {
                return it.1;
            }
        }
    }
    // A thread runs the method. Its package tells the kind if all items of the program are of one kind.
    let of = programs.iter().find(|it| stack[0].method.starts_with(&format!("{}/", it.package)));
    let kinds: BTreeSet<&str> = of.into_iter().flat_map(|it| &it.items).map(|it| it.1).collect();
    if kinds.len() == 1 { kinds.into_iter().next().unwrap() } else { "thread" }
}

/// Returns how ajar explains a call; an error if it does not. The classes `marked` were made by calls with marks.
fn explained(answers: &mut Answers<'_>, it: &Observed, marked: &BTreeSet<String>) -> Result<How, String> {
    let callee = &it.stack[0].method;
    let how = chain(answers, it);
    let is_reached = answers.reached.contains(callee);
    match how {
        Ok(How::Named | How::NamedInside) if !is_reached => Err("named, but not reached".to_owned()),
        Err(_) if marked.contains(class_of(callee)) && answers.has_receiver(callee) => Ok(How::Assumed),
        Err(why) if is_reached => Err(format!("reached, but {why}")),
        // Calls of `callbacks.tsv` are marked at the call in the program, not only inside the JDK.
        Ok(How::MarkedInside) if it.kind == "names" && !answers.has_receiver(callee) => {
            Err("only a call inside the JDK is open".to_owned())
        }
        it => it,
    }
}

fn chain(answers: &mut Answers<'_>, it: &Observed) -> Result<How, String> {
    let callee = &it.stack[0].method;
    let site = it.stack.last().filter(|_| it.has_site);
    if site.is_some_and(|it| !answers.reached.contains(&it.method)) {
        return Ok(How::Above);
    }
    let at_site = site.map_or(Said::Nothing, |it| answers.said(it, callee));
    if at_site == Said::Named {
        return Ok(How::Named);
    }
    // The VM and the JDK make classes at run time, which have no class files: function objects, proxies, accessors.
    let known: Vec<&Frame> = it.stack.iter().filter(|it| answers.has_class_of(&it.method)).collect();
    let mut inside = Ok(How::NamedInside);
    for pair in known.windows(2).rev() {
        let (callee, caller) = (pair[0], pair[1]);
        inside = match answers.said(caller, &callee.method) {
            Said::Named => continue,
            Said::Open => Ok(How::MarkedInside),
            Said::Nothing => Err(format!("{}@{} does not call {}", caller.method, caller.pc, callee.method)),
        };
        break;
    }
    match (inside, at_site) {
        (Ok(How::NamedInside), _) => Ok(How::NamedInside),
        (_, Said::Open) => Ok(How::Marked),
        (it, _) => it,
    }
}

fn shown(stack: &[Frame]) -> String {
    stack.iter().map(|it| format!("\n    {}@{}", it.method, it.pc)).collect()
}
