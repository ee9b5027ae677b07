//! Stops long loops at a deadline, and limits the threads on which they run.

use crate::threads::Threads;

/// What long computations ask while they run.
pub trait Watch: Sync {
    /// Asked from time to time; `true` stops them. It must then stay `true`.
    fn is_over(&self) -> bool;

    /// The threads that they may use.
    fn threads(&self) -> Threads {
        Threads::default()
    }
}

impl<F: Fn() -> bool + Sync> Watch for F {
    fn is_over(&self) -> bool {
        self()
    }
}

/// Who is asked during a long computation.
pub type Stop<'a> = &'a dyn Watch;

/// Asks [`Stop`] once per many turns of a loop, because reading the clock costs more than most turns.
pub struct StopCheck<'a> {
    stop: Stop<'a>,
    /// Turns since it was asked last.
    turns: usize,
    must_stop: bool,
}

/// Turns between two calls: mostly less than a millisecond of work.
const TURNS: usize = 4096;

impl<'a> StopCheck<'a> {
    /// A check for one loop.
    pub fn new(stop: Stop<'a>) -> Self {
        Self { stop, turns: 0, must_stop: false }
    }

    /// Counts one turn. Returns `true` if the loop must end; its results are then incomplete.
    pub fn must_stop(&mut self) -> bool {
        self.must_stop_after(1)
    }

    /// Counts a turn that costs as much as `turns`.
    pub fn must_stop_after(&mut self, turns: usize) -> bool {
        self.turns = self.turns.saturating_add(turns);
        if self.turns >= TURNS {
            self.turns = 0;
            self.must_stop |= self.stop.is_over();
        }
        self.must_stop
    }
}

impl std::fmt::Debug for StopCheck<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StopCheck").field("must_stop", &self.must_stop).finish_non_exhaustive()
    }
}
