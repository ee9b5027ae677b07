//! CSV and TSV: raw values, one line of names.

use super::{Style, visible};
use crate::error::{Error, Result};
use crate::table::{Column, RowSink, Value};
use std::fmt::Write as _;
use std::io::{self, Write};

pub(super) struct Delimited<'a> {
    out: csv::Writer<&'a mut dyn Write>,
    columns: Vec<Column>,
    no_header: bool,
    on_terminal: bool,
    /// A number on its way out.
    buffer: String,
}

impl<'a> Delimited<'a> {
    pub(super) fn new(out: &'a mut dyn Write, delimiter: u8, style: &Style) -> Self {
        let out = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
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

/// A value as a machine reads it; a column may fix the digits of a real number.
pub(super) fn plain(value: &Value, column: &Column) -> String {
    let mut text = String::new();
    write_plain(&mut text, value, column);
    text
}

fn write_plain(out: &mut String, value: &Value, column: &Column) {
    // Writing to a String cannot fail.
    let _ = match (value, column.decimals) {
        (Value::Null, _) => Ok(()),
        (Value::Int(int), _) => write!(out, "{int}"),
        (Value::Real(real), Some(decimals)) => write!(out, "{real:.decimals$}"),
        (Value::Real(real), None) => write!(out, "{real:?}"),
        (Value::Text(text), _) => write!(out, "{text}"),
    };
}

fn failed(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::Output(source),
        other => Error::Output(io::Error::other(format!("{other:?}"))),
    }
}
