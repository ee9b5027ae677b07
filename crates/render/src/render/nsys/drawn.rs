//! The formats `column` and `table`: text for people.

use super::layout::{NsysFormat, NsysStyle, Prose, Width};
use crate::render::{Output, delimited, put, visible};
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};

/// Draws a table that has rows, under its title.
///
/// The first rows decide how wide the columns are, so they are kept until all of them are here; later rows are written as
/// they come.
pub(super) struct Drawn<'a> {
    out: &'a mut Output,
    layout: &'a NsysStyle,
    title: &'a str,
    prose: &'a Prose,
    columns: Vec<Column>,
    /// The rows that decide.
    first: Vec<Vec<Value>>,
    /// The columns that are shown, once the rows that decide are here.
    shown: Vec<Shown>,
    rows: usize,
}

/// How a column is drawn.
struct Shown {
    /// Its place in a row; `None` for the empty column at the end.
    place: Option<usize>,
    width: usize,
    is_number: bool,
    header: String,
}

impl<'a> Drawn<'a> {
    pub(super) fn new(
        out: &'a mut Output,
        layout: &'a NsysStyle,
        title: &'a str,
        prose: &'a Prose,
    ) -> Self {
        let (columns, first, shown) = (Vec::new(), Vec::new(), Vec::new());
        Self { out, layout, title, prose, columns, first, shown, rows: 0 }
    }

    fn is_framed(&self) -> bool {
        self.layout.format == NsysFormat::Table
    }

    fn line(&self, parts: &[String]) -> String {
        match self.is_framed() {
            true => format!("| {} |\n", parts.join(" | ")),
            false => format!(" {}\n", parts.join("  ")),
        }
    }

    fn rule(&self) -> String {
        let dashes: Vec<String> = self.shown.iter().map(|column| "-".repeat(column.width)).collect();
        match self.is_framed() {
            true => format!("+-{}-+\n", dashes.join("-+-")),
            false => format!(" {}\n", dashes.join("  ")),
        }
    }

    /// Writes what stands over the rows, and the rows that decided the widths.
    fn open(&mut self) -> Result<()> {
        let (first, layout) = (std::mem::take(&mut self.first), self.layout);
        self.shown = (0..self.columns.len())
            .filter(|place| layout.widths.get(*place) != Some(&Width::Fixed(0)))
            .map(|place| Shown::new(&self.columns[place], place, &first, layout))
            .collect();
        if self.shown.len() < self.columns.len() {
            // nsys ends its lines with an empty column where others are hidden.
            self.shown.push(Shown { place: None, width: 0, is_number: false, header: String::new() });
        }
        let mut text = format!("\n ** {}:\n\n{}", self.title, self.prose.before);
        if self.is_framed() {
            text.push_str(&self.rule());
        }
        if !layout.no_header {
            text.push_str(&self.line(&self.shown.iter().map(Shown::head).collect::<Vec<_>>()));
            text.push_str(&self.rule());
        }
        put(self.out, &text)?;
        first.iter().try_for_each(|row| self.draw(row))
    }

    fn draw(&mut self, row: &[Value]) -> Result<()> {
        let cell = |column: &Shown| match column.place {
            Some(place) => column.cell(&text_of(&row[place], &self.columns[place])),
            None => column.cell(""),
        };
        let line = self.line(&self.shown.iter().map(cell).collect::<Vec<_>>());
        put(self.out, &line)
    }

    /// Whether the rows that decide the widths are all here.
    fn is_decided(&self) -> bool {
        self.layout.scanned_rows > 0 && self.rows >= self.layout.scanned_rows
    }
}

impl RowSink for Drawn<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        if self.is_decided() {
            self.rows += 1;
            return self.draw(row);
        }
        self.rows += 1;
        self.first.push(row.to_vec());
        if self.is_decided() { self.open() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<()> {
        if !self.is_decided() {
            self.open()?;
        }
        if self.is_framed() {
            let rule = self.rule();
            put(self.out, &rule)?;
        }
        self.prose.after.as_ref().map_or(Ok(()), |after| put(self.out, &after(self.rows)))
    }
}

fn text_of(value: &Value, column: &Column) -> String {
    visible(&delimited::plain(value, column))
}

impl Shown {
    fn new(column: &Column, place: usize, first: &[Vec<Value>], layout: &NsysStyle) -> Self {
        let values = || first.iter().map(|row| &row[place]);
        let width = match layout.widths.get(place) {
            Some(Width::Fixed(width)) => *width,
            _ => {
                let widest = if layout.widest == 0 { usize::MAX } else { layout.widest };
                let longest = values().map(|value| text_of(value, column).chars().count()).max();
                longest.unwrap_or(0).max(column.name.chars().count()).min(widest)
            }
        };
        // nsys decides by these values, too: a column whose values are all numbers is aligned to the right.
        let is_number = values().all(|value| !matches!(value, Value::Text(_)))
            && values().any(|value| *value != Value::Null);
        Self { place: Some(place), width, is_number, header: column.name.clone() }
    }

    fn head(&self) -> String {
        format!("{:^width$}", self.clipped(&self.header), width = self.width)
    }

    fn cell(&self, text: &str) -> String {
        let cell = self.clipped(text);
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
    use nsq_value::table::ResultTable;

    /// The table under its title, which stands alone.
    fn drawn(table: &ResultTable, layout: &NsysStyle) -> String {
        let (mut out, prose) = (Vec::new(), Prose::default());
        table.replay(&mut Drawn::new(&mut out, layout, "T", &prose)).unwrap();
        String::from_utf8(out).unwrap().strip_prefix("\n ** T:\n\n").unwrap().to_owned()
    }

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

    #[test]
    fn rows_are_drawn_alike_on_both_sides_of_those_that_decide() {
        let layout = NsysStyle { scanned_rows: 3, ..NsysStyle::of(NsysFormat::Table) };
        let lines = |rows: usize| -> Vec<String> {
            let mut table = sample();
            table.rows = vec![table.rows[0].clone(); rows];
            drawn(&table, &layout).lines().map(str::to_owned).collect()
        };
        for rows in [1, 2, 3, 4, 5] {
            let (few, lines) = (lines(1), lines(rows));
            assert_eq!(lines.len(), rows + 4, "{rows}");
            assert!(lines[3..3 + rows].iter().all(|line| *line == few[3]), "{rows}");
            assert_eq!((&lines[..3], lines.last()), (&few[..3], few.last()), "{rows}");
        }
    }
}
