//! Rows → text on an [`io::Write`]: one file per format.
//!
//! For: writing. Machine formats carry the raw integers; text, markdown and html write a number by
//! its column's unit. Names come from strangers, so every format escapes what could do harm where
//! it is read.
//!
//! Not for: computing, sorting or leaving out rows.

mod aside;
pub mod breakdown;
mod delimited;
pub mod diff;
mod escape;
mod formula;
mod html;
mod json;
mod lead;
mod markdown;
pub mod nsys;
mod text;

use aside::{Feed, aside};
pub use escape::{quotable, visible};
pub use formula::reads_as_formula;
pub use markdown::{markdown_code, markdown_text};

use crate::error::{Error, Result};
use crate::table::{Column, RowSink};
use serde_json::{Map, Value as Json};
use std::io::{self, Write};
use std::path::Path;

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Aligned columns with units, for people.
    Text,
    /// Comma-separated values, raw (RFC 4180).
    Csv,
    /// Tab-separated values, raw.
    Tsv,
    /// One document with the query, its columns and the rows as objects.
    Json,
    /// One object per row and line.
    Ndjson,
    /// A Markdown table with units.
    Markdown,
    /// A self-contained page with units.
    Html,
}

impl Format {
    /// The format that a file's extension stands for.
    pub fn from_extension(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "txt" => Self::Text,
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "json" => Self::Json,
            "ndjson" | "jsonl" => Self::Ndjson,
            "md" | "markdown" => Self::Markdown,
            "html" | "htm" => Self::Html,
            _ => return None,
        })
    }
}

/// How to print, beside the format.
#[derive(Debug, Clone, Default)]
pub struct Style {
    /// Columns of the terminal that text must fit into; `None`: as wide as it gets.
    pub width: Option<usize>,
    /// A person reads it as it comes: control characters are written out in every format.
    pub on_terminal: bool,
    /// Print headings in bold.
    pub color: bool,
    /// Rows that text, markdown and html show; `None`: all.
    pub max_rows: Option<usize>,
    /// Leave out the line of column names.
    pub no_header: bool,
    /// Numbers as they are instead of by their unit.
    pub raw: bool,
    /// In CSV and TSV, an apostrophe before texts that a spreadsheet takes for formulas.
    pub for_spreadsheets: bool,
}

/// What a result is the answer to.
#[derive(Debug, Clone, Default)]
pub struct Heading {
    /// One line over the rows in the formats for people; empty: none.
    pub title: String,
    /// Facts that stand beside the rows in JSON: query, version, report, …
    pub facts: Map<String, Json>,
}

/// Where results go: a thread of its own may write them.
pub type Output = dyn Write + Send;

/// Writes a sequence of results to one place.
pub struct Writer<'a> {
    out: &'a mut Output,
    format: Format,
    style: Style,
    written: usize,
    /// How many results will come: JSON puts several into one array.
    expected: usize,
    formulas: usize,
}

impl<'a> Writer<'a> {
    /// A writer of `expected` results.
    pub fn new(out: &'a mut Output, format: Format, style: Style, expected: usize) -> Self {
        Self { out, format, style, written: 0, expected, formulas: 0 }
    }

    /// Writes what stands over all results in the formats that are read from the top: a heading, and
    /// lines of a word and a sentence. Nothing in the others.
    pub fn lead(&mut self, title: &str, lines: &[(&str, String)]) -> Result<()> {
        match self.format {
            Format::Text => put(self.out, &lead::text(title, lines, &self.style)),
            Format::Markdown => put(self.out, &lead::markdown(title, lines)),
            _ => Ok(()),
        }
    }

    /// Writes one result: `produce` hands its rows to the sink it is given.
    pub fn result<T>(
        &mut self,
        heading: &Heading,
        produce: impl FnOnce(&mut dyn RowSink) -> Result<T>,
    ) -> Result<T> {
        self.separate()?;
        let (out, style) = (&mut *self.out, &self.style);
        match self.format {
            Format::Text => produce(&mut text::Text::new(out, style, heading)),
            Format::Csv | Format::Tsv => {
                let delimiter = if self.format == Format::Csv { b',' } else { b'\t' };
                let (defuse, found) = (style.for_spreadsheets, &mut self.formulas);
                let write = |out: &mut dyn Write, feed: Feed<'_>| {
                    let sink = &mut delimited::Delimited::new(out, delimiter, style);
                    feed(&mut formula::Formulas { sink, defuse, found })
                };
                aside(out, write, produce)
            }
            Format::Json => {
                aside(out, |out, feed| feed(&mut json::Document::new(out, style, heading)), produce)
            }
            Format::Ndjson => {
                let several = self.expected > 1;
                aside(
                    out,
                    |out, feed| feed(&mut json::Lines::new(out, style, heading, several)),
                    produce,
                )
            }
            Format::Markdown => produce(&mut markdown::Markdown::new(out, style, heading)),
            Format::Html => produce(&mut html::Section::new(out, style, heading, self.written == 1)),
        }
    }

    /// Texts in CSV or TSV so far that a spreadsheet would take for formulas.
    pub fn formulas(&self) -> usize {
        self.formulas
    }

    /// What stands before, between and behind results.
    fn separate(&mut self) -> Result<()> {
        let first = self.written == 0;
        self.written += 1;
        let between: &[u8] = match (self.format, first) {
            (Format::Json, true) if self.expected > 1 => b"[\n",
            (Format::Json, false) => b",\n",
            (Format::Text | Format::Csv | Format::Tsv | Format::Markdown, false) => b"\n",
            _ => b"",
        };
        self.out.write_all(between).map_err(Error::Output)
    }

    /// Writes what the format ends with.
    pub fn finish(self) -> Result<()> {
        let end: &[u8] = match self.format {
            Format::Json if self.expected > 1 && self.written == 0 => b"[]\n",
            Format::Json if self.expected > 1 => b"\n]\n",
            Format::Json if self.written > 0 => b"\n",
            Format::Html => html::END.as_bytes(),
            _ => b"",
        };
        self.out.write_all(end).and_then(|()| self.out.flush()).map_err(Error::Output)
    }
}

/// Fails as an output error.
fn put(out: &mut dyn Write, text: &str) -> Result<()> {
    out.write_all(text.as_bytes()).map_err(Error::Output)
}

/// A value for people, ready to be escaped by the format.
fn shown(value: &crate::table::Value, column: &Column, style: &Style) -> String {
    if style.raw { delimited::plain(value, column) } else { crate::table::humanize(value, column) }
}

/// `1 more row`, `2 more rows`
fn count_of(rows: usize, what: &str) -> String {
    format!("{rows} {what}{}", if rows == 1 { "" } else { "s" })
}

/// The kind of error that ends output quietly: the reader has gone.
pub fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
