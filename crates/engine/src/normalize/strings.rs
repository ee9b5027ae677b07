//! The strings that a user's statement may read.
//!
//! The string table of an export has the names of events, but also private data: command lines,
//! environment variables, and output of the processes. Statements of the library look up only the string
//! ids of events. A user's statement can look up any id, so it gets a copy that has only the strings
//! that events refer to.

use nsq_library::catalog::BuiltIn;
use nsq_report::schema::{Schema, Table, quote};
use nsq_value::error::Result;
use std::collections::BTreeSet;

/// The string table of an export.
pub const STRING_TABLE: &str = "StringIds";
/// The view of the string table, in which relations look up names.
pub const STRING_VIEW: &str = "src_string_id";
/// The relations through which a statement can read any string by its id.
pub const STRING_RELATIONS: [&str; 3] = [STRING_VIEW, "string", "all_string"];

/// The `ref` of columns with string ids.
const REFERENCE: &str = "StringIds.id";

/// Statements that replace the string view by a table of the strings that events refer to. Empty if the
/// report has no string table.
///
/// They read each event table once for each column of string ids. Only the library's specs count: a
/// user's spec could declare any column a reference. Only real tables count: a view could return any id,
/// or read a secret.
pub fn strings_of_events(schema: &Schema, built_in: &'static BuiltIn) -> Result<Vec<String>> {
    let Some(strings) = schema.table(STRING_TABLE).filter(|_| !schema.is_materialized) else {
        return Ok(Vec::new());
    };
    let is_table = |table: &&Table| table.has_rowid;
    let library = built_in.catalog()?;
    let mut references = BTreeSet::new();
    for source in library.sources()?.into_iter().filter(|source| !source.secret) {
        let table = source.tables.iter().find_map(|table| schema.table(table));
        let Some(table) = table.filter(is_table) else { continue };
        let refers = source.columns.iter().filter(|spec| spec.reference.as_deref() == Some(REFERENCE));
        for column in refers.filter_map(|spec| table.column(&spec.name)) {
            let (column, table) = (quote(column), quote(&table.name));
            references.insert(format!("id IN (SELECT {column} FROM main.{table})"));
        }
    }
    if references.is_empty() || !strings.has_rowid {
        references = BTreeSet::from(["0".to_owned()]);
    }
    let references: Vec<String> = references.into_iter().collect();
    let from = match strings.has_rowid {
        true => format!("SELECT rowid, id, value\nFROM main.{}", quote(&strings.name)),
        false => "SELECT NULL, NULL, NULL".to_owned(),
    };
    Ok(vec![
        format!("DROP VIEW IF EXISTS temp.{STRING_VIEW}"),
        format!("CREATE TEMP TABLE {STRING_VIEW} (row_id INTEGER, id INTEGER PRIMARY KEY, value TEXT)"),
        format!(
            "INSERT OR IGNORE INTO temp.{STRING_VIEW}\n{from}\nWHERE\n  {}",
            references.join("\n  OR ")
        ),
    ])
}
