//! One database in the cache, and the facts beside it.

use super::key::Key;
use super::lock::{KeyLock, is_at};
use super::place::is_mine;
use super::{Hold, Kept};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the files of one entry are.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) database: PathBuf,
    pub(super) facts: PathBuf,
    pub(super) lock: PathBuf,
}

/// What is known of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Facts {
    /// The file that it was made from, as it was called then.
    pub(super) source: String,
    /// When it was made, in ns since 1970.
    pub(super) made_ns: u64,
    /// The version of what made it.
    pub(super) recipe: String,
    /// Bytes of the database.
    pub(super) size_bytes: u64,
    /// The SHA-256 of all of the source, where that was asked for.
    pub(super) source_sha256: Option<String>,
}

/// What an entry must be to be used.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Made at this time or later, in ns since 1970.
    pub(super) made_since_ns: Option<u64>,
    /// Made from a file with this hash.
    pub(super) sha256: Option<String>,
}

impl Wanted {
    fn takes(&self, facts: &Facts) -> bool {
        self.made_since_ns.is_none_or(|since| facts.made_ns >= since)
            && self.sha256.as_ref().is_none_or(|hash| facts.source_sha256.as_ref() == Some(hash))
    }
}

/// Looks at an entry that others keep changing, before it counts as absent.
const ATTEMPTS: usize = 50;

impl Entry {
    pub(super) fn new(folder: &Path, key: &Key) -> Self {
        Self::of_stem(folder, key.as_str())
    }

    pub(super) fn of_stem(folder: &Path, stem: &str) -> Self {
        let file = |extension: &str| folder.join(format!("{stem}.{extension}"));
        Self { database: file("sqlite"), facts: file("json"), lock: file("lock") }
    }

    pub(super) fn read_facts(&self) -> Option<Facts> {
        serde_json::from_slice(&std::fs::read(&self.facts).ok()?).ok()
    }

    /// The entry if it is there, whole and as wanted; it stays while the value is kept.
    pub(super) fn take(&self, wanted: &Wanted) -> Result<Option<Kept>> {
        for _ in 0..ATTEMPTS {
            let Some(facts) = self.read_facts().filter(|facts| wanted.takes(facts)) else {
                return Ok(None);
            };
            let Ok(file) = File::open(&self.database) else { return Ok(None) };
            match file.try_lock_shared() {
                // A file system without locks: the entry is used all the same.
                Ok(()) | Err(TryLockError::Error(_)) => {}
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
            }
            let metadata = file.metadata().map_err(|e| Error::io(&self.database, e))?;
            // Put there by another user while the folder was open to all.
            if !is_mine(&metadata) || !self.facts.metadata().is_ok_and(|facts| is_mine(&facts)) {
                return Ok(None);
            }
            let size = metadata.len();
            if !is_at(&file, &self.database) {
                continue;
            }
            if size != facts.size_bytes {
                // Another run may be putting a new one in place; else the file was tampered with.
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            self.touch();
            let path = self.database.clone();
            return Ok(Some(Kept { path, _hold: Hold::Entry { _file: file } }));
        }
        Ok(None)
    }

    /// Puts a database in place that is whole, with its facts; the key is locked.
    pub(super) fn put(
        &self,
        part: &Path,
        fresh: &Path,
        source: &Path,
        recipe: &str,
        source_sha256: Option<String>,
    ) -> Result<()> {
        let failed = |e| Error::io(&self.database, e);
        // Also after the machine itself went down, a name must stand for all of its bytes.
        let size_bytes = seal(fresh).map_err(failed)?;
        let source = std::path::absolute(source).unwrap_or_else(|_| source.to_owned());
        let facts = Facts {
            source: source.to_string_lossy().into_owned(),
            made_ns: now_ns(),
            recipe: recipe.to_owned(),
            size_bytes,
            source_sha256,
        };
        let fresh_facts = part.join("facts.json");
        let text = serde_json::to_vec_pretty(&facts).map_err(|e| failed(e.into()))?;
        std::fs::write(&fresh_facts, text).and_then(|()| seal(&fresh_facts)).map_err(failed)?;
        // Without facts there is no entry: what was there before ends here.
        remove(&self.facts).map_err(failed)?;
        std::fs::rename(fresh, &self.database).map_err(failed)?;
        std::fs::rename(&fresh_facts, &self.facts).map_err(failed)?;
        #[cfg(unix)]
        if let Some(folder) = self.database.parent() {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        Ok(())
    }

    /// Throws the entry away unless someone makes or reads it; `false` then.
    pub(super) fn evict(&self) -> io::Result<bool> {
        let Some(_lock) = KeyLock::take_if_free(&self.lock)? else { return Ok(false) };
        let file = match OpenOptions::new().read(true).write(true).open(&self.database) {
            Ok(file) => Some(file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        if let Some(file) = &file
            && matches!(file.try_lock(), Err(TryLockError::WouldBlock))
        {
            return Ok(false);
        }
        remove(&self.facts)?;
        remove(&self.database)?;
        Ok(true)
    }

    /// Remembers that the entry was used. That it cannot be remembered is no reason not to use it.
    fn touch(&self) {
        if let Ok(file) = OpenOptions::new().write(true).open(&self.facts) {
            let _ = file.set_modified(SystemTime::now());
        }
    }
}

/// Makes a file private and durable; returns its length in bytes.
fn seal(path: &Path) -> io::Result<u64> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

/// Removes a file that may not be there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

pub(super) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
