//! How many threads one piece of work may have.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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
        0 => thread::available_parallelism().map_or(1, usize::from),
        most => most,
    }
}

/// A second thread may help.
pub fn may_share() -> bool {
    allowed() > 1
}

/// Does two things, side by side where a second thread may help.
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
