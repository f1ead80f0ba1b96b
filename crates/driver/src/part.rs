//! Makes parts from what is read. A part depends only on that, so it can be reused as long as that does not change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::archive::{ArchiveOpener, Found, Inner};
use crate::container::FileContent;
use crate::declared;
use crate::disk::{At, Part};
use crate::folder::{self, Files};
use crate::image;
use crate::image_map::ImageMap;
use crate::zip::Blob;

/// The kinds of files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// The image of a JDK.
    Image,
    /// A class file by itself.
    Class,
    /// An archive, or an unreadable file that should be one.
    Archive,
}

/// The kind of a file, given its path and first bytes.
pub(crate) fn kind_of(path: &Path, start: &[u8]) -> FileKind {
    if image::is_image(start) {
        FileKind::Image
    } else if start.starts_with(&[0xCA, 0xFE, 0xBA, 0xBE]) || path.extension().is_some_and(|it| it == "class")
    {
        FileKind::Class
    } else {
        FileKind::Archive
    }
}

/// Makes the part of an image.
pub(crate) fn image(at: &At<'_>, map: Arc<ImageMap>) -> Part {
    let mut part = Part::default();
    part.containers.push(Arc::new(image::list(map, at.name, at.role, &mut part.problems)));
    part
}

/// Makes the part of a class file given by itself, whose path tells nothing about its name.
pub(crate) fn class_file(at: &At<'_>, size: u64, content: Option<Arc<FileContent>>) -> Part {
    let container = folder::single(at, size, content);
    Part { containers: vec![Arc::new(container)], ..Part::default() }
}

/// Makes the part of an archive. `inner` has the inner archives that were inflated before, if there are any.
///
/// # Errors
/// The archive cannot be read at all; gives the reason.
pub(crate) fn archive(at: &At<'_>, blob: Blob, inner: Option<&mut Inner>) -> Result<Part, String> {
    let (mut found, mut problems) = (Found::default(), Vec::new());
    let mut opener = ArchiveOpener::new(at.release, &mut found, &mut problems, at.loader);
    opener.inner = inner;
    let manifest = opener.open(at.name, blob, at.role)?;
    let Found { mut containers, mut late, declared } = found;
    if at.platform {
        // The containers were just created, so they are not shared yet.
        let all = containers.iter_mut().chain(&mut late);
        all.filter_map(Arc::get_mut).for_each(|it| it.platform = true);
    }
    Ok(Part { containers, late, declared, problems, manifest })
}

/// Makes the part of a class folder.
pub(crate) fn folder(at: &At<'_>, skip: &[&str], files: &mut dyn Files) -> Part {
    let mut part = Part::default();
    part.containers.push(Arc::new(folder::open(at, skip, files, &mut part.problems)));
    declared::folder(at.path, at.role, &mut part.declared);
    part
}

/// Makes the part of a class folder that has changed only at these paths, which are relative to it. `None` if the
/// whole folder must be read again ([`folder::update`]).
pub(crate) fn updated_folder(
    at: &At<'_>,
    skip: &[&str],
    files: &mut dyn Files,
    before: &Part,
    paths: &[PathBuf],
) -> Option<Part> {
    let [container] = before.containers.as_slice() else { return None };
    let container = folder::update(at, skip, files, container, paths)?;
    let mut part = Part { containers: vec![Arc::new(container)], ..Part::default() };
    if paths.iter().any(|it| it.starts_with(declared::FOLDER)) {
        declared::folder(at.path, at.role, &mut part.declared);
    } else {
        part.declared.clone_from(&before.declared);
    }
    Some(part)
}
