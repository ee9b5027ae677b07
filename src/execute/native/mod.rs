//! Relations that nsq computes, as tables that SQL can join; and what NVTX ranges select.
//!
//! Nothing is read before a statement asks for a row, unless NVTX ranges select what is looked at.

mod gpu;
mod ids;
mod nvtx;
mod pages;
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
use nvtx::{LazyRules, NameRules, Selection};
use relation::Relation;
use rusqlite::Connection;
use rusqlite::ffi;
use rusqlite::vtab::Module;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The native relations of a connection, and what they answer from.
pub struct Natives {
    database: PathBuf,
    natives: Vec<Native>,
    inputs: Vec<Input>,
    rules: Arc<LazyRules>,
    limits: Limits,
    projections: Vec<OnceLock<Arc<nvtx::Answers>>>,
    occupancies: Vec<OnceLock<Arc<gpu::Answers>>>,
    /// What NVTX ranges select, where they do and a relation of `gpu` is asked for.
    selection: OnceLock<Selection>,
    /// Why there is no answer: SQLite would pass on no more than its text.
    failure: Mutex<Option<Error>>,
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

    /// The projection of an input, made when it is first asked for.
    fn projection(&self, input: usize) -> rusqlite::Result<Arc<nvtx::Answers>> {
        self.once(&self.projections[input], || {
            nvtx::project(&self.database, &self.inputs[input], &self.rules, &self.limits)
        })
    }

    /// What GPUs were busy with, for an input, found out when it is first asked for.
    fn occupancy(&self, input: usize) -> rusqlite::Result<Arc<gpu::Answers>> {
        self.once(&self.occupancies[input], || {
            let input = &self.inputs[input];
            let selection = self.selection.get().filter(|_| input.scope.selects_ranges());
            gpu::occupy(&self.database, input, selection, &self.limits)
        })
    }

    /// What `make` makes, once; why it cannot is kept for [`Natives::failure`].
    fn once<T>(
        &self,
        made: &OnceLock<Arc<T>>,
        make: impl FnOnce() -> Result<T>,
    ) -> rusqlite::Result<Arc<T>> {
        if let Some(made) = made.get() {
            return Ok(Arc::clone(made));
        }
        let fresh = make().map_err(|error| match error {
            Error::Interrupted | Error::Limit { .. } => interrupted(),
            error => {
                let message = error.to_string();
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                rusqlite::Error::ModuleError(message)
            }
        })?;
        Ok(Arc::clone(made.get_or_init(|| Arc::new(fresh))))
    }

    /// Why the last statement failed, where it was a native relation's doing.
    pub(super) fn failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stops what runs at the deadline or on Ctrl-C.
    fn go_on(&self) -> rusqlite::Result<()> {
        if guard::is_over(&self.limits) { Err(interrupted()) } else { Ok(()) }
    }
}

fn interrupted() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None)
}

/// Finds out whether the rules of a file can be used: `layers` fold names, `phases` give them meaning.
pub fn check_rules(rules: &Rules) -> Result<()> {
    let (mut layers, mut phases) = (Vec::new(), Vec::new());
    if rules.name == "layers" { &mut layers } else { &mut phases }.push(rules.clone());
    NameRules::compile(&[layers, phases]).map(|_| ())
}

/// Makes the native relations, and the functions of a scope that NVTX ranges select.
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
        failure: Mutex::default(),
    });
    const NVTX: Module<'_, vtab::NativeTable<nvtx::Table>> = Module::read_only_module();
    const GPU: Module<'_, vtab::NativeTable<gpu::Table>> = Module::read_only_module();
    connection.create_module(c"nsq_nvtx", &NVTX, Some(Arc::clone(&natives)))?;
    connection.create_module(c"nsq_gpu", &GPU, Some(Arc::clone(&natives)))?;
    let is_gpu = |native: &Native| gpu::Table::named(&native.relation).is_some();
    for native in &installation.natives {
        let module = if is_gpu(native) { "nsq_gpu" } else { "nsq_nvtx" };
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE temp.{} USING {module}",
            quote(&native.object)
        ))?;
    }
    let is_called = |statement: &String| {
        [SELECTS_OP, SELECTS_CALL, IN_WINDOW].iter().any(|name| statement.contains(name))
    };
    let calls = installation.statements.iter().any(is_called);
    let asks = installation.natives.iter().any(is_gpu);
    if let (Some(input), Some(scope)) = (installation.selecting, &installation.scope)
        && (calls || asks)
    {
        let (input, told) = (&natives.inputs[input], calls.then_some(connection));
        let selection = nvtx::select(&natives.database, input, scope, limits, told)?;
        natives.selection.get_or_init(|| selection);
    }
    Ok(Some(natives))
}
