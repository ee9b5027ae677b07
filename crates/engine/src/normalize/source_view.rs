//! Generates the `src_…` views from source specs.

use nsq_library::catalog::{BuiltIn, Catalog, Source, SourceColumn};
use nsq_report::schema::{Schema, Table, quote};
use nsq_value::error::Result;

/// Checks of the start and end times of a raw table.
#[derive(Debug, Clone)]
pub struct Times {
    /// Name of the table in the report.
    pub table: String,
    /// A statement that returns 1 if a time is not an integer. SQLite would calculate with it without an
    /// error.
    pub is_no_number: String,
    /// A statement that returns 1 if NVIDIA's reports may see a row that relations leave out: these say which ones, and
    /// this is quicker.
    pub may_be_suspect: Option<String>,
}

/// The view of NVTX ranges and marks.
const RANGES: &str = "src_nvtx_event";
/// The view of CUDA API calls.
const CALLS: &str = "src_cuda_api";
/// Longest time, in ns, between the start and the end of an event that relations take for possible.
const PLAUSIBLE_NS: i64 = 1_000_000_000_000_000;

/// Statements that create the view of a raw table, or the TEMP table of an ENUM table.
///
/// The view of a secret table that was not copied exists, but the guard denies every read of it.
pub(super) fn define(source: &Source, schema: &Schema, reveals_secrets: bool) -> Vec<String> {
    if source.is_enum() {
        return enum_table(source, schema);
    }
    let table = source.tables.iter().find_map(|table| schema.table(table));
    let shown = match table {
        None => Some("0".to_owned()),
        Some(_) => source.keep_condition().filter(|_| !reveals_secrets),
    };
    let condition = shown.map_or(String::new(), |shown| format!("\nWHERE {shown}"));
    let select = select(source, table, reveals_secrets);
    vec![format!("CREATE TEMP VIEW {} AS {select}{condition}", source.view)]
}

/// The check of a raw table's times, or `None` if it has no time columns.
pub(super) fn times(source: &Source, schema: &Schema) -> Option<Times> {
    let table = source.tables.iter().find_map(|table| schema.table(table))?;
    let columns: Vec<String> =
        source.essential_columns().filter_map(|column| table.column(column)).map(quote).collect();
    let condition = |column: &String| format!("typeof({column}) <> 'integer' AND {column} IS NOT NULL");
    let conditions: Vec<String> = columns.iter().map(condition).collect();
    let any = |condition: &str| {
        format!("SELECT EXISTS (SELECT 1 FROM main.{} WHERE {condition})", quote(&table.name))
    };
    let may_be_suspect = match columns.as_slice() {
        [start, end] => {
            // Marks have no end.
            let kind = table.column("eventType").map_or("0".to_owned(), quote);
            let is_range =
                if source.view == RANGES { &format!("{kind} IN (59, 60, 70, 71)") } else { "1" };
            let is_open = format!("{end} IS NULL AND {is_range}");
            let class = table.column("eventClass").filter(|_| source.view == CALLS);
            let is_repeated = class.map_or("0".to_owned(), |class| format!("{} = 67", quote(class)));
            Some(any(&format!(
                "{end} < {start} OR {start} <= 0 OR {end} > {start} + {PLAUSIBLE_NS} OR {is_open} OR {is_repeated}"
            )))
        }
        _ => None,
    };
    (!conditions.is_empty()).then(|| Times {
        table: table.name.clone(),
        is_no_number: any(&conditions.join(" OR ")),
        may_be_suspect,
    })
}

/// The statement that copies the public rows of a secret table.
///
/// `None` if the report lacks the table, if it has no secret rows, or if a user's spec would reveal more
/// than the library's spec. After the copy, nothing needs to read the table.
pub(super) fn copy(
    source: &Source,
    schema: &Schema,
    built_in: &'static BuiltIn,
) -> Result<Option<String>> {
    let table = source.tables.iter().find_map(|table| schema.table(table));
    let (Some(table), Some(shown)) = (table, source.keep_condition()) else { return Ok(None) };
    if !built_in.has(source.view.trim_start_matches("src_"), &source.text)
        && !reveals_no_more(source, built_in.catalog()?)?
    {
        return Ok(None);
    }
    let select = select(source, Some(table), false);
    Ok(Some(format!("CREATE TEMP TABLE {} AS {select}\nWHERE {shown}", source.view)))
}

/// Whether everything that a user's spec keeps of a secret table is also kept by the library's spec for
/// the same view.
fn reveals_no_more(source: &Source, library: &Catalog) -> Result<bool> {
    let Some(ours) = library.source(&source.view).transpose()? else { return Ok(false) };
    let is_within = |theirs: &[String], ours: &[String]| theirs.iter().all(|glob| ours.contains(glob));
    let rows = is_within(&source.keep, &ours.keep) && (ours.hides_values() || !source.hides_values());
    // SQLite ignores the case of column names.
    let values = !ours.columns.iter().any(SourceColumn::is_limited)
        || source.columns.iter().all(|column| {
            let same = ours.columns.iter().find(|own| own.name.eq_ignore_ascii_case(&column.name));
            same.is_some_and(|own| {
                !own.is_limited()
                    || column.is_limited()
                        && is_within(&column.keep, &own.keep)
                        && is_within(&column.keep_numbers, &own.keep_numbers)
            })
        });
    Ok(ours.secret && ours.tables == source.tables && rows && values)
}

/// A SELECT of the spec's columns from its table. Columns that the report lacks are NULL, and so are
/// secret values, unless the user asked to see them.
fn select(source: &Source, table: Option<&Table>, reveals_secrets: bool) -> String {
    let row_id = match table {
        Some(table) if table.has_rowid => "rowid AS row_id",
        _ => "NULL AS row_id",
    };
    let mut columns = vec![row_id.to_owned()];
    for spec in &source.columns {
        let wanted = quote(&spec.name);
        columns.push(match table.and_then(|table| table.column(&spec.name)) {
            Some(_) => match spec.keep_condition(&wanted).filter(|_| !reveals_secrets) {
                Some(shown) => format!("CASE WHEN {shown} THEN {wanted} END AS {wanted}"),
                None => wanted,
            },
            None => format!("NULL AS {wanted}"),
        });
    }
    let from = table.map_or(String::new(), |table| format!("\nFROM main.{}", quote(&table.name)));
    format!("SELECT\n  {}{from}", columns.join(",\n  "))
}

/// An ENUM table: the report's rows, then the spec's rows for ids that the report lacks.
fn enum_table(source: &Source, schema: &Schema) -> Vec<String> {
    let name = &source.view;
    let mut statements =
        vec![format!("CREATE TEMP TABLE {name} (id INTEGER PRIMARY KEY, name TEXT, label TEXT)")];
    let table = source.tables.iter().find_map(|table| schema.table(table));
    let complete =
        |table: &&Table| ["id", "name", "label"].iter().all(|column| table.column(column).is_some());
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
