//! The tables of an export that nsq does not read, with their rows.

use crate::open_report::OpenReport;
use nsq_library::catalog::Catalog;
use nsq_report::schema::quote;
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use std::collections::{HashMap, HashSet};

/// What the tables hold that nsq does not read, by the beginning of their names. The first one that fits counts.
fn contents() -> Result<Vec<(String, String)>> {
    serde_yaml::from_str(include_str!("unread.yml"))
        .map_err(|e| Error::catalog("unread.yml", 1, e.to_string(), "report this: it is a bug in nsq"))
}

/// What a table holds that is not listed.
const UNKNOWN: &str = "not known to this version of nsq";
/// What a column holds that the source spec of its table does not have.
const COLUMN: &str = "a column that nsq does not read; the others of its table are read";

impl OpenReport {
    /// The tables of an export that have rows and no source spec, with what they hold, and the columns with values that
    /// the spec of their table lacks, as `TABLE.column`. Tables of labels (`ENUM_…`) and views are left out. Statements
    /// of `nsq sql` can read them by their names.
    pub fn unread(&self, catalog: &Catalog) -> Result<ResultTable> {
        let column = |name, doc: &str| Column { doc: doc.to_owned(), ..Column::untyped(name) };
        let mut unread = ResultTable {
            columns: vec![
                column("table", "Name of the table in the export, or of a column, as TABLE.column."),
                column("rows", "Number of its rows; of a column, those with a value."),
                column("content", "What it holds."),
            ],
            rows: Vec::new(),
        };
        // Their tables are those of nsq.
        if self.schema.is_materialized || self.schema.is_imported {
            return Ok(unread);
        }
        // Columns that are read, by table. Several sources may read one table.
        let mut read: HashMap<String, HashSet<String>> = HashMap::new();
        for source in catalog.sources()? {
            for table in &source.tables {
                let columns = source.columns.iter().map(|column| column.name.to_ascii_lowercase());
                read.entry(table.to_ascii_lowercase()).or_default().extend(columns);
            }
        }
        let (connection, contents) = (self.report.connect()?, contents()?);
        let mut add = |name: String, rows: i64, content: &str| {
            if rows > 0 {
                let row = vec![Value::Text(name), Value::Int(rows), Value::Text(content.to_owned())];
                unread.rows.push(row);
            }
        };
        let counts = |counted: &[String], table: &str| -> Result<Vec<i64>> {
            let sql = format!("SELECT {} FROM main.{}", counted.join(", "), quote(table));
            Ok(connection
                .query_row(&sql, [], |row| (0..counted.len()).map(|place| row.get(place)).collect())?)
        };
        for table in self.schema.tables() {
            let name = &table.name;
            if !table.has_rowid || name.starts_with("ENUM_") {
                continue;
            }
            let Some(known) = read.get(&name.to_ascii_lowercase()) else {
                let content = contents.iter().find(|(start, _)| name.starts_with(start));
                let content = content.map_or(UNKNOWN, |(_, content)| content);
                for rows in counts(&["count(*)".to_owned()], name)? {
                    add(name.clone(), rows, content);
                }
                continue;
            };
            // The spec of a table of labels has no columns.
            let is_unread =
                |column: &&String| !known.is_empty() && !known.contains(&column.to_ascii_lowercase());
            let columns: Vec<&String> = table.columns.iter().filter(is_unread).collect();
            if columns.is_empty() {
                continue;
            }
            // All of a table in one scan.
            let counted: Vec<String> =
                columns.iter().map(|column| format!("count({})", quote(column))).collect();
            for (column, rows) in columns.iter().zip(counts(&counted, name)?) {
                add(format!("{name}.{column}"), rows, COLUMN);
            }
        }
        self.report.spare(connection);
        Ok(unread)
    }
}
