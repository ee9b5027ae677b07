//! An answer: Arrow batches with documented columns.

use crate::columns::{Columns, HEAD, value};
use crate::failure::OrRaise;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Schema};
use nsq::{Answer, Column, Failure, Table, Value, visible};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The rows of an answer.
#[pyclass(frozen, module = "nsys_query._native")]
pub(crate) struct Rows {
    answer: Answer,
    columns: Vec<Column>,
    /// The first rows, to be shown.
    head: Vec<Vec<Value>>,
    count: usize,
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
}

impl Rows {
    /// The answer whose rows have been passed to `columns`.
    pub(crate) fn new(answer: Answer, mut columns: Columns) -> PyResult<Self> {
        let mut facts = HashMap::from([("title".to_owned(), answer.title.clone())]);
        if let Some((name, version)) = &answer.query {
            facts.insert("query".to_owned(), format!("{name}@{version}"));
        }
        let (head, count) = (std::mem::take(&mut columns.head), columns.count);
        let documented = columns.columns.clone();
        let (schema, batches) = columns.into_batches(facts).map_err(arrow_failed)?;
        Ok(Self { answer, columns: documented, head, count, schema, batches })
    }

    /// The first rows as a table, at most `most`.
    fn shown(&self, most: usize) -> Table {
        let rows = self.head.iter().take(most).cloned().collect();
        Table::of(self.answer.clone(), self.columns.clone(), rows)
    }
}

#[pymethods]
impl Rows {
    /// Most rows that `to_text` and `to_html` show.
    #[classattr]
    const HEAD: usize = HEAD;

    #[getter]
    fn title(&self) -> &str {
        &self.answer.title
    }

    #[getter]
    fn query(&self) -> Option<(String, u32)> {
        self.answer.query.clone()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.answer.notes.iter().map(|note| visible(note)).collect()
    }

    /// Path, message and help of each report that failed while others answered.
    #[getter]
    fn failures(&self) -> Vec<Failed> {
        failed(&self.answer.failures)
    }

    /// Name, type, unit and meaning of each column.
    #[getter]
    fn columns(&self) -> Vec<(&str, &str, Option<&str>, &str)> {
        let about = |column: &Column| (column.kind.name(), column.unit.map(|unit| unit.name()));
        let columns = self.columns.iter().zip(self.columns.iter().map(about));
        columns.map(|(column, (kind, unit))| (&*column.name, kind, unit, &*column.doc)).collect()
    }

    fn __len__(&self) -> usize {
        self.count
    }

    /// The bytes of the Arrow columns.
    #[getter]
    fn nbytes(&self) -> usize {
        self.batches.iter().map(RecordBatch::get_array_memory_size).sum()
    }

    /// A row as a tuple.
    fn row<'py>(&self, py: Python<'py>, mut index: usize) -> PyResult<Bound<'py, PyTuple>> {
        for batch in &self.batches {
            if index < batch.num_rows() {
                let cells = batch.columns().iter().map(|array| object(py, &value(array, index)));
                return PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?);
            }
            index -= batch.num_rows();
        }
        Err(pyo3::exceptions::PyIndexError::new_err("row index out of range"))
    }

    /// A column as a list.
    fn column<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for batch in &self.batches {
            let array = batch.column(place);
            (0..array.len()).try_for_each(|row| list.append(object(py, &value(array, row))?))?;
        }
        Ok(list)
    }

    /// The first rows with units, for a terminal of this width.
    fn to_text(&self, py: Python<'_>, most: usize, width: Option<usize>) -> PyResult<String> {
        self.shown(most).to_text(width).or_raise(py)
    }

    /// The first rows with units, as an HTML document.
    fn to_html(&self, py: Python<'_>, most: usize) -> PyResult<String> {
        self.shown(most).to_html().or_raise(py)
    }

    /// A stream of the batches, which share the memory of this object.
    fn arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The schema.
    fn arrow_schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(arrow_failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

fn arrow_failed(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Int(int) => int.into_pyobject(py)?.into_any(),
        Value::Real(real) => real.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
    })
}

/// Path, message and help of a report that failed.
pub(crate) type Failed = (PathBuf, String, Option<String>);

/// The reports that failed, as they are shown.
pub(crate) fn failed(failures: &[Failure]) -> Vec<Failed> {
    let shown = |text: &str| text.lines().map(visible).collect::<Vec<_>>().join("\n");
    let failure = |Failure { report, message, help }: &Failure| {
        (report.clone(), shown(message), help.as_deref().map(shown))
    };
    failures.iter().map(failure).collect()
}
