//! Aligned columns for people.
//!
//! Where the terminal is too narrow, text columns are shortened in the middle, so that both ends of
//! a name can be read. Numbers are never shortened: a line that has to be long is long.

use super::{Heading, Style, count_of, put, shown, visible};
use crate::error::Result;
use crate::table::{Column, ResultTable, RowSink, Type, Value};
use std::collections::BTreeSet;
use std::io::Write;
use tabled::builder::Builder;
use tabled::settings::object::{Columns, Segment};
use tabled::settings::{Alignment, Modify, Padding, Style as Border};

/// The narrowest that a text column is shortened to.
const NARROW: usize = 24;
/// Between two columns.
const GAP: usize = 2;

pub(super) struct Text<'a> {
    out: &'a mut dyn Write,
    style: &'a Style,
    heading: &'a Heading,
    kept: ResultTable,
    left_out: usize,
}

impl<'a> Text<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: &'a Style, heading: &'a Heading) -> Self {
        Self { out, style, heading, kept: ResultTable::default(), left_out: 0 }
    }
}

impl RowSink for Text<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.kept.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        if self.style.max_rows.is_some_and(|max| self.kept.rows.len() >= max) {
            self.left_out += 1;
        } else {
            self.kept.rows.push(row.to_vec());
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if !self.heading.title.is_empty() && !self.style.no_header {
            put(self.out, &bold(&visible(&self.heading.title), self.style.color))?;
            put(self.out, "\n\n")?;
        }
        if self.kept.rows.is_empty() {
            return put(self.out, "(no rows)\n");
        }
        put(self.out, &layout(&self.kept, self.style))?;
        if self.left_out > 0 {
            let total = self.kept.rows.len() + self.left_out;
            put(
                self.out,
                &format!(
                    "… {} of {total} not shown (--rows 0 shows all)\n",
                    count_of(self.left_out, "row")
                ),
            )?;
        }
        Ok(())
    }
}

pub(super) fn bold(text: &str, color: bool) -> String {
    if color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

fn layout(table: &ResultTable, style: &Style) -> String {
    let cell = |value: &Value, column: &Column| visible(&shown(value, column, style));
    let mut cells: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().zip(&table.columns).map(|(value, column)| cell(value, column)).collect())
        .collect();
    let names: Vec<String> = table.columns.iter().map(|column| heading_of(column, style)).collect();
    if let Some(width) = style.width {
        shorten(&mut cells, &names, &table.columns, width);
    }
    let mut builder = Builder::default();
    if !style.no_header {
        builder.push_record(names);
    }
    for row in cells {
        builder.push_record(row);
    }
    let mut drawn = builder.build();
    drawn.with(Border::blank()).with(Modify::new(Segment::all()).with(Padding::new(0, GAP - 1, 0, 0)));
    for (index, column) in table.columns.iter().enumerate() {
        if column.kind.is_numeric() || column.kind == Type::Any && holds_numbers(table, index) {
            drawn.modify(Columns::one(index), Alignment::right());
        }
    }
    let mut text = String::new();
    for (index, line) in drawn.to_string().lines().enumerate() {
        let line = line.trim_end();
        let is_heading = index == 0 && !style.no_header;
        text.push_str(&if is_heading { bold(line, style.color) } else { line.to_owned() });
        text.push('\n');
    }
    text
}

/// Every value of the column is a number or null, and one is a number.
fn holds_numbers(table: &ResultTable, index: usize) -> bool {
    let mut values =
        table.rows.iter().map(|row| &row[index]).filter(|value| **value != Value::Null).peekable();
    values.peek().is_some() && values.all(|value| !matches!(value, Value::Text(_)))
}

/// The column's name; the unit suffix goes where the values carry their unit themselves.
fn heading_of(column: &Column, style: &Style) -> String {
    let name = visible(&column.name);
    match column.unit {
        Some(unit) if !style.raw && !unit.suffix().is_empty() => {
            name.strip_suffix(unit.suffix()).unwrap_or(&name).to_owned()
        }
        _ => name,
    }
}

/// Shortens the widest text columns until a line fits.
fn shorten(cells: &mut [Vec<String>], names: &[String], columns: &[Column], width: usize) {
    let length = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = names.iter().map(|name| length(name)).collect();
    for row in cells.iter() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(cell));
        }
    }
    let total = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    let mut limits = widths.clone();
    while total(&limits) > width {
        let widest = (0..columns.len())
            .filter(|&i| !columns[i].kind.is_numeric() && limits[i] > NARROW.max(length(&names[i])))
            .max_by_key(|&i| limits[i]);
        let Some(widest) = widest else { break };
        limits[widest] -= 1;
    }
    // Two names must not become one: rather a long line.
    for (index, limit) in limits.iter_mut().enumerate() {
        let names: BTreeSet<&String> = cells.iter().map(|row| &row[index]).collect();
        let told_apart = |limit: usize| {
            let short: BTreeSet<String> = names.iter().map(|name| middle_out(name, limit)).collect();
            short.len() == names.len()
        };
        while *limit < widths[index] && !told_apart(*limit) {
            *limit = (*limit + 8).min(widths[index]);
        }
    }
    for row in cells {
        for (cell, limit) in row.iter_mut().zip(&limits) {
            *cell = middle_out(cell, *limit);
        }
    }
}

/// `abcdefgh` in five characters: `ab…gh`.
fn middle_out(text: &str, limit: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= limit {
        return text.to_owned();
    }
    let kept = limit.saturating_sub(1);
    let head = kept.div_ceil(2);
    let tail = kept - head;
    let mut short: String = chars[..head].iter().collect();
    short.push('…');
    short.extend(&chars[chars.len() - tail..]);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_stay_different() {
        let name = |middle: &str| format!("{}{middle}{}", "a".repeat(40), "z".repeat(40));
        let mut cells = vec![vec![name("one")], vec![name("two")]];
        shorten(&mut cells, &["name".to_owned()], &[Column::untyped("name")], 30);
        assert_ne!(cells[0], cells[1]);
    }

    #[test]
    fn names_are_shortened_in_the_middle() {
        assert_eq!(middle_out("abcdefgh", 5), "ab…gh");
        assert_eq!(middle_out("abcdefgh", 4), "ab…h");
        assert_eq!(middle_out("abcdefgh", 8), "abcdefgh");
    }
}
