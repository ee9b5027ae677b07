//! The formats `json`, `htable` and `hdoc`.

use super::layout::NsysStyle;
use crate::render::{Feed, Output, delimited, put, visible};
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};

/// An array of objects.
pub(super) struct Json<'a> {
    out: &'a mut Output,
    columns: Vec<Column>,
    has_rows: bool,
}

impl<'a> Json<'a> {
    pub(super) fn new(out: &'a mut Output) -> Self {
        Self { out, columns: Vec::new(), has_rows: false }
    }
}

impl RowSink for Json<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        put(self.out, "[\n")
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let json = |text: &str| serde_json::Value::from(text).to_string();
        let field = |(value, column): (&Value, &Column)| {
            let value = match value {
                Value::Null => "\"\"".to_owned(),
                Value::Text(text) => json(text),
                number => delimited::plain(number, column),
            };
            format!("    {}: {value}", json(&column.name))
        };
        let fields: Vec<String> = row.iter().zip(&self.columns).map(field).collect();
        let before = if std::mem::replace(&mut self.has_rows, true) { ",\n" } else { "" };
        put(self.out, &format!("{before}  {{\n{}\n  }}", fields.join(",\n")))
    }

    fn end(&mut self) -> Result<()> {
        put(self.out, if self.has_rows { "\n]\n" } else { "]\n" })
    }
}

/// An HTML table.
pub(super) struct Html<'a> {
    out: &'a mut Output,
    columns: Vec<Column>,
    has_rows: bool,
}

impl<'a> Html<'a> {
    pub(super) fn new(out: &'a mut Output) -> Self {
        Self { out, columns: Vec::new(), has_rows: false }
    }
}

impl RowSink for Html<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        put(self.out, "<table>\n")
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let mut text = String::new();
        if !std::mem::replace(&mut self.has_rows, true) {
            text.push_str("  <thead>\n    <tr>\n");
            for column in &self.columns {
                text.push_str(&format!("      <th>{}</th>\n", escaped(&column.name)));
            }
            text.push_str("    </tr>\n  </thead>\n  <tbody>\n");
        }
        text.push_str("    <tr>\n");
        for (value, column) in row.iter().zip(&self.columns) {
            text.push_str(&format!("      <td>{}</td>\n", escaped(&delimited::plain(value, column))));
        }
        text.push_str("    </tr>\n");
        put(self.out, &text)
    }

    fn end(&mut self) -> Result<()> {
        put(self.out, "  </tbody>\n</table>\n")
    }
}

/// An HTML page with the table of these rows.
pub(super) fn page(title: &str, layout: &NsysStyle, out: &mut Output, feed: Feed<'_>) -> Result<()> {
    let sheet = layout.style_sheet.as_ref().map_or(String::new(), |address| {
        format!("  <link rel=\"stylesheet\" href=\"{}\">\n", escaped(address))
    });
    let head = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"UTF-8\">\n  \
         <title>{}</title>\n{sheet}</head>\n<body>\n<h1>{}</h1>\n",
        escaped(&layout.page_title),
        escaped(title),
    );
    put(out, &head)?;
    feed(&mut Html::new(out))?;
    put(out, "</body>\n</html>\n")
}

fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq_value::table::ResultTable;

    #[test]
    fn json_keeps_all_digits() {
        let json = |table: &ResultTable| {
            let mut out = Vec::new();
            table.replay(&mut Json::new(&mut out)).unwrap();
            String::from_utf8(out).unwrap()
        };
        let mut time = Column::untyped("Time (%)");
        time.decimals = Some(1);
        let rows = vec![vec![Value::Real(65.1)]];
        let table = ResultTable { columns: vec![time], rows };
        assert_eq!(json(&table), "[\n  {\n    \"Time (%)\": 65.1\n  }\n]\n");
        assert_eq!(json(&ResultTable::default()), "[\n]\n");
    }
}
