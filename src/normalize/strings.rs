//! Which strings a statement of the user's may read.
//!
//! The string table of an export holds the names of what happened, and beside them what the profiler
//! knew of the machine: command lines, environments, what the processes printed. Statements of the library
//! look up the numbers that events hold, and reach nothing else. A statement of the user's can ask for
//! any number, so it reads a copy of the strings that events refer to.

use crate::catalog::Catalog;
use crate::error::Result;
use crate::schema::{Schema, Table, quote};
use std::collections::BTreeSet;

/// The table of an export that holds all texts.
pub const STRING_TABLE: &str = "StringIds";
/// The view of it: what relations look names up in.
pub const STRING_VIEW: &str = "src_string_id";
/// The relations from which a statement reads any string by its number.
pub const STRING_RELATIONS: [&str; 3] = [STRING_VIEW, "string", "all_string"];

/// What a column that holds numbers of strings says in its `ref:`.
const REFERENCE: &str = "StringIds.id";

/// Statements that put the strings that events refer to in the place of the view; none where there are no
/// strings. They read the tables of events once for each of their columns of names.
///
/// A table that the library has no spec for refers to nothing here, and neither does a spec of the user's: it
/// could call any column a reference. A view in the place of a table could hold any number, or read a secret.
pub fn strings_of_events(schema: &Schema) -> Result<Vec<String>> {
    let Some(strings) = schema.table(STRING_TABLE).filter(|_| !schema.is_materialized) else {
        return Ok(Vec::new());
    };
    let is_table = |table: &&Table| table.has_rowid;
    let library = Catalog::built_in()?;
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
