//! Where the entries of lists begin, so that a replay does not search them.

use super::graph::{Follows, Graph};
use std::ops::Range;

/// For each place, where its entries begin in a list that is sorted by place. Takes no memory for an empty list.
#[derive(Debug, Clone, Default)]
pub(super) struct Begins(Vec<u32>);

impl Begins {
    /// Of the places of all entries, of `count` places.
    pub(super) fn new(places: impl ExactSizeIterator<Item = u32>, count: usize) -> Self {
        if places.len() == 0 {
            return Self::default();
        }
        let mut begins = vec![0u32; count + 1];
        for place in places {
            begins[place as usize + 1] += 1;
        }
        for place in 1..begins.len() {
            begins[place] += begins[place - 1];
        }
        Self(begins)
    }

    /// The entries of a place.
    #[inline]
    pub(super) fn of(&self, place: u32) -> Range<usize> {
        match self.0.get(place as usize + 1) {
            Some(&end) => self.0[place as usize] as usize..end as usize,
            None => 0..0,
        }
    }

    /// Whether a place has entries.
    #[inline]
    pub(super) fn has(&self, place: u32) -> bool {
        !self.of(place).is_empty()
    }
}

impl Graph {
    /// Finds where the waits of calls begin, and the first calls of threads.
    pub(super) fn place_waits(&mut self) {
        let calls = self.call_count();
        self.waits_of = Begins::new(self.waits.iter().map(|&(call, _)| call), calls);
        self.blocked_of = Begins::new(self.blocked.iter().map(|&(call, _)| call), calls);
        self.follows = vec![Follows::Call; calls];
        for &first in &self.threads {
            if let Some(follows) = self.follows.get_mut(first as usize) {
                *follows = Follows::Nothing;
            }
        }
    }

    /// Finds where the joins of operations begin.
    pub(super) fn place_joins(&mut self) {
        self.joins_of = Begins::new(self.joins.iter().map(|&(op, ..)| op), self.op_count());
    }

    /// Finds where the calls begin that others wait for.
    pub(super) fn place_wakes(&mut self) {
        self.wakes_of = Begins::new(self.wakes.iter().map(|&(call, _)| call), self.call_count());
        for &(call, _) in &self.wakes {
            let follows = &mut self.follows[call as usize];
            *follows = match *follows {
                Follows::Nothing | Follows::Waker => Follows::Waker,
                Follows::Call | Follows::CallAndWaker => Follows::CallAndWaker,
            };
        }
    }

    /// Computes the time that each call takes by itself.
    pub(super) fn take_works(&mut self) {
        self.works = (0..self.call_count() as u32).map(|call| self.measured_work(call)).collect();
    }

    /// The time that a call takes by itself, as recorded: what is usual for its function if it waits for anything in its
    /// time.
    fn measured_work(&self, call: u32) -> i64 {
        let (start, end) = self.call(call);
        match self.awaited(call).any(|wait| wait.of(&self.op_starts, &self.op_ends) > start) {
            true => self.usual.work(self.functions[call as usize]).min(end - start),
            false => end - start,
        }
    }
}
