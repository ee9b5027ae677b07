//! A private folder for unfinished files, which is removed even if the run is killed.
//!
//! It has a lock file that is locked while the folder is used. A killed run leaves the folder but loses
//! the lock. The next run that makes a work folder in the same place removes the old one, and so does any later run of
//! this user that finds the record of the place.

use super::leftovers::{discard, sweep};
use super::names::{BESIDE, Names};
use super::owned::{is_at, private_folder};
use super::record::Record;
use nsq_value::error::Result;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// A folder for this run only, which only the user can read.
#[derive(Debug)]
pub struct WorkFolder {
    // Declared before the lock, so that it is removed before the lock ends.
    folder: TempDir,
    lock: &'static str,
    _held: Option<File>,
    record: Option<Record>,
}

/// The work folders of this process, and the names of their lock files.
static OWN: Mutex<Vec<(PathBuf, &'static str)>> = Mutex::new(Vec::new());

/// Removes all work folders of this process, for an exit that drops no values.
///
/// The next run removes those that cannot be removed now.
pub fn remove_work_folders() {
    for (folder, lock) in OWN.try_lock().iter().flat_map(|own| own.iter()) {
        discard(folder, lock);
    }
}

/// Attempts to make a folder that no other run removes as a leftover.
const ATTEMPTS: usize = 100;

impl WorkFolder {
    /// A folder in `place`, for a file that is moved into `place` when it is complete.
    pub fn beside(place: &Path) -> Result<Self> {
        Self::new(place, BESIDE)
    }

    /// Makes a folder in `place`, and removes the folders of killed runs there.
    pub fn new(place: &Path, names: Names) -> Result<Self> {
        sweep(place, names);
        let record = Record::of(place);
        for _ in 0..ATTEMPTS {
            let folder = private_folder(names.prefix, names.suffix, place)?;
            match hold(&folder.path().join(names.lock)) {
                Ok(Some(held)) => return Ok(Self::register(folder, names, Some(held), record)),
                // Another run took it for a leftover.
                Ok(None) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                // Go on without a lock. If this run is killed, the folder is left over for a day.
                Err(_) => return Ok(Self::register(folder, names, None, record)),
            }
        }
        Ok(Self::register(private_folder(names.prefix, names.suffix, place)?, names, None, record))
    }

    fn register(folder: TempDir, names: Names, held: Option<File>, record: Option<Record>) -> Self {
        let own = (folder.path().to_owned(), names.lock);
        OWN.lock().unwrap_or_else(PoisonError::into_inner).push(own);
        Self { folder, lock: names.lock, _held: held, record }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        discard(self.folder.path(), self.lock);
        if !matches!(self.folder.path().try_exists(), Ok(false)) {
            self.record.take().into_iter().for_each(Record::keep);
        }
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|(folder, _)| folder != self.folder.path());
    }
}

/// Creates and locks the lock file of a new folder. Returns `None` if another run was first.
fn hold(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(is_at(&file, path).then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn left(place: &Path) -> Vec<String> {
        let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn leftovers_of_killed_runs_are_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let own = |name: &str| place.path().join(name);
        // A run killed while it wrote, and one killed before it had a lock.
        fs::create_dir(own(".nsq-aB3dE6.part")).unwrap();
        fs::write(own(".nsq-aB3dE6.part/nsq.lock"), "").unwrap();
        fs::write(own(".nsq-aB3dE6.part/out.sqlite"), "half").unwrap();
        fs::create_dir(own(".nsq-000000.part")).unwrap();
        // Not work folders: a file, another name, and a folder with other contents.
        fs::write(own(".nsq-aaaaaa.part"), "mine").unwrap();
        fs::create_dir(own(".nsq-notes.part")).unwrap();
        fs::create_dir(own(".nsq-bbbbbb.part")).unwrap();
        fs::write(own(".nsq-bbbbbb.part/mine"), "").unwrap();
        let alive = WorkFolder::beside(place.path()).unwrap();
        let other = WorkFolder::beside(place.path()).unwrap();
        assert!(alive.path().is_dir() && alive.path() != other.path());
        drop((alive, other));
        assert_eq!(left(place.path()), [".nsq-aaaaaa.part", ".nsq-bbbbbb.part", ".nsq-notes.part"]);
    }

    #[test]
    fn concurrent_runs_keep_their_folders() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..50 {
                        let own = WorkFolder::beside(place.path()).unwrap();
                        fs::write(own.path().join("out"), "half").unwrap();
                        std::thread::yield_now();
                        fs::rename(own.path().join("out"), own.path().join("whole")).unwrap();
                    }
                });
            }
        });
        assert!(left(place.path()).is_empty());
    }
}
