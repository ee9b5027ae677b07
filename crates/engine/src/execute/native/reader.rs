//! Reads the rows of a relation on several connections at once.
//!
//! Native relations read all their data here.
//!
//! Cells come from SQLite's C API, which needs `unsafe`. It takes half the time of rusqlite's checked
//! values, and there are tens of millions of cells.
#![allow(unsafe_code)]

use crate::execute::guard;
use crate::execute::limits::{self, Limits};
use crate::normalize::Statements;
use nsq_report::report::reopen;
use nsq_value::error::{Error, Result};
use rusqlite::{Connection, Row, ffi};
use std::ffi::{CString, c_int};
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{ptr, slice, thread};

/// The largest valid time, exclusive, in ns: 146 years from the start of the capture.
const LATEST: u64 = 1 << 62;
/// Connections that read in parallel. Every machine has two cores, and more connections gain little.
const CONNECTIONS: i64 = 2;
/// Below this number of rows, one connection is as fast.
const WORTH_SPLITTING: i64 = 20_000;
/// Rows between two steps of the progress.
const ROWS_A_STEP: u64 = 10_000;

/// Connections that no reader needs now, with the statements that created their relations.
#[derive(Debug, Default)]
pub(super) struct FreeConnections(Mutex<Vec<(Arc<Statements>, Connection)>>);

impl FreeConnections {
    fn take(&self, statements: &Arc<Statements>) -> Option<Connection> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = free.iter().position(|(of, _)| Arc::ptr_eq(of, statements))?;
        Some(free.swap_remove(place).1)
    }

    fn keep(&self, statements: &Arc<Statements>, connections: Vec<Connection>) {
        let connections = connections.into_iter().map(|connection| (Arc::clone(statements), connection));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(connections);
    }
}

/// Connections on which the relations are installed.
pub(super) struct Reader {
    /// Opened when the first rows are read, or those of a reader before.
    connections: Vec<Connection>,
    free: Arc<FreeConnections>,
    statements: Arc<Statements>,
    limits: Limits,
    database: PathBuf,
    path: String,
}

impl Reader {
    /// A reader of the database, for the relations that `statements` create.
    pub(super) fn new(
        database: &Path,
        statements: &Arc<Statements>,
        free: &Arc<FreeConnections>,
        limits: &Limits,
    ) -> Self {
        Self {
            connections: Vec::new(),
            free: Arc::clone(free),
            statements: Arc::clone(statements),
            limits: limits.clone(),
            database: database.to_owned(),
            path: database.to_string_lossy().into_owned(),
        }
    }

    /// Opens connections until there are `count`, and creates the relations on each.
    fn connect_to(&mut self, count: usize) -> Result<()> {
        while self.connections.len() < count {
            if let Some(connection) = self.free.take(&self.statements) {
                self.connections.push(connection);
                continue;
            }
            let mut connection = reopen(&self.database, &self.limits.cancel)?;
            limits::watch(&mut connection, &self.limits)?;
            guard::make(&mut connection, &self.statements, false, &self.limits, &self.path)?;
            self.connections.push(connection);
        }
        Ok(())
    }

    /// Reads `columns` of every row of `relation` whose `id` is a number. Returns one result per part, in
    /// order.
    ///
    /// The table is split into parts of consecutive rows by `id`, its row number. `row` is called with the
    /// part's result and the cells of each row.
    pub(super) fn scan<T: Default + Send>(
        &mut self,
        relation: &str,
        id: &str,
        columns: &str,
        row: impl Fn(&mut T, &Cells<'_>) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        self.connect_to(1)?;
        let parts = self.parts(relation, id)?;
        self.connect_to(parts.len())?;
        let (limits, path, database) = (&self.limits, &self.path, &self.database);
        let work = &limits.progress.work;
        let read = |connection: &Connection, (from, to): (i64, i64)| -> Result<T> {
            let sql = format!("SELECT {columns} FROM {relation} WHERE {id} BETWEEN {from} AND {to}");
            let mut reading = work.reading(to.abs_diff(from));
            let mut part = T::default();
            let mut rows = Rows::new(connection, database, &sql)?;
            let mut count = 0;
            while let Some(cells) = rows.next().map_err(|e| guard::explain(limits, e, path))? {
                row(&mut part, &cells)?;
                count += 1;
                if count % ROWS_A_STEP == 0 {
                    reading.advance(ROWS_A_STEP);
                }
            }
            Ok(part)
        };
        thread::scope(|scope| {
            let mut pairs = self.connections.iter_mut().zip(&parts);
            let first = pairs.next();
            let mut running = Vec::new();
            for (connection, &part) in pairs {
                let read = &read;
                running.push(scope.spawn(move || read(connection, part)));
            }
            let mut results = Vec::new();
            if let Some((connection, &part)) = first {
                results.push(read(connection, part)?);
            }
            for part in running {
                results.push(part.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            Ok(results)
        })
    }

    /// Reads all rows of a statement on one connection.
    pub(super) fn rows(
        &mut self,
        sql: &str,
        mut row: impl FnMut(&Cells<'_>) -> Result<()>,
    ) -> Result<()> {
        self.connect_to(1)?;
        let Some(connection) = self.connections.first() else { return Ok(()) };
        let mut rows = Rows::new(connection, &self.database, sql)?;
        while let Some(cells) = rows.next().map_err(|e| guard::explain(&self.limits, e, &self.path))? {
            row(&cells)?;
        }
        Ok(())
    }

    /// The text with this string id.
    pub(super) fn text_of(&mut self, id: i64) -> Result<Option<Vec<u8>>> {
        self.connect_to(1)?;
        let Some(connection) = self.connections.first() else { return Ok(None) };
        let mut statement = connection.prepare_cached("SELECT text FROM string WHERE string_id = ?1")?;
        let text =
            |row: &Row<'_>| Ok(row.get_ref(0)?.as_bytes_or_null().ok().flatten().map(<[u8]>::to_vec));
        match statement.query_row([id], text) {
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            other => other.map_err(|e| guard::explain(&self.limits, e, &self.path)),
        }
    }

    /// The first and last row of each part.
    fn parts(&self, relation: &str, id: &str) -> Result<Vec<(i64, i64)>> {
        let Some(connection) = self.connections.first() else { return Ok(Vec::new()) };
        // Two statements: SQLite answers a lone min() or max() from the end of the table, without a scan.
        let edge = |function: &str| -> Result<Option<i64>> {
            let sql = format!("SELECT {function}({id}) FROM {relation}");
            connection
                .query_row(&sql, [], |row| row.get(0))
                .map_err(|e| guard::explain(&self.limits, e, &self.path))
        };
        let (Some(first), Some(last)) = (edge("min")?, edge("max")?) else {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {relation})");
            let has_rows: bool = connection.query_row(&sql, [], |row| row.get(0))?;
            return match has_rows {
                false => Ok(Vec::new()),
                true => Err(Error::Report {
                    path: self.database.clone(),
                    reason: format!("stores {relation} in a table without row numbers"),
                    help: "nsys never writes a table like this: export the report again".to_owned(),
                }),
            };
        };
        let rows = last.saturating_sub(first);
        if rows < WORTH_SPLITTING || !self.limits.threads.may_share() {
            return Ok(vec![(first, last)]);
        }
        let cuts: Vec<i64> = (1..CONNECTIONS).map(|n| first + rows / CONNECTIONS * n).collect();
        let starts = std::iter::once(first).chain(cuts.iter().map(|cut| cut + 1));
        Ok(starts.zip(cuts.iter().copied().chain([last])).collect())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.free.keep(&self.statements, std::mem::take(&mut self.connections));
    }
}

/// A statement that is being stepped through.
pub(super) struct Rows<'a> {
    connection: &'a Connection,
    database: &'a Path,
    statement: *mut ffi::sqlite3_stmt,
}

impl<'a> Rows<'a> {
    pub(super) fn new(connection: &'a Connection, database: &'a Path, sql: &str) -> Result<Self> {
        let sql = CString::new(sql).map_err(rusqlite::Error::NulError)?;
        let mut statement = ptr::null_mut();
        // SAFETY: the connection outlives the statement (`'a`); `sql` outlives this call.
        let code = unsafe {
            ffi::sqlite3_prepare_v2(
                connection.handle(),
                sql.as_ptr(),
                -1,
                &mut statement,
                ptr::null_mut(),
            )
        };
        let rows = Self { connection, database, statement };
        match code {
            ffi::SQLITE_OK => Ok(rows),
            code => Err(rows.error(code).into()),
        }
    }

    /// The next row. Its cells are valid until the next call.
    pub(super) fn next(&mut self) -> rusqlite::Result<Option<Cells<'_>>> {
        // SAFETY: the statement was prepared and is finalised only when `self` is dropped.
        match unsafe { ffi::sqlite3_step(self.statement) } {
            ffi::SQLITE_ROW => {
                let (statement, database) = (self.statement, self.database);
                Ok(Some(Cells { statement, database, row: PhantomData }))
            }
            ffi::SQLITE_DONE => Ok(None),
            code => Err(self.error(code)),
        }
    }

    fn error(&self, code: c_int) -> rusqlite::Error {
        // SAFETY: the connection is open; the message is copied before anything else happens on it.
        let message = unsafe { std::ffi::CStr::from_ptr(ffi::sqlite3_errmsg(self.connection.handle())) };
        let message = message.to_string_lossy().into_owned();
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(message))
    }
}

impl Drop for Rows<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` prepared the statement, or it is null, which SQLite allows.
        unsafe { ffi::sqlite3_finalize(self.statement) };
    }
}

/// The cells of a row.
pub(super) struct Cells<'a> {
    statement: *mut ffi::sqlite3_stmt,
    database: &'a Path,
    row: PhantomData<&'a ()>,
}

impl Cells<'_> {
    /// An integer; `None` for null. Other values are cast as SQLite does.
    #[inline]
    pub(super) fn int(&self, column: usize) -> Option<i64> {
        // SAFETY: `self` borrows the statement's current row; SQLite returns null for a column out of range.
        let int = unsafe { ffi::sqlite3_column_int64(self.statement, column as c_int) };
        // SQLite returns 0 for null, so only a 0 needs the check.
        (int != 0 || kind(self.statement, column) != ffi::SQLITE_NULL).then_some(int)
    }

    /// A time in ns; `None` for null. An error if it is not an integer or out of range.
    #[inline]
    pub(super) fn time(&self, column: usize) -> Result<Option<i64>> {
        let is_whole = matches!(kind(self.statement, column), ffi::SQLITE_INTEGER | ffi::SQLITE_NULL);
        let time = self.int(column);
        if is_whole && time.is_none_or(|time| time.unsigned_abs() < LATEST) {
            return Ok(time);
        }
        Err(self.invalid_time(time.filter(|_| is_whole)))
    }

    #[cold]
    fn invalid_time(&self, time: Option<i64>) -> Error {
        Error::Report {
            path: self.database.to_path_buf(),
            reason: time.map_or("holds a time that is not an integer".to_owned(), |time| {
                format!("has an event at {time} ns, more than a century from the start of the capture")
            }),
            help: "its times make no sense: export the report again".to_owned(),
        }
    }

    /// A text's bytes; `None` for anything else.
    pub(super) fn text(&self, column: usize) -> Option<&[u8]> {
        if kind(self.statement, column) != ffi::SQLITE_TEXT {
            return None;
        }
        // SAFETY: SQLite keeps the text until the next step, which needs `&mut Rows`. The length is read
        // after the text, as SQLite requires.
        unsafe {
            let text = ffi::sqlite3_column_text(self.statement, column as c_int);
            let len =
                usize::try_from(ffi::sqlite3_column_bytes(self.statement, column as c_int)).ok()?;
            (!text.is_null()).then(|| slice::from_raw_parts(text, len))
        }
    }
}

fn kind(statement: *mut ffi::sqlite3_stmt, column: usize) -> c_int {
    // SAFETY: the cells borrow the statement's current row; SQLite returns null for a column out of range.
    unsafe { ffi::sqlite3_column_type(statement, column as c_int) }
}
