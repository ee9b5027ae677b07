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
        Question::new(self.clone(), reports.into_iter().collect(), name, false)
    }

    /// Asks several reports a statement over their relations. Rows begin with the column `report`.
    pub fn sql<'r>(
        &self,
        statement: &str,
        reports: impl IntoIterator<Item = &'r Report>,
    ) -> Question<'r> {
        Question::new(self.clone(), reports.into_iter().collect(), statement, true)
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
}

/// A question to one or several reports, which [`Question::run`] asks.
#[derive(Debug, Clone)]
pub struct Question<'r> {
    library: Library,
    reports: Vec<&'r Report>,
    text: String,
    is_statement: bool,
    params: Vec<(String, String)>,
    values: Vec<(String, Value)>,
    how: How,
}

/// In which scope, and with which limits, a question is asked.
#[derive(Debug, Clone, Default)]
pub(super) struct How {
    pub(super) scope: Scope,
    pub(super) classes: Option<String>,
    pub(super) timeout: Option<Duration>,
    max_rows: Option<usize>,
    max_bytes: Option<usize>,
    pub(super) goes_on: bool,
    pub(super) cancel: Cancel,
    pub(super) threads: Threads,
}

impl How {
    pub(super) fn cancelled_by(cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..Self::default() }
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            max_rows: self.max_rows,
            max_bytes: self.max_bytes,
            cancel: self.cancel.clone(),
            threads: self.threads,
            ..Limits::with_timeout(self.timeout)
        }
    }

    /// How the reports of a library are asked.
    pub(super) fn asking<'l>(&self, library: &'l Library) -> Result<Request<'l>> {
        let mut asking = Request::new(library.catalog());
        if let Some(spelling) = &self.classes {
            asking.classes.choose(spelling)?;
        }
        asking.class_map.clone_from(&self.classes);
        asking.scope = self.scope.clone();
        asking.limits = self.limits();
        Ok(asking)
    }
}

impl<'r> Question<'r> {
    pub(super) fn new(
        library: Library,
        reports: Vec<&'r Report>,
        text: &str,
        is_statement: bool,
    ) -> Self {
        let (text, params, values) = (text.to_owned(), Vec::new(), Vec::new());
        let how = How::cancelled_by(&library.cancel);
        Self { library, reports, text, is_statement, params, values, how }
    }

    /// Sets a parameter of the query, as on the command line: a number, `1.5ms`, `true`, `a,b`.
    pub fn param(mut self, name: &str, value: impl ToString) -> Self {
        self.params.push((name.to_owned(), value.to_string()));
        self
    }

    /// Gives the parameter `:name` of a statement a value.
    pub fn bind(mut self, name: &str, value: Value) -> Self {
        self.values.push((name.to_owned(), value));
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
        self.how.cancel = cancel.clone();
        self
    }

    /// Goes on where one of several reports fails, or lacks the data: [`Answer::failures`] lists it. If all do, the
    /// first error is returned.
    pub fn go_on(mut self) -> Self {
        self.how.goes_on = true;
        self
    }

    /// Uses at most this many threads; 0 means one per core. The answer is the same for every number.
    pub fn threads(mut self, most: usize) -> Self {
        self.how.threads = Threads::at_most(NonZeroUsize::new(most));
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
        let mut asking = self.how.asking(&self.library)?;
        asking.params = self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        asking.is_strict = !self.how.goes_on;
        let inputs = inputs(&self.reports);
        let mut begun = asking.queries(&inputs, std::slice::from_ref(&plan))?;
        if !self.how.goes_on || begun.reports.is_empty() {
            begun = begun.all_answered()?;
        }
        begun.results(&mut |_, rows| rows(sink).map(drop))?;
        let notes = notes(&begun.reports, self.reports.len() > 1);
        let failures = begun.failures.iter().map(Failure::of).collect();
        Ok(Answer { title: plan.title, query: plan.query, notes, failures })
    }

    fn plan(&self) -> Result<Plan> {
        let catalog = self.library.catalog();
        if !self.is_statement {
            if let Some((name, _)) = self.values.first() {
                return Err(Error::usage(
                    format!("a value is bound to '{name}', but a query is asked"),
                    "set the parameters of a query as texts; values are for statements",
                ));
            }
            let invocation = Invocation { params: self.params.clone(), ..Invocation::parse(&self.text) };
            return Plan::new(catalog, &invocation, &Layout::Own);
        }
        let values = self.values.iter().map(|(name, _)| name);
        let is_absent = |name: &&String| !self.text.contains(&format!(":{name}"));
        let unknown = values.clone().find(is_absent).or(self.params.first().map(|(name, _)| name));
        if let Some(name) = unknown {
            return Err(Error::usage(
                format!("the statement has no parameter '{name}'"),
                "write :name in the statement, and bind a value to it",
            ));
        }
        let mut plan = Plan::ad_hoc(&self.text, ("statement".to_owned(), 1), catalog);
        plan.bindings.clone_from(&self.values);
        Ok(plan)
    }

    /// Asks, and returns the value of a column in the first row.
    pub fn value(&self, column: &str) -> Result<Option<Value>> {
        Ok(self.run()?.first().and_then(|row| row.get(column).cloned()))
    }
}

/// The reports to ask.
pub(super) fn inputs<'r>(reports: &[&'r Report]) -> Vec<Input<'r>> {
    let paths: Vec<PathBuf> = reports.iter().map(|report| report.open.report.path.clone()).collect();
    let names = shortest_names(&paths);
    names.into_iter().zip(reports).map(|(name, report)| Input::open(name, &report.open)).collect()
}

/// What is told of the reports, with their names if there are several.
pub(super) fn notes(reports: &[About], are_several: bool) -> Vec<String> {
    let text = |about: &About, text: &String| match are_several {
        true => format!("{}: {text}", about.name),
        false => text.clone(),
    };
    let notes = reports.iter().flat_map(|about| about.notes.iter().map(move |note| text(about, note)));
    notes.collect()
}
