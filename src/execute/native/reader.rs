//! Rows of a relation, read by several connections at once.
//!
//! The seam between native relations and SQLite: how rows are read is known here and nowhere else. A
//! large table behind a plain relation is decoded from its [`pages`](super::pages); all else is read by
//! a statement.
//!
//! Cells are taken from SQLite's C API: that is half the price of a checked value each, which
//! matters for tens of millions of them. Hence the `unsafe`.
#![allow(unsafe_code)]

use super::pages::{self, Plain};
use crate::error::{Error, Result};
use crate::execute::guard::{self, Limits};
use crate::normalize::Statements;
use crate::report::reopen;
use crate::threads;
use rusqlite::{Connection, Row, ffi};
use std::ffi::{CString, c_int};
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ptr, slice, thread};

/// Times beyond this are no times: 146 years from the start of the capture.
const LATEST: u64 = 1 << 62;
/// Connections that read together: two cores are what every machine has, and SQLite gains little from more.
const CONNECTIONS: i64 = 2;
/// Rows below which one connection is as fast.
const WORTH_SPLITTING: i64 = 20_000;
/// Rows below which a statement is as fast as finding out what the pages hold.
const WORTH_DECODING: u64 = 4_000;
/// Rows between two looks at the clock where SQLite takes none.
const ROWS_A_LOOK: usize = 10_000;

/// Connections on which the relations to read are installed.
pub(super) struct Reader<'a> {
    /// Opened when something is to be read.
    connections: Vec<Connection>,
    statements: Statements,
    limits: Limits,
    database: PathBuf,
    path: String,
    given_up: Option<&'a AtomicBool>,
}

impl<'a> Reader<'a> {
    /// A reader of the database, for relations that `statements` make.
    ///
    /// With `given_up`, pages are read where they can be; it is set where that had to be given up after
    /// some rows had been told, which then are told again to fresh parts.
    pub(super) fn new(
        database: &Path,
        statements: &Statements,
        limits: &Limits,
        given_up: Option<&'a AtomicBool>,
    ) -> Self {
        Self {
            connections: Vec::new(),
            statements: statements.clone(),
            limits: limits.clone(),
            database: database.to_owned(),
            path: database.to_string_lossy().into_owned(),
            given_up,
        }
    }

    /// Opens the database again, until there are as many connections, and makes the relations.
    fn connect_to(&mut self, count: usize) -> Result<()> {
        while self.connections.len() < count {
            let mut connection = reopen(&self.database)?;
            // Mapped for each connection, a large report would count as several times its size.
            connection.pragma_update(None, "mmap_size", 0)?;
            guard::watch(&mut connection, &self.limits)?;
            guard::make(&mut connection, &self.statements, false, &self.limits, &self.path)?;
            self.connections.push(connection);
        }
        Ok(())
    }

    /// Reads `columns` of every row of `relation` whose `id` is a number; one result for each part, in order.
    ///
    /// The table is cut into parts of neighbouring rows by `id`, its row number. `row` is told the
    /// row's cells and the part's own result.
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
        let is_large = parts.first().is_some_and(|&(from, to)| to.abs_diff(from) >= WORTH_DECODING);
        let table = if is_large { self.table(relation, id, columns)? } else { None };
        let (limits, path, database) = (&self.limits, &self.path, &self.database);
        // None: the pages do not say what the part holds.
        let read = |connection: &Connection,
                    (from, to): (i64, i64),
                    table: Option<&pages::Table>|
         -> Result<Option<T>> {
            let sql = format!("SELECT {columns} FROM {relation} WHERE {id} BETWEEN {from} AND {to}");
            let mut part = T::default();
            let mut rows = Rows::new(connection, database, &sql)?;
            if let Some(table) = table {
                // A statement that has begun has asked whether the table may be read, and holds the lock of
                // a file that can change.
                if rows.next().map_err(|e| guard::explain(limits, e, path))?.is_none() {
                    return Ok(Some(part));
                }
                let mut count = 0;
                let goes_on = || {
                    count += 1;
                    count % ROWS_A_LOOK != 0 || !guard::is_over(limits)
                };
                let take =
                    |cells: &pages::Row<'_>| row(&mut part, &Cells::Page { row: cells, database }).ok();
                return Ok(table.scan(connection, (from, to), goes_on, take).map(|()| part));
            }
            while let Some(cells) = rows.next().map_err(|e| guard::explain(limits, e, path))? {
                row(&mut part, &cells)?;
            }
            Ok(Some(part))
        };
        let read_all = |connections: &mut [Connection], table| -> Result<Option<Vec<T>>> {
            thread::scope(|scope| {
                let mut pairs = connections.iter_mut().zip(&parts);
                let first = pairs.next();
                let mut running = Vec::new();
                for (connection, &part) in pairs {
                    running.push(scope.spawn(move || read(connection, part, table)));
                }
                let mut results = Vec::new();
                if let Some((connection, &part)) = first {
                    results.push(read(connection, part, table)?);
                }
                for part in running {
                    results.push(part.join().unwrap_or_else(|panic| resume_unwind(panic))?);
                }
                Ok(results.into_iter().collect())
            })
        };
        let mut results = read_all(&mut self.connections, table.as_ref());
        if let (Ok(None), Some(given_up)) = (&results, self.given_up) {
            given_up.store(true, Ordering::Relaxed);
            // What is odd in one part may have hidden rows of another.
            results = read_all(&mut self.connections, None);
        }
        results.map(Option::unwrap_or_default)
    }

    /// Reads a statement to its end on one connection.
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

    /// The text that has this number.
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

    /// The table whose pages hold what is to be read; `None` where a statement must read it.
    fn table(&self, relation: &str, id: &str, columns: &str) -> Result<Option<pages::Table>> {
        if self.given_up.is_none() {
            return Ok(None);
        }
        let columns: Vec<&str> = columns.split(", ").collect();
        let plain = Plain::of(&self.statements, relation, id, &columns);
        // What a table is declared as can be asked for before rights are taken away only.
        let connection = plain.as_ref().map(|_| reopen(&self.database)).transpose()?;
        Ok(plain.zip(connection).and_then(|(plain, connection)| pages::Table::find(&connection, &plain)))
    }

    /// The first and last row of each part.
    fn parts(&self, relation: &str, id: &str) -> Result<Vec<(i64, i64)>> {
        let Some(connection) = self.connections.first() else { return Ok(Vec::new()) };
        // Asked one at a time, SQLite finds each at an end of the table.
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
                    reason: format!("keeps what is in {relation} without row numbers"),
                    help: "no nsys writes such a table: export the report again".to_owned(),
                }),
            };
        };
        let rows = last.saturating_sub(first);
        if rows < WORTH_SPLITTING || !threads::may_share() {
            return Ok(vec![(first, last)]);
        }
        let cuts: Vec<i64> = (1..CONNECTIONS).map(|n| first + rows / CONNECTIONS * n).collect();
        let starts = std::iter::once(first).chain(cuts.iter().map(|cut| cut + 1));
        Ok(starts.zip(cuts.iter().copied().chain([last])).collect())
    }
}

/// A statement on its way through its rows.
struct Rows<'a> {
    connection: &'a Connection,
    database: &'a Path,
    statement: *mut ffi::sqlite3_stmt,
}

impl<'a> Rows<'a> {
    fn new(connection: &'a Connection, database: &'a Path, sql: &str) -> Result<Self> {
        let sql = CString::new(sql).map_err(rusqlite::Error::NulError)?;
        let mut statement = ptr::null_mut();
        // SAFETY: the connection outlives the statement (`'a`), and the text its preparation.
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

    /// The next row; its cells are valid until the one after it.
    fn next(&mut self) -> rusqlite::Result<Option<Cells<'_>>> {
        // SAFETY: the statement was prepared and is finalised only when `self` is dropped.
        match unsafe { ffi::sqlite3_step(self.statement) } {
            ffi::SQLITE_ROW => {
                let (statement, database) = (self.statement, self.database);
                Ok(Some(Cells::Statement { statement, database, row: PhantomData }))
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
        // SAFETY: prepared by `new`, or null, which is harmless.
        unsafe { ffi::sqlite3_finalize(self.statement) };
    }
}

/// The cells of a row.
pub(super) enum Cells<'a> {
    Statement { statement: *mut ffi::sqlite3_stmt, database: &'a Path, row: PhantomData<&'a ()> },
    Page { row: &'a pages::Row<'a>, database: &'a Path },
}

impl Cells<'_> {
    /// An integer; `None` for null. What is no number counts as SQLite casts it.
    #[inline]
    pub(super) fn int(&self, column: usize) -> Option<i64> {
        match self {
            Self::Statement { statement, .. } => {
                // SAFETY: a row is at hand as long as `self` is; SQLite answers null for a column out of range.
                let int = unsafe { ffi::sqlite3_column_int64(*statement, column as c_int) };
                // Only a zero can be a null.
                (int != 0 || kind(*statement, column) != ffi::SQLITE_NULL).then_some(int)
            }
            Self::Page { row, .. } => row.int(column),
        }
    }

    /// A time; `None` for null. It is an error if it cannot be one.
    #[inline]
    pub(super) fn time(&self, column: usize) -> Result<Option<i64>> {
        let is_whole = match self {
            Self::Statement { statement, .. } => {
                matches!(kind(*statement, column), ffi::SQLITE_INTEGER | ffi::SQLITE_NULL)
            }
            // What is odd on a page is looked at again by a statement.
            Self::Page { .. } => true,
        };
        let time = self.int(column);
        if is_whole && time.is_none_or(|time| time.unsigned_abs() < LATEST) {
            return Ok(time);
        }
        Err(self.no_time(time.filter(|_| is_whole)))
    }

    #[cold]
    fn no_time(&self, time: Option<i64>) -> Error {
        let (Self::Statement { database, .. } | Self::Page { database, .. }) = self;
        Error::Report {
            path: database.to_path_buf(),
            reason: time.map_or("holds a time that is no whole number".to_owned(), |time| {
                format!("has an event at {time} ns, more than a century from its start")
            }),
            help: "its times make no sense: export the report again".to_owned(),
        }
    }

    /// A text's bytes; `None` for anything else.
    pub(super) fn text(&self, column: usize) -> Option<&[u8]> {
        let statement = match self {
            Self::Statement { statement, .. } => *statement,
            Self::Page { row, .. } => return row.text(column),
        };
        if kind(statement, column) != ffi::SQLITE_TEXT {
            return None;
        }
        // SAFETY: SQLite keeps the text until the next step, which needs `&mut Rows`; the length is
        // asked for after the text, as it demands.
        unsafe {
            let text = ffi::sqlite3_column_text(statement, column as c_int);
            let len = usize::try_from(ffi::sqlite3_column_bytes(statement, column as c_int)).ok()?;
            (!text.is_null()).then(|| slice::from_raw_parts(text, len))
        }
    }
}

fn kind(statement: *mut ffi::sqlite3_stmt, column: usize) -> c_int {
    // SAFETY: a row is at hand as long as its cells are; SQLite answers null for a column out of range.
    unsafe { ffi::sqlite3_column_type(statement, column as c_int) }
}
