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
///
/// Where backquotes do not pair up one by one, none of it is code.
pub fn markdown_text(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    // A quote that does not end, or backquotes side by side, which pair up with as many only.
    if pieces.len().is_multiple_of(2) || text.contains("``") {
        return inert(text);
    }
    let piece = |(place, text): (usize, &&str)| match place % 2 {
        0 => inert(text),
        _ => format!("`{}`", visible(text)),
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// A text as code, whatever is in it: more backquotes stand around it than anywhere within.
pub fn markdown_code(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let quotes = "`".repeat(longest + 1);
    // A blank at both ends is no part of the code.
    let blank = if longest > 0 { " " } else { "" };
    format!("{quotes}{blank}{text}{blank}{quotes}")
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
    use super::super::quotable;
    use super::*;

    #[test]
    fn names_cannot_break_the_table_or_add_markup() {
        assert_eq!(inert("a|b<img>[x](y)"), "a\\|b&lt;img&gt;\\[x\\](y)");
        assert_eq!(markdown_text("a_b `x_<i>` <i>"), "a\\_b `x_<i>` &lt;i&gt;");
        assert_eq!(markdown_text("a`<i>"), "a\\`&lt;i&gt;");
        assert_eq!(markdown_code("nsq 'a``b'"), "``` nsq 'a``b' ```");
        assert_eq!(markdown_code("nsq"), "`nsq`");
    }

    /// What of Markdown stands outside of code: backquotes pair up with the next run of as many.
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
    fn no_value_opens_or_ends_code() {
        // The scan itself: what it would find if nothing were done.
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
            // What is not quotable is harmless too.
            let raw = markdown_text(&format!("`{a}`, `{b}` {c}"));
            for text in [&quoted, &raw, &markdown_code(&a), &inert(&a)] {
                let outside = outside_of_code(text);
                assert!(!outside.contains(['<', '>', '|', '*', ']']), "{a:?} {b:?} {c:?}\n{text}");
            }
            // The playbook's own quotes hold what they should.
            assert!(quoted.starts_with(&format!("report `{}`, by ", quotable(&a))) || a.is_empty());
        }
    }
}
