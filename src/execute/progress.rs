//! How far a session is with what it reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows that a session reads from the report for native relations.
#[derive(Debug, Default)]
pub struct Work {
    total: AtomicU64,
    done: AtomicU64,
}

impl Work {
    /// Rows read, and rows to read, if some are left.
    pub fn share(&self) -> Option<(u64, u64)> {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        (done < total).then_some((done, total))
    }

    pub(super) fn will_read(&self, rows: u64) {
        self.total.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn has_read(&self, rows: u64) {
        self.done.fetch_add(rows, Ordering::Relaxed);
    }
}

/// Shows how far a session is: called wherever work looks at its deadline. By default nothing is shown.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// What the session reads.
    pub work: Arc<Work>,
    /// Called many times a second, from any thread.
    pub show: Option<fn(&Work)>,
}

impl Progress {
    pub(super) fn show(&self) {
        if let Some(show) = self.show {
            show(&self.work);
        }
    }
}
