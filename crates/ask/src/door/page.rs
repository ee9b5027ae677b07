//! Pages: several queries together, and comparisons.

use super::library::{Library, Report};
use super::question::{Cancel, How, Scope, inputs, notes};
use super::rows::{Answer, Failure, Page, Table};
use crate::page::{PageRequest as Request, PageTableAnswer, not_comparable};
use nsq_render::render::{quotable, visible};
use nsq_sweep::threads::Threads;
use nsq_value::error::Result;
use std::num::NonZeroUsize;
use std::time::Duration;

impl Library {
    /// Asks a page about several reports.
    pub fn page<'r>(
        &self,
        name: &str,
        reports: impl IntoIterator<Item = &'r Report>,
    ) -> PageQuestion<'r> {
        PageQuestion::new(self.clone(), reports.into_iter().collect(), name)
    }

    /// Compares reports before a change with reports after it: the page `diff`. Several reports of a side
    /// are runs of the same program.
    pub fn diff<'r>(
        &self,
        before: impl IntoIterator<Item = &'r Report>,
        after: impl IntoIterator<Item = &'r Report>,
    ) -> PageQuestion<'r> {
        let mut reports: Vec<&Report> = before.into_iter().collect();
        let before = reports.len();
        reports.extend(after);
        PageQuestion { before: Some(before), ..PageQuestion::new(self.clone(), reports, "diff") }
    }
}

impl Report {
    /// Asks a page: several queries together.
    pub fn page(&self, name: &str) -> PageQuestion<'_> {
        PageQuestion::new(self.library.clone(), vec![self], name)
    }
}

/// A page of one or several reports, which [`PageQuestion::run`] asks.
#[derive(Debug, Clone)]
pub struct PageQuestion<'r> {
    library: Library,
    reports: Vec<&'r Report>,
    name: String,
    params: Vec<String>,
    /// Names the iterations, without leaving out other work.
    iterations: Option<String>,
    /// For a comparison: how many of the reports are before.
    before: Option<usize>,
    has_layouts: bool,
    how: How,
}

impl<'r> PageQuestion<'r> {
    fn new(library: Library, reports: Vec<&'r Report>, name: &str) -> Self {
        let how = How::cancelled_by(&library.cancel);
        Self {
            library,
            reports,
            name: name.to_owned(),
            params: Vec::new(),
            iterations: None,
            before: None,
            has_layouts: false,
            how,
        }
    }

    /// Sets a parameter of the page, as on the command line.
    pub fn param(mut self, name: &str, value: impl ToString) -> Self {
        self.params.push(format!("{name}={}", value.to_string()));
        self
    }

    /// Asks only about a part of each report.
    pub fn scope(mut self, scope: &Scope) -> Self {
        self.how.scope = scope.clone();
        self
    }

    /// Names the NVTX ranges that are the iterations, for pages that compare iterations: `step`, `step *`.
    /// Unlike [`Scope::iterations`], it leaves out no other work.
    pub fn iterations(mut self, name: &str) -> Self {
        self.iterations = Some(name.to_owned());
        self
    }

    /// Chooses the class map, as [`Question::classes`](super::Question::classes).
    pub fn classes(mut self, map: &str) -> Self {
        self.how.classes = Some(map.to_owned());
        self
    }

    /// Also lays the page out: [`Page::text`] and [`Page::html`].
    pub fn layouts(mut self) -> Self {
        self.has_layouts = true;
        self
    }

    /// Stops with [`Error::Limit`](nsq_value::error::Error::Limit) after this time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.how.timeout = Some(timeout);
        self
    }

    /// Lets another thread stop the question.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.how.cancel = cancel.clone();
        self
    }

    /// Goes on where one of several reports fails: [`Page::failures`] lists it. If all fail, the first error is
    /// returned. A comparison needs all its reports.
    pub fn go_on(mut self) -> Self {
        self.how.goes_on = true;
        self
    }

    /// Uses at most this many threads; 0 means one per core. The answer is the same for every number.
    pub fn threads(mut self, most: usize) -> Self {
        self.how.threads = Threads::at_most(NonZeroUsize::new(most));
        self
    }

    /// Asks, and returns the tables and facts. A table whose data a report lacks has no rows.
    pub fn run(&self) -> Result<Page> {
        let Some(before) = self.before else { return Ok(self.ask(Vec::new())?.0) };
        let runs = format!("runs_a={before}");
        let (page, why_not) = self.ask(vec![runs.clone()])?;
        let Some(reason) = why_not else { return Ok(page) };
        // Reports with different iterations are asked again, for all of their work.
        let whole = vec![runs, "per_iteration=false".to_owned(), format!("why_not={reason}")];
        let (mut page, _) = self.ask(whole)?;
        page.notes.insert(0, format!("iterations are not compared: {reason}"));
        Ok(page)
    }

    /// The page with these parameters beside the user's, and why iterations are not compared.
    fn ask(&self, more: Vec<String>) -> Result<(Page, Option<String>)> {
        let catalog = self.library.catalog();
        let params: Vec<String> = self.params.iter().cloned().chain(more).collect();
        let request = Request::new(catalog, &self.name, &params, visible)?;
        let mut asking = self.how.asking(&self.library)?;
        asking.iteration_name.clone_from(&self.iterations);
        // A comparison is of all its reports.
        let goes_on = self.how.goes_on && self.before.is_none();
        asking.is_strict = !goes_on;
        let mut begun = asking.page(&request, &inputs(&self.reports))?;
        if !goes_on || begun.reports.is_empty() {
            begun = begun.all_answered()?;
        }
        let failures = begun.failures.iter().map(Failure::of).collect();
        let mut notes = notes(&begun.reports, self.reports.len() > 1);
        let is_about_one = self.reports.len() == 1 || request.is_across();
        let answer = begun.answer()?;
        let runs = answer.tables.iter().find(|table| table.name == "runs");
        let why_not = match (self.before, runs) {
            (Some(_), Some(runs)) => not_comparable(&runs.table, self.iterations.as_deref(), quotable)?,
            _ => None,
        };
        let layout = |name: &Option<String>| match name {
            Some(name) if self.has_layouts && is_about_one => answer.layout(name).map(Some),
            _ => Ok(None),
        };
        let (text, html) = (layout(&request.page().text)?, layout(&request.page().html)?);
        let table = |table: &PageTableAnswer<'_>| {
            let (title, query) = (table.title.clone(), table.plan.query.clone());
            let about = Answer { title, query, ..Answer::default() };
            (table.name.to_owned(), Table::new(about, table.table.clone()))
        };
        let tables = answer.tables.iter().map(table).collect();
        notes.extend(answer.notes.iter().cloned());
        let page = Page { tables, facts: answer.facts.clone(), notes, failures, text, html };
        Ok((page, why_not))
    }
}
