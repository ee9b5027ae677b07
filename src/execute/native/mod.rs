//! Native relations: nsq computes their rows, and SQL joins them like tables. Also evaluates scopes that
//! are selected by NVTX ranges.
//!
//! Data is read when a statement asks for the first row. A scope selected by NVTX ranges is read at once.

mod gpu;
mod ids;
mod nvtx;
mod reader;
mod relation;
pub(super) mod texts;
mod vtab;

use super::guard::{self, Limits};
use crate::catalog::Rules;
use crate::error::{Error, Result};
use crate::normalize::{IN_WINDOW, Input, Installation, Native, SELECTS_CALL, SELECTS_OP};
use crate::report::path_of;
use crate::schema::quote;
pub use nvtx::AttributedTime;
use nvtx::{LazyRules, NameRules, Selection};
use relation::Relation;
use rusqlite::Connection;
use rusqlite::ffi;
use rusqlite::vtab::Module;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{ThreadId, current};

/// The native relations of a connection and the data that they answer from.
pub struct Natives {
    database: PathBuf,
    natives: Vec<Native>,
    inputs: Vec<Input>,
    rules: Arc<LazyRules>,
    limits: Limits,
    projections: Vec<OnceLock<Arc<nvtx::Answers>>>,
    occupancies: Vec<OnceLock<Arc<gpu::Answers>>>,
    /// The operations and calls in the selected NVTX ranges. Set if the scope selects ranges and a
    /// statement reads a GPU relation or calls a selection function.
    selection: OnceLock<Selection>,
    /// Held while data is computed, so that no other connection computes the same.
    making: Mutex<()>,
    /// The error of the last statement of each thread. Kept here because SQLite passes on only an error's
    /// text.
    failures: Mutex<Vec<(ThreadId, Error)>>,
}

impl fmt::Debug for Natives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Natives").field("natives", &self.natives).finish_non_exhaustive()
    }
}

impl Natives {
    fn native(&self, object: &str) -> Option<&Native> {
        self.natives.iter().find(|native| native.object == object)
    }

    /// The NVTX projection of an input, computed on first use.
    fn projection(&self, input: usize) -> rusqlite::Result<Arc<nvtx::Answers>> {
        self.once(&self.projections[input], || {
            nvtx::project(&self.database, &self.inputs[input], &self.rules, &self.limits)
        })
    }

    /// The GPU occupancy of an input, computed on first use.
    fn occupancy(&self, input: usize) -> rusqlite::Result<Arc<gpu::Answers>> {
        self.once(&self.occupancies[input], || {
            let of_input = self.natives.iter().filter(|native| native.input == input);
            let tables = of_input.filter_map(|native| gpu::Table::named(&native.relation));
            let (tables, input): (Vec<_>, _) = (tables.collect(), &self.inputs[input]);
            let selection = self.selection.get().filter(|_| input.scope.selects_ranges());
            gpu::occupy(&self.database, input, &tables, selection, &self.limits)
        })
    }

    /// GPU time in the ranges that the scope selects, else in ranges with these names, by each rule of
    /// attribution. `None` if no statement read the ranges.
    pub(super) fn attributed_time(&self, names: &[String]) -> Result<Option<AttributedTime>> {
        let is_scoped = |native: &&Native| native.object == native.relation;
        let mut scoped = self.natives.iter().filter(is_scoped);
        match scoped.find_map(|native| self.projections[native.input].get()) {
            Some(answers) => answers.attributed_time(names),
            None => Ok(self.selection.get().and_then(|selection| selection.time)),
        }
    }

    /// Calls `make` once and caches its result. An error is kept for [`Natives::failure`].
    fn once<T>(
        &self,
        made: &OnceLock<Arc<T>>,
        make: impl FnOnce() -> Result<T>,
    ) -> rusqlite::Result<Arc<T>> {
        if let Some(made) = made.get() {
            return Ok(Arc::clone(made));
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.get() {
            return Ok(Arc::clone(made));
        }
        let fresh = make().map_err(|error| match error {
            Error::Interrupted | Error::Limit { .. } => interrupted(),
            error => {
                let message = error.to_string();
                self.failures
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((current().id(), error));
                rusqlite::Error::ModuleError(message)
            }
        })?;
        Ok(Arc::clone(made.get_or_init(|| Arc::new(fresh))))
    }

    /// Takes the error of this thread's last statement, if a native relation caused it.
    pub(super) fn failure(&self) -> Option<Error> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let own = failures.iter().rposition(|(thread, _)| *thread == current().id())?;
        let (_, error) = failures.swap_remove(own);
        failures.retain(|(thread, _)| *thread != current().id());
        Some(error)
    }

    /// Returns an error after the deadline or Ctrl-C.
    fn check_limits(&self) -> rusqlite::Result<()> {
        if guard::is_over(&self.limits) { Err(interrupted()) } else { Ok(()) }
    }
}

fn interrupted() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None)
}

/// Checks that the rules of a file compile: `layers`, `phases` or `work`.
pub fn check_rules(rules: &Rules) -> Result<()> {
    let mut files = [const { Vec::new() }; 3];
    let place = match rules.name.as_str() {
        "layers" => 0,
        "phases" => 1,
        _ => 2,
    };
    files[place].push(rules.clone());
    NameRules::compile(&files).map(|_| ())
}

/// Creates the native relations, and the SQL functions of a scope that is selected by NVTX ranges.
pub(super) fn install(
    connection: &Connection,
    installation: &Installation,
    limits: &Limits,
) -> Result<Option<Arc<Natives>>> {
    if installation.inputs.is_empty() {
        return Ok(None);
    }
    let natives = Arc::new(Natives {
        database: path_of(connection),
        natives: installation.natives.clone(),
        inputs: installation.inputs.clone(),
        rules: Arc::new(LazyRules::new(installation.rules.clone())),
        limits: limits.clone(),
        projections: installation.inputs.iter().map(|_| OnceLock::new()).collect(),
        occupancies: installation.inputs.iter().map(|_| OnceLock::new()).collect(),
        selection: OnceLock::new(),
        making: Mutex::default(),
        failures: Mutex::default(),
    });
    create(connection, &natives)?;
    let is_called = |statement: &String| {
        [SELECTS_OP, SELECTS_CALL, IN_WINDOW].iter().any(|name| statement.contains(name))
    };
    let needs_functions = installation.statements.iter().any(is_called);
    let needs_gpu = installation.natives.iter().any(is_gpu);
    if let (Some(input), Some(scope)) = (installation.selecting, &installation.scope)
        && (needs_functions || needs_gpu)
    {
        let (input, rules) = (&natives.inputs[input], &natives.rules);
        let functions_on = needs_functions.then_some(connection);
        let selection = nvtx::select(&natives.database, input, scope, rules, limits, functions_on)?;
        natives.selection.get_or_init(|| selection);
    }
    Ok(Some(natives))
}

/// Creates the native relations on another connection to the report, with the same data. Without the SQL
/// functions of a scope that is selected by NVTX ranges.
pub(super) fn share(connection: &Connection, natives: Arc<Natives>) -> Result<Arc<Natives>> {
    create(connection, &natives)?;
    Ok(natives)
}

fn create(connection: &Connection, natives: &Arc<Natives>) -> Result<()> {
    const NVTX: Module<'_, vtab::NativeTable<nvtx::Table>> = Module::read_only_module();
    const GPU: Module<'_, vtab::NativeTable<gpu::Table>> = Module::read_only_module();
    connection.create_module(c"nsq_nvtx", &NVTX, Some(Arc::clone(natives)))?;
    connection.create_module(c"nsq_gpu", &GPU, Some(Arc::clone(natives)))?;
    for native in &natives.natives {
        let module = if is_gpu(native) { "nsq_gpu" } else { "nsq_nvtx" };
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE temp.{} USING {module}",
            quote(&native.object)
        ))?;
    }
    Ok(())
}

fn is_gpu(native: &Native) -> bool {
    gpu::Table::named(&native.relation).is_some()
}
