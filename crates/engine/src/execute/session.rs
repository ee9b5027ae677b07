//! A connection that is locked down, on which plans run.

use super::cells::{bind, columns, no_number, store};
use super::diagnose;
use super::findings::Findings;
use super::guard::{self, Rights};
use super::intervals::Intervals;
use super::limits::Limits;
use super::native::{AttributedTime, Natives};
use super::partial::Partial;
use super::relation_store::Stored;
use crate::compile::{Asked, Plan};
use crate::normalize::{Installation, strings_of_events};
use nsq_report::report::plain_message;
use nsq_report::schema::Schema;
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, RowSink, Value};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

/// A locked-down connection with nsq's functions and the relations that a plan reads.
#[derive(Debug)]
pub struct Session {
    pub(super) connection: Connection,
    pub(super) natives: Option<Arc<Natives>>,
    pub(super) rights: Rights,
    /// What the connection was given, for those beside it.
    pub(super) installation: Arc<Installation>,
    /// The stored relations, for all connections, and those that this connection has.
    pub(super) stored: Arc<Stored>,
    pub(super) has_stored: RefCell<BTreeSet<String>>,
    /// The answers to queries that other queries ask.
    pub(super) asked: RefCell<Vec<(Plan, Rc<ResultTable>)>>,
    /// The findings that were asked ahead, and their intervals; `None` if the report cannot tell.
    pub(super) judged: RefCell<Vec<(Plan, Option<Intervals>)>>,
    /// What all findings say, for those that ask them.
    pub(super) found: OnceCell<Arc<Findings>>,
    /// The session of plans that see the rows whose times cannot be true; `None` if the report has none.
    pub(super) recorded: OnceCell<Option<Box<Session>>>,
    pub(super) are_times_checked: Cell<bool>,
    pub(super) limits: Limits,
    /// The file; an empty path for a database in memory.
    pub(super) database: PathBuf,
    /// The file, for messages.
    pub(super) path: String,
}

impl Session {
    /// Runs the plan and passes its rows to `sink`. Returns the number of rows.
    ///
    /// If the plan asks other queries, these are asked first, each for itself.
    pub fn run(&self, plan: &Plan, limits: &Limits, sink: &mut dyn RowSink) -> Result<usize> {
        if !plan.is_over_answers() {
            return self.run_statement(plan, limits, sink);
        }
        if self.is_without_rows(plan)? {
            sink.begin(&plan.columns)?;
            return sink.end().map(|()| 0);
        }
        self.ask_ahead(&[plan], limits)?;
        let answers = self.answers(plan, limits)?;
        let answers: Vec<&ResultTable> = answers.iter().map(Rc::as_ref).collect();
        let findings = self.findings(plan, limits)?;
        let session = self.over_own(plan, &answers, findings, limits)?;
        session.run_statement(plan, limits, sink)
    }

    /// The answers to the queries that a plan asks. Those that are given a parameter come after the one that gives it.
    fn answers(&self, plan: &Plan, limits: &Limits) -> Result<Vec<Rc<ResultTable>>> {
        let mut answers: Vec<Rc<ResultTable>> = Vec::with_capacity(plan.asks.len());
        for asked in &plan.asks {
            if self.is_left_empty(asked) {
                answers.push(Rc::default());
                continue;
            }
            let table = |name: &str| {
                let place = plan.asks.iter().position(|asked| asked.table == name);
                place.and_then(|place| answers.get(place)).map(Rc::as_ref)
            };
            let answer = self.ask(&asked.with_given(table), limits)?;
            answers.push(answer);
        }
        Ok(answers)
    }

    /// Whether a query that a plan asks is not asked, because the report lacks its data and the plan does without.
    pub fn is_left_empty(&self, asked: &Asked) -> bool {
        asked.is_optional && self.absent_of(&asked.plan).is_some()
    }

    /// The answer to a query that other queries ask. Each is asked once.
    pub fn ask(&self, plan: &Plan, limits: &Limits) -> Result<Rc<ResultTable>> {
        if let Some(rows) = self.known(plan) {
            return Ok(rows);
        }
        let rows = Rc::new(self.table(plan, limits)?);
        self.asked.borrow_mut().push((plan.clone(), Rc::clone(&rows)));
        Ok(rows)
    }

    /// The answer, if the plan was asked before.
    pub(super) fn known(&self, plan: &Plan) -> Option<Rc<ResultTable>> {
        let asked = self.asked.borrow();
        asked.iter().find(|(known, _)| known.is_same(plan)).map(|(_, rows)| Rc::clone(rows))
    }

    /// A session over answers of this report alone.
    pub(super) fn over_own(
        &self,
        plan: &Plan,
        answers: &[&ResultTable],
        findings: Option<Arc<Findings>>,
        limits: &Limits,
    ) -> Result<Self> {
        let report = Path::new(&self.path).file_name().unwrap_or_default().to_string_lossy();
        let partial = |table| vec![Partial { report: &report, side: 0, table }];
        let answers: Vec<_> = answers.iter().map(|table| partial(*table)).collect();
        self.over(plan, &answers, findings, limits)
    }

    /// Runs the statement of a plan, whose tables this session has.
    pub fn run_statement(&self, plan: &Plan, limits: &Limits, sink: &mut dyn RowSink) -> Result<usize> {
        if plan.as_recorded
            && let Some(recorded) = self.recorded()?
        {
            return recorded.beside_check(|wait| recorded.step(plan, limits, sink, wait));
        }
        self.beside_check(|wait| self.step(plan, limits, sink, wait))
    }

    /// Runs a statement. `wait` is called before the first row is passed on.
    fn step(
        &self,
        plan: &Plan,
        limits: &Limits,
        sink: &mut dyn RowSink,
        wait: &mut dyn FnMut() -> Result<()>,
    ) -> Result<usize> {
        // Over answers, the report was asked before them.
        if !plan.is_over_answers() && self.is_without_rows(plan)? {
            wait()?;
            sink.begin(&plan.columns)?;
            return sink.end().map(|()| 0);
        }
        self.store_for(&plan.sql)?;
        let mut statement = self.prepare(plan)?;
        bind(&mut statement, plan)?;
        let columns = columns(&statement, plan);
        let width = columns.len();
        let mut cells = vec![Value::Null; width];
        let (mut count, mut bytes, mut has_begun) = (0, 0usize, false);
        let mut rows = statement.raw_query();
        loop {
            let row = match rows.next() {
                Ok(row) => row,
                Err(e) => return Err(self.explain_step(plan, limits, e)),
            };
            // Begin after the first step: a statement that fails there prints nothing.
            if !has_begun {
                wait()?;
                sink.begin(&columns)?;
                has_begun = true;
            }
            let Some(row) = row else { break };
            if limits.max_rows.is_some_and(|max| count >= max) {
                return Err(Error::Limit {
                    reason: format!("stopped after {count} rows: the statement returns more"),
                    help: "raise --max-rows, or add a LIMIT to the statement".to_owned(),
                });
            }
            for (index, (cell, column)) in cells.iter_mut().zip(&columns).enumerate() {
                let value = row.get_ref(index)?;
                if column.kind.is_numeric() && matches!(value, ValueRef::Text(_) | ValueRef::Blob(_)) {
                    return Err(no_number(&self.path, column, value));
                }
                store(value, cell)?;
                if let Value::Text(text) = cell {
                    bytes = bytes.saturating_add(text.len());
                }
            }
            if let Some(max) = limits.max_bytes.filter(|max| bytes > *max) {
                return Err(Error::Limit {
                    reason: format!(
                        "stopped after {count} rows: their texts have more than {max} bytes"
                    ),
                    help: "select fewer rows or columns, or parts of texts with substr()".to_owned(),
                });
            }
            sink.take_row(&mut cells)?;
            count += 1;
        }
        sink.end()?;
        Ok(count)
    }

    /// Whether the condition without which a plan has no rows is false.
    pub(super) fn is_without_rows(&self, plan: &Plan) -> Result<bool> {
        let Some(condition) = &plan.rows_if else { return Ok(false) };
        Ok(!self.holds(condition)?)
    }

    /// Whether a condition over relations is true. Each is looked at once.
    pub(super) fn holds(&self, condition: &str) -> Result<bool> {
        let held = || self.stored.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&holds) = held().get(condition) {
            return Ok(holds);
        }
        let sql = format!("SELECT {condition}");
        self.store_for(&sql)?;
        let failed = |error| self.explain(&self.limits, error);
        let holds = self.connection.query_row(&sql, [], |row| row.get(0)).map_err(failed)?;
        held().insert(condition.to_owned(), holds);
        Ok(holds)
    }

    /// Runs the plan and returns its rows.
    pub fn table(&self, plan: &Plan, limits: &Limits) -> Result<ResultTable> {
        let mut table = ResultTable::default();
        self.run(plan, limits, &mut table)?;
        Ok(table)
    }

    /// GPU time in the ranges that the scope selects, else in ranges with these names (GLOB patterns or folded
    /// names), by each rule of attribution. Without names: in any range. Call it after the statements ran:
    /// `None` if none of them read the ranges, or if attribution is by process.
    pub fn attributed_time(&self, names: &[String]) -> Result<Option<AttributedTime>> {
        self.natives.as_ref().map_or(Ok(None), |natives| natives.attributed_time(names))
    }

    /// The error of a step. A table function, such as a pragma's, is authorized only when it is stepped.
    fn explain_step(&self, plan: &Plan, limits: &Limits, error: rusqlite::Error) -> Error {
        let is_denied = plain_message(&error).starts_with(guard::NOT_AUTHORIZED);
        // Without views in the report, only the statement itself can ask for more than reading.
        if is_denied && !plan.is_built_in && !self.report_has_views().unwrap_or(true) {
            return diagnose::statement_error(plan, error, &self.connection, &self.rights);
        }
        // In a statement of nsq, a value of the report is wrong. A user may have named another column than was meant.
        if !plan.is_built_in
            && let Some(argument) = guard::wrong_argument(&plain_message(&error))
        {
            return diagnose::wrong_argument(plan, argument);
        }
        self.explain(limits, error)
    }

    /// Whether the report has views of its own; nsys writes none.
    pub(super) fn report_has_views(&self) -> Result<bool> {
        let views = "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'view')";
        Ok(self.connection.query_row(views, [], |row| row.get(0))?)
    }

    pub(super) fn explain(&self, limits: &Limits, error: rusqlite::Error) -> Error {
        let failure = self.natives.as_ref().and_then(|natives| natives.failure());
        failure.unwrap_or_else(|| guard::explain(limits, error, &self.path))
    }

    /// The names of the columns that a plan's statement returns.
    pub fn column_names(&self, plan: &Plan) -> Result<Vec<String>> {
        let names = |session: &Self| -> Result<Vec<String>> {
            let statement = session.prepare(plan)?;
            Ok(statement.column_names().map(str::to_owned).collect())
        };
        match plan.is_over_answers() {
            false => names(self),
            true => {
                let none = ResultTable::default();
                let answers = vec![&none; plan.asks.len()];
                let findings = plan.findings.as_ref().map(|_| Arc::default());
                names(&self.over_own(plan, &answers, findings, &self.limits)?)
            }
        }
    }

    /// Replaces the table of all strings by a copy of those that events refer to, if a user's statement
    /// could list them.
    pub(super) fn copy_strings_for(&self, plan: &Plan) -> Result<()> {
        let rights = &self.rights;
        if plan.is_built_in || rights.reveals_secrets() || rights.has_strings() {
            return Ok(());
        }
        // A view in the report may read strings, even if the statement does not name them.
        if !guard::names_strings(&plan.sql) && !self.report_has_views()? {
            return Ok(());
        }
        rights.with_all(&self.connection, || {
            let failed = |e| self.explain(&self.limits, e);
            // Roll back on failure, so that the next statement finds the old state.
            let whole = self.connection.unchecked_transaction().map_err(failed)?;
            for statement in
                strings_of_events(&Schema::read(&self.connection)?, self.installation.built_in)?
            {
                self.connection.execute_batch(&statement).map_err(failed)?;
            }
            whole.commit().map_err(failed)?;
            rights.only_temp(true);
            Ok(())
        })
    }

    pub(super) fn prepare(&self, plan: &Plan) -> Result<Statement<'_>> {
        self.copy_strings_for(plan)?;
        self.rights.forget_denied();
        let statement = self
            .connection
            .prepare(&plan.sql)
            .map_err(|e| diagnose::statement_error(plan, e, &self.connection, &self.rights))?;
        if statement.column_count() == 0 {
            return Err(Error::Sql {
                message: "the statement returns no rows".to_owned(),
                excerpt: format!("  --> {}", plan.origin.0),
                help: "write a SELECT: reports are read-only".to_owned(),
            });
        }
        Ok(statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize;

    const REPORT: &str = "
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE TARGET_INFO_SYSTEM_ENV (name, value);
        INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('TOKEN', 'secret');
        CREATE TABLE ThreadNames (priority, globalTid, x);
        INSERT INTO ThreadNames (x) VALUES (1);";

    fn asking(script: &str, test: impl FnOnce(&Session, &dyn Fn(&str) -> Result<usize>)) {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&format!("{REPORT}{script}")).unwrap();
        let (schema, catalog) = (Schema::read(&connection).unwrap(), crate::tests::library());
        let scope = normalize::Scope::default();
        let installation = normalize::plan(&schema, catalog, &scope, ["string"]).unwrap();
        let limits = Limits::default();
        let session = Session::begin(connection, &installation, &limits).unwrap();
        test(&session, &|sql| {
            let plan = Plan::ad_hoc(sql, ("SQL".to_owned(), 1), catalog);
            session.run(&plan, &limits, &mut ResultTable::default())
        });
    }

    const SECRETS: &str = "SELECT * FROM TARGET_INFO_SYSTEM_ENV";

    fn is_denied(asked: Result<usize>) -> bool {
        asked.is_err_and(|error| error.to_string().contains("TARGET_INFO_SYSTEM_ENV is not shown"))
    }

    #[test]
    fn rights_are_reduced_again_even_after_a_failure() {
        // The names in this column cannot be computed, so copying the strings fails.
        let script =
            "ALTER TABLE ThreadNames ADD COLUMN nameId AS (abs(-9223372036854775807 - x)) VIRTUAL";
        asking(script, |_, run| {
            for _ in 0..2 {
                let error = run("SELECT text FROM string").unwrap_err().to_string();
                assert!(error.contains("64 bits"), "{error}");
                assert!(is_denied(run(SECRETS)));
                assert_eq!(run("SELECT 1").unwrap(), 1);
            }
        });
        asking("", |_, run| assert_eq!(run("SELECT text FROM string").unwrap(), 0));
    }

    #[test]
    fn a_denial_is_not_reported_for_a_later_statement() {
        asking("", |session, run| {
            session.connection.prepare(SECRETS).unwrap_err();
            let error = run("SELECT * FROM absent").unwrap_err().to_string();
            assert!(error.contains("no such table: absent"), "{error}");
            assert!(is_denied(run(SECRETS)));
        });
    }
}
