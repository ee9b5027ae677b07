//! The maximum number of threads for a piece of work.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::thread;

/// The maximum number of threads for each piece of work, such as a query. The default is one thread per
/// core that this process may use.
///
/// The results are the same for every number of threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Threads(Option<NonZeroUsize>);

impl Threads {
    /// At most this many; `None` means one thread per core.
    pub fn at_most(max: Option<NonZeroUsize>) -> Self {
        Self(max)
    }

    /// An equal share for each of several workers: at least one thread.
    pub fn shared_by(self, workers: usize) -> Self {
        Self(NonZeroUsize::new((self.allowed() / workers.max(1)).max(1)))
    }

    /// The maximum as a number.
    pub fn allowed(self) -> usize {
        match self.0 {
            Some(max) => max.get(),
            None => thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Whether work may use a second thread.
    pub fn may_share(self) -> bool {
        self.allowed() > 1
    }

    /// Runs two functions, in parallel if a second thread is allowed.
    pub fn both<A: Send, B>(self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B) -> (A, B) {
        if !self.may_share() {
            return (a(), b());
        }
        thread::scope(|scope| {
            let a = scope.spawn(a);
            let b = b();
            (a.join().unwrap_or_else(|panic| resume_unwind(panic)), b)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_limits_hold_at_once() {
        let one = Threads::at_most(NonZeroUsize::new(1));
        let two = Threads::at_most(NonZeroUsize::new(2));
        let same = |limit: Threads| {
            let (a, b) = limit.both(|| thread::current().id(), || thread::current().id());
            a == b
        };
        assert_eq!((same(one), same(two), same(one)), (true, false, true));
        assert_eq!((two.shared_by(1).allowed(), two.shared_by(5).allowed()), (2, 1));
    }
}
