//! An open report, and the facts about it that accompany every result.

use super::note;
use super::options::{OpenArgs, no_instances};
use crate::catalog::Catalog;
use crate::compile::Plan;
use crate::error::Result;
use crate::execute::{Limits, Session};
use crate::interrupt;
use crate::normalize::Scope;
use crate::render::Heading;
use crate::table::ResultTable;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An open report and its schema.
pub(super) use crate::open_report::OpenReport as Opened;

impl Opened {
    /// Opens a report with the options of the command line. Time spent exporting it does not count.
    pub(super) fn open(path: &Path, args: &OpenArgs) -> Result<Self> {
        interrupt::pause(|| Self::new(path, &args.export_options())).map_err(no_instances)
    }

    /// The facts that accompany every result: versions of nsq, export schema and nsys; report and scope.
    pub(super) fn heading(&self, scope: &Scope) -> Heading {
        let mut heading = nsq_heading();
        let mut fact = |key: &str, value: Option<String>| {
            heading.facts.extend(value.map(|value| (key.to_owned(), value.into())));
        };
        fact("report", Some(self.report.name()));
        fact("export_schema", self.schema.export_version.clone());
        fact("nsys", self.schema.nsys_version.clone());
        if !scope.is_whole()
            && let Ok(scope) = serde_json::to_value(scope)
        {
            heading.facts.insert("scope".to_owned(), scope);
        }
        heading
    }

    /// Answers the plans within the scope.
    pub(super) fn ask(
        &self,
        catalog: &Catalog,
        scope: &Scope,
        plans: &[Plan],
        limits: &Limits,
    ) -> Result<Vec<ResultTable>> {
        let roots = plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let session = self.session(catalog, scope, roots, limits)?;
        plans.iter().map(|plan| session.table(plan, limits)).collect()
    }

    /// Begins a session, and prints its notes.
    pub(super) fn session<'a>(
        &self,
        catalog: &'a Catalog,
        scope: &Scope,
        roots: impl IntoIterator<Item = &'a str>,
        limits: &Limits,
    ) -> Result<Session> {
        let (session, notes) = self.begin(catalog, scope, roots, limits)?;
        notes.iter().for_each(|text| note(text));
        Ok(session)
    }
}

/// The fact that accompanies every result: the version of nsq.
pub(super) fn nsq_heading() -> Heading {
    let mut heading = Heading::default();
    heading.facts.insert("nsq".to_owned(), env!("CARGO_PKG_VERSION").into());
    heading
}

/// The shortest ends of the paths that tell them apart: file names, or as many folders as it takes.
pub(super) fn shortest_names(paths: &[PathBuf]) -> Vec<String> {
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
