//! Relations that nsq computes, as tables that SQL can join; and what NVTX ranges select.
//!
//! Nothing is read before a statement asks for a row, unless NVTX ranges select what is looked at.

mod answers;
mod load;
mod names;
mod reader;
mod scope;
mod tables;
mod vtab;

use super::guard::{self, Limits};
use crate::catalog::Rules;
use crate::error::{Error, Result};
use crate::normalize::{IN_WINDOW, Input, Installation, Native, SELECTS_CALL, SELECTS_OP};
use crate::schema::quote;
use answers::Answers;
use names::{LazyRules, NameRules};
use rusqlite::Connection;
use rusqlite::ffi;
use rusqlite::vtab::Module;
use scope::RangeScope;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The native relations of a connection, and what they answer from.
pub struct Natives {
    database: PathBuf,
    natives: Vec<Native>,
    inputs: Vec<Input>,
    rules: Arc<LazyRules>,
    limits: Limits,
    answers: Vec<OnceLock<Arc<Answers>>>,
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

    /// What the input answers from, read when it is first asked for.
    fn answers(&self, input: usize) -> rusqlite::Result<Arc<Answers>> {
        if let Some(answers) = self.answers[input].get() {
            return Ok(Arc::clone(answers));
        }
        let answers = self.compute(input).map_err(|error| match error {
            Error::Interrupted | Error::Limit { .. } => interrupted(),
            error => {
                let message = error.to_string();
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                rusqlite::Error::ModuleError(message)
            }
        })?;
        Ok(Arc::clone(self.answers[input].get_or_init(|| Arc::new(answers))))
    }

    fn compute(&self, input: usize) -> Result<Answers> {
        let input = &self.inputs[input];
        let (scope, limits) = (&input.scope, &self.limits);
        let loaded = load::load(&self.database, input, limits)?;
        let mut attribution = load::attribute(loaded.capture, scope, limits)?;
        let ranges = RangeScope::new(&attribution, &loaded.names, scope)?;
        attribution.capture.ops.retain(|op| ranges.is_in_window(op.start, op.end));
        let projection = if !scope.selects_ranges() {
            load::project(attribution, None, limits, &self.database)?
        } else {
            let keep = |attribution: &_, launch| ranges.holds_launch(attribution, launch);
            load::project(attribution, Some(&keep), limits, &self.database)?
        };
        let rules = Arc::clone(&self.rules);
        Ok(Answers::new(projection, loaded.names, rules, scope.clone(), ranges, limits))
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
        database: connection.path().map(Path::new).unwrap_or(Path::new("")).to_owned(),
        natives: installation.natives.clone(),
        inputs: installation.inputs.clone(),
        rules: Arc::new(LazyRules::new(installation.rules.clone())),
        limits: limits.clone(),
        answers: installation.inputs.iter().map(|_| OnceLock::new()).collect(),
        failure: Mutex::default(),
    });
    const MODULE: Module<'_, vtab::NativeTable> = Module::read_only_module();
    connection.create_module(c"nsq", &MODULE, Some(Arc::clone(&natives)))?;
    for native in &installation.natives {
        connection
            .execute_batch(&format!("CREATE VIRTUAL TABLE temp.{} USING nsq", quote(&native.object)))?;
    }
    let is_called = |statement: &String| {
        [SELECTS_OP, SELECTS_CALL, IN_WINDOW].iter().any(|name| statement.contains(name))
    };
    if let (Some(input), Some(scope)) = (installation.selecting, &installation.scope)
        && installation.statements.iter().any(is_called)
    {
        let answers = natives.compute(input)?;
        let ranges = RangeScope::new(&answers.projection.attribution, &answers.names, scope)?;
        scope::register(connection, ranges, answers)?;
    }
    Ok(Some(natives))
}
