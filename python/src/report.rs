//! Reports, the library, and questions.

use crate::columns::Columns;
use crate::failure::OrRaise;
use crate::rows::{Failed, Rows, failed};
use crate::scope::How;
use crate::wait::attended;
use nsq::{Answer, Cancel, Column, Page, Question, Row, RowSink, Table, Value, visible};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};
use std::path::PathBuf;

/// The built-in queries, and those of folders.
#[pyclass(frozen, module = "nsys_query._native")]
pub(crate) struct Library(nsq::Library);

#[pymethods]
impl Library {
    #[new]
    fn new(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<Self> {
        let library = match folders.is_empty() {
            true => nsq::library(),
            false => nsq::library_with(&folders),
        };
        library.map(Self).or_raise(py)
    }

    /// The queries about these words, only those of `names` if it is given.
    fn find(&self, py: Python<'_>, words: &str, names: Option<Vec<String>>) -> PyResult<Rows> {
        let found = self.0.find(words).or_raise(py)?;
        only(&found, names)
    }

    /// The relations, only those of `names` if it is given.
    fn relations(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<Rows> {
        let relations = self.0.list_relations().or_raise(py)?;
        only(&relations, names)
    }

    /// The pages.
    fn pages(&self) -> PyResult<Rows> {
        kept(&self.0.list_pages())
    }

    /// The playbooks.
    fn playbooks(&self) -> PyResult<Rows> {
        kept(&self.0.list_playbooks())
    }

    /// The manual page of a query, relation or page.
    fn manual(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.0.manual(name).or_raise(py)
    }

    /// The statement of a query.
    fn statement(&self, py: Python<'_>, query: &str) -> PyResult<&str> {
        self.0.statement(query).or_raise(py)
    }
}

/// An open report.
#[pyclass(frozen, module = "nsys_query._native")]
pub(crate) struct Report(nsq::Report);

#[pymethods]
impl Report {
    #[new]
    fn new(py: Python<'_>, library: &Library, path: PathBuf) -> PyResult<Self> {
        let (library, cancel) = (&library.0, Cancel::default());
        attended(py, &cancel, || library.clone().cancelled_by(&cancel).open(path))?
            .map(Self)
            .or_raise(py)
    }

    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// The names of the queries that it has the data for.
    fn answerable(&self, py: Python<'_>) -> PyResult<Vec<&str>> {
        py.detach(|| self.0.answerable()).or_raise(py)
    }

    /// The names of the relations that it has data for.
    fn relations(&self, py: Python<'_>) -> PyResult<Vec<&str>> {
        py.detach(|| self.0.relations()).or_raise(py)
    }

    /// Writes the relations to a SQLite file, and returns notes.
    fn materialize(&self, py: Python<'_>, output: PathBuf, how: How) -> PyResult<Vec<String>> {
        let (scope, cancel) = (how.scope()?, Cancel::default());
        let written = attended(py, &cancel, || self.0.materialize(output, &scope, &cancel))?;
        Ok(written.or_raise(py)?.iter().map(|note| visible(note)).collect())
    }
}

/// Every query, whether the reports have the data for it, and what would record it.
#[pyfunction]
pub(crate) fn schema(py: Python<'_>, reports: Vec<PyRef<'_, Report>>) -> PyResult<Rows> {
    let (mut columns, mut rows, mut title) = (Vec::new(), Vec::new(), String::new());
    for report in &reports {
        let table = report.0.askable().or_raise(py)?;
        let name = (reports.len() > 1).then(|| Value::Text(report.0.name()));
        rows.extend(table.rows().iter().map(|row| name.iter().chain(row).cloned().collect()));
        columns = table.columns().to_vec();
        title = table.title;
    }
    if reports.len() > 1 {
        columns.insert(0, Column { doc: "Name of the report.".to_owned(), ..Column::untyped("report") });
    }
    kept(&Table::of(Answer { title, ..Answer::default() }, columns, rows))
}

/// Asks a playbook: its parts as JSON, and their text.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the Python package alone calls it")]
pub(crate) fn answer(
    py: Python<'_>,
    library: &Library,
    reports: Vec<PyRef<'_, Report>>,
    playbook: &str,
    parts: Vec<String>,
    params: Vec<(String, Bound<'_, PyAny>)>,
    files: Vec<(String, PathBuf)>,
    how: How,
) -> PyResult<(String, String)> {
    let scope = how.scope()?;
    let reports: Vec<&nsq::Report> = reports.iter().map(|report| &report.0).collect();
    let cancel = Cancel::default();
    let mut question = library.0.answer(playbook, reports).scope(&scope).cancel(&cancel);
    for part in &parts {
        question = question.part(part);
    }
    for (name, value) in params {
        question = question.param(&name, spelled(&value)?);
    }
    for (name, path) in files {
        question = question.file(&name, path);
    }
    if let Some(timeout) = how.timeout()? {
        question = question.timeout(timeout);
    }
    let answers = attended(py, &cancel, || question.run())?.or_raise(py)?;
    Ok((serde_json::Value::from(answers.parts).to_string(), answers.text))
}

/// The files that paths, folders and patterns name, and notes about files that were skipped.
#[pyfunction]
pub(crate) fn report_paths(
    py: Python<'_>,
    given: Vec<PathBuf>,
) -> PyResult<(Vec<PathBuf>, Vec<String>)> {
    nsq::report_paths(&given).or_raise(py)
}

/// Asks a query, or a statement, with its parameters.
#[pyfunction]
pub(crate) fn ask(
    py: Python<'_>,
    library: &Library,
    reports: Vec<PyRef<'_, Report>>,
    text: &str,
    is_statement: bool,
    params: Vec<(String, Bound<'_, PyAny>)>,
    how: How,
) -> PyResult<Rows> {
    let scope = how.scope()?;
    let reports: Vec<&nsq::Report> = reports.iter().map(|report| &report.0).collect();
    let cancel = Cancel::default();
    let ask = if is_statement { nsq::Library::sql } else { nsq::Library::query };
    let mut question: Question<'_> =
        ask(&library.0, text, reports).scope(&scope).cancel(&cancel).go_on();
    for (name, value) in params {
        question = match is_statement {
            true => question.bind(&name, bound(&value)?),
            false => question.param(&name, spelled(&value)?),
        };
    }
    if let Some(map) = &how.classes {
        question = question.classes(map);
    }
    if let Some(timeout) = how.timeout()? {
        question = question.timeout(timeout);
    }
    if let Some(rows) = how.max_rows {
        question = question.max_rows(rows);
    }
    let answered = attended(py, &cancel, || {
        let mut columns = Columns::default();
        question.run_into(&mut columns).map(|answer| (answer, columns))
    })?;
    let (answer, columns) = answered.or_raise(py)?;
    Rows::new(answer, columns)
}

/// The tables, facts as JSON, notes, failures, text and HTML of a page.
type Answered = (Vec<(String, Rows)>, String, Vec<String>, Vec<Failed>, Option<String>, Option<String>);

/// Asks a page. With `before`, so many of the reports are compared with the others.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the Python package alone calls it")]
pub(crate) fn ask_page(
    py: Python<'_>,
    library: &Library,
    reports: Vec<PyRef<'_, Report>>,
    name: &str,
    before: Option<usize>,
    iterations: Option<&str>,
    params: Vec<(String, Bound<'_, PyAny>)>,
    how: How,
) -> PyResult<Answered> {
    let scope = how.scope()?;
    let reports: Vec<&nsq::Report> = reports.iter().map(|report| &report.0).collect();
    let cancel = Cancel::default();
    let library = &library.0;
    let mut question = match before {
        Some(before) => {
            let (before, after) = reports.split_at(before.min(reports.len()));
            library.diff(before.iter().copied(), after.iter().copied())
        }
        None => library.page(name, reports),
    };
    question = question.scope(&scope).layouts().cancel(&cancel).go_on();
    for (name, value) in params {
        question = question.param(&name, spelled(&value)?);
    }
    if let Some(iterations) = iterations {
        question = question.iterations(iterations);
    }
    if let Some(map) = &how.classes {
        question = question.classes(map);
    }
    if let Some(timeout) = how.timeout()? {
        question = question.timeout(timeout);
    }
    let page = attended(py, &cancel, || question.run())?.or_raise(py)?;
    let Page { tables, facts, notes, failures, text, html } = page;
    let tables = tables.iter().map(|(name, table)| Ok((name.clone(), kept(table)?)));
    let notes = notes.iter().map(|note| visible(note)).collect();
    let facts = serde_json::Value::from(facts).to_string();
    Ok((tables.collect::<PyResult<_>>()?, facts, notes, failed(&failures), text, html))
}

/// A table as an answer.
fn kept(table: &Table) -> PyResult<Rows> {
    let mut columns = Columns::default();
    let fill = |columns: &mut Columns| {
        columns.begin(table.columns())?;
        table.rows().iter().try_for_each(|row| columns.row(row))?;
        columns.end()
    };
    Python::attach(|py| fill(&mut columns).or_raise(py))?;
    let (title, query, notes) = (table.title.clone(), table.query.clone(), table.notes.clone());
    Rows::new(Answer { title, query, notes, ..Answer::default() }, columns)
}

/// The rows of a table whose `name` is among `names`; all of them without `names`.
fn only(table: &Table, names: Option<Vec<String>>) -> PyResult<Rows> {
    let Some(names) = names else { return kept(table) };
    let is_wanted =
        |row: &Row<'_>| row.text("name").is_some_and(|name| names.iter().any(|wanted| wanted == name));
    let wanted: Vec<bool> = table.iter().map(|row| is_wanted(&row)).collect();
    let rows = table.rows().iter().zip(wanted).filter(|(_, wanted)| *wanted);
    let rows = rows.map(|(row, _)| row.clone()).collect();
    let answer = Answer { title: table.title.clone(), ..Answer::default() };
    kept(&Table::of(answer, table.columns().to_vec(), rows))
}

/// A parameter of a query, as the command line spells it.
fn spelled(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast_exact::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if let Ok(items) = value.extract::<Vec<Bound<'_, PyAny>>>() {
        let items = items.iter().map(spelled).collect::<PyResult<Vec<_>>>()?;
        return Ok(items.join(","));
    }
    Ok(value.str()?.to_string())
}

/// A value for a parameter of a statement.
fn bound(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(if value.is_none() {
        Value::Null
    } else if let Ok(flag) = value.cast_exact::<PyBool>() {
        Value::Int(i64::from(flag.is_true()))
    } else if value.is_instance_of::<PyInt>() {
        Value::Int(value.extract()?)
    } else if value.is_instance_of::<PyFloat>() {
        Value::Real(value.extract()?)
    } else if value.is_instance_of::<PyString>() {
        Value::Text(value.extract()?)
    } else {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "cannot bind a value of type {kind}: give None, bool, int, float or str"
        )));
    })
}
