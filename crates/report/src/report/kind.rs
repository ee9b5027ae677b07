//! The type of a file, from its first bytes.

use super::foreign::{foreign, foreign_folder};
use super::paths::{is_pattern, similar_names};
use crate::trace::{file_of, is_archive, looks_like_trace, start_of, traces_in};
use nsq_value::error::{Error, NO_FILE, Result, did_you_mean};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The type of a file, from its first bytes.
pub(super) enum Kind {
    Sqlite,
    NsysRep,
    Trace,
}

pub(super) const HEADER_LEN: usize = 100;
/// Number of bytes to read to name a file of another kind.
const NAMED_BY: u64 = 4096;
/// Number of bytes that hold a whole block of zstd.
const PACKED: u64 = 256 << 10;
/// How a pickle of Python begins.
const PICKLE: u8 = 0x80;
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Fewest bytes of [`MAGIC`] by which a database that is cut short differs from a short text.
const SIGN: usize = 6;

impl Kind {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let refuse = |reason: String, help: &str| -> Result<Self> {
            Err(Error::Report { path: path.to_owned(), reason, help: help.to_owned() })
        };
        if let (file, Some(member)) = file_of(path) {
            let names = traces_in(&file).map_err(|e| Error::io(&file, e))?;
            return match names.contains(&member) {
                true => Ok(Self::Trace),
                false if names.is_empty() => refuse(
                    NO_FILE.to_owned(),
                    &format!("{} is a file, not a folder or an archive of traces", file.display()),
                ),
                false => refuse(
                    format!("is not a trace in {}", file.display()),
                    &format!("it has these: {}", names.join(", ")),
                ),
            };
        }
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let near = similar_names(path);
                let help = match near.as_slice() {
                    _ if path == Path::new("-") => {
                        "nsq reads no report from standard input: save it to a file first".to_owned()
                    }
                    _ if path.is_symlink() => {
                        let to = path.read_link().unwrap_or_default();
                        format!("it is a link to {}, where nothing is", to.display())
                    }
                    _ if is_pattern(path) => "no file matches the pattern".to_owned(),
                    [] => "give the path of a SQLite export (`nsys export --type sqlite REPORT.nsys-rep`), \
                           a .nsys-rep or a PyTorch trace"
                        .to_owned(),
                    near => did_you_mean(near),
                };
                return refuse(NO_FILE.to_owned(), &help);
            }
            Err(e) => return Err(Error::io(path, e)),
        };
        if metadata.is_dir() {
            if let Some((what, help)) = foreign_folder(path) {
                return refuse(what.to_owned(), &help);
            }
            return refuse(
                "is a directory, not a report".to_owned(),
                "give one file inside it; `nsq run` takes folders",
            );
        }
        if !metadata.is_file() {
            return refuse(
                "is not a regular file".to_owned(),
                "save the data of the pipe or device to a file first: reports are read in random order",
            );
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_capture = matches!(extension.as_str(), "nsys-rep" | "qdrep");
        if metadata.len() == 0 {
            return refuse(
                "is empty (0 bytes)".to_owned(),
                "the capture or export was interrupted: run it again",
            );
        }
        let first = |length: u64| -> Result<Vec<u8>> {
            let mut bytes = Vec::new();
            File::open(path)
                .and_then(|file| file.take(length).read_to_end(&mut bytes))
                .map_err(|e| Error::io(path, e))?;
            Ok(bytes)
        };
        let start = first(NAMED_BY)?;
        let header = &start[..start.len().min(HEADER_LEN)];
        if header.starts_with(MAGIC) {
            return match truncated(header, metadata.len()) {
                None => Ok(Self::Sqlite),
                Some(promised) => refuse(
                    format!("is cut short: {} bytes, but its header says {promised}", metadata.len()),
                    "the export or copy was interrupted: export the report again",
                ),
            };
        }
        if is_capture {
            return Ok(Self::NsysRep);
        }
        // A packed pickle is named like the one in it.
        let text = if is_archive(&start) { start_of(&first(PACKED)?) } else { start_of(&start) };
        if text.first() == Some(&PICKLE)
            && let Some((what, help)) = foreign(&text, path)
        {
            return refuse(what.to_owned(), &help);
        }
        if looks_like_trace(header) {
            return Ok(Self::Trace);
        }
        // The import names other JSON.
        if is_archive(&start) && matches!(text.first(), Some(b'{' | b'[')) {
            return Ok(Self::Trace);
        }
        if is_archive(&start) && traces_in(path).is_ok_and(|names| !names.is_empty()) {
            return Ok(Self::Trace);
        }
        if extension == "qdstrm" {
            return refuse(
                "is raw capture data, not a report yet".to_owned(),
                "convert it with `QdstrmImporter --input-file FILE` (in the host folder of Nsight \
                 Systems), and give the .nsys-rep or .qdrep that it writes",
            );
        }
        if header.len() >= SIGN && MAGIC.starts_with(header) {
            return refuse(
                format!("is cut short: {} bytes of a SQLite database", metadata.len()),
                "the export or copy was interrupted: export the report again",
            );
        }
        if header.iter().all(|byte| *byte == 0) {
            return refuse(
                "is an unfinished export: its header is still zeros".to_owned(),
                "`nsys export` was interrupted: export the report again",
            );
        }
        if let Some((what, help)) = foreign(&start, path) {
            return refuse(what.to_owned(), &help);
        }
        refuse(
            format!("is not a SQLite database (it begins with {})", describe(header)),
            "give a SQLite export (`nsys export --type sqlite REPORT.nsys-rep`) or a PyTorch trace",
        )
    }
}

/// The length in bytes that a SQLite header promises, if the file is shorter.
pub(super) fn truncated(header: &[u8], len: u64) -> Option<u64> {
    let be = |at: usize, n: usize| {
        header.get(at..at + n).map(|bytes| bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b)))
    };
    let (Some(page_size), Some(change_counter), Some(pages), Some(valid_for)) =
        (be(16, 2), be(24, 4), be(28, 4), be(92, 4))
    else {
        return Some(HEADER_LEN as u64);
    };
    let page_size = if page_size == 1 { 65_536 } else { page_size };
    // The page count is valid only if these two are equal (SQLite file format, 1.3.8).
    let promised = pages * page_size;
    (change_counter == valid_for && len < promised).then_some(promised)
}

/// Describes the first bytes of a file, to help users who gave the wrong file.
pub(super) fn describe(header: &[u8]) -> String {
    let start = &header[..header.len().min(16)];
    match start {
        [b'P', b'K', 3, 4, ..] => "a zip archive".to_owned(),
        [0x89, b'H', b'D', b'F', ..] => "HDF5 data".to_owned(),
        _ => format!("\"{}\"", start.escape_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_promises_a_length() {
        let mut header = vec![0; HEADER_LEN];
        header[..16].copy_from_slice(MAGIC);
        header[16..18].copy_from_slice(&4096u16.to_be_bytes());
        header[28..32].copy_from_slice(&3u32.to_be_bytes());
        assert_eq!(truncated(&header, 12_288), None);
        assert_eq!(truncated(&header, 12_287), Some(12_288));
        header[24] = 1; // the change counter differs: the page count is stale
        assert_eq!(truncated(&header, 1), None);
        assert!(truncated(&header[..50], 50).is_some());
    }
}
