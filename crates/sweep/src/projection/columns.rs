//! The operations, launches and ranges of a capture, column by column.
//!
//! There are millions of each. A column takes as many bytes as its values need, and a loop reads the columns
//! that it uses. A row is put together when it is asked for.

use super::{Caller, Launch, Op, OpKind, Range};
use crate::integers::Integers;

/// The rows at these places.
fn gathered<T: Copy>(values: &[T], places: &[u32]) -> Vec<T> {
    places.iter().map(|&place| values[place as usize]).collect()
}

/// GPU operations.
#[derive(Debug, Clone, Default)]
pub struct Ops {
    starts: Vec<i64>,
    durations: Integers,
    ids: Integers,
    correlations: Integers,
    processes: Vec<u32>,
    launches: Vec<u32>,
    kernels: Vec<u32>,
    kinds: Vec<OpKind>,
}

impl Ops {
    /// The number of operations.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The operation at a place.
    #[inline]
    pub fn at(&self, place: usize) -> Op {
        let (start, end) = self.times(place);
        Op {
            start,
            end,
            id: self.ids.at(place),
            correlation: self.correlations.at(place),
            process: self.processes[place],
            launch: self.launches[place],
            kernel: self.kernels[place],
            kind: self.kinds[place],
        }
    }

    /// Start and end of the operation at a place.
    #[inline]
    pub fn times(&self, place: usize) -> (i64, i64) {
        (self.starts[place], self.starts[place] + self.durations.at(place))
    }

    /// The row of the operation at a place.
    pub fn id(&self, place: usize) -> i64 {
        self.ids.at(place)
    }

    /// The kind of the operation at a place.
    pub fn kind(&self, place: usize) -> OpKind {
        self.kinds[place]
    }

    /// All operations.
    pub fn iter(&self) -> impl Iterator<Item = Op> + '_ {
        (0..self.len()).map(|place| self.at(place))
    }

    /// Adds an operation.
    #[inline]
    pub fn push(&mut self, op: Op) {
        self.starts.push(op.start);
        self.durations.push(op.end - op.start);
        self.ids.push(op.id);
        self.correlations.push(op.correlation);
        self.processes.push(op.process);
        self.launches.push(op.launch);
        self.kernels.push(op.kernel);
        self.kinds.push(op.kind);
    }

    /// Adds those of another list.
    pub fn append(&mut self, mut other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.starts.append(&mut other.starts);
        self.durations.append(other.durations);
        self.ids.append(other.ids);
        self.correlations.append(other.correlations);
        self.processes.append(&mut other.processes);
        self.launches.append(&mut other.launches);
        self.kernels.append(&mut other.kernels);
        self.kinds.append(&mut other.kinds);
    }

    /// Keeps those for which `is_kept` is true.
    pub fn retain(&mut self, is_kept: impl Fn(&Op) -> bool) {
        let kept = self.places(is_kept);
        if kept.len() < self.len() {
            *self = self.gather(&kept);
        }
    }

    /// Those for which `is_kept` is true.
    pub fn kept(&self, is_kept: impl Fn(&Op) -> bool) -> Self {
        self.gather(&self.places(is_kept))
    }

    fn places(&self, is_kept: impl Fn(&Op) -> bool) -> Vec<u32> {
        (0u32..).zip(self.iter()).filter(|(_, op)| is_kept(op)).map(|(place, _)| place).collect()
    }

    fn gather(&self, places: &[u32]) -> Self {
        Self {
            starts: gathered(&self.starts, places),
            durations: self.durations.gather(places),
            ids: self.ids.gather(places),
            correlations: self.correlations.gather(places),
            processes: gathered(&self.processes, places),
            launches: gathered(&self.launches, places),
            kernels: gathered(&self.kernels, places),
            kinds: gathered(&self.kinds, places),
        }
    }

    /// The launch of each operation.
    pub fn launches_mut(&mut self) -> &mut [u32] {
        &mut self.launches
    }

    /// The process of each operation.
    pub fn processes_mut(&mut self) -> &mut [u32] {
        &mut self.processes
    }
}

impl FromIterator<Op> for Ops {
    fn from_iter<I: IntoIterator<Item = Op>>(ops: I) -> Self {
        let mut all = Self::default();
        ops.into_iter().for_each(|op| all.push(op));
        all
    }
}

/// Launches.
#[derive(Debug, Clone, Default)]
pub struct Launches {
    starts: Vec<i64>,
    durations: Integers,
    threads: Vec<u32>,
    calls: Integers,
    /// The call of each launch, if launches have other times than their calls; else empty.
    callers: Vec<Caller>,
}

impl Launches {
    /// The number of launches.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The launch at a place.
    #[inline]
    pub fn at(&self, place: usize) -> Launch {
        let start = self.starts[place];
        let end = start + self.durations.at(place);
        Launch { start, end, thread: self.threads[place], call: self.calls.at(place) }
    }

    /// The launch at a place, if there is one.
    #[inline]
    pub fn get(&self, place: u32) -> Option<Launch> {
        ((place as usize) < self.len()).then(|| self.at(place as usize))
    }

    /// The starts of all launches.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// The threads of all launches.
    pub fn threads(&self) -> &[u32] {
        &self.threads
    }

    /// The thread of each launch.
    pub fn threads_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        self.threads.iter_mut().chain(self.callers.iter_mut().map(|caller| &mut caller.thread))
    }

    /// All launches.
    pub fn iter(&self) -> impl Iterator<Item = Launch> + '_ {
        (0..self.len()).map(|place| self.at(place))
    }

    /// The call behind a launch.
    pub fn caller(&self, place: u32) -> Option<Caller> {
        let Launch { start, end, thread, .. } = self.get(place)?;
        Some(self.callers.get(place as usize).copied().unwrap_or(Caller { start, end, thread }))
    }

    /// Adds a launch at the time of its call.
    #[inline]
    pub fn push(&mut self, launch: Launch) {
        self.starts.push(launch.start);
        self.durations.push(launch.end - launch.start);
        self.threads.push(launch.thread);
        self.calls.push(launch.call);
    }

    /// Adds a launch of the same call as the launch at `place`, at another time.
    pub fn push_of(&mut self, place: u32, launch: Launch) {
        if self.callers.is_empty() {
            let callers =
                self.iter().map(|Launch { start, end, thread, .. }| Caller { start, end, thread });
            self.callers = callers.collect();
        }
        self.callers.push(self.callers[place as usize]);
        self.push(launch);
    }

    /// The launches at these places.
    pub fn gather(&self, places: &[u32]) -> Self {
        Self {
            starts: gathered(&self.starts, places),
            durations: self.durations.gather(places),
            threads: gathered(&self.threads, places),
            calls: self.calls.gather(places),
            callers: match self.callers.is_empty() {
                true => Vec::new(),
                false => gathered(&self.callers, places),
            },
        }
    }
}

impl FromIterator<Launch> for Launches {
    fn from_iter<I: IntoIterator<Item = Launch>>(launches: I) -> Self {
        let mut all = Self::default();
        launches.into_iter().for_each(|launch| all.push(launch));
        all
    }
}

/// NVTX ranges.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    starts: Vec<i64>,
    durations: Integers,
    ids: Integers,
    threads: Vec<u32>,
    names: Vec<u32>,
    /// [`PUSH_POP`], [`CROSS_THREAD`] and [`ENDLESS`].
    flags: Vec<u8>,
}

const PUSH_POP: u8 = 1;
const CROSS_THREAD: u8 = 2;
const ENDLESS: u8 = 4;

impl Ranges {
    /// No ranges, with room for so many.
    pub fn with_capacity(count: usize) -> Self {
        let mut ranges = Self {
            starts: Vec::with_capacity(count),
            threads: Vec::with_capacity(count),
            names: Vec::with_capacity(count),
            flags: Vec::with_capacity(count),
            ..Self::default()
        };
        ranges.durations.reserve(count);
        ranges.ids.reserve(count);
        ranges
    }

    /// The number of ranges.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The range at a place.
    #[inline]
    pub fn at(&self, place: usize) -> Range {
        let (start, flags) = (self.starts[place], self.flags[place]);
        Range {
            start,
            end: start + self.durations.at(place),
            id: self.ids.at(place),
            thread: self.threads[place],
            name: self.names[place],
            is_push_pop: flags & PUSH_POP != 0,
            is_cross_thread: flags & CROSS_THREAD != 0,
        }
    }

    /// The range at a place, if there is one.
    #[inline]
    pub fn get(&self, place: u32) -> Option<Range> {
        ((place as usize) < self.len()).then(|| self.at(place as usize))
    }

    /// All ranges.
    pub fn iter(&self) -> impl Iterator<Item = Range> + '_ {
        (0..self.len()).map(|place| self.at(place))
    }

    /// The threads of all ranges.
    pub fn threads(&self) -> &[u32] {
        &self.threads
    }

    /// The row of the range at a place.
    pub fn id(&self, place: usize) -> i64 {
        self.ids.at(place)
    }

    /// Adds a range.
    #[inline]
    pub fn push(&mut self, range: Range) {
        self.starts.push(range.start);
        self.durations.push(range.end - range.start);
        self.ids.push(range.id);
        self.threads.push(range.thread);
        self.names.push(range.name);
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        self.flags.push(flag(range.is_push_pop, PUSH_POP) | flag(range.is_cross_thread, CROSS_THREAD));
    }

    /// Adds a range whose end is not known yet. Until then, it ends where it starts.
    pub fn push_endless(&mut self, range: Range) {
        self.push(Range { end: range.start, ..range });
        if let Some(flags) = self.flags.last_mut() {
            *flags |= ENDLESS;
        }
    }

    /// Whether the end of a range is not known yet.
    pub fn is_endless(&self, place: usize) -> bool {
        self.flags[place] & ENDLESS != 0
    }

    /// Puts the ranges in this order, one column after the other.
    pub fn reorder(&mut self, places: &[u32]) {
        self.starts = gathered(&self.starts, places);
        self.durations = self.durations.gather(places);
        self.ids = self.ids.gather(places);
        self.threads = gathered(&self.threads, places);
        self.names = gathered(&self.names, places);
        self.flags = gathered(&self.flags, places);
    }
}

impl FromIterator<Range> for Ranges {
    fn from_iter<I: IntoIterator<Item = Range>>(ranges: I) -> Self {
        let mut all = Self::default();
        ranges.into_iter().for_each(|range| all.push(range));
        all
    }
}
