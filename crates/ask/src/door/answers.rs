//! Playbooks: prepared lists of questions, answered in sentences.

use super::library::{Library, Report};
use super::question::Asking;
use crate::open_report::OpenReport;
use crate::page::{Given, PartAnswer, Questions};
use nsq_render::render::{Format, Style};
use nsq_value::error::Result;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

impl Library {
    /// Asks the questions of a playbook about a report, or about two where a question compares.
    pub fn answer<'r>(
        &self,
        playbook: &str,
        reports: impl IntoIterator<Item = &'r Report>,
    ) -> PlaybookQuestion<'r> {
        let playbook = playbook.to_owned();
        PlaybookQuestion::new(self, reports, Playbook { playbook, parts: Vec::new(), files: Vec::new() })
    }
}

/// The questions of a playbook, which [`PlaybookQuestion::run`] asks.
pub type PlaybookQuestion<'r> = Asking<'r, Playbook>;

/// A playbook, and what it is given.
#[derive(Debug, Clone)]
pub struct Playbook {
    playbook: String,
    parts: Vec<String>,
    files: Vec<(String, PathBuf)>,
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
        self.what.parts.push(name.to_owned());
        self
    }

    /// Gives a CSV file that the playbook uses.
    pub fn file(mut self, name: &str, path: impl AsRef<Path>) -> Self {
        self.what.files.push((name.to_owned(), path.as_ref().to_owned()));
        self
    }

    /// Asks. A part whose data the reports lack has a reason instead of an answer.
    pub fn run(&self) -> Result<Answers> {
        let all = ["all".to_owned()];
        let given = Given {
            parts: if self.what.parts.is_empty() { &all } else { &self.what.parts },
            params: &self.given(),
            files: &self.what.files,
            scope: self.scope.clone(),
            classes: None,
        };
        let questions = Questions::new(self.library.catalog(), &self.what.playbook, given)?;
        let opened: Vec<&OpenReport> = self.reports.iter().map(|report| &report.open).collect();
        let answers = questions.answer(&opened, &self.limits())?;
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
