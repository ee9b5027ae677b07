//! The formats `json`, `htable` and `hdoc`.

use super::layout::NsysStyle;
use crate::render::{delimited, visible};
use crate::table::{ResultTable, Value};
use serde_json::Value as Json;

pub(super) fn json(table: &ResultTable) -> String {
    let objects: Vec<String> = table
        .rows
        .iter()
        .map(|row| {
            let fields: Vec<String> = row
                .iter()
                .zip(&table.columns)
                .map(|(value, column)| {
                    let value = match value {
                        Value::Null => "\"\"".to_owned(),
                        Value::Text(text) => Json::from(text.as_str()).to_string(),
                        number => delimited::plain(number, column),
                    };
                    format!("    {}: {value}", Json::from(column.name.as_str()))
                })
                .collect();
            format!("  {{\n{}\n  }}", fields.join(",\n"))
        })
        .collect();
    match objects.as_slice() {
        [] => "[\n]\n".to_owned(),
        objects => format!("[\n{}\n]\n", objects.join(",\n")),
    }
}

pub(super) fn html(table: &ResultTable) -> String {
    if table.rows.is_empty() {
        return "<table>\n  </tbody>\n</table>\n".to_owned();
    }
    let mut text = "<table>\n  <thead>\n    <tr>\n".to_owned();
    for column in &table.columns {
        text.push_str(&format!("      <th>{}</th>\n", escaped(&column.name)));
    }
    text.push_str("    </tr>\n  </thead>\n  <tbody>\n");
    for row in &table.rows {
        text.push_str("    <tr>\n");
        for (value, column) in row.iter().zip(&table.columns) {
            text.push_str(&format!("      <td>{}</td>\n", escaped(&delimited::plain(value, column))));
        }
        text.push_str("    </tr>\n");
    }
    text.push_str("  </tbody>\n</table>\n");
    text
}

pub(super) fn page(title: &str, layout: &NsysStyle, table: &ResultTable) -> String {
    let sheet = layout.style_sheet.as_ref().map_or(String::new(), |address| {
        format!("  <link rel=\"stylesheet\" href=\"{}\">\n", escaped(address))
    });
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"UTF-8\">\n  \
         <title>{}</title>\n{sheet}</head>\n<body>\n<h1>{}</h1>\n{}</body>\n</html>\n",
        escaped(&layout.page_title),
        escaped(title),
        html(table)
    )
}

fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn json_keeps_all_digits() {
        let mut time = Column::untyped("Time (%)");
        time.decimals = Some(1);
        let table = ResultTable { columns: vec![time], rows: vec![vec![Value::Real(65.1)]] };
        assert_eq!(json(&table), "[\n  {\n    \"Time (%)\": 65.1\n  }\n]\n");
        assert_eq!(json(&ResultTable::default()), "[\n]\n");
    }
}
