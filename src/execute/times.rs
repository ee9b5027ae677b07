//! Checks the times of raw tables before anything calculates with them.

use super::guard::{self, NOT_FROM_NSYS};
use super::session::Session;
use crate::error::{Error, Result};
use crate::normalize::Times;
use crate::report::reopen;
use rusqlite::Connection;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a report that is checked by two threads.
const LARGE: u64 = 16 << 20;

impl Session {
    /// Fails if the report has a time that is not an integer, unless that was checked.
    pub(super) fn check_times(&self) -> Result<()> {
        if !self.are_times_checked.get() {
            self.check(&self.installation.times)?;
            self.are_times_checked.set(true);
        }
        Ok(())
    }

    /// Fails if a table has a time that is not an integer, for the first such table.
    fn check(&self, times: &[Times]) -> Result<()> {
        let (connection, database, path, limits) =
            (&self.connection, &self.database, &self.path, &self.limits);
        let next = AtomicUsize::new(0);
        // The places of the tables with such a time, among those that no other thread takes.
        let invalid = |connection: &Connection| -> Result<Vec<usize>> {
            let mut invalid = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(Times { is_no_number, .. }) = times.get(place) else { return Ok(invalid) };
                let found: bool = connection
                    .query_row(is_no_number, [], |row| row.get(0))
                    .map_err(|e| guard::explain(limits, e, path))?;
                invalid.extend(found.then_some(place));
            }
        };
        let is_large = database.metadata().is_ok_and(|file| file.len() >= LARGE);
        let first = if is_large && times.len() > 1 && limits.threads.may_share() {
            let beside = || {
                let mut beside = reopen(database, &limits.cancel)?;
                guard::watch(&mut beside, limits)?;
                invalid(&beside)
            };
            let (beside, own) = limits.threads.both(beside, || invalid(connection));
            own?.into_iter().chain(beside?).min()
        } else {
            invalid(connection)?.into_iter().min()
        };
        match first {
            None => Ok(()),
            Some(place) => Err(Error::Report {
                path: path.into(),
                reason: format!("holds a time that is not an integer, in {}", times[place].table),
                help: NOT_FROM_NSYS.to_owned(),
            }),
        }
    }
}
