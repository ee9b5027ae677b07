//! What a statement may do, and for how long.
//!
//! The order matters: what may be seen of secret tables is copied first; then relations are made, with the right
//! to make TEMP objects and no other, since some may be a stranger's; then `query_only` and the authorizer take
//! every right but reading. The progress handler watches from the start, since making a relation can be the
//! longest part.

use crate::compile::words_in;
use crate::error::{Error, Result};
use crate::interrupt::is_interrupted;
use crate::normalize::{STRING_RELATIONS, STRING_TABLE, STRING_VIEW, Statements};
use crate::report::{LONGEST, STEPS, plain_message};
use rusqlite::Connection;
use rusqlite::ErrorCode;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

    /// The error of having taken longer than was `allowed`.
    pub fn passed(allowed: Duration) -> Error {
        Error::Limit {
            reason: format!("stopped: it ran longer than {} s", allowed.as_secs_f64()),
            help: "raise --timeout, or look at less with --time, --device or --process".to_owned(),
        }
    }

    fn is_past(&self) -> bool {
        self.deadline.is_some_and(|(deadline, _)| Instant::now() >= deadline)
    }
}

/// The deadline has passed, or Ctrl-C was pressed: SQLite's handler does not run inside native loops.
pub(super) fn is_over(limits: &Limits) -> bool {
    is_interrupted() || limits.is_past()
}

/// Stops statements at the deadline or on Ctrl-C.
pub(super) fn watch(connection: &mut Connection, limits: &Limits) -> Result<()> {
    let limits = limits.clone();
    Ok(connection.progress_handler(STEPS, Some(move || is_over(&limits)))?)
}

/// Tables whose rows hold captured environments, command lines, what the processes and the profiler printed,
/// users, machines and their paths; and where SQLite keeps samples of indexed values. What of them may be seen
/// was copied to TEMP tables before the lock.
const SECRET: [&str; 9] = [
    "META_DATA_CAPTURE",
    "META_DATA_EXPORT",
    "EXPORT_META_DATA",
    "TARGET_INFO_SYSTEM_ENV",
    "ProcessStreams",
    "ANALYSIS_FILE",
    "DIAGNOSTIC_EVENT",
    "sqlite_stat3",
    "sqlite_stat4",
];

/// What a statement may do, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Anything: statements of nsq's own that copy what may be seen of secret tables.
    All,
    /// Make TEMP objects of what is no secret.
    MakeTemp,
    /// Read what is no secret.
    Read,
}

/// What statements on a connection may do at the moment: what its authorizer goes by.
#[derive(Debug, Clone)]
pub(super) struct Rights(Arc<Mutex<Held>>);

#[derive(Debug)]
struct Held {
    stage: Stage,
    /// Nothing is a secret: the user said so.
    reveals_secrets: bool,
    /// The strings that may be seen were copied: the table of all strings is a secret.
    has_strings: bool,
    /// The secret table that was asked for last.
    denied: Option<String>,
}

impl Rights {
    /// Holds a connection to its rights; at first these are all.
    pub(super) fn hold(connection: &mut Connection, reveals_secrets: bool) -> Result<Self> {
        let held = Held { stage: Stage::All, reveals_secrets, has_strings: false, denied: None };
        let rights = Self(Arc::new(Mutex::new(held)));
        let looked_up = rights.clone();
        connection
            .authorizer(Some(move |context: AuthContext<'_>| looked_up.held().authorize(&context)))?;
        Ok(rights)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work` with what was taken given back, and takes it again, whatever comes of the work.
    pub(super) fn with_all<T>(
        &self,
        connection: &Connection,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.held().stage = Stage::All;
        let given = connection.pragma_update(None, "query_only", false);
        let done = given.map_err(Error::from).and_then(|()| work());
        self.only_reading(connection)?;
        done
    }

    /// Leaves the right to make TEMP objects, and nothing else. `has_strings`: the strings that may be seen are
    /// a copy.
    pub(super) fn only_temp(&self, has_strings: bool) {
        let mut held = self.held();
        held.stage = Stage::MakeTemp;
        held.has_strings = has_strings;
    }

    /// Takes away every right but reading.
    pub(super) fn only_reading(&self, connection: &Connection) -> Result<()> {
        self.held().stage = Stage::All;
        let taken = connection.pragma_update(None, "query_only", true);
        self.held().stage = Stage::Read;
        Ok(taken?)
    }

    /// The secret table that a statement was denied, once.
    pub(super) fn denied(&self) -> Option<String> {
        self.held().denied.take()
    }

    /// Forgets what another statement was denied.
    pub(super) fn forget_denied(&self) {
        self.held().denied = None;
    }

    pub(super) fn reveals_secrets(&self) -> bool {
        self.held().reveals_secrets
    }

    pub(super) fn has_strings(&self) -> bool {
        self.held().has_strings
    }
}

impl Held {
    fn authorize(&mut self, context: &AuthContext<'_>) -> Authorization {
        let is_temp = context.database_name == Some("temp");
        match context.action {
            _ if self.stage == Stage::All => Authorization::Allow,
            AuthAction::CreateTempView { .. }
            | AuthAction::CreateTempTable { .. }
            | AuthAction::CreateTempIndex { .. }
            // What making them does to the TEMP schema, and INSERT into them.
            | AuthAction::Insert { .. }
            | AuthAction::Update { .. }
            | AuthAction::Delete { .. }
            | AuthAction::Reindex { .. }
                if self.stage == Stage::MakeTemp && is_temp =>
            {
                Authorization::Allow
            }
            AuthAction::Read { table_name, .. } if self.is_secret(table_name, context.accessor) => {
                self.denied = Some(table_name.to_owned());
                Authorization::Deny
            }
            AuthAction::Function { function_name } if does_more_than_read(function_name) => {
                Authorization::Deny
            }
            AuthAction::Select
            | AuthAction::Read { .. }
            | AuthAction::Function { .. }
            | AuthAction::Recursive => Authorization::Allow,
            _ => Authorization::Deny,
        }
    }

    /// The table may not be read, through a view called `accessor` or as it is.
    fn is_secret(&self, table: &str, accessor: Option<&str>) -> bool {
        if self.reveals_secrets {
            return false;
        }
        if table.eq_ignore_ascii_case(STRING_TABLE) {
            // A name that WITH gives counts as a view's for SQLite. So whoever may read through the view
            // must not be able to name it: for all others strings are copied, and there is no view.
            return self.has_strings || accessor != Some(STRING_VIEW);
        }
        SECRET.iter().any(|secret| secret.eq_ignore_ascii_case(table))
    }
}

/// A function that loads or registers code, or reaches files: no question needs one.
fn does_more_than_read(function: &str) -> bool {
    const FUNCTIONS: [&str; 5] = ["load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"];
    FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(function))
}

/// The statement names something from which strings are read by their numbers.
///
/// Nothing can be read whose name stands neither in the text nor in a view: SQLite has no way to spell a
/// name in parts.
pub(super) fn names_strings(sql: &str) -> bool {
    let words = words_in(sql);
    STRING_RELATIONS.iter().any(|relation| words.contains(*relation))
}

/// Makes TEMP objects on a connection, and then takes away every right but reading.
pub(super) fn make(
    connection: &mut Connection,
    statements: &Statements,
    reveals_secrets: bool,
    limits: &Limits,
    path: &str,
) -> Result<Rights> {
    let rights = Rights::hold(connection, reveals_secrets)?;
    let run =
        |statement: &String| connection.execute_batch(statement).map_err(|e| explain(limits, e, path));
    statements.copies.iter().try_for_each(run)?;
    rights.only_temp(statements.has_strings);
    for statement in &statements.others {
        run(statement).map_err(|error| match rights.denied() {
            Some(table) => denied(&table, String::new()),
            None => error,
        })?;
    }
    rights.only_reading(connection)?;
    Ok(rights)
}

/// The error of asking for a secret, in the statement at `excerpt`.
pub(super) fn denied(table: &str, excerpt: String) -> Error {
    let is_strings = table.eq_ignore_ascii_case(STRING_TABLE);
    let (holds, instead) = match is_strings {
        true => (
            "all texts of the report, those that no event refers to among them",
            "read the relation `string`, which holds the texts that events refer to; ",
        ),
        false => ("environments, command lines, messages, users or paths as they were captured", ""),
    };
    Error::Sql {
        message: format!("{table} is not shown: it holds {holds}"),
        excerpt,
        help: format!("{instead}`nsq sql --allow-environment` shows it to you"),
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
        Some(ErrorCode::TooBig) => {
            let most = LONGEST >> 20;
            return Error::Limit {
                reason: format!("{path}: a text, a blob or a row of more than {most} MiB came up"),
                help: "no nsys writes one; a statement of your own must build less".to_owned(),
            };
        }
        _ if plain_message(&error) == "LIKE or GLOB pattern too complex" => {
            return Error::Limit {
                reason: format!("{path}: a pattern of LIKE or GLOB is longer than SQLite takes"),
                help: "compare by = or instr() instead".to_owned(),
            };
        }
        _ => return senseless(&plain_message(&error), path).unwrap_or(Error::Sqlite(error)),
    }
    stopped(limits)
}

/// How SQLite begins to say that the authorizer refused something.
pub(super) const NOT_AUTHORIZED: &str = "not authorized";

/// A statement, or a view that it reads, is nested deeper or is longer than SQLite takes.
pub(super) fn is_beyond_sqlite(message: &str) -> bool {
    const BEYOND: [&str; 5] = [
        "Recursion limit",
        "parser stack overflow",
        "Expression tree is too large",
        "too many ",
        "at most ",
    ];
    BEYOND.iter().any(|beginning| message.starts_with(beginning))
}

/// A failure that comes of what a report holds and no nsys writes.
fn senseless(message: &str, path: &str) -> Option<Error> {
    let what = match message {
        "integer overflow" => "times or sizes that add up to more than 64 bits hold".to_owned(),
        _ if message.starts_with("unsafe use of ") || message.starts_with(NOT_AUTHORIZED) => {
            format!("a view that does more than read: {message}")
        }
        _ if is_beyond_sqlite(message) => format!("a view that SQLite cannot take in: {message}"),
        _ => {
            let rest = message.strip_prefix("Invalid function parameter type ")?;
            format!("a value where another kind belongs: {}", rest.split(' ').next()?.to_lowercase())
        }
    };
    Some(Error::Report {
        path: path.into(),
        reason: format!("holds {what}"),
        help: super::NOT_OF_NSYS.to_owned(),
    })
}

/// The error of having stopped: the deadline, or Ctrl-C.
pub(super) fn stopped(limits: &Limits) -> Error {
    match limits.deadline {
        Some((_, allowed)) if !is_interrupted() => Limits::passed(allowed),
        _ => Error::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::SECRET;
    use crate::catalog::Catalog;

    #[test]
    fn the_specs_and_the_guard_agree_on_what_is_secret() {
        let library = Catalog::built_in().unwrap();
        for source in library.sources().unwrap() {
            for table in &source.tables {
                assert_eq!(source.secret, SECRET.contains(&table.as_str()), "{table}");
            }
        }
    }
}
