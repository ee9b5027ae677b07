//! The maximum number of threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The maximum that was set; 0 means one thread per core.
static MAX: AtomicUsize = AtomicUsize::new(0);

/// Sets the maximum number of threads for each piece of work; 0 means one thread per core.
///
/// The results are the same for every number of threads.
pub fn allow(max: usize) {
    MAX.store(max, Ordering::Relaxed);
}

/// The maximum number of threads for each piece of work: the number that was set, or else the number of
/// cores that this process may use.
pub fn allowed() -> usize {
    match MAX.load(Ordering::Relaxed) {
        0 => thread::available_parallelism().map_or(1, usize::from),
        max => max,
    }
}

/// Whether work may use a second thread.
pub fn may_share() -> bool {
    allowed() > 1
}

/// Runs two functions, in parallel if a second thread is allowed.
pub fn both<A: Send, B>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B) -> (A, B) {
    if !may_share() {
        return (a(), b());
    }
    thread::scope(|scope| {
        let a = scope.spawn(a);
        let b = b();
        (a.join().unwrap_or_else(|panic| resume_unwind(panic)), b)
    })
}
