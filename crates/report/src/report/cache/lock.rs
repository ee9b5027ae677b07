//! A lock per cache key, so that only one run makes an entry.

use nsq_files::whole_file::is_at;
use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The lock for making or removing the entry of one key. It ends with the value or the process.
#[derive(Debug)]
pub(super) struct KeyLock {
    path: PathBuf,
    file: File,
    /// The file system has locks. Without them, two runs may make the same entry, and the last one wins.
    pub(super) is_real: bool,
}

/// Pause between two attempts to take a lock.
const PAUSE: Duration = Duration::from_millis(20);
/// Waiting time after which the user is told about it.
const PATIENCE: Duration = Duration::from_secs(1);

impl KeyLock {
    /// Waits until the lock is free and takes it. Calls `waiting` once if that takes long.
    pub(super) fn wait(path: &Path, cancel: &Cancel, waiting: impl FnOnce()) -> Result<Self> {
        let begin = Instant::now();
        let mut waiting = Some(waiting);
        loop {
            if let Some(lock) = Self::take_if_free(path).map_err(|e| Error::io(path, e))? {
                return Ok(lock);
            }
            cancel.check()?;
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
        // The previous holder may have removed the file. A lock on a removed file is useless.
        if !is_at(&file, path) {
            // One that cannot be looked at would be waited for without an end.
            file.metadata()?;
            return match path.metadata() {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(None),
            };
        }
        Ok(Some(Self { path: path.to_owned(), file, is_real }))
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        // Remove the file while the lock is held, so that no other run takes the lock meanwhile.
        if is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
