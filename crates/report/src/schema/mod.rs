//! [`Report`] → [`Schema`]: the tables of the file.
//!
//! A schema lists the tables and columns of a report, and the version of the exporter that wrote it.
//! The next stage uses only the columns, because a missing column breaks SQL. The version is for people.
//!
//! This module does not know what a table means, and does not know any query.

use crate::report::{Report, path_of, plain_message};
use nsq_value::error::{Error, Result};
use rusqlite::Connection;
use std::collections::HashMap;

/// The table that marks a file written by `nsq materialize`.
pub const MATERIALIZED: &str = "nsq_materialized";

/// The tables of a report.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    tables: HashMap<String, Table>,
    /// `EXPORT_SCHEMA_VERSION`, such as `3.25.0`. Exports before 2022.2 have none.
    pub export_version: Option<String>,
    /// Version of the `nsys` that made the export, such as `2026.2.1.210`.
    pub nsys_version: Option<String>,
    /// Length of the capture. The report's clock is 0 at its start.
    pub capture_ns: Option<i64>,
    /// CUDA graphs were traced as whole graphs: their kernels are in no table.
    pub has_whole_graphs: bool,
    /// The report was imported from a trace.
    pub is_imported: bool,
    /// The kind of that trace, such as `PyTorch trace` or `rocpd database`.
    pub maker: Option<String>,
    /// The file was written by `nsq materialize`: it has normalised tables instead of those of nsys.
    pub is_materialized: bool,
    /// Start and end of the time window of a materialized file, in ns on the report's clock.
    pub window_ns: (Option<i64>, Option<i64>),
}

/// A table of a report.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name as spelled in the report.
    pub name: String,
    /// Columns as spelled in the report.
    pub columns: Vec<String>,
    /// The table has a rowid: it is not a view or a `WITHOUT ROWID` table.
    pub has_rowid: bool,
}

impl Table {
    /// The report's spelling of a column. Upper and lower case are equal, as in SQLite.
    pub fn column(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|column| column.eq_ignore_ascii_case(name)).map(String::as_str)
    }
}

impl Schema {
    /// Reads the schema of a report. Fails if the database was not written by `nsys` or nsq.
    pub fn detect(report: &Report) -> Result<Self> {
        let connection = report.connect()?;
        let schema = Self::read(&connection)?;
        report.spare(connection);
        if schema.is_materialized || schema.looks_like_nsys() {
            return Ok(schema);
        }
        Err(Error::Report {
            path: report.path.clone(),
            reason: format!(
                "is a SQLite database, but not an export of Nsight Systems ({})",
                schema.describe()
            ),
            help: "give a file written by `nsys export --type sqlite REPORT.nsys-rep`".to_owned(),
        })
    }

    /// Reads the schema of any database.
    pub fn read(connection: &Connection) -> Result<Self> {
        let tables = list_tables(connection)?;
        let is_materialized = tables.contains_key(MATERIALIZED);
        let mut schema = Self { tables, is_materialized, ..Self::default() };
        let meta = ["META_DATA_EXPORT", "EXPORT_META_DATA", MATERIALIZED]
            .into_iter()
            .find_map(|name| schema.plain_table(name));
        if let Some(meta) = meta {
            let fact = |key: &str| -> Option<String> {
                let sql = format!("SELECT value FROM main.{} WHERE name = ?1", quote(&meta.name));
                connection.query_row(&sql, [key], |row| row.get(0)).ok().flatten()
            };
            let versions = (fact("EXPORT_SCHEMA_VERSION"), fact("EXPORT_PRODUCT_VERSION"));
            let bound = |key: &str| fact(key).filter(|_| is_materialized)?.parse().ok();
            let window = (bound("NSQ_SCOPE_START_NS"), bound("NSQ_SCOPE_END_NS"));
            let maker = fact("NSQ_IMPORT_OF");
            (schema.export_version, schema.nsys_version) = versions;
            schema.is_imported = maker.is_some();
            schema.maker = maker;
            schema.window_ns = window;
        }
        let length =
            if is_materialized { ("capture", "dur_ns") } else { ("ANALYSIS_DETAILS", "duration") };
        if let Some(table) = schema.plain_table(length.0) {
            let sql = format!("SELECT max({}) FROM main.{}", length.1, quote(&table.name));
            schema.capture_ns = connection.query_row(&sql, [], |row| row.get(0)).ok().flatten();
        }
        let graphs = if is_materialized { "graph_trace" } else { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE" };
        if let Some(table) = schema.plain_table(graphs) {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM main.{})", quote(&table.name));
            schema.has_whole_graphs = connection.query_row(&sql, [], |row| row.get(0)).unwrap_or(false);
        }
        Ok(schema)
    }

    /// The table called `name`, in upper or lower case.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(&name.to_ascii_lowercase())
    }

    /// Like [`Self::table`], but never a view: a view could run forever, and no deadline is set yet.
    fn plain_table(&self, name: &str) -> Option<&Table> {
        self.table(name).filter(|table| table.has_rowid)
    }

    /// All tables, by name.
    pub fn tables(&self) -> Vec<&Table> {
        let mut tables: Vec<&Table> = self.tables.values().collect();
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        tables
    }

    fn looks_like_nsys(&self) -> bool {
        self.tables.values().any(|table| {
            table.name.starts_with("CUPTI_ACTIVITY_KIND_")
                || [
                    "StringIds",
                    "NVTX_EVENTS",
                    "GPU_METRICS",
                    "ANALYSIS_DETAILS",
                    "TARGET_INFO_SESSION_START_TIME",
                ]
                .contains(&table.name.as_str())
        })
    }

    fn describe(&self) -> String {
        let names: Vec<&str> = self.tables().iter().map(|table| table.name.as_str()).take(5).collect();
        match (names.as_slice(), self.tables.len()) {
            ([], _) => "it has no tables".to_owned(),
            (names, total) if total > names.len() => {
                format!("its tables are {} and {} more", names.join(", "), total - names.len())
            }
            (names, _) => format!("its tables are {}", names.join(", ")),
        }
    }
}

fn list_tables(connection: &Connection) -> Result<HashMap<String, Table>> {
    let mut tables: HashMap<String, Table> = HashMap::new();
    // Of the report alone: the table-valued function would expand every TEMP view as well, and nested ones take forever.
    let mut listed = connection.prepare("PRAGMA main.table_list")?;
    let mut columns =
        connection.prepare("SELECT name FROM pragma_table_xinfo(?1, 'main') ORDER BY cid")?;
    let mut rows = listed.query([])?;
    while let Some(row) = rows.next()? {
        let (name, kind, is_without_rowid): (String, String, bool) =
            (row.get("name")?, row.get("type")?, row.get("wr")?);
        if name.starts_with("sqlite_") {
            continue;
        }
        let has_rowid = kind != "view" && !is_without_rowid;
        // A view may use a missing table or a function that is not allowed.
        let read = columns.query_map([&name], |row| row.get(0)).and_then(Iterator::collect);
        let columns = read.map_err(|e| unreadable(connection, &name, &e))?;
        tables.insert(name.to_ascii_lowercase(), Table { name, columns, has_rowid });
    }
    Ok(tables)
}

fn unreadable(connection: &Connection, name: &str, error: &rusqlite::Error) -> Error {
    Error::Report {
        path: path_of(connection),
        reason: format!("has a table or view {name} that cannot be read: {}", plain_message(error)),
        help: "export the report again, or drop that table or view".to_owned(),
    }
}

/// Quotes a name for SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temp_views_are_not_read() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE events (start); CREATE TEMP VIEW v0 AS SELECT 1")
            .unwrap();
        // Expanding the last one takes 2^60 steps.
        for n in 1..60 {
            let before = n - 1;
            let view = format!(
                "CREATE TEMP VIEW v{n} AS SELECT * FROM v{before} UNION ALL SELECT * FROM v{before}"
            );
            connection.execute_batch(&view).unwrap();
        }
        let schema = Schema::read(&connection).unwrap();
        let names: Vec<&str> = schema.tables().iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["events"]);
    }

    #[test]
    fn names_are_quoted_for_sql() {
        assert_eq!(quote("a\"b"), "\"a\"\"b\"");
    }
}
