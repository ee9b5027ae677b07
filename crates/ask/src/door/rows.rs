//! Rows that can be read by the names of their columns.

use crate::request::Failed;
use nsq_render::render::{Format, Heading, Output, Style, Writer};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Row, Value};
use std::path::{Path, PathBuf};

/// A report that failed, while others answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The report, as it was named.
    pub report: PathBuf,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Failure {
    /// The failure of a report.
    pub fn new(report: &Path, error: &Error) -> Self {
        Self { report: report.to_owned(), message: error.to_string(), help: error.help() }
    }

    pub(super) fn of(failed: &Failed) -> Self {
        Self::new(&failed.path, &failed.error)
    }
}

/// What an answer is about, beside its rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Heading.
    pub title: String,
    /// Name and version of the query. `None` for a statement.
    pub query: Option<(String, u32)>,
    /// What a user must know about the rows, such as options that could not be applied.
    pub notes: Vec<String>,
    /// The reports without rows because they failed; see [`Question::go_on`](super::Question::go_on).
    pub failures: Vec<Failure>,
}

/// The answer to a question: typed, documented columns, and rows in the order of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// Name and version of the query. `None` for a statement.
    pub query: Option<(String, u32)>,
    /// What a user must know about the rows, such as options that could not be applied.
    pub notes: Vec<String>,
    /// The reports without rows because they failed; see [`Question::go_on`](super::Question::go_on).
    pub failures: Vec<Failure>,
    rows: ResultTable,
}

impl Table {
    pub(super) fn new(answer: Answer, rows: ResultTable) -> Self {
        let Answer { title, query, notes, failures } = answer;
        Self { title, query, notes, failures, rows }
    }

    /// A table of rows that [`Question::run_into`](super::Question::run_into) has passed on.
    pub fn of(answer: Answer, columns: Vec<Column>, rows: Vec<Vec<Value>>) -> Self {
        Self::new(answer, ResultTable { columns, rows })
    }

    /// The table with units, as the program prints it. Columns that do not fit in `width` are left out.
    pub fn to_text(&self, width: Option<usize>) -> Result<String> {
        let style = Style { width, on_terminal: true, is_for_library: true, ..Style::default() };
        self.written(|out| Writer::new(out, Format::Text, style, 1))
    }

    /// The table with units, as a `<section>` to stand in an HTML page.
    pub fn to_html(&self) -> Result<String> {
        self.written(|out| Writer::within(out, Format::Html, Style::default()))
    }

    fn written(&self, writer: impl FnOnce(&mut Output) -> Writer<'_>) -> Result<String> {
        let heading = Heading { title: self.title.clone(), ..Heading::default() };
        let mut bytes = Vec::new();
        writer(&mut bytes).result(&heading, |sink| self.rows.replay(sink))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
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
    /// The reports that are left out because they failed; see [`PageQuestion::go_on`](super::PageQuestion::go_on).
    pub failures: Vec<Failure>,
    /// As text, as the program prints it. `None` without [`PageQuestion::layouts`](super::PageQuestion::layouts),
    /// for a page that has no such layout, and for several reports that the page does not compare.
    pub text: Option<String>,
    /// As an HTML document. `None` as for `text`.
    pub html: Option<String>,
}
