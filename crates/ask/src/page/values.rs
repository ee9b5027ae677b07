//! Values of templates, from and to cells, rows and JSON.

use minijinja::value::{Value, ValueKind};
use nsq_value::table::{ResultTable, Value as Cell};
use std::collections::BTreeMap;

/// Converts a template value to JSON.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value.kind() {
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number => match value.as_i64().filter(|_| value.is_integer()) {
            Some(int) => int.into(),
            None => f64::try_from(value.clone()).map_or(serde_json::Value::Null, Into::into),
        },
        ValueKind::String => value.to_string().into(),
        ValueKind::Seq | ValueKind::Iterable => value
            .try_iter()
            .map(|items| items.map(|item| to_json(&item)).collect::<Vec<_>>().into())
            .unwrap_or_default(),
        ValueKind::Map => {
            let mut map = serde_json::Map::new();
            for key in value.try_iter().into_iter().flatten() {
                let item = value.get_item(&key).unwrap_or_default();
                map.insert(key.to_string(), to_json(&item));
            }
            map.into()
        }
        _ => serde_json::Value::Null,
    }
}

/// Converts JSON to a template value.
pub(super) fn of_json(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::from(()),
        Json::Bool(truth) => Value::from(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::from(int),
            None => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().map(of_json).collect::<Vec<Value>>().into(),
        Json::Object(fields) => {
            let field = |(name, value): (&String, &Json)| (name.clone(), of_json(value));
            fields.iter().map(field).collect::<BTreeMap<String, Value>>().into()
        }
    }
}

/// Converts a template value to a cell. Lists and rows become JSON.
pub(super) fn cell(value: &Value) -> Cell {
    match value.kind() {
        ValueKind::None | ValueKind::Undefined => Cell::Null,
        ValueKind::Bool => Cell::Int(value.is_true().into()),
        ValueKind::Number => match value.as_i64().filter(|_| value.is_integer()) {
            Some(int) => Cell::Int(int),
            None => f64::try_from(value.clone()).map_or(Cell::Null, Cell::Real),
        },
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => Cell::Text(to_json(value).to_string()),
        _ => Cell::Text(value.to_string()),
    }
}

/// Converts a cell to a template value.
pub fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::from(()),
        Cell::Int(int) => Value::from(*int),
        Cell::Real(real) => Value::from(*real),
        Cell::Text(text) => Value::from(text.as_str()),
    }
}

/// Rows as templates see them: `rows`, `first` if there is one, and `by`, rows by the value of a column.
pub fn rows(table: &ResultTable, key: Option<&str>) -> Value {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let key = key.and_then(|key| names.iter().position(|name| *name == key));
    let mut all = Vec::with_capacity(table.rows.len());
    let mut by = BTreeMap::<String, Value>::new();
    for row in &table.rows {
        let cells = names.iter().map(|name| (*name).to_owned()).zip(row.iter().map(value));
        let object = Value::from(cells.collect::<BTreeMap<String, Value>>());
        if let Some(Cell::Text(text)) = key.and_then(|key| row.get(key)) {
            by.insert(text.clone(), object.clone());
        }
        all.push(object);
    }
    let mut fields = BTreeMap::from([("by".to_owned(), Value::from(by))]);
    if let Some(first) = all.first() {
        fields.insert("first".to_owned(), first.clone());
    }
    fields.insert("rows".to_owned(), Value::from(all));
    Value::from(fields)
}
