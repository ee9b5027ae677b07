//! Files of the user's that are read whole: queries, class maps, playbooks, tables, scripts.
//!
//! For: an end to what has none. A file that is named on purpose may be a pipe, such as `<(…)` of a
//! shell; one that was found in a folder, or that another file names, has to be a regular file:
//! whoever put a pipe there may never write to it.
//!
//! Not for: reports and traces, which are read in pieces.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a text that people write.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;
/// Bytes of a table that a program wrote, where it is a regular file.
pub const MAX_TABLE_BYTES: u64 = 1 << 30;

/// How the program came to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user named it.
    Named,
    /// It was found in a folder, or another file names it.
    Found,
}

/// The bytes of a file, `most` of them at most.
pub fn read(path: &Path, origin: Origin, most: u64) -> Result<Vec<u8>> {
    let failed = |e| Error::io(path, e);
    // Before it is opened: to open a pipe waits for its writer.
    let metadata = path.metadata().map_err(failed)?;
    if origin == Origin::Found && !metadata.is_file() && !metadata.is_dir() {
        return Err(Error::Report {
            path: path.to_owned(),
            reason: "is no regular file but a pipe or a device".to_owned(),
            help: "put a file in its place, or take it away".to_owned(),
        });
    }
    let most = if metadata.is_file() { most } else { most.min(MAX_TEXT_BYTES) };
    read_from(File::open(path).map_err(failed)?, path, most)
}

/// All that comes from `input`, which messages call `path`, `most` bytes at most.
pub fn read_from(input: impl Read, path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    if bytes.len() as u64 > most {
        return Err(Error::Report {
            path: path.to_owned(),
            reason: format!("holds more than {} MiB, and would be read whole", most >> 20),
            help: "is it the file that was meant? One of this kind is a text, and much smaller"
                .to_owned(),
        });
    }
    Ok(bytes)
}

/// The text of a file.
pub fn read_text(path: &Path, origin: Origin) -> Result<String> {
    text(read(path, origin, MAX_TEXT_BYTES)?, path)
}

/// Bytes as text, which they have to be.
pub fn text(bytes: Vec<u8>, path: &Path) -> Result<String> {
    let is_none = |_| Error::io(path, io::Error::new(io::ErrorKind::InvalidData, "is not UTF-8"));
    String::from_utf8(bytes).map_err(is_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_there_is_a_use_for() {
        let path = Path::new("x");
        assert_eq!(read_from(&b"abc"[..], path, 3).unwrap(), b"abc");
        let error = read_from(io::repeat(b'a'), path, 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "x: holds more than 1 MiB, and would be read whole");
        assert!(error.help().is_some());
    }

    #[test]
    fn what_is_not_utf_8_is_named() {
        let error = text(vec![0xff], Path::new("x")).unwrap_err();
        assert_eq!(error.to_string(), "x: is not UTF-8");
    }
}
