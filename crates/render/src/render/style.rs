//! What all formats share: the style, the heading, and small texts.

use nsq_value::error::{Error, Result};
use nsq_value::table::Column;
use serde_json::{Map, Value as Json};
use std::io::Write;

/// Output options other than the format.
#[derive(Debug, Clone, Default)]
pub struct Style {
    /// Width of the terminal in columns, for text; `None`: unlimited.
    pub width: Option<usize>,
    /// The most columns that a name takes where `width` is unlimited; `None`: as many as it has.
    pub name_width: Option<usize>,
    /// The output goes to a terminal: all formats escape control characters.
    pub on_terminal: bool,
    /// Print headings in bold.
    pub color: bool,
    /// Most rows in text, Markdown and HTML; `None`: all.
    pub max_rows: Option<usize>,
    /// Omit the line of column names.
    pub no_header: bool,
    /// Name no option of the program: the reader asks from a program of their own.
    pub is_for_library: bool,
    /// Print plain numbers without units.
    pub raw: bool,
    /// Names or headers of the columns to show, in this order; empty: all.
    pub columns: Vec<String>,
    /// In CSV and TSV, prefix an apostrophe to texts that a spreadsheet would run as formulas.
    pub for_spreadsheets: bool,
}

/// The title and the metadata of a result.
#[derive(Debug, Clone, Default)]
pub struct Heading {
    /// A line above the rows in text, Markdown and HTML; empty: none.
    pub title: String,
    /// Metadata beside the rows in JSON: query, version, report, …
    pub facts: Map<String, Json>,
    /// The statement; empty if it is none.
    pub sql: String,
}

impl Heading {
    /// No title, and the fact that accompanies every result: the version of nsq.
    pub fn of_nsq() -> Self {
        let mut heading = Self::default();
        heading.facts.insert("nsq".to_owned(), env!("CARGO_PKG_VERSION").into());
        heading
    }
}

/// The destination of results. It is `Send`, since a background thread may write to it.
pub type Output = dyn Write + Send;

/// Writes text; a failure is an output error.
pub(super) fn put(out: &mut dyn Write, text: &str) -> Result<()> {
    out.write_all(text.as_bytes()).map_err(Error::Output)
}

/// The header of a column in tables for people.
pub(super) fn header_of(column: &Column, style: &Style) -> String {
    // Raw values need the name, which says their unit.
    if style.raw { column.name.clone() } else { column.header() }
}

/// `1 more row`, `2 more rows`
pub(super) fn count_of(rows: usize, what: &str) -> String {
    format!("{rows} {what}{}", if rows == 1 { "" } else { "s" })
}
