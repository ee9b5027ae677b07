//! The cache key of a source file: a short hash of its size, modification time, head and tail.

use super::Derived;
use crate::trace::file_of;
use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The cache key of a database that is made from a file.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// The source file.
    pub(super) source: PathBuf,
    content: String,
    whole: String,
}

impl Key {
    /// Hashes the file's size, modification time, head and tail, the kind of database and the recipe.
    pub(crate) fn of(source: &Path, kind: Derived, recipe: &str) -> Result<Self> {
        let content = sample(source).map_err(|e| Error::io(source, e))?;
        let mut hash = Sha256::new();
        for part in [content.as_str(), kind.folder(), recipe] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let whole = hex(&hash.finalize()[..16]);
        Ok(Self { source: source.to_owned(), content, whole })
    }

    /// Fails if the file changed after the key was made.
    pub(crate) fn check_unchanged(&self, source: &Path) -> Result<()> {
        if sample(source).map_err(|e| Error::io(source, e))? == self.content {
            return Ok(());
        }
        Err(Error::Report {
            path: source.to_owned(),
            reason: "changed while it was being read".to_owned(),
            help: "run it again when the file is complete".to_owned(),
        })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.whole
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.whole)
    }
}

/// Bytes of the head and of the tail that go into a key.
const SAMPLE: u64 = 64 * 1024;

/// A hash of the file's size, modification time, head and tail.
///
/// For a member of an archive, also its name.
fn sample(path: &Path) -> io::Result<String> {
    let (path, member) = file_of(path);
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let mut hash = Sha256::new();
    hash.update(metadata.len().to_le_bytes());
    let modified = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    hash.update(modified.map_or(0, |d| d.as_nanos()).to_le_bytes());
    let mut sample = Vec::new();
    file.by_ref().take(SAMPLE).read_to_end(&mut sample)?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(SAMPLE)))?;
    file.take(SAMPLE).read_to_end(&mut sample)?;
    hash.update(&sample);
    hash.update(member.unwrap_or_default());
    Ok(hex(&hash.finalize()))
}

/// The SHA-256 of a whole file.
pub(super) fn sha256(path: &Path, cancel: &Cancel) -> Result<String> {
    let failed = |e| Error::io(path, e);
    let mut file = File::open(path).map_err(failed)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        cancel.check()?;
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
