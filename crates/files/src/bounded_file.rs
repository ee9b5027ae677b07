//! Reads user files into memory, with a size limit: queries, class maps, playbooks, tables, scripts.
//!
//! The limit protects against endless files. A file that the user named may be a pipe, such as the
//! shell's `<(…)`. A file that was found in a folder, or is named in another file, must be a regular
//! file: a pipe there may never get a writer.
//!
//! Reports and traces are read in pieces, by other modules.

use nsq_value::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum bytes of a text that people write.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;
/// Maximum bytes of a table that a program wrote to a regular file.
pub const MAX_TABLE_BYTES: u64 = 1 << 30;

/// Who named the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user named it.
    Named,
    /// It was found in a folder, or it is named in another file.
    Found,
}

/// Reads a file. Fails if it has more than `max` bytes.
pub fn read(path: &Path, origin: Origin, max: u64) -> Result<Vec<u8>> {
    let failed = |e| Error::io(path, e);
    // Check before opening: opening a pipe waits for its writer.
    let metadata = path.metadata().map_err(failed)?;
    if origin == Origin::Found && !metadata.is_file() && !metadata.is_dir() {
        return Err(Error::Report {
            path: path.to_owned(),
            reason: "is not a regular file, but a pipe or a device".to_owned(),
            help: "replace it with a file, or remove it".to_owned(),
        });
    }
    let max = if metadata.is_file() { max } else { max.min(MAX_TEXT_BYTES) };
    read_from(File::open(path).map_err(failed)?, path, max)
}

/// Reads `input` to its end. Fails if it has more than `max` bytes. Messages call it `path`.
pub fn read_from(input: impl Read, path: &Path, max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(max + 1).read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    if bytes.len() as u64 > max {
        return Err(Error::Report {
            path: path.to_owned(),
            reason: format!("is larger than {} MiB, the limit for these files", max >> 20),
            help: "check that it is the right file: files of this kind are text, and much smaller"
                .to_owned(),
        });
    }
    Ok(bytes)
}

/// Reads a file as UTF-8 text, up to [`MAX_TEXT_BYTES`].
pub fn read_text(path: &Path, origin: Origin) -> Result<String> {
    text(read(path, origin, MAX_TEXT_BYTES)?, path)
}

/// Converts the bytes of a file to text. Fails if they are not UTF-8.
pub fn text(bytes: Vec<u8>, path: &Path) -> Result<String> {
    let not_utf8 = |_| Error::io(path, io::Error::new(io::ErrorKind::InvalidData, "is not UTF-8"));
    String::from_utf8(bytes).map_err(not_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_above_the_limit_is_refused() {
        let path = Path::new("x");
        assert_eq!(read_from(&b"abc"[..], path, 3).unwrap(), b"abc");
        let error = read_from(io::repeat(b'a'), path, 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "x: is larger than 1 MiB, the limit for these files");
        assert!(error.help().is_some());
    }

    #[test]
    fn text_that_is_not_utf_8_is_refused() {
        let error = text(vec![0xff], Path::new("x")).unwrap_err();
        assert_eq!(error.to_string(), "x: is not UTF-8");
    }
}
