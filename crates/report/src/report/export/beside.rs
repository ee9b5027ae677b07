//! Finds an existing export next to a capture, and proves that it belongs to it.
//!
//! `nsys export` and `nsys stats` leave `run.sqlite` next to `run.nsys-rep`. People overwrite and move
//! both, so the name proves nothing. The proof is the capture's identity, which nsys writes to both
//! files, and the exporter's record of what it exported, how, and that it finished. Exports of nsys
//! before 2022.2 have no such record and are not used.

use crate::report::{check_database, open_read_only};
use nsq_value::cancel::Cancel;
use rusqlite::Connection;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The export next to `capture`, if it is newer than the capture and a complete export of it.
pub(super) fn export_of(capture: &Path, cancel: &Cancel) -> Option<PathBuf> {
    let path = capture.with_extension("sqlite");
    let modified = |path: &Path| path.metadata().ok()?.modified().ok();
    if modified(&path)? <= modified(capture)? {
        return None;
    }
    check_database(&path, cancel).ok()?;
    let connection = open_read_only(&path, cancel).ok()?;
    let is_whole = is_whole_export(&connection, capture.file_name()?.to_str()?);
    let identity = fact(&connection, "META_DATA_CAPTURE", "PROFILING_SESSION_UUID")?;
    (is_whole && is_identity(&identity) && holds(capture, identity.as_bytes())).then_some(path)
}

/// Whether the exporter's record says that it exported all of this file, with the options nsq uses.
fn is_whole_export(connection: &Connection, file_name: &str) -> bool {
    let is = |key: &str, expected: &str| {
        fact(connection, "META_DATA_EXPORT", key).is_some_and(|value| value == expected)
    };
    // One session may write several captures with the same identity, so compare the name too.
    is("EXPORT_PARAM_INPUT_FILE", file_name)
        && is("EXPORT_PARAM_TABLES_TO_EXPORT", "")
        && is("EXPORT_PARAM_TIMES_TO_EXPORT", "")
        && is("EXPORT_PARAM_APPEND", "false")
        && is("EXPORT_PARAM_TIME_NORMALIZE", "false")
        && is("EXPORT_PARAM_TIME_SHIFT", "0")
        // The exporter writes its duration last, so it marks a finished export.
        && fact(connection, "META_DATA_EXPORT", "EXPORT_TIME").is_some()
}

fn fact(connection: &Connection, table: &str, name: &str) -> Option<String> {
    let sql = format!("SELECT coalesce(value, '') FROM main.{table} WHERE name = ?1");
    connection.query_row(&sql, [name], |row| row.get(0)).ok()
}

/// Whether a text is a UUID such as `c7a52942-0be5-49ab-9994-5aaa847e2241`.
fn is_identity(text: &str) -> bool {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Bytes at the start and at the end of a capture to search for its identity.
const ENDS: u64 = 256 * 1024;

/// Whether the identity occurs near the start or end of the capture.
fn holds(capture: &Path, identity: &[u8]) -> bool {
    let ends = || {
        let mut file = File::open(capture)?;
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        file.by_ref().take(ENDS).read_to_end(&mut head)?;
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(ENDS)))?;
        file.take(ENDS).read_to_end(&mut tail)?;
        Ok::<_, std::io::Error>([head, tail])
    };
    ends().is_ok_and(|ends| {
        ends.iter().any(|bytes| bytes.windows(identity.len()).any(|window| window == identity))
    })
}
