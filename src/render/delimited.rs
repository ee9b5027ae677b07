//! CSV and TSV: raw values, one line of names.

use super::{Style, visible};
use crate::error::{Error, Result};
use crate::table::{Column, RowSink, Value};
use std::io::{self, Write};

pub(super) struct Delimited<'a> {
    out: csv::Writer<&'a mut dyn Write>,
    columns: Vec<Column>,
    no_header: bool,
    on_terminal: bool,
}

impl<'a> Delimited<'a> {
    pub(super) fn new(out: &'a mut dyn Write, delimiter: u8, style: &Style) -> Self {
        let out = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        Self { out, columns: Vec::new(), no_header: style.no_header, on_terminal: style.on_terminal }
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
                other => self.out.write_field(plain(other, column)),
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
    match (value, column.decimals) {
        (Value::Null, _) => String::new(),
        (Value::Int(int), _) => int.to_string(),
        (Value::Real(real), Some(decimals)) => format!("{real:.decimals$}"),
        (Value::Real(real), None) => format!("{real:?}"),
        (Value::Text(text), _) => text.clone(),
    }
}

fn failed(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::Output(source),
        other => Error::Output(io::Error::other(format!("{other:?}"))),
    }
}
