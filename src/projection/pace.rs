//! Loops that end when they are asked to.

/// Asked now and then whether to go on; `true` stops, and stays `true`.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Asks [`Stop`] once in many turns of a loop: to look at the clock costs more than most turns do.
pub struct Pace<'a> {
    stop: Stop<'a>,
    /// Turns since it was asked.
    turns: usize,
    is_over: bool,
}

/// Turns between two questions: less than a millisecond of what a turn mostly does.
const TURNS: usize = 4096;

impl<'a> Pace<'a> {
    /// A loop's own: turns are counted from here.
    pub fn new(stop: Stop<'a>) -> Self {
        Self { stop, turns: 0, is_over: false }
    }

    /// One turn more. `true`: leave the loop, whose work is in vain.
    pub fn is_over(&mut self) -> bool {
        self.is_over_after(1)
    }

    /// A turn that did the work of `turns`.
    pub fn is_over_after(&mut self, turns: usize) -> bool {
        self.turns = self.turns.saturating_add(turns);
        if self.turns >= TURNS {
            self.turns = 0;
            self.is_over |= (self.stop)();
        }
        self.is_over
    }
}

impl std::fmt::Debug for Pace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pace").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}
