//! How long a statement may run, and how much it may return.

use super::progress::Progress;
use nsq_report::report::STEPS;
use nsq_sweep::projection::Watch;
use nsq_sweep::threads::Threads;
use nsq_value::cancel::Cancel;
use nsq_value::error::Result;
use rusqlite::Connection;
use std::time::{Duration, Instant};

/// How long a statement may run, on how many threads, and how many rows it may return.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// When to stop, and the timeout that this was computed from.
    pub deadline: Option<(Instant, Duration)>,
    /// The most rows that a statement may return; more is an error.
    pub max_rows: Option<usize>,
    /// The most bytes that the texts in its rows may have in all; more is an error.
    pub max_bytes: Option<usize>,
    /// Stops it from another thread.
    pub cancel: Cancel,
    /// The most threads for each statement.
    pub threads: Threads,
    /// Shows how far the work is.
    pub progress: Progress,
}

impl Limits {
    /// Limits that stop `timeout` from now.
    pub fn with_timeout(timeout: Option<Duration>) -> Self {
        // A time beyond what the clock can tell is no limit.
        let deadline = timeout.and_then(|allowed| Some((Instant::now().checked_add(allowed)?, allowed)));
        Self { deadline, ..Self::default() }
    }

    fn is_past(&self) -> bool {
        self.deadline.is_some_and(|(deadline, _)| Instant::now() >= deadline)
    }
}

/// Whether the deadline has passed or another thread asks to stop. Native loops must ask this themselves: SQLite's
/// progress handler does not run inside them.
pub(super) fn is_over(limits: &Limits) -> bool {
    limits.progress.show();
    limits.cancel.is_cancelled() || limits.is_past()
}

impl Watch for Limits {
    fn is_over(&self) -> bool {
        is_over(self)
    }

    fn threads(&self) -> Threads {
        self.threads
    }
}

/// Stops statements at the deadline, or when another thread asks.
pub(super) fn watch(connection: &mut Connection, limits: &Limits) -> Result<()> {
    let limits = limits.clone();
    Ok(connection.progress_handler(STEPS, Some(move || is_over(&limits)))?)
}
