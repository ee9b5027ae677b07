//! Writes result rows to an [`std::io::Write`], with one module per format.
//!
//! Machine formats contain the raw integers; text, Markdown and HTML format a number with its column's
//! unit. Names in reports are untrusted, so every format escapes what could be harmful to its reader.

mod arranged;
mod background;
mod cell;
mod columnar;
mod delimited;
mod escape;
#[cfg(feature = "cli")]
mod flame;
mod format;
mod formula;
mod html;
mod json;
pub mod json_schema;
mod lead;
mod markdown;
pub mod nsys;
mod policy;
mod shorten;
mod style;
mod text;

use arranged::Arranged;
use background::write_in_background;
pub use background::{Feed, in_background};
use cell::shown;
pub use columnar::{Encoder, encoder, set_encoder};
pub use escape::{quotable, visible};
#[cfg(feature = "cli")]
pub use flame::{FlameFormat, FlameStack, FlameWeight, compare_stacks, write_flame};
pub use format::Format;
pub use formula::reads_as_formula;
pub use lead::{bold, filled, printed_width, wrapped};
pub use markdown::{markdown_code, markdown_text};
pub use policy::csp_source;
pub use style::{Heading, Output, Style};
use style::{count_of, header_of, put};

use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use nsq_value::table::RowSink;
use std::io::Write;

/// Writes a sequence of results to one output.
pub struct Writer<'a> {
    out: &'a mut Output,
    format: Format,
    style: Style,
    written: usize,
    /// Number of results to come: JSON wraps several results in an array.
    expected: usize,
    formulas: usize,
    threads: Threads,
}

impl<'a> Writer<'a> {
    /// Creates a writer for `expected` results.
    pub fn new(out: &'a mut Output, format: Format, style: Style, expected: usize) -> Self {
        Self { out, format, style, written: 0, expected, formulas: 0, threads: Threads::default() }
    }

    /// Creates a writer for one result in the middle of a page: without the page's head and end, and so without
    /// [`Writer::finish`].
    pub fn within(out: &'a mut Output, format: Format, style: Style) -> Self {
        Self { written: 1, ..Self::new(out, format, style, 1) }
    }

    /// Limits the threads: with one, no result is written in the background.
    pub fn use_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Writes a heading and lines of a label and a sentence, in text and Markdown. Other formats have no
    /// such lines.
    pub fn lead(&mut self, title: &str, lines: &[(&str, String)]) -> Result<()> {
        let gap = if self.written == 0 { "" } else { "\n" };
        match self.format {
            Format::Text => put(self.out, &format!("{gap}{}", lead::text(title, lines, &self.style))),
            Format::Markdown => put(self.out, &format!("{gap}{}", lead::markdown(title, lines))),
            _ => Ok(()),
        }
    }

    /// Writes one result; `produce` passes its rows to the given sink.
    pub fn result<T>(
        &mut self,
        heading: &Heading,
        produce: impl FnOnce(&mut dyn RowSink) -> Result<T>,
    ) -> Result<T> {
        self.separate()?;
        let (out, style, threads) = (&mut *self.out, &self.style, &self.threads);
        let produce =
            |sink: &mut dyn RowSink| match self.format.is_for_people() || !style.columns.is_empty() {
                true => produce(&mut Arranged::new(sink, &style.columns)),
                false => produce(sink),
            };
        match self.format {
            Format::Text => produce(&mut text::Text::new(out, style, heading)),
            Format::Csv | Format::Tsv => {
                let delimiter = if self.format == Format::Csv { b',' } else { b'\t' };
                let (escape, found) = (style.for_spreadsheets, &mut self.formulas);
                let write = |out: &mut dyn Write, feed: Feed<'_>| {
                    let sink = &mut delimited::Delimited::new(out, delimiter, style);
                    feed(&mut formula::Formulas { sink, escape, found })
                };
                write_in_background((out, *threads), write, produce)
            }
            Format::Json => {
                let write = |out: &mut dyn Write, feed: Feed<'_>| {
                    feed(&mut json::Document::new(out, style, heading))
                };
                write_in_background((out, *threads), write, produce)
            }
            Format::Ndjson => {
                let several = self.expected > 1;
                let write = |out: &mut dyn Write, feed: Feed<'_>| {
                    feed(&mut json::Lines::new(out, style, heading, several))
                };
                write_in_background((out, *threads), write, produce)
            }
            Format::Markdown => produce(&mut markdown::Markdown::new(out, style, heading)),
            Format::Html => produce(&mut html::Section::new(out, style, heading, self.written == 1)),
            Format::Parquet | Format::Arrow | Format::Arrows if self.written > 1 => Err(Error::usage(
                "a Parquet or Arrow file holds one table, and there are several",
                "ask one query for each file",
            )),
            Format::Parquet | Format::Arrow | Format::Arrows => match encoder() {
                Some(encode) => {
                    let write = |feed: Feed<'_>| feed(&mut *encode(self.format, heading, out));
                    in_background(*threads, write, produce)
                }
                None => Err(Error::usage(
                    "this verb writes no Parquet or Arrow",
                    "use `nsq run` or `nsq sql`; or --format csv, tsv, json or ndjson",
                )),
            },
        }
    }

    /// Number of texts written to CSV or TSV that a spreadsheet would run as formulas.
    pub fn formulas(&self) -> usize {
        self.formulas
    }

    /// Writes the separator before a result.
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

    /// Writes the end of the format and flushes the output.
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
