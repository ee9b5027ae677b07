//! What killed runs left: the next run removes it.

use super::cache_folder::find_cache;
use super::names::{BESIDE, Names, TEMPORARY};
use super::owned::is_mine;
use super::record;
use std::fs::{DirEntry, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Removes what killed runs left where their records say that they wrote.
pub fn remove_leftovers() {
    let Ok(Some(cache)) = find_cache() else { return };
    for place in record::take_abandoned(&cache.path) {
        sweep(&place, BESIDE);
        sweep(&place, TEMPORARY);
    }
}

/// Removes the work folders of killed runs: those whose lock is free, and those that are still empty.
/// A live run whose new folder is removed this way makes another one.
pub(super) fn sweep(place: &Path, names: Names) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        // Follow no links, and leave folders of other users alone.
        if !names.has(&entry.file_name())
            || !entry.metadata().is_ok_and(|metadata| metadata.is_dir() && is_mine(&metadata))
        {
            continue;
        }
        let lock = entry.path().join(names.lock);
        // Opening a pipe would wait for its reader.
        if lock.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            continue;
        }
        // Errors are ignored: the folder then stays for the next run.
        match OpenOptions::new().write(true).open(lock) {
            Ok(lock) => match lock.try_lock() {
                Ok(()) => discard(&entry.path(), names.lock),
                Err(TryLockError::Error(_)) if is_abandoned(&entry.path()) => {
                    discard(&entry.path(), names.lock);
                }
                Err(_) => {}
            },
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let _ = std::fs::remove_dir(entry.path());
            }
            _ => {}
        }
    }
}

/// Removes a work folder. Its lock file goes last: if this run is killed meanwhile, the next one still knows the folder.
pub(super) fn discard(folder: &Path, lock: &str) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != lock {
            let _ = match entry.file_type() {
                Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(entry.path()),
                _ => std::fs::remove_file(entry.path()),
            };
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// Age after which a work folder counts as abandoned on a file system without locks.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether nothing in the folder was written for long.
fn is_abandoned(folder: &Path) -> bool {
    let is_old = |entry: DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > ABANDONED))
    };
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_old)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn without_locks_a_folder_is_abandoned_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let old = File::create(folder.path().join("nsq.lock")).unwrap();
        assert!(!is_abandoned(folder.path()));
        old.set_modified(std::time::SystemTime::now() - 2 * ABANDONED).unwrap();
        assert!(is_abandoned(folder.path()));
        fs::write(folder.path().join("whole"), "half").unwrap();
        assert!(!is_abandoned(folder.path()));
    }
}
