//! What a GPU's time went to, and what hid behind what.

use super::{Level, Occupancy};
use crate::classify::Activity;
use crate::interval::{Ruler, TimeSet};
use crate::projection::{Pace, Stop};

/// The time of one GPU.
///
/// Compute ranks before communication, and communication before memory: what runs beside something of
/// a higher rank is hidden behind it, the rest is exposed.
#[derive(Debug)]
pub struct Decomposition {
    /// What is looked at; beyond it nothing is known, unless it is everything.
    window: Ruler,
    is_everything: bool,
    compute: Ruler,
    communication: Ruler,
    memory: Ruler,
    /// What of communication is exposed. What a GPU was busy with is the sum of what is exposed, so that
    /// no union has to be kept, which would be as large as the greatest of its parts.
    exposed_communication: Ruler,
    /// What of memory is exposed.
    exposed_memory: Ruler,
    /// At least two operations at once.
    concurrent: Ruler,
}

/// What a window of one GPU's time went to, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    /// Its length: `compute + exposed_communication + exposed_memory + idle`.
    pub length: i64,
    /// At least one operation ran.
    pub busy: i64,
    /// A kernel that computes ran.
    pub compute: i64,
    /// A communication kernel ran.
    pub communication: i64,
    /// A copy or fill ran.
    pub memory: i64,
    /// A communication kernel ran and none that computes.
    pub exposed_communication: i64,
    /// A copy or fill ran and no kernel at all.
    pub exposed_memory: i64,
    /// Nothing ran.
    pub idle: i64,
}

/// What may run while an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// The operation itself, as far as it lies in the window.
    InWindow,
    /// A kernel that computes: all of the operation, if it is one.
    Compute,
    /// A communication kernel.
    Communication,
    /// A copy or fill.
    Memory,
    /// Nothing of a higher rank.
    Exposed,
    /// Another operation, of any kind.
    Concurrent,
}

impl Overlap {
    /// All of them.
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
    /// What the time of each GPU went to, in the order of lanes. `None`: it was stopped.
    pub fn decompositions(&self, stop: Stop<'_>) -> Option<Vec<Decomposition>> {
        let by_gpu = self.ops_by_lane(Level::Gpu);
        by_gpu.iter().map(|ops| Decomposition::new(self, ops, stop)).collect()
    }
}

impl Decomposition {
    /// Of these operations, in order of their starts. `None`: it was stopped.
    fn new(occupancy: &Occupancy, ops: &[u32], stop: Stop<'_>) -> Option<Self> {
        let mut pace = Pace::new(stop);
        let window = occupancy.window_of(ops);
        let (is_everything, extent) = (window.is_none(), occupancy.extent_of(ops));
        // Each is one pass over the operations and the window.
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
        let mut of = |activity: Activity| (!pace.is_over_after(passes)).then(|| of(activity));
        let (compute, communication, memory) =
            (of(Activity::Compute)?, of(Activity::Communication)?, of(Activity::Memory)?);
        let exposed_communication = communication.difference(&compute);
        let exposed_memory = memory.difference(&compute).difference(&communication);
        if pace.is_over_after(passes) {
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

    /// From the first instant that is looked at to the last; `None` where nothing has a length.
    pub fn extent(&self) -> Option<(i64, i64)> {
        self.window.set().extent()
    }

    /// What is looked at, decomposed.
    pub fn whole(&self) -> Shares {
        let (start, end) = self.extent().unwrap_or_default();
        self.decompose(start, end, self.window.within(start, end))
    }

    /// The time from `start` to `end`, as far as it is looked at.
    pub fn within(&self, start: i64, end: i64) -> Shares {
        let length = match self.is_everything {
            true => end.saturating_sub(start).max(0),
            false => self.window.within(start, end),
        };
        self.decompose(start, end, length)
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

    /// How long a kernel ran.
    fn work(&self, start: i64, end: i64) -> i64 {
        self.compute.within(start, end) + self.exposed_communication.within(start, end)
    }

    /// How long anything ran.
    fn busy(&self, start: i64, end: i64) -> i64 {
        self.work(start, end) + self.exposed_memory.within(start, end)
    }

    /// How long things ran from `start` to `end`, the times of an operation of this GPU.
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

/// The time in which at least two of the intervals are open; they come in order of their starts.
fn at_least_two(intervals: impl Iterator<Item = (i64, i64)>) -> TimeSet {
    let mut reached = i64::MIN;
    let doubled = intervals.filter_map(|(start, end)| {
        // What lies before the furthest end so far is covered once more.
        let overlap = (start, end.min(reached));
        reached = reached.max(end);
        (overlap.0 < overlap.1).then_some(overlap)
    });
    TimeSet::union_of_sorted(doubled)
}
