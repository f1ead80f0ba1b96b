//! A JDK image as a container, with its class candidates sorted by module, package and name.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use vfs::jimage::index::Resource;
use vfs::manifest::Manifest;
use vfs::naming::name_text;

use crate::container::{ClassEntry, LoadedContainer, Loader, Place, Store};
use crate::image_map::ImageMap;
use crate::problem::Problem;
use ide::Role;

/// A limit on the total length of the class names in a JDK image, as a multiple of the size of the image. Classes
/// beyond the limit are left out. In real images the total length is a fraction of the size.
const MAX_NAMES: usize = 16;

/// Returns whether `start`, the first bytes of a file, are those of a JDK image, in either byte order.
pub(crate) fn is_image(start: &[u8]) -> bool {
    start.starts_with(&[0xCA, 0xFE, 0xDA, 0xDA]) || start.starts_with(&[0xDA, 0xDA, 0xFE, 0xCA])
}

/// Makes the container of a JDK image, with its classes sorted by module, package and name. Adds a problem for
/// resources that are left out.
pub(crate) fn list(
    map: Arc<ImageMap>,
    name: &str,
    role: Role,
    problems: &mut Vec<Problem>,
) -> LoadedContainer {
    let mut packages: FxHashMap<(&[u8], &[u8]), Vec<Resource<'_>>> = FxHashMap::default();
    let mut unreadable = 0usize;
    let mut first = None;
    for resource in map.image().resources() {
        match resource {
            Ok(it) if it.is_class() => packages.entry((it.module, it.parent)).or_default().push(it),
            Ok(_) => {}
            Err(error) => {
                unreadable += 1;
                first.get_or_insert(error);
            }
        }
    }
    if let Some(error) = first {
        let what = format!(
            "{unreadable} resources of the image have no readable location (the first: {error}); they are left out"
        );
        problems.push(Problem::error(name, what));
    }
    // An image is in hash order. Sorting packages first is cheaper than sorting long names with common prefixes.
    let mut packages: Vec<_> = packages.into_iter().collect();
    packages.sort_unstable_by_key(|&(package, _)| package);
    let mut classes = Vec::new();
    // Names share their parts, so a small image can spell out many long names.
    let mut room = map.image().size().saturating_mul(MAX_NAMES);
    for (_, mut resources) in packages {
        resources.sort_by_key(|it| it.base);
        let names = resources.iter().fold(0, |acc: usize, it| acc.saturating_add(it.name_len()));
        let Some(rest) = room.checked_sub(names) else {
            let what = format!(
                "the image is damaged: the names of its classes would take more than {MAX_NAMES} \
                 times the size of the image; the remaining classes are left out"
            );
            problems.push(Problem::error(name, what));
            break;
        };
        room = rest;
        classes.extend(resources.iter().map(class_entry));
    }
    let (name, prefix) = (name.to_owned(), name.to_owned());
    LoadedContainer {
        name,
        role,
        classes,
        has_paths: true,
        platform: true,
        loader: Loader::Other,
        manifest: Manifest::default(),
        ignored_versions: 0,
        prefix,
        store: Store::Image(map),
    }
}

fn class_entry(resource: &Resource<'_>) -> ClassEntry {
    let mut full = Vec::with_capacity(resource.name_len());
    resource.push_name(&mut full);
    let member = full.strip_prefix(b"/").unwrap_or(&full);
    let root = if resource.module.is_empty() { 0 } else { name_text(resource.module).len() + 1 };
    ClassEntry {
        member: name_text(member).into(),
        root_len: u32::try_from(root).unwrap_or(0),
        place: Place::Image(resource.location),
        size: resource.location.size,
    }
}

/// Returns the feature release of a JDK image, according to the class-file version of its `java/lang/Object` (JVMS
/// table 4.1-A); `None` if this class cannot be found or read.
pub(crate) fn feature_of(map: &ImageMap) -> Option<u16> {
    use crate::container::Scratch;
    let object = map.image().find(b"/java.base/java/lang/Object.class")?;
    let mut scratch = Scratch::new();
    let bytes = scratch.image_content(map, &object.location)?;
    let major = u16::from_be_bytes(bytes.get(6..8)?.try_into().ok()?);
    major.checked_sub(44)
}
