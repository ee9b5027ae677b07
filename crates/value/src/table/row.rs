//! A row that is read by the names of its columns.

use super::{Column, ResultTable, Value};

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub struct Row<'t> {
    columns: &'t [Column],
    values: &'t [Value],
}

impl<'t> Row<'t> {
    /// The value of a column. `None`: there is no such column.
    pub fn get(&self, column: &str) -> Option<&'t Value> {
        let place = self.columns.iter().position(|known| known.name == column)?;
        self.values.get(place)
    }

    /// An integer: a count, an ID, nanoseconds or bytes. `None`: null, or no such integer column.
    pub fn int(&self, column: &str) -> Option<i64> {
        match self.get(column)? {
            Value::Int(int) => Some(*int),
            _ => None,
        }
    }

    /// A number, also of an integer column.
    pub fn real(&self, column: &str) -> Option<f64> {
        match self.get(column)? {
            Value::Real(real) => Some(*real),
            Value::Int(int) => Some(*int as f64),
            _ => None,
        }
    }

    /// A text from the report, unescaped: it can contain control characters.
    pub fn text(&self, column: &str) -> Option<&'t str> {
        match self.get(column)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl ResultTable {
    /// The rows, to be read by column name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.iter().map(|values| Row { columns: &self.columns, values })
    }
}
