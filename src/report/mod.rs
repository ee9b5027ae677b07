//! Path → [`Report`]: a SQLite export of Nsight Systems, opened read-only.
//!
//! This module detects the file type, explains why a file cannot be used, and opens it so that nothing
//! is ever written to it or next to it. It exports a `.nsys-rep` first, with the user's own `nsys`, and
//! imports a PyTorch trace first.
//!
//! It does not read rows for an analysis, and does not know what tables mean.

mod cache;
mod export;
mod import;
mod named;
mod notices;
mod profiles;

pub use cache::{
    CacheEntry, CacheOptions, Cleared, Derived, WorkFolder, cache_entries, cache_folder, clear_cache,
    discard_temporaries, remove_work_folders,
};
pub use export::{ExportOptions, run_as_launcher};
pub use import::import;
pub use named::report_paths;
pub use notices::{Listener, Notice};
pub use profiles::{Found, Profile, find};

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
use std::sync::{Mutex, PoisonError};

/// An open report. Any number of sessions, in any number of threads, may ask it.
#[derive(Debug)]
pub struct Report {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// That path, absolute and without links.
    pub file: PathBuf,
    /// The SQLite file that is read: the same file, or an export of it. Absolute, without links, so that
    /// every connection reads the file that was opened first, whatever a link says later.
    pub database: PathBuf,
    /// The connection that opening it left behind, until a session takes it.
    spare: Mutex<Option<Connection>>,
    /// Keeps the database from being removed while it is used.
    _kept: Option<cache::Kept>,
}

impl Report {
    /// Opens a SQLite export, a `.nsys-rep` or a PyTorch trace. The last two are converted first.
    pub fn open(path: &Path, options: &ExportOptions) -> Result<Self> {
        let kind = Kind::of(path)?;
        let file = path.canonicalize().map_err(|e| Error::io(path, e))?;
        let (database, kept) = match kind {
            Kind::Sqlite => (file.clone(), None),
            Kind::NsysRep => match export::export_once(path, options)? {
                Export::Kept(kept) => (kept.path.clone(), Some(kept)),
                Export::Beside(database) => (database, None),
            },
            Kind::Trace => {
                let kept = import::import_once(path, options)?;
                (kept.path.clone(), Some(kept))
            }
        };
        let database = database.canonicalize().map_err(|e| Error::io(path, e))?;
        let connection = open_resolved(path, &database)?;
        let spare = Mutex::new(Some(connection));
        Ok(Self { path: path.to_owned(), file, database, spare, _kept: kept })
    }

    /// A read-only connection of its own, for one session: TEMP objects may be made on it. The file is
    /// never written.
    pub fn connect(&self) -> Result<Connection> {
        match self.spare.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(connection) => Ok(connection),
            None => open_resolved(&self.path, &self.database),
        }
    }

    /// Gives back a connection on which nothing was made, for the next session.
    pub fn spare(&self, connection: Connection) {
        *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
    }

    /// The name of this report in output: its file name.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }
}

/// Exports a `.nsys-rep` to `target` as SQLite, and replaces the file there.
pub fn export_to(path: &Path, target: &Path, options: &ExportOptions) -> Result<()> {
    match Kind::of(path)? {
        Kind::Sqlite => Err(Error::usage(
            format!("{} is already SQLite", path.display()),
            "use it as it is, or write its normalised tables with `nsq materialize`",
        )),
        Kind::NsysRep => export::export_to(path, target, options),
        Kind::Trace => Err(Error::usage(
            format!("{} is a PyTorch trace, which nsys cannot export", path.display()),
            "convert it to SQLite with `nsq import`",
        )),
    }
}

/// The type of a file, from its first bytes.
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
        let mut header = Vec::with_capacity(HEADER_LEN);
        File::open(path)
            .and_then(|file| file.take(HEADER_LEN as u64).read_to_end(&mut header))
            .map_err(|e| Error::io(path, e))?;
        if header.starts_with(MAGIC) {
            return match truncated(&header, metadata.len()) {
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
        if looks_like_trace(&header) {
            return Ok(Self::Trace);
        }
        if extension == "qdstrm" {
            return refuse(
                "is raw capture data, not a report yet".to_owned(),
                "convert it with `QdstrmImporter --input-file FILE` (in the host folder of Nsight \
                 Systems), and give the .nsys-rep or .qdrep that it writes",
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

/// The length in bytes that a SQLite header promises, if the file is shorter.
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
    // The page count is valid only if these two are equal (SQLite file format, 1.3.8).
    let promised = pages * page_size;
    (change_counter == valid_for && len < promised).then_some(promised)
}

/// Checks that a file is a complete database. The error completes a sentence such as "its output …".
fn check_database(path: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| e.to_string();
    match path.metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err("is missing".to_owned()),
        Err(e) => return Err(failed(e)),
        Ok(metadata) if !metadata.is_file() => return Err("is not a regular file".to_owned()),
        Ok(_) => {}
    }
    let mut header = Vec::with_capacity(HEADER_LEN);
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    file.take(HEADER_LEN as u64).read_to_end(&mut header).map_err(failed)?;
    if !header.starts_with(MAGIC) {
        return Err(match header.iter().all(|byte| *byte == 0) {
            true => "is unfinished: its header is empty".to_owned(),
            false => format!("is not a database (it begins with {})", describe(&header)),
        });
    }
    if let Some(promised) = truncated(&header, len) {
        return Err(format!("is cut short: {len} bytes, but its header says {promised}"));
    }
    let connection = open_read_only(path).map_err(|e| match e {
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

/// Checks every page of a database. Ctrl-C stops it.
fn check_pages(path: &Path) -> Result<(), String> {
    let failed = |e: rusqlite::Error| format!("cannot be read as a database: {}", plain_message(&e));
    let connection = open_read_only(path).map_err(|e| e.to_string())?;
    let found: String =
        connection.query_row("PRAGMA main.quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if found == "ok" { Ok(()) } else { Err(format!("is damaged: {}", found.replace('\n', "; "))) }
}

/// Describes the first bytes of a file, to help users who gave the wrong file.
fn describe(header: &[u8]) -> String {
    let start = &header[..header.len().min(16)];
    match start {
        [b'P', b'K', 3, 4, ..] => "a zip archive".to_owned(),
        [0x89, b'H', b'D', b'F', ..] => "HDF5 data".to_owned(),
        _ => format!("\"{}\"", start.escape_ascii()),
    }
}

/// Opens a database so that it cannot be written, and no file appears next to it.
fn open_read_only(path: &Path) -> Result<Connection> {
    open_resolved(path, &path.canonicalize().map_err(|e| Error::io(path, e))?)
}

/// As [`open_read_only`], for a path that has no links. Fails if it has some by now.
fn open_resolved(path: &Path, database: &Path) -> Result<Connection> {
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
            reason: format!("has changes in {} that were never merged", wal.display()),
            help: format!(
                "merge them with `sqlite3 {} 'PRAGMA wal_checkpoint(TRUNCATE)'`, or export again",
                database.display()
            ),
        });
    }
    if let Some(journal) = &journal {
        return Err(Error::Report {
            path: path.to_owned(),
            reason: format!("has an unfinished transaction in {}", journal.display()),
            help:
                "a program is still writing it, or was stopped while it wrote: export the report again"
                    .to_owned(),
        });
    }
    let live = wal.is_some();
    let uri =
        format!("file:{}?mode=ro{}", percent_encode(database), if live { "" } else { "&immutable=1" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let broken = |e: rusqlite::Error| Error::Report {
        path: path.to_owned(),
        reason: format!("cannot be read as a database: {}", plain_message(&e)),
        help: "the file is damaged or still being written: export the report again".to_owned(),
    };
    let mut connection = Connection::open_with_flags(&uri, flags).map_err(broken)?;
    // A deadline replaces this handler.
    connection.progress_handler(STEPS, Some(is_interrupted))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    // The file is untrusted: nothing that its schema defines may run on its own.
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

/// Steps of SQLite's virtual machine between calls of the progress handler: well under a millisecond.
pub(crate) const STEPS: i32 = 10_000;

/// Maximum bytes of one text, blob or row: far more than any name, and too little to fill the memory.
pub(crate) const LONGEST: i32 = 256 << 20;

/// Maximum bytes of a database to map into memory. The rest is read, which is nearly as fast. Each
/// connection has its own mapping, and mapped bytes count as memory of the process.
const MOST_MAPPED: i64 = 256 << 20;

/// Bytes of a database to map into memory.
fn bytes_to_map(database: &Path) -> i64 {
    // With a limited address space (`ulimit -v`), map nothing and leave the addresses for allocations.
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

/// Another connection to the database of an open report.
pub(crate) fn reopen(database: &Path) -> Result<Connection> {
    open_resolved(database, database)
}

/// The file of a connection, or an empty path. The name need not be UTF-8.
pub(crate) fn path_of(connection: &Connection) -> PathBuf {
    // rusqlite's own method only returns UTF-8 names.
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

/// SQLite's own message, without what rusqlite adds.
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
        header[24] = 1; // the change counter differs: the page count is stale
        assert_eq!(truncated(&header, 1), None);
        assert!(truncated(&header[..50], 50).is_some());
    }

    #[test]
    fn a_uri_keeps_question_marks_and_percent_signs_in_the_path() {
        let encoded = percent_encode(Path::new("/tmp/a b?c%d#e.sqlite"));
        assert_eq!(encoded, "/tmp/a%20b%3Fc%25d%23e.sqlite");
    }
}
