//! Databases for one run only.

use super::key::Key;
use super::place::{is_mine, private_folder};
use super::{FRESH, Hold, Kept};
use crate::error::Result;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// What this run made, so that a file is not exported again each time the run opens it.
static TEMPORARIES: Mutex<BTreeMap<String, Slot>> = Mutex::new(BTreeMap::new());

/// Locked while it is being made: other threads wait for it.
type Slot = Arc<Mutex<Option<Arc<Temporary>>>>;

/// A folder that goes with its last user; its lock tells other runs that it has one.
#[derive(Debug)]
pub(super) struct Temporary {
    folder: TempDir,
    _lock: Option<File>,
}

/// What the names of such folders begin with.
const PREFIX: &str = "nsq-run-";
/// The lock in such a folder.
const LOCK: &str = "nsq-run.lock";

pub(super) fn derive(source: &Path, key: &Key, make: impl FnOnce(&Path) -> Result<()>) -> Result<Kept> {
    let slot = {
        let mut slots = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry(key.to_string()).or_default().clone()
    };
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = match slot.as_ref() {
        Some(folder) => folder.clone(),
        None => {
            let all = std::env::temp_dir();
            sweep(&all);
            let folder = private_folder(PREFIX, "", &all)?;
            // Without a lock it stays where this run is killed: no reason not to answer.
            let lock = hold(folder.path()).ok();
            make(&folder.path().join(FRESH))?;
            key.check_unchanged(source)?;
            slot.insert(Arc::new(Temporary { folder, _lock: lock })).clone()
        }
    };
    let path = folder.folder.path().join(FRESH);
    Ok(Kept { path, _hold: Hold::Temporary { _folder: folder } })
}

/// Removes the databases that this process made for itself only; called when it is about to end.
///
/// One that an open report still uses goes with that report.
pub fn discard_temporaries() {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Locks a new folder. The file gets its name once it is locked, so that nobody finds it unlocked.
fn hold(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join("new.lock");
    let file = File::create(&unnamed)?;
    file.try_lock()?;
    std::fs::rename(&unnamed, folder.join(LOCK))?;
    Ok(file)
}

/// Removes the folders of runs that were killed: those with a lock that nobody holds.
fn sweep(all: &Path) {
    for entry in std::fs::read_dir(all).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|metadata| metadata.is_dir() && is_mine(&metadata))
            && let Ok(lock) = OpenOptions::new().write(true).open(entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            // What cannot be removed is left.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
