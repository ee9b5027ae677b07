//! What a report contributes to a page, as a file: enough to compare it later, without the report.

use super::page_report::PageReport;
use nsq_engine::compile::Plan;
use nsq_files::bounded_file::{self, MAX_TABLE_BYTES, Origin};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the file.
const VERSION: u32 = 1;

const HELP: &str = "save it again with `nsq diff baseline save`";

/// The answers of a report to the queries that a page asks of each report, in one or more settings of the
/// page's parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedReport {
    /// The version of the file.
    saved_version: u32,
    /// The version of nsq that wrote it.
    pub nsq: String,
    /// The page.
    pub page: String,
    /// Name of the report.
    pub report: String,
    /// What else the answers depend on, such as the scope: equal settings can be compared.
    pub settings: BTreeMap<String, String>,
    /// SHA-256 of `answers`, as this file has them.
    content: String,
    /// The answers: by setting of the page, then by query.
    answers: BTreeMap<String, BTreeMap<String, SavedTable>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTable {
    version: u32,
    columns: Vec<String>,
    rows: Vec<Vec<Json>>,
}

impl SavedReport {
    /// A report without answers.
    pub fn new(page: &str, report: &str, settings: BTreeMap<String, String>) -> Self {
        Self {
            saved_version: VERSION,
            nsq: env!("CARGO_PKG_VERSION").to_owned(),
            page: page.to_owned(),
            report: report.to_owned(),
            settings,
            content: String::new(),
            answers: BTreeMap::new(),
        }
    }

    /// Adds the answers of the report with a setting of the page. `partials` are the page's queries.
    pub fn add(&mut self, setting: &str, partials: &[Plan], report: &PageReport) {
        let answered = partials.iter().zip(report.tables());
        let saved = answered.filter_map(|(plan, table)| {
            let (name, version) = plan.query.as_ref()?;
            Some((name.clone(), SavedTable::of(*version, table?)))
        });
        self.answers.insert(setting.to_owned(), saved.collect());
    }

    /// The whole file.
    pub fn to_json(&mut self) -> Result<String> {
        self.content = self.hash();
        serde_json::to_string(&self).map(|text| text + "\n").map_err(|e| Error::Output(e.into()))
    }

    /// Reads a file that [`SavedReport::to_json`] wrote.
    pub fn read(path: &Path) -> Result<Self> {
        let invalid =
            |reason: String| Error::Report { path: path.to_owned(), reason, help: HELP.to_owned() };
        let bytes = bounded_file::read(path, Origin::Found, MAX_TABLE_BYTES)?;
        let saved: Self = serde_json::from_slice(&bytes)
            .map_err(|e| invalid(format!("this is not a saved report: {e}")))?;
        if saved.saved_version != VERSION {
            let found = saved.saved_version;
            return Err(invalid(format!(
                "it has version {found} of the file, and this nsq reads {VERSION}"
            )));
        }
        if saved.content != saved.hash() {
            return Err(invalid("its content was changed after it was saved".to_owned()));
        }
        Ok(saved)
    }

    /// The answers with a setting of the page, for [`super::PageRequest::given`]. Fails if a query has
    /// another version now.
    pub fn tables<'a>(
        &'a self,
        setting: &str,
        partials: &'a [Plan],
        path: &Path,
    ) -> Result<BTreeMap<&'a str, ResultTable>> {
        let none = BTreeMap::new();
        let answers = self.answers.get(setting).unwrap_or(&none);
        let mut tables = BTreeMap::new();
        for (name, version) in partials.iter().filter_map(|plan| plan.query.as_ref()) {
            let Some(saved) = answers.get(name) else { continue };
            if saved.version != *version {
                return Err(Error::Report {
                    path: path.to_owned(),
                    reason: format!(
                        "it has version {} of {name}, which is now {version}",
                        saved.version
                    ),
                    help: HELP.to_owned(),
                });
            }
            tables.insert(name.as_str(), saved.table());
        }
        Ok(tables)
    }

    fn hash(&self) -> String {
        // Maps are sorted, and numbers have one spelling.
        let text = serde_json::to_vec(&self.answers).unwrap_or_default();
        Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl SavedTable {
    fn of(version: u32, table: &ResultTable) -> Self {
        let cell = |value: &Value| match value {
            Value::Null => Json::Null,
            Value::Int(int) => (*int).into(),
            Value::Real(real) => (*real).into(),
            Value::Text(text) => text.as_str().into(),
        };
        Self {
            version,
            columns: table.columns.iter().map(|column| column.name.clone()).collect(),
            rows: table.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        }
    }

    fn table(&self) -> ResultTable {
        let cell = |value: &Json| match value {
            Json::Number(number) => match number.as_i64() {
                Some(int) => Value::Int(int),
                None => number.as_f64().map_or(Value::Null, Value::Real),
            },
            Json::Bool(truth) => Value::Int(i64::from(*truth)),
            Json::String(text) => Value::Text(text.clone()),
            _ => Value::Null,
        };
        // A row that is too short or too long was not written by nsq.
        let row = |row: &Vec<Json>| {
            let cells = row.iter().map(cell).chain(std::iter::repeat(Value::Null));
            cells.take(self.columns.len()).collect()
        };
        ResultTable {
            columns: self.columns.iter().map(|name| Column::untyped(name)).collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }
}
