//! One database in the cache, and its facts file.

use super::key::Key;
use super::lock::KeyLock;
use super::{CachedFile, Hold};
use nsq_files::whole_file::{is_at, is_mine};
use nsq_value::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The paths of one cache entry.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) database: PathBuf,
    pub(super) facts: PathBuf,
    pub(super) lock: PathBuf,
}

/// The facts file of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Facts {
    /// The path of the source file when the entry was made.
    pub(super) source: String,
    /// When it was made, in ns since 1970.
    pub(super) made_ns: u64,
    /// Version of the code that made it.
    pub(super) recipe: String,
    /// Bytes of the database.
    pub(super) size_bytes: u64,
    /// SHA-256 of the whole source, if the run that made it asked for one.
    pub(super) source_sha256: Option<String>,
}

/// What an entry must match to be used.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Made at this time or later, in ns since 1970.
    pub(super) made_since_ns: Option<u64>,
    /// Made from a file with this hash.
    pub(super) sha256: Option<String>,
}

impl Wanted {
    fn matches(&self, facts: &Facts) -> bool {
        self.made_since_ns.is_none_or(|since| facts.made_ns >= since)
            && self.sha256.as_ref().is_none_or(|hash| facts.source_sha256.as_ref() == Some(hash))
    }
}

/// Attempts to read an entry that other runs keep changing. After that, it counts as absent.
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

    /// Returns the entry if it is complete and matches. It stays while the returned value lives.
    pub(super) fn take(&self, wanted: &Wanted) -> Result<Option<CachedFile>> {
        for _ in 0..ATTEMPTS {
            let Some(facts) = self.read_facts().filter(|facts| wanted.matches(facts)) else {
                return Ok(None);
            };
            let Ok(file) = File::open(&self.database) else { return Ok(None) };
            match file.try_lock_shared() {
                // Use the entry even on a file system without locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
            }
            let metadata = file.metadata().map_err(|e| Error::io(&self.database, e))?;
            // Another user may have put a file here while the folder was open to all.
            if !is_mine(&metadata) || !self.facts.metadata().is_ok_and(|facts| is_mine(&facts)) {
                return Ok(None);
            }
            let size = metadata.len();
            if !is_at(&file, &self.database) {
                continue;
            }
            if size != facts.size_bytes {
                // Another run may be replacing the file. Otherwise it was damaged or changed.
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            self.touch();
            let path = self.database.clone();
            return Ok(Some(CachedFile { path, _hold: Hold::Entry { _file: file } }));
        }
        Ok(None)
    }

    /// Moves a complete database and its facts into place. The caller holds the key's lock.
    pub(super) fn put(
        &self,
        part: &Path,
        fresh: &Path,
        source: &Path,
        recipe: &str,
        source_sha256: Option<String>,
    ) -> Result<()> {
        let failed = |e| Error::io(&self.database, e);
        // Sync first: even after a power loss, a file with the final name must be complete.
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
        // Removing the facts removes the previous entry.
        remove(&self.facts).map_err(failed)?;
        std::fs::rename(fresh, &self.database).map_err(failed)?;
        std::fs::rename(&fresh_facts, &self.facts).map_err(failed)?;
        #[cfg(unix)]
        if let Some(folder) = self.database.parent() {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        Ok(())
    }

    /// Removes the entry. Returns `false` if a run is making or reading it.
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

    /// Records that the entry was used now. A failure is ignored.
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

/// Removes a file. A missing file is not an error.
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
