//! The GPU operations of a database, with the calls that launched them.

use foldhash::{HashMap, HashMapExt};
use rusqlite::Connection;
use std::hash::{BuildHasher, Hash};

/// A GPU operation.
#[derive(Debug)]
pub(super) struct Operation {
    /// Kind, short name of a kernel, and shape or size: the same in both databases.
    pub(super) key: u64,
    /// The whole name of a kernel, as this database spells it; 0 for other operations.
    pub(super) name: i64,
    pub(super) process: i64,
    /// Device and stream.
    pub(super) stream: (i64, i64),
    pub(super) correlation: Option<i64>,
    pub(super) start: i64,
    pub(super) call: Option<Call>,
}

/// The call of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    pub(super) thread: i64,
    pub(super) start: i64,
    pub(super) end: i64,
}

impl Operation {
    /// When it was launched, for the order in its stream.
    pub(super) fn at(&self) -> (i64, i64) {
        (self.call.map_or(self.start, |call| call.start), self.start)
    }
}

const KERNELS: &str = "SELECT start, correlationId, globalPid, deviceId, streamId, demangledName, 0, 0,
    (SELECT value FROM StringIds WHERE id = shortName), gridX, gridY, gridZ, blockX, blockY, blockZ
  FROM CUPTI_ACTIVITY_KIND_KERNEL";
const COPIES: &str = "SELECT start, correlationId, globalPid, deviceId, streamId, 0, 1, bytes,
    '', copyKind, 0, 0, 0, 0, 0
  FROM CUPTI_ACTIVITY_KIND_MEMCPY";
const FILLS: &str = "SELECT start, correlationId, globalPid, deviceId, streamId, 0, 2, bytes,
    '', 0, 0, 0, 0, 0, 0
  FROM CUPTI_ACTIVITY_KIND_MEMSET";

/// Whether the database has a table.
pub(super) fn has(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) > 0 FROM main.sqlite_master WHERE type = 'table' AND name = ?1";
    connection.query_row(sql, [table], |row| row.get(0))
}

/// All operations, by process, stream and launch.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Vec<Operation>> {
    let calls = calls(connection)?;
    // The hash is the same for both databases.
    let hasher = foldhash::quality::FixedState::with_seed(7);
    let mut operations = Vec::new();
    for (table, sql) in [
        ("CUPTI_ACTIVITY_KIND_KERNEL", KERNELS),
        ("CUPTI_ACTIVITY_KIND_MEMCPY", COPIES),
        ("CUPTI_ACTIVITY_KIND_MEMSET", FILLS),
    ] {
        if !has(connection, table)? {
            continue;
        }
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let number = |place: usize| row.get::<_, Option<i64>>(place).map(Option::unwrap_or_default);
            let short: Option<String> = row.get(8)?;
            let mut shape = [0; 8];
            for (place, value) in shape.iter_mut().enumerate() {
                *value = number([6, 7, 9, 10, 11, 12, 13, 14][place])?;
            }
            let process = number(2)?;
            let correlation: Option<i64> = row.get(1)?;
            operations.push(Operation {
                key: hasher.hash_one(Key { short: short.as_deref().unwrap_or_default(), shape }),
                name: number(5)?,
                process,
                stream: (number(3)?, number(4)?),
                correlation,
                start: number(0)?,
                call: correlation.and_then(|id| calls.get(&(process, id)).copied()),
            });
        }
    }
    operations.sort_by_key(|op| (op.process, op.stream, op.at(), op.key));
    Ok(operations)
}

#[derive(Hash)]
struct Key<'a> {
    short: &'a str,
    shape: [i64; 8],
}

/// The first call of each process and correlation ID.
fn calls(connection: &Connection) -> rusqlite::Result<HashMap<(i64, i64), Call>> {
    let mut calls: HashMap<(i64, i64), Call> = HashMap::new();
    if !has(connection, "CUPTI_ACTIVITY_KIND_RUNTIME")? {
        return Ok(calls);
    }
    let sql = "SELECT globalTid, start, \"end\", correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME
      WHERE correlationId IS NOT NULL AND globalTid IS NOT NULL AND \"end\" IS NOT NULL";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let call = Call { thread: row.get(0)?, start: row.get(1)?, end: row.get(2)? };
        let first = calls.entry((call.thread & !0xFF_FFFF, row.get(3)?)).or_insert(call);
        if call.start < first.start {
            *first = call;
        }
    }
    Ok(calls)
}
