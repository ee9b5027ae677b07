//! Questions to a report: parameters, scope, limits.

use super::library::{Library, Report};
use super::rows::{Answer, Failure, Table};
use crate::input::{Input, shortest_names};
use crate::queries::About;
use crate::request::Request;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::Limits;
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, RowSink, Value};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

pub use nsq_engine::scope::ScopeText as Scope;
pub use nsq_value::cancel::Cancel;

impl Library {
    /// Asks several reports. Rows begin with the column `report`, unless the query reads across reports.
    pub fn query<'r>(&self, name: &str, reports: impl IntoIterator<Item = &'r Report>) -> Question<'r> {
        Question::new(self, reports, Query::new(name, false))
    }

    /// Asks several reports a statement over their relations. Rows begin with the column `report`.
    pub fn sql<'r>(
        &self,
        statement: &str,
        reports: impl IntoIterator<Item = &'r Report>,
    ) -> Question<'r> {
        Question::new(self, reports, Query::new(statement, true))
    }
}

impl Report {
    /// Asks a query by its name, or `name@version`.
    pub fn query(&self, name: &str) -> Question<'_> {
        self.library.query(name, [self])
    }

    /// Asks a statement over the relations that `nsq list --relations` shows.
    pub fn sql(&self, statement: &str) -> Question<'_> {
        self.library.sql(statement, [self])
    }
}

/// What is asked of one or several reports, in which scope, and with which limits.
#[derive(Debug, Clone)]
pub struct Asking<'r, What> {
    pub(super) library: Library,
    pub(super) reports: Vec<&'r Report>,
    pub(super) what: What,
    pub(super) params: Vec<(String, String)>,
    pub(super) scope: Scope,
    pub(super) classes: Option<String>,
    pub(super) goes_on: bool,
    explains: bool,
    limits: Limits,
    timeout: Option<Duration>,
}

/// A question to one or several reports, which [`Question::run`] asks.
pub type Question<'r> = Asking<'r, Query>;

/// A query, or a statement.
#[derive(Debug, Clone)]
pub struct Query {
    text: String,
    is_statement: bool,
    values: Vec<(String, Value)>,
}

impl Query {
    fn new(text: &str, is_statement: bool) -> Self {
        Self { text: text.to_owned(), is_statement, values: Vec::new() }
    }
}

/// What is asked of each of several reports, so that some may answer where others fail.
pub trait OfEach {}

impl OfEach for Query {}

impl<'r, What> Asking<'r, What> {
    pub(super) fn new(
        library: &Library,
        reports: impl IntoIterator<Item = &'r Report>,
        what: What,
    ) -> Self {
        Self {
            library: library.clone(),
            reports: reports.into_iter().collect(),
            what,
            params: Vec::new(),
            scope: Scope::default(),
            classes: None,
            goes_on: false,
            explains: true,
            limits: Limits { cancel: library.cancel.clone(), ..Limits::default() },
            timeout: None,
        }
    }

    /// Sets a parameter, as on the command line: a number, `1.5ms`, `true`, `a,b`. For a playbook, it may also name the
    /// ranges of a pattern.
    pub fn param(mut self, name: &str, value: impl ToString) -> Self {
        self.params.push((name.to_owned(), value.to_string()));
        self
    }

    /// Asks only about a part of each report. The ranges of a playbook's question narrow it further.
    pub fn scope(mut self, scope: &Scope) -> Self {
        self.scope = scope.clone();
        self
    }

    /// Does not look for the reasons of missing rows, which are notes of the answer: for a caller that shows the rows alone.
    pub fn without_reasons(mut self) -> Self {
        self.explains = false;
        self
    }

    /// Stops with [`Error::Limit`] after this time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Lets another thread stop the question.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.limits.cancel = cancel.clone();
        self
    }

    /// The parameters as on the command line.
    pub(super) fn given(&self) -> Vec<String> {
        self.params.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    /// The limits. The time counts from now.
    pub(super) fn limits(&self) -> Limits {
        Limits { deadline: Limits::with_timeout(self.timeout).deadline, ..self.limits.clone() }
    }

    /// How the reports are asked.
    pub(super) fn request(&self) -> Result<Request<'_>> {
        let mut request = Request::new(self.library.catalog());
        if let Some(spelling) = &self.classes {
            request.classes.choose(spelling)?;
        }
        request.class_map.clone_from(&self.classes);
        request.scope = self.scope.clone();
        request.limits = self.limits();
        request.explains = self.explains;
        Ok(request)
    }

    /// The reports to ask.
    pub(super) fn inputs(&self) -> Vec<Input<'r>> {
        let paths: Vec<PathBuf> =
            self.reports.iter().map(|report| report.open.report.path.clone()).collect();
        let pairs = shortest_names(&paths).into_iter().zip(&self.reports);
        pairs.map(|(name, report)| Input::open(name, &report.open)).collect()
    }

    /// What is told of the reports, with their names if there are several.
    pub(super) fn notes(&self, reports: &[About]) -> Vec<String> {
        let text = |about: &About, text: &String| match self.reports.len() {
            1 => text.clone(),
            _ => format!("{}: {text}", about.name),
        };
        let notes =
            reports.iter().flat_map(|about| about.notes.iter().map(move |note| text(about, note)));
        notes.collect()
    }
}

impl<What: OfEach> Asking<'_, What> {
    /// Chooses the class map: a name, such as `vllm/llama`, or the path of a file.
    pub fn classes(mut self, map: &str) -> Self {
        self.classes = Some(map.to_owned());
        self
    }

    /// Goes on where one of several reports fails, or lacks the data: [`Answer::failures`] lists it. If all do, the
    /// first error is returned. A comparison needs all its reports.
    pub fn go_on(mut self) -> Self {
        self.goes_on = true;
        self
    }

    /// Uses at most this many threads; 0 means one per core. The answer is the same for every number.
    pub fn threads(mut self, most: usize) -> Self {
        self.limits.threads = Threads::at_most(NonZeroUsize::new(most));
        self
    }
}

impl Question<'_> {
    /// Gives the parameter `:name` of a statement a value.
    pub fn bind(mut self, name: &str, value: Value) -> Self {
        self.what.values.push((name.to_owned(), value));
        self
    }

    /// Stops with [`Error::Limit`] if there are more rows.
    pub fn max_rows(mut self, rows: usize) -> Self {
        self.limits.max_rows = Some(rows);
        self
    }

    /// Stops with [`Error::Limit`] if the texts in the rows have more bytes than this in all: a guard for
    /// memory against statements of strangers.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_bytes = Some(bytes);
        self
    }

    /// Asks, and returns all rows. If there are none, a note says what that means, if the query knows.
    ///
    /// # Errors
    ///
    /// [`Error::LacksData`] if the report lacks the data: every other error is a failure. [`Error::Unknown`]
    /// and [`Error::Usage`] for names and values that do not exist.
    pub fn run(&self) -> Result<Table> {
        let mut rows = ResultTable::default();
        let answer = self.run_into(&mut rows)?;
        Ok(Table::new(answer, rows))
    }

    /// As [`Question::run`], but passes each row on. The rows of one report are not kept.
    pub fn run_into(&self, sink: &mut dyn RowSink) -> Result<Answer> {
        let plan = self.plan()?;
        let request = Request { params: self.given(), is_strict: !self.goes_on, ..self.request()? };
        let mut begun = request.queries(&self.inputs(), std::slice::from_ref(&plan))?;
        if !self.goes_on || begun.reports.is_empty() {
            begun = begun.all_answered()?;
        }
        begun.results(&mut |_, rows| rows(sink).map(drop))?;
        let notes = self.notes(&begun.reports);
        let failures = begun.failures.iter().map(Failure::of).collect();
        Ok(Answer { title: plan.title, query: plan.query, notes, failures })
    }

    fn plan(&self) -> Result<Plan> {
        let catalog = self.library.catalog();
        if !self.what.is_statement {
            if let Some((name, _)) = self.what.values.first() {
                return Err(Error::usage(
                    format!("a value is bound to '{name}', but a query is asked"),
                    "set the parameters of a query as texts; values are for statements",
                ));
            }
            let invocation =
                Invocation { params: self.params.clone(), ..Invocation::parse(&self.what.text) };
            return Plan::new(catalog, &invocation, &Layout::Own);
        }
        let values = self.what.values.iter().map(|(name, _)| name);
        let is_absent = |name: &&String| !self.what.text.contains(&format!(":{name}"));
        let unknown = values.clone().find(is_absent).or(self.params.first().map(|(name, _)| name));
        if let Some(name) = unknown {
            return Err(Error::usage(
                format!("the statement has no parameter '{name}'"),
                "write :name in the statement, and bind a value to it",
            ));
        }
        let mut plan = Plan::ad_hoc(&self.what.text, ("statement".to_owned(), 1), catalog);
        plan.bindings.clone_from(&self.what.values);
        Ok(plan)
    }

    /// Asks, and returns the value of a column in the first row.
    pub fn value(&self, column: &str) -> Result<Option<Value>> {
        Ok(self.run()?.first().and_then(|row| row.get(column).cloned()))
    }
}
