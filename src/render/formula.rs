//! Texts that a spreadsheet takes for formulas.
//!
//! A name that begins with `=` is run by whoever opens the CSV in a spreadsheet. Programs need names as
//! they are, so they stay so unless asked, and are counted.

use crate::error::Result;
use crate::table::{Column, RowSink, Value};

/// Counts such texts on their way to a sink, or makes them harmless.
pub(super) struct Formulas<'s> {
    pub(super) sink: &'s mut dyn RowSink,
    /// Put an apostrophe before them, which spreadsheets do not show.
    pub(super) defuse: bool,
    pub(super) found: &'s mut usize,
}

impl RowSink for Formulas<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.sink.begin(columns)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let before = *self.found;
        *self.found += row.iter().filter(|value| is_formula(value)).count();
        if !self.defuse || *self.found == before {
            return self.sink.row(row);
        }
        let harmless: Vec<Value> = row.iter().map(defused).collect();
        self.sink.row(&harmless)
    }

    fn end(&mut self) -> Result<()> {
        self.sink.end()
    }
}

fn defused(value: &Value) -> Value {
    match value {
        Value::Text(text) if is_formula(value) => Value::Text(format!("'{text}")),
        value => value.clone(),
    }
}

fn is_formula(value: &Value) -> bool {
    matches!(value, Value::Text(text) if reads_as_formula(text))
}

/// It begins as formulas do, and is no number.
pub fn reads_as_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.len() > 1 && text.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_told_from_names_and_numbers() {
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
