//! The CUDA API calls of a report, column by column.

use crate::integers::Integers;

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
}
