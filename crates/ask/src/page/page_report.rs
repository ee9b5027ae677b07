//! What a page is told about a report, and what the report answers.

use crate::open_report::OpenReport;
use crate::partials::ReportAnswers;
use minijinja::Value;
use nsq_value::error::Error;
use nsq_value::shell::line_of;
use nsq_value::table::ResultTable;
use std::collections::BTreeMap;

/// What a page is told about a report.
#[derive(Debug, Clone, Default)]
pub struct ReportInput {
    /// Name in output.
    pub name: String,
    /// Parameters of the page that this report has for itself, `key=value`.
    pub params: Vec<String>,
    /// What layouts see of the report beside its name, in `reports`.
    pub facts: BTreeMap<String, String>,
}

impl ReportInput {
    /// The report by its file name, with three facts: its path, the words that name it in a command, and what made it.
    pub fn of(open: &OpenReport) -> Self {
        let path = open.report.path.display().to_string();
        let made_by = match (&open.schema.nsys_version, open.schema.is_imported) {
            (_, true) => "PyTorch profiler".to_owned(),
            (Some(version), false) => format!("nsys {version}"),
            (None, false) => "nsys of unknown version".to_owned(),
        };
        let facts = [("path", path), ("given", line_of(&open.report.words())), ("made_by", made_by)];
        let facts = facts.map(|(name, text)| (name.to_owned(), text)).into();
        Self { name: open.report.name(), params: Vec::new(), facts }
    }
}

/// The answers of one report, for a page.
#[derive(Debug)]
pub struct PageReport {
    pub(super) name: String,
    pub(super) answers: ReportAnswers,
    pub(super) facts: BTreeMap<String, String>,
    /// The error where it lacks the data.
    pub(super) lacks: Vec<Option<Error>>,
}

impl PageReport {
    /// Its answers to [`PageRequest::partials`](super::PageRequest::partials); `None` where it lacks the data.
    pub fn tables(&self) -> impl Iterator<Item = Option<&ResultTable>> {
        self.answers.tables.iter().map(Option::as_ref)
    }

    /// The report as layouts see it: `name`, and facts.
    pub(super) fn to_value(&self) -> Value {
        let name = [("name".to_owned(), Value::from(self.name.as_str()))];
        let facts = self.facts.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str())));
        Value::from(name.into_iter().chain(facts).collect::<BTreeMap<String, Value>>())
    }
}
