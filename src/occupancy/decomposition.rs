//! What a GPU's time went to, and what hid behind what.

use super::{Level, Occupancy};
use crate::classify::Activity;
use crate::interval::{Ruler, TimeSet};

/// The time of one GPU.
///
/// Compute ranks before communication, and communication before memory: what runs beside something of
/// a higher rank is hidden behind it, the rest is exposed.
#[derive(Debug)]
pub struct Decomposition {
    window: TimeSet,
    is_whole: bool,
    compute: Ruler,
    communication: Ruler,
    memory: Ruler,
    /// Compute or communication.
    work: Ruler,
    busy: Ruler,
    /// At least two operations at once.
    concurrent: Ruler,
}

/// A window of one GPU's time, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
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

/// How long other things ran while an operation did, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overlap {
    /// The operation itself, as far as it lies in the window.
    pub in_window: i64,
    /// A kernel that computes ran: all of the operation, if it is one.
    pub compute: i64,
    /// A communication kernel ran.
    pub communication: i64,
    /// A copy or fill ran.
    pub memory: i64,
    /// Nothing of a higher rank ran.
    pub exposed: i64,
    /// Another operation ran, of any kind.
    pub concurrent: i64,
}

impl Occupancy {
    /// What the time of each GPU went to, in the order of lanes.
    pub fn decompositions(&self) -> Vec<Decomposition> {
        let by_gpu = self.ops_by_lane(Level::Gpu);
        by_gpu.iter().map(|ops| Decomposition::new(self, ops)).collect()
    }
}

impl Decomposition {
    /// Of these operations, in order of their starts.
    fn new(occupancy: &Occupancy, ops: &[u32]) -> Self {
        let ops = || ops.iter().map(|&op| &occupancy.ops[op as usize]);
        let clip = |set: TimeSet| match &occupancy.window {
            Some(window) => set.intersection(window),
            None => set,
        };
        let of = |activity: Activity| {
            let wanted = ops().filter(|op| op.activity == activity);
            clip(TimeSet::union_of_sorted(wanted.map(|op| (op.start, op.end))))
        };
        let (compute, communication, memory) =
            (of(Activity::Compute), of(Activity::Communication), of(Activity::Memory));
        let work = compute.union(&communication);
        let busy = work.union(&memory);
        // An operation without length is a moment at which the lane was in use.
        let first = ops().map(|op| op.start).min().unwrap_or_default();
        let last = ops().map(|op| op.end).max().unwrap_or_default();
        let extent = || TimeSet::union_of(vec![(first, last)]);
        let concurrent = clip(at_least_two(ops().map(|op| (op.start, op.end)).collect()));
        Self {
            window: occupancy.window.clone().unwrap_or_else(extent),
            is_whole: occupancy.window.is_none(),
            compute: Ruler::new(compute),
            communication: Ruler::new(communication),
            memory: Ruler::new(memory),
            work: Ruler::new(work),
            busy: Ruler::new(busy),
            concurrent: Ruler::new(concurrent),
        }
    }

    /// From the first instant that is looked at to the last; `None` where nothing has a length.
    pub fn extent(&self) -> Option<(i64, i64)> {
        self.window.extent()
    }

    /// What is looked at, decomposed.
    pub fn whole(&self) -> Window {
        let (start, end) = self.extent().unwrap_or_default();
        self.decompose(start, end, i64::try_from(self.window.length()).unwrap_or(i64::MAX))
    }

    /// The time from `start` to `end`, as far as it is looked at.
    pub fn within(&self, start: i64, end: i64) -> Window {
        let asked = TimeSet::union_of(vec![(start, end)]);
        let seen = if self.is_whole { asked } else { asked.intersection(&self.window) };
        self.decompose(start, end, i64::try_from(seen.length()).unwrap_or(i64::MAX))
    }

    fn decompose(&self, start: i64, end: i64, length: i64) -> Window {
        let compute = self.compute.within(start, end);
        let work = self.work.within(start, end);
        let busy = self.busy.within(start, end);
        Window {
            length,
            busy,
            compute,
            communication: self.communication.within(start, end),
            memory: self.memory.within(start, end),
            exposed_communication: work - compute,
            exposed_memory: busy - work,
            idle: length - busy,
        }
    }

    /// What ran while an operation of this GPU ran.
    pub fn overlap(&self, start: i64, end: i64, activity: Activity) -> Overlap {
        let in_window = self.busy.within(start, end);
        let compute = self.compute.within(start, end);
        Overlap {
            in_window,
            compute,
            communication: self.communication.within(start, end),
            memory: self.memory.within(start, end),
            exposed: match activity {
                Activity::Compute => in_window,
                Activity::Communication => in_window - compute,
                Activity::Memory => in_window - self.work.within(start, end),
            },
            concurrent: self.concurrent.within(start, end),
        }
    }
}

/// The time in which at least two of the intervals are open; they come in order of their starts.
fn at_least_two(intervals: Vec<(i64, i64)>) -> TimeSet {
    let mut reached = i64::MIN;
    let doubled = intervals.into_iter().filter_map(|(start, end)| {
        // What lies before the furthest end so far is covered once more.
        let overlap = (start, end.min(reached));
        reached = reached.max(end);
        (overlap.0 < overlap.1).then_some(overlap)
    });
    TimeSet::union_of_sorted(doubled)
}
