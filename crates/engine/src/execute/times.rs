//! Checks the times of raw tables: nothing that was calculated with others may leave a session.

use super::guard::{self, NOT_FROM_NSYS};
use super::limits::{self, Limits};
use super::session::Session;
use crate::normalize::Times;
use nsq_report::report::reopen;
use nsq_value::error::{Error, Result};
use rusqlite::Connection;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Bytes of a report that is checked beside the first statement.
const LARGE: u64 = 16 << 20;

/// A check that several connections share.
struct Check<'a> {
    times: &'a [Times],
    /// The first table that no connection has taken.
    next: AtomicUsize,
    database: &'a Path,
    /// The file, for messages.
    path: &'a str,
    limits: &'a Limits,
}

impl Check<'_> {
    /// The place of the first table with a time that is not an integer, among those that no other connection takes.
    fn on(&self, connection: &Connection) -> Result<Option<usize>> {
        let mut first = None;
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(Times { is_no_number, .. }) = self.times.get(place) else { return Ok(first) };
            let found: bool = connection
                .query_row(is_no_number, [], |row| row.get(0))
                .map_err(|e| guard::explain(self.limits, e, self.path))?;
            first = first.or(found.then_some(place));
        }
    }

    /// The same on a connection of its own: a statement of the session may be running.
    fn on_another(&self) -> Result<Option<usize>> {
        let mut connection = reopen(self.database, &self.limits.cancel)?;
        limits::watch(&mut connection, self.limits)?;
        self.on(&connection)
    }

    /// The error, if there is such a table.
    fn end(&self, first: Option<usize>) -> Result<()> {
        let Some(Times { table, .. }) = first.and_then(|place| self.times.get(place)) else {
            return Ok(());
        };
        Err(Error::Report {
            path: self.path.into(),
            reason: format!("holds a time that is not an integer, in {table}"),
            help: NOT_FROM_NSYS.to_owned(),
        })
    }
}

impl Session {
    /// Fails if the report has a time that is not an integer, unless that was checked.
    pub(super) fn check_times(&self) -> Result<()> {
        self.beside_check(|wait| wait())
    }

    /// Does `work` while another thread checks the times, unless they were checked. `work` calls its argument before it
    /// shows anything: it waits for the check, and fails if the report has a time that is not an integer.
    pub(super) fn beside_check<T>(
        &self,
        work: impl FnOnce(&mut dyn FnMut() -> Result<()>) -> Result<T>,
    ) -> Result<T> {
        if self.are_times_checked.get() {
            return work(&mut || Ok(()));
        }
        let (database, limits) = (self.database.as_path(), &self.limits);
        let (next, times) = (AtomicUsize::new(0), self.installation.times.as_slice());
        let check = Check { times, next, database, path: &self.path, limits };
        let is_large = database.metadata().is_ok_and(|file| file.len() >= LARGE);
        if !is_large || times.is_empty() || !limits.threads.may_share() {
            let own = self.rights.with_all(&self.connection, || check.on(&self.connection));
            own.and_then(|first| check.end(first))?;
            self.are_times_checked.set(true);
            return work(&mut || Ok(()));
        }
        thread::scope(|scope| {
            let mut other = Some(scope.spawn(|| check.on_another()));
            let mut wait = || -> Result<()> {
                let Some(other) = other.take() else { return Ok(()) };
                let here = check.on_another();
                let there = other.join().unwrap_or_else(|panic| resume_unwind(panic))?;
                check.end(here?.into_iter().chain(there).min())?;
                self.are_times_checked.set(true);
                Ok(())
            };
            let done = work(&mut wait);
            // If it failed before it waited, the times may be why.
            wait()?;
            done
        })
    }
}
