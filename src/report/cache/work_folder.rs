//! A folder for what is not whole yet, which goes with the run, however the run ends.
//!
//! It holds a lock file that is locked as long as the folder is used. A run that is killed leaves the
//! folder and loses the lock; the next run that makes such a folder in the same place removes it.

use super::lock::is_at;
use super::place::{is_mine, private_folder};
use crate::error::Result;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// A folder that only this run uses, and only the user can look into.
#[derive(Debug)]
pub struct WorkFolder {
    // Removed before its lock ends: fields are dropped in order.
    folder: TempDir,
    _lock: Option<File>,
}

/// Where this process has such folders.
static OWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes this process's folders, whoever uses them: for an end that nothing is dropped at.
///
/// What cannot be removed now is removed by the next run.
pub fn remove_work_folders() {
    for folder in OWN.try_lock().iter().flat_map(|own| own.iter()) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// What tells such folders in one place from everything else there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub(super) prefix: &'static str,
    pub(super) suffix: &'static str,
    /// The file in the folder that is locked.
    pub(super) lock: &'static str,
}

/// Folders beside what is being written.
const BESIDE: Names = Names { prefix: ".nsq-", suffix: ".part", lock: "nsq.lock" };

/// Tries to make a folder that another run does not take for one that was left.
const ATTEMPTS: usize = 100;

impl WorkFolder {
    /// A folder in `place`, for a file that is renamed to something beside it once it is whole.
    pub fn beside(place: &Path) -> Result<Self> {
        Self::new(place, BESIDE)
    }

    /// A folder in `place`; those that killed runs left there are removed.
    pub(super) fn new(place: &Path, names: Names) -> Result<Self> {
        sweep(place, names);
        for _ in 0..ATTEMPTS {
            let folder = private_folder(names.prefix, names.suffix, place)?;
            match hold(&folder.path().join(names.lock)) {
                Ok(Some(lock)) => return Ok(Self::known(folder, Some(lock))),
                // Another run has taken it for one that was left.
                Ok(None) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                // Without a lock it stays where this run is killed: no reason not to answer.
                Err(_) => return Ok(Self::known(folder, None)),
            }
        }
        Ok(Self::known(private_folder(names.prefix, names.suffix, place)?, None))
    }

    fn known(folder: TempDir, lock: Option<File>) -> Self {
        OWN.lock().unwrap_or_else(PoisonError::into_inner).push(folder.path().to_owned());
        Self { folder, _lock: lock }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|folder| folder != self.folder.path());
    }
}

/// Locks a file in a new folder; nothing if another run was first.
fn hold(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(is_at(&file, path).then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// Removes the folders that runs left which were killed: those whose lock nobody holds, and those that
/// are still empty. A run that has just made one, and finds it gone, makes another.
fn sweep(place: &Path, names: Names) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        // Not through links: what another user could have put there is left alone.
        if !is_named(&entry.file_name(), names)
            || !entry.metadata().is_ok_and(|metadata| metadata.is_dir() && is_mine(&metadata))
        {
            continue;
        }
        let lock = entry.path().join(names.lock);
        // To open a pipe would be to wait for its reader.
        if lock.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            continue;
        }
        // What cannot be removed is left.
        match OpenOptions::new().write(true).open(lock) {
            Ok(lock) if lock.try_lock().is_ok() => {
                let _ = std::fs::remove_dir_all(entry.path());
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let _ = std::fs::remove_dir(entry.path());
            }
            _ => {}
        }
    }
}

/// The name is one that [`private_folder`] gives.
fn is_named(name: &OsStr, names: Names) -> bool {
    let random = name
        .to_str()
        .and_then(|name| name.strip_prefix(names.prefix))
        .and_then(|name| name.strip_suffix(names.suffix));
    random.is_some_and(|random| {
        random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
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
    fn what_killed_runs_left_goes_and_nothing_else_does() {
        let place = tempfile::tempdir().unwrap();
        let own = |name: &str| place.path().join(name);
        // Killed while it wrote, and killed before it had a lock.
        fs::create_dir(own(".nsq-aB3dE6.part")).unwrap();
        fs::write(own(".nsq-aB3dE6.part/nsq.lock"), "").unwrap();
        fs::write(own(".nsq-aB3dE6.part/out.sqlite"), "half").unwrap();
        fs::create_dir(own(".nsq-000000.part")).unwrap();
        // Not of a run's making: a file, another name, a folder with something else in it.
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
    fn runs_that_sweep_and_make_at_once_keep_their_folders() {
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
