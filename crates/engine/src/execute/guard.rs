//! Limits what a statement may do.
//!
//! The order matters:
//! 1. The visible rows of secret tables are copied, with all rights.
//! 2. Relations are created with the right to create TEMP objects only: they may come from an untrusted
//!    library.
//! 3. `query_only` and the authorizer leave the right to read, and no other.
//!
//! The progress handler is active from the start, because creating a relation can take the longest.

use super::limits::Limits;
use super::refusal;
use crate::compile::words_in;
use crate::normalize::{STRING_RELATIONS, STRING_TABLE, STRING_VIEW, Statements};
use nsq_report::report::{LONGEST, plain_message};
use nsq_value::error::{Error, Result};
use rusqlite::Connection;
use rusqlite::ErrorCode;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The help for contents that nsys never writes.
pub(super) const NOT_FROM_NSYS: &str =
    "nsys never writes this, so the rest of the file cannot be trusted: export the report again";

/// Secret tables: they hold captured environments, command lines, output of the processes and the profiler,
/// users, machines and paths. SQLite's own tables with samples of indexed values are secret too. The rows
/// that may be shown are copied to TEMP tables before the connection is locked down.
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

/// What a statement may do, from most rights to fewest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Everything: for nsq's own statements, which copy the visible rows of secret tables.
    All,
    /// Create TEMP objects from tables that are not secret.
    MakeTemp,
    /// Read tables that are not secret.
    Read,
}

/// What statements on a connection may do now. Shared with the connection's authorizer.
#[derive(Debug, Clone)]
pub(super) struct Rights(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    stage: Stage,
    /// The user allowed all tables to be shown (`--allow-environment`).
    reveals_secrets: bool,
    /// The strings that events refer to were copied, so the table of all strings is secret.
    has_strings: bool,
    /// The secret table that was denied last.
    denied: Option<String>,
}

impl Rights {
    /// Installs the authorizer on a connection. It starts with all rights.
    pub(super) fn install(connection: &mut Connection, reveals_secrets: bool) -> Result<Self> {
        let state = State { stage: Stage::All, reveals_secrets, has_strings: false, denied: None };
        let rights = Self(Arc::new(Mutex::new(state)));
        let shared = rights.clone();
        connection
            .authorizer(Some(move |context: AuthContext<'_>| shared.state().authorize(&context)))?;
        Ok(rights)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with all rights, then returns to reading only, even if the work fails.
    ///
    /// No statement may be running on the connection: SQLite expires it when `query_only` changes, and its next step
    /// fails with "abort due to ROLLBACK".
    pub(super) fn with_all<T>(
        &self,
        connection: &Connection,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        debug_assert!(!connection.is_busy(), "a statement is running on the connection");
        self.state().stage = Stage::All;
        let given = connection.pragma_update(None, "query_only", false);
        let done = given.map_err(Error::from).and_then(|()| work());
        self.only_reading(connection)?;
        done
    }

    /// Allows creating TEMP objects and reading. `has_strings`: the strings that events refer to were copied.
    pub(super) fn only_temp(&self, has_strings: bool) {
        let mut state = self.state();
        state.stage = Stage::MakeTemp;
        state.has_strings = has_strings;
    }

    /// Allows everything again, until [`Rights::with_all`] returns.
    pub(super) fn all(&self) {
        self.state().stage = Stage::All;
    }

    /// Allows reading only.
    pub(super) fn only_reading(&self, connection: &Connection) -> Result<()> {
        self.state().stage = Stage::All;
        let taken = connection.pragma_update(None, "query_only", true);
        self.state().stage = Stage::Read;
        Ok(taken?)
    }

    /// Takes the name of the secret table that a statement was denied.
    pub(super) fn denied(&self) -> Option<String> {
        self.state().denied.take()
    }

    /// Clears the denial of an earlier statement.
    pub(super) fn forget_denied(&self) {
        self.state().denied = None;
    }

    pub(super) fn reveals_secrets(&self) -> bool {
        self.state().reveals_secrets
    }

    pub(super) fn has_strings(&self) -> bool {
        self.state().has_strings
    }
}

impl State {
    fn authorize(&mut self, context: &AuthContext<'_>) -> Authorization {
        let is_temp = context.database_name == Some("temp");
        match context.action {
            _ if self.stage == Stage::All => Authorization::Allow,
            AuthAction::CreateTempView { .. }
            | AuthAction::CreateTempTable { .. }
            | AuthAction::CreateTempIndex { .. }
            // Creating them writes to the TEMP schema; filling them takes INSERT.
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
            AuthAction::Pragma { pragma_name, .. } if LISTING_PRAGMAS.contains(&pragma_name) => {
                Authorization::Allow
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

    /// Whether reading the table, directly or through the view `accessor`, is denied.
    fn is_secret(&self, table: &str, accessor: Option<&str>) -> bool {
        if self.reveals_secrets {
            return false;
        }
        if table.eq_ignore_ascii_case(STRING_TABLE) {
            // SQLite reports a CTE's name as `accessor`, just like a view's. A user's statement could fake
            // the view with `WITH`. So the view exists only for statements that cannot do this; for all
            // others the strings are copied, and the view is gone.
            return self.has_strings || accessor != Some(STRING_VIEW);
        }
        SECRET.iter().any(|secret| secret.eq_ignore_ascii_case(table))
    }
}

/// Whether the function loads or registers code, or accesses files. No query needs one.
fn does_more_than_read(function: &str) -> bool {
    const FUNCTIONS: [&str; 5] = ["load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"];
    FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(function))
}

/// Whether the statement names a relation that looks strings up by id.
///
/// A relation can be read only if its name appears in the statement or in a view: SQLite cannot build
/// names at run time.
pub(super) fn names_strings(sql: &str) -> bool {
    let words = words_in(sql);
    STRING_RELATIONS.iter().any(|relation| words.contains(*relation))
}

/// Creates TEMP objects on a connection, then allows reading only.
pub(super) fn make(
    connection: &mut Connection,
    statements: &Statements,
    reveals_secrets: bool,
    limits: &Limits,
    path: &str,
) -> Result<Rights> {
    let rights = Rights::install(connection, reveals_secrets)?;
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
    rights.all();
    connect_modules(connection);
    rights.only_reading(connection)?;
    Ok(rights)
}

/// Connects SQLite's table functions and nsq's. SQLite connects each when a statement first names it, and SQLite before 3.41,
/// which may host nsq as an extension, asks the authorizer for the right to create a table then.
fn connect_modules(connection: &Connection) {
    if rusqlite::version_number() >= 3_041_000 {
        return;
    }
    let listing = LISTING_PRAGMAS.map(|pragma| format!("pragma_{pragma}"));
    let listing = listing.iter().map(String::as_str);
    for table in ["json_each", "json_tree", "json_rows", "split_spans"].into_iter().chain(listing) {
        // A connection without nsq's functions lacks theirs.
        drop(connection.prepare(&format!("SELECT 1 FROM {table}")));
    }
}

/// The error for reading a secret table, in the statement at `excerpt`.
pub(super) fn denied(table: &str, excerpt: String) -> Error {
    let is_strings = table.eq_ignore_ascii_case(STRING_TABLE);
    let (holds, instead) = match is_strings {
        true => (
            "all texts of the report, including texts that no event refers to",
            "read the relation `string` for the texts that events refer to; ",
        ),
        false => ("captured environments, command lines, messages, user names or paths", ""),
    };
    Error::Sql {
        message: format!("{table} is not shown: it holds {holds}"),
        excerpt,
        help: format!("{instead}`nsq sql --allow-environment` shows the table"),
    }
}

/// The error of a failed step: the deadline, Ctrl-C, or SQLite's own reason.
pub(super) fn explain(limits: &Limits, error: rusqlite::Error, path: &str) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {}
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure) => {
            return Error::Report {
                path: path.into(),
                reason: format!("reading failed: {}", plain_message(&error)),
                help: "the file is damaged: export the report again".to_owned(),
            };
        }
        Some(ErrorCode::TooBig) => {
            let most = LONGEST >> 20;
            return Error::Limit {
                reason: format!("{path}: a text, blob or row exceeds {most} MiB"),
                help: "make the statement build smaller values; nsys writes none of this size"
                    .to_owned(),
            };
        }
        _ if plain_message(&error) == "LIKE or GLOB pattern too complex" => {
            return Error::Limit {
                reason: format!("{path}: a LIKE or GLOB pattern is too long for SQLite"),
                help: "compare with = or instr() instead".to_owned(),
            };
        }
        _ => {
            let message = plain_message(&error);
            let known = refusal::error(&message).or_else(|| invalid_contents(&message, path));
            return known.unwrap_or(Error::Sqlite(error));
        }
    }
    stopped(limits)
}

/// Pragmas that only list tables, columns and indices, for `pragma_table_info()` and its like.
const LISTING_PRAGMAS: [&str; 6] =
    ["table_list", "table_info", "table_xinfo", "index_list", "index_info", "index_xinfo"];

/// The start of SQLite's message when the authorizer denies something.
pub(super) const NOT_AUTHORIZED: &str = "not authorized";

/// Whether SQLite's message says that a statement or a view is too long or too deeply nested.
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

/// The error for report contents that nsys never writes; `None` if the message has another cause.
fn invalid_contents(message: &str, path: &str) -> Option<Error> {
    let what = match message {
        "integer overflow" => "times or sizes whose sum exceeds 64 bits".to_owned(),
        _ if message.starts_with("unsafe use of ") || message.starts_with(NOT_AUTHORIZED) => {
            format!("a view that does more than read: {message}")
        }
        _ if is_beyond_sqlite(message) => format!("a view that exceeds a limit of SQLite: {message}"),
        _ => {
            let argument = wrong_argument(message)?;
            let kind = argument.rsplit(" is ").next()?.split(',').next()?;
            format!("a value of the wrong type: {kind}")
        }
    };
    Some(Error::Report {
        path: path.into(),
        reason: format!("holds {what}"),
        help: NOT_FROM_NSYS.to_owned(),
    })
}

/// The sentence about an argument whose type a function does not take, if the message is about one.
pub(super) fn wrong_argument(message: &str) -> Option<String> {
    if message.starts_with("argument ") && message.contains(" of a function is ") {
        return Some(message.to_owned());
    }
    let rest = message.strip_prefix("Invalid function parameter type ")?;
    let (kind, index) = rest.split_once(" at index ")?;
    let place = index.parse::<usize>().ok()? + 1;
    Some(format!("argument {place} of a function is {}, which it does not take", kind.to_lowercase()))
}

/// The error of a stopped statement: the deadline, or Ctrl-C.
pub(super) fn stopped(limits: &Limits) -> Error {
    match limits.deadline {
        Some((_, allowed)) if !limits.cancel.is_cancelled() => Error::timed_out(allowed),
        _ => Error::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::SECRET;

    #[test]
    fn sources_and_guard_agree_on_secret_tables() {
        let library = crate::tests::library();
        for source in library.sources().unwrap() {
            for table in &source.tables {
                assert_eq!(source.secret, SECRET.contains(&table.as_str()), "{table}");
            }
        }
    }
}
