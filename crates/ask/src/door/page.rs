//! Pages: several queries together, and comparisons.

use super::library::{Library, Report};
use super::question::{Asking, OfEach};
use super::rows::{Answer, Failure, Page, Table};
use crate::page::{PageRequest as Request, PageTableAnswer, not_comparable};
use nsq_render::render::{quotable, visible};
use nsq_value::error::Result;

impl Library {
    /// Asks a page about several reports.
    pub fn page<'r>(
        &self,
        name: &str,
        reports: impl IntoIterator<Item = &'r Report>,
    ) -> PageQuestion<'r> {
        PageQuestion::new(self, reports, PageOf::new(name))
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
        PageQuestion::new(self, reports, PageOf { before: Some(before), ..PageOf::new("diff") })
    }
}

impl Report {
    /// Asks a page: several queries together.
    pub fn page(&self, name: &str) -> PageQuestion<'_> {
        self.library.page(name, [self])
    }
}

/// A page of one or several reports, which [`PageQuestion::run`] asks.
pub type PageQuestion<'r> = Asking<'r, PageOf>;

/// A page, or a comparison.
#[derive(Debug, Clone)]
pub struct PageOf {
    name: String,
    /// Names the iterations, without leaving out other work.
    iterations: Option<String>,
    /// For a comparison: how many of the reports are before.
    before: Option<usize>,
    has_layouts: bool,
}

impl PageOf {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), iterations: None, before: None, has_layouts: false }
    }
}

impl OfEach for PageOf {}

impl PageQuestion<'_> {
    /// Names the NVTX ranges that are the iterations, for pages that compare iterations: `step`, `step *`.
    /// Unlike [`Scope::iterations`](super::Scope::iterations), it leaves out no other work.
    pub fn iterations(mut self, name: &str) -> Self {
        self.what.iterations = Some(name.to_owned());
        self
    }

    /// Also lays the page out: [`Page::text`] and [`Page::html`].
    pub fn layouts(mut self) -> Self {
        self.what.has_layouts = true;
        self
    }

    /// Asks, and returns the tables and facts. A table whose data a report lacks has no rows.
    pub fn run(&self) -> Result<Page> {
        let Some(before) = self.what.before else { return Ok(self.ask(Vec::new())?.0) };
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
        let params = [self.given(), more].concat();
        let request = Request::new(catalog, &self.what.name, &params, visible)?;
        let mut asking = self.request()?;
        asking.iteration_name.clone_from(&self.what.iterations);
        // A comparison is of all its reports.
        let goes_on = self.goes_on && self.what.before.is_none();
        asking.is_strict = !goes_on;
        let mut begun = asking.page(&request, &self.inputs())?;
        if !goes_on || begun.reports.is_empty() {
            begun = begun.all_answered()?;
        }
        let failures = begun.failures.iter().map(Failure::of).collect();
        let mut notes = self.notes(&begun.reports);
        let is_about_one = self.reports.len() == 1 || request.is_across();
        let answer = begun.answer()?;
        let runs = answer.tables.iter().find(|table| table.name == "runs");
        let why_not = match (self.what.before, runs) {
            (Some(_), Some(runs)) => {
                not_comparable(&runs.table, self.what.iterations.as_deref(), quotable)?
            }
            _ => None,
        };
        let layout = |name: &Option<String>| match name {
            Some(name) if self.what.has_layouts && is_about_one => answer.layout(name).map(Some),
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
