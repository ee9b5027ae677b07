//! The output layouts of `nsys stats` and `nsys analyze`, so that scripts that read them keep working.

mod drawn;
mod layout;
mod markup;
mod tabs;

pub use layout::{NsysFormat, NsysStyle, Prose, Width};

use super::formula::Formulas;
use super::{Style, delimited, put};
use crate::error::Result;
use crate::table::ResultTable;
use std::io::Write;

/// What [`Prose::instead`] is for reports.
pub const NO_ROWS: &str = "Report was successfully run, but no data was returned.\n";

/// Writes one report with a title such as `CUDA API Summary (cuda_api_sum)`.
///
/// Returns the number of texts in CSV or TSV that a spreadsheet would run as formulas. `style` can have
/// them escaped.
pub fn write(
    out: &mut dyn Write,
    layout: &NsysStyle,
    title: &str,
    prose: &Prose<'_>,
    table: &ResultTable,
    style: &Style,
) -> Result<usize> {
    let mut found = 0;
    let style = &Style { no_header: layout.no_header, ..style.clone() };
    match layout.format {
        NsysFormat::Csv | NsysFormat::Tsv if table.rows.is_empty() => Ok(()),
        NsysFormat::Csv => {
            let sink = &mut delimited::Delimited::new(out, b',', style);
            table.replay(&mut Formulas { sink, escape: style.for_spreadsheets, found: &mut found })
        }
        NsysFormat::Tsv => {
            let sink = &mut tabs::Tabs::new(out, layout.escape_tabs, style);
            table.replay(&mut Formulas { sink, escape: style.for_spreadsheets, found: &mut found })
        }
        NsysFormat::Json => put(out, &markup::json(table)),
        NsysFormat::Hdoc => put(out, &markup::page(title, layout, table)),
        NsysFormat::Htable => put(out, &markup::html(table)),
        NsysFormat::Column | NsysFormat::Table => {
            let is_framed = layout.format == NsysFormat::Table;
            if is_framed && table.rows.is_empty() {
                // nsys draws the frame of a table without columns first.
                put(out, "+--+\n")?;
            }
            put(out, &format!("\n ** {title}:\n\n"))?;
            if table.rows.is_empty() {
                put(out, prose.instead)
            } else {
                put(out, prose.before)?;
                put(out, &drawn::drawn(table, layout))?;
                put(out, prose.after)
            }
        }
    }?;
    Ok(found)
}
