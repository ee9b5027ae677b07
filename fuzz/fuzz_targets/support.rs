//! What the targets share: fixtures, folders, and the search for tokens.

#![allow(dead_code)]

use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A folder in memory, or on disk where `/dev/shm` is not writable.
pub fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// A path inside the project.
pub fn project(inside: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(inside)
}

/// For `planted.rs`, which lists the columns of all versions in a test.
pub fn versions() -> Vec<String> {
    Vec::new()
}

/// Builds a trace of the fixtures as an export of the version that they are written for.
pub fn build(version: &str, trace: &str, path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").unwrap();
    for file in [format!("fixtures/schema/{version}.sql"), format!("fixtures/traces/{trace}.sql")] {
        connection.execute_batch(&fs::read_to_string(project(&file)).unwrap()).unwrap();
    }
    // A real export has no empty tables, and a session with fewer tables begins sooner.
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let mut tables = connection.prepare(tables).unwrap();
    let names: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for name in names {
        let is_empty = format!("SELECT NOT EXISTS (SELECT 1 FROM \"{name}\")");
        if connection.query_row(&is_empty, [], |row| row.get(0)).unwrap() {
            connection.execute_batch(&format!("DROP TABLE \"{name}\"")).unwrap();
        }
    }
}

/// Whether bytes hold a token, in any case, also as UTF-16 or hexadecimal.
pub fn holds(bytes: &[u8], token: &str) -> bool {
    let plain = token.as_bytes().to_vec();
    let wide: Vec<u8> = plain.iter().flat_map(|byte| [*byte, 0]).collect();
    let hex: Vec<u8> = plain.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
    [plain, wide, hex]
        .iter()
        .any(|wanted| bytes.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted)))
}

/// A number that follows from all bytes, so that equal inputs are asked equal questions.
pub fn sum_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum: u64, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Time that this process has computed. A clock on the wall also counts what other programs do.
pub fn computed() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
