//! How many threads one piece of work may have.

use std::sync::atomic::{AtomicUsize, Ordering};

/// 0: as many as there are cores.
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Lets each piece of work have at most this many threads; 0: as many as there are cores.
///
/// What is computed is the same whatever the number.
pub fn allow(most: usize) {
    MOST.store(most, Ordering::Relaxed);
}

/// How many threads a piece of work may have: as many as were allowed, else the cores that this
/// process may run on.
pub fn allowed() -> usize {
    match MOST.load(Ordering::Relaxed) {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        most => most,
    }
}

/// A second thread may help.
pub fn may_share() -> bool {
    allowed() > 1
}
