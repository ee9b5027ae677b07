//! The formats `column` and `table`: text for people.

use super::layout::{NsysFormat, NsysStyle, Width};
use crate::render::{delimited, visible};
use crate::table::{Column, ResultTable, Value};

/// Draws a table that has rows.
pub(super) fn drawn(table: &ResultTable, layout: &NsysStyle) -> String {
    let is_framed = layout.format == NsysFormat::Table;
    let shown: Vec<usize> = (0..table.columns.len())
        .filter(|index| layout.widths.get(*index) != Some(&Width::Fixed(0)))
        .collect();
    let mut columns: Vec<Drawn> =
        shown.into_iter().map(|index| Drawn::new(table, index, layout)).collect();
    if columns.len() < table.columns.len() {
        // nsys ends its lines with an empty column where others are hidden.
        columns.push(Drawn { width: 0, is_number: false, header: String::new(), cells: Vec::new() });
    }
    let line = |parts: Vec<String>| match is_framed {
        true => format!("| {} |\n", parts.join(" | ")),
        false => format!(" {}\n", parts.join("  ")),
    };
    let dashes: Vec<String> = columns.iter().map(|column| "-".repeat(column.width)).collect();
    let rule = match is_framed {
        true => format!("+-{}-+\n", dashes.join("-+-")),
        false => format!(" {}\n", dashes.join("  ")),
    };
    let mut text = String::new();
    if is_framed {
        text.push_str(&rule);
    }
    if !layout.no_header {
        text.push_str(&line(columns.iter().map(Drawn::head).collect()));
        text.push_str(&rule);
    }
    for row in 0..table.rows.len() {
        text.push_str(&line(columns.iter().map(|column| column.cell(row)).collect()));
    }
    if is_framed {
        text.push_str(&rule);
    }
    text
}

/// A column as text.
struct Drawn {
    width: usize,
    is_number: bool,
    header: String,
    cells: Vec<String>,
}

impl Drawn {
    fn new(table: &ResultTable, index: usize, layout: &NsysStyle) -> Self {
        let column: &Column = &table.columns[index];
        let values = || table.rows.iter().map(|row| &row[index]);
        let cells: Vec<String> =
            values().map(|value| visible(&delimited::plain(value, column))).collect();
        let scanned = if layout.scanned_rows == 0 { usize::MAX } else { layout.scanned_rows };
        let width = match layout.widths.get(index) {
            Some(Width::Fixed(width)) => *width,
            _ => {
                let widest = if layout.widest == 0 { usize::MAX } else { layout.widest };
                let longest = cells.iter().take(scanned).map(|cell| cell.chars().count()).max();
                longest.unwrap_or(0).max(column.name.chars().count()).min(widest)
            }
        };
        // nsys decides by these values, too: a column whose values are all numbers is aligned to the right.
        let is_number = values().take(scanned).all(|value| !matches!(value, Value::Text(_)))
            && values().take(scanned).any(|value| *value != Value::Null);
        Self { width, is_number, header: column.name.clone(), cells }
    }

    fn head(&self) -> String {
        format!("{:^width$}", self.clipped(&self.header), width = self.width)
    }

    fn cell(&self, row: usize) -> String {
        let cell = self.clipped(self.cells.get(row).map_or("", String::as_str));
        match self.is_number {
            true => format!("{cell:>width$}", width = self.width),
            false => format!("{cell:<width$}", width = self.width),
        }
    }

    /// The text, or its beginning and a mark if it is too wide.
    fn clipped(&self, text: &str) -> String {
        match self.width {
            0 => String::new(),
            width if text.chars().count() <= width => text.to_owned(),
            width => text.chars().take(width - 1).chain(['…']).collect(),
        }
    }
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
        let text = drawn(&sample(), &NsysStyle::of(NsysFormat::Column));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!(" Time (%)  {:^100}", "Name"));
        assert_eq!(lines[1], format!(" --------  {}", "-".repeat(100)));
        assert_eq!(lines[2], format!("     65.1  {:<100}", "a<b>"));
        assert!(lines[3].ends_with("x…"));
    }

    /// As nsys 2023.4.4 prints them, with an empty column at the end.
    #[test]
    fn widths_hide_and_clip() {
        let layout = NsysStyle {
            widths: vec![Width::Fixed(0), Width::Fixed(3)],
            ..NsysStyle::of(NsysFormat::Table)
        };
        assert_eq!(
            drawn(&sample(), &layout),
            "+-----+--+\n| Na… |  |\n+-----+--+\n| a<… |  |\n| xx… |  |\n+-----+--+\n"
        );
    }

    #[test]
    fn only_the_first_rows_decide_the_width() {
        let layout = NsysStyle { scanned_rows: 1, ..NsysStyle::of(NsysFormat::Column) };
        assert!(drawn(&sample(), &layout).ends_with("  xxx…\n"));
    }
}
