//! `tests/golden/<query>.txt`: what a query prints for the fixtures, as CSV.
//!
//! The first line is the header, which all answers of a query share. A section per fixture follows, in the
//! order of names: `== fixture` and the rows below it, or `== fixture: no rows`. A fixture that lacks the
//! data of the query has no section.

use super::project;
use std::collections::BTreeMap;
use std::path::PathBuf;

const HEADING: &str = "== ";
const NO_ROWS: &str = ": no rows";

/// The answers of one query.
#[derive(Default, PartialEq)]
pub struct Golden {
    header: String,
    /// Rows by fixture, each row with its line break.
    sections: BTreeMap<String, String>,
}

impl Golden {
    /// The folder of all goldens.
    pub fn folder() -> PathBuf {
        project("tests/golden")
    }

    /// The path of the file of `query`.
    pub fn path(query: &str) -> PathBuf {
        Self::folder().join(query).with_extension("txt")
    }

    /// Reads the file of `query`. Without a file there are no answers.
    pub fn read(query: &str) -> Self {
        std::fs::read_to_string(Self::path(query))
            .map_or_else(|_| Self::default(), |text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut lines = text.split_inclusive('\n').peekable();
        let header = lines.next().unwrap_or_default().to_owned();
        let mut sections = BTreeMap::new();
        while let Some(line) = lines.next() {
            let Some(heading) = line.strip_prefix(HEADING) else { continue };
            let heading = heading.trim_end_matches('\n');
            let mut rows = String::new();
            while let Some(row) = lines.next_if(|line| !line.starts_with(HEADING)) {
                rows.push_str(row);
            }
            // The blank line before the next section. A row is never blank.
            if rows.ends_with("\n\n") || rows == "\n" {
                rows.pop();
            }
            let fixture = if rows.is_empty() { heading.strip_suffix(NO_ROWS) } else { None };
            sections.insert(fixture.unwrap_or(heading).to_owned(), rows);
        }
        Self { header, sections }
    }

    /// The text of the file: the same answers give the same bytes.
    pub fn text(&self) -> String {
        let mut text = self.header.clone();
        let mut is_spaced = true;
        for (fixture, rows) in &self.sections {
            // Sections without rows stand together, a line each.
            if is_spaced || !rows.is_empty() {
                text.push('\n');
            }
            let suffix = if rows.is_empty() { NO_ROWS } else { "" };
            text.push_str(&format!("{HEADING}{fixture}{suffix}\n{rows}"));
            is_spaced = !rows.is_empty();
        }
        text
    }

    /// The fixtures that have a section.
    pub fn fixtures(&self) -> impl Iterator<Item = &str> {
        self.sections.keys().map(String::as_str)
    }

    /// Returns whether the query has rows for some fixture.
    pub fn has_rows(&self) -> bool {
        self.sections.values().any(|rows| !rows.is_empty())
    }

    /// What the query prints for `fixture`; `None` if the fixture lacks the data.
    pub fn answer(&self, fixture: &str) -> Option<String> {
        self.sections.get(fixture).map(|rows| format!("{}{rows}", self.header))
    }

    /// Replaces what the query prints for `fixture`.
    pub fn set(&mut self, fixture: &str, answer: Option<&str>) {
        let Some(answer) = answer else {
            self.sections.remove(fixture);
            return;
        };
        let end = answer.find('\n').map_or(answer.len(), |at| at + 1);
        let (header, rows) = answer.split_at(end);
        header.clone_into(&mut self.header);
        self.sections.insert(fixture.to_owned(), rows.to_owned());
    }

    /// Drops the sections of fixtures that are not in `known`.
    pub fn retain(&mut self, known: &[String]) {
        self.sections.retain(|fixture, _| known.contains(fixture));
    }

    /// Writes the file of `query` if its answers have changed. Removes it if there are none.
    pub fn write(&self, query: &str) {
        let path = Self::path(query);
        if self.sections.is_empty() {
            let _ = std::fs::remove_file(path);
            return;
        }
        let text = self.text();
        assert!(Self::parse(&text) == *self, "{query}: an answer has a line that reads like a heading");
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            std::fs::write(path, text).unwrap();
        }
    }
}
