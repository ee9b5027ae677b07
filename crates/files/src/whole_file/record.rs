//! Records of the folders in which runs write, in the user's cache folder: later runs that write elsewhere find what a
//! killed one left.

use super::cache_folder::{find_cache, prepare};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The folder of the records, in the cache folder.
const FOLDER: &str = "writing";

/// A record of one folder. It is locked while its run lives, and removed with the value.
#[derive(Debug)]
pub(super) struct Record {
    file: Option<NamedTempFile>,
}

impl Record {
    /// `None` without a cache folder that can be written.
    pub(super) fn of(place: &Path) -> Option<Self> {
        let place = std::path::absolute(place).ok()?;
        let folder = find_cache().ok()??.path.join(FOLDER);
        prepare(&folder).ok()?;
        let mut file = NamedTempFile::new_in(folder).ok()?;
        file.as_file().try_lock().ok()?;
        file.write_all(place.as_os_str().as_encoded_bytes()).ok()?;
        Some(Self { file: Some(file) })
    }

    /// Keeps the record, for a folder that cannot be removed now.
    pub(super) fn keep(mut self) {
        let _ = self.file.take().map(NamedTempFile::keep);
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        let folder = file.path().parent().map(Path::to_owned);
        drop(file);
        // Only the last one can.
        let _ = folder.map(std::fs::remove_dir);
    }
}

/// The folders in the records of runs that have ended, which are removed.
pub(super) fn take_abandoned(cache: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for entry in std::fs::read_dir(cache.join(FOLDER)).into_iter().flatten().flatten() {
        let Ok(mut file) = File::open(entry.path()) else { continue };
        let mut place = Vec::new();
        if file.try_lock().is_ok() && file.read_to_end(&mut place).is_ok() {
            let _ = std::fs::remove_file(entry.path());
            places.extend(to_path(place));
        }
    }
    let _ = std::fs::remove_dir(cache.join(FOLDER));
    places
}

fn to_path(bytes: Vec<u8>) -> Option<PathBuf> {
    #[cfg(unix)]
    let path = PathBuf::from(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes));
    #[cfg(not(unix))]
    let path = PathBuf::from(OsString::from(String::from_utf8(bytes).ok()?));
    path.is_absolute().then_some(path)
}
