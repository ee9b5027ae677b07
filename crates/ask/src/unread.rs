//! The tables of an export that nsq does not read, with their rows.

use crate::open_report::OpenReport;
use nsq_library::catalog::Catalog;
use nsq_report::schema::quote;
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use std::collections::HashSet;

/// What the tables hold that nsq does not read, by the beginning of their names. The first one that fits counts.
fn contents() -> Result<Vec<(String, String)>> {
    serde_yaml::from_str(include_str!("unread.yml"))
        .map_err(|e| Error::catalog("unread.yml", 1, e.to_string(), "report this: it is a bug in nsq"))
}

/// What a table holds that is not listed.
const UNKNOWN: &str = "not known to this version of nsq";

impl OpenReport {
    /// The tables of an export that have rows and no source spec, with what they hold. Tables of labels (`ENUM_…`) and
    /// views are left out. Statements of `nsq sql` can read them by their names.
    pub fn unread(&self, catalog: &Catalog) -> Result<ResultTable> {
        let column = |name, doc: &str| Column { doc: doc.to_owned(), ..Column::untyped(name) };
        let mut unread = ResultTable {
            columns: vec![
                column("table", "Name of the table in the export."),
                column("rows", "Number of its rows."),
                column("content", "What it holds."),
            ],
            rows: Vec::new(),
        };
        // Their tables are those of nsq.
        if self.schema.is_materialized || self.schema.is_imported {
            return Ok(unread);
        }
        let read: HashSet<String> = catalog
            .sources()?
            .into_iter()
            .flat_map(|source| source.tables.iter().map(|name| name.to_ascii_lowercase()))
            .collect();
        let (connection, contents) = (self.report.connect()?, contents()?);
        for table in self.schema.tables() {
            let name = &table.name;
            if !table.has_rowid || name.starts_with("ENUM_") || read.contains(&name.to_ascii_lowercase())
            {
                continue;
            }
            let sql = format!("SELECT count(*) FROM main.{}", quote(name));
            let rows: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
            if rows > 0 {
                let content = contents.iter().find(|(start, _)| name.starts_with(start));
                let content = content.map_or(UNKNOWN, |(_, content)| content);
                unread.rows.push(vec![
                    Value::Text(name.clone()),
                    Value::Int(rows),
                    Value::Text(content.to_owned()),
                ]);
            }
        }
        self.report.spare(connection);
        Ok(unread)
    }
}
