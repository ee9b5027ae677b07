//! A report to ask: one that is open, or one that is opened when it is its turn.

use crate::open_report::OpenReport;
use crate::page::ReportInput;
use nsq_engine::normalize::Scope;
use nsq_library::catalog::ClassMaps;
use nsq_value::error::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Opens a report. Time that it takes does not count as time of a question.
pub type Opener<'a> = dyn Fn(&Path) -> Result<OpenReport> + Sync + 'a;

/// A report to ask.
#[derive(Clone)]
pub struct Input<'a> {
    /// Its name in answers.
    pub name: String,
    /// Its path, as it was given.
    pub path: &'a Path,
    /// Its scope, if it is not that of all reports.
    pub scope: Option<Scope>,
    /// Its class maps, if they are not those of all reports.
    pub classes: Option<ClassMaps>,
    /// What a page is told about it, if that is not its file and what made it.
    pub about: Option<ReportInput>,
    /// Where it comes from.
    pub source: Source<'a>,
}

/// Where a report to ask comes from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// It is open.
    Open(&'a OpenReport),
    /// It is opened for as long as it is asked.
    File(&'a Opener<'a>),
}

impl<'a> Input<'a> {
    /// A report that is open.
    pub fn open(name: String, report: &'a OpenReport) -> Self {
        Self::new(name, &report.report.path, Source::Open(report))
    }

    /// A report that is opened for as long as it is asked.
    pub fn file(name: String, path: &'a Path, opener: &'a Opener<'a>) -> Self {
        Self::new(name, path, Source::File(opener))
    }

    /// The SQLite file that is read, if the report is open; else its path.
    pub(crate) fn database(&self) -> &Path {
        match self.source {
            Source::Open(report) => &report.report.database,
            Source::File(_) => self.path,
        }
    }

    fn new(name: String, path: &'a Path, source: Source<'a>) -> Self {
        Self { name, path, scope: None, classes: None, about: None, source }
    }
}

/// The shortest ends of the paths that tell them apart: file names, or as many folders as it takes.
pub fn shortest_names(paths: &[PathBuf]) -> Vec<String> {
    let longest = paths.iter().map(|path| path.components().count()).max().unwrap_or(0);
    let ends = |kept: usize| -> Vec<String> {
        let end = |path: &PathBuf| {
            let skipped = path.components().count().saturating_sub(kept);
            path.components().skip(skipped).collect::<PathBuf>().display().to_string()
        };
        paths.iter().map(end).collect()
    };
    let are_distinct = |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    // The same path twice is never told apart.
    (1..=longest).map(ends).find(are_distinct).unwrap_or_else(|| ends(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_the_shortest_distinct_names() {
        let names =
            |paths: &[&str]| shortest_names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(names(&["/x/a.sqlite", "/x/b.sqlite"]), ["a.sqlite", "b.sqlite"]);
        assert_eq!(names(&["/x/1/r.sqlite", "/x/2/r.sqlite"]), ["1/r.sqlite", "2/r.sqlite"]);
        assert_eq!(names(&["r", "/a/r"]), ["r", "a/r"]);
        assert_eq!(names(&["/x/r", "/x/r"]), ["r", "r"]);
    }
}
