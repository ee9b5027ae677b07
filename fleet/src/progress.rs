//! A line on the terminal: reports that are done and have failed, and the time left.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Counts reports.
#[derive(Debug)]
pub(crate) struct Progress {
    all: usize,
    done: AtomicUsize,
    failed: AtomicUsize,
    started: Instant,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn of(all: usize) -> Self {
        let (done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let is_shown = std::io::stderr().is_terminal();
        Self { all, done, failed, started: Instant::now(), is_shown }
    }

    /// Another report is done.
    pub(crate) fn add(&self, has_failed: bool) {
        let failed = self.failed.fetch_add(usize::from(has_failed), Ordering::Relaxed);
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_shown {
            let failed = failed + usize::from(has_failed);
            let rest = self.all.saturating_sub(done) as f64;
            let left = self.started.elapsed().div_f64(done as f64).mul_f64(rest).as_secs();
            eprint!("\r\x1b[K{done} of {} reports, {failed} failed, about {left} s left", self.all);
        }
    }

    /// What happens after all reports are done.
    pub(crate) fn say(&self, text: &str) {
        if self.is_shown {
            eprint!("\r\x1b[K{text}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.say("");
    }
}
