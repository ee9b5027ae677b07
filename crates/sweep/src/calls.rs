//! The CUDA API calls of a report, column by column.

use crate::integers::Integers;
use std::cmp::Reverse;

/// A thread that polls asks again within this time.
const ASKS_AGAIN: i64 = 100_000;
/// Answers in a row that it was not ready: a framework that looks through its events gets fewer.
const NOT_READY: usize = 3;

/// A CUDA API call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Start of the call.
    pub start: i64,
    /// Return from the call. An odd report has calls that return before they start.
    pub end: i64,
    /// Row of the raw table.
    pub id: i64,
    /// The ID by which operations name it, unique within its process; 0 if none.
    pub correlation: i64,
    /// Index into [`Calls::global_tids`].
    pub thread: u32,
    /// Index into [`Calls::name_ids`].
    pub name: u32,
    /// A call of the runtime API; otherwise of the driver API.
    pub is_runtime: bool,
}

/// Calls in the order in which they were read.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    starts: Vec<i64>,
    durations: Integers,
    ids: Integers,
    correlations: Integers,
    threads: Vec<u32>,
    names: Vec<u32>,
    are_runtime: Vec<bool>,
    /// The first calls of loops in which a thread polls, by place, and when the last call of each loop returned.
    polls: Vec<(u32, i64)>,
    /// The threads: IDs that are unique across hosts and VMs.
    pub global_tids: Vec<i64>,
    /// The functions: string IDs of their names.
    pub name_ids: Vec<i64>,
}

impl Calls {
    /// The number of calls.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The call at a place.
    #[inline]
    pub fn at(&self, place: usize) -> Call {
        let (start, end) = self.times(place);
        Call {
            start,
            end,
            id: self.ids.at(place),
            correlation: self.correlations.at(place),
            thread: self.threads[place],
            name: self.names[place],
            is_runtime: self.are_runtime[place],
        }
    }

    /// The call at a place, if there is one.
    #[inline]
    pub fn get(&self, place: u32) -> Option<Call> {
        ((place as usize) < self.len()).then(|| self.at(place as usize))
    }

    /// Start and end of the call at a place.
    #[inline]
    pub fn times(&self, place: usize) -> (i64, i64) {
        (self.starts[place], self.starts[place] + self.durations.at(place))
    }

    /// Start and end of the call at a place; of the first call of a loop that polls, the end of the loop: that is a wait.
    #[inline]
    pub fn waited(&self, place: usize) -> (i64, i64) {
        let (start, end) = self.times(place);
        match self.polls.is_empty() {
            true => (start, end),
            false => (start, self.poll(place as u32).map_or(end, |until| until.max(end))),
        }
    }

    /// Whether a loop that polls begins with the call at a place.
    #[inline]
    pub fn is_poll(&self, place: u32) -> bool {
        !self.polls.is_empty() && self.poll(place).is_some()
    }

    fn poll(&self, place: u32) -> Option<i64> {
        let found = self.polls.binary_search_by_key(&place, |&(first, _)| first).ok()?;
        Some(self.polls[found].1)
    }

    /// Finds the loops in which a thread asks for the same thing until it is ready, and calls nothing else. `not_ready`: places
    /// of the calls with that answer, sorted.
    pub fn find_polls(&mut self, not_ready: &[u32]) {
        let mut is_wanted = vec![false; self.global_tids.len()];
        not_ready.iter().for_each(|&place| is_wanted[self.threads[place as usize] as usize] = true);
        let wanted =
            (0..self.len() as u32).filter(|&place| is_wanted[self.threads[place as usize] as usize]);
        let key = |place: u32| {
            let (start, end) = self.times(place as usize);
            (self.threads[place as usize], start, Reverse(end), place)
        };
        let mut order: Vec<u32> = wanted.collect();
        order.sort_by_key(|&place| key(place));
        let mut polls = Vec::new();
        // The first call of the loop, its answers so far, and when the last call returned.
        let mut open: Option<(u32, usize, i64)> = None;
        let (mut thread, mut reached) = (u32::MAX, i64::MIN);
        for place in order {
            let (start, end) = self.times(place as usize);
            let of = self.threads[place as usize];
            if of == thread && start < reached {
                continue;
            }
            let goes_on = of == thread
                && open.is_some_and(|(first, _, last)| {
                    self.names[first as usize] == self.names[place as usize]
                        && start.saturating_sub(last) <= ASKS_AGAIN
                });
            (thread, reached) = (of, end.max(start));
            let asks_again = not_ready.binary_search(&place).is_ok();
            let (first, count) = match open.take() {
                Some((first, count, _)) if goes_on => (first, count),
                before => {
                    polls.extend(before);
                    (place, 0)
                }
            };
            match asks_again {
                true => open = Some((first, count + 1, reached)),
                false => polls.push((first, count, reached)),
            }
        }
        polls.extend(open);
        polls.retain(|&(_, count, _)| count >= NOT_READY);
        self.polls = polls.into_iter().map(|(first, _, until)| (first, until)).collect();
        self.polls.sort_unstable();
    }

    /// The threads of all calls.
    pub fn threads(&self) -> &[u32] {
        &self.threads
    }

    /// The functions of all calls.
    pub fn names(&self) -> &[u32] {
        &self.names
    }

    /// The correlation ID of the call at a place; 0 if it has none.
    #[inline]
    pub fn correlation(&self, place: usize) -> i64 {
        self.correlations.at(place)
    }

    /// Adds a call.
    #[inline]
    pub fn push(&mut self, call: Call) {
        self.starts.push(call.start);
        self.durations.push(call.end - call.start);
        self.ids.push(call.id);
        self.correlations.push(call.correlation);
        self.threads.push(call.thread);
        self.names.push(call.name);
        self.are_runtime.push(call.is_runtime);
    }

    /// Adds the calls of another part. `thread_of` and `name_of` are the numbers here of its threads and functions.
    pub fn append(&mut self, part: Self, thread_of: &[u32], name_of: &[u32]) {
        self.starts.extend(part.starts);
        self.durations.append(part.durations);
        self.ids.append(part.ids);
        self.correlations.append(part.correlations);
        self.threads.extend(part.threads.iter().map(|&thread| thread_of[thread as usize]));
        self.names.extend(part.names.iter().map(|&name| name_of[name as usize]));
        self.are_runtime.extend(part.are_runtime);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_back_as_they_were_added() {
        let call = |start: i64, thread, name| Call {
            start,
            end: start + 5,
            id: start * 3,
            correlation: -start,
            thread,
            name,
            is_runtime: start % 2 == 0,
        };
        let [mut calls, mut part] = [Calls::default(), Calls::default()];
        calls.push(call(7, 0, 0));
        calls.push(call(1 << 61, 1, 0));
        part.push(Call { end: -9, ..call(2, 0, 1) });
        calls.append(part, &[1], &[0, 4]);
        let all: Vec<Call> = (0..calls.len()).map(|place| calls.at(place)).collect();
        assert_eq!(all, [call(7, 0, 0), call(1 << 61, 1, 0), Call { end: -9, ..call(2, 1, 4) }]);
        assert_eq!(calls.get(3), None);
    }

    #[test]
    fn a_loop_that_asks_until_it_is_ready_is_a_wait() {
        let mut calls = Calls { global_tids: vec![0, 1], name_ids: vec![0, 1], ..Calls::default() };
        // Start, thread, function: 0 asks.
        let of = [
            (0, 0, 0),
            (20, 0, 0),
            (40, 0, 0),
            (60, 0, 0), // ready
            (80, 0, 0), // asks for another one, which is ready
            (100, 0, 1),
            (120, 0, 0),
            (140, 0, 0), // twice, then another function
            (160, 0, 1),
            (30, 1, 0),
            (50, 1, 0),
            (200_000, 1, 0), // much later
        ];
        for (start, thread, name) in of {
            let call =
                Call { start, end: start + 5, id: 0, correlation: 0, thread, name, is_runtime: true };
            calls.push(call);
        }
        calls.find_polls(&[0, 1, 2, 6, 7, 9, 10, 11]);
        assert_eq!(calls.polls, [(0, 65)]);
        assert_eq!([calls.waited(0), calls.waited(1), calls.times(0)], [(0, 65), (20, 25), (0, 5)]);
        assert!(calls.is_poll(0) && !calls.is_poll(6));
    }
}
