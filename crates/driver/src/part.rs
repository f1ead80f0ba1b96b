//! Makes [`Part`]s (containers and declarations) from the contents of files and folders. A part depends only on these
//! contents, so it can be reused as long as they do not change.

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

/// The kind of an input file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// The file is a JDK image.
    Image,
    /// The file is a class file.
    Class,
    /// The file is an archive, or a file of an unknown kind, which is opened as an archive.
    Archive,
}

/// Returns the kind of a file, given its path and its first bytes (at least four if the file has them).
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

/// Makes the part (containers and declarations) of a JDK image.
pub(crate) fn image(at: &At<'_>, map: Arc<ImageMap>) -> Part {
    let mut part = Part::default();
    part.containers.push(Arc::new(image::list(map, at.name, at.role, &mut part.problems)));
    part
}

/// Makes the part (containers and declarations) of a class file that is an input by itself, so that its path does not
/// determine the class name. `size` is the size of the file in bytes. `content` is `None` if the file is to be read
/// later, when its content is needed.
pub(crate) fn class_file(at: &At<'_>, size: u64, content: Option<Arc<FileContent>>) -> Part {
    let container = folder::single(at, size, content);
    Part { containers: vec![Arc::new(container)], ..Part::default() }
}

/// Makes the part (containers and declarations) of an archive. `inner` has the decompressed inner archives of the
/// previous version, to be reused, and receives those of this version; `None` if the archive is opened only once.
///
/// # Errors
/// Fails if the archive cannot be read at all; the error is the reason.
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

/// Makes the part (containers and declarations) of a class folder. `skip` names the folders directly below it that
/// are left out.
pub(crate) fn folder(at: &At<'_>, skip: &[&str], files: &mut dyn Files) -> Part {
    let mut part = Part::default();
    part.containers.push(Arc::new(folder::open(at, skip, files, &mut part.problems)));
    declared::folder(at.path, at.role, &mut part.declared);
    part
}

/// Makes the part (containers and declarations) of a class folder from its previous part `before`. The folder has
/// changed since then only at `paths`, which are relative to the folder. Returns `None` if the whole folder must be
/// read again ([`folder::update`]).
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
