//! Rows with typed, documented columns: what every question is answered with.
//!
//! For: the types that stand between running a query and printing it. A [`RowSink`] takes rows one
//! by one, so that a trace of millions of rows can be printed without being held; a [`ResultTable`]
//! is the sink that keeps them.
//!
//! Not for: anything that knows SQLite, the command line or an output format.

mod unit;

pub use unit::{Unit, humanize};

use crate::error::Result;
use serde::{Deserialize, Serialize};

/// One cell. Times and sizes are integers here; only a renderer turns them into text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL: unknown or not applicable.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Real(f64),
    /// Text as it stands in the report: it may hold control characters.
    Text(String),
}

/// What the values of a column are, beyond their SQLite type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// Integer count or number.
    Int,
    /// Floating point number.
    Real,
    /// Text.
    Text,
    /// 0 or 1.
    Bool,
    /// Integer nanoseconds since the start of the capture.
    Timestamp,
    /// Nanoseconds between two instants.
    Duration,
    /// A size in bytes.
    Bytes,
    /// A share of a hundred.
    Percent,
    /// Identifies a row of its relation.
    Id,
    /// Anything: the column of a statement that nobody documented.
    Any,
}

impl Type {
    /// The name that front matter and machine formats have for it.
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

    /// Numbers are printed flush right and never shortened.
    pub fn is_numeric(self) -> bool {
        !matches!(self, Self::Text | Self::Any)
    }
}

/// Name, type and meaning of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Name, with its unit as a suffix where it has one (`dur_ns`); in NVIDIA's layout, its header.
    pub name: String,
    /// What the values are.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Unit of the raw values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Meaning, in a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Digits after the point of a [`Value::Real`] in text formats; `None`: as many as are needed.
    #[serde(skip)]
    pub decimals: Option<usize>,
}

impl Column {
    /// A column of which nothing but its name is known.
    pub fn untyped(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Type::Any, unit: None, doc: String::new(), decimals: None }
    }
}

/// Takes a result row by row.
pub trait RowSink {
    /// Called once, before any row.
    fn begin(&mut self, columns: &[Column]) -> Result<()>;
    /// Called for every row; `row` has as many values as there are columns.
    fn row(&mut self, row: &[Value]) -> Result<()>;
    /// As [`RowSink::row`], of whoever needs the values no more: others are left in their place, whose
    /// memory can be used again.
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
    /// The rows, in the query's order; each has one value per column.
    pub rows: Vec<Vec<Value>>,
}

impl ResultTable {
    /// Hands the whole table to `sink`.
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
