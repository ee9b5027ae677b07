//! Detects texts that a spreadsheet would run as formulas.
//!
//! A spreadsheet that opens a CSV file runs a name that starts with `=`. Programs need the original
//! names, so names are counted but not changed by default.

use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};

/// Counts formulas on their way to a sink, and escapes them on request.
pub(super) struct Formulas<'s> {
    pub(super) sink: &'s mut dyn RowSink,
    /// Prefix an apostrophe, which spreadsheets do not show.
    pub(super) escape: bool,
    pub(super) found: &'s mut usize,
}

impl RowSink for Formulas<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.sink.begin(columns)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let before = *self.found;
        *self.found += row.iter().filter(|value| is_formula(value)).count();
        if !self.escape || *self.found == before {
            return self.sink.row(row);
        }
        let escaped: Vec<Value> = row.iter().map(escaped).collect();
        self.sink.row(&escaped)
    }

    fn end(&mut self) -> Result<()> {
        self.sink.end()
    }
}

fn escaped(value: &Value) -> Value {
    match value {
        Value::Text(text) if is_formula(value) => Value::Text(format!("'{text}")),
        value => value.clone(),
    }
}

fn is_formula(value: &Value) -> bool {
    matches!(value, Value::Text(text) if reads_as_formula(text))
}

/// The text starts like a formula and is not a number.
pub fn reads_as_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.len() > 1 && text.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_not_formulas() {
        let is = |text: &str| is_formula(&Value::Text(text.to_owned()));
        for text in ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", "\r=1"] {
            assert!(is(text), "{text}");
        }
        for text in ["", "-", "=", "-5", "+3.5e7", "gemm", "a=b", "'=1"] {
            assert!(!is(text), "{text}");
        }
        assert!(!is_formula(&Value::Int(-5)));
    }
}
