//! Rows of a query, read by column name.

use nsq_engine::compile::Plan;
use nsq_engine::execute::{Limits, Session};
use nsq_value::error::Result;
use nsq_value::table::{ResultTable, Value};
use std::collections::BTreeMap;

/// A row of a result: values by column name.
pub(super) struct Record(BTreeMap<String, Value>);

impl Record {
    pub(super) fn int(&self, column: &str) -> Option<i64> {
        match self.0.get(column) {
            Some(Value::Int(int)) => Some(*int),
            _ => None,
        }
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

/// Runs a plan and returns its rows.
pub(super) fn rows_of(session: &Session, plan: &Plan, limits: &Limits) -> Result<Vec<Record>> {
    Ok(records(&session.table(plan, limits)?))
}

/// The rows of a table.
pub(super) fn records(table: &ResultTable) -> Vec<Record> {
    let names: Vec<&String> = table.columns.iter().map(|column| &column.name).collect();
    let record = |row: &Vec<Value>| {
        Record(names.iter().map(|&name| name.clone()).zip(row.iter().cloned()).collect())
    };
    table.rows.iter().map(record).collect()
}
