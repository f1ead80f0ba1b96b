//! The inputs of the database, and the only place that sets them. It compares each new value with the old one first,
//! because salsa does not: setting an equal value would recompute everything that depends on it.
//!
//! **Edited classes are kept apart from classes that were never edited.** After an edit, salsa checks everything that
//! may have changed, which is every class whose input has the same durability as the input that was set. Therefore a
//! class has an input of medium durability until its first edit. The first edit creates a second input of low
//! durability for the same file, which replaces the first one. The first input is not written to, keeps its memoized
//! values, and is used again when the old content returns.

use std::sync::Arc;

use analysis::input::{Contents, Library, Part, Settings, World};
use program::input::{ClassFile, Container, Role};
use rustc_hash::{FxHashMap, FxHashSet};
use salsa::{Durability, Setter};
use vfs::file::FileId;
use vfs::identity::EntryIdentity;

use crate::change::{Change, ContainerId, ContainerListing, Listing};
use crate::db::RootDatabase;
use crate::lists::ClassList;

/// All inputs of the database.
#[derive(Default)]
pub(crate) struct Inputs {
    /// The current input of each class file.
    pub(crate) files: Arc<FxHashMap<FileId, ClassFile>>,
    /// The containers whose classes are separate inputs.
    pub(crate) lists: FxHashMap<ContainerId, ClassList>,
    /// The libraries and platforms: containers that are a single input each.
    pub(crate) libraries: Arc<FxHashMap<ContainerId, Library>>,
    /// For each file that was edited, the second of its two inputs, which is currently not in use. The input in use
    /// is in `files`.
    others: FxHashMap<FileId, ClassFile>,
    /// The inputs of low durability, that is, those whose content an edit has set.
    edited: FxHashSet<ClassFile>,
    /// The inputs of classes that were removed. They are reused for new classes, because salsa never frees an input.
    /// Until its reuse, an input keeps its content and memoized values.
    free: FxHashMap<Container, FreeSlots>,
    world: Option<World>,
}

/// Inputs that currently belong to no class, by the hash of the content that they still have.
type FreeSlots = FxHashMap<EntryIdentity, Vec<ClassFile>>;

/// Files, each with the input that it had and the input that it has now.
type Replaced = Vec<(FileId, ClassFile, ClassFile)>;

/// New contents of class files: hash and bytes.
type NewContents = FxHashMap<FileId, (EntryIdentity, Arc<[u8]>)>;

/// The Java release assumed before the client sets any settings.
const DEFAULT_RELEASE: u16 = 25;

impl Inputs {
    /// Applies the change. Returns the files whose class changed or is new.
    pub(crate) fn apply(&mut self, db: &mut RootDatabase, change: Change) -> Vec<FileId> {
        let contents: NewContents =
            change.classes.into_iter().map(|(file, hash, bytes)| (file, (hash, bytes))).collect();
        let mut edited = Vec::new();
        if let Some(containers) = &change.containers {
            self.set_containers(db, containers, &contents, &mut edited);
        }
        let mut replaced = FxHashMap::<Container, Vec<_>>::default();
        for (file, (hash, bytes)) in contents {
            let Some(&class) = self.files.get(&file) else { continue };
            if class.hash(db) != hash {
                edited.push(file);
                let now = self.edit(db, (file, class), hash, bytes);
                if now != class {
                    replaced.entry(class.container(db)).or_default().push((file, class, now));
                }
            }
        }
        self.replace(db, replaced);
        if let Some(settings) = change.settings {
            self.set_settings(db, settings);
        }
        edited
    }

    fn set_containers(
        &mut self,
        db: &mut RootDatabase,
        listings: &[Listing],
        contents: &NewContents,
        edited: &mut Vec<FileId>,
    ) {
        self.release_vanished(db, listings);
        let mut order = Vec::with_capacity(listings.len());
        for listing in listings {
            order.push(match listing {
                Listing::Classes(it) => Part::Classes(self.set_classes(db, it, contents, edited)),
                Listing::Library { id, role, contents } => {
                    Part::Library(self.library(db, *id, *role, contents))
                }
            });
        }
        match self.world {
            Some(world) if *world.parts(db) == *order => {}
            Some(world) => {
                world.set_parts(db).with_durability(Durability::HIGH).to(order.into());
            }
            None => self.world = Some(new_world(db, order)),
        }
    }

    fn set_classes(
        &mut self,
        db: &mut RootDatabase,
        listing: &ContainerListing,
        contents: &NewContents,
        edited: &mut Vec<FileId>,
    ) -> Container {
        let role = listing.role;
        let mut list = self.lists.remove(&listing.id).unwrap_or_else(|| ClassList::new(db, role));
        list.set_role(db, role);
        let container = list.container;
        let mut classes = Vec::with_capacity(listing.classes.len());
        for &file in &listing.classes {
            let known = self.files.get(&file).copied();
            let class = match (known, contents.get(&file)) {
                (Some(it), _) => it,
                (None, Some(content)) => {
                    edited.push(file);
                    self.new_class(db, container, file, content)
                }
                // The contents were not reported yet, so the class does not exist yet.
                (None, None) => continue,
            };
            if known.is_none() {
                Arc::make_mut(&mut self.files).insert(file, class);
            }
            classes.push((file, class));
        }
        list.set(db, &classes, |file, class| self.unedited(file, class));
        self.lists.insert(listing.id, list);
        container
    }

    /// Of the inputs of the file, returns the one whose content was never edited; returns `class` if there is none.
    /// `class` is the input in use.
    fn unedited(&self, file: FileId, class: ClassFile) -> ClassFile {
        let is_unedited = |it: &ClassFile| !self.edited.contains(it);
        Some(class)
            .filter(is_unedited)
            .or(self.others.get(&file).copied().filter(is_unedited))
            .unwrap_or(class)
    }

    fn library(
        &mut self,
        db: &mut RootDatabase,
        id: ContainerId,
        role: Role,
        contents: &Arc<Contents>,
    ) -> Library {
        let Some(&it) = self.libraries.get(&id) else {
            let it = Library::builder(role, Arc::clone(contents)).durability(Durability::HIGH).new(db);
            Arc::make_mut(&mut self.libraries).insert(id, it);
            return it;
        };
        if it.role(db) != role {
            it.set_role(db).with_durability(Durability::HIGH).to(role);
        }
        if !Arc::ptr_eq(it.contents(db), contents) {
            it.set_contents(db).with_durability(Durability::HIGH).to(Arc::clone(contents));
        }
        it
    }

    /// Makes inputs available for reuse: those of files that no container lists any more, or that another container
    /// lists now.
    fn release_vanished(&mut self, db: &RootDatabase, listings: &[Listing]) {
        let of_classes = listings.iter().filter_map(|it| match it {
            Listing::Classes(it) => Some(it),
            Listing::Library { .. } => None,
        });
        let listed: FxHashSet<(FileId, Option<Container>)> = of_classes
            .flat_map(|it| {
                let container = self.lists.get(&it.id).map(|it| it.container);
                it.classes.iter().map(move |&file| (file, container))
            })
            .collect();
        let gone: Vec<(FileId, ClassFile)> = self
            .files
            .iter()
            .map(|(&file, &class)| (file, class))
            .filter(|&(file, class)| !listed.contains(&(file, Some(class.container(db)))))
            .collect();
        if gone.is_empty() {
            return;
        }
        for (file, class) in gone {
            Arc::make_mut(&mut self.files).remove(&file);
            let free = self.free.entry(class.container(db)).or_default();
            for it in std::iter::once(class).chain(self.others.remove(&file)) {
                free.entry(it.hash(db)).or_default().push(it);
            }
        }
    }

    /// Returns an input for a file that has none yet.
    fn new_class(
        &mut self,
        db: &mut RootDatabase,
        container: Container,
        file: FileId,
        content: &(EntryIdentity, Arc<[u8]>),
    ) -> ClassFile {
        if let Some(it) = self.free_slot(db, container, file, content) {
            return it;
        }
        let (hash, bytes) = content;
        let durability = match container.role(db) {
            Role::App => Durability::MEDIUM,
            Role::Lib | Role::Jdk => Durability::HIGH,
        };
        ClassFile::builder(container, file, *hash, Arc::clone(bytes)).durability(durability).new(db)
    }

    /// Takes one of the container's inputs that belong to no class, preferably one that already has this content, and
    /// gives it the content; `None` if there is no such input.
    fn free_slot(
        &mut self,
        db: &mut RootDatabase,
        container: Container,
        file: FileId,
        (hash, bytes): &(EntryIdentity, Arc<[u8]>),
    ) -> Option<ClassFile> {
        let class = self.free.get_mut(&container).and_then(|it| take_slot(it, *hash))?;
        if class.file(db) != file {
            class.set_file(db).with_durability(Durability::LOW).to(file);
        }
        if class.hash(db) != *hash {
            self.set_content(db, class, *hash, Arc::clone(bytes));
        }
        Some(class)
    }

    /// Changes the content of a file and returns the input that the file has now.
    fn edit(
        &mut self,
        db: &mut RootDatabase,
        (file, class): (FileId, ClassFile),
        hash: EntryIdentity,
        bytes: Arc<[u8]>,
    ) -> ClassFile {
        let other = self.others.get(&file).copied();
        let now = match other {
            Some(it) if it.hash(db) == hash => it,
            _ if self.edited.contains(&class) => {
                self.set_content(db, class, hash, bytes);
                return class;
            }
            Some(it) => {
                self.set_content(db, it, hash, bytes);
                it
            }
            None => {
                let (container, content) = (class.container(db), (hash, bytes));
                let free = self.free_slot(db, container, file, &content);
                let made = free.unwrap_or_else(|| {
                    let (hash, bytes) = content;
                    ClassFile::new(db, container, file, hash, bytes)
                });
                self.edited.insert(made);
                made
            }
        };
        self.others.insert(file, class);
        Arc::make_mut(&mut self.files).insert(file, now);
        now
    }

    /// Sets the content of an input, which has low durability from then on.
    fn set_content(
        &mut self,
        db: &mut RootDatabase,
        class: ClassFile,
        hash: EntryIdentity,
        bytes: Arc<[u8]>,
    ) {
        class.set_hash(db).with_durability(Durability::LOW).to(hash);
        class.set_bytes(db).with_durability(Durability::LOW).to(bytes);
        self.edited.insert(class);
    }

    /// Replaces inputs by other inputs of the same files, in the class lists of the containers. `replaced` has the
    /// replacements of each container.
    fn replace(&mut self, db: &mut RootDatabase, mut replaced: FxHashMap<Container, Replaced>) {
        for list in self.lists.values() {
            if let Some(it) = replaced.remove(&list.container) {
                list.replace(db, &it);
            }
        }
    }

    fn set_settings(&mut self, db: &mut RootDatabase, settings: Settings) {
        match self.world {
            Some(world) if **world.settings(db) == settings => {}
            Some(world) => {
                world.set_settings(db).with_durability(Durability::HIGH).to(Arc::new(settings));
            }
            None => {
                let world = World::builder(Arc::default(), Arc::new(settings)).durability(Durability::HIGH);
                self.world = Some(world.new(db));
            }
        }
    }
}

fn new_world(db: &RootDatabase, order: Vec<Part>) -> World {
    let settings = Arc::new(Settings::new(crate::WorldKind::Open, DEFAULT_RELEASE));
    World::builder(order.into(), settings).durability(Durability::HIGH).new(db)
}

/// Takes one of the inputs that belong to no class; `None` if there is none. Prefers an input whose content has this
/// hash, because its memoized values are valid again.
fn take_slot(free: &mut FreeSlots, hash: EntryIdentity) -> Option<ClassFile> {
    let key = if free.contains_key(&hash) { hash } else { *free.keys().next()? };
    let slots = free.get_mut(&key)?;
    let slot = slots.pop();
    if slots.is_empty() {
        free.remove(&key);
    }
    slot
}
