//! An export of nsys and a PyTorch trace of the same program → the export with the trace's operators.
//!
//! ```text
//! operations of both ─► pairs ─► ranges around the calls of the export ─► rows
//! ```
//!
//! nsys records the calls, and PyTorch what made them: operators, shapes, modules and Python functions. Operations of both
//! are paired by their correlation IDs if these agree, or else by the order in each stream. What the trace has around
//! the call of an operation is then written around the call of its pair, at the times of the export.

mod align;
mod operations;
mod pairs;
mod stacks;

use crate::report::{self, Listener, STEPS, distrust, plain_message};
use crate::trace::ImportOptions;
use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use rusqlite::Connection;
use std::fmt;
use std::path::Path;

/// The version of [`join`]: with another one, joined exports are made again.
pub const RECIPE: &str = "onto 1";

/// What was paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// Operations of the process in the export.
    pub export_ops: usize,
    /// Operations of the trace.
    pub trace_ops: usize,
    /// Pairs.
    pub pairs: usize,
    /// Whether correlation IDs made the pairs.
    pub by_correlation: bool,
    /// Ranges that were added.
    pub ranges: usize,
}

impl Joined {
    /// What made the pairs.
    fn how(&self) -> &'static str {
        if self.by_correlation { "correlation ID" } else { "name, shape and order" }
    }

    /// Writes it among the facts of the export, from which `capture_trust` says how much was paired. The oldest exports
    /// have none.
    fn record(&self, export: &Connection) -> rusqlite::Result<()> {
        let table = ["META_DATA_EXPORT", "EXPORT_META_DATA"].into_iter();
        for table in table.filter(|table| export.table_exists(None, *table).unwrap_or_default()) {
            let facts = [
                ("NSQ_JOINED_OPERATIONS", self.export_ops.to_string()),
                ("NSQ_JOINED_PAIRS", self.pairs.to_string()),
                ("NSQ_JOINED_BY", self.how().to_owned()),
            ];
            for (name, value) in facts {
                export.execute(
                    &format!("INSERT INTO {table} (name, value) VALUES (?1, ?2)"),
                    [name, &value],
                )?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { export_ops, trace_ops, pairs, by_correlation: _, ranges } = self;
        let share = 100.0 * *pairs as f64 / (*export_ops).max(1) as f64;
        let how = self.how();
        write!(
            f,
            "paired {pairs} of {export_ops} GPU operations of the export ({share:.1} %) with the {trace_ops} of the \
             trace, by {how}; {ranges} ranges added"
        )
    }
}

/// Writes `export`, with what `trace` knows of its operations, to the empty file `database`.
pub fn join(
    export: &Path,
    trace: &Path,
    database: &Path,
    options: ImportOptions,
    (listener, cancel): (Listener, &Cancel),
) -> Result<Joined> {
    let folder = database.parent().unwrap_or(Path::new("."));
    let imported = tempfile::NamedTempFile::new_in(folder).map_err(|e| Error::io(folder, e))?;
    report::import(trace, imported.path(), options, (listener, cancel))?;
    let failed = |error: rusqlite::Error| match cancel.is_cancelled() {
        true => Error::Interrupted,
        false => Error::Report {
            path: export.to_owned(),
            reason: format!("cannot be joined with a trace: {}", plain_message(&error)),
            help: "export the report again, with nsys 2023.1 or newer".to_owned(),
        },
    };
    report::copy_database(export, database, cancel)?;
    let open = |path: &Path| -> rusqlite::Result<Connection> {
        let mut connection = Connection::open(path)?;
        distrust(&connection)?;
        let stop = cancel.clone();
        connection.progress_handler(STEPS, Some(move || stop.is_cancelled()))?;
        Ok(connection)
    };
    let mut ours = open(database).map_err(failed)?;
    let theirs = open(imported.path()).map_err(failed)?;
    let (left, right) =
        (operations::read(&ours).map_err(failed)?, operations::read(&theirs).map_err(failed)?);
    let stacks = stacks::Stacks::read(&theirs, &right).map_err(failed)?;
    let Some(found) = pairs::find(&left, &right, &stacks) else {
        return Err(Error::Report {
            path: trace.to_owned(),
            reason: format!("has no GPU operations in the order of {}", export.display()),
            help: "record the same program, with the same inputs, by nsys and by torch.profiler"
                .to_owned(),
        });
    };
    let ranges = stacks::write(&mut ours, &theirs, (&left, &found), &stacks).map_err(failed)?;
    let joined = Joined {
        export_ops: found.export_ops,
        trace_ops: right.len(),
        pairs: found.pairs.len(),
        by_correlation: found.by_correlation,
        ranges,
    };
    joined.record(&ours).map_err(failed)?;
    ours.close().map_err(|(_, error)| failed(error))?;
    Ok(joined)
}
