//! Decomposes a GPU's time into compute, exposed communication, exposed memory and idle.

use super::{Level, Occupancy};
use crate::classify::Activity;
use crate::interval::{Ruler, TimeSet};
use crate::projection::{Stop, StopCheck};

/// The time of one GPU, by activity.
///
/// Compute has priority over communication, and communication over memory. Work that overlaps with an
/// activity of higher priority is hidden; the rest is exposed.
#[derive(Debug)]
pub struct Decomposition {
    /// The time window. Time outside it does not count, unless `is_everything`.
    window: Ruler,
    /// No window was given.
    is_everything: bool,
    compute: Ruler,
    communication: Ruler,
    memory: Ruler,
    /// Communication outside compute. Busy time is computed as the sum of compute and the exposed times:
    /// storing the union of all operations would take as much memory as its largest part.
    exposed_communication: Ruler,
    /// Memory operations outside compute and communication.
    exposed_memory: Ruler,
    /// Times with at least two operations.
    concurrent: Ruler,
}

/// How one GPU spent a window, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    /// Length of the window: `compute + exposed_communication + exposed_memory + idle`.
    pub length: i64,
    /// Time with at least one operation.
    pub busy: i64,
    /// Time with at least one compute kernel.
    pub compute: i64,
    /// Time with at least one communication kernel.
    pub communication: i64,
    /// Time with at least one memory copy or fill.
    pub memory: i64,
    /// Time with a communication kernel, but no compute kernel.
    pub exposed_communication: i64,
    /// Time with a memory copy or fill, but no kernel.
    pub exposed_memory: i64,
    /// Time without operations.
    pub idle: i64,
}

/// Which part of an operation's time to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// The part inside the window.
    InWindow,
    /// The part with a compute kernel: all of it, if the operation is one itself.
    Compute,
    /// The part with a communication kernel.
    Communication,
    /// The part with a memory copy or fill.
    Memory,
    /// The part without an activity of higher priority.
    Exposed,
    /// The part with another operation of any kind.
    Concurrent,
}

impl Overlap {
    /// All variants.
    pub const ALL: [Self; 6] = [
        Self::InWindow,
        Self::Compute,
        Self::Communication,
        Self::Memory,
        Self::Exposed,
        Self::Concurrent,
    ];
}

impl Occupancy {
    /// The decomposition of each GPU's time, in the order of lanes. `None` if it was stopped.
    pub fn decompositions(&self, stop: Stop<'_>) -> Option<Vec<Decomposition>> {
        let by_gpu = self.ops_by_lane(Level::Gpu);
        by_gpu.iter().map(|ops| Decomposition::new(self, ops, stop)).collect()
    }
}

impl Decomposition {
    /// Decomposes the time of these operations, given in order of start. `None` if it was stopped.
    fn new(occupancy: &Occupancy, ops: &[u32], stop: Stop<'_>) -> Option<Self> {
        let mut check = StopCheck::new(stop);
        let window = occupancy.window_of(ops);
        let (is_everything, extent) = (window.is_none(), occupancy.extent_of(ops));
        // The cost of each step below: one pass over the operations and the window.
        let passes = ops.len() + window.as_ref().map_or(0, |window| window.intervals().len());
        let ops = || ops.iter().map(|&op| &occupancy.ops[op as usize]);
        let clip = |set: TimeSet| match &window {
            Some(window) => set.intersection(window),
            None => set,
        };
        let of = |activity: Activity| {
            let wanted = ops().filter(|op| op.activity == activity);
            clip(TimeSet::union_of_sorted(wanted.map(|op| (op.start, op.end))))
        };
        let mut of = |activity: Activity| (!check.must_stop_after(passes)).then(|| of(activity));
        let (compute, communication, memory) =
            (of(Activity::Compute)?, of(Activity::Communication)?, of(Activity::Memory)?);
        let exposed_communication = communication.difference(&compute);
        let exposed_memory = memory.difference(&compute).difference(&communication);
        if check.must_stop_after(passes) {
            return None;
        }
        let concurrent = clip(at_least_two(ops().map(|op| (op.start, op.end))));
        Some(Self {
            window: Ruler::new(window.clone().unwrap_or_else(|| TimeSet::union_of(vec![extent]))),
            is_everything,
            compute: Ruler::new(compute),
            communication: Ruler::new(communication),
            memory: Ruler::new(memory),
            exposed_communication: Ruler::new(exposed_communication),
            exposed_memory: Ruler::new(exposed_memory),
            concurrent: Ruler::new(concurrent),
        })
    }

    /// The start and end of the window; `None` if it is empty.
    pub fn extent(&self) -> Option<(i64, i64)> {
        self.window.set().extent()
    }

    /// The decomposition of the whole window.
    pub fn whole(&self) -> Shares {
        let (start, end) = self.extent().unwrap_or_default();
        self.decompose(start, end, self.window.within(start, end))
    }

    /// The decomposition of the time from `start` to `end`, clipped to the window.
    pub fn within(&self, start: i64, end: i64) -> Shares {
        self.decompose(start, end, self.length(start, end))
    }

    /// The length of the time from `start` to `end`, clipped to the window.
    pub fn length(&self, start: i64, end: i64) -> i64 {
        match self.is_everything {
            true => end.saturating_sub(start).max(0),
            false => self.window.within(start, end),
        }
    }

    fn decompose(&self, start: i64, end: i64, length: i64) -> Shares {
        let compute = self.compute.within(start, end);
        let exposed_communication = self.exposed_communication.within(start, end);
        let exposed_memory = self.exposed_memory.within(start, end);
        let busy = compute + exposed_communication + exposed_memory;
        Shares {
            length,
            busy,
            compute,
            communication: self.communication.within(start, end),
            memory: self.memory.within(start, end),
            exposed_communication,
            exposed_memory,
            idle: length - busy,
        }
    }

    /// The times of an activity without an activity of higher priority.
    pub(super) fn exposed(&self, activity: Activity) -> &TimeSet {
        match activity {
            Activity::Compute => self.compute.set(),
            Activity::Communication => self.exposed_communication.set(),
            Activity::Memory => self.exposed_memory.set(),
        }
    }

    /// Time with at least one kernel.
    fn work(&self, start: i64, end: i64) -> i64 {
        self.compute.within(start, end) + self.exposed_communication.within(start, end)
    }

    /// Time with at least one operation.
    fn busy(&self, start: i64, end: i64) -> i64 {
        self.work(start, end) + self.exposed_memory.within(start, end)
    }

    /// The part of an operation's time that overlaps with other work, in ns. `start` and `end` are the
    /// times of the operation, which must be on this GPU.
    pub fn overlap(&self, overlap: Overlap, start: i64, end: i64, activity: Activity) -> i64 {
        let ruler = match overlap {
            Overlap::InWindow => return self.busy(start, end),
            Overlap::Compute => &self.compute,
            Overlap::Communication => &self.communication,
            Overlap::Memory => &self.memory,
            Overlap::Concurrent => &self.concurrent,
            Overlap::Exposed => {
                let hidden = match activity {
                    Activity::Compute => 0,
                    Activity::Communication => self.compute.within(start, end),
                    Activity::Memory => self.work(start, end),
                };
                return self.busy(start, end) - hidden;
            }
        };
        ruler.within(start, end)
    }
}

/// The times covered by at least two intervals, which are given in order of start.
fn at_least_two(intervals: impl Iterator<Item = (i64, i64)>) -> TimeSet {
    let mut reached = i64::MIN;
    let doubled = intervals.filter_map(|(start, end)| {
        // The part before the latest end so far is covered a second time.
        let overlap = (start, end.min(reached));
        reached = reached.max(end);
        (overlap.0 < overlap.1).then_some(overlap)
    });
    TimeSet::union_of_sorted(doubled)
}
