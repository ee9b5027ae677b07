//! Small captures that a test writes row by row.

use crate::in_process::Opened;
use crate::support::{drop_empty_tables, project};
use nsq::table::Value;
use rusqlite::Connection;
use std::path::PathBuf;
use tempfile::TempDir;

/// The version of the export.
const VERSION: &str = "3.25.0";
/// One microsecond.
pub const US: i64 = 1_000;
/// One millisecond.
pub const MS: i64 = 1_000_000;

/// The globalPid of a process.
pub const fn process(pid: i64) -> i64 {
    1 << 48 | pid << 24
}

/// A capture that is being written.
pub struct Capture {
    folder: TempDir,
    connection: Connection,
}

impl Capture {
    /// A capture without events.
    pub fn new() -> Self {
        Self::of_version(VERSION)
    }

    /// A capture without events, as an export of a version.
    pub fn of_version(version: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("capture.sqlite")).unwrap();
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").unwrap();
        let schema = project(&format!("fixtures/schema/{version}.sql"));
        connection.execute_batch(&std::fs::read_to_string(schema).unwrap()).unwrap();
        Self { folder, connection }
    }

    /// Runs statements.
    pub fn sql(&self, statements: &str) -> &Self {
        self.connection.execute_batch(statements).unwrap_or_else(|e| panic!("{statements}: {e}"));
        self
    }

    /// The ID of a text.
    pub fn text(&self, text: &str) -> i64 {
        let known = "SELECT id FROM StringIds WHERE value = ?1";
        let id = self.connection.query_row(known, [text], |row| row.get(0));
        id.unwrap_or_else(|_| {
            let add =
                "INSERT INTO StringIds (id, value) SELECT coalesce(max(id), 0) + 1, ?1 FROM StringIds";
            self.connection.execute(add, [text]).unwrap();
            self.connection.last_insert_rowid()
        })
    }

    /// A call of a thread: function, times, correlation ID and return value.
    pub fn call(
        &self,
        tid: i64,
        name: &str,
        (start, end): (i64, i64),
        correlation: i64,
        value: i64,
    ) -> &Self {
        let name = self.text(name);
        self.sql(&format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
             VALUES ({start}, {end}, 0, {tid}, {correlation}, {name}, {value})"
        ))
    }

    /// A kernel of a process: name, times, stream and correlation ID.
    pub fn kernel(
        &self,
        pid: i64,
        name: &str,
        (start, end): (i64, i64),
        stream: i64,
        correlation: i64,
    ) -> &Self {
        let name = self.text(name);
        self.sql(&format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid,
                 demangledName, shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,
                 staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId,
                 tensorSizeMinusOneElements)
             VALUES ({start}, {end}, 0, 1, {stream}, {correlation}, {pid}, {name}, {name}, 32, 128, 1, 1, 256, 1, 1, 0, 0, 0, 0, 1, '[]')"
        ))
    }

    /// A launch at `at` that takes 10 µs, and its kernel.
    pub fn launch(&self, pid: i64, at: i64, name: &str, times: (i64, i64), correlation: i64) -> &Self {
        self.call(pid | 1, "cudaLaunchKernel_v7000", (at, at + 10 * US), correlation, 0);
        self.kernel(pid, name, times, 7, correlation)
    }

    /// A copy to the device.
    pub fn copy(&self, pid: i64, (start, end): (i64, i64), correlation: i64) -> &Self {
        self.sql(&format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes,
                 copyKind, srcKind, dstKind, copyCount)
             VALUES ({start}, {end}, 0, 1, 7, {correlation}, {pid}, 1000, 1, 1, 2, 1)"
        ))
    }

    /// An NVTX range of a thread.
    pub fn range(&self, tid: i64, text: &str, (start, end): (i64, i64)) -> &Self {
        self.sql(&format!(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
             VALUES ({start}, {end}, 59, '{text}', {tid}, 0)"
        ))
    }

    /// The path of the written capture.
    pub fn path(&self) -> PathBuf {
        drop_empty_tables(&self.connection);
        self.folder.path().join("capture.sqlite")
    }

    /// The rows of a query, as texts of the columns.
    pub fn rows(&self, query: &str, columns: &[&str]) -> Vec<Vec<String>> {
        let table = Opened::new(&self.path()).unwrap().table(query).unwrap();
        let place = |name: &&str| table.columns.iter().position(|column| column.name == **name);
        let places: Vec<usize> = columns
            .iter()
            .map(|name| place(name).unwrap_or_else(|| panic!("{query}: no {name}")))
            .collect();
        table.rows.iter().map(|row| places.iter().map(|place| text(&row[*place])).collect()).collect()
    }

    /// What `capture_trust` says, as `problem: detail`.
    pub fn doubts(&self) -> Vec<String> {
        self.rows("capture_trust", &["problem", "detail"])
            .into_iter()
            .map(|row| row.join(": "))
            .collect()
    }

    /// Whether `capture_trust` says something that contains all of these words.
    pub fn says(&self, words: &[&str]) -> bool {
        self.doubts().iter().any(|doubt| words.iter().all(|word| doubt.contains(word)))
    }

    /// The first screen.
    pub fn screen(&self) -> String {
        crate::support::stdout(&["overview", self.path().to_str().unwrap()])
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Text(value) => value.clone(),
    }
}
