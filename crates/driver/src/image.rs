//! A JDK image as a container: its class candidates by module and name.

use std::path::Path;
use std::sync::Arc;

use vfs::naming::name_text;

use crate::container::{ClassEntry, LoadedContainer, Place, Role, Store};
use crate::image_map::ImageMap;
use crate::problem::Problem;

/// Does a file that begins so look like an image, of either byte order?
pub(crate) fn is_image(start: &[u8]) -> bool {
    start.starts_with(&[0xCA, 0xFE, 0xDA, 0xDA]) || start.starts_with(&[0xDA, 0xDA, 0xFE, 0xCA])
}

/// Opens an image.
pub(crate) fn open(
    path: &Path,
    name: &str,
    role: Role,
    problems: &mut Vec<Problem>,
) -> anyhow::Result<LoadedContainer> {
    let map = Arc::new(ImageMap::open(path)?);
    let mut classes = Vec::new();
    let mut unreadable = 0usize;
    let mut first = None;
    for resource in map.image().resources() {
        let resource = match resource {
            Ok(it) if it.is_class() => it,
            Ok(_) => continue,
            Err(error) => {
                unreadable += 1;
                first.get_or_insert(error);
                continue;
            }
        };
        let mut full = Vec::new();
        resource.push_name(&mut full);
        let member = full.strip_prefix(b"/").unwrap_or(&full);
        let root = if resource.module.is_empty() { 0 } else { name_text(resource.module).len() + 1 };
        classes.push(ClassEntry {
            member: name_text(member).into(),
            root_len: u32::try_from(root).unwrap_or(0),
            place: Place::Image(resource.location),
            size: resource.location.size,
        });
    }
    classes.sort_by(|a, b| (a.root(), a.path()).cmp(&(b.root(), b.path())));
    if let Some(error) = first {
        let what = format!(
            "{unreadable} resources of the image have no readable location, first: {error}; left out"
        );
        problems.push(Problem::error(name, what));
    }
    let (name, prefix) = (name.to_owned(), name.to_owned());
    Ok(LoadedContainer { name, role, classes, has_paths: true, prefix, store: Store::Image(map) })
}

/// The release whose compiler made `java/lang/Object` in this image (JVMS table 4.1-A), if it is there.
pub(crate) fn feature_of(path: &Path) -> Option<u16> {
    use crate::container::Scratch;
    let map = ImageMap::open(path).ok()?;
    let object = map.image().find(b"/java.base/java/lang/Object.class")?;
    let mut scratch = Scratch::new();
    let bytes = scratch.image_content(&map, &object.location)?;
    let major = u16::from_be_bytes(bytes.get(6..8)?.try_into().ok()?);
    major.checked_sub(44)
}
