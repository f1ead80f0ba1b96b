//! Disk access for a run without `watch`: reads the present files, keeps no contents, and watches no file.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use crate::container::FileContent;
use crate::disk::{At, Disk, Part, Plan};
use crate::image_map::ImageMap;
use crate::jdk::{JdkChoice, JdkFound};
use crate::part::{self, FileKind};
use crate::zip::Blob;
use crate::{folder, image};
use ide::Role;

/// Access to the disk for a run without `watch`: reads each file or folder as it is on disk now.
pub(crate) struct Once;

impl Disk for Once {
    fn looks_at(&mut self, _path: &Path) {}

    fn lists(&mut self, _folder: &Path) {}

    fn file(&mut self, at: &At<'_>) -> anyhow::Result<Arc<Part>> {
        let mut file = std::fs::File::open(at.path).context("cannot be opened")?;
        let mut bytes = Vec::new();
        (&mut file).take(4).read_to_end(&mut bytes).context("cannot be read")?;
        let size = file.metadata().context("cannot be read")?.len();
        Ok(Arc::new(match part::kind_of(at.path, &bytes) {
            FileKind::Image => part::image(at, Arc::new(ImageMap::open(at.path)?)),
            FileKind::Class => part::class_file(at, size, None),
            FileKind::Archive => {
                bytes.reserve_exact(usize::try_from(size).unwrap_or(0).saturating_sub(bytes.len()));
                file.read_to_end(&mut bytes).context("cannot be read")?;
                part::archive(at, Blob::new(bytes), None).map_err(anyhow::Error::msg)?
            }
        }))
    }

    fn folder(&mut self, at: &At<'_>, skip: &[&str]) -> Arc<Part> {
        Arc::new(part::folder(at, skip, self))
    }

    fn keep_plan(&mut self, _: &Path, _: Role, now: anyhow::Result<Plan>) -> anyhow::Result<Plan> {
        now
    }

    fn keep_list(&mut self, _: &Path, now: anyhow::Result<Vec<PathBuf>>) -> anyhow::Result<Vec<PathBuf>> {
        now
    }

    fn keep_jdk(
        &mut self,
        _: &JdkChoice,
        now: anyhow::Result<Option<JdkFound>>,
    ) -> anyhow::Result<Option<JdkFound>> {
        now
    }

    fn feature(&mut self, image: &Path) -> Option<u16> {
        image::feature_of(&ImageMap::open(image).ok()?)
    }
}

impl folder::Files for Once {
    fn lists(&mut self, _folder: &Path) {}

    fn class(&mut self, file: &folder::File<'_>) -> Option<(Option<Arc<FileContent>>, u64)> {
        Some((None, file.metadata.len()))
    }
}
