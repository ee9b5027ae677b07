//! JSON: a self-describing document, or a stream of lines.

use super::delimited::plain;
use super::{Heading, Style, put, visible};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, RowSink, Value};
use serde_json::{Map, Value as Json};
use std::io::Write;

/// `{…facts, "columns": […], "rows": [{…}, …]}`, written row by row.
pub(super) struct Document<'a> {
    out: &'a mut dyn Write,
    facts: Map<String, Json>,
    columns: Vec<Column>,
    on_terminal: bool,
    rows: usize,
}

impl<'a> Document<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: &Style, heading: &Heading) -> Self {
        Self {
            out,
            facts: heading.facts.clone(),
            columns: Vec::new(),
            on_terminal: style.on_terminal,
            rows: 0,
        }
    }
}

impl RowSink for Document<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        put(self.out, "{")?;
        for (key, value) in &self.facts {
            put(self.out, &format!("\n  {}: {value},", Json::from(key.as_str())))?;
        }
        let columns = serde_json::to_value(columns).map_err(|e| Error::Output(e.into()))?;
        let columns = columns.as_array().map(Vec::as_slice).unwrap_or_default();
        let lines: Vec<String> = columns.iter().map(|column| format!("\n    {column}")).collect();
        put(self.out, &format!("\n  \"columns\": [{}\n  ],\n  \"rows\": [", lines.join(",")))
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let comma = if self.rows == 0 { "" } else { "," };
        self.rows += 1;
        put(
            self.out,
            &format!("{comma}\n    {}", Json::Object(object(&self.columns, row, self.on_terminal))),
        )
    }

    fn end(&mut self) -> Result<()> {
        put(self.out, if self.rows == 0 { "]\n}" } else { "\n  ]\n}" })
    }
}

/// One object per line, with the query name if there are several results.
pub(super) struct Lines<'a> {
    out: &'a mut dyn Write,
    query: Option<Json>,
    columns: Vec<Column>,
    on_terminal: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: &Style, heading: &Heading, several: bool) -> Self {
        let query = heading.facts.get("query").filter(|_| several).cloned();
        Self { out, query, columns: Vec::new(), on_terminal: style.on_terminal }
    }
}

impl RowSink for Lines<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let mut line = Map::new();
        if let Some(query) = &self.query {
            line.insert("query".to_owned(), query.clone());
        }
        line.extend(object(&self.columns, row, self.on_terminal));
        put(self.out, &format!("{}\n", Json::Object(line)))
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Converts a row to an object. Numbers that JSON cannot represent (infinities) become null.
fn object(columns: &[Column], row: &[Value], on_terminal: bool) -> Map<String, Json> {
    let json = |(value, column): (&Value, &Column)| {
        let json = match value {
            Value::Null => Json::Null,
            Value::Int(int) => Json::from(*int),
            Value::Real(real) => match column.decimals {
                Some(_) => {
                    plain(value, column).parse().map_or(Json::Null, |rounded: f64| Json::from(rounded))
                }
                None => Json::from(*real),
            },
            Value::Text(text) if on_terminal => Json::from(visible(text)),
            Value::Text(text) => Json::from(text.as_str()),
        };
        (column.name.clone(), json)
    };
    row.iter().zip(columns).map(json).collect()
}
