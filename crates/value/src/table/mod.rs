//! Query results: rows with typed, documented columns.
//!
//! These types connect running a query and printing it, and depend on neither SQLite nor an output
//! format. A [`RowSink`] takes rows one by one, so a trace of millions of rows can be printed without
//! holding it in memory. A [`ResultTable`] is a sink that keeps the rows.

mod humanize;
mod row;
mod unit;

pub use humanize::humanize;
pub use row::Row;
pub use unit::Unit;

use crate::error::Result;
use serde::{Deserialize, Serialize};

/// One cell. Times and sizes are integers; a renderer turns them into text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL: unknown or not applicable.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit floating point number.
    Real(f64),
    /// Text from the report, unescaped: it can contain control characters.
    Text(String),
}

/// The type of a column's values, more specific than their SQLite type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// Integer.
    Int,
    /// Floating point number.
    Real,
    /// Text.
    Text,
    /// 0 or 1.
    Bool,
    /// Integer nanoseconds since the start of the capture.
    Timestamp,
    /// Nanoseconds between two timestamps.
    Duration,
    /// A size in bytes.
    Bytes,
    /// A percentage.
    Percent,
    /// The identifier of a row in its relation.
    Id,
    /// Any type: an undocumented column of a statement.
    Any,
}

impl Type {
    /// The name in front matter and machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Real => "real",
            Self::Text => "text",
            Self::Bool => "bool",
            Self::Timestamp => "timestamp",
            Self::Duration => "duration",
            Self::Bytes => "bytes",
            Self::Percent => "percent",
            Self::Id => "id",
            Self::Any => "any",
        }
    }

    /// Whether values are numbers, which are right-aligned and never truncated.
    pub fn is_numeric(self) -> bool {
        !matches!(self, Self::Text | Self::Any)
    }
}

/// The name, type and meaning of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Name, with the unit as a suffix (`dur_ns`). In NVIDIA's layouts, the header.
    pub name: String,
    /// Type of the values.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Unit of the raw values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Header in tables for people; `None`: derived from the name by [`Column::header`].
    #[serde(skip)]
    pub label: Option<String>,
    /// 0 identifies the row: it comes first in tables for people and is never dropped. 1 is the answer, 2 the
    /// rest, 3 detail: where a terminal is too narrow, the columns of the highest number are dropped first.
    #[serde(skip)]
    pub priority: u8,
    /// Meaning, in one sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Decimal places of a [`Value::Real`]; `None`: as many as needed.
    #[serde(skip)]
    pub decimals: Option<usize>,
}

impl Column {
    /// The priority of a column that states none.
    pub const PRIORITY: u8 = 2;

    /// A column with only a name.
    pub fn untyped(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: Type::Any,
            unit: None,
            label: None,
            priority: Self::PRIORITY,
            doc: String::new(),
            decimals: None,
        }
    }

    /// The header in tables for people, whose values carry their unit: `total_ns` is headed `total`.
    pub fn header(&self) -> String {
        match (&self.label, self.kind) {
            (Some(label), _) => label.clone(),
            // The name that a user gave in a statement.
            (None, Type::Any) => self.name.clone(),
            (None, _) => {
                let suffix = self.unit.map_or("", Unit::suffix);
                self.name.strip_suffix(suffix).unwrap_or(&self.name).replace('_', " ")
            }
        }
    }
}

/// Receives a result row by row.
pub trait RowSink {
    /// Called once, before the first row.
    fn begin(&mut self, columns: &[Column]) -> Result<()>;
    /// Called for every row; `row` has one value per column.
    fn row(&mut self, row: &[Value]) -> Result<()>;
    /// As [`RowSink::row`], for a caller that no longer needs the values. The sink may swap in other
    /// values, whose memory the caller can reuse.
    fn take_row(&mut self, row: &mut [Value]) -> Result<()> {
        self.row(row)
    }
    /// Called once, after the last row.
    fn end(&mut self) -> Result<()>;
}

/// A result held in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultTable {
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The rows in the query's order, each with one value per column.
    pub rows: Vec<Vec<Value>>,
}

impl ResultTable {
    /// Passes the whole table to `sink`.
    pub fn replay(&self, sink: &mut dyn RowSink) -> Result<()> {
        sink.begin(&self.columns)?;
        for row in &self.rows {
            sink.row(row)?;
        }
        sink.end()
    }
}

impl RowSink for ResultTable {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows.push(row.to_vec());
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}
