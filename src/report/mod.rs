//! Path → [`Report`]: a SQLite export of Nsight Systems, opened read-only.
//!
//! For: finding out what the file is, saying so when it cannot be used, and opening it so that
//! nothing is ever written to it or beside it. A `.nsys-rep` is exported first, by the user's own `nsys`;
//! a PyTorch trace is imported first.
//!
//! Not for: reading rows for an analysis, or knowing which tables mean what.

mod cache;
mod export;
mod import;
mod notices;

pub use cache::{
    CacheEntry, CacheOptions, Cleared, Derived, WorkFolder, remove_work_folders, cache_entries, cache_folder,
    clear_cache, discard_temporaries,
};
pub use export::{ExportOptions, run_as_launcher};
pub use import::import;
pub use notices::{Listener, Notice};

use crate::error::{Error, Result};
use crate::interrupt::is_interrupted;
use crate::trace::looks_like_trace;
use export::Export;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// An open report.
#[derive(Debug)]
pub struct Report {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The SQLite file behind it: the same, or an export in the cache.
    pub database: PathBuf,
    /// A read-only connection. TEMP objects may be made on it; the file is never written.
    pub connection: Connection,
    /// What keeps the database there while it is used.
    _kept: Option<cache::Kept>,
}

impl Report {
    /// Opens a SQLite export, or what is made of a `.nsys-rep` or a PyTorch trace.
    pub fn open(path: &Path, options: &ExportOptions) -> Result<Self> {
        let (database, kept) = match Kind::of(path)? {
            Kind::Sqlite => (path.to_owned(), None),
            Kind::NsysRep => match export::export_once(path, options)? {
                Export::Kept(kept) => (kept.path.clone(), Some(kept)),
                Export::Beside(database) => (database, None),
            },
            Kind::Trace => {
                let kept = import::import_once(path, options)?;
                (kept.path.clone(), Some(kept))
            }
        };
        let connection = open_read_only(path, &database)?;
        Ok(Self { path: path.to_owned(), database, connection, _kept: kept })
    }

    /// The name that output uses for this report: its file name.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }
}

/// Writes a report that is not SQLite to `target` as SQLite; the file there is replaced.
pub fn export_to(path: &Path, target: &Path, options: &ExportOptions) -> Result<()> {
    match Kind::of(path)? {
        Kind::Sqlite => Err(Error::usage(
            format!("{} is SQLite already", path.display()),
            "use it as it is, or write its normalised tables by `nsq materialize`",
        )),
        Kind::NsysRep => export::export_to(path, target, options),
        Kind::Trace => Err(Error::usage(
            format!("{} is a PyTorch trace, which no nsys can export", path.display()),
            "write it as SQLite by `nsq import`",
        )),
    }
}

/// What a file is, by its first bytes.
enum Kind {
    Sqlite,
    NsysRep,
    Trace,
}

const HEADER_LEN: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

impl Kind {
    fn of(path: &Path) -> Result<Self> {
        let refuse = |reason: String, help: &str| {
            Err(Error::Report { path: path.to_owned(), reason, help: help.to_owned() })
        };
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return refuse(
                    "no such file".to_owned(),
                    "give the path of a SQLite export (`nsys export --type sqlite REPORT.nsys-rep`)",
                );
            }
            Err(e) => return Err(Error::io(path, e)),
        };
        if metadata.is_dir() {
            return refuse("is a directory, not a report".to_owned(), "give one file inside it");
        }
        if !metadata.is_file() {
            return refuse(
                "is not a regular file".to_owned(),
                "a report is read at random, so it cannot be a pipe or a device: save it first",
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
        let mut header = Vec::with_capacity(HEADER_LEN);
        File::open(path)
            .and_then(|file| file.take(HEADER_LEN as u64).read_to_end(&mut header))
            .map_err(|e| Error::io(path, e))?;
        if header.starts_with(MAGIC) {
            return match truncated(&header, metadata.len()) {
                None => Ok(Self::Sqlite),
                Some(pages) => refuse(
                    format!("is cut short: {} bytes, where its header says {pages}", metadata.len()),
                    "the export or copy was interrupted: export the report again",
                ),
            };
        }
        if is_capture {
            return Ok(Self::NsysRep);
        }
        if looks_like_trace(&header) {
            return Ok(Self::Trace);
        }
        if extension == "qdstrm" {
            return refuse(
                "is raw data of a capture, which nsys has not made a report of yet".to_owned(),
                "make it one with `QdstrmImporter --input-file FILE`, which comes with Nsight Systems \
                 (in its host folder), and give the .nsys-rep or .qdrep that it writes",
            );
        }
        if header.iter().all(|byte| *byte == 0) {
            return refuse(
                "is an unfinished export: its header is still zeros".to_owned(),
                "`nsys export` was interrupted: export the report again",
            );
        }
        refuse(
            format!("is not a SQLite database (it begins with {})", describe(&header)),
            "give a SQLite export (`nsys export --type sqlite REPORT.nsys-rep`) or a PyTorch trace",
        )
    }
}

/// The length in bytes that a SQLite header promises, where the file is shorter than that.
fn truncated(header: &[u8], len: u64) -> Option<u64> {
    let be = |at: usize, n: usize| {
        header.get(at..at + n).map(|bytes| bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b)))
    };
    let (Some(page_size), Some(change_counter), Some(pages), Some(valid_for)) =
        (be(16, 2), be(24, 4), be(28, 4), be(92, 4))
    else {
        return Some(HEADER_LEN as u64);
    };
    let page_size = if page_size == 1 { 65_536 } else { page_size };
    // The page count is only to be trusted when these two agree (SQLite file format, 1.3.8).
    let promised = pages * page_size;
    (change_counter == valid_for && len < promised).then_some(promised)
}

/// Why a file that should be a whole database is none.
fn check_database(path: &Path) -> Result<(), String> {
    let said = |e: std::io::Error| e.to_string();
    match path.metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err("is not there".to_owned()),
        Err(e) => return Err(said(e)),
        Ok(metadata) if !metadata.is_file() => return Err("is no file".to_owned()),
        Ok(_) => {}
    }
    let mut header = Vec::with_capacity(HEADER_LEN);
    let file = File::open(path).map_err(said)?;
    let len = file.metadata().map_err(said)?.len();
    file.take(HEADER_LEN as u64).read_to_end(&mut header).map_err(said)?;
    if !header.starts_with(MAGIC) {
        return Err(match header.iter().all(|byte| *byte == 0) {
            true => "is unfinished: its header is empty".to_owned(),
            false => format!("is no database (it begins with {})", describe(&header)),
        });
    }
    if let Some(promised) = truncated(&header, len) {
        return Err(format!("is cut short: {len} bytes, where its header says {promised}"));
    }
    let connection = open_read_only(path, path).map_err(|e| match e {
        Error::Report { reason, .. } => reason,
        e => e.to_string(),
    })?;
    let tables = "SELECT count(*) FROM main.sqlite_master WHERE type = 'table'";
    match connection.query_row(tables, [], |row| row.get(0)) {
        Ok(0) => Err("has no tables".to_owned()),
        Ok(_) => Ok(()),
        Err(e) => Err(format!("cannot be read as a database: {}", plain_message(&e))),
    }
}

/// Why a database is none that can be read to its end: a look at every page, which Ctrl-C ends.
fn check_pages(path: &Path) -> Result<(), String> {
    let said = |e: rusqlite::Error| format!("cannot be read as a database: {}", plain_message(&e));
    let connection = open_read_only(path, path).map_err(|e| e.to_string())?;
    let found: String =
        connection.query_row("PRAGMA main.quick_check(1)", [], |row| row.get(0)).map_err(said)?;
    if found == "ok" { Ok(()) } else { Err(format!("is damaged: {}", found.replace('\n', "; "))) }
}

/// The first bytes of a file in words, for people who mixed up their files.
fn describe(header: &[u8]) -> String {
    let start = &header[..header.len().min(16)];
    match start {
        [b'P', b'K', 3, 4, ..] => "a zip archive".to_owned(),
        [0x89, b'H', b'D', b'F', ..] => "HDF5 data".to_owned(),
        _ => format!("\"{}\"", start.escape_ascii()),
    }
}

/// Opens `database` without any chance to write it or to leave a file beside it.
fn open_read_only(path: &Path, database: &Path) -> Result<Connection> {
    let beside = |suffix: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        let path = PathBuf::from(name);
        path.metadata().is_ok_and(|m| m.len() > 0).then_some(path)
    };
    let (wal, shm, journal) = (beside("-wal"), beside("-shm"), beside("-journal"));
    if let (Some(wal), None) = (&wal, &shm) {
        // SQLite would have to create the -shm file to read it.
        return Err(Error::Report {
            path: path.to_owned(),
            reason: format!("has changes that were never merged, in {}", wal.display()),
            help: format!(
                "merge them with `sqlite3 {} 'PRAGMA wal_checkpoint(TRUNCATE)'`, or export again",
                database.display()
            ),
        });
    }
    if let Some(journal) = &journal {
        return Err(Error::Report {
            path: path.to_owned(),
            reason: format!("has an unfinished transaction, in {}", journal.display()),
            help: "it is being written, or was when something stopped it: export the report again"
                .to_owned(),
        });
    }
    let live = wal.is_some();
    let uri =
        format!("file:{}?mode=ro{}", percent_encode(database), if live { "" } else { "&immutable=1" });
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let broken = |e: rusqlite::Error| Error::Report {
        path: path.to_owned(),
        reason: format!("cannot be read as a database: {}", plain_message(&e)),
        help: "the file is damaged or still being written: export the report again".to_owned(),
    };
    let mut connection = Connection::open_with_flags(&uri, flags).map_err(broken)?;
    // Whoever sets a deadline replaces it.
    connection.progress_handler(STEPS, Some(is_interrupted))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    // The file comes from a stranger: nothing that its schema defines may run on its own.
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
    ] {
        connection.set_db_config(config, on)?;
    }
    connection.pragma_update(None, "mmap_size", bytes_to_map(database))?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())).map_err(broken)?;
    Ok(connection)
}

/// Steps of SQLite's virtual machine between two looks at whether to go on: well under a millisecond.
pub(crate) const STEPS: i32 = 10_000;

/// Bytes that one text, blob or row may have: far more than any name, and less than what fills the memory.
pub(crate) const LONGEST: i32 = 256 << 20;

/// Bytes of a database that are mapped at most: what lies beyond is read, which is nearly as fast. Each
/// connection maps its own, and what is mapped counts as memory of the process.
const MOST_MAPPED: i64 = 256 << 20;

/// Bytes of a database that are mapped.
fn bytes_to_map(database: &Path) -> i64 {
    // Where addresses are scarce (`ulimit -v`), they are kept for what must have them.
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        if getrlimit(Resource::As).current.is_some() {
            return 0;
        }
    }
    let len = database.metadata().map_or(0, |metadata| metadata.len());
    i64::try_from(len).map_or(MOST_MAPPED, |len| len.min(MOST_MAPPED))
}

/// A further connection to the database of an open report.
pub(crate) fn reopen(database: &Path) -> Result<Connection> {
    open_read_only(database, database)
}

/// The file behind a connection, whatever bytes its name is of; empty where there is none.
pub(crate) fn path_of(connection: &Connection) -> PathBuf {
    // The wrapper knows no name that is not UTF-8.
    let path = connection.prepare("PRAGMA main.database_list").and_then(|mut listed| {
        let mut rows = listed.query([])?;
        while let Some(row) = rows.next()? {
            if row.get_ref("name")?.as_str() == Ok("main") {
                return Ok(row.get_ref("file")?.as_bytes().map(to_path).unwrap_or_default());
            }
        }
        Ok(PathBuf::new())
    });
    path.unwrap_or_default()
}

fn to_path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).into();
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// SQLite's message without the wrapper's decoration.
pub(crate) fn plain_message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

/// A path as the path part of a `file:` URI.
fn percent_encode(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut encoded = String::new();
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                encoded.push(char::from(*byte));
            }
            b'\\' if cfg!(windows) => encoded.push('/'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    if cfg!(windows) { format!("/{encoded}").replace("%3A", ":") } else { encoded }
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
        header[24] = 1; // the change counter moved on: the page count is stale
        assert_eq!(truncated(&header, 1), None);
        assert!(truncated(&header[..50], 50).is_some());
    }

    #[test]
    fn a_uri_keeps_question_marks_and_percent_signs_in_the_path() {
        let encoded = percent_encode(Path::new("/tmp/a b?c%d#e.sqlite"));
        assert_eq!(encoded, "/tmp/a%20b%3Fc%25d%23e.sqlite");
    }
}
