//! A Markdown table (GitHub's dialect).

use super::{Heading, Style, count_of, put, shown, visible};
use crate::error::Result;
use crate::table::{Column, RowSink, Value};
use std::io::Write;

pub(super) struct Markdown<'a> {
    out: &'a mut dyn Write,
    style: &'a Style,
    heading: &'a Heading,
    columns: Vec<Column>,
    rows: usize,
}

impl<'a> Markdown<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: &'a Style, heading: &'a Heading) -> Self {
        Self { out, style, heading, columns: Vec::new(), rows: 0 }
    }
}

impl RowSink for Markdown<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        if !self.heading.title.is_empty() {
            put(self.out, &format!("### {}\n\n", inert(&self.heading.title)))?;
        }
        let names: Vec<String> = columns.iter().map(|column| inert(&column.name)).collect();
        let rules: Vec<&str> =
            columns.iter().map(|column| if column.kind.is_numeric() { "---:" } else { "---" }).collect();
        put(self.out, &format!("| {} |\n| {} |\n", names.join(" | "), rules.join(" | ")))
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows += 1;
        if self.style.max_rows.is_some_and(|max| self.rows > max) {
            return Ok(());
        }
        let cells: Vec<String> = row
            .iter()
            .zip(&self.columns)
            .map(|(value, column)| inert(&shown(value, column, self.style)))
            .collect();
        put(self.out, &format!("| {} |\n", cells.join(" | ")))
    }

    fn end(&mut self) -> Result<()> {
        let left_out = self.rows.saturating_sub(self.style.max_rows.unwrap_or(usize::MAX));
        if left_out > 0 {
            put(self.out, &format!("\n… {} of {} not shown\n", count_of(left_out, "row"), self.rows))?;
        }
        Ok(())
    }
}

/// Sentences that Markdown prints as they stand; what is in backquotes stays code.
pub fn markdown_text(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        // A quote that does not end: none of it is code.
        return inert(text);
    }
    let piece = |(place, text): (usize, &&str)| match place % 2 {
        0 => inert(text),
        _ => format!("`{}`", visible(text)),
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// Text that Markdown prints as it stands.
pub(super) fn inert(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_table_or_add_markup() {
        assert_eq!(inert("a|b<img>[x](y)"), "a\\|b&lt;img&gt;\\[x\\](y)");
        assert_eq!(markdown_text("a_b `x_<i>` <i>"), "a\\_b `x_<i>` &lt;i&gt;");
        assert_eq!(markdown_text("a`<i>"), "a\\`&lt;i&gt;");
    }
}
