//! Questions to a report: parameters, scope, limits.

use super::library::{Library, Report};
use super::rows::{Page, Table};
use crate::catalog::ClassMaps;
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::execute::Limits;
use crate::normalize::Presence;
use crate::page::{PageRequest as Request, PageTableAnswer, Partials, ReportAnswers, ReportInput};
use crate::table::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use crate::scope::ScopeText as Scope;

impl Library {
    /// Asks several reports. Rows begin with the column `report`, unless the query reads across reports.
    pub fn query<'r>(&self, name: &str, reports: impl IntoIterator<Item = &'r Report>) -> Question<'r> {
        Question::new(self.clone(), reports.into_iter().collect(), name, false)
    }

    /// Asks a page about several reports.
    pub fn page<'r>(
        &self,
        name: &str,
        reports: impl IntoIterator<Item = &'r Report>,
    ) -> PageQuestion<'r> {
        PageQuestion::new(self.clone(), reports.into_iter().collect(), name)
    }
}

impl Report {
    /// Asks a query by its name, or `name@version`.
    pub fn query(&self, name: &str) -> Question<'_> {
        Question::new(self.library.clone(), vec![self], name, false)
    }

    /// Asks a statement over the relations that `nsq list --relations` shows.
    pub fn sql(&self, statement: &str) -> Question<'_> {
        Question::new(self.library.clone(), vec![self], statement, true)
    }

    /// Asks a page: several queries together.
    pub fn page(&self, name: &str) -> PageQuestion<'_> {
        PageQuestion::new(self.library.clone(), vec![self], name)
    }
}

/// Stops questions from another thread. A clone stops the same questions.
#[derive(Debug, Clone, Default)]
pub struct Cancel(pub(super) Arc<AtomicBool>);

impl Cancel {
    /// Stops every question that has it, within milliseconds: they return [`Error::Interrupted`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop, for work of the caller's own between questions.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A question to one or several reports, which [`Question::run`] asks.
#[derive(Debug, Clone)]
pub struct Question<'r> {
    library: Library,
    reports: Vec<&'r Report>,
    text: String,
    is_statement: bool,
    params: Vec<(String, String)>,
    how: How,
}

/// In which scope, and with which limits, a question is asked.
#[derive(Debug, Clone, Default)]
struct How {
    scope: Scope,
    classes: Option<String>,
    timeout: Option<Duration>,
    max_rows: Option<usize>,
    max_bytes: Option<usize>,
    /// Names the iterations of a page, without leaving out other work.
    iterations: Option<String>,
    cancel: Option<Cancel>,
}

impl How {
    fn limits(&self) -> Limits {
        Limits {
            max_rows: self.max_rows,
            max_bytes: self.max_bytes,
            cancel: self.cancel.as_ref().map(|cancel| Arc::clone(&cancel.0)),
            ..Limits::with_timeout(self.timeout)
        }
    }

    /// The class maps of the library, with the one that was chosen.
    fn class_maps(&self, library: &Library) -> Result<ClassMaps> {
        let mut maps = library.catalog().classes().clone();
        if let Some(spelling) = &self.classes {
            maps.choose(spelling)?;
        }
        Ok(maps)
    }
}

impl<'r> Question<'r> {
    pub(super) fn new(
        library: Library,
        reports: Vec<&'r Report>,
        text: &str,
        is_statement: bool,
    ) -> Self {
        let text = text.to_owned();
        Self { library, reports, text, is_statement, params: Vec::new(), how: How::default() }
    }

    /// Sets a parameter of the query, as on the command line: a number, `1.5ms`, `true`, `a,b`.
    pub fn param(mut self, name: &str, value: impl ToString) -> Self {
        self.params.push((name.to_owned(), value.to_string()));
        self
    }

    /// Asks only about a part of the report.
    pub fn scope(mut self, scope: &Scope) -> Self {
        self.how.scope = scope.clone();
        self
    }

    /// Chooses the class map: a name, such as `vllm/llama`, or the path of a file.
    pub fn classes(mut self, map: &str) -> Self {
        self.how.classes = Some(map.to_owned());
        self
    }

    /// Stops with [`Error::Limit`] after this time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.how.timeout = Some(timeout);
        self
    }

    /// Stops with [`Error::Limit`] if there are more rows.
    pub fn max_rows(mut self, rows: usize) -> Self {
        self.how.max_rows = Some(rows);
        self
    }

    /// Stops with [`Error::Limit`] if the texts in the rows have more bytes than this in all: a guard for
    /// memory against statements of strangers.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.how.max_bytes = Some(bytes);
        self
    }

    /// Lets another thread stop the question.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.how.cancel = Some(cancel.clone());
        self
    }

    /// Asks, and returns all rows. If there are none, a note says what that means, if the query knows.
    ///
    /// # Errors
    ///
    /// [`Error::LacksData`] if the report lacks the data: every other error is a failure. [`Error::Unknown`]
    /// and [`Error::Usage`] for names and values that do not exist.
    pub fn run(&self) -> Result<Table> {
        let catalog = self.library.catalog();
        let plan = if self.is_statement {
            if let Some((name, _)) = self.params.first() {
                return Err(Error::usage(
                    format!("a statement has no parameter '{name}'"),
                    "write the value into the statement",
                ));
            }
            Plan::ad_hoc(&self.text, ("statement".to_owned(), 1), catalog)
        } else {
            let invocation = Invocation { params: self.params.clone(), ..Invocation::parse(&self.text) };
            Plan::new(catalog, &invocation, &Layout::Own)?
        };
        let (limits, maps) = (self.how.limits(), self.how.class_maps(&self.library)?);
        let partials = Partials::of([&plan]);
        let (mut answers, mut all_notes) = (Vec::new(), Vec::new());
        for Report { open, .. } in &self.reports {
            plan.check_presence(&Presence::new(&open.schema, catalog), &open.report.path)?;
            let scope = self.how.scope.resolve(&open.schema)?;
            let roots = plan.reads.iter().map(String::as_str);
            let (session, notes) = open.begin_with(catalog, &maps, &scope, roots, &limits)?;
            let tables = partials.plans().iter().map(|one| session.table(one, &limits).map(Some));
            let tables = tables.collect::<Result<_>>()?;
            answers.push(ReportAnswers { name: open.report.name(), tables });
            all_notes.extend(notes);
        }
        let several = self.reports.len() > 1;
        let mut rows = partials.answer(&[&plan], answers, several, &maps, &limits)?;
        let rows = rows.pop().unwrap_or_default();
        if let (true, Some((name, _))) = (rows.rows.is_empty(), &plan.query)
            && let Some(reason) = &catalog.query(name)?.header.when_empty
        {
            all_notes.push(format!("{name} returned no rows: {reason}"));
        }
        Ok(Table::new(&plan.title, plan.query.as_ref(), all_notes, rows))
    }

    /// Asks, and returns the value of a column in the first row.
    pub fn value(&self, column: &str) -> Result<Option<Value>> {
        Ok(self.run()?.first().and_then(|row| row.get(column).cloned()))
    }
}

/// A page of one or several reports, which [`PageQuestion::run`] asks.
#[derive(Debug, Clone)]
pub struct PageQuestion<'r> {
    library: Library,
    reports: Vec<&'r Report>,
    name: String,
    params: Vec<String>,
    how: How,
}

impl<'r> PageQuestion<'r> {
    pub(super) fn new(library: Library, reports: Vec<&'r Report>, name: &str) -> Self {
        Self { library, reports, name: name.to_owned(), params: Vec::new(), how: How::default() }
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
        self.how.iterations = Some(name.to_owned());
        self
    }

    /// Stops with [`Error::Limit`] after this time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.how.timeout = Some(timeout);
        self
    }

    /// Lets another thread stop the question.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.how.cancel = Some(cancel.clone());
        self
    }

    /// Asks, and returns the tables and facts. A table whose data a report lacks has no rows.
    pub fn run(&self) -> Result<Page> {
        let catalog = self.library.catalog();
        let request = Request::new(catalog, &self.name, &self.params, str::to_owned)?;
        let limits = self.how.limits();
        let mut answers = Vec::new();
        for report in &self.reports {
            let mut scope = self.how.scope.resolve(&report.open.schema)?;
            scope.iteration_name.clone_from(&self.how.iterations);
            let lacks = request.lacks(&report.open, catalog)?;
            let roots = request.roots(&lacks);
            let (session, _) = report.open.begin(catalog, &scope, roots, &limits)?;
            answers.push(request.ask(ReportInput::of(&report.open), &session, lacks, &limits)?);
        }
        let first = self.reports.first().map_or(Path::new(""), |report| &report.open.report.path);
        let (asker, is_whole) = (format!("page {}", self.name), self.how.scope == Scope::default());
        let answer = request.answer(answers, &limits)?;
        let answer = answer.map_err(|none| none.into_error(&asker, first, is_whole))?;
        let table = |table: &PageTableAnswer<'_>| {
            let query = table.plan.query.as_ref();
            let rows = Table::new(&table.title, query, Vec::new(), table.table.clone());
            (table.name.to_owned(), rows)
        };
        let tables = answer.tables.iter().map(table).collect();
        Ok(Page { tables, facts: answer.facts.clone(), notes: answer.notes.clone() })
    }
}
