//! The format `tsv`: fields are never quoted, so a tab or the end of a line in one becomes a space.

use crate::render::{Style, delimited, put, visible};
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};
use std::io::Write;

pub(super) struct Tabs<'a> {
    out: &'a mut dyn Write,
    escape_tabs: bool,
    no_header: bool,
    on_terminal: bool,
    columns: Vec<Column>,
}

impl<'a> Tabs<'a> {
    pub(super) fn new(out: &'a mut dyn Write, escape_tabs: bool, style: &Style) -> Self {
        let (no_header, on_terminal) = (style.no_header, style.on_terminal);
        Self { out, escape_tabs, no_header, on_terminal, columns: Vec::new() }
    }

    fn line(&mut self, fields: &[String]) -> Result<()> {
        let tab = if self.escape_tabs { "\\t" } else { " " };
        let field = |field: &String| {
            let text = field.replace('\t', tab).replace(['\n', '\r'], " ");
            if self.on_terminal { visible(&text) } else { text }
        };
        let fields: Vec<String> = fields.iter().map(field).collect();
        put(self.out, &format!("{}\n", fields.join("\t")))
    }
}

impl RowSink for Tabs<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        if self.no_header {
            return Ok(());
        }
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        self.line(&names)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let fields: Vec<String> = row
            .iter()
            .zip(&self.columns)
            .map(|(value, column)| delimited::plain(value, column))
            .collect();
        self.line(&fields)
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq_value::table::ResultTable;

    #[test]
    fn fields_stay_in_their_columns() {
        let table = ResultTable {
            columns: vec![Column::untyped("Name"), Column::untyped("Calls")],
            rows: vec![vec![Value::Text("say \"it\"\tor\nnot".to_owned()), Value::Int(2)]],
        };
        for (escape_tabs, expected) in [(false, "say \"it\" or not"), (true, "say \"it\"\\tor not")] {
            let mut out = Vec::new();
            let style = Style::default();
            table.replay(&mut Tabs::new(&mut out, escape_tabs, &style)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("Name\tCalls\n{expected}\t2\n"));
        }
    }
}
