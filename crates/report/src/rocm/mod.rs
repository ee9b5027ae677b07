//! Databases of AMD's profilers → SQLite with the tables of an nsys export.
//!
//! `rocprofv3` writes rocpd: its tables have names that end in a UUID, one set for each process. `rocmProfileData`
//! writes rpd, without UUIDs. The SQL files of this folder make the rows. They read TEMP views that have the names
//! without UUIDs and every column that they use: a missing column is null, a missing table is empty.

use crate::report::{STEPS, percent_encode, plain_message};
use crate::schema::quote;
use nsq_sweep::classify::FunctionName;
use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode};
use std::path::Path;

/// Version of the import. Change it when an import writes other rows: older databases are then not used.
pub const RECIPE: &str = "rocm 2";

/// A table without its UUID, and the columns that the SQL reads.
type Read = (&'static str, &'static [&'static str]);

const ROCPD: &[Read] = &[
    ("rocpd_string", &["id", "guid", "string"]),
    ("rocpd_info_node", &["id", "guid", "machine_id", "hostname"]),
    ("rocpd_info_process", &["id", "guid", "nid", "pid", "command"]),
    ("rocpd_info_thread", &["id", "guid", "pid", "tid", "name"]),
    (
        "rocpd_info_agent",
        &[
            "id",
            "guid",
            "type",
            "absolute_index",
            "logical_index",
            "type_index",
            "name",
            "model_name",
            "product_name",
            "extdata",
        ],
    ),
    (
        "rocpd_info_kernel_symbol",
        &["id", "guid", "kernel_name", "display_name", "group_segment_size", "arch_vgpr_count"],
    ),
    ("rocpd_event", &["id", "guid", "category_id", "stack_id", "parent_stack_id", "extdata"]),
    ("rocpd_region", &["id", "guid", "tid", "start", "end", "name_id", "event_id"]),
    (
        "rocpd_kernel_dispatch",
        &[
            "id",
            "guid",
            "pid",
            "agent_id",
            "kernel_id",
            "queue_id",
            "stream_id",
            "start",
            "end",
            "group_segment_size",
            "workgroup_size_x",
            "workgroup_size_y",
            "workgroup_size_z",
            "grid_size_x",
            "grid_size_y",
            "grid_size_z",
            "event_id",
        ],
    ),
    (
        "rocpd_memory_copy",
        &[
            "id",
            "guid",
            "pid",
            "start",
            "end",
            "name_id",
            "dst_agent_id",
            "src_agent_id",
            "size",
            "queue_id",
            "stream_id",
            "event_id",
        ],
    ),
    ("rocpd_memory_allocate", &["id"]),
];

const RPD: &[Read] = &[
    ("rocpd_string", &["id", "string"]),
    ("rocpd_api", &["id", "pid", "tid", "start", "end", "apiName_id", "args_id"]),
    ("rocpd_op", &["id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"]),
    ("rocpd_api_ops", &["api_id", "op_id"]),
    (
        "rocpd_kernelop",
        &[
            "op_ptr_id",
            "gridX",
            "gridY",
            "gridZ",
            "workgroupX",
            "workgroupY",
            "workgroupZ",
            "groupSegmentSize",
        ],
    ),
    ("rocpd_copyop", &["op_ptr_id", "size"]),
    ("rocpd_copyapi", &["api_ptr_id", "size"]),
];

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of rocprofv3.
    Rocpd,
    /// Of rocmProfileData.
    Rpd,
}

impl Kind {
    /// The kind of a database with these tables; `None` if AMD's profilers did not write it.
    pub fn of(tables: &[String]) -> Option<Self> {
        let has = |base| tables.iter().any(|table| is_part(table, base));
        if has("rocpd_api") && has("rocpd_op") {
            return Some(Self::Rpd);
        }
        (has("rocpd_string") && (has("rocpd_kernel_dispatch") || has("rocpd_region")))
            .then_some(Self::Rocpd)
    }

    fn reads(self) -> &'static [Read] {
        match self {
            Self::Rocpd => ROCPD,
            Self::Rpd => RPD,
        }
    }

    fn statements(self) -> &'static str {
        match self {
            Self::Rocpd => include_str!("rocpd.sql"),
            Self::Rpd => include_str!("rpd.sql"),
        }
    }
}

/// Whether a table has this name, or this name and a UUID.
fn is_part(table: &str, base: &str) -> bool {
    let is_uuid = |text: &str| {
        text.len() >= 32
            && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_' || byte == b'-')
    };
    match table.strip_prefix(base) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('_').is_some_and(is_uuid),
        None => false,
    }
}

/// The kind of a database; `None` if AMD's profilers did not write it.
pub fn kind_of(connection: &Connection) -> Option<Kind> {
    Kind::of(&tables(connection, "main").ok()?)
}

fn tables(connection: &Connection, schema: &str) -> rusqlite::Result<Vec<String>> {
    let sql = format!("SELECT name FROM {schema}.sqlite_master WHERE type = 'table' ORDER BY name");
    let mut listed = connection.prepare(&sql)?;
    let names = listed.query_map([], |row| row.get(0))?;
    names.collect()
}

/// Writes the rows of `source` into a new database.
pub fn import(source: &Path, database: &Path, kind: Kind, cancel: &Cancel) -> Result<()> {
    let failed = |error: rusqlite::Error| {
        if cancel.is_cancelled() {
            return Error::Interrupted;
        }
        if error.sqlite_error_code() == Some(ErrorCode::DiskFull) {
            return Error::from(error);
        }
        Error::Report {
            path: source.to_owned(),
            reason: format!("cannot be converted: {}", plain_message(&error)),
            help:
                "record it again with a newer rocprofv3, or convert it to a trace with `rocpd convert`"
                    .to_owned(),
        }
    };
    let stop = cancel.clone();
    let mut connection = Connection::open(database).map_err(failed)?;
    connection.progress_handler(STEPS, Some(move || stop.is_cancelled())).map_err(failed)?;
    // The source is untrusted: nothing that its schema defines may run on its own.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(failed)?;
    write(&connection, source, kind).map_err(failed)?;
    if !has_events(&connection).map_err(failed)? {
        return Err(Error::Report {
            path: source.to_owned(),
            reason: "is a database of AMD's profiler without kernels, copies, calls and ranges"
                .to_owned(),
            help: "record the program with `rocprofv3 --runtime-trace`, and let it end by itself"
                .to_owned(),
        });
    }
    connection.close().map_err(|(_, error)| failed(error))
}

fn write(connection: &Connection, source: &Path, kind: Kind) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("short_name", 1, flags, |context| {
        let name: Option<String> = context.get(0)?;
        Ok(name.map(|name| FunctionName::of(&name).own.to_owned()))
    })?;
    connection.execute_batch(
        "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \
         PRAGMA temp_store = MEMORY",
    )?;
    // Read-only, and without side files next to it.
    let mut wal = source.as_os_str().to_owned();
    wal.push("-wal");
    let still = if Path::new(&wal).exists() { "" } else { "&immutable=1" };
    let uri = format!("file:{}?mode=ro{still}", percent_encode(source));
    connection.execute("ATTACH ?1 AS source", [uri])?;
    let tables = tables(connection, "source")?;
    connection.execute_batch("BEGIN")?;
    for (base, columns) in kind.reads() {
        let parts: Vec<&String> = tables.iter().filter(|table| is_part(table, base)).collect();
        connection.execute_batch(&view(connection, base, columns, &parts)?)?;
    }
    connection.execute_batch(include_str!("tables.sql"))?;
    connection.execute_batch(kind.statements())?;
    connection.execute_batch(include_str!("finish.sql"))?;
    let by = format!("nsq {}", env!("CARGO_PKG_VERSION"));
    connection.execute("INSERT INTO META_DATA_EXPORT VALUES ('NSQ_IMPORT_BY', ?1)", [by])?;
    drop_empty(connection)?;
    connection.execute_batch("COMMIT")
}

/// The statement that makes a view of the tables that have this name.
fn view(
    connection: &Connection,
    base: &str,
    columns: &[&str],
    parts: &[&String],
) -> rusqlite::Result<String> {
    let mut selects = Vec::new();
    for part in parts {
        let mut listed = connection.prepare("SELECT name FROM pragma_table_xinfo(?1, 'source')")?;
        let known: Vec<String> =
            listed.query_map([part], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let cell = |column: &&str| {
            let found = known.iter().find(|name| name.eq_ignore_ascii_case(column));
            format!("{} AS {}", found.map_or("NULL".to_owned(), |name| quote(name)), quote(column))
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        selects.push(format!("SELECT {} FROM source.{}", cells.join(", "), quote(part)));
    }
    if selects.is_empty() {
        let cells: Vec<String> =
            columns.iter().map(|column| format!("NULL AS {}", quote(column))).collect();
        selects.push(format!("SELECT {} WHERE 0", cells.join(", ")));
    }
    Ok(format!("CREATE TEMP VIEW {} AS {}", quote(base), selects.join(" UNION ALL ")))
}

/// Whether the import made rows for events.
fn has_events(connection: &Connection) -> rusqlite::Result<bool> {
    let tables = tables(connection, "main")?;
    Ok(tables.iter().any(|table| table.starts_with("CUPTI_ACTIVITY_KIND_") || table == "NVTX_EVENTS"))
}

/// Drops tables without rows: nsys writes none.
fn drop_empty(connection: &Connection) -> rusqlite::Result<()> {
    for table in tables(connection, "main")? {
        let name = quote(&table);
        let has_rows: bool =
            connection.query_row(&format!("SELECT EXISTS (SELECT 1 FROM main.{name})"), [], |row| {
                row.get(0)
            })?;
        if !has_rows {
            connection.execute_batch(&format!("DROP TABLE main.{name}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_known_with_and_without_its_uuid() {
        let uuid = "rocpd_region_0000a1b2_0000_7000_8000_00000000000a";
        assert!(is_part("rocpd_region", "rocpd_region") && is_part(uuid, "rocpd_region"));
        assert!(!is_part("rocpd_api_ops", "rocpd_api") && !is_part("rocpd_region_x", "rocpd_region"));
        let kind =
            |names: &[&str]| Kind::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(kind(&["rocpd_api", "rocpd_op", "rocpd_string"]), Some(Kind::Rpd));
        assert_eq!(kind(&[uuid, "rocpd_string"]), Some(Kind::Rocpd));
        assert_eq!(kind(&["StringIds"]), None);
    }
}
