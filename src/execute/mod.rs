//! [`Plan`] → rows: the only place where a statement runs.
//!
//! For: installing what the plan needs, locking the connection down, binding, stepping, and saying
//! where in which file a statement is wrong.
//!
//! Not for: formatting, or knowing what a column means.

mod diagnose;
mod functions;
mod guard;
mod native;
mod table_writer;

pub use functions::{FUNCTIONS, Function};
pub use guard::Limits;
pub use native::{Natives, check_rules};
pub use table_writer::TableWriter;

use crate::compile::{Plan, columns_by_suffix};
use crate::error::{Error, Result};
use crate::normalize::Installation;
use crate::table::{Column, RowSink, Value};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};
use std::sync::Arc;

/// A connection with nsq's functions and a plan's relations, on which statements may run.
#[derive(Debug)]
pub struct Session<'a> {
    connection: &'a Connection,
    natives: Option<Arc<Natives>>,
}

impl<'a> Session<'a> {
    /// Makes the relations, then takes away every right but reading.
    pub fn begin(
        connection: &'a mut Connection,
        installation: &Installation,
        limits: &Limits,
    ) -> Result<Self> {
        functions::register(connection, &installation.classes)?;
        guard::watch(connection, limits)?;
        let natives = install(connection, installation, limits)?;
        guard::lock(connection)?;
        Ok(Self { connection, natives })
    }

    /// As [`Session::begin`], and then runs `preamble`: statements of a script that make TEMP objects.
    pub fn begin_script(
        connection: &'a mut Connection,
        installation: &Installation,
        preamble: &[Plan],
        limits: &Limits,
    ) -> Result<Self> {
        functions::register(connection, &installation.classes)?;
        guard::watch(connection, limits)?;
        let natives = install(connection, installation, limits)?;
        guard::lock_to_temp(connection)?;
        for plan in preamble {
            connection.execute_batch(&plan.sql).map_err(|e| match e.sqlite_error_code() {
                Some(rusqlite::ErrorCode::OperationInterrupted) => {
                    guard::explain(limits, e, &file_of(connection))
                }
                _ => diagnose::statement_error(plan, e, connection),
            })?;
        }
        guard::lock(connection)?;
        Ok(Self { connection, natives })
    }

    /// Runs the plan and hands its rows to `sink`. Returns the number of rows.
    pub fn run(&self, plan: &Plan, limits: &Limits, sink: &mut dyn RowSink) -> Result<usize> {
        let mut statement = self.prepare(plan)?;
        bind(&mut statement, plan)?;
        let columns = columns(&statement, plan);
        let width = columns.len();
        let mut cells = vec![Value::Null; width];
        let (mut count, mut has_begun) = (0, false);
        let mut rows = statement.raw_query();
        loop {
            let row = match rows.next() {
                Ok(row) => row,
                Err(e) => return Err(self.explain(limits, e)),
            };
            // What fails before its first row prints nothing.
            if !has_begun {
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
            for (index, cell) in cells.iter_mut().enumerate() {
                put(row.get_ref(index)?, cell);
            }
            sink.row(&cells)?;
            count += 1;
        }
        sink.end()?;
        Ok(count)
    }

    fn explain(&self, limits: &Limits, error: rusqlite::Error) -> Error {
        let failure = self.natives.as_ref().and_then(|natives| natives.failure());
        failure.unwrap_or_else(|| guard::explain(limits, error, &file_of(self.connection)))
    }

    /// The names of the columns that a plan's statement returns.
    pub fn column_names(&self, plan: &Plan) -> Result<Vec<String>> {
        let statement = self.prepare(plan)?;
        Ok(statement.column_names().map(str::to_owned).collect())
    }

    fn prepare(&self, plan: &Plan) -> Result<Statement<'a>> {
        let statement = self
            .connection
            .prepare(&plan.sql)
            .map_err(|e| diagnose::statement_error(plan, e, self.connection))?;
        if statement.column_count() == 0 {
            return Err(Error::Sql {
                message: "the statement returns no rows".to_owned(),
                excerpt: format!("  --> {}", plan.origin.0),
                help: "write a SELECT: a report can only be read".to_owned(),
            });
        }
        Ok(statement)
    }
}

/// Makes the TEMP objects that an installation plans. The file is not touched.
pub fn install(
    connection: &Connection,
    installation: &Installation,
    limits: &Limits,
) -> Result<Option<Arc<Natives>>> {
    let natives = native::install(connection, installation, limits)?;
    for statement in &installation.statements {
        connection
            .execute_batch(statement)
            .map_err(|e| guard::explain(limits, e, &file_of(connection)))?;
    }
    Ok(natives)
}

fn bind(statement: &mut Statement<'_>, plan: &Plan) -> Result<()> {
    for (name, value) in &plan.bindings {
        // A parameter that NVIDIA's layout or a lint case leaves out is no error here.
        let Some(index) = statement.parameter_index(&format!(":{name}"))? else { continue };
        match value {
            Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            Value::Int(int) => statement.raw_bind_parameter(index, int)?,
            Value::Real(real) => statement.raw_bind_parameter(index, real)?,
            Value::Text(text) => statement.raw_bind_parameter(index, text)?,
        }
    }
    Ok(())
}

/// The plan's columns; for a statement of the user's, what its names tell.
fn columns(statement: &Statement<'_>, plan: &Plan) -> Vec<Column> {
    if !plan.columns.is_empty() {
        return plan.columns.clone();
    }
    columns_by_suffix(&statement.column_names().collect::<Vec<_>>())
}

/// Puts a cell where the one above it was: a text takes over the other's memory.
fn put(cell: ValueRef<'_>, value: &mut Value) {
    *value = match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            if let Value::Text(above) = value {
                above.clear();
                above.push_str(&text);
                return;
            }
            Value::Text(text.into_owned())
        }
        ValueRef::Blob(blob) => {
            Value::Text(blob.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
    };
}

/// The file behind a connection, for messages.
fn file_of(connection: &Connection) -> String {
    connection.path().unwrap_or("the report").to_owned()
}
