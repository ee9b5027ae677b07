//! Parameters into statements, and cells out of them.

use super::guard::NOT_FROM_NSYS;
use super::native::texts::readable;
use crate::compile::{Plan, columns_of_statement};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, Value};
use rusqlite::Statement;
use rusqlite::types::ValueRef;

pub(super) fn bind(statement: &mut Statement<'_>, plan: &Plan) -> Result<()> {
    for (name, value) in &plan.bindings {
        // NVIDIA's layout and lint cases may leave a parameter out: that is not an error here.
        let Some(index) = statement.parameter_index(&format!(":{name}"))? else { continue };
        match value {
            Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            Value::Int(int) => statement.raw_bind_parameter(index, int)?,
            Value::Real(real) => statement.raw_bind_parameter(index, real)?,
            Value::Text(text) => statement.raw_bind_parameter(index, text)?,
        }
    }
    // SQLite would take NULL for it, and find nothing without a word.
    let is_bound =
        |name: &str| plan.bindings.iter().any(|(bound, _)| name.strip_prefix(':') == Some(bound));
    for index in 1..=statement.parameter_count() {
        let name = statement.parameter_name(index).unwrap_or("?");
        if !is_bound(name) {
            return Err(Error::Sql {
                message: format!("parameter {name} has no value"),
                excerpt: format!("  --> {}:{}", plan.origin.0, plan.origin.1),
                help: format!(
                    "give it with -p {}=VALUE; a query with front matter declares it in `params`",
                    name.trim_start_matches(':')
                ),
            });
        }
    }
    Ok(())
}

/// The plan's columns; for a user's statement, those of relations, and columns with units inferred from their names.
pub(super) fn columns(statement: &Statement<'_>, plan: &Plan) -> Vec<Column> {
    if !plan.columns.is_empty() {
        return plan.columns.clone();
    }
    columns_of_statement(&statement.column_names().collect::<Vec<_>>(), &plan.origins)
}

/// Stores a cell in `value`. A text reuses the memory of the text from the row before.
pub(super) fn store(cell: ValueRef<'_>, value: &mut Value) -> Result<()> {
    if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = cell
        && bytes.len() > LONGEST_CELL
    {
        return Err(Error::Limit {
            reason: format!("stopped: a cell holds {} MiB", bytes.len() >> 20),
            help: format!(
                "cells of up to {} MiB are shown: select a part with substr()",
                LONGEST_CELL >> 20
            ),
        });
    }
    *value = match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(text) => {
            let text = readable(text);
            if let Value::Text(above) = value {
                above.clear();
                above.push_str(&text);
                return Ok(());
            }
            Value::Text(text.into_owned())
        }
        ValueRef::Blob(blob) => {
            let mut hex = String::with_capacity(2 * blob.len());
            for byte in blob {
                hex.extend([byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)])));
            }
            Value::Text(hex)
        }
    };
    Ok(())
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The most bytes in one cell. Every output format holds several copies of a cell in memory.
const LONGEST_CELL: usize = 64 << 20;

/// The error for text in a numeric column: nsys never writes this.
pub(super) fn no_number(path: &str, column: &Column, value: ValueRef<'_>) -> Error {
    let mut text = match value {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => "bytes".to_owned(),
    };
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    Error::Report {
        path: path.into(),
        reason: format!("holds text where a number belongs: {} is \"{text}\"", column.name),
        help: NOT_FROM_NSYS.to_owned(),
    }
}

/// The most characters of a value that a message shows.
const SHOWN: usize = 40;
