//! The output layouts of `nsys stats` and `nsys analyze`, so that scripts that read them keep working.

mod drawn;
mod layout;
mod markup;
mod tabs;

pub use layout::{NsysFormat, NsysStyle, Prose, Width};

use super::background::in_background;
use super::formula::Formulas;
use super::{Output, Style, delimited, put};
use nsq_sweep::threads::Threads;
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};

/// What [`Prose::instead`] is for reports.
pub const NO_ROWS: &str = "Report was successfully run, but no data was returned.\n";

/// Writes one report with a title such as `CUDA API Summary (cuda_api_sum)`, row by row; `produce` passes its rows to the
/// given sink.
///
/// Returns what `produce` returned, and the number of texts in CSV or TSV that a spreadsheet would run as formulas. `style`
/// can have them escaped.
pub fn write<T>(
    out: &mut Output,
    layout: &NsysStyle,
    title: &str,
    prose: &Prose,
    style: &Style,
    produce: impl FnOnce(&mut dyn RowSink) -> Result<T>,
) -> Result<(T, usize)> {
    let style = &Style { no_header: layout.no_header, ..style.clone() };
    let (mut found, escape) = (0, style.for_spreadsheets);
    let produced = in_background(
        Threads::default(),
        |feed| match layout.format {
            NsysFormat::Csv => {
                let sink = &mut delimited::Delimited::new(out, b',', style);
                feed(&mut IfRows::of(&mut Formulas { sink, escape, found: &mut found }))
            }
            NsysFormat::Tsv => {
                let sink = &mut tabs::Tabs::new(out, layout.escape_tabs, style);
                feed(&mut IfRows::of(&mut Formulas { sink, escape, found: &mut found }))
            }
            NsysFormat::Json => feed(&mut markup::Json::new(out)),
            NsysFormat::Hdoc => markup::page(title, layout, out, feed),
            NsysFormat::Htable => feed(&mut markup::Html::new(out)),
            NsysFormat::Column | NsysFormat::Table => {
                let mut drawn = drawn::Drawn::new(out, layout, title, prose);
                let mut rows = IfRows::of(&mut drawn);
                feed(&mut rows)?;
                if rows.has_rows { Ok(()) } else { without_rows(out, layout, title, prose) }
            }
        },
        produce,
    )?;
    Ok((produced, found))
}

fn without_rows(out: &mut Output, layout: &NsysStyle, title: &str, prose: &Prose) -> Result<()> {
    // nsys draws the frame of a table without columns first.
    let frame = if layout.format == NsysFormat::Table { "+--+\n" } else { "" };
    put(out, &format!("{frame}\n ** {title}:\n\n{}", prose.instead))
}

/// Passes on rows and what is around them, and nothing if there are no rows.
struct IfRows<'s> {
    sink: &'s mut dyn RowSink,
    columns: Vec<Column>,
    has_rows: bool,
}

impl<'s> IfRows<'s> {
    fn of(sink: &'s mut dyn RowSink) -> Self {
        Self { sink, columns: Vec::new(), has_rows: false }
    }
}

impl RowSink for IfRows<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        if !self.has_rows {
            self.sink.begin(&self.columns)?;
            self.has_rows = true;
        }
        self.sink.row(row)
    }

    fn end(&mut self) -> Result<()> {
        if self.has_rows { self.sink.end() } else { Ok(()) }
    }
}
