//! Playbooks: prepared lists of questions, answered in sentences.

use super::library::{Library, Report};
use super::question::{Cancel, How, Scope};
use crate::open_report::OpenReport;
use crate::page::{Given, PartAnswer, Questions};
use nsq_render::render::{Format, Style};
use nsq_value::error::Result;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Library {
    /// Asks the questions of a playbook about a report, or about two where a question compares.
    pub fn answer<'r>(
        &self,
        playbook: &str,
        reports: impl IntoIterator<Item = &'r Report>,
    ) -> PlaybookQuestion<'r> {
        PlaybookQuestion {
            library: self.clone(),
            reports: reports.into_iter().collect(),
            playbook: playbook.to_owned(),
            parts: Vec::new(),
            params: Vec::new(),
            files: Vec::new(),
            how: How::default(),
        }
    }
}

/// The questions of a playbook, which [`PlaybookQuestion::run`] asks.
#[derive(Debug, Clone)]
pub struct PlaybookQuestion<'r> {
    library: Library,
    reports: Vec<&'r Report>,
    playbook: String,
    parts: Vec<String>,
    params: Vec<String>,
    files: Vec<(String, PathBuf)>,
    how: How,
}

/// The answers of a playbook.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// The parts: question, status, and the pieces of the answer with their sentences, facts and rows, as in the
    /// JSON of `nsq answer`.
    pub parts: Vec<Json>,
    /// As text, as the program prints it.
    pub text: String,
}

impl PlaybookQuestion<'_> {
    /// Asks only this part; may be repeated.
    pub fn part(mut self, name: &str) -> Self {
        self.parts.push(name.to_owned());
        self
    }

    /// Sets a parameter, or names the ranges of a pattern.
    pub fn param(mut self, name: &str, value: impl ToString) -> Self {
        self.params.push(format!("{name}={}", value.to_string()));
        self
    }

    /// Gives a CSV file that the playbook uses.
    pub fn file(mut self, name: &str, path: impl AsRef<Path>) -> Self {
        self.files.push((name.to_owned(), path.as_ref().to_owned()));
        self
    }

    /// Asks only about a part of each report: the ranges of a question narrow it further.
    pub fn scope(mut self, scope: &Scope) -> Self {
        self.how.scope = scope.clone();
        self
    }

    /// Stops with [`Error::Limit`](nsq_value::error::Error::Limit) after this time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.how.timeout = Some(timeout);
        self
    }

    /// Lets another thread stop the questions.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.how.cancel = cancel.clone();
        self
    }

    /// Asks. A part whose data the reports lack has a reason instead of an answer.
    pub fn run(&self) -> Result<Answers> {
        let all = ["all".to_owned()];
        let given = Given {
            parts: if self.parts.is_empty() { &all } else { &self.parts },
            params: &self.params,
            files: &self.files,
            scope: self.how.scope.clone(),
            classes: None,
        };
        let questions = Questions::new(self.library.catalog(), &self.playbook, given)?;
        let opened: Vec<&OpenReport> = self.reports.iter().map(|report| &report.open).collect();
        let answers = questions.answer(&opened, &self.how.limits())?;
        let facts: Vec<Json> = opened
            .iter()
            .map(|open| json!({ "report": open.report.name(), "nsys": open.schema.nsys_version }))
            .collect();
        let style = Style { is_for_library: true, ..Style::default() };
        let mut profile = PartAnswer::profile("", &facts, &answers, Format::Text, &style, false)?;
        profile.extend([("files".to_owned(), json!([])), ("lacking".to_owned(), json!([]))]);
        let page = questions.page();
        let text = questions.layout(json!({
            "title": page.title,
            "name": page.name,
            "version": page.version,
            "markdown": false,
            "details": true,
            "width": null,
            "bold": false,
            "overview": null,
            "failures": null,
            "profiles": [profile],
        }))?;
        let parts = answers.iter().map(|answer| answer.to_json(&style));
        Ok(Answers { parts: parts.collect::<Result<_>>()?, text })
    }
}
