//! CSV and TSV: raw values with one header line.

use super::{Style, visible};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, RowSink, Value};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Size of the write buffer, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

pub(super) struct Delimited<'a> {
    out: csv::Writer<&'a mut dyn Write>,
    columns: Vec<Column>,
    no_header: bool,
    on_terminal: bool,
    /// Buffer for formatting a number.
    buffer: String,
}

impl<'a> Delimited<'a> {
    pub(super) fn new(out: &'a mut dyn Write, delimiter: u8, style: &Style) -> Self {
        let out = csv::WriterBuilder::new()
            .delimiter(delimiter)
            .buffer_capacity(BUFFER_BYTES)
            .from_writer(out);
        let (no_header, on_terminal) = (style.no_header, style.on_terminal);
        Self { out, columns: Vec::new(), no_header, on_terminal, buffer: String::new() }
    }
}

impl RowSink for Delimited<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        if self.no_header {
            return Ok(());
        }
        let name = |column: &Column| match self.on_terminal {
            true => visible(&column.name),
            false => column.name.clone(),
        };
        self.out.write_record(columns.iter().map(name)).map_err(failed)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        for (value, column) in row.iter().zip(&self.columns) {
            match value {
                Value::Text(text) if self.on_terminal => self.out.write_field(visible(text)),
                Value::Text(text) => self.out.write_field(text),
                other => {
                    self.buffer.clear();
                    write_plain(&mut self.buffer, other, column);
                    self.out.write_field(&self.buffer)
                }
            }
            .map_err(failed)?;
        }
        self.out.write_record(None::<&[u8]>).map_err(failed)
    }

    fn end(&mut self) -> Result<()> {
        self.out.flush().map_err(Error::Output)
    }
}

/// Formats a value for machines. The column can fix the number of decimals.
pub(super) fn plain(value: &Value, column: &Column) -> String {
    let mut text = String::new();
    write_plain(&mut text, value, column);
    text
}

fn write_plain(out: &mut String, value: &Value, column: &Column) {
    match (value, column.decimals) {
        (Value::Null, _) => {}
        (Value::Int(int), _) => out.push_str(itoa::Buffer::new().format(*int)),
        (Value::Real(real), Some(decimals)) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "{real:.decimals$}");
        }
        (Value::Real(real), None) => write_real(out, *real),
        (Value::Text(text), _) => out.push_str(text),
    }
}

/// Writes the shortest text that parses back to the same number, with an exponent if it is very small or
/// large.
fn write_real(out: &mut String, real: f64) {
    let whole = real as i64;
    // Fast path: most times are whole numbers, which need no search for the shortest digits.
    if whole as f64 == real && real.abs() < 1e15 && (whole != 0 || real.is_sign_positive()) {
        out.push_str(itoa::Buffer::new().format(whole));
        out.push_str(".0");
    } else {
        // Writing to a String cannot fail.
        let _ = write!(out, "{real:?}");
    }
}

fn failed(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::Output(source),
        other => Error::Output(io::Error::other(format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_number_is_written_as_the_standard_library_would() {
        let known = [0.0, -0.0, 1.0, -2.5, 1e-4, 9.9e-5, 1e15, 9_999_999_999_999_998.0, 1e16, 5e-324];
        let mut bits = 1u64;
        let others = std::iter::repeat_with(|| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Either any bits, or a quotient like a time, mean or percentage.
            match bits >> 32 & 1 {
                0 => f64::from_bits(bits),
                _ => (bits >> 12) as f64 / (1 + (bits >> 40 & 3)) as f64,
            }
        });
        for real in known.into_iter().chain(others.take(200_000)) {
            let mut written = String::new();
            write_real(&mut written, real);
            assert_eq!(written, format!("{real:?}"));
        }
    }

    #[test]
    fn lines_read_back_unchanged() -> Result<()> {
        let rows = [
            vec![Value::Text("a,b".to_owned()), Value::Text("say \"it\"".to_owned())],
            vec![Value::Text("\"".to_owned()), Value::Text("two\r\nlines\t".to_owned())],
            vec![Value::Null, Value::Text(String::new())],
            vec![Value::Int(i64::MIN), Value::Real(0.5)],
        ];
        for delimiter in [b',', b'\t'] {
            let mut out = Vec::new();
            let style = Style { no_header: true, ..Style::default() };
            let mut lines = Delimited::new(&mut out, delimiter, &style);
            let columns = [Column::untyped("a"), Column::untyped("b")];
            lines.begin(&columns)?;
            rows.iter().try_for_each(|row| lines.row(row))?;
            lines.end()?;
            drop(lines);
            let mut reader = csv::ReaderBuilder::new()
                .delimiter(delimiter)
                .has_headers(false)
                .from_reader(out.as_slice());
            let read: Result<Vec<Vec<String>>, csv::Error> = reader.deserialize().collect();
            let written = |row: &Vec<Value>| -> Vec<String> {
                row.iter().zip(&columns).map(|(value, column)| plain(value, column)).collect()
            };
            assert_eq!(
                read.expect("they are lines of fields"),
                rows.iter().map(written).collect::<Vec<_>>()
            );
        }
        Ok(())
    }
}
