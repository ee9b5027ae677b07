//! The output layouts of `nsys stats`, so that scripts that read them keep working.

use super::formula::Formulas;
use super::{Style, delimited, put, visible};
use crate::error::Result;
use crate::table::{Column, ResultTable, Value};
use serde_json::Value as Json;
use std::io::Write;

/// An output format of `nsys stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NsysFormat {
    /// Aligned columns with a dashed header line.
    Column,
    /// A table with a frame.
    Table,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// An array of objects.
    Json,
    /// An HTML page.
    Hdoc,
    /// An HTML table without a page.
    Htable,
}

impl NsysFormat {
    /// The formats with their names in `nsys stats --format`.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("column", Self::Column),
        ("table", Self::Table),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("json", Self::Json),
        ("hdoc", Self::Hdoc),
        ("htable", Self::Htable),
    ];

    /// Extension of output files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Column | Self::Table => "txt",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Hdoc | Self::Htable => "html",
        }
    }
}

/// Longest text of a cell in the formats for people. Longer names are truncated, as in nsys.
const WIDEST: usize = 100;

/// Writes one report with a title such as `CUDA API Summary (cuda_api_sum)`.
///
/// Returns the number of texts in CSV or TSV that a spreadsheet would run as formulas. `style` can have
/// them escaped.
pub fn write(
    out: &mut dyn Write,
    format: NsysFormat,
    title: &str,
    table: &ResultTable,
    style: &Style,
) -> Result<usize> {
    let mut found = 0;
    match format {
        NsysFormat::Csv | NsysFormat::Tsv if table.rows.is_empty() => Ok(()),
        NsysFormat::Csv | NsysFormat::Tsv => {
            let delimiter = if format == NsysFormat::Csv { b',' } else { b'\t' };
            let sink = &mut delimited::Delimited::new(out, delimiter, style);
            table.replay(&mut Formulas { sink, escape: style.for_spreadsheets, found: &mut found })
        }
        NsysFormat::Json => put(out, &json(table)),
        NsysFormat::Hdoc => put(out, &page(title, table)),
        NsysFormat::Htable => put(out, &html(table)),
        NsysFormat::Column | NsysFormat::Table => {
            put(out, &format!("\n ** {title}:\n\n"))?;
            if table.rows.is_empty() {
                put(out, "Report was successfully run, but no data was returned.\n")
            } else {
                put(out, &drawn(table, format == NsysFormat::Table))
            }
        }
    }?;
    Ok(found)
}

fn drawn(table: &ResultTable, framed: bool) -> String {
    let cell = |value: &Value, column: &Column| {
        let text = visible(&delimited::plain(value, column));
        if text.chars().count() <= WIDEST {
            return text;
        }
        text.chars().take(WIDEST - 1).chain(['…']).collect()
    };
    let cells: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().zip(&table.columns).map(|(value, column)| cell(value, column)).collect())
        .collect();
    let length = |text: &String| text.chars().count();
    let widths: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            cells.iter().map(|row| length(&row[index])).max().unwrap_or(0).max(length(&column.name))
        })
        .collect();
    // Right-align a column whose values are all numbers: nsys decides by the values too.
    let is_number = |index: usize| {
        table.rows.iter().all(|row| !matches!(row[index], Value::Text(_)))
            && table.rows.iter().any(|row| row[index] != Value::Null)
    };
    let line = |parts: Vec<String>| match framed {
        true => format!("| {} |\n", parts.join(" | ")),
        false => format!(" {}\n", parts.join("  ")),
    };
    let rule = |corner: &str| {
        let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        match framed {
            true => format!("{corner}-{}-{corner}\n", dashes.join("-+-")),
            false => format!(" {}\n", dashes.join("  ")),
        }
    };
    let names =
        table.columns.iter().zip(&widths).map(|(column, width)| format!("{:^width$}", column.name));
    let mut text = String::new();
    if framed {
        text.push_str(&rule("+"));
    }
    text.push_str(&line(names.collect()));
    text.push_str(&rule("+"));
    for row in cells {
        let parts =
            row.iter().zip(&widths).enumerate().map(|(index, (cell, width))| match is_number(index) {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            });
        text.push_str(&line(parts.collect()));
    }
    if framed {
        text.push_str(&rule("+"));
    }
    text
}

fn json(table: &ResultTable) -> String {
    let objects: Vec<String> = table
        .rows
        .iter()
        .map(|row| {
            let fields: Vec<String> = row
                .iter()
                .zip(&table.columns)
                .map(|(value, column)| {
                    let value = match value {
                        Value::Null => "\"\"".to_owned(),
                        Value::Text(text) => Json::from(text.as_str()).to_string(),
                        number => delimited::plain(number, column),
                    };
                    format!("    {}: {value}", Json::from(column.name.as_str()))
                })
                .collect();
            format!("  {{\n{}\n  }}", fields.join(",\n"))
        })
        .collect();
    match objects.as_slice() {
        [] => "[\n]\n".to_owned(),
        objects => format!("[\n{}\n]\n", objects.join(",\n")),
    }
}

fn html(table: &ResultTable) -> String {
    if table.rows.is_empty() {
        return "<table>\n  </tbody>\n</table>\n".to_owned();
    }
    let mut text = "<table>\n  <thead>\n    <tr>\n".to_owned();
    for column in &table.columns {
        text.push_str(&format!("      <th>{}</th>\n", escaped(&column.name)));
    }
    text.push_str("    </tr>\n  </thead>\n  <tbody>\n");
    for row in &table.rows {
        text.push_str("    <tr>\n");
        for (value, column) in row.iter().zip(&table.columns) {
            text.push_str(&format!("      <td>{}</td>\n", escaped(&delimited::plain(value, column))));
        }
        text.push_str("    </tr>\n");
    }
    text.push_str("  </tbody>\n</table>\n");
    text
}

fn page(title: &str, table: &ResultTable) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"UTF-8\">\n  \
         <title>Nsight Systems Stats Output</title>\n</head>\n<body>\n<h1>{}</h1>\n{}</body>\n</html>\n",
        escaped(title),
        html(table)
    )
}

fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ResultTable {
        let mut time = Column::untyped("Time (%)");
        time.decimals = Some(1);
        ResultTable {
            columns: vec![time, Column::untyped("Name")],
            rows: vec![
                vec![Value::Real(65.1), Value::Text("a<b>".to_owned())],
                vec![Value::Real(4.9), Value::Text("x".repeat(101))],
            ],
        }
    }

    #[test]
    fn columns_are_aligned_as_in_nsys() {
        let text = drawn(&sample(), false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!(" Time (%)  {:^100}", "Name"));
        assert_eq!(lines[1], format!(" --------  {}", "-".repeat(100)));
        assert_eq!(lines[2], format!("     65.1  {:<100}", "a<b>"));
        assert!(lines[3].ends_with("x…"));
    }

    #[test]
    fn json_keeps_all_digits() {
        assert!(
            json(&sample())
                .starts_with("[\n  {\n    \"Time (%)\": 65.1,\n    \"Name\": \"a<b>\"\n  },\n")
        );
        assert_eq!(json(&ResultTable::default()), "[\n]\n");
    }
}
