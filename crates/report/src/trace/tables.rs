//! Rows → the tables of an nsys export.

use super::links::{self, Link};
use super::owner::Owner;
use nsq_value::error::{Error, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Statement, params_from_iter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

/// A table of timed rows. All its cells are numbers: texts are ids in StringIds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Kernel,
    Memcpy,
    Memset,
    Call,
    Sync,
    Overhead,
    Range,
    /// What PyTorch says of a collective's kernel. nsys has no such table.
    Collective,
    /// The inputs of an operator in PyTorch. nsys has no such table.
    Input,
    /// A call of a Python function. nsys has no such table.
    Frame,
    /// An allocation or release by PyTorch's allocator. nsys has no such table.
    Memory,
    /// The part of an XLA program that a kernel runs. nsys has no such table.
    Hlo,
}

/// Cells of the widest table, without start and end.
const CELLS: usize = 16;
/// Name and columns after start and end of each [`Table`], in the order of a row's cells.
const TABLES: [(&str, &str); 12] = [
    (
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "globalPid, deviceId, contextId, streamId, correlationId, demangledName, shortName, \
         registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, graphNodeId, graphId",
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "globalPid, deviceId, contextId, streamId, correlationId, bytes, copyKind, srcKind, dstKind, \
         srcDeviceId, dstDeviceId, graphNodeId",
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "globalPid, deviceId, contextId, streamId, correlationId, bytes, memKind, graphNodeId",
    ),
    ("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid, eventClass, correlationId, nameId, returnValue"),
    (
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "globalPid, deviceId, contextId, streamId, correlationId, syncType, eventId",
    ),
    ("PROFILER_OVERHEAD", "globalTid, nameId"),
    ("NVTX_EVENTS", "globalTid, eventType, textId, domainId, int64Value"),
    (
        "NSQ_COLLECTIVE",
        "globalPid, correlationId, nameId, groupId, groupRanksId, groupSize, typeId, inElements, \
         outElements, source, destination, sequence, descriptionId",
    ),
    ("NSQ_OPERATOR_INPUT", "globalTid, rangeId, inputsId"),
    ("NSQ_PYTHON_FRAME", "globalTid, nameId"),
    ("NSQ_MEMORY", "globalTid, deviceType, deviceId, address, bytes, allocated, reserved"),
    ("NSQ_HLO", "kernelId, moduleId, opId, placeId"),
];

impl Table {
    pub(super) fn name(self) -> &'static str {
        TABLES[self as usize].0
    }

    fn columns(self) -> &'static str {
        TABLES[self as usize].1
    }

    /// Whether its rows are GPU work. Such rows have the process that owns the work.
    pub(super) fn is_of_gpu(self) -> bool {
        self.columns().starts_with("globalPid")
    }
}

/// The times of GPU work whose times CUPTI could not collect. They are no times of the trace's clock.
pub(super) const UNTIMED: (i64, i64) = (0, 0);
/// Stands for [`UNTIMED`] until the times of all other rows are known.
const UNTIMED_MARK: i64 = i64::MIN;

/// The end of a range or call that has none.
pub(super) const OPEN: i64 = i64::MAX;

/// A row of one of the tables. Times are on the trace's own clock.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) table: Table,
    pub(super) start_ns: i64,
    /// [`OPEN`] for a range or call without an end.
    pub(super) end_ns: i64,
    /// One cell per column of the table, in order; the rest are unused.
    pub(super) cells: [Option<i64>; CELLS],
}

impl Row {
    pub(super) fn new<const N: usize>(
        table: Table,
        (start_ns, end_ns): (i64, i64),
        cells: [Option<i64>; N],
    ) -> Self {
        debug_assert!(N <= CELLS && N <= table.columns().split(',').count());
        let mut all = [None; CELLS];
        all[..N].copy_from_slice(&cells);
        Self { table, start_ns, end_ns, cells: all }
    }

    /// Whether CUPTI could not collect its times.
    fn is_untimed(&self) -> bool {
        let is_of_gpu = self.table.is_of_gpu() && self.table != Table::Sync;
        (self.start_ns, self.end_ns) == UNTIMED && is_of_gpu
    }
}

/// Rows, and the texts that occur in them for the first time.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) texts: Vec<(i64, Box<str>)>,
    pub(super) rows: Vec<Row>,
}

/// What is known once the whole trace has been read.
#[derive(Debug, Default)]
pub(super) struct Closing {
    /// The time on the trace's clock that becomes 0.
    pub(super) zero_ns: i64,
    /// Tables without times.
    pub(super) tables: Vec<SmallTable>,
    pub(super) owner: Owner,
    /// Correlation IDs for provisional ones.
    pub(super) links: Vec<Link>,
    /// Whether GPU work has provisional IDs.
    pub(super) has_waited: bool,
    /// Whether GPU work has 0 as its correlation ID.
    pub(super) has_zeros: bool,
    /// Tables whose rows are too many to keep.
    pub(super) dropped: Vec<Table>,
    /// The end of the trace, until which calls without an end last; `None` if all have one.
    pub(super) open_until_ns: Option<i64>,
}

/// A small table with its rows. It is not created if it has no rows.
#[derive(Debug)]
pub(super) struct SmallTable {
    table: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<Value>>,
}

impl SmallTable {
    pub(super) fn new(table: &'static str, columns: &'static [&'static str]) -> Self {
        Self { table, columns, rows: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn add<const N: usize>(&mut self, row: [Value; N]) {
        self.add_row(row.into());
    }

    pub(super) fn add_row(&mut self, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let (table, columns) = (self.table, self.columns.join(", "));
        connection.execute_batch(&format!("CREATE TABLE {table} ({columns})"))?;
        let marks = vec!["?"; self.columns.len()].join(", ");
        let mut insert = connection.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?;
        self.rows.iter().try_for_each(|row| insert.execute(params_from_iter(row)).map(drop))
    }
}

/// Batches to hold back until the start of the trace is known.
const HELD_BACK: usize = 16;

/// A database that is being filled.
pub(super) struct Database {
    path: PathBuf,
    pub(super) connection: Connection,
    /// Time that was subtracted from the times of written rows.
    zero_ns: i64,
    /// Tables that have rows.
    pub(super) present: Vec<Table>,
    /// Whether a row has [`UNTIMED_MARK`].
    has_untimed: bool,
}

impl Database {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| failed(path, &e))?;
        // No journal: the caller moves the file into place only when it is complete.
        connection
            .execute_batch(
                "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \
                 PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384; BEGIN; \
                 CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
            )
            .map_err(|e| failed(path, &e))?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            zero_ns: 0,
            present: Vec::new(),
            has_untimed: false,
        })
    }

    /// Writes all batches until the channel closes.
    pub(super) fn fill(&mut self, batches: Receiver<Batch>) -> Result<()> {
        let path = self.path.clone();
        self.insert(batches).map_err(|e| failed(&path, &e))
    }

    fn insert(&mut self, batches: Receiver<Batch>) -> rusqlite::Result<()> {
        let mut first = Vec::new();
        while first.len() < HELD_BACK
            && let Ok(batch) = batches.recv()
        {
            first.push(batch);
        }
        // Most traces are complete by now. In longer ones, these batches usually have the earliest row.
        let rows = first.iter().flat_map(|batch| &batch.rows).filter(|row| !row.is_untimed());
        let starts = rows.map(|row| row.start_ns);
        self.zero_ns = starts.min().unwrap_or_default();
        let connection = &self.connection;
        let mut texts = connection.prepare("INSERT INTO StringIds (id, value) VALUES (?1, ?2)")?;
        let mut inserts: [Option<Statement<'_>>; TABLES.len()] = Default::default();
        for batch in first.into_iter().chain(batches) {
            for (id, text) in &batch.texts {
                texts.execute((id, text))?;
            }
            for row in &batch.rows {
                let insert = match &mut inserts[row.table as usize] {
                    Some(insert) => insert,
                    none => none.insert(create(connection, row.table, &mut self.present)?),
                };
                let shifted = |ns: i64| if row.is_untimed() { UNTIMED_MARK } else { ns - self.zero_ns };
                self.has_untimed |= row.is_untimed();
                insert.raw_bind_parameter(1, shifted(row.start_ns))?;
                insert.raw_bind_parameter(2, (row.end_ns != OPEN).then(|| shifted(row.end_ns)))?;
                for (place, cell) in (3..=insert.parameter_count()).zip(&row.cells) {
                    insert.raw_bind_parameter(place, cell)?;
                }
                insert.raw_execute()?;
            }
        }
        Ok(())
    }

    /// Writes what is known only at the end, and closes the database.
    pub(super) fn finish(self, closing: Closing) -> Result<()> {
        let path = self.path.clone();
        self.close(closing).map_err(|e| failed(&path, &e))
    }

    fn close(mut self, closing: Closing) -> rusqlite::Result<()> {
        for table in closing.dropped.iter().filter(|table| self.present.contains(table)) {
            self.connection.execute_batch(&format!("DROP TABLE {}", table.name()))?;
        }
        self.present.retain(|table| !closing.dropped.contains(table));
        let late_ns = self.zero_ns - closing.zero_ns;
        for table in &self.present {
            let name = table.name();
            if late_ns != 0 {
                let shift = format!(
                    "UPDATE {name} SET start = start + ?1, \"end\" = \"end\" + ?1 WHERE start <> {UNTIMED_MARK}"
                );
                self.connection.execute(&shift, [late_ns])?;
            }
            // A range keeps none: its length is unknown.
            if let Some(end_ns) = closing.open_until_ns
                && matches!(table, Table::Call | Table::Frame)
            {
                let end = format!("UPDATE {name} SET \"end\" = max(start, ?1) WHERE \"end\" IS NULL");
                self.connection.execute(&end, [end_ns])?;
            }
            if self.has_untimed && table.is_of_gpu() {
                let zero =
                    format!("UPDATE {name} SET start = 0, \"end\" = 0 WHERE start = {UNTIMED_MARK}");
                self.connection.execute(&zero, [])?;
            }
        }
        let of_gpu = self.present.iter().filter(|table| table.is_of_gpu());
        if closing.has_waited {
            links::write(&self.connection, &closing.links, of_gpu.map(|table| table.name()))?;
        }
        self.assign(&closing.owner)?;
        if closing.has_zeros {
            self.guess_links()?;
        }
        for table in &closing.tables {
            table.write(&self.connection)?;
        }
        self.connection.execute_batch("COMMIT")?;
        self.connection.close().map_err(|(_, error)| error)
    }
}

/// Creates a table for its first row, as nsys does. Returns the statement that inserts rows.
fn create<'c>(
    connection: &'c Connection,
    table: Table,
    present: &mut Vec<Table>,
) -> rusqlite::Result<Statement<'c>> {
    let (name, columns) = (table.name(), table.columns());
    let declared = columns.replace(',', " INTEGER,");
    connection.execute_batch(&format!(
        "CREATE TABLE {name} (start INTEGER, \"end\" INTEGER, {declared} INTEGER)"
    ))?;
    present.push(table);
    let marks = ", ?".repeat(columns.split(',').count());
    connection.prepare(&format!("INSERT INTO {name} (start, \"end\", {columns}) VALUES (?, ?{marks})"))
}

fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
        return Error::io(path, std::io::ErrorKind::StorageFull.into());
    }
    Error::Report {
        path: path.to_owned(),
        reason: format!("cannot be written: {}", error),
        help: "check that the disk has free space and that the folder is writable".to_owned(),
    }
}
