//! A program in a keeper that is asked, after each change, only about what may have changed, and a program built from
//! scratch for comparison.

use std::collections::HashMap;
use std::sync::Arc;

use analysis::keeper::{Advance, Keeper};
use analysis::stamps::Kind;
use analysis::tiers::{ClassKey, Tier};
use analysis::whole::method;
use analysis::whole::missing::missing_classes;
use analysis::whole::sets::Sets;
use analysis::whole::solved::SolvedProgram;
use ide::answer::{MethodAnswer, Question, class_answer};
use ide::entries::{EntryRequest, Receivers};
use ide::whole::{ClassRecord, Setup, Whole, read_class};
use ide::{
    Graph, MethodCode, Missing, Packages, RaisedSet, Role, Scratch, Settings, WholeOptions, WorldKind,
};
use program::members::MethodId;

pub(crate) fn in_world(world: WorldKind) -> WholeOptions {
    WholeOptions {
        world,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    }
}

pub(crate) fn fresh(classes: &[Vec<u8>], options: WholeOptions) -> (Vec<ClassRecord>, Whole) {
    fresh_from(classes, options, None)
}

/// A search for reached code: the entry points, and the classes whose objects count as receivers.
pub(crate) type Search = (EntryRequest, Receivers);

/// Like [`fresh`]; with `search`, calls go only to the receivers of the search.
pub(crate) fn fresh_from(
    classes: &[Vec<u8>],
    options: WholeOptions,
    search: Option<&Search>,
) -> (Vec<ClassRecord>, Whole) {
    let records: Vec<ClassRecord> =
        classes.iter().map(|it| read_class(it, &mut Scratch::default()).unwrap()).collect();
    let receivers = search.map_or(Receivers::Created, |it| it.1);
    let entries = search.map(|it| &it.0);
    let setup = Setup { options, packages: &Packages::default(), entries, receivers, solve: true };
    let whole = Whole::joined(with_roles(records.clone()), &setup).unwrap();
    (records, whole)
}

/// All answers about the program.
pub(crate) fn answers(whole: &Whole, classes: &[Vec<u8>]) -> Vec<String> {
    let mut work = whole.work();
    let mut acc = Vec::new();
    for class in classes {
        for it in methods(class) {
            acc.push(format!("{} {}", it.method, whole.is_ghost(it.method)));
            let throws = whole.throws(&mut work, it.method);
            assert!(
                throws.iter().filter_map(|it| it.open.as_ref()).all(|it| !it.within.is_empty()),
                "{throws:?}"
            );
            acc.push(format!("{throws:?} {}", whole.is_reached(it.method)));
            acc.push(format!("{:?} {:?}", it.method, whole.calls(it.method, &it.code)));
            acc.push(graph_text(&whole.graph(&mut work, it.method, &it.code, false)));
        }
    }
    acc
}

/// The methods of a class that have code.
pub(crate) fn methods(class: &[u8]) -> Vec<MethodAnswer> {
    let question = Question { select: &|_| true, graphs: false, clock: None };
    class_answer(class, &question, &mut Scratch::default()).unwrap().methods
}

pub(crate) fn graph_text(graph: &Graph) -> String {
    let something = |it: &RaisedSet| !it.parts.is_empty();
    assert!(graph.sets.iter().all(something), "a set contains no exception: {graph:?}");
    let set = |it| format!("{:?}", graph.set(it));
    let nodes = graph.cfg.nodes.iter().map(|it| match it.kind {
        ide::NodeKind::Exceptional(of) | ide::NodeKind::ExceptionalReturn(of) => set(of),
        _ => String::new(),
    });
    format!("{:?} {:?} {:?}", graph.cfg.edges, nodes.collect::<Vec<_>>(), graph.throws)
}

/// A program in a keeper, and its last answers. Only answers that may have changed are queried again, so the
/// comparison also tests which answers are reported as possibly changed.
pub(crate) struct Kept {
    pub(crate) keeper: Keeper,
    pub(crate) settings: Arc<Settings>,
    pub(crate) said: HashMap<(String, Kind), Said>,
}

/// The answers about the methods of one class, the generation since when they are valid, and the class file that they
/// are about.
pub(crate) struct Said {
    since: u64,
    bytes: Vec<u8>,
    texts: Vec<String>,
}

impl Kept {
    pub(crate) fn new(options: WholeOptions, search: Option<Search>) -> Kept {
        let mut settings = Settings::new(options.world, 17);
        settings.options = options;
        (settings.entries, settings.receivers) = search.unzip();
        Kept { keeper: Keeper::default(), settings: Arc::new(settings), said: HashMap::new() }
    }

    /// Advances to these records, each with a number that stays the same.
    pub(crate) fn advance(&self, records: &[(ClassRecord, Role)], numbers: &[usize]) -> Advance {
        self.advance_until(records, numbers, u32::MAX).unwrap()
    }

    /// Like [`Kept::advance`], but cancelled at the `n_polls`th check for cancellation.
    pub(crate) fn advance_until(
        &self,
        records: &[(ClassRecord, Role)],
        numbers: &[usize],
        n_polls: u32,
    ) -> Option<Advance> {
        let mut tiers: Vec<(Role, Vec<_>)> = Vec::new();
        for ((record, role), number) in records.iter().zip(numbers) {
            if tiers.last().is_none_or(|it| it.0 != *role) {
                tiers.push((*role, Vec::new()));
            }
            let of = (Some(ClassKey(*number as u32)), record.clone());
            tiers.last_mut().unwrap().1.push(of);
        }
        let tiers = tiers.into_iter().map(|(role, records)| Tier { role, records: records.into() });
        let mut left = n_polls;
        let mut cancelled = || {
            left -= 1;
            left == 0
        };
        self.keeper.advance(&self.settings, tiers.collect(), &mut cancelled).ok().map(|it| it.1)
    }

    /// The answers about the methods with code of one class. They are recomputed if they may have changed.
    pub(crate) fn of_class(
        &mut self,
        bytes: &[u8],
        methods: &[MethodAnswer],
        kind: Kind,
        ask: impl Fn(&SolvedProgram, &mut Sets, MethodId, &MethodCode) -> String,
    ) -> Vec<String> {
        let class = read_class(bytes, &mut Scratch::default()).unwrap().class();
        let program = self.keeper.current().unwrap();
        let answers = program.read();
        let since = answers.stamp_of(class, kind);
        let key = (class.to_string(), kind);
        let known = self.said.get(&key).filter(|it| it.since == since && it.bytes == bytes);
        if let Some(it) = known {
            return it.texts.clone();
        }
        let texts: Vec<String> = answers.ask(class, kind, |whole, work| {
            methods
                .iter()
                .map(|it| ask(whole, work, whole.calls.classes.named(it.method).unwrap(), &it.code))
                .collect()
        });
        let said = Said { since, bytes: bytes.to_vec(), texts: texts.clone() };
        self.said.insert(key, said);
        texts
    }

    /// All answers about the program, in the form of [`answers`].
    pub(crate) fn answers(&mut self, classes: &[Vec<u8>]) -> Vec<String> {
        let mut acc = Vec::new();
        for class in classes {
            let methods = methods(class);
            let throws = self.of_class(class, &methods, Kind::Throws, |whole, work, id, _| {
                let is_reached = whole.calls.reachable.as_ref().is_none_or(|it| it.from(id).is_some());
                format!("{:?} {is_reached}", Some(method::throws(whole, work, id)))
            });
            let calls = self.of_class(class, &methods, Kind::Calls, |whole, _, id, code| {
                format!(
                    "{:?} {:?}",
                    whole.calls.classes.name(id),
                    method::calls(&whole.calls, id, Some(code))
                )
            });
            let graphs = self.of_class(class, &methods, Kind::Graphs, |whole, work, id, code| {
                if whole.calls.classes.ghost(id).is_some() {
                    return graph_text(&Graph::default());
                }
                graph_text(&method::graph(whole, work, id, Some(code)))
            });
            let program = self.keeper.current().unwrap();
            let is_ghost = |it: &MethodAnswer| {
                let answers = program.read();
                let classes = &answers.solved().calls.classes;
                classes.named(it.method).is_some_and(|it| classes.ghost(it).is_some())
            };
            for (i, it) in methods.iter().enumerate() {
                acc.push(format!("{} {}", it.method, is_ghost(it)));
                acc.extend([&throws, &calls, &graphs].map(|it| it[i].clone()));
            }
        }
        acc
    }

    /// Whether there is an entry point.
    pub(crate) fn has_entries(&self) -> bool {
        let program = self.keeper.current().unwrap();
        program.read().solved().calls.reachable.as_ref().is_some_and(|it| !it.entries.is_empty())
    }

    pub(crate) fn missing(&self) -> Vec<Missing> {
        missing_classes(&self.keeper.current().unwrap().read().solved().calls)
    }

    pub(crate) fn passed_over(&self) -> Vec<(usize, usize)> {
        self.keeper.current().unwrap().read().solved().calls.classes.passed_over.to_vec()
    }
}

/// Gives each record a role: the class of the platform that some tests add is the JDK's.
pub(crate) fn with_roles(records: Vec<ClassRecord>) -> Vec<(ClassRecord, Role)> {
    let is_platforms = |it: &ClassRecord| it.class().to_string() == "java/lang/Class";
    let role = |it: &ClassRecord| if is_platforms(it) { Role::Jdk } else { Role::App };
    records.into_iter().map(|it| (it.clone(), role(&it))).collect()
}
