//! One maker at a time.

use crate::error::{Error, Result};
use crate::interrupt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The right to make or throw away the entry of one key; ends with the value or the process.
#[derive(Debug)]
pub(super) struct KeyLock {
    path: PathBuf,
    file: File,
    /// The file system has locks. Where it has none, two runs may make the same thing, and the
    /// last one's stays.
    pub(super) is_real: bool,
}

/// Time between two looks at a lock that another run holds.
const PAUSE: Duration = Duration::from_millis(20);
/// Time after which the user is told what is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

impl KeyLock {
    /// Takes the lock as soon as it is free; calls `waiting` once if that takes long.
    pub(super) fn wait(path: &Path, waiting: impl FnOnce()) -> Result<Self> {
        let begin = Instant::now();
        let mut waiting = Some(waiting);
        loop {
            if let Some(lock) = Self::take_if_free(path).map_err(|e| Error::io(path, e))? {
                return Ok(lock);
            }
            interrupt::check()?;
            if begin.elapsed() > PATIENCE
                && let Some(waiting) = waiting.take()
            {
                waiting();
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes the lock if no other run holds it.
    pub(super) fn take_if_free(path: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        let is_real = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(_)) => false,
        };
        // Whoever held it last has taken its file away: then this is a lock on nothing.
        if !is_at(&file, path) {
            return Ok(None);
        }
        Ok(Some(Self { path: path.to_owned(), file, is_real }))
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        // While it is still held, so that nobody takes it and loses its file.
        if is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The open file is the one at `path`.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        match (file.metadata(), path.metadata()) {
            (Ok(open), Ok(there)) => identity(open) == identity(there),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}
