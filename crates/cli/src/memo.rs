//! What was read of classes, from one cycle of `ajar watch` to the next.
//!
//! A class is known by its content: where it lies in the same container as before, or in one of the same name under an
//! equal identity, it is not read again. What cannot be read is not remembered: it is tried, and told, each time.

use std::sync::Arc;

use driver::container::{LoadedContainer, Scratch};
use ide::answer::ClassAnswer;
use ide::pattern::NoMatch;
use ide::whole::{ClassRecord, Setup, Whole};
use ide::{EntryIdentity, Packages, Role, WholeOptions};
use rustc_hash::FxHashMap;

/// What was read of a class.
#[derive(Clone)]
pub(crate) struct Remembered {
    /// What the rest of its program must know of it.
    pub(crate) record: ClassRecord,
    /// The answer about it, if it was shown.
    pub(crate) answer: Option<Arc<ClassAnswer>>,
    /// How many methods it has.
    pub(crate) methods: usize,
    /// The identity of what was read; none in a container that is known as a whole.
    pub(crate) identity: Option<EntryIdentity>,
}

/// What was read in the last cycle.
#[derive(Default)]
pub(crate) struct Memo {
    containers: Vec<Known>,
    /// The classes that the last cycle read, and their methods.
    pub(crate) read: (usize, usize),
    /// All classes and methods.
    pub(crate) all: (usize, usize),
    /// The program of the last cycle.
    whole: Option<Joined>,
}

/// A program, and what it was made of.
struct Joined {
    records: Vec<(ClassRecord, Role)>,
    options: WholeOptions,
    packages: Packages,
    whole: Arc<Whole>,
}

/// What is known of a container: by the number of the entry.
struct Known {
    container: Arc<LoadedContainer>,
    classes: Arc<Vec<Option<Remembered>>>,
}

/// What is known of the classes of a container, by the number of the entry.
pub(crate) type KnownClasses = Arc<Vec<Option<Remembered>>>;

impl Memo {
    /// What is known of the classes of these containers, by the numbers of container and entry.
    pub(crate) fn known(&self, containers: &[Arc<LoadedContainer>]) -> Vec<KnownClasses> {
        containers.iter().map(|it| self.of(it)).collect()
    }

    fn of(&self, container: &Arc<LoadedContainer>) -> KnownClasses {
        if let Some(known) = self.containers.iter().find(|it| Arc::ptr_eq(&it.container, container)) {
            return Arc::clone(&known.classes);
        }
        let mut acc = vec![None; container.classes.len()];
        let Some(known) = self.containers.iter().find(|it| it.container.name == container.name) else {
            return Arc::new(acc);
        };
        let classes = known.container.classes.iter().zip(&*known.classes);
        let before: FxHashMap<&str, &Remembered> =
            classes.filter_map(|(entry, it)| Some((entry.member(), it.as_ref()?))).collect();
        let mut scratch = Scratch::new();
        for (entry, slot) in container.classes.iter().zip(&mut acc) {
            let Some(&it) = before.get(entry.member()) else { continue };
            let now = container.identity(entry, &mut scratch).ok();
            if now.is_some() && now == it.identity {
                *slot = Some(it.clone());
            }
        }
        Arc::new(acc)
    }

    /// The program of these classes. That of the last cycle stays when all that it was made of is equal, as bodies may have
    /// changed in what nobody else can see; what is other is taken in, if it can be.
    ///
    /// # Errors
    /// Those of [`Whole::joined`].
    pub(crate) fn joined(
        &mut self,
        records: Vec<(ClassRecord, Role)>,
        setup: &Setup<'_>,
    ) -> Result<Arc<Whole>, NoMatch> {
        if let Some(mut last) = self.whole.take() {
            let same =
                setup.entries.is_none() && last.options == setup.options && last.packages == *setup.packages;
            let update = |it: &mut Whole| it.update(&last.records, &records);
            if same && Arc::get_mut(&mut last.whole).is_some_and(update) {
                let whole = Arc::clone(&last.whole);
                self.whole = Some(Joined { records, ..last });
                return Ok(whole);
            }
            // To free a program takes as long as to make a part of one; nobody waits for it. Without a thread it is freed here.
            let _ = std::thread::Builder::new().spawn(move || drop(last));
        }
        let whole = Arc::new(Whole::joined(records.clone(), setup)?);
        let (options, packages) = (setup.options, setup.packages.clone());
        self.whole = Some(Joined { records, options, packages, whole: Arc::clone(&whole) });
        Ok(whole)
    }

    /// Makes ready for the next change.
    pub(crate) fn keep_current(&mut self) {
        if let Some(whole) = self.whole.as_mut().and_then(|it| Arc::get_mut(&mut it.whole)) {
            whole.keep_current();
        }
    }

    /// What is known after a cycle that read `read` classes and methods.
    pub(crate) fn keep(
        &mut self,
        containers: &[Arc<LoadedContainer>],
        classes: Vec<KnownClasses>,
        read: (usize, usize),
    ) {
        let containers = containers.iter().cloned().zip(classes);
        self.containers = containers.map(|(container, classes)| Known { container, classes }).collect();
        self.read = read;
        let all = || self.containers.iter().flat_map(|it| &*it.classes).flatten();
        self.all = (all().count(), all().map(|it| it.methods).sum());
    }
}
