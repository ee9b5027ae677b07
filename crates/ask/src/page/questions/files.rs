//! Reads the CSV files that a user gives to a page with questions.

use nsq_files::bounded_file::{self, Origin};
use nsq_library::catalog::FileSpec;
use nsq_value::error::{Error, Result};
use nsq_value::table::Value as Cell;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads the rows of a CSV file. The first line names the columns.
pub(super) fn read(spec: &FileSpec, path: &Path) -> Result<Vec<BTreeMap<String, Cell>>> {
    let bytes = bounded_file::read(path, Origin::Named, bounded_file::MAX_TEXT_BYTES)?;
    let refuse = |reason: String| Error::Report {
        path: path.to_owned(),
        reason,
        help: format!("{} The first line names the columns: {}", spec.doc, spec.columns.join(",")),
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| refuse("is not UTF-8".to_owned()))?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let malformed = |e: csv::Error| refuse(format!("is not CSV: {e}"));
    let names: Vec<String> = reader.headers().map_err(malformed)?.iter().map(str::to_owned).collect();
    for (place, name) in names.iter().enumerate() {
        if names[..place].contains(name) {
            return Err(refuse(format!("has two columns named {name}")));
        }
    }
    let missing: Vec<&str> =
        spec.columns.iter().filter(|name| !names.contains(name)).map(String::as_str).collect();
    if !missing.is_empty() {
        return Err(refuse(format!("has no column {}", missing.join(", "))));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        let row: BTreeMap<String, Cell> = names.iter().cloned().zip(record.iter().map(cell)).collect();
        for name in &spec.numbers {
            if let Some(Cell::Text(text)) = row.get(name) {
                let line = record.position().map_or(0, csv::Position::line);
                return Err(refuse(format!(
                    "line {line}: invalid value `{text}` in column {name}: expected a number"
                )));
            }
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(refuse("has a header line but no rows".to_owned()));
    }
    Ok(rows)
}

/// Parses a number if possible; an empty cell is null.
fn cell(text: &str) -> Cell {
    if text.is_empty() {
        return Cell::Null;
    }
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(int), _) => Cell::Int(int),
        (_, Ok(real)) if real.is_finite() => Cell::Real(real),
        _ => Cell::Text(text.to_owned()),
    }
}
