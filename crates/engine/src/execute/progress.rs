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

    /// Rows that are about to be read. They count as read when the value is dropped.
    pub(super) fn reading(&self, rows: u64) -> Reading<'_> {
        self.total.fetch_add(rows, Ordering::Relaxed);
        Reading { work: self, left: rows }
    }
}

/// Rows of which some are not read yet.
pub(super) struct Reading<'a> {
    work: &'a Work,
    left: u64,
}

impl Reading<'_> {
    /// Some more are read.
    pub(super) fn advance(&mut self, rows: u64) {
        let rows = rows.min(self.left);
        self.left -= rows;
        self.work.done.fetch_add(rows, Ordering::Relaxed);
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.advance(self.left);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_to_be_read_is_read_in_the_end() {
        let work = Work::default();
        let mut reading = work.reading(100);
        reading.advance(30);
        assert_eq!(work.share(), Some((30, 100)));
        reading.advance(900);
        drop(reading);
        assert_eq!(work.share(), None);
        drop(work.reading(5));
        assert_eq!(work.share(), None, "nothing is left to read");
    }
}
