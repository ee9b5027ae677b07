//! Markdown tables (GitHub's dialect).

use super::{Heading, Style, count_of, header_of, put, shown, visible};
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};
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
            put(self.out, &format!("### {}\n\n", escaped(&self.heading.title)))?;
        }
        let names: Vec<String> =
            columns.iter().map(|column| escaped(&header_of(column, self.style))).collect();
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
            .map(|(value, column)| escaped(&shown(value, column, self.style)))
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

/// Escapes sentences for Markdown; text in backquotes stays code.
///
/// If the backquotes do not pair up one by one, all of them are escaped.
pub fn markdown_text(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    // An unpaired backquote, or a run of several, which Markdown pairs only with a run of the same
    // length.
    if pieces.len().is_multiple_of(2) || text.contains("``") {
        return escaped(text);
    }
    let piece = |(place, text): (usize, &&str)| match place % 2 {
        0 => escaped(text),
        _ => format!("`{}`", visible(text)),
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// Formats any text as code: the backquotes around it outnumber each run of backquotes in it.
pub fn markdown_code(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let quotes = "`".repeat(longest + 1);
    // Markdown strips one blank at both ends of the code.
    let blank = if longest > 0 { " " } else { "" };
    format!("{quotes}{blank}{text}{blank}{quotes}")
}

/// Escapes a text so that Markdown prints it literally.
pub(super) fn escaped(text: &str) -> String {
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
    use super::super::quotable;
    use super::*;

    #[test]
    fn names_cannot_break_the_table_or_add_markup() {
        assert_eq!(escaped("a|b<img>[x](y)"), "a\\|b&lt;img&gt;\\[x\\](y)");
        assert_eq!(markdown_text("a_b `x_<i>` <i>"), "a\\_b `x_<i>` &lt;i&gt;");
        assert_eq!(markdown_text("a`<i>"), "a\\`&lt;i&gt;");
        assert_eq!(markdown_code("nsq 'a``b'"), "``` nsq 'a``b' ```");
        assert_eq!(markdown_code("nsq"), "`nsq`");
    }

    /// The Markdown outside of code. A run of backquotes pairs up with the next run of the same length.
    fn outside_of_code(text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let run = |at: usize| chars[at..].iter().take_while(|c| **c == '`').count();
        let (mut out, mut at) = (String::new(), 0);
        while at < chars.len() {
            match chars[at] {
                '\\' if chars.get(at + 1).is_some_and(char::is_ascii_punctuation) => at += 2,
                '`' => {
                    let opens = run(at);
                    at += opens;
                    let mut end = at;
                    while end < chars.len() {
                        match run(end) {
                            0 => end += 1,
                            closes if closes == opens => break,
                            other => end += other,
                        }
                    }
                    if end < chars.len() {
                        at = end + opens;
                    }
                }
                c => {
                    out.push(c);
                    at += 1;
                }
            }
        }
        out
    }

    #[test]
    fn no_value_opens_or_closes_code() {
        // Check that the scan finds unescaped markup.
        assert!(outside_of_code("```<b>`").contains('<'));
        assert!(!outside_of_code("``a`<b>``").contains('<'));
        let alphabet = ['`', '`', '<', 'b', '>', '|', '\n', '\\', '&', '*', ']', ' '];
        let mut bits = 7u64;
        let mut value = || -> String {
            let mut next = || {
                bits =
                    bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (bits >> 33) as usize
            };
            (0..next() % 12).map(|_| alphabet[next() % alphabet.len()]).collect()
        };
        for _ in 0..50_000 {
            let (a, b, c) = (value(), value(), value());
            let quoted = markdown_text(&format!("report `{}`, by {}: <b>", quotable(&a), quotable(&b)));
            // Values that are not made quotable are harmless too.
            let raw = markdown_text(&format!("`{a}`, `{b}` {c}"));
            for text in [&quoted, &raw, &markdown_code(&a), &escaped(&a)] {
                let outside = outside_of_code(text);
                assert!(!outside.contains(['<', '>', '|', '*', ']']), "{a:?} {b:?} {c:?}\n{text}");
            }
            // The quotes of the playbook contain exactly the value.
            assert!(quoted.starts_with(&format!("report `{}`, by ", quotable(&a))) || a.is_empty());
        }
    }
}
