//! Rows that can be read by the names of their columns.

use crate::table::{Column, ResultTable, Row, Value};

/// The answer to a question: typed, documented columns, and rows in the order of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// Name and version of the query. `None` for a statement.
    pub query: Option<(String, u32)>,
    /// What a user must know about the rows, such as options that could not be applied.
    pub notes: Vec<String>,
    rows: ResultTable,
}

impl Table {
    pub(super) fn new(
        title: &str,
        query: Option<&(String, u32)>,
        notes: Vec<String>,
        rows: ResultTable,
    ) -> Self {
        Self { title: title.to_owned(), query: query.cloned(), notes, rows }
    }

    /// The columns: name, type, unit and meaning.
    pub fn columns(&self) -> &[Column] {
        &self.rows.columns
    }

    /// The rows, each with one value per column. Times are integers in nanoseconds, sizes in bytes.
    pub fn rows(&self) -> &[Vec<Value>] {
        &self.rows.rows
    }

    /// The rows, to be read by column name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.iter()
    }

    /// The first row.
    pub fn first(&self) -> Option<Row<'_>> {
        self.iter().next()
    }
}

/// The answer of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The tables, by the names that the page gives them.
    pub tables: Vec<(String, Table)>,
    /// The facts of the page as JSON.
    pub facts: serde_json::Map<String, serde_json::Value>,
    /// What reports lack.
    pub notes: Vec<String>,
}
