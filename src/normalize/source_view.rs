//! Source spec → the generated `src_…` view.

use crate::catalog::Source;
use crate::schema::{Schema, quote};

/// Statements that make the view of a raw table, or the TEMP table of an ENUM table.
pub(super) fn define(source: &Source, schema: &Schema) -> Vec<String> {
    if source.is_enum() { enum_table(source, schema) } else { vec![view(source, schema)] }
}

fn view(source: &Source, schema: &Schema) -> String {
    let name = &source.view;
    let table = source.tables.iter().find_map(|table| schema.table(table));
    let row_id = match table {
        Some(table) if table.has_rowid => "rowid AS row_id",
        _ => "NULL AS row_id",
    };
    let mut columns = vec![row_id.to_owned()];
    for spec in &source.columns {
        let wanted = quote(&spec.name);
        columns.push(match table.and_then(|table| table.column(&spec.name)) {
            Some(_) => wanted,
            None => format!("NULL AS {wanted}"),
        });
    }
    let columns = columns.join(",\n  ");
    match table {
        None => format!("CREATE TEMP VIEW {name} AS SELECT\n  {columns}\nWHERE 0"),
        Some(table) => {
            let from = quote(&table.name);
            match source.keep_condition() {
                None => format!("CREATE TEMP VIEW {name} AS SELECT\n  {columns}\nFROM main.{from}"),
                // A copy of what may be seen: once it is made, nothing needs to read the table again.
                Some(shown) => format!(
                    "CREATE TEMP TABLE {name} AS SELECT\n  {columns}\nFROM main.{from}\nWHERE {shown}"
                ),
            }
        }
    }
}

/// The report's labels where it has them, the literal ones for every id it lacks.
fn enum_table(source: &Source, schema: &Schema) -> Vec<String> {
    let name = &source.view;
    let mut statements =
        vec![format!("CREATE TEMP TABLE {name} (id INTEGER PRIMARY KEY, name TEXT, label TEXT)")];
    let table = source.tables.iter().find_map(|table| schema.table(table));
    let complete = |table: &&crate::schema::Table| {
        ["id", "name", "label"].iter().all(|column| table.column(column).is_some())
    };
    if let Some(table) = table.filter(complete) {
        statements.push(format!(
            "INSERT OR IGNORE INTO {name} SELECT id, name, label FROM main.{}",
            quote(&table.name)
        ));
    }
    let text = |value: &str| format!("'{}'", value.replace('\'', "''"));
    let rows: Vec<String> = source
        .rows
        .iter()
        .map(|row| format!("({}, {}, {})", row.id, text(&row.name), text(&row.label)))
        .collect();
    statements.push(format!("INSERT OR IGNORE INTO {name} VALUES\n  {}", rows.join(",\n  ")));
    statements
}
