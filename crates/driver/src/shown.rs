//! The classes that results are about: those of the program that the JVM would find.

use rustc_hash::FxHashMap;

use crate::container::{LoadedContainer, is_descriptor};
use crate::world::LoadedWorld;
use ide::Role;

/// The classes of the program, divided into those that results are about, and those that are left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shown {
    /// The classes that results are about: for each, the index of its container and the index of its entry in the
    /// container; in class-path order, and in the order of the entries within a container.
    pub classes: Vec<(usize, usize)>,
    /// The classes that are left out of the program because the JVM does not find them: for each, the display path
    /// and the reason.
    pub left_out: Vec<(String, String)>,
}

/// Returns the classes of the program in class-path order, and separately those that are left out because the JVM
/// would not find them.
pub fn shown(world: &LoadedWorld) -> Shown {
    let mut first: FxHashMap<&str, &LoadedContainer> = FxHashMap::default();
    let mut shown = Shown::default();
    let last_app = world.containers.iter().rposition(|it| it.role == Role::App);
    let containers = world.containers.iter().take(last_app.map_or(0, |it| it + 1)).enumerate();
    for (i, container) in containers.map(|(i, it)| (i, &**it)) {
        for (j, entry) in container.classes.iter().enumerate() {
            // Each module has a `module-info` of its own.
            if container.has_paths && !is_descriptor(entry.path()) {
                if let Some(winner) = first.get(entry.path()) {
                    if container.role == Role::App && !std::ptr::eq(*winner, container) {
                        let text = format!(
                            "the class is left out: it is shadowed by the class of this name in {}",
                            winner.name
                        );
                        shown.left_out.push((container.display(entry), text));
                        continue;
                    }
                } else {
                    first.insert(entry.path(), container);
                }
            }
            if container.role == Role::App {
                shown.classes.push((i, j));
            }
        }
    }
    shown
}
