//! Opens databases read-only, and checks that they are whole.

use super::kind::{HEADER_LEN, MAGIC, describe, truncated};
use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Checks that a file is a complete database. The error completes a sentence such as "its output …".
pub(super) fn check_database(path: &Path, cancel: &Cancel) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("cannot be read: {e}");
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
    let connection = open_read_only(path, cancel).map_err(|e| match e {
        Error::Report { reason, .. } => reason,
        e => format!("cannot be read: {e}"),
    })?;
    let tables = "SELECT count(*) FROM main.sqlite_master WHERE type = 'table'";
    match connection.query_row(tables, [], |row| row.get(0)) {
        Ok(0) => Err("has no tables".to_owned()),
        Ok(_) => Ok(()),
        Err(e) => Err(format!("cannot be read as a database: {}", plain_message(&e))),
    }
}

/// Checks every page of a database.
pub(super) fn check_pages(path: &Path, cancel: &Cancel) -> Result<(), String> {
    let failed = |e: rusqlite::Error| format!("cannot be read as a database: {}", plain_message(&e));
    let connection = open_read_only(path, cancel).map_err(|e| e.to_string())?;
    let found: String =
        connection.query_row("PRAGMA main.quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if found == "ok" { Ok(()) } else { Err(format!("is damaged: {}", found.replace('\n', "; "))) }
}

/// Opens a database so that it cannot be written, and no file appears next to it.
pub(super) fn open_read_only(path: &Path, cancel: &Cancel) -> Result<Connection> {
    open_resolved(path, &path.canonicalize().map_err(|e| Error::io(path, e))?, cancel)
}

/// As [`open_read_only`], for a path that has no links. Fails if it has some by now.
///
/// Nothing is mapped into memory: mapped bytes count as memory of the process, and a file that shrinks would be a signal
/// instead of an error. Queries take at most 2 % longer, and writing all relations 10 %.
pub(super) fn open_resolved(path: &Path, database: &Path, cancel: &Cancel) -> Result<Connection> {
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
    let broken = |e: rusqlite::Error| match (e.sqlite_error_code(), File::open(database)) {
        // SQLite does not say why.
        (Some(ErrorCode::CannotOpen), Err(reason)) => Error::io(path, reason),
        _ => Error::Report {
            path: path.to_owned(),
            reason: format!("cannot be read as a database: {}", plain_message(&e)),
            help: "the file is damaged or still being written: export the report again".to_owned(),
        },
    };
    let mut connection = Connection::open_with_flags(&uri, flags).map_err(broken)?;
    // A deadline replaces this handler.
    let cancel = cancel.clone();
    connection.progress_handler(STEPS, Some(move || cancel.is_cancelled()))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    distrust(&connection)?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())).map_err(broken)?;
    Ok(connection)
}

/// Lets nothing that the schema of an untrusted file defines run on its own.
pub(crate) fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
    ] {
        connection.set_db_config(config, on)?;
    }
    Ok(())
}

/// Steps of SQLite's virtual machine between calls of the progress handler: well under a millisecond.
pub const STEPS: i32 = 10_000;

/// Maximum bytes of one text, blob or row: far more than any name, and too little to fill the memory.
pub const LONGEST: i32 = 256 << 20;

/// Another connection to the database of an open report.
pub fn reopen(database: &Path, cancel: &Cancel) -> Result<Connection> {
    open_resolved(database, database, cancel)
}

/// The file of a connection, or an empty path. The name need not be UTF-8.
pub fn path_of(connection: &Connection) -> PathBuf {
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
pub fn plain_message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

/// A path as the path part of a `file:` URI.
pub(crate) fn percent_encode(path: &Path) -> String {
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
    fn a_uri_keeps_question_marks_and_percent_signs_in_the_path() {
        let encoded = percent_encode(Path::new("/tmp/a b?c%d#e.sqlite"));
        assert_eq!(encoded, "/tmp/a%20b%3Fc%25d%23e.sqlite");
    }
}
