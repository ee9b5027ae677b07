//! What a statement may do, and for how long.
//!
//! The order matters: relations are made first, then `query_only` and the authorizer take every
//! right but reading. The progress handler watches from the start, since making a relation can be
//! the longest part.

use crate::error::{Error, Result};
use crate::interrupt::is_interrupted;
use crate::report::plain_message;
use rusqlite::Connection;
use rusqlite::ErrorCode;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::time::{Duration, Instant};

/// How long and how much.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Instant at which to give up, and the time that was allowed until then.
    pub deadline: Option<(Instant, Duration)>,
    /// Rows after which a statement is stopped with an error.
    pub max_rows: Option<usize>,
}

impl Limits {
    /// Gives up after `timeout` from now.
    pub fn with_timeout(timeout: Option<Duration>) -> Self {
        Self { deadline: timeout.map(|allowed| (Instant::now() + allowed, allowed)), max_rows: None }
    }

    fn is_past(&self) -> bool {
        self.deadline.is_some_and(|(deadline, _)| Instant::now() >= deadline)
    }
}

/// The deadline has passed, or Ctrl-C was pressed: SQLite's handler does not run inside native loops.
pub(super) fn is_over(limits: &Limits) -> bool {
    is_interrupted() || limits.is_past()
}

/// Steps of SQLite's virtual machine between two looks at the clock: well under a millisecond.
const STEPS: i32 = 10_000;

/// Stops statements at the deadline or on Ctrl-C.
pub(super) fn watch(connection: &mut Connection, limits: &Limits) -> Result<()> {
    let limits = limits.clone();
    Ok(connection.progress_handler(STEPS, Some(move || is_over(&limits)))?)
}

/// Takes away every right but reading.
pub(super) fn lock(connection: &mut Connection) -> Result<()> {
    // A script's own authorizer would refuse the pragma.
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection.authorizer(Some(authorize))?)
}

/// Lets a script make TEMP objects of its own, and nothing else.
pub(super) fn lock_to_temp(connection: &mut Connection) -> Result<()> {
    Ok(connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::CreateTempView { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempIndex { .. }
        // What making them does to the TEMP schema, and INSERT into them.
        | AuthAction::Insert { .. }
        | AuthAction::Update { .. }
        | AuthAction::Delete { .. }
        | AuthAction::Reindex { .. }
            if context.database_name == Some("temp") =>
        {
            Authorization::Allow
        }
        _ => authorize(context),
    }))?)
}

/// Tables whose rows hold captured environments, command lines and paths of the profiled machine.
/// What of them may be seen was copied to TEMP tables before the lock.
const SECRET: [&str; 4] =
    ["META_DATA_CAPTURE", "TARGET_INFO_SYSTEM_ENV", "ProcessStreams", "ANALYSIS_FILE"];

fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Read { table_name, .. }
            if SECRET.iter().any(|secret| secret.eq_ignore_ascii_case(table_name)) =>
        {
            Authorization::Deny
        }
        AuthAction::Function { function_name: "load_extension" } => Authorization::Deny,
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

/// A failed step: the deadline, Ctrl-C, or SQLite's own reason.
pub(super) fn explain(limits: &Limits, error: rusqlite::Error, path: &str) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {}
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure) => {
            return Error::Report {
                path: path.into(),
                reason: format!("cannot be read further: {}", plain_message(&error)),
                help: "the file is damaged: export the report again".to_owned(),
            };
        }
        _ => return Error::Sqlite(error),
    }
    stopped(limits)
}

/// The error of having stopped: the deadline, or Ctrl-C.
pub(super) fn stopped(limits: &Limits) -> Error {
    match limits.deadline {
        Some((_, allowed)) if !is_interrupted() => Error::Limit {
            reason: format!("stopped: it ran longer than {} s", allowed.as_secs_f64()),
            help: "raise --timeout, or look at less with --time, --device or --process".to_owned(),
        },
        _ => Error::Interrupted,
    }
}
