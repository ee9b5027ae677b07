//! Where derived data may live: the user's cache folder, and nowhere else.

use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The folder for exports and derived tables: `$NSQ_CACHE`, `$XDG_CACHE_HOME/nsq`, or the
/// platform's usual place below the home folder. It need not exist yet.
pub(super) fn cache_dir() -> Result<PathBuf> {
    let from =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(dir) = from("NSQ_CACHE") {
        return Ok(dir);
    }
    if let Some(dir) = from("XDG_CACHE_HOME").filter(|dir| dir.is_absolute()) {
        return Ok(dir.join("nsq"));
    }
    if let Some(dir) = from("LOCALAPPDATA").filter(|_| cfg!(windows)) {
        return Ok(dir.join("nsq").join("cache"));
    }
    let below_home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    from("HOME").map(|home| home.join(below_home).join("nsq")).ok_or_else(|| {
        Error::usage(
            "there is no cache folder: neither NSQ_CACHE, XDG_CACHE_HOME nor HOME is set",
            "set NSQ_CACHE to a folder that may hold exports",
        )
    })
}

/// A key for the file's content, from its size, modification time, head and tail.
pub(super) fn content_key(path: &Path) -> Result<String> {
    const SAMPLE: u64 = 64 * 1024;
    let failed = |e| Error::io(path, e);
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let mut hash = Sha256::new();
    hash.update(metadata.len().to_le_bytes());
    let modified = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    hash.update(modified.map_or(0, |d| d.as_nanos()).to_le_bytes());
    let mut sample = Vec::new();
    file.by_ref().take(SAMPLE).read_to_end(&mut sample).map_err(failed)?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(SAMPLE))).map_err(failed)?;
    file.take(SAMPLE).read_to_end(&mut sample).map_err(failed)?;
    hash.update(&sample);
    Ok(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}
